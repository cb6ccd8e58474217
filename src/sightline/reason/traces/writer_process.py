"""Judging and writing, here or in a process of its own: who asks a thousand servers at once has no time for it."""

from __future__ import annotations

import os
import pickle
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

from sightline.engine.async_map import fewer_gc_runs
from sightline.engine.worker import receive, receive_frame, send, send_frame
from sightline.engine.worker_pool import Died, cores, map_in_processes, single_core_environment
from sightline.errors import SightlineError, UserError
from sightline.reason.traces.folder import TraceFormat
from sightline.reason.traces.index import TraceIndex
from sightline.reason.traces.records import CheckedTrace, CheckJob, Findings, TraceRow, check_frame, pack, unpack
from sightline.reason.traces.shards import TraceShards
from sightline.types import Failure

_FRAME = 64
"""Questions that travel between two processes at once."""
_MOST_CHECKERS = 8
_GIVES_WAY = 10
"""Whoever asks goes first where cores are few: its calls are waited for."""
_END = b""
_KILL = 9


@dataclass(frozen=True, slots=True)
class WriterTarget:
    """Where rows are written, and how."""

    folder: Path
    models: tuple[str, ...]
    format: TraceFormat
    shard_rows: int


def write_in_process(jobs: Iterable[CheckJob], place: WriterTarget) -> None:
    """Judge and write in this process."""
    from sightline.reason.traces.quality import check_replies

    with TraceIndex(place.folder) as index:
        _write((TraceRow(job.question, job.asked, check_replies(job)) for job in jobs), index, place)


def write_in_subprocess(jobs: Iterable[CheckJob], place: WriterTarget, held: Sequence[int] = ()) -> None:
    """The same in a process of its own, which judges in several more; `held` are open files that it keeps open, too.

    If this process ends, that one does too, at its next look for work; no shard is ever half there.
    """
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=tuple(held), env=single_core_environment()
    ) as writer:
        assert writer.stdin is not None and writer.stdout is not None
        to, back = cast("BinaryIO", writer.stdin), cast("BinaryIO", writer.stdout)
        try:
            _hand_over(jobs, place, to)
        finally:
            with suppress(BrokenPipeError):  # Closing flushes what a process that died never read.
                to.close()
        try:
            error: BaseException | None = receive(back)
        except EOFError:
            error = _ended(writer.wait())
    if error is not None:
        raise error


def _hand_over(jobs: Iterable[CheckJob], place: WriterTarget, to: BinaryIO) -> None:
    """All jobs, or as many as are taken; asking may meet broken pipes of its own, which are none of this."""
    for frame in _frames(jobs, place):
        try:
            send_frame(to, frame)
        except BrokenPipeError:  # Its last word says why.
            return


def _frames(jobs: Iterable[CheckJob], place: WriterTarget) -> Iterator[bytes]:
    yield pickle.dumps(place)
    waiting = iter(jobs)
    while batch := list(islice(waiting, _FRAME)):
        yield pack(batch)
    yield _END


def _ended(code: int) -> UserError:
    """It had no last word."""
    how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
    if code == -_KILL:
        how += ", possibly out of memory"
    return UserError(
        f"the process that writes the traces ended before its work was done ({how}).",
        "run the same command again: it goes on, replies in the journal are not paid again",
    )


def _write(rows: Iterable[TraceRow], index: TraceIndex, place: WriterTarget) -> None:
    shards = TraceShards(place.folder, index, place.models, place.format, place.shard_rows)
    for row in rows:
        shards.add(row)
    shards.flush()


def _judged(frames: Iterable[bytes]) -> Iterator[TraceRow]:
    """Rows in the order of the jobs in all frames, judged by other processes."""
    waiting: dict[int, list[TraceRow]] = {}
    turn = 0
    workers = min(_MOST_CHECKERS, max(1, cores() - 1))  # One core is for asking.
    for (number, frame), found in map_in_processes(check_frame, enumerate(frames), workers=workers, chunk=1):
        waiting[number] = _one_by_one(frame) if isinstance(found, Died) else unpack(found)
        while turn in waiting:
            yield from waiting.pop(turn)
            turn += 1


def _one_by_one(frame: bytes) -> list[TraceRow]:
    """Something in this frame ended a judge: only that is lost."""
    jobs: list[CheckJob] = unpack(frame)
    alone = ((number, pack([job])) for number, job in enumerate(jobs))
    results = [found for _, found in map_in_processes(check_frame, alone, workers=1, chunk=1)]
    return [
        TraceRow(job.question, job.asked, _died(found, job)) if isinstance(found, Died) else unpack(found)[0]
        for job, found in zip(jobs, results, strict=True)
    ]


def _died(died: Died, job: CheckJob) -> Findings:
    failure = Failure("check-died", f"the process that checked it ended: {died.why}")
    return Findings(tuple(CheckedTrace("failed", reasons=(failure.kind,), failure=failure) for _ in job.asked.replies))


def main() -> None:
    """Serve until told to end; when the other side is gone, stop at once: what is not written comes again."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches everybody; who asks decides what it means.
    if hasattr(os, "nice"):
        os.nice(_GIVES_WAY)
    results: Any = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    error: BaseException | None = None
    try:
        place: WriterTarget = receive(sys.stdin.buffer)
        with fewer_gc_runs(), TraceIndex(place.folder) as index:
            frames = iter(lambda: receive_frame(sys.stdin.buffer), _END)
            _write(_judged(frames), index, place)
    except EOFError:
        return
    except SightlineError as caught:  # A full disk, for example.
        error = UserError(caught.message, caught.fix)
    except OSError as caught:
        error = caught
    except BaseException:
        error = RuntimeError(f"writing traces failed:\n{traceback.format_exc()}")
    send(results, error)


if __name__ == "__main__":
    main()
