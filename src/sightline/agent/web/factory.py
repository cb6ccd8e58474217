"""A web by its name: `searxng:http://localhost:8888`, `serpapi`, `index:…`, `mcp:…`, each frozen where asked.

The web of a run is one that lies with its benchmark, or one of these, with what was seen kept for a replay.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sightline import plugins
from sightline.agent.web.base import OfflineWebKind, Web
from sightline.agent.web.frozen import FrozenWeb
from sightline.config.section import Hidden
from sightline.errors import UserError
from sightline.io.private import private_folder
from sightline.models.providers import leaves_machine
from sightline.runs.systems.base import SystemSetting

if TYPE_CHECKING:
    from sightline.agent.web.fetch import Fetcher

FROZEN = "web.sqlite"
"""Where a workspace keeps what its agents saw of the web."""
KINDS = "searxng:URL, serper, brave, serpapi, index:URL, mcp:URL, mcp:COMMAND or frozen:RUN"
_KEYS = {"serper": "SERPER_API_KEY", "brave": "BRAVE_API_KEY", "serpapi": "SERPAPI_API_KEY"}


def find_web(spec: str, setting: SystemSetting) -> Web:
    """The benchmark's own web by the name of its kind; else as `open_web` reads it, frozen in the workspace."""
    kind = offline_web(spec)
    if kind is not None:
        return kind.of_benchmark(setting.base)
    session = setting.session
    private_folder(session.workspace)
    web = open_web(spec, freeze=session.workspace / FROZEN, local_only=session.calls.local_only)
    # The run keeps what it saw itself, so that it can be repeated without this workspace.
    return web if setting.folder is None or spec.startswith("frozen:") else FrozenWeb(setting.folder / FROZEN, web)


def offline_web(name: str) -> OfflineWebKind | None:
    """The plug-in of the group `webs` that has this name; None where there is none."""
    plugin = plugins.find("webs", name)
    if plugin is None:
        if plugins.is_elsewhere("webs", name):
            raise plugins.unknown("webs", name, "")
        return None
    kind: OfflineWebKind = plugin.load(OfflineWebKind)
    return kind


def open_web(
    spec: str,
    *,
    freeze: Path | None = None,
    local_only: bool = False,
    environment: Mapping[str, str] | None = None,
    fetcher: Fetcher | None = None,
) -> Web:
    """The web that a spec names; with `freeze`, what it answers is kept in that file and not asked again.

    Keys are read from the environment: SERPER_API_KEY, BRAVE_API_KEY, SERPAPI_API_KEY; SIGHTLINE_WEB_TOKEN for a
    server behind `mcp:` or `index:`.
    """
    environment = os.environ if environment is None else environment
    kind, _, rest = spec.partition(":")
    if kind == "frozen" and rest:
        file = Path(rest) / FROZEN if Path(rest).is_dir() else Path(rest)
        if not file.is_file():
            raise UserError(f"there is no frozen web {file}.", "name a run that had a web, or the file that it wrote")
        return FrozenWeb(file)
    if local_only:
        _refuse_remote(spec, kind)
    web = _opened(kind, rest, environment, fetcher)
    return web if freeze is None else FrozenWeb(freeze, web)


def _opened(kind: str, rest: str, environment: Mapping[str, str], fetcher: Fetcher | None) -> Web:
    from sightline.agent.web.engines import Brave, Engine, SearchedWeb, SearXNG, SerpApi, Serper
    from sightline.agent.web.index_web import IndexWeb
    from sightline.agent.web.mcp_web import McpWeb

    engines: dict[str, Callable[[Hidden], Engine]] = {"serper": Serper, "brave": Brave, "serpapi": SerpApi}
    token = environment.get("SIGHTLINE_WEB_TOKEN") or None

    if kind == "searxng" and rest.startswith(("http://", "https://")):
        return SearchedWeb(SearXNG(rest), fetcher)
    if kind in _KEYS:
        key = environment.get(_KEYS[kind], "")
        if not key:
            raise UserError(f"{kind} needs a key.", f"set {_KEYS[kind]}")
        return SearchedWeb(engines[kind](Hidden(key)), fetcher, [key])
    if kind == "index" and rest.startswith(("http://", "https://")):
        return IndexWeb(rest, token)
    if kind == "mcp" and rest:
        return McpWeb(rest, token=token)
    raise UserError(f'there is no web "{kind}{":" if rest else ""}{rest[:80]}".', f"give {KINDS}")


def _refuse_remote(spec: str, kind: str) -> None:
    """A search engine leaves the machine even if it runs here, and so does a fetch of any page."""
    address = spec.partition(":")[2]
    if kind in ("mcp", "index") and address.startswith(("http://", "https://")) and not leaves_machine(address):
        return
    asks = "asks others, wherever it runs itself" if kind == "searxng" else "is not on this machine"
    raise UserError(
        f"the web {spec} {asks}, and --local-only allows no call that leaves this machine.",
        "use frozen:RUN, or leave --local-only out",
    )
