"""What came of a training: the model, what it was trained on, and how it answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.display import Shown
from sightline.reason.train.log import scores_told


@dataclass(slots=True)
class Totals:
    """What was trained on: tokens without padding, those of them that were said, and how long it took."""

    steps: int = 0
    tokens: int = 0
    said: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, repr=False)
class TrainResult(Shown):
    """The trained model, its curves, and how it answered after each stage."""

    model: Path
    totals: Totals
    curves: Path
    evaluations: tuple[Mapping[str, Any], ...]
    utilisation: float | None
    """The share of the GPUs' peak arithmetic that was used, where it is known."""

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints."""
        totals = self.totals
        return {
            "model": str(self.model),
            "curves": str(self.curves),
            "steps": totals.steps,
            "tokens": totals.tokens,
            "tokens_said": totals.said,
            "seconds": round(totals.seconds, 3),
            "utilisation": self.utilisation,
            "evaluations": [{"stage": entry["stage"], **entry["evaluation"]} for entry in self.evaluations],
        }

    def _line(self) -> str:
        return f"{self.totals.steps:,} steps → {self.model}"

    def __str__(self) -> str:
        """What was trained on, how fast, and how the model answered."""
        totals = self.totals
        speed = f"{totals.tokens / max(totals.seconds, 1e-9):,.0f} tokens/s"
        used = "" if self.utilisation is None else f", {self.utilisation:.1%} of the peak"
        lines = [
            f"  {totals.steps:,} steps, {totals.tokens:,} tokens, {totals.said:,} of them said → {self.model}",
            f"  {speed}{used}",
        ]
        lines += [f"  {line}" for entry in self.evaluations for line in scores_told(entry)]
        return "\n".join([*lines, f"  curves: {self.curves}"])
