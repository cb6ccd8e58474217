"""Run a system over a benchmark: several tasks at once, each kept when it is done; after a stop only the rest.

A dry run says before what a run would take of chat models. What a system said is looked at before it is kept:
that it is a prediction, and in an order that scoring keeps.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sightline import __version__
from sightline.benchmark.files import HEADER as BENCHMARK_FILE
from sightline.benchmark.provenance import SHOW_ANNOTATIONS
from sightline.calls.plan import CostPlan, DryRunError, priced
from sightline.calls.session import Session, note_reuse, purpose
from sightline.class_names import name_of
from sightline.engine.async_map import Stage, run_map
from sightline.engine.event_loop import run_async
from sightline.engine.user_functions import UserFunction
from sightline.errors import UserError
from sightline.io.files import PathLike, optional_path
from sightline.models.protocols import Embedder
from sightline.runs.folder import HEADER, RunWriter, key_of, new_run_folder, read_run, write_run
from sightline.runs.integrity import changes
from sightline.runs.paid_calls import PaidCalls
from sightline.runs.summary import ATTEMPT, RunSummary, summarise
from sightline.runs.system_loader import LoadedSystem, check_numbers, load_system
from sightline.runs.system_spec import Spec, masked
from sightline.runs.systems.base import (
    Closing,
    Outcome,
    Preparing,
    Pricing,
    System,
    concurrency_of,
    numbered,
    parameters_of,
)
from sightline.types import (
    Attempt,
    Benchmark,
    Choice,
    Failure,
    LedgerEntry,
    PictureSet,
    Prediction,
    Ranking,
    Run,
    Task,
    Text,
    Trace,
)

_LONGEST = 300


def checked(said: object) -> Outcome:
    """What was said; a failure `bad-prediction` where it is not a prediction, or can't be kept (NaN, no text)."""
    outcome = said if isinstance(said, Outcome) else Outcome(said)  # type: ignore[arg-type]
    wrong = _wrong(outcome.prediction)
    return outcome if wrong is None else replace(outcome, prediction=Failure("bad-prediction", wrong[:_LONGEST]))


def ordered(prediction: Prediction) -> Prediction:
    """The same with scores that fall strictly, so that nothing reads another order out of them than that of the list.

    Equal neighbours (in single precision, in which scores are compared) are moved apart by the least that can be told.
    Scores that rise somewhere, such as distances or those of before a re-ranking, say nothing about the order: they
    are left out.
    """
    if not isinstance(prediction, Ranking) or prediction.scores is None:
        return prediction
    return replace(prediction, scores=_falling(prediction.scores))


def _falling(scores: Sequence[float]) -> tuple[float, ...] | None:
    narrow = np.array(scores, np.float32)
    if not np.isfinite(narrow).all() or (narrow[1:] > narrow[:-1]).any():
        return None
    if (narrow[1:] < narrow[:-1]).all():
        return tuple(scores)
    low = np.float32(-np.inf)
    for at in range(1, len(narrow)):
        narrow[at] = min(narrow[at], np.nextafter(narrow[at - 1], low))
    return tuple(narrow.tolist()) if np.isfinite(narrow).all() else None


def _wrong(said: object) -> str | None:
    match said:
        case Ranking() | PictureSet():
            return _wrong_pictures(said)
        case Text(text):
            return _wrong_words(said, text)
        case Trace(thinking, answer):
            return _wrong_words(said, thinking, answer)
        case Choice(option):
            return None if option is None else _wrong_words(said, option)
        case Failure(kind, message):
            return _wrong_words(said, kind, message)
        case _:
            return f"the system said {name_of(type(said))}, which is not a prediction"


def _wrong_pictures(said: Ranking | PictureSet) -> str | None:
    pictures: object = said.pictures
    if not isinstance(pictures, tuple | list) or not all(isinstance(id_, str) and id_ for id_ in pictures):
        return "the pictures are not a tuple of ids"
    scores: object = said.scores if isinstance(said, Ranking) else None
    if scores is None:
        return None
    if not isinstance(scores, tuple | list) or len(scores) != len(pictures):
        return f"{len(pictures)} pictures need as many scores, or none"
    return None if all(map(_is_number, scores)) else "a score is not a finite number"


def _wrong_words(said: Prediction, *words: object) -> str | None:
    return None if all(isinstance(word, str) for word in words) else f"the text of a {name_of(type(said))} is none"


def _is_number(score: object) -> bool:
    return isinstance(score, int | float | np.number) and not isinstance(score, bool) and math.isfinite(score)


