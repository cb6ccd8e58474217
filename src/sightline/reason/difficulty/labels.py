"""Difficulty on the task: a label that reports and curricula go by, and the figures behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from sightline.benchmark.folder import check_place, write_benchmark_elsewhere
from sightline.calls.ledger import LedgerRow
from sightline.display import Shown, html_table
from sightline.english import counted
from sightline.reason.difficulty.pass_rate import Bucket
from sightline.reason.difficulty.sampling import KINDS
from sightline.types import Benchmark, Json, Task

LABEL = "difficulty"
"""The label that holds the bucket, and the key of `Task.extra` that holds the figures."""
GIVEN = "difficulty_given"
"""Where the label goes that a task had before it was measured."""
Measure: TypeAlias = Literal["samples", "judge", "run", "turns"]
MEASURES: tuple[Measure, ...] = get_args(Measure)


@dataclass(frozen=True, slots=True)
class MeasuredDifficulty:
    """A task's bucket (None: not known, and why), and the figures behind it."""

    bucket: Bucket | None
    figures: Mapping[str, Json] = field(default_factory=dict)
    why_not: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class DifficultySummary(Shown):
    """What a measurement came to; `unmeasured` counts tasks by why they have no bucket.

    `calls` are replies, new and from the journal; `unread` are those without a readable answer, and `unfinished` those
    of them that were cut off, empty or refused, by kind; `failures` are calls that brought none, by kind. `usd` is what
    is known of the money, `unpriced` replies cost more; `saved` are samples that an early stop made needless. `choices`
    are the measured tasks that have options: what a curriculum can be made of.
    """

    folder: Path
    measure: Measure
    tasks: int
    easy: int
    hard: int
    unmeasured: Mapping[str, int]
    by_subtask: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    calls: int = 0
    saved: int = 0
    unread: int = 0
    unfinished: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    usd: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    choices: int = 0

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints; `usd` is null where a price is not known, and `usd_at_least` what is."""
        usd = None if self.unpriced else self.usd
        return {**asdict(self), "folder": str(self.folder), "usd": usd, "usd_at_least": self.usd}

    def _line(self) -> str:
        return f"{self.easy:,} easy, {self.hard:,} hard of {self.tasks:,} questions, by {self.measure}"

    def _blocks(self) -> Iterable[str]:
        rows = [(name, f"{counts['easy']:,}", f"{counts['hard']:,}") for name, counts in self.by_subtask.items()]
        if rows:
            yield html_table(("subtask", "easy", "hard"), rows, numeric=(1, 2))
        yield from (line.strip() for line in str(self).splitlines()[1 + len(rows) :])

    def __str__(self) -> str:
        """How many are easy and hard, in all and by subtask, and what it cost."""
        lines = [f"  {self._line()}"]
        width = max(map(len, self.by_subtask), default=0)
        for subtask, counts in self.by_subtask.items():
            lines.append(f"    {subtask:<{width}}  {counts['easy']:>5,} easy {counts['hard']:>5,} hard")
        if self.unmeasured:
            lines.append(f"  not measured: {', '.join(f'{why} {count:,}' for why, count in self.unmeasured.items())}")
        if self.failures:
            listed = ", ".join(f"{kind} {count:,}" for kind, count in self.failures.items())
            lines.append(f"  calls without a reply: {listed}")
        if self.calls or self.failures:
            lines.append(self._cost())
        lines.append(f"  → {self.folder}")
        if self.choices:
            lines.append(f"  next: sightline curriculum {self.folder} --plan mir --out DIR")
        return "\n".join(lines)

    def _cost(self) -> str:
        saved = f", {self.saved:,} saved by an early stop" if self.saved else ""
        cut = ", ".join(f"{kind} {count:,}" for kind, count in self.unfinished.items())
        unread = f", {self.unread:,} unread{f' ({cut})' if cut else ''}" if self.unread else ""
        cost = LedgerRow(usd=self.usd, unpriced=self.unpriced).money
        return f"  {counted(self.calls, 'reply', 'replies')}{saved}{unread} · cost {cost} · {self.seconds:.1f} s"


def store(
    benchmark: Benchmark, source: Path, out: Path, measured: Mapping[str, MeasuredDifficulty], measure: Measure
) -> DifficultySummary:
    """Write the benchmark with what was measured, and count it.

    A question that was not measured keeps what an earlier measurement said; a label that was only given is set aside,
    for it means something else.
    """
    check_place(out, benchmark.name, benchmark.reviews, benchmark.tasks)
    tasks = {name: _marked(task, measured.get(name), measure) for name, task in benchmark.tasks.items()}
    write_benchmark_elsewhere(replace(benchmark, tasks=tasks), source, out)
    found = list(measured.values())
    return DifficultySummary(
        folder=out,
        measure=measure,
        tasks=len(found),
        easy=sum(one.bucket == "easy" for one in found),
        hard=sum(one.bucket == "hard" for one in found),
        unmeasured=dict(Counter(one.why_not or "unknown" for one in found if one.bucket is None)),
        by_subtask=_by_subtask(tasks.values(), measured),
        choices=sum(one.bucket is not None and tasks[name].kind == "choose" for name, one in measured.items()),
    )


def _marked(task: Task, measured: MeasuredDifficulty | None, measure: Measure) -> Task:
    labels, before = dict(task.labels), task.extra.get(LABEL)
    if measured is None and (task.kind not in KINDS or isinstance(before, dict)):
        return task
    label = labels.pop(LABEL, None)
    if label is not None and not isinstance(before, dict):  # It was given, and not by us.
        labels.setdefault(GIVEN, label)
    if measured is None:
        return replace(task, labels=labels)
    if measured.bucket is not None:
        labels[LABEL] = (measured.bucket,)
    if not measured.figures:
        return replace(task, labels=labels)
    kept: dict[str, Json] = before if isinstance(before, dict) else {} if before is None else {"given": before}
    figures = {**kept, measure: dict(measured.figures)}
    if "rate" in measured.figures:
        figures["pass_rate"] = measured.figures["rate"]
    return replace(task, labels=labels, extra={**task.extra, LABEL: figures})


def _by_subtask(tasks: Iterable[Task], measured: Mapping[str, MeasuredDifficulty]) -> dict[str, dict[str, int]]:
    """Easy and hard tasks of each subtask."""
    found: dict[str, dict[str, int]] = {}
    for task in tasks:
        bucket = measured[task.id].bucket if task.id in measured else None
        for value in task.labels.get("subtask", ()) if bucket is not None else ():
            counts = found.setdefault(value, {"easy": 0, "hard": 0})
            counts[str(bucket)] += 1
    return found
