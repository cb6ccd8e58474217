"""What one system said on one benchmark: the run on disk."""

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
