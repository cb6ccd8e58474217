"""The web of a drawn world as agents and `sightline mine questions` get it: `web=world`, `--web world:FOLDER`."""

from __future__ import annotations

from pathlib import Path

from sightline.agent.web import OfflineWeb, OfflineWebKind
from sightline.errors import UserError
from sightline_world.histories.corpus import LIFE_FILE, read_world
from sightline_world.web.offline_web import world_web

_NAME = "world"


def _of_benchmark(folder: Path | None) -> OfflineWeb:
    place = None if folder is None else folder / _NAME
    if place is None or not place.is_dir():
        raise UserError("this benchmark is not of the built-in world, so it has no web.", "leave web=world out")
    return _web_in(place)


def _of_folder(folder: str) -> OfflineWeb:
    return _web_in(_history_file(folder).parent)


def _files(folder: str) -> dict[str, Path]:
    life = _history_file(folder)
    return {f"{_NAME}/{life.name}": life}


def _web_in(folder: Path) -> OfflineWeb:
    world = read_world(folder)
    return OfflineWeb(world_web(world.seed, world.lives), _NAME)


def _history_file(folder: str) -> Path:
    """The file that a drawn world's web is made from."""
    if not folder:
        raise UserError("world is the web of a drawn world, which has a folder.", "say which: --web world:FOLDER")
    places = (Path(folder) / LIFE_FILE, Path(folder) / _NAME / LIFE_FILE)
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        raise UserError(f"there is no drawn world in {folder}.", "give the folder that `sightline world` wrote")
    return found


WEB = OfflineWebKind(_of_benchmark, _of_folder, _files)
