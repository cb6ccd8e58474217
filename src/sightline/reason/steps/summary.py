"""What came of annotating the questions of a benchmark with steps, and of checking the steps that it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sightline.calls.ledger import LedgerRow
from sightline.display import Shown, html_table
from sightline.english import counted
from sightline.errors import FoundError
from sightline.reason.steps.review import REVIEW

_SHOWN = 5


@dataclass(frozen=True, slots=True, repr=False)
class StepsSummary(Shown):
    """What became of the questions: `annotated` now, `reviewed` by people, `kept` as they were, `left` to review.

    Of the annotated, `repaired` took more than one reply, and for `told` ones the model knew the answer. Of the left,
    `unasked` ones are wrong themselves. `faults` counts the questions that are left by what is wrong with them;
    `kept_faults` the faults of those that were kept.
    """

    folder: Path
    tasks: int
    annotated: int
    repaired: int
    told: int
    reviewed: int
    kept: int
    left: int
    unasked: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)
    kept_faults: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    calls: int = 0
    usd: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints; `usd` is null where a price is not known, and `usd_at_least` what is."""
        usd = None if self.unpriced else self.usd
        return {**asdict(self), "folder": str(self.folder), "usd": usd, "usd_at_least": self.usd}

    def _line(self) -> str:
        return f"{self.annotated:,} of {counted(self.tasks, 'question')} annotated, {self.left:,} left"

    def _blocks(self) -> Iterable[str]:
        return [line.strip() for line in str(self).splitlines()]

    def __str__(self) -> str:
        """What has steps now, what is left, and what it cost."""
        lines = []
        if self.calls or not self.reviewed:
            lines.append(
                f"  {self.annotated:,} of {counted(self.tasks, 'question')} annotated: {self.repaired:,} after repair, "
                f"{self.told:,} knowing the answer"
            )
        if self.reviewed:
            lines.append(f"  {self.reviewed:,} taken from the review")
        if self.kept:
            wrong = f", with faults: {listed(self.kept_faults)}" if self.kept_faults else ""
            lines.append(f"  {self.kept:,} kept as they were{wrong}")
        if self.left:
            why = listed({**self.faults, **self.failures})
            lines.append(f"  {self.left:,} left to people" + (f": {why}" if why else ""))
        if self.calls:
            cost = LedgerRow(usd=self.usd, unpriced=self.unpriced).money
            lines.append(f"  {counted(self.calls, 'call')} · cost {cost} · {self.seconds:.1f} s")
        return "\n".join([*lines, f"  → {self.folder}", *self._next()])

    def _next(self) -> Iterator[str]:
        """What people do about the questions that are left: some are wrong themselves, of others the reply is."""
        review = self.folder / REVIEW
        if self.unasked:
            many = counted(self.unasked, "question")
            yield f"  next: mend {many} in the benchmark (not asked; {review} says what is wrong), and run it again"
        if self.left > self.unasked:
            again = f"sightline steps {self.folder} --reviewed {review} --out {self.folder}"
            yield f"  next: mend the replies in {review}; then {again}"


@dataclass(frozen=True, slots=True, repr=False)
class CheckedSteps(Shown):
    """The steps that a benchmark has: how many tasks have all five, and what is wrong with them."""

    tasks: int
    complete: int
    faults: Mapping[str, tuple[str, ...]]
    "Task → faults in words."
    kinds: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """What `--check --json` prints."""
        return {"tasks": self.tasks, "complete": self.complete, "kinds": self.kinds, "faults": self.faults}

    def _line(self) -> str:
        return f"{self.complete:,} of {counted(self.tasks, 'question')} complete, {len(self.faults):,} with faults"

    def _blocks(self) -> Iterable[str]:
        if self.faults:
            yield html_table(("task", "faults"), [(task, "; ".join(words)) for task, words in self.faults.items()])

    def __str__(self) -> str:
        """How many questions have all steps, and how many of those are in order."""
        return (
            f"  {self.complete:,} of {self.tasks:,} questions have all five steps; "
            f"{self.complete - len(self.faults):,} of these are in order"
        )

    def raise_if_faulty(self) -> None:
        """Raise `FoundError` with the first faults where steps have any."""
        if self.faults:
            shown = [f"{task}: {faults[0]}" for task, faults in list(self.faults.items())[:_SHOWN]]
            lines = "\n  ".join(shown)
            more = f"\n  … and {len(self.faults) - _SHOWN:,} more" if len(self.faults) > _SHOWN else ""
            raise FoundError(f"steps with faults ({listed(self.kinds)}):\n  {lines}{more}")


def listed(counts: Mapping[str, int]) -> str:
    """Counts by name, in words."""
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
