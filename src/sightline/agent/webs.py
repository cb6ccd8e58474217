"""The web of a run: the built-in world's own, or one by its address, with what was seen kept for a replay."""

from __future__ import annotations

from importlib import import_module

from sightline.agent.web import OfflineWeb, Web, open_web
from sightline.errors import UserError
from sightline.run.systems.base import Setting

WORLD = "world"
FROZEN = "web.sqlite"
"""Where a workspace keeps what its agents saw of the web."""


def find_web(spec: str, setting: Setting) -> Web:
    """`world` for benchmarks of the built-in world; else as `agent.web.open_web` reads it, frozen in the workspace."""
    if spec != WORLD:
        setting.workspace.mkdir(parents=True, exist_ok=True)
        return open_web(spec, freeze=setting.workspace / FROZEN, local_only=setting.local_only)
    folder = None if setting.base is None else setting.base / WORLD
    if folder is None or not folder.is_dir():
        raise UserError("this benchmark is not of the built-in world, so it has no web.", "leave web=world out")
    # The world is a room that may not be imported from here: it is asked for by name, as a plug-in would be.
    world = import_module("sightline.world.lives").read_world(folder)
    return OfflineWeb(import_module("sightline.world.web").world_web(world.seed, world.lives), WORLD)
