"""Tasks over lives, true by construction: `rank`, `select`, `answer` and `describe`."""

from sightline_world.tasks.album import TaskAlbum
from sightline_world.tasks.benchmark import KINDS, make_tasks
from sightline_world.tasks.task import MadeTask

__all__ = ["KINDS", "MadeTask", "TaskAlbum", "make_tasks"]
