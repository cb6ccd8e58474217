"""Judging and writing, here or in a process of its own: who asks a thousand servers at once has no time for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from sightline.engine.processes import Died, cores, map_in_processes
from sightline.engine.worker import receive, send
from sightline.reason.traces.folder import Format
from sightline.reason.traces.index import Index
from sightline.reason.traces.judging import Job, judge
from sightline.reason.traces.nouns import Findings, Judged, Row
from sightline.reason.traces.shards import Shards
from sightline.types import Failure

_CHUNK = 16
_MOST_JUDGES = 8
_END = "end"


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows are written, and how."""

    folder: Path
    models: tuple[str, ...]
    format: Format
    shard_rows: int


def write_here(jobs: Iterable[Job], place: Place) -> None:
    """Judge and write in this process."""
    with Index(place.folder) as index:
        _write((Row(job.question, job.asked, judge(job)) for job in jobs), index, place)


def write_elsewhere(jobs: Iterable[Job], place: Place, held: Sequence[int] = ()) -> None:
    """The same in a process of its own, which judges in several more; `held` are open files that it keeps open, too.

    If this process ends, that one does too, at its next look for work; no shard is ever half there.
    """
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=tuple(held)) as scribe:
        assert scribe.stdin is not None and scribe.stdout is not None
        to, back = cast("BinaryIO", scribe.stdin), cast("BinaryIO", scribe.stdout)
        with suppress(BrokenPipeError):  # Then its last word says why.
            send(to, place)
            waiting = iter(jobs)
            while batch := list(islice(waiting, _CHUNK)):
                send(to, batch)
            send(to, _END)
        error = _last_word(back)
    if error is not None:
        raise error


def _last_word(back: BinaryIO) -> BaseException | None:
    try:
        found: BaseException | None = receive(back)
    except EOFError:
        return RuntimeError("the process that writes the traces was ended; run it again to go on")
    return found


def _write(rows: Iterable[Row], index: Index, place: Place) -> None:
    shards = Shards(place.folder, index, place.models, place.format, place.shard_rows)
    for row in rows:
        shards.add(row)
    shards.flush()


def _judged(jobs: Iterable[Job]) -> Iterator[Row]:
    """Rows in the order of the jobs, judged by other processes."""
    waiting: dict[int, Row] = {}
    turn = 0
    function, workers = f"{judge.__module__}:judge_numbered", min(_MOST_JUDGES, cores())
    for (number, job), found in map_in_processes(function, enumerate(jobs), workers=workers, chunk=_CHUNK):
        waiting[number] = Row(job.question, job.asked, _died(found, job) if isinstance(found, Died) else found)
        while turn in waiting:
            yield waiting.pop(turn)
            turn += 1


def _died(died: Died, job: Job) -> Findings:
    failure = Failure("check-died", f"the process that checked it ended: {died.why}")
    return Findings(tuple(Judged("failed", reasons=(failure.kind,), failure=failure) for _ in job.asked.replies))


def _received(pipe: BinaryIO) -> Iterator[Job]:
    while (batch := receive(pipe)) != _END:
        yield from batch


def main() -> None:
    """Serve until told to end; when the other side is gone, stop at once: what is not written comes again."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches everybody; who asks decides what it means.
    results: Any = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    error: BaseException | None = None
    try:
        place: Place = receive(sys.stdin.buffer)
        with Index(place.folder) as index:
            _write(_judged(_received(sys.stdin.buffer)), index, place)
    except EOFError:
        return
    except OSError as caught:  # A full disk, for example.
        error = caught
    except BaseException:
        error = RuntimeError(f"writing traces failed:\n{traceback.format_exc()}")
    send(results, error)


if __name__ == "__main__":
    main()
