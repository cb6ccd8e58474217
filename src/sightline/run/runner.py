"""Run a system over a benchmark: several tasks at once, each kept when it is done; after a stop only the rest."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from sightline import __version__, bench
from sightline.bench.files import HEADER as BENCHMARK_FILE
from sightline.config import Config
from sightline.engine import Stage, purpose, run_map
from sightline.errors import UserError
from sightline.io import PathLike
from sightline.models.asking import Asking
from sightline.models.embedders.loop_thread import LoopThread
from sightline.run.folder import key_of, read_run, write_run
from sightline.run.latency import ATTEMPT
from sightline.run.paid import PaidCalls
from sightline.run.predictions import checked, ordered
from sightline.run.spec import Spec, masked, parse_spec
from sightline.run.summary import RunSummary, summarise
from sightline.run.systems.base import (
    Closing,
    Preparing,
    Setting,
    System,
    concurrency_of,
    kinds_of,
    numbered,
    parameters_of,
)
from sightline.run.systems.guarded import Guarded, as_system
from sightline.run.systems.registry import is_built_in, sees_truth
from sightline.run.visible import visible
from sightline.run.writer import RunWriter
from sightline.types import Attempt, Benchmark, Failure, LedgerEntry, Run, Task


def run(
    benchmark: PathLike | Benchmark,
    system: PathLike | Spec | System,
    out: PathLike,
    *,
    repeat: int = 1,
    seed: int = 0,
    limit: int | None = None,
    concurrency: int | None = None,
    retry_failed: bool = False,
    workspace: PathLike = ".sightline",
    config: Config | None = None,
    local_only: bool = False,
    asking: Asking | None = None,
) -> RunSummary:
    """Run a system (a SPEC, a TOML file or an object with `attempt`) over a benchmark, into the folder `out`.

    What `out` has already is not run again; `retry_failed` forgets the failures there that another try may mend, and
    asks models for those tasks afresh, whatever the journal has.
    `repeat` is how often each task is tried, `limit` takes only the first tasks, `concurrency` is how many attempts
    are made at once (the system's own choice when not given).
    """
    _check_numbers(repeat, limit, concurrency)
    started, folder = time.monotonic(), Path(out).expanduser()
    _refuse_other_content(folder)
    made_of, base = _opened(benchmark)
    shown = visible(made_of)
    setting = Setting(
        benchmark=shown,
        base=base,
        workspace=Path(workspace).expanduser(),
        config=config or Config(),
        asking=replace(asking or Asking(), local_only=local_only or bool(asking and asking.local_only)),
        seed=seed,
        folder=folder,
    )
    spec = parse_spec(system) if isinstance(system, str | Path) else system
    if isinstance(spec, Spec) and sees_truth(spec.kind, spec.options):
        setting = replace(setting, truth=made_of.truth)
    tested = spec.open(setting) if isinstance(spec, Spec) else as_system(spec)
    if not isinstance(spec, Spec) or not is_built_in(spec.kind.name):
        tested = Guarded(tested, None if isinstance(spec, Spec) else type(tested).__name__)
    job = _Job(folder, shown, tested, repeat, limit, concurrency or concurrency_of(tested), setting.workspace)
    made = job.run(spec if isinstance(spec, Spec) else None, seed, retry_failed)
    return summarise(
        folder,
        read_run(folder),
        tasks=len(job.tasks),
        made=made,
        left_out=Counter(task.kind for task in job.tasks if task.kind not in kinds_of(tested)),
        notes=tuple(getattr(tested, "notes", ())),
        seconds=time.monotonic() - started,
    )


@dataclass(frozen=True, slots=True)
class _Job:
    """A system, the tasks that it is to do, and how."""

    folder: Path
    benchmark: Benchmark
    system: System
    repeat: int
    limit: int | None
    concurrency: int
    workspace: Path

    @property
    def tasks(self) -> tuple[Task, ...]:
        return tuple(islice(self.benchmark.tasks.values(), self.limit))

    def run(self, spec: Spec | None, seed: int, retry_failed: bool) -> int:
        """Prepare the system, and make every attempt that is not there yet; how many those were."""
        try:
            entries = tuple(self.system.prepare()) if isinstance(self.system, Preparing) else ()
            header = self.header(spec, seed)
            again: frozenset[tuple[str, int]] = frozenset()
            if retry_failed:
                RunWriter.open(self.folder, header).close()  # Refuses where the run is another, or is being written.
                again = _forget_failures(self.folder)
            writer = RunWriter.open(self.folder, header)
        except BaseException:
            self._close()
            raise
        with writer:
            for entry in entries:
                writer.entry(entry)
            return self._work(writer, header.system, again)

    def header(self, spec: Spec | None, seed: int) -> Run:
        """What run.json says; known once the system is prepared."""
        told = masked(parameters_of(self.system))
        own: str | None = getattr(self.system, "name", None)
        name = (spec and spec.given_name) or own or (spec.name if spec else "system")
        return Run(
            benchmark=self.benchmark.name,
            system=name,
            attempts=(),
            benchmark_checksum=self.benchmark.checksum,
            parameters=told if spec is None else {**spec.parameters, **told},
            versions={"sightline": __version__},
            seed=seed,
            limits={"repeat": self.repeat, "limit": self.limit, "concurrency": self.concurrency},
        )

    def _work(self, writer: RunWriter, name: str, again: frozenset[tuple[str, int]]) -> int:
        """Make the attempts that are not done; those in `again` failed before, and ask models afresh."""
        done, kinds = writer.done, kinds_of(self.system)
        todo = [
            (task, number)
            for number in range(self.repeat)
            for task in self.tasks
            if task.kind in kinds and (task.id, number) not in done
        ]

        with closing(PaidCalls(self.workspace, self.folder)) as paid:
            paid.begin()

            async def one(item: tuple[Task, int]) -> None:
                task, number = item
                with purpose(task.id, afresh=(task.id, number) in again), numbered(number):
                    await _attempt(self.system, self.benchmark, item, _Books(writer, paid, name))

            stage = Stage("run", one, self.system.close if isinstance(self.system, Closing) else None)
            return sum(1 for _ in run_map(todo, stage, concurrency=self.concurrency))

    def _close(self) -> None:
        """Let go of a system that never got to its first task."""
        if isinstance(self.system, Closing):
            loop = LoopThread()
            try:
                loop.call(self.system.close())
            finally:
                loop.close()


@dataclass(frozen=True, slots=True)
class _Books:
    """Where attempts and what they cost are written down, and under which name."""

    writer: RunWriter
    paid: PaidCalls
    system: str


async def _attempt(system: System, benchmark: Benchmark, item: tuple[Task, int], books: _Books) -> None:
    """One try at one task, kept before the next is begun: what was done is never done twice."""
    task, number = item
    writer, started = books.writer, time.perf_counter()
    try:
        said = await system.attempt(task, benchmark)
    except BaseException:  # A budget, a server that went away, Ctrl-C: what was paid before that is told all the same.
        for entry in books.paid.of(task.id):
            writer.entry(entry)
        raise
    seconds = time.perf_counter() - started
    books.paid.of(task.id)  # The system tells these itself.
    outcome = checked(said)
    writer.append(Attempt(task.id, ordered(outcome.prediction), number))
    for entry in outcome.entries:
        writer.entry(entry)
    writer.entry(
        LedgerEntry(
            stage=ATTEMPT,
            model=books.system,
            task_id=task.id,
            usd=outcome.usd,
            seconds=seconds if outcome.seconds is None else outcome.seconds,
            ok=not isinstance(outcome.prediction, Failure),
        )
    )


def _opened(given: PathLike | Benchmark) -> tuple[Benchmark, Path | None]:
    if isinstance(given, Benchmark):
        found, base = given, None
    else:
        base = Path(given).expanduser()
        found = bench.read(base)
    if not found.tasks:
        raise UserError(f'the benchmark "{found.name}" has no tasks.', "give one that has some")
    return found, base


def _check_numbers(repeat: int, limit: int | None, concurrency: int | None) -> None:
    numbers: Mapping[str, int | None] = {"repeat": repeat, "limit": limit, "concurrency": concurrency}
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise UserError(f"{name} {value} would run nothing.", "give a number from 1 on")


def _refuse_other_content(folder: Path) -> None:
    """Said before an index is built, not after."""
    if folder.is_file():
        raise UserError(f"{folder} is a file; a run is a folder.", "choose another place")
    if (folder / BENCHMARK_FILE).is_file():
        raise UserError(f"{folder} is a benchmark.", "choose a new or an empty folder for the run")


def _forget_failures(folder: Path) -> frozenset[tuple[str, int]]:
    """Take out the failures that another try may mend, and name those attempts; all else stays."""
    before = read_run(folder)
    kept = tuple(
        attempt
        for attempt in before.attempts
        if not (isinstance(attempt.prediction, Failure) and attempt.prediction.retryable)
    )
    if len(kept) < len(before.attempts):
        write_run(replace(before, attempts=kept), folder)
    return frozenset(map(key_of, before.attempts)) - frozenset(map(key_of, kept))
