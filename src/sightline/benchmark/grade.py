"""How far the labels of a benchmark can be trusted, in one word, and what would raise it.

`rehearsal`: labels by built-in models, `draft`: labels by other models, of which people checked too few.
`checked`: people decided on a drawn sample, and label precision is known to within 0.10. `warranted`: the lower limits
of precision and of coverage are high, and every baseline that sees no pixel is beaten. `given`: labels that came with
an import.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal, TypeAlias

from sightline.benchmark.label_quality import LabelQuality, check_labels
from sightline.benchmark.provenance import MAKERS_WORDS, provenance_of
from sightline.benchmark.review_decisions import (
    BenchmarkLabels,
    Pair,
    is_conflict,
    labels_of,
    left_out_labels,
    settled,
    standing,
    votes_of,
)
from sightline.benchmark.review_sample import SAMPLE, STEP, sample_of
from sightline.english import counted
from sightline.types import Benchmark, Estimate, ScoreWarning

GradeName: TypeAlias = Literal["rehearsal", "draft", "checked", "warranted", "given"]
GRADES: dict[str, str] = {
    "rehearsal": "Labels by built-in models, too few of them checked by people. For trying out; draw no conclusions.",
    "draft": "Labels by models, too few of them checked by people.",
    "checked": "Labels by models; people checked a drawn sample, and the error rate is stated.",
    "warranted": "Labels by models; people checked a drawn sample, and few labels are wrong or missing.",
    "given": "Labels that came with the imported files.",
}
FEWEST_DECISIONS = 100
WIDEST = 0.10
"""Half of the interval of label precision, at most."""
LEAST_PRECISION, LEAST_COVERAGE = 0.90, 0.80
_DECIDED = 0.95
"""Of a draw, so many must be decided: what people skip is not skipped by lot."""
_REMAINING = 10
_BOUNDS = ("value", "low", "high")


@dataclass(frozen=True, slots=True)
class Grade:
    """The grade, the precision of labels and the coverage of pools where they are known, and why it is not higher."""

    name: GradeName
    decisions: int
    "By people, on labels that were drawn."
    precision: Estimate | None = None
    coverage: Estimate | None = None
    why: str = ""
    unchecked: int = 1
    "Labels that people have not decided on."

    def to_json(self) -> dict[str, Any]:
        """For `benchmark.json` and `--json`."""
        return {
            "grade": self.name,
            "decisions": self.decisions,
            "precision": _interval(self.precision),
            "coverage": _interval(self.coverage),
            "why": self.why,
        }

    @property
    def has_checked_labels(self) -> bool:
        return self.name in ("checked", "warranted")

    @property
    def checked_part(self) -> Literal["none", "sample", "all"]:
        """How many of the labels people have decided on."""
        return "all" if not self.unchecked else "sample" if self.has_checked_labels else "none"


def _interval(found: Estimate | None) -> dict[str, float] | None:
    return None if found is None else {"mean": found.mean, "low": found.low, "high": found.high}


def grade_of(benchmark: Benchmark, *, blind_beaten: bool | None = None, labels: BenchmarkLabels | None = None) -> Grade:
    """The grade of a benchmark from its labels, its judges and what people decided.

    `blind_beaten` says whether a system beats every baseline that sees no pixel; unless it is known, no benchmark is
    `warranted`. `labels` are those of the benchmark, where they are known already.
    """
    labels = labels or labels_of(benchmark)
    sample = drawn_decisions(benchmark, labels)
    quality = None if sample is None else _quality_within(benchmark, sample, labels)
    unchecked = len(labels.now) - (0 if quality is None else quality.checked)
    left_out = sum(count for _, count in left_out_labels(benchmark).values())
    decisions = 0 if quality is None else quality.checked + left_out
    precision = None if quality is None or not quality.relevant.n else quality.relevant
    coverage = stated_coverage(benchmark)
    if decisions < FEWEST_DECISIONS or precision is None:
        lacking = _too_few(benchmark, labels)
    else:
        lacking = _too_wide(decisions, precision)
    if lacking:
        lacking = _makers_say(benchmark) if not decisions and provenance_of(benchmark).origin == "given" else lacking
        return Grade(_unchecked(benchmark), decisions, precision, coverage, lacking, unchecked)
    assert precision is not None
    short = _short_of_warranted(precision, coverage, blind_beaten)
    return Grade("checked" if short else "warranted", decisions, precision, coverage, short, unchecked)


def _unchecked(benchmark: Benchmark) -> GradeName:
    known = provenance_of(benchmark)
    if known.origin == "given":
        return "given"
    return "rehearsal" if known.is_rehearsal else "draft"


def _makers_say(benchmark: Benchmark) -> str:
    words = benchmark.card.get(MAKERS_WORDS)
    if not isinstance(words, str) or not words.strip():
        return f"The imported files do not say who made them; if you know, write it in the card ({MAKERS_WORDS})."
    return f"Their makers say: “{words.strip()}”"


def _too_few(benchmark: Benchmark, labels: BenchmarkLabels) -> str:
    """How far people are with the first draw."""
    drawn = sample_of(benchmark, labels) if benchmark.reviews else []
    votes = votes_of(standing(benchmark.reviews), benchmark, labels.now)
    given = [votes[pair] for pair in drawn if pair in votes]
    disputed = sum(map(is_conflict, given))
    more = f", and disagree on {disputed:,}, which the review page shows again" if disputed else ""
    said = f"People have decided on {counted(len(given) - disputed, 'drawn label')}{more}; "
    if len(labels.now) < FEWEST_DECISIONS:
        return f"{said}at least {FEWEST_DECISIONS} are needed, and the benchmark has {len(labels.now):,}: add queries."
    return f"{said}at least {FEWEST_DECISIONS} are needed."


def _too_wide(decisions: int, precision: Estimate) -> str:
    half = (precision.high - precision.low) / 2
    if half <= WIDEST:
        return ""
    more = STEP * ceil(decisions * (half / WIDEST) ** 2 / STEP)
    return (
        f"Label precision is known to within {half:.2f}; {WIDEST:.2f} is needed, "
        f"which takes about {more:,} decisions in all."
    )


def _short_of_warranted(precision: Estimate, coverage: Estimate | None, blind_beaten: bool | None) -> str:
    if precision.low < LEAST_PRECISION:
        return f"The lower limit of label precision is {precision.low:.2f}; {LEAST_PRECISION:.2f} is needed."
    if coverage is None or coverage.low < LEAST_COVERAGE:
        known = "not known" if coverage is None else f"{coverage.low:.2f}"
        return f"The lower limit of coverage is {known}; {LEAST_COVERAGE:.2f} is needed."
    if not blind_beaten:
        return "It is not known that a system beats every baseline that sees no pixel."
    return ""


def drawn_decisions(benchmark: Benchmark, labels: BenchmarkLabels | None = None) -> frozenset[Pair] | None:
    """The labels of the largest draw that people have decided on almost whole; None where there is none.

    Draws are nested: the draw of 150 holds that of 100. What was decided outside of them was chosen by somebody, and
    says nothing of the rest. Where people left queries out, the draw that remains may be smaller than the first.
    """
    labels = labels or labels_of(benchmark)
    first, step = (_REMAINING, _REMAINING) if left_out_labels(benchmark) else (SAMPLE, STEP)
    votes = votes_of(standing(benchmark.reviews), benchmark, labels.now)
    decided = {pair for pair, given in votes.items() if settled(given, 1) is not None}
    largest = min(len(labels.now), int(len(decided) / _DECIDED))
    for size in reversed(range(first, max(first + 1, largest + step), step)):
        if len(decided) < _DECIDED * min(size, len(labels.now)):
            continue
        drawn = sample_of(benchmark, labels, size)
        held = decided.intersection(drawn)
        if len(held) >= _DECIDED * len(drawn):
            return frozenset(held)
    return None


def _quality_within(benchmark: Benchmark, pairs: frozenset[Pair], labels: BenchmarkLabels) -> LabelQuality | None:
    kept = tuple(review for review in benchmark.reviews if (review.task, review.picture or "") in pairs)
    return check_labels(replace(benchmark, reviews=kept), labels=labels, by_lot=True).main


def stated_coverage(benchmark: Benchmark) -> Estimate | None:
    """The share of relevant pictures that the pools hold, as the judging stage estimated it."""
    judging = benchmark.card.get("judging")
    missed = judging.get("missed") if isinstance(judging, dict) else None
    found = missed.get("coverage") if isinstance(missed, dict) else None
    if not isinstance(found, dict) or not all(isinstance(found.get(key), int | float) for key in _BOUNDS):
        return None
    mean, low, high = (float(found[key]) for key in _BOUNDS)  # type: ignore[arg-type]
    return Estimate(mean, low, high, 0, 0, None, 0.95, "draw from outside the pools")


def label_warnings(benchmark: Benchmark, grade: Grade) -> tuple[ScoreWarning, ...]:
    """What every score on this benchmark carries: labels that nobody checked, pools that miss relevant pictures."""
    found = []
    generated = provenance_of(benchmark).origin == "made"
    if generated and not grade.has_checked_labels:
        code = "judge-error" if grade.decisions >= FEWEST_DECISIONS else "labels-unchecked"
        fix = 'Check labels: sightline view BENCH, or sightline.view("BENCH") in Python.'
        found.append(ScoreWarning(code, f"The labels are generated. {grade.why}", fix))
    if generated and grade.coverage is not None and grade.coverage.low < LEAST_COVERAGE:
        low, high = grade.coverage.low, grade.coverage.high
        found.append(
            ScoreWarning(
                "coverage-low",
                f"The pools may hold only {low:.0%} of the relevant pictures (estimate {grade.coverage.mean:.0%}, "
                f"95% interval {low:.0%} to {high:.0%}).",
                "Judge more pictures: set judge.coverage = 0.9 or a larger judge.depth and run the stage judge of make "
                "again.",
            )
        )
    return tuple(found)
