"""The privacy notice: printed once, before the first private picture goes to a server elsewhere."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from urllib.parse import urlsplit

from sightline.io.sqlite import open_database
from sightline.models.protocols import CallOutcome, Transport, wire_of
from sightline.models.providers import leaves_machine
from sightline.types import ChatRequest, ImagePart

_log = logging.getLogger(__name__)


def announce_recipient(workspace: Path | None, endpoint: str, what: str) -> None:
    """Say on stderr that `what` is sent to a server elsewhere; once for each workspace and host, whoever asks it.

    A worker on another machine has no workspace at hand: there it is said each time.
    """
    if not leaves_machine(endpoint):
        return
    host = urlsplit(endpoint).hostname or endpoint
    if workspace is None or _is_first(workspace, host):
        _log.warning("%s are sent to %s; this is said once, and --local-only refuses it", what, host)


def _is_first(workspace: Path, host: str) -> bool:
    from sightline.calls.journal_repair import REPAIR
    from sightline.calls.journal_tables import JOURNAL_FILE, MIGRATIONS

    database = open_database(workspace / JOURNAL_FILE, MIGRATIONS, existing=True, fix=REPAIR)
    try:
        return database.execute("INSERT OR IGNORE INTO told VALUES (?, ?)", (host, time.time())).rowcount == 1
    finally:
        database.close()


def shows_private_pictures(request: ChatRequest) -> bool:
    """Does a request hold pictures that are not on the web already?"""
    from sightline.models.pictures import is_web  # Here, because it brings Pillow with it.

    return any(
        isinstance(part, ImagePart) and (part.data is not None or not is_web(part.source))
        for message in request.messages
        for part in message.content
    )


class NoticeTransport:
    """A transport to a server elsewhere, which says so before it sends the first private picture."""

    def __init__(self, transport: Transport, workspace: Path | None) -> None:
        self.endpoint, self.wire = transport.endpoint, wire_of(transport)
        self._transport, self._workspace = transport, workspace
        self._told = False

    async def send(self, request: ChatRequest) -> CallOutcome:
        """One attempt, announced if need be."""
        if not self._told and shows_private_pictures(request):
            self._told = True
            announce_recipient(self._workspace, self.endpoint, "pictures")
        return await self._transport.send(request)

    async def close(self) -> None:
        """Close what it sends through."""
        await self._transport.close()
