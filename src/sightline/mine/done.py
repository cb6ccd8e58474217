"""What a stage of mining did, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.errors import UserError
from sightline.mine.spending import Bill


@dataclass(frozen=True, slots=True)
class Done:
    """What a stage did; `failures` counts what could not be done, by kind, and `nothing` says that nothing could."""

    stage: str
    wrote: tuple[Path, ...]
    counts: Mapping[str, Any]
    failures: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    nothing: str = ""
    bill: Bill = field(default_factory=Bill)
    seconds: float = 0.0

    def raise_if_nothing(self) -> None:
        """Go no further where every call of a stage failed."""
        if self.nothing:
            raise UserError(self.nothing, "mend what it says, or choose another --model, and run it again")

    def to_json(self) -> dict[str, Any]:
        """For `--json`: `usd` is what was paid now, null where no price is known."""
        return {
            "stage": self.stage,
            "wrote": [str(path) for path in self.wrote],
            "counts": dict(self.counts),
            "failures": dict(self.failures),
            "notes": list(self.notes),
            **self.bill.to_json(),
            "seconds": self.seconds,
        }
