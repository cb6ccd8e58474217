"""Systems under test, and what each said on a benchmark: running them, and the run on disk."""

from sightline._callable import make_callable
from sightline.run.folder import (
    BLOBS,
    PER_TASK,
    SCORES,
    TRAJECTORIES,
    blob_path,
    read_run,
    validate,
    write_run,
)
from sightline.run.writer import RunWriter

__all__ = [
    "BLOBS",
    "PER_TASK",
    "SCORES",
    "TRAJECTORIES",
    "RunWriter",
    "blob_path",
    "read_run",
    "validate",
    "write_run",
]

make_callable(__name__)
