"""What a folder of traces holds, counted by its index: for the command line and for the card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sightline.reason.traces.index import Index


@dataclass(frozen=True, slots=True)
class TeacherCounts:
    """What became of one teacher's replies; `usd` is what is known of the money, `unpriced` calls cost more.

    Tokens and money are of all calls, also of those that failed.
    """

    model: str
    kept: int
    rejected: int
    failed: int
    input: int
    output: int
    reasoning: int
    usd: float
    unpriced: int
    quality: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of a folder; `asked` of its rows are new, and `may_pass` have a failure that another try may mend."""

    folder: Path
    rows: int
    asked: int
    rows_kept: int
    teachers: tuple[TeacherCounts, ...]
    rejected: Mapping[str, int]
    failed: Mapping[str, int]
    may_pass: int
    agreement: float | None
    contradicting: int
    verified: int
    verifier_failed: Mapping[str, int]
    verifier_usd: float
    verifier_unpriced: int
    shards: int
    without_prompt: int
    seconds: float

    @property
    def kept(self) -> int:
        return sum(teacher.kept for teacher in self.teachers)

    @property
    def names(self) -> tuple[str, ...]:
        """The teachers as people are told of them: samples of one model are told apart."""
        models = [teacher.model for teacher in self.teachers]
        return tuple(
            f"{model} (sample {models[: place + 1].count(model)}/{models.count(model)})"
            if models.count(model) > 1
            else model
            for place, model in enumerate(models)
        )

    @property
    def usd(self) -> float:
        """Dollars that are known; see `unpriced`."""
        return sum(teacher.usd for teacher in self.teachers) + self.verifier_usd

    @property
    def unpriced(self) -> int:
        """Replies whose price is not known."""
        return sum(teacher.unpriced for teacher in self.teachers) + self.verifier_unpriced

    def to_json(self) -> dict[str, Any]:
        """For `--json`; `usd` is null where no price is known, and `usd_at_least` what is."""
        values = asdict(self)
        usd = None if self.unpriced else self.usd
        return {**values, "folder": str(self.folder), "kept": self.kept, "usd": usd, "usd_at_least": self.usd}


def summarise(
    folder: Path, index: Index, models: Sequence[str], *, asked: int = 0, without_prompt: int = 0, seconds: float = 0.0
) -> Summary:
    """Count what the index holds."""
    database = index.database
    rows, rows_kept, may_pass, agreement, contradicting = database.execute(
        """SELECT count(*), coalesce(sum(kept > 0), 0), coalesce(sum(retryable), 0), avg(agreement),
            coalesce(sum(conflicts > 0), 0) FROM rows"""
    ).fetchone()
    verdicts = _counts(index, "SELECT verifier, count(*) FROM rows WHERE verifier IS NOT NULL GROUP BY 1")
    verifier_usd, unpriced = database.execute(
        """SELECT coalesce(sum(verifier_usd), 0.0), coalesce(sum(verifier IS NOT NULL AND verifier_usd IS NULL), 0)
        FROM rows"""
    ).fetchone()
    reasons = "SELECT reason, count(*) FROM outcomes WHERE state = '{}' GROUP BY 1 ORDER BY 2 DESC, 1"
    return Summary(
        folder=folder,
        rows=rows,
        asked=asked,
        rows_kept=rows_kept,
        teachers=tuple(_teacher(index, place, model) for place, model in enumerate(models)),
        rejected=_counts(index, reasons.format("rejected")),
        failed=_counts(index, reasons.format("failed")),
        may_pass=may_pass,
        agreement=None if agreement is None else round(agreement, 3),
        contradicting=contradicting,
        verified=verdicts.pop("done", 0),
        verifier_failed=verdicts,
        verifier_usd=verifier_usd,
        verifier_unpriced=unpriced,
        shards=database.execute("SELECT count(*) FROM shards").fetchone()[0],
        without_prompt=without_prompt,
        seconds=round(seconds, 2),
    )


def _counts(index: Index, query: str) -> dict[str, int]:
    return {str(name): count for name, count in index.database.execute(query)}


def _teacher(index: Index, place: int, model: str) -> TeacherCounts:
    values = index.database.execute(
        """SELECT coalesce(sum(state = 'kept'), 0), coalesce(sum(state = 'rejected'), 0),
            coalesce(sum(state = 'failed'), 0), coalesce(sum(input), 0), coalesce(sum(output), 0),
            coalesce(sum(reasoning), 0), coalesce(sum(usd), 0.0), coalesce(sum(answered AND usd IS NULL), 0),
            avg(CASE WHEN state = 'kept' THEN quality END)
        FROM outcomes WHERE place = ?""",
        (place,),
    ).fetchone()
    kept, rejected, failed, sent, came, thought, usd, unpriced, quality = values
    rounded = None if quality is None else round(quality, 3)
    return TeacherCounts(model, kept, rejected, failed, sent, came, thought, usd, unpriced, rounded)
