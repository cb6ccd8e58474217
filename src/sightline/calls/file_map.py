"""A function over many files, in worker processes of this machine or of a cluster's.

On a cluster each worker has a process of its own for the files, so that one that kills it costs only itself, as here.
A job has the `path` of its file.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import platform
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from sightline.calls.session import Session
from sightline.calls.stages import SharedServices, StageSpec, run_spread
from sightline.engine.async_map import Stage
from sightline.engine.worker_pool import GuardedWorker, map_in_processes, use_cores
from sightline.errors import StoppedError

Pairs: TypeAlias = list[tuple[Any, Any]]
FileMap: TypeAlias = Callable[..., Generator[tuple[Any, Any], None, None]]
"""`map_in_processes`, or what does the same elsewhere."""


def file_map(session: Session) -> FileMap:
    """`map_in_processes` where the session's engine is this machine, else the same on its cluster, in order."""
    return map_in_processes if session.engine == "local" else partial(_on_cluster, session=session)


def _on_cluster(
    function: Callable[[Any], Any], jobs: Iterable[Any], *, workers: int, chunk: int, session: Session
) -> Generator[tuple[Any, Any], None, None]:
    """`workers` is that of this machine; the cluster has its own."""
    for pairs in spread_batches(jobs, StageSpec("files", _files_stage, {"function": function}), session, chunk):
        yield from pairs


def spread_batches(
    jobs: Iterable[Any], spec: StageSpec[list[Any], Pairs], session: Session, size: int
) -> Iterator[Pairs]:
    """What comes of each batch of so many jobs, in order; a worker has one batch at a time."""
    todo, count = iter(jobs), 0
    with tempfile.TemporaryFile() as file:  # They are drawn in this thread, used in another, and may be many.
        while batch := list(islice(todo, size)):
            pickle.dump(batch, file)
            count += 1
        file.seek(0)
        batches = (pickle.load(file) for _ in range(count))
        options = {"engine": session.engine, "concurrency": 1, "show_progress": False, "total": count}
        for mapped in run_spread(batches, spec, session.workspace, **options):
            assert isinstance(mapped.result, list)
            yield mapped.result


def _files_stage(shared: SharedServices, *, function: Callable[[Any], Any]) -> Stage[list[Any], Pairs]:
    reader = ClusterReader(function)
    return batch_stage("files", reader.map, reader)


def batch_stage(
    name: str, work: Callable[[list[Any]], Pairs], reader: ClusterReader, close: Callable[[], None] = lambda: None
) -> Stage[list[Any], Pairs]:
    """A stage that does something with a batch of files, which the reader reads."""

    async def one(batch: list[Any]) -> Pairs:
        return await asyncio.to_thread(work, batch)

    async def end() -> None:
        reader.stop()
        close()

    return Stage(name, one, end)


class ClusterReader(GuardedWorker):
    """The process that a cluster's worker has for files; a worker is for one core."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        use_cores(1)
        super().__init__(function)

    def map(self, batch: list[Any]) -> Pairs:
        """As on one machine; stops the work where the files are not to be seen from this one."""
        folder = Path(os.fsdecode(batch[0].path)).parent
        if not folder.is_dir():
            raise StoppedError(
                f"{folder} is not on {platform.node()}, a machine of the cluster.",
                "Mount it there under the same path, or leave --engine out.",
            )
        return super().map(batch)
