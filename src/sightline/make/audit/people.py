"""What people found, for the card of a benchmark and for the reader of an audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from sightline.english import counted
from sightline.make.audit.judges import JudgeQuality
from sightline.make.audit.reviews import Checked, LabelQuality
from sightline.types import Estimate

_SHOWN = 5


def people_summary(checked: Checked, judges: Sequence[JudgeQuality]) -> dict[str, Any]:
    """The fields of a card's `audit` that reviews decide.

    `label_quality` is the share of right labels; `relevant_by_people` the share of all judged pictures that is relevant
    by what people found, in place of what the labels say. `judges` are calibrated against people.
    """
    main = checked.main
    pictures = checked.labels or checked.sets
    return {
        "label_quality": None if main is None else asdict(main.right),
        "labels_checked": 0 if main is None else main.checked,
        "checked": {
            name: {"right": asdict(found.right), "checked": found.checked, "of": found.labels, "people": found.people}
            for name, found in checked.named().items()
        },
        "sets_exact": None if checked.exact is None else asdict(checked.exact),
        "relevant_by_people": None if pictures is None else asdict(pictures.truly_relevant),
        "queries_reviewed": None if checked.queries is None else asdict(checked.queries),
        "judges": {judge.judge: _calibration(judge) for judge in judges},
    }


def _calibration(judge: JudgeQuality) -> dict[str, Any]:
    return {
        "checked": judge.checked,
        **asdict(judge.rates),
        "relevant_by_grade": {grade: asdict(one) for grade, one in judge.by_grade.items()},
    }


def people_lines(checked: Checked, judges: Sequence[JudgeQuality]) -> Iterator[str]:
    """For a terminal; nothing where nobody has looked."""
    for name, found in checked.named().items():
        yield from _quality_lines(name, found)
    if checked.exact is not None:
        yield f"Sets that are right as a whole: {worded(checked.exact)}, n={checked.exact.n:,}"
    if checked.queries is not None:
        yield _about_queries(checked)
    for judge in judges:
        yield from _judge_lines(judge)


def _about_queries(checked: Checked) -> str:
    assert checked.queries is not None
    queries = checked.queries
    more = f", {queries.disputed:,} disputed" if queries.disputed else ""
    return (
        f"Queries that people keep: {worded(queries.kept)}, {queries.accepted:,} accepted, "
        f"{queries.rejected:,} rejected{more}, {queries.waiting:,} waiting"
    )


def _quality_lines(name: str, found: LabelQuality) -> Iterator[str]:
    yield (
        f"{name.capitalize()} that people find right: {worded(found.right)}, "
        f"{found.checked:,} of {found.labels:,} checked by {found.people:,}"
    )
    for tier, one in found.by_tier.items():
        yield f"  {tier:<10} {worded(one):<22} n={one.n:,}"
    if found.disputed:
        yield f"  {counted(found.disputed, 'more is', 'more are')} disputed: one more person decides"
    if found.in_sight:
        yield f"  {counted(found.in_sight, 'decision was', 'decisions were')} made with the label in sight"
    if found.unread:
        first = list(found.unread)
        more = f" and {len(first) - _SHOWN:,} more" if len(first) > _SHOWN else ""
        yield f"  decisions in words that are not known: {', '.join(first[:_SHOWN])}{more}"


def _judge_lines(judge: JudgeQuality) -> Iterator[str]:
    yield f"{judge.judge} against people, {judge.checked:,} of {judge.judged:,} judgments checked:"
    yield f"  {'':<12} {'agreement':<22} {'precision':<22} recall"
    for name, rates in (("all", judge.rates), *judge.by_tier.items()):
        yield (
            f"  {name:<12} {worded(rates.agreement):<22} {worded(rates.precision):<22} {worded(rates.recall)}".rstrip()
        )
    for grade, one in judge.by_grade.items():
        if one.n:
            yield f"  of grade {grade}, people find relevant: {worded(one)}, n={one.n:,}"


def worded(estimate: Estimate | None) -> str:
    """An estimate in one line; a dash where there was nothing to measure by."""
    if estimate is None or not estimate.n:
        return "–"
    return f"{estimate.mean:.3f} ({estimate.low:.3f}–{estimate.high:.3f})"
