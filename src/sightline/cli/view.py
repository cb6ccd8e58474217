"""`sightline view [PATH…]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import ChatOptions, Common, Switch, described_by
from sightline.web.view import view as start_app

if TYPE_CHECKING:
    from sightline.web.view import AppServer


@described_by(start_app)
def view(
    *paths: Path,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65535))] = 8377,
    open_: Annotated[Switch, Parameter(name="--open")] = False,
    embedder: str | None = None,
    chat: ChatOptions = ChatOptions(),
    common: Common = Common(),
) -> None:
    """Look at pictures, search, check a benchmark's labels, compare runs: a local app in your browser.

    Parameters
    ----------
    host:
        The address to listen on. Any but this machine's own needs the token that is printed with it.
    open_:
        Open the page in your browser.
    """
    common.ignores_limit()

    def ready(server: AppServer) -> None:
        common.show(server)
        sys.stdout.flush()
        if not common.json:
            sys.stderr.write("  ctrl-c stops it\n")

    start_app(
        paths,
        host=host,
        port=port,
        open_browser=open_,
        model=chat.model,
        embedder=embedder,
        block=True,
        ready=ready,
        session=common.session(chat.calls(common)),
    )
