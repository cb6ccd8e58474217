"""How far the labels of a benchmark can be trusted, in one word, and what would raise it.

`rehearsal`: labels by built-in models, `draft`: labels by other models, of which people checked too few.
`checked`: people decided on a drawn sample, and label precision is known to within 0.10. `warranted`: the lower limits
of precision and of coverage are high, and every baseline that sees no pixel is beaten. `given`: labels that came with
an import, or by people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal, TypeAlias

from sightline.benchmark.label_quality import LabelQuality, check_labels, precision_as_made
from sightline.benchmark.provenance import MAKERS_WORDS, provenance_of
from sightline.benchmark.review_decisions import (
    BenchmarkLabels,
    Pair,
    is_conflict,
    labels_of,
    left_out_labels,
    settled,
    standing,
    still_drawn,
    votes_of,
)
from sightline.benchmark.review_sample import SAMPLE, STEP, first_of_strata, sample_of
from sightline.english import counted
from sightline.types import Benchmark, Estimate, ScoreWarning

GradeName: TypeAlias = Literal["rehearsal", "draft", "checked", "warranted", "given"]
GRADES: dict[str, str] = {
    "rehearsal": "Labels by built-in models, too few of them checked by people. For trying out; draw no conclusions.",
    "draft": "Labels by models, too few of them checked by people.",
    "checked": "Labels by models; people checked a drawn sample, and the error rate is stated.",
    "warranted": "Labels by models; people checked a drawn sample, and few labels are wrong or missing.",
    "given": "Labels that came with imported files, or that people gave.",
}
CHECK_LABELS = 'Check labels: sightline view BENCH, or sightline.view("BENCH") in Python.'
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
    decisions, disputed = _decided_of_first_draw(benchmark, labels)
    if quality is not None:
        decisions = quality.checked + sum(count for _, count in left_out_labels(benchmark).values())
    precision = None if quality is None or not quality.relevant.n else quality.relevant
    coverage = stated_coverage(benchmark)
    if decisions < FEWEST_DECISIONS or sample is None or precision is None:
        lacking = _too_few(decisions, disputed, len(labels.now))
    else:
        lacking = _too_wide(decisions, precision, lambda: precision_as_made(benchmark, labels, sample))
    if lacking:
        lacking = _makers_say(benchmark) if quality is None and provenance_of(benchmark).origin == "given" else lacking
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


def _decided_of_first_draw(benchmark: Benchmark, labels: BenchmarkLabels) -> tuple[int, int]:
    """How many labels of the first draw people have decided on, and on how many they disagree."""
    drawn = sample_of(benchmark, labels) if benchmark.reviews else []
    votes = votes_of(standing(benchmark.reviews), benchmark, labels.now)
    given = [votes[pair] for pair in drawn if pair in votes]
    disputed = sum(map(is_conflict, given))
    return len(given) - disputed, disputed


def _too_few(decisions: int, disputed: int, labels: int) -> str:
    more = f", and disagree on {disputed:,}, which the review page shows again" if disputed else ""
    said = f"People have decided on {counted(decisions, 'drawn label')}{more}; "
    if labels < FEWEST_DECISIONS:
        return f"{said}at least {FEWEST_DECISIONS} are needed, and the benchmark has {labels:,}: add queries."
    return f"{said}at least {FEWEST_DECISIONS} are needed."


def _too_wide(decisions: int, precision: Estimate, as_made: Callable[[], Estimate | None]) -> str:
    """Why precision is not known well enough, of the labels as they are now or as they were made.

    Where people corrected labels, the others weigh more, and the interval is wider than before by the same decisions.
    """
    half = _half(precision)
    if half > WIDEST and (made := as_made()) is not None:
        half = min(half, _half(made))
    if half <= WIDEST:
        return ""
    more = STEP * ceil(decisions * (half / WIDEST) ** 2 / STEP)
    return (
        f"Label precision is known to within {half:.2f}; {WIDEST:.2f} is needed, "
        f"which takes about {more:,} decisions in all."
    )


def _half(found: Estimate) -> float:
    return (found.high - found.low) / 2


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
    """The labels of the largest draw that people have decided on almost whole; None where there is none."""
    labels = labels or labels_of(benchmark)
    drawn = decided_draw(benchmark, labels)
    return None if drawn is None else drawn & _decided(benchmark, labels)


def decided_draw(benchmark: Benchmark, labels: BenchmarkLabels) -> frozenset[Pair] | None:
    """The same with the few labels of the draw that people have not decided on.

    Draws are nested: the draw of 150 holds that of 100. Decisions outside of them was chosen by somebody, and
    says nothing of the rest. Where people left queries out, it is what remains of the draw, or a later one.
    """
    decided, remaining = _decided(benchmark, labels), still_drawn(benchmark)
    drawn = _largest_draw(benchmark, labels, decided)
    rest = first_of_strata(benchmark, labels, {name: count for name, (count, _) in remaining.items()})
    is_decided = bool(rest) and len(decided & rest) >= _DECIDED * len(rest)
    return rest if is_decided and (drawn is None or len(decided & drawn) < len(decided & rest)) else drawn


def _decided(benchmark: Benchmark, labels: BenchmarkLabels) -> frozenset[Pair]:
    votes = votes_of(standing(benchmark.reviews), benchmark, labels.now)
    return frozenset(pair for pair, given in votes.items() if settled(given, 1) is not None)


def _largest_draw(benchmark: Benchmark, labels: BenchmarkLabels, decided: frozenset[Pair]) -> frozenset[Pair] | None:
    """Versions that do not say what is left of a draw may have a smaller one than the first."""
    first, step = (_REMAINING, _REMAINING) if left_out_labels(benchmark) else (SAMPLE, STEP)
    largest = min(len(labels.now), int(len(decided) / _DECIDED))
    for size in reversed(range(first, max(first + 1, largest + step), step)):
        if len(decided) < _DECIDED * min(size, len(labels.now)):
            continue
        drawn = frozenset(sample_of(benchmark, labels, size))
        if len(decided & drawn) >= _DECIDED * len(drawn):
            return drawn
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
        found.append(ScoreWarning(code, f"The labels are generated. {grade.why}", CHECK_LABELS))
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
