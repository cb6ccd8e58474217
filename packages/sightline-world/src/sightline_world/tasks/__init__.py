"""Tasks over lives, true by construction: `rank`, `select`, `answer` and `describe`."""

from sightline_world.tasks.album import Album
from sightline_world.tasks.made import MadeTask
from sightline_world.tasks.making import KINDS, make_tasks

__all__ = ["KINDS", "Album", "MadeTask", "make_tasks"]
