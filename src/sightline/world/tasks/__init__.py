"""Tasks over lives, true by construction: `rank`, `select`, `answer` and `describe`."""

from sightline.world.tasks.album import Album
from sightline.world.tasks.made import MadeTask
from sightline.world.tasks.making import KINDS, make_tasks

__all__ = ["KINDS", "Album", "MadeTask", "make_tasks"]
