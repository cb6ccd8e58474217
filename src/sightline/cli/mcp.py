"""`sightline mcp [--in DIR] [--http PORT]`."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import Common, Repeated, Switch
from sightline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from sightline.agent.web import Web

_TOKEN = "SIGHTLINE_MCP_TOKEN"
_SHORTEST = 16


def mcp(
    *,
    in_: Annotated[Path | None, Parameter(name="--in")] = None,
    http: Annotated[int, Parameter(validator=Number(gte=0, lte=65535))] | None = None,
    owner: str | None = None,
    tool: Repeated = None,
    without_tool: Repeated = None,
    web: str | None = None,
    freeze: Path | None = None,
    open_web: Switch = False,
    share_metadata: Switch = False,
    share_pictures: Switch = False,
    embedder: str | None = None,
    common: Common = Common(),
) -> None:
    """Offer the tools over your pictures to any program that speaks the Model Context Protocol.

    Parameters
    ----------
    in_:
        The folder of pictures, which is scanned and indexed first; all that the workspace knows when not given.
    http:
        Speak streamable HTTP at this port of 127.0.0.1 (0 for a free one), with a token from $SIGHTLINE_MCP_TOKEN
        or a new one; over stdin and stdout when not given.
    owner:
        Only the pictures of this owner.
    tool:
        Offer only this tool; can be repeated.
    without_tool:
        Do not offer this tool; can be repeated.
    web:
        The web for WebSearch and OpenPage: searxng:URL, serper, brave, serpapi, index:URL, mcp:URL or
        frozen:RUN; none when not given.
    freeze:
        Keep what the web answers in this file, and do not ask it again.
    open_web:
        Let OpenPage open any address of the public web, not only those that a search or a page named.
    share_metadata:
        Let queries hold places, names, paths and other metadata of your pictures that the tools have told.
    share_pictures:
        Let the model send your pictures, without their metadata, to the service that searches the web by picture.
    embedder:
        The embedder; the one of the index when not given.
    """
    from sightline.agent import web as webs
    from sightline.mcp import build_server, new_token, open_session, serve_http, serve_stdio

    common.ignores_limit()
    if common.json and http is None:
        raise UserError(
            "--json can't be used where stdin and stdout carry the protocol.", "leave it out, or add --http 0"
        )
    token = os.environ.get(_TOKEN, "")
    if http is not None and token and len(token) < _SHORTEST:
        raise UserError(f"{_TOKEN} has fewer than {_SHORTEST} characters.", "leave it out, and one is made")
    surfed = None if web is None else webs.open_web(web, freeze=freeze, local_only=common.local_only)
    with open_session(
        in_,
        owner=owner,
        tools=tool or (),
        without=without_tool or (),
        web=surfed,
        open_web=open_web,
        share_metadata=share_metadata,
        share_pictures=share_pictures,
        embedder=embedder,
        session=common.session(),
    ) as desk:
        server = build_server(desk)

        def ready(address: str) -> None:
            told = "the one in $" + _TOKEN if token else chosen
            if common.json:
                # A token from the environment is known to whoever set it, and is not said again.
                common.print_json({"url": address, "token": None if token else chosen, "tools": len(desk.tools)})
                sys.stdout.flush()
                return
            sys.stderr.write(f"serving {len(desk.tools)} tools at {address}\ntoken: {told}\n")
            sys.stderr.flush()

        chosen = token or new_token()
        work = serve_stdio(server) if http is None else serve_http(server, http, chosen, ready)
        with suppress(KeyboardInterrupt):
            asyncio.run(_closing(work, surfed))


async def _closing(work: Coroutine[None, None, None], web: Web | None) -> None:
    """The work, and then the web let go of by the loop that it was used in."""
    try:
        await work
    finally:
        if web is not None:
            await web.close()
