"""`sightline view [PATH…]`."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import ChatOptions, Common, Switch


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
    paths:
        A workspace, benchmarks, runs, traces, or folders that hold them; the workspace alone when not given.
    host:
        The address to listen on. Any but this machine's own needs the token that is printed with it.
    port:
        The port to listen on; 0 for a free one.
    open_:
        Open the page in your browser.
    embedder:
        Who compares pictures and words; the one that built the index when not given.
    """
    from sightline.web.server import serve

    common.ignores_limit()

    def ready(address: str) -> None:
        if common.json:
            common.print_json({"address": address})
            sys.stdout.flush()
        else:
            common.console.print(f"  {address}", markup=False, soft_wrap=True)
            sys.stderr.write("  ctrl-c stops it\n")
        if open_:
            webbrowser.open(address)

    given = common.workspace_path.expanduser()
    serve(
        given if given.is_dir() or not paths else None,
        paths,
        host=host,
        port=port,
        ready=ready,
        model=chat.model,
        embedder=embedder,
        session=common.session(chat.asking(common)),
    )
