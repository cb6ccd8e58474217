"""An audit as JSON and as text: what was found, and what of it should be mended before anybody trusts a score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sightline.english import counted
from sightline.make.audit.blind import SHORTCUTS, Baseline
from sightline.make.audit.drift import Drift
from sightline.make.audit.judges import JudgeQuality
from sightline.make.audit.people import people_lines, people_summary, worded
from sightline.make.audit.pools import Queries, Twins
from sightline.make.audit.reviews import Checked

SOLVED = 0.1
"""A larger share of queries than this, above what chance solves, is a problem if a shortcut solves it."""
_GOOD_ALPHA = 0.667
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Audit:
    """All checks of one benchmark; `judging` is what the stage `judge` measured."""

    name: str
    baselines: tuple[Baseline, ...]
    twins: Twins
    queries: Queries
    drift: tuple[Drift, ...] = ()
    checked: Checked = field(default_factory=Checked)
    judges: tuple[JudgeQuality, ...] = ()
    judging: Mapping[str, Any] = field(default_factory=dict)
    set_aside: int = 0

    def problems(self) -> tuple[str, ...]:
        """What should be mended or be known, each in one line."""
        return tuple(self._problems())

    def _problems(self) -> Iterator[str]:
        for baseline in self.baselines:
            more = len(baseline.solved) - baseline.by_chance
            if baseline.by in SHORTCUTS and more > SOLVED * self.queries.count:
                yield (
                    f"{len(baseline.solved):,} of {self.queries.count:,} queries are solved by {baseline.by} alone: "
                    f"{_some(baseline.solved)}"
                )
        queries, twins = self.queries, self.twins
        for ids, one, several in (
            (queries.none, "query has no relevant picture", "queries have no relevant picture"),
            (
                queries.only_seed,
                "query has no relevant picture but its seed",
                "queries have no relevant picture but their seed",
            ),
            (
                queries.many,
                "query has more relevant pictures in its pool than others",
                "queries have more relevant pictures in their pool than others",
            ),
            (
                tuple(" and ".join(pair) for pair in queries.equal),
                "pair of queries has the same words",
                "pairs of queries have the same words",
            ),
            (
                tuple(f"{one} and {other} for {task}" for task, one, other in twins.disagree),
                "pair of look-alikes is judged differently for the same query",
                "pairs of look-alikes are judged differently for the same query",
            ),
            (
                tuple(f"{picture} for {task}" for task, picture in twins.seed_twins),
                "picture looks like the seed but is judged not relevant",
                "pictures look like the seed but are judged not relevant",
            ),
        ):
            if ids:
                yield f"{counted(len(ids), one, several)}: {_some(ids)}"
        if twins.across_splits:
            yield f"{len(twins.across_splits):,} groups of look-alikes lie across splits: {_some(twins.across_splits)}"
        yield from self._about_judges()

    def _about_judges(self) -> Iterator[str]:
        for drift in self.drift:
            if drift.depends_on_position:
                yield f"{drift.judge} judges by position: later pictures of a call differ by {worded(drift.position)}"
            if drift.changes:
                yield f"{drift.judge} does not judge the same at the end as at the beginning"
        alpha = self.judging.get("agreement", {}).get("alpha", {}).get("value")
        if alpha is not None and alpha < _GOOD_ALPHA:
            yield f"the judges agree little: Krippendorff's alpha is {alpha:.2f}"
        if self.judging.get("weak"):
            yield "a weak judge (builtin/photos) was on the panel"
        if self.checked.main is None:
            yield "nobody has checked any label: no figure can be given for how many are right"

    def to_json(self) -> dict[str, Any]:
        """For `audit.json`; `summary` is what a card shows."""
        return {
            "name": self.name,
            "summary": self.summary(),
            "problems": list(self.problems()),
            "baselines": [asdict(baseline) for baseline in self.baselines],
            "twins": asdict(self.twins),
            "queries": asdict(self.queries),
            "drift": [
                asdict(drift) | {"depends_on_position": drift.depends_on_position, "changes": drift.changes}
                for drift in self.drift
            ],
            "label_quality": None if self.checked.main is None else asdict(self.checked.main),
            "checked": asdict(self.checked),
            "judges": [asdict(judge) for judge in self.judges],
            "judging": dict(self.judging),
        }

    def summary(self) -> dict[str, Any]:
        """The few numbers that a reader wants first."""
        queries = self.queries
        return {
            "queries": queries.count,
            "set_aside": self.set_aside,
            "no_relevant": len(queries.none),
            "only_seed_relevant": len(queries.only_seed),
            "too_many_relevant": len(queries.many),
            "blind": {
                baseline.by: {"ndcg@10": baseline.ndcg.mean, "solved": len(baseline.solved)}
                for baseline in self.baselines
            },
            "look_alikes_judged_differently": len(self.twins.disagree),
            "look_alikes_across_splits": len(self.twins.across_splits),
            **people_summary(self.checked, self.judges),
            "alpha": self.judging.get("agreement", {}).get("alpha"),
            "coverage": self.judging.get("missed", {}).get("coverage"),
            "problems": len(self.problems()),
        }

    def to_text(self) -> str:
        """For a terminal, and for `audit.txt`."""
        return "\n".join(line.rstrip() for line in self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield f"Audit of {self.name}: {self.queries.count:,} queries, {self.set_aside:,} set aside"
        yield ""
        yield from self._blind_lines()
        yield (
            f"Look-alikes: {self.twins.pictures:,} pictures in {self.twins.groups:,} groups, "
            f"{len(self.twins.shared):,} pairs of queries share some"
        )
        for drift in self.drift:
            if drift.position is not None:
                yield f"{drift.judge}: later less earlier pictures of a call {worded(drift.position)}"
        yield from self._judging_lines()
        yield from people_lines(self.checked, self.judges)
        yield ""
        problems = self.problems()
        yield f"{counted(len(problems), 'thing')} to look at" if problems else "Nothing was found that needs mending"
        yield from (f"  - {problem}" for problem in problems)

    def _blind_lines(self) -> Iterator[str]:
        if not self.baselines:
            return
        yield "Without looking at a picture       nDCG@10                first is right         solved  by chance"
        for baseline in self.baselines:
            mark = " *" if baseline.by in SHORTCUTS else ""
            yield (
                f"  {baseline.by + mark:<32} {worded(baseline.ndcg):<22} {worded(baseline.success):<22} "
                f"{len(baseline.solved):>6,} {baseline.by_chance:>10.1f}"
            )
        yield "  * has nothing to do with what is in a picture"
        yield ""

    def _judging_lines(self) -> Iterator[str]:
        coverage = self.judging.get("missed", {}).get("coverage")
        if coverage is not None:
            yield (
                f"Relevant pictures found: {coverage['value']:.1%} "
                f"({coverage['low']:.1%} to {coverage['high']:.1%}), by a draw from outside the pools"
            )
        alpha = self.judging.get("agreement", {}).get("alpha", {})
        if alpha.get("value") is not None:
            between = "" if alpha["low"] is None else f" ({alpha['low']:.2f} to {alpha['high']:.2f})"
            yield f"Agreement of the judges: Krippendorff's alpha {alpha['value']:.2f}{between}"


def _some(ids: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
    return f"{', '.join(ids[:_SHOWN])}{more}"
