"""What a stage of making is: files in, files out, and one call; and the stages that there are, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sightline.make.project import Project
from sightline.models.asking import Asking

if TYPE_CHECKING:
    from sightline.engine.plan import Plan


@dataclass(frozen=True, slots=True)
class StageResult:
    """What a stage did: files that it wrote, what it counted (`done`, `kept` from before), and what went wrong.

    `failures` counts what could not be done, by kind; it is in the stage's failed file, line by line. `price` is set
    when the stage was only to say what it would cost; then nothing was written.
    """

    stage: str
    wrote: tuple[Path, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    usd: float | None = 0.0
    seconds: float = 0.0
    price: Plan | None = None

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "stage": self.stage,
            "wrote": [str(path) for path in self.wrote],
            "counts": dict(self.counts),
            "failures": dict(self.failures),
            "warnings": list(self.warnings),
            "usd": self.usd,
            "seconds": self.seconds,
            "price": None if self.price is None else self.price.to_dict(),
        }


class Stage(Protocol):
    """One step of making. `reads` and `writes` are names in `make.project.FILES`.

    `run` takes up what an earlier run left, and writes each file whole or not at all. What is paid for goes through
    `models.chat`, so that it is journaled; a budget that is used up raises `StoppedError` after what was done has been
    written. With `asking.plan` it only says what it would cost.
    """

    @property
    def name(self) -> str: ...

    @property
    def reads(self) -> tuple[str, ...]: ...

    @property
    def writes(self) -> tuple[str, ...]: ...

    def run(self, project: Project, asking: Asking) -> StageResult: ...
