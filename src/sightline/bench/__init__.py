"""What a benchmark is on disk: read it, write it, say what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import later

if TYPE_CHECKING:  # Loaded when first used: who only writes a table has no need of all records.
    from sightline.bench.check import picture_path, validate
    from sightline.bench.folder import read, write, write_elsewhere
    from sightline.bench.odd import oddities
    from sightline.bench.place import check_place
    from sightline.bench.problems import Problem, ProblemsError

__all__ = [
    "Problem",
    "ProblemsError",
    "check_place",
    "oddities",
    "picture_path",
    "read",
    "validate",
    "write",
    "write_elsewhere",
]

_LAZY = {
    "Problem": ".problems",
    "ProblemsError": ".problems",
    "check_place": ".place",
    "oddities": ".odd",
    "picture_path": ".check",
    "read": ".folder",
    "validate": ".check",
    "write": ".folder",
    "write_elsewhere": ".folder",
}

__getattr__, __dir__ = later(__name__, _LAZY)
