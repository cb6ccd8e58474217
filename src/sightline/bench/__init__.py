"""What a benchmark is on disk: read it, write it, say what is wrong with it."""

from sightline.bench.check import picture_path, validate
from sightline.bench.folder import read, write, write_elsewhere
from sightline.bench.place import check_place
from sightline.bench.problems import Problem, ProblemsError

__all__ = ["Problem", "ProblemsError", "check_place", "picture_path", "read", "validate", "write", "write_elsewhere"]
