"""What a benchmark is on disk: read it, write it, say what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import later

if TYPE_CHECKING:  # Loaded when first used: who only writes a table has no need of all records.
    from sightline.benchmark.folder import check_place, read, write, write_elsewhere
    from sightline.benchmark.problems import Problem, ProblemsError
    from sightline.benchmark.validation import oddities, picture_path, validate

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
    "Problem": "sightline.benchmark.problems",
    "ProblemsError": "sightline.benchmark.problems",
    "check_place": "sightline.benchmark.folder",
    "oddities": "sightline.benchmark.validation",
    "picture_path": "sightline.benchmark.validation",
    "read": "sightline.benchmark.folder",
    "validate": "sightline.benchmark.validation",
    "write": "sightline.benchmark.folder",
    "write_elsewhere": "sightline.benchmark.folder",
}

__getattr__, __dir__ = later(__name__, _LAZY)
