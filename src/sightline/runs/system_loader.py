"""A benchmark and a system under test, brought together: what `run` runs, or prices in a dry run.

First what a system may see of a benchmark: no truth, no judgments, no labels, no hidden group. Then systems from
elsewhere (a plug-in, or an object that a program hands over), whose faults are failures of a task.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import cast

from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.provenance import is_model, without_model_texts
from sightline.calls.session import Session
from sightline.class_names import name_of
from sightline.engine.event_loop import LoopThread
from sightline.engine.user_functions import UserFunction
from sightline.english import counted, listed
from sightline.errors import SightlineError, UserError
from sightline.io.files import PathLike, as_path
from sightline.metrics.scope import Scopes
from sightline.models.protocols import Embedder
from sightline.runs.system_spec import Spec, parse_spec
from sightline.runs.systems.base import (
    Closing,
    Preparing,
    System,
    SystemReply,
    SystemSetting,
    concurrency_of,
    is_built_in,
    kinds_of,
    parameters_of,
    sees_truth,
)
from sightline.types import Benchmark, Failure, Json, LedgerEntry, Scope, Task


def visible(benchmark: Benchmark, *, show_annotations: bool = False) -> Benchmark:
    """The benchmark as a system sees it; a scope that names a hidden group is told by its pictures instead.

    Texts that a model wrote while the benchmark was made are seen only with `show_annotations`.
    """
    benchmark = benchmark if show_annotations else without_model_texts(benchmark)
    corpus = benchmark.corpus
    hidden = {group.id for group in corpus.groups if group.hidden}
    scopes = Scopes(corpus)
    return replace(
        benchmark,
        corpus=replace(corpus, groups=tuple(group for group in corpus.groups if not group.hidden)),
        tasks={name: _shown(task, hidden, scopes) for name, task in benchmark.tasks.items()},
        truth={},
        candidates=(),
        judgments=(),
        reviews=(),
    )


def _shown(task: Task, hidden: set[str], scopes: Scopes) -> Task:
    asked = replace(task, labels={}, extra={})  # What is known of a task may tell its answer.
    if hidden.isdisjoint(task.scope.groups):
        return asked
    allowed = scopes.pictures(task.scope)
    if allowed is None:  # It names a group that nobody knows: what can be told of it is the rest.
        known = tuple(group for group in task.scope.groups if group not in hidden)
        return replace(asked, scope=replace(task.scope, groups=known))
    return replace(asked, scope=Scope(pictures=tuple(sorted(allowed)), nowhere=not allowed))


_log = logging.getLogger(__name__)
_LONGEST = 500


class GuardedSystem:
    """A fault of the system inside is a failure of the task, said aloud and counted; one of ours would end the run."""

    def __init__(self, system: System, name: str | None = None) -> None:
        self._system = system
        self.kinds, self.concurrency = kinds_of(system), concurrency_of(system)
        self.name: str | None = getattr(system, "name", None) or name

    @property
    def parameters(self) -> dict[str, Json]:
        return parameters_of(self._system)

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(getattr(self._system, "notes", ()))

    def prepare(self) -> Iterable[LedgerEntry]:
        return self._system.prepare() if isinstance(self._system, Preparing) else ()

    async def attempt(self, task: Task, bench: Benchmark) -> SystemReply:
        try:
            return await self._system.attempt(task, bench)
        except SightlineError:
            raise
        except Exception as fault:
            _log.warning("task %s: the system raised %s: %s", task.id, type(fault).__name__, fault, exc_info=True)
            return Failure("crashed", f"{type(fault).__name__}: {fault}"[:_LONGEST])

    async def close(self) -> None:
        if isinstance(self._system, Closing):
            await self._system.close()


def as_system(given: object, setting: SystemSetting) -> System:
    """What a program hands over as a system: an object with `attempt`, an embedder, or a function."""
    if isinstance(given, type):
        raise UserError(f"{given.__name__} is a class, not a system.", f"Give an object of it: {given.__name__}(…).")
    if callable(getattr(given, "attempt", None)):
        return cast("System", given)
    if all(callable(getattr(given, name, None)) for name in ("pictures", "texts")):
        from sightline.runs.systems.retriever import Retriever, RetrieverOptions

        return Retriever(RetrieverOptions(), setting, cast("Embedder", given))
    if callable(given):
        return _as_function(given, setting)
    raise UserError(
        f"{type(given).__name__} is not a system: it has no attempt(task, bench), and is no function.",
        "docs/systems.md says how",
    )


def _as_function(given: UserFunction, setting: SystemSetting) -> System:
    from sightline.runs.systems.function import FunctionSystem

    system = FunctionSystem(given)
    asked = {task.kind for task in setting.benchmark.tasks.values()}
    if not asked & system.kinds:
        raise UserError(
            f'{system.name} takes a query, and "{setting.benchmark.name}" has only {", ".join(sorted(asked))} tasks.',
            "Call its first parameter task: it is then given the whole task, and answers all kinds.",
        )
    return system


def _name_of(given: object, system: System) -> str:
    """What a system without a name of its own is called."""
    return f"retriever:embedder={getattr(given, 'name', '')}" if system is not given else name_of(type(system))


@dataclass(frozen=True, slots=True)
class LoadedSystem:
    """A system over a benchmark as it may see it, and how often it tries which tasks; nothing is built or sent yet.

    `spec` is what declared it, None where a program handed it over.
    """

    benchmark: Benchmark
    system: System
    spec: Spec | None
    tasks: tuple[Task, ...]
    repeat: int
    show_annotations: bool = False

    @property
    def name(self) -> str:
        """What the system is called."""
        own: str | None = getattr(self.system, "name", None)
        return (self.spec and self.spec.given_name) or own or (self.spec.name if self.spec else "system")

    @property
    def left_out(self) -> Counter[str]:
        """How many of the tasks are of kinds that the system does not do."""
        kinds = kinds_of(self.system)
        return Counter(task.kind for task in self.tasks if task.kind not in kinds)

    def attempts(self, done: Collection[tuple[str, int]]) -> list[tuple[Task, int]]:
        """Every attempt that is to be made and is not done."""
        kinds = kinds_of(self.system)
        return [
            (task, number)
            for number in range(self.repeat)
            for task in self.tasks
            if task.kind in kinds and (task.id, number) not in done
        ]

    def close(self) -> None:
        """Let go of a system that never got to its first task."""
        if isinstance(self.system, Closing):
            loop = LoopThread()
            try:
                loop.call(self.system.close())
            finally:
                loop.close()


def load_system(
    benchmark: PathLike | Benchmark,
    system: PathLike | Spec | System | Embedder | UserFunction,
    folder: Path | None,
    *,
    repeat: int,
    limit: int | None,
    seed: int,
    session: Session,
    show_annotations: bool = False,
) -> LoadedSystem:
    """Open a system (a SPEC, a TOML file, an object with `attempt`, an embedder or a function) for a benchmark."""
    whole, base = _read(benchmark)
    shown = visible(whole, show_annotations=show_annotations)
    hides = not show_annotations and any(is_model(note.by) for note in whole.annotations)
    setting = SystemSetting(benchmark=shown, base=base, session=session, seed=seed, folder=folder, hides_texts=hides)
    spec = parse_spec(system) if isinstance(system, str | Path) else system
    if isinstance(spec, Spec) and sees_truth(spec.kind, spec.options):
        setting = replace(setting, truth=whole.truth)
    tested = spec.open(setting) if isinstance(spec, Spec) else as_system(spec, setting)
    if not isinstance(spec, Spec) or not is_built_in(spec.kind.name):
        tested = GuardedSystem(tested, None if isinstance(spec, Spec) else _name_of(spec, tested))
    tasks = tuple(islice(shown.tasks.values(), limit))
    loaded = LoadedSystem(shown, tested, spec if isinstance(spec, Spec) else None, tasks, repeat, show_annotations)
    if len(tasks) == sum(loaded.left_out.values()):
        loaded.close()
        raise _nothing_to_do(loaded)
    return loaded


def _nothing_to_do(loaded: LoadedSystem) -> UserError:
    kinds, asked = listed(sorted(kinds_of(loaded.system))), listed(sorted(loaded.left_out))
    whole = len(loaded.tasks) == len(loaded.benchmark.tasks)
    there = "" if whole else f" among the first {counted(len(loaded.tasks), 'task')}"
    more = "give another benchmark" if whole else "take more tasks: raise --limit (limit=)"
    return UserError(
        f'There is nothing to run: {loaded.name} can do {kinds} tasks, and "{loaded.benchmark.name}" has only '
        f"{asked} tasks{there}.",
        f"Choose a system that can do {asked} tasks, or {more}.",
    )


def check_numbers(**numbers: int | None) -> None:
    """Refuse what would run nothing."""
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise UserError(f"{name} {value} would run nothing.", "give a number from 1 on")


def _read(given: PathLike | Benchmark) -> tuple[Benchmark, Path | None]:
    if isinstance(given, Benchmark):
        found, base = given, None
    else:
        base = as_path(given, "a benchmark")
        found = read_benchmark(base)
    if not found.tasks:
        raise UserError(f'the benchmark "{found.name}" has no tasks.', "give one that has some")
    return found, base
