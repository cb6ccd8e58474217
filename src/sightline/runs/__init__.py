"""Systems under test, and what each said on a benchmark: running them, and the run on disk."""

from sightline.runs.folder import (
    BLOBS,
    PER_TASK,
    SCORES,
    TRAJECTORIES,
    RunWriter,
    blob_path,
    read_run,
    validate,
    write_run,
)

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
