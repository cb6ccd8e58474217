"""The web of a run: one that lies with its benchmark, or one by its address, with what was seen kept for a replay."""

from __future__ import annotations

from sightline import plugins
from sightline.agent.web import OfflineWebKind, Web, open_web
from sightline.runs.systems.base import SystemSetting

FROZEN = "web.sqlite"
"""Where a workspace keeps what its agents saw of the web."""


def find_web(spec: str, setting: SystemSetting) -> Web:
    """The benchmark's own web by the name of its kind; else as `open_web` reads it, frozen in the workspace."""
    kind = offline_web(spec)
    if kind is not None:
        return kind.of_benchmark(setting.base)
    setting.workspace.mkdir(parents=True, exist_ok=True)
    return open_web(spec, freeze=setting.workspace / FROZEN, local_only=setting.local_only)


def offline_web(name: str) -> OfflineWebKind | None:
    """The plug-in of the group `webs` that has this name; None where there is none."""
    plugin = plugins.find("webs", name)
    if plugin is None:
        if plugins.is_elsewhere("webs", name):
            raise plugins.unknown("webs", name, "")
        return None
    kind: OfflineWebKind = plugin.load(OfflineWebKind)
    return kind
