"""The verb `view`: the local app, served in the background or until it is stopped."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Any

from sightline.calls.session import Session
from sightline.errors import UserError, needs_extra
from sightline.io.files import PathLike, as_path
from sightline.models.protocols import Embedder
from sightline.web.server import LOOPBACK, bind, open_app, reached_as

if TYPE_CHECKING:
    import uvicorn

_HIGHEST_PORT = 65_535


class AppServer:
    """The app on its address; `stop` ends it, and so does the end of a `with` block."""

    def __init__(self, server: uvicorn.Server, bound: socket, address: str) -> None:
        self.address = address
        "Opens the app in a browser; with its token, where others can reach it."
        self._server, self._bound = server, bound
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Serve in the background."""
        if self._thread is None:
            self._thread = threading.Thread(target=self.serve, name="sightline-view", daemon=True)
            self._thread.start()

    def serve(self) -> None:
        """Serve here, until it is stopped."""
        with self._bound, suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._bound])

    def stop(self) -> None:
        """End the app; open pages no longer answer."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self._bound.close()

    def __enter__(self) -> AppServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {"address": self.address}

    def __str__(self) -> str:
        return f"  {self.address}"

    def __repr__(self) -> str:
        return f"<AppServer at {self.address}>"

    def _repr_html_(self) -> str:
        return f'<a href="{self.address}" target="_blank">{self.address}</a>'


def view(
    paths: PathLike | Sequence[PathLike] = (),
    *,
    host: str = LOOPBACK,
    port: int = 0,
    open_browser: bool = False,
    model: str | None = None,
    embedder: str | Embedder | None = None,
    block: bool = False,
    ready: Callable[[AppServer], None] | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> AppServer:
    """Look at pictures, search, check a benchmark's labels and compare runs: a local app in your browser.

    Needs the extra `view`.

    Parameters
    ----------
    paths:
        A workspace, benchmarks, runs, traces, or folders that hold them; the workspace alone when not given.
    host:
        The address to listen on. Any but this machine's own needs the token that `address` has.
    port:
        The port to listen on; 0 for a free one.
    open_browser:
        Open the page in your browser.
    model:
        The model that questions in the app are put to.
    embedder:
        Who compares pictures and words; the one that built the index when not given.
    block:
        Serve until it is stopped by Ctrl-C, instead of in the background.
    ready:
        Called with the server when it can be reached.
    workspace, session:
        Where to work and how to call models; see `Session`.

    Returns
    -------
    AppServer
        The server, with its `address` and `stop()`.

    Examples
    --------
    >>> import sightline
    >>> with sightline.view("bench", workspace="ws") as app:
    ...     print(app.address.partition(":")[0])
    http
    """
    session = Session.of(session, workspace)
    if not 0 <= port <= _HIGHEST_PORT:
        raise UserError(f"port must be from 0 to {_HIGHEST_PORT}, not {port}.", "0 takes a free one")
    given = paths if isinstance(paths, Sequence) and not isinstance(paths, str | bytes) else [paths]
    places = tuple(as_path(path, "a workspace, a benchmark or a run") for path in given)
    server = _prepared(places, host, port, model, embedder, session)
    if ready is not None:
        ready(server)
    if open_browser:
        webbrowser.open(server.address)
    if block:
        server.serve()
    else:
        server.start()
    return server


def _prepared(
    paths: tuple[Path, ...],
    host: str,
    port: int,
    model: str | None,
    embedder: str | Embedder | None,
    session: Session,
) -> AppServer:
    """The app on a bound address: whoever opens it is heard as soon as it is served."""
    with needs_extra("sightline view", "view"):
        import jinja2  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn
    from sightline.web.app import build

    with ExitStack() as on_error:
        bound = on_error.enter_context(bind(host, port))
        port = bound.getsockname()[1]
        state = open_app(
            session.workspace if session.workspace.is_dir() or not paths else None,
            paths,
            host=host,
            port=port,
            model=model,
            embedder=embedder,
            session=session,
        )
        on_error.pop_all()
    token = state.guard.token
    settings = uvicorn.Config(
        build(state), log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2
    )
    threading.Thread(target=state.warm, daemon=True).start()
    address = f"http://{reached_as(host)}:{port}/{'' if token is None else f'?token={token}'}"
    return AppServer(uvicorn.Server(settings), bound, address)
