"""What the app needs to start: its state, and an address to listen on."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.calls.session import Session
from sightline.errors import UserError
from sightline.models.protocols import Embedder

if TYPE_CHECKING:
    from sightline.web.app_state import AppState

LOOPBACK = "127.0.0.1"


def open_app(
    workspace: Path | None,
    given: tuple[Path, ...] = (),
    *,
    host: str = LOOPBACK,
    port: int = 0,
    model: str | None = None,
    embedder: str | Embedder | None = None,
    session: Session | None = None,
) -> AppState:
    """What the app needs; on an address that others can reach it comes with a token."""
    from sightline.agent.ask import ask
    from sightline.web.agent_jobs import AgentJobs
    from sightline.web.app_state import AppState
    from sightline.web.index_search import AppSearch
    from sightline.web.jobs import Jobs
    from sightline.web.kept_searches import KeptSearches
    from sightline.web.library import Library
    from sightline.web.security import Guard, is_loopback

    library = Library(given, workspace)
    place = library.workspace
    session = Session.of(session, place)
    live = AgentJobs(None if place is None else ask, model, embedder=embedder, session=session)
    guard = Guard(host, port, None if is_loopback(host) else secrets.token_urlsafe(24))
    return AppState(library, guard, AppSearch(place, embedder, session), live, Jobs(place), KeptSearches(place))


def reached_as(host: str) -> str:
    """As others write it in an address: nobody can open `0.0.0.0`, which stands for all of a machine's own."""
    if host in ("0.0.0.0", "::"):
        family, elsewhere = (socket.AF_INET6, "2001:db8::1") if host == "::" else (socket.AF_INET, "192.0.2.1")
        with socket.socket(family, socket.SOCK_DGRAM) as route:
            try:
                route.connect((elsewhere, 9))  # Nothing is sent: it only says from which address it would be.
                host = route.getsockname()[0]
            except OSError:
                host = socket.gethostname()
    return f"[{host}]" if ":" in host else host


def bind(host: str, port: int) -> socket.socket:
    """A socket on that address, so that a port which is taken is said before anything is read."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host.strip("[]"), port))
        found.listen()  # Whoever opens the address as soon as it is told is heard.
    except OSError as error:
        found.close()
        raise UserError(
            f"{host}:{port} can't be listened on: {error.strerror}.", "choose another --port or --host"
        ) from error
    return found
