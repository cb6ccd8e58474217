"""Systems from elsewhere: a plug-in, or an object that a program hands over."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import cast

from sightline.errors import SightlineError, UserError
from sightline.run.systems.base import (
    Closing,
    Preparing,
    Said,
    System,
    concurrency_of,
    kinds_of,
    parameters_of,
)
from sightline.types import Benchmark, Failure, Json, LedgerEntry, Task

_log = logging.getLogger(__name__)
_LONGEST = 500


class Guarded:
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

    async def attempt(self, task: Task, bench: Benchmark) -> Said:
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


def as_system(given: object) -> System:
    """The object as a system; refused where it has no `attempt`."""
    if not callable(getattr(given, "attempt", None)):
        raise UserError(
            f"{type(given).__name__} is not a system: it has no attempt(task, bench).", "docs/systems.md says how"
        )
    return cast("System", given)