def _price(opened: LoadedSystem, out: Path | None) -> CostPlan:
    """What a run would take, asking nobody; what the folder `out` has already costs nothing.

    A system that asks no chat model gives a plan without stages. An agent's index is built as for the run itself.
    """
    done = set(map(key_of, read_run(out).attempts)) if out is not None and (out / HEADER).is_file() else set()
    todo = opened.attempts(done)
    plan = run_async(_priced(opened.system, todo))
    left = ", ".join(f"{count:,} {kind}" for kind, count in opened.left_out.items())
    notes = (
        *(() if todo else (f"Every attempt is in {out} already.",)),
        *((f"Left out, because such a system does not do them: {left}.",) if left else ()),
    )
    return replace(plan, notes=(*plan.notes, *notes))


async def _priced(system: System, attempts: Sequence[tuple[Task, int]]) -> CostPlan:
    try:
        if not isinstance(system, Pricing):
            return CostPlan(())
        if isinstance(system, Preparing):
            await asyncio.to_thread(lambda: tuple(system.prepare()))
        return await system.price(attempts)
    finally:
        if isinstance(system, Closing):
            await system.close()


@priced
def run(
    benchmark: PathLike | Benchmark,
    system: PathLike | Spec | System | Embedder | UserFunction,
    out: PathLike | None = None,
    *,
    repeat: int = 1,
    concurrency: int | None = None,
    retry_failed: bool = False,
    show_annotations: bool = False,
    limit: int | None = None,
    seed: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> RunSummary:
    """Run a system over a benchmark. Run it again to resume after a stop: what is done is not done twice.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark, or the benchmark.
    system:
        What is tested: "kind:key=value,…" (kinds: retriever, hybrid, chat, agent, http, blind, oracle and those of
        plug-ins), a TOML file, an object with `attempt(task, bench)`, an embedder (searched by its vectors), or a
        function: `my_search(query, k)` that returns ids (`FunctionSystem` says what else).
    out:
        The folder of the run, new or begun before; a new one under `runs` in the workspace when not given.
    repeat:
        How often each task is tried.
    concurrency:
        How many tasks at once; the system's own choice when not given.
    retry_failed:
        Repeat the tasks that failed in `out` and may succeed now, without cached replies.
    show_annotations:
        Show the system texts that a model wrote while the benchmark was made; the run notes it, and scores warn of it.
    limit:
        Take only the first so many tasks.
    seed:
        Makes random choices repeatable; the session's, else 0, when not given.
    workspace, session:
        Where it works and how models are called.

    Returns
    -------
    RunSummary
        Attempts, failures by kind, times, and the run itself. A dry run of a system that calls no model is a plan
        without stages.

    Examples
    --------
    >>> import sightline
    >>> done = sightline.run("bench", "oracle", "new_run", workspace="ws")
    >>> done.failures
    {}
    """
    check_numbers(repeat=repeat, limit=limit, concurrency=concurrency)
    session, folder = Session.of(session, workspace), optional_path(out, "the folder of the run")
    started, seed = time.monotonic(), seed if seed is not None else session.seed or 0
    loading = partial(
        load_system,
        benchmark,
        system,
        repeat=repeat,
        limit=limit,
        seed=seed,
        session=session,
        show_annotations=show_annotations,
    )
    if session.calls.plan:
        raise DryRunError(_price(loading(None), folder))
    folder = folder or new_run_folder(session.workspace, system)
    _refuse_other_content(folder)
    opened = loading(folder)
    tested = opened.system
    given = None if session.engine == "local" else _portable(benchmark, system, loading.keywords, folder)
    job = _Job(folder, opened, limit, concurrency or concurrency_of(tested), session.workspace, given)
    made = job.run(seed, retry_failed)
    return summarise(
        folder,
        read_run(folder),
        tasks=len(opened.tasks),
        made=made,
        left_out=opened.left_out,
        notes=tuple(getattr(tested, "notes", ())),
        seconds=time.monotonic() - started,
        benchmark=benchmark.folder if isinstance(benchmark, Benchmark) else Path(benchmark),
    )


def _portable(benchmark: object, system: object, options: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What a worker of a cluster opens the system with; refused for what is in this program's memory alone."""
    place = benchmark.folder if isinstance(benchmark, Benchmark) else benchmark
    if place is None or not isinstance(system, str | os.PathLike):
        what = "The benchmark" if place is None else "The system"
        raise UserError(
            f"{what} is an object of this program, which no other machine can open.",
            "Give its folder (a system: its SPEC), or leave engine out.",
        )
    paths = {"benchmark": Path(str(place)).absolute(), "folder": folder.absolute()}
    return {**options, **paths, "system": system}


@dataclass(frozen=True, slots=True)
class _Job:
    """A system, the tasks that it is to do, and how; `given` opens the system on a cluster."""

    folder: Path
    opened: LoadedSystem
    limit: int | None
    concurrency: int
    workspace: Path
    given: dict[str, Any] | None

    def run(self, seed: int, retry_failed: bool) -> int:
        """Prepare the system, and make every attempt that is not there yet; how many those were."""
        system = self.opened.system
        try:
            entries = tuple(system.prepare()) if isinstance(system, Preparing) else ()
            header = self.header(seed)
            again: frozenset[tuple[str, int]] = frozenset()
            if retry_failed:
                RunWriter(self.folder, header).close()  # Refuses where the run is another, or is being written.
                again = _forget_failures(self.folder)
            writer = RunWriter(self.folder, header)
        except BaseException:
            self.opened.close()
            raise
        with writer:
            for entry in entries:
                writer.entry(entry)
            return self._work(writer, header.system, again)

    def header(self, seed: int) -> Run:
        """What run.json says; known once the system is prepared."""
        spec, system, benchmark = self.opened.spec, self.opened.system, self.opened.benchmark
        told = masked(parameters_of(system))
        return Run(
            benchmark=benchmark.name,
            system=self.opened.name,
            attempts=(),
            benchmark_checksum=benchmark.checksum,
            parameters=told if spec is None else {**spec.parameters, **told},
            versions={"sightline": __version__},
            seed=seed,
            limits={
                "repeat": self.opened.repeat,
                "limit": self.limit,
                "concurrency": self.concurrency,
                **({SHOW_ANNOTATIONS: True} if self.opened.show_annotations else {}),
            },
        )

    def _work(self, writer: RunWriter, name: str, again: frozenset[tuple[str, int]]) -> int:
        """Make the attempts that are not done; those in `again` failed before, and ask models afresh."""
        system, benchmark = self.opened.system, self.opened.benchmark

        with closing(PaidCalls(self.workspace, self.folder)) as paid:
            paid.begin()
            if self.given is not None:
                self.opened.close()
                return self._work_on_cluster(_Books(writer, paid, name), again, self.given)

            async def one(item: tuple[Task, int]) -> None:
                task, number = item
                with purpose(task.id, afresh=(task.id, number) in again), numbered(number):
                    await _attempt(system, benchmark, item, _Books(writer, paid, name))

            stage = Stage("run", one, system.close if isinstance(system, Closing) else None)
            todo = self.opened.attempts(writer.done)
            return sum(1 for _ in run_map(todo, stage, concurrency=self.concurrency))

    def _work_on_cluster(self, books: _Books, again: frozenset[tuple[str, int]], given: dict[str, Any]) -> int:
        from sightline.runs.cluster import AttemptKey, attempts_on_cluster

        todo = [AttemptKey(task.id, number) for task, number in self.opened.attempts(books.writer.done)]
        for (task, number), reply in attempts_on_cluster(todo, again, given, self.concurrency):
            with purpose(task):
                for key in reply.reused:
                    note_reuse(key)
                paid = books.paid.of(task)
            outcome = checked(reply.said)
            own = (entry for entry in outcome.entries if entry.key is None)  # Others are in the journal here, too.
            _keep(books, replace(outcome, entries=(*own, *paid)), task, number, reply.seconds)
        return len(todo)


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
    _keep(books, checked(said), task.id, number, seconds)


def _keep(books: _Books, outcome: Outcome, task: str, number: int, seconds: float) -> None:
    """The answer comes last: an attempt that a stop cuts off here is made again, and what it cost is told."""
    for entry in outcome.entries:
        books.writer.entry(entry)
    books.writer.entry(
        LedgerEntry(
            stage=ATTEMPT,
            model=books.system,
            task_id=task,
            usd=outcome.usd,
            seconds=seconds if outcome.seconds is None else outcome.seconds,
            ok=not isinstance(outcome.prediction, Failure),
        )
    )
    books.writer.append(Attempt(task, ordered(outcome.prediction), number))


def _refuse_other_content(folder: Path) -> None:
    """Said before an index is built, not after."""
    if folder.is_file():
        raise UserError(f"{folder} is a file; a run is a folder.", "choose another place")
    if (folder / BENCHMARK_FILE).is_file():
        raise UserError(f"{folder} is a benchmark.", "choose a new or an empty folder for the run")


def _forget_failures(folder: Path) -> frozenset[tuple[str, int]]:
    """Take out the failures that another try may help, and name those attempts; all else stays."""
    before = read_run(folder)
    if changed := [str(problem) for problem in changes(folder)]:
        raise UserError(f"{folder} is not what was written: {'; '.join(changed)}.", "Run into a new folder.")
    kept = tuple(
        attempt
        for attempt in before.attempts
        if not (isinstance(attempt.prediction, Failure) and attempt.prediction.retryable)
    )
    if len(kept) < len(before.attempts):
        write_run(replace(before, attempts=kept), folder)
    return frozenset(map(key_of, before.attempts)) - frozenset(map(key_of, kept))
