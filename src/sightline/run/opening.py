"""A benchmark and a system under test, brought together: what `run` runs and what `price_run` prices."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from sightline import bench
from sightline.class_names import name_of
from sightline.config import Config
from sightline.errors import UserError
from sightline.io import PathLike
from sightline.models.asking import Asking
from sightline.models.embedders.loop_thread import LoopThread
from sightline.run.spec import Spec, parse_spec
from sightline.run.systems.base import Closing, Setting, System, kinds_of
from sightline.run.systems.guarded import Guarded, as_system
from sightline.run.systems.registry import is_built_in, sees_truth
from sightline.run.visible import visible
from sightline.types import Benchmark, Task


@dataclass(frozen=True, slots=True)
class Opened:
    """A system over a benchmark as it may see it, and how often it tries which tasks; nothing is built or sent yet.

    `spec` is what declared it, None where a program handed it over.
    """

    benchmark: Benchmark
    system: System
    spec: Spec | None
    tasks: tuple[Task, ...]
    repeat: int

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


def open_system(
    benchmark: PathLike | Benchmark,
    system: PathLike | Spec | System,
    folder: Path | None,
    *,
    repeat: int,
    limit: int | None,
    seed: int,
    workspace: PathLike,
    config: Config | None,
    asking: Asking | None,
) -> Opened:
    """Open a system (a SPEC, a TOML file or an object with `attempt`) for a benchmark."""
    whole, base = _read(benchmark)
    shown = visible(whole)
    setting = Setting(
        benchmark=shown,
        base=base,
        workspace=Path(workspace).expanduser(),
        config=config or Config(),
        asking=asking or Asking(),
        seed=seed,
        folder=folder,
    )
    spec = parse_spec(system) if isinstance(system, str | Path) else system
    if isinstance(spec, Spec) and sees_truth(spec.kind, spec.options):
        setting = replace(setting, truth=whole.truth)
    tested = spec.open(setting) if isinstance(spec, Spec) else as_system(spec)
    if not isinstance(spec, Spec) or not is_built_in(spec.kind.name):
        tested = Guarded(tested, None if isinstance(spec, Spec) else name_of(type(tested)))
    tasks = tuple(islice(shown.tasks.values(), limit))
    return Opened(shown, tested, spec if isinstance(spec, Spec) else None, tasks, repeat)


def check_numbers(**numbers: int | None) -> None:
    """Refuse what would run nothing."""
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise UserError(f"{name} {value} would run nothing.", "give a number from 1 on")


def _read(given: PathLike | Benchmark) -> tuple[Benchmark, Path | None]:
    if isinstance(given, Benchmark):
        found, base = given, None
    else:
        base = Path(given).expanduser()
        found = bench.read(base)
    if not found.tasks:
        raise UserError(f'the benchmark "{found.name}" has no tasks.', "give one that has some")
    return found, base
