"""Which of several runs on the same benchmark is better, and can they be told apart at all?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import combinations, permutations
from string import ascii_letters
from typing import Any, TypeAlias

import numpy as np

from sightline.display import Table
from sightline.english import counted, listed
from sightline.errors import UserError
from sightline.metrics.blind_rows import NOT_BEATEN, SAME_SOURCE, unbeaten
from sightline.metrics.labels.corrected import corrected_difference, within
from sightline.metrics.scores import Scores, lowest_grade, without_empty_reasons
from sightline.metrics.statistics.distributions import check_fraction
from sightline.metrics.statistics.estimates import FEW_CLUSTERS, cluster_codes, narrow
from sightline.metrics.statistics.intervals import RESAMPLES, Codes, Floats
from sightline.metrics.statistics.paired import PairedDifference, paired_differences
from sightline.metrics.statistics.significance import AllPairs, holm, max_t, tie_letters
from sightline.metrics.statistics.splits import FLIPS
from sightline.metrics.task_table import Bools, TaskTable, by_slice, task_table
from sightline.plain_text import signed
from sightline.types import Estimate, ScoreWarning, TaskKind

_Differences: TypeAlias = Callable[..., dict[str, PairedDifference]]
"""`paired_differences` with the level, seed and resamples of the comparison."""
_Test: TypeAlias = Callable[[Floats, Codes | None, Floats | None], AllPairs]
"""`max_t` with the seed and flips of the comparison."""


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Second minus first in one metric, over all tasks, failures and missing ones as zero; slices carry no test.

    Where people decided on a draw of the labels, `difference` is corrected by it (method `prediction-powered`), and
    `as_labelled` is what the labels alone say. `no_win` is the code of the warning for which the better of the two
    can't be called a winner, None where there is none: it reads what the labels were made from, or a baseline that sees
    no pixel does as well.
    """

    metric: str
    first: str
    second: str
    difference: PairedDifference
    p_adjusted: float
    by_label: Mapping[str, Mapping[str, PairedDifference]]
    no_win: str | None = None
    as_labelled: PairedDifference | None = None

    def significant(self, level: float) -> bool:
        """Can the two be told apart, after the correction for all pairs of the metric?"""
        return self.p_adjusted < 1 - level

    def is_win(self, level: float) -> bool:
        """Can the two be told apart, and is the better one free of warnings that forbid to call it better?"""
        return self.significant(level) and self.no_win is None

    def no_win_text(self, level: float) -> str:
        """`no win: same-source`, where the two can be told apart and the better one is not called better."""
        return f"no win: {self.no_win}" if self.significant(level) and not self.is_win(level) else ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None where there is no interval to read."""
        found = self.difference
        return (found.low, found.high) if found.no_interval is None else None

    def difference_text(self) -> str:
        """`+0.041 [+0.012, +0.069]`: second minus first, to a third decimal where the interval is narrow."""
        return _signed(self.difference)

    @property
    def basis(self) -> str:
        """What a corrected difference rests on, and what the labels alone say; empty where nothing was corrected."""
        if self.as_labelled is None:
            return ""
        return f"corrected by people's decisions; by the labels {_signed(self.as_labelled)}"

    def p_text(self) -> str:
        """`p = 0.012`, or `p < 0.001`."""
        return "p < 0.001" if self.p_adjusted < 0.001 else f"p = {self.p_adjusted:.3f}"


@dataclass(frozen=True, slots=True)
class SystemStanding:
    """One system in one metric: its own estimate over all tasks, and the letters of its tie groups."""

    system: str
    estimate: Estimate
    letters: str


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Table[PairedComparison]):
    """Every pair of systems in every metric, which are its rows; `standings` are best first.

    `baselines` are systems that see no pixel, in the metrics that they were scored in; `grade` is that of the labels.
    """

    benchmark: str
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    level: float
    seed: int
    clustered_by: str | None
    standings: Mapping[str, tuple[SystemStanding, ...]]
    pairs: tuple[PairedComparison, ...]
    notes: tuple[str, ...] = ()
    grade: str | None = None
    warnings: tuple[ScoreWarning, ...] = ()
    baselines: Mapping[str, tuple[SystemStanding, ...]] = field(default_factory=dict)

    def of(self, metric: str) -> tuple[PairedComparison, ...]:
        """The pairs of one metric."""
        if metric not in self.metrics:
            raise UserError(f'"{metric}" was not compared.', f"choose from {', '.join(self.metrics)}")
        return tuple(pair for pair in self.pairs if pair.metric == metric)

    def worse(self, metric: str) -> tuple[PairedComparison, ...]:
        """The pairs in which a later run is worse than the first one, and not by chance."""
        baseline = self.systems[0]
        return tuple(
            pair
            for pair in self.of(metric)
            if pair.first == baseline and pair.difference.mean < 0 and pair.significant(self.level)
        )

    @property
    def few_clusters(self) -> str | None:
        """Why no difference has an interval, where there are too few clusters; None where there are enough."""
        reasons = (pair.difference.reason or "" for pair in self.pairs)
        return next((reason for reason in reasons if reason.startswith(FEW_CLUSTERS)), None)

    def to_json(self) -> dict[str, Any]:
        """What `compare --json` prints: all of it."""
        plain: dict[str, Any] = without_empty_reasons(asdict(self))
        return plain

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each pair of systems in each metric."""
        return [
            {
                "metric": pair.metric,
                "first": pair.first,
                "second": pair.second,
                **asdict(pair.difference),
                **dict(zip(("low", "high"), pair.interval or (None, None), strict=True)),
                "p_adjusted": pair.p_adjusted,
                "significant": pair.significant(self.level),
                "win": pair.is_win(self.level),
                "no_win": pair.no_win,
                "as_labelled": None if pair.as_labelled is None else pair.as_labelled.mean,
                "grade": self.grade,
            }
            for pair in self.pairs
        ]

    def __str__(self) -> str:
        from sightline.metrics.tables import comparison_text

        return comparison_text(self)

    def _rows(self) -> Sequence[PairedComparison]:
        return self.pairs

    def _line(self) -> str:
        return f"{listed(self.systems)} on {self.benchmark}, {counted(len(self.metrics), 'metric')}"

    def _blocks(self) -> Iterable[str]:
        from sightline.metrics.tables import comparison_blocks

        return comparison_blocks(self)


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    name: str
    scores: Scores
    table: TaskTable

    @property
    def no_answer(self) -> Bools:
        """The tasks that a metric scores and that failed or have no prediction: each counts as zero."""
        scored: Bools = np.any([np.isfinite(column.values) for column in self.table.columns.values()], axis=0)
        return (self.table.failed | self.table.missing) & scored

    def left_out(self) -> dict[TaskKind, Bools]:
        """The tasks of kinds for which the run has no prediction at all: its system does not do them."""
        tried = {row.kind for row in self.scores.tasks if row.status != "missing"}
        kinds = {row.task_id: row.kind for row in self.scores.tasks}
        return {
            kind: np.array([kinds[task] == kind for task in self.table.ids], np.bool_)
            for kind in sorted(set(kinds.values()) - tried if tried else ())
        }


def compare(
    scores: Sequence[Scores],
    metrics: Sequence[str] | None = None,
    *,
    names: Sequence[str] | None = None,
    allow_failures_differ: bool = False,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
    flips: int = FLIPS,
) -> Comparison:
    """Compare scored runs pairwise over all tasks, so that a difference is the difference of the headline means.

    Difference with its interval and a paired test, p adjusted over the pairs of a metric, tie groups; all by cluster
    where the scores are. Runs that failed on different tasks, or lack
    predictions for different ones, are refused unless `allow_failures_differ`; each then counts as zero. `metrics` are
    by default those of all runs, without the ones that have no value in any; `names` stand for the runs (default:
    their systems).
    """
    check_fraction("level", level)
    chosen = _common_metrics(scores, metrics)
    entries = _entries(scores, names, chosen)
    notes, differ = _failures(entries, allow_failures_differ)
    differences = partial(paired_differences, level=level, seed=seed, resamples=resamples, flips=flips)
    pairs = _pairs(entries, chosen, differences, level, partial(max_t, seed=seed, flips=flips))
    return Comparison(
        benchmark=scores[0].benchmark,
        systems=tuple(entry.name for entry in entries),
        metrics=chosen,
        level=level,
        seed=seed,
        clustered_by=scores[0].clustered_by,
        standings={metric: _standings(entries, metric, pairs, level) for metric in chosen},
        pairs=pairs,
        notes=(*notes, *_correction_notes(entries, pairs)),
        grade=lowest_grade(one.grade for one in scores),
        warnings=(*dict.fromkeys(warning for one in scores for warning in one.warnings), *differ),
        baselines={metric: found for metric in chosen if (found := blind_standings(scores, metric))},
    )


@dataclass(frozen=True, slots=True, eq=False)
class RunOrder:
    """Which of several runs are better than which in one metric: all that a leaderboard needs.

    `ahead[i, j]`: run i is a win over run j. `letters` are empty over more runs than there are letters. `is_corrected`:
    it goes by differences that are corrected by people's decisions.
    """

    ahead: Bools
    letters: Mapping[str, str]
    is_corrected: bool
    warnings: tuple[ScoreWarning, ...]


def order_runs(
    scores: Sequence[Scores], metric: str, *, names: Sequence[str], level: float = 0.95, seed: int = 0
) -> RunOrder:
    """The wins that `compare` finds in one metric, without what it says of each pair: for very many runs.

    Failures that differ count as zero.
    """
    if len(scores) == 2 or any(one.checked is not None for one in scores):
        found = compare(scores, (metric,), names=names, allow_failures_differ=True, level=level, seed=seed)
        return _order(found, metric)
    entries = _entries(scores, names, _common_metrics(scores, (metric,)))
    tested = _tested(entries, metric, partial(max_t, seed=seed))
    first, second = np.where(tested.totals > 0, (tested.second, tested.first), (tested.first, tested.second))
    may_win = np.array([_no_win(one, metric) is None for one in scores])
    won = (tested.p < 1 - level) & may_win[first]
    ahead = np.zeros((len(scores), len(scores)), np.bool_)
    ahead[first[won], second[won]] = True
    failed, _ = _failed(entries)
    differ = np.any(failed, axis=0) & ~np.all([entry.no_answer for entry in entries], axis=0)
    return RunOrder(ahead, _letters(scores, names, metric, ahead), False, (_DIFFER,) if differ.any() else ())


def _order(found: Comparison, metric: str) -> RunOrder:
    places = {name: place for place, name in enumerate(found.systems)}
    ahead = np.zeros((len(places), len(places)), np.bool_)
    for pair in found.pairs:
        if pair.is_win(found.level):
            better, other = (pair.second, pair.first) if pair.difference.mean > 0 else (pair.first, pair.second)
            ahead[places[better], places[other]] = True
    letters = {one.system: one.letters for one in found.standings[metric]}
    return RunOrder(ahead, letters, any(pair.as_labelled is not None for pair in found.pairs), found.warnings)


def _letters(scores: Sequence[Scores], names: Sequence[str], metric: str, ahead: Bools) -> dict[str, str]:
    if len(names) > len(ascii_letters):
        return {}
    ranked = [name for _, name in sorted(zip(scores, names, strict=True), key=lambda one: -one[0].overall[metric].mean)]
    return tie_letters(ranked, [(names[better], names[other]) for better, other in np.argwhere(ahead)])


def blind_standings(scores: Iterable[Scores], metric: str) -> tuple[SystemStanding, ...]:
    """The systems that see no pixel beside several runs, best first."""
    rows = {row.name: row.estimate for one in scores for row in one.baselines if row.metric == metric}
    return tuple(SystemStanding(name, rows[name], "") for name in sorted(rows, key=lambda name: -rows[name].mean))


def _common_metrics(scores: Sequence[Scores], given: Sequence[str] | None) -> tuple[str, ...]:
    if len(scores) < 2:
        raise UserError("a comparison needs two runs or more.", "give another run")
    benchmarks = {(one.benchmark, one.checksum) for one in scores}
    if len(benchmarks) > 1:
        listed = ", ".join(
            f"{name} ({(checksum or 'no checksum')[:12]})" for name, checksum in sorted(benchmarks, key=str)
        )
        raise UserError(f"the runs are not on the same benchmark: {listed}.", "compare runs of one version of one")
    _refuse_other_tasks(scores)
    if len({one.clustered_by for one in scores}) > 1:
        raise UserError("the runs were scored with different clusters.", "score them again in the same way")
    common = [name for name in scores[0].metrics if all(name in one.metrics for one in scores)]
    for name in given or ():
        if name not in common:
            raise UserError(
                f'metric "{name}" is not in the scores of every run.',
                f"score them again with it, or choose from {', '.join(common) or 'no common metric'}",
            )
    if not common:
        raise UserError("the runs have no metric in common.", "score them again with the same metrics")
    with_values = [name for name in common if any(one.overall[name].n for one in scores)]
    return tuple(dict.fromkeys(given or with_values or common))


def _entries(scores: Sequence[Scores], names: Sequence[str] | None, metrics: Sequence[str]) -> list[_Entry]:
    """Each run under a name of its own, its tasks in one order for all."""
    given = list(names) if names is not None else [one.system for one in scores]
    if len(given) != len(scores):
        raise UserError(f"{len(scores)} runs but {len(given)} names.", "give one name for each run")
    seen: dict[str, int] = {}
    entries: list[_Entry] = []
    for name, one in zip(given, scores, strict=True):
        seen[name] = seen.get(name, 0) + 1
        unique = name if seen[name] == 1 else f"{name} ({seen[name]})"
        rows = sorted(one.tasks, key=lambda row: (row.task_id, row.attempt))
        entries.append(_Entry(unique, one, task_table(rows, metrics)))
    return entries


def _refuse_other_tasks(scores: Sequence[Scores]) -> None:
    tasks = [{row.task_id for row in one.tasks} for one in scores]
    if any(each != tasks[0] for each in tasks):
        counts = ", ".join(f"{one.system} on {len(each):,}" for one, each in zip(scores, tasks, strict=True))
        raise UserError(
            f"the runs were not scored on the same tasks: {counts}.",
            "score them again on the same benchmark; runs made with --limit can be compared where it was the same",
        )


def _failures(entries: Sequence[_Entry], allowed: bool) -> tuple[tuple[str, ...], tuple[ScoreWarning, ...]]:
    """What to say of runs that failed on different tasks (a missing prediction is one); refused unless allowed.

    Only tasks that one of the metrics scores are looked at. Kinds of task that a system does not do are told of, and
    are no failures of it.
    """
    notes = []
    failed, told = _failed(entries)
    for (first, mine), (second, _) in permutations(zip(entries, failed, strict=True), 2):
        count = int((mine & ~second.no_answer).sum())
        if count:
            tasks = "task" if count == 1 else "tasks"
            notes.append(f"{first.name} failed on {count} {tasks} that {second.name} did not fail on")
    if notes and not allowed:
        raise UserError(
            f"failures differ: {'; '.join(notes)}.",
            "run the failed tasks again, or insist with --failures-may-differ (allow_failures_differ=True): "
            "each failure then counts as zero",
        )
    return tuple(f"{note}; each counts as zero" for note in (*told, *notes)), (_DIFFER,) if notes else ()


def _failed(entries: Sequence[_Entry]) -> tuple[list[Bools], list[str]]:
    """The tasks of each run that failed, and what is said of the kinds of task that a system does not do."""
    failed, told = [], []
    for entry in entries:
        tasks = entry.no_answer
        for kind, of_kind in entry.left_out().items():
            if count := int((tasks & of_kind).sum()):
                told.append(f"{entry.name} left out {kind} tasks ({count}), which it does not do")
            tasks = tasks & ~of_kind
        failed.append(tasks)
    return failed, told


_DIFFER = ScoreWarning(
    "failures-differ",
    "The runs failed on different tasks; each failure counts as zero.",
    "Run the failed tasks again, with --retry-failed (retry_failed=True).",
)


def _pairs(
    entries: Sequence[_Entry], metrics: Sequence[str], differences: _Differences, level: float, test: _Test
) -> tuple[PairedComparison, ...]:
    """Every pair in every metric, p adjusted over the pairs of a metric."""
    found = [
        _checked(pair, first, second, level)
        for first, second in combinations(entries, 2)
        for pair in _both(first, second, differences)
    ]
    blocked = {metric: {entry.name: _no_win(entry.scores, metric) for entry in entries} for metric in metrics}
    adjusted: list[PairedComparison] = []
    for metric in metrics:
        pairs = [pair for pair in found if pair.metric == metric]
        adjusted += [
            replace(pair, p_adjusted=p, no_win=blocked[metric][pair.second if pair.difference.mean > 0 else pair.first])
            for pair, p in zip(pairs, _adjusted(pairs, entries, metric, test), strict=True)
        ]
    return tuple(adjusted)


def _adjusted(
    pairs: Sequence[PairedComparison], entries: Sequence[_Entry], metric: str, test: _Test
) -> Iterable[float]:
    """p of each pair for all of them: by max-T, or by Holm where it rests on the decisions of people."""
    alone = [pair.p_adjusted for pair in pairs]
    if len(pairs) == 1 or any(pair.as_labelled is not None for pair in pairs):
        return holm(alone)
    together = _tested(entries, metric, test).p.tolist()
    return [max(p) for p in zip(alone, together, strict=True)]


def _tested(entries: Sequence[_Entry], metric: str, test: _Test) -> AllPairs:
    """All pairs at once; in the order of `combinations`."""
    table = entries[0].table
    values = np.stack([entry.table.columns[metric].values for entry in entries], axis=1)
    return test(values, narrow(cluster_codes(table.clusters)), table.weights)


def _no_win(scores: Scores, metric: str) -> str | None:
    """Why a run can't be called the better one of a pair; None where nothing speaks against it."""
    codes = {warning.code for warning in scores.warnings}
    if SAME_SOURCE in codes:
        return SAME_SOURCE
    known = any(row.metric == metric for row in scores.baselines)
    is_blind = bool(unbeaten(scores.baselines, metric)) if known else NOT_BEATEN in codes
    return NOT_BEATEN if is_blind else None


def _both(first: _Entry, second: _Entry, differences: _Differences) -> list[PairedComparison]:
    """One pair in every metric; p not yet adjusted."""

    def between(before: TaskTable, after: TaskTable, *, test: bool) -> dict[str, PairedDifference]:
        return differences(before.values(), after.values(), clusters=before.clusters, weights=before.weights, test=test)

    before, after = first.table, second.table
    overall = between(before, after, test=True)
    slices = by_slice(before, lambda kept: between(before.where(kept), after.where(kept), test=False))
    return [
        PairedComparison(
            metric=metric,
            first=first.name,
            second=second.name,
            difference=found,
            p_adjusted=1.0 if found.p is None else found.p,
            by_label={
                label: {value: parts[metric] for value, parts in values.items() if metric in parts}
                for label, values in slices.items()
                if any(metric in parts for parts in values.values())
            },
        )
        for metric, found in overall.items()
    ]


def _checked(pair: PairedComparison, first: _Entry, second: _Entry, level: float) -> PairedComparison:
    """The pair with its difference corrected by people's decisions, where both runs were scored with the same ones."""
    before, after = (
        None if one.scores.checked is None else one.scores.checked.metrics.get(pair.metric) for one in (first, second)
    )
    if before is None or after is None or not _same_decisions((first, second)):
        return pair
    clusters = narrow(cluster_codes(first.table.clusters))
    try:
        found = corrected_difference(before, after, pair.metric, clusters, level=level, seed=first.scores.seed)
    except UserError:  # Too few clusters.
        return pair
    if found.p is None or not found.half_width:  # Nothing that was drawn tells the two apart.
        return pair
    shown, labelled = within(found, pair.metric, difference=True), pair.difference
    by_people = replace(
        labelled,
        mean=shown.mean,
        low=shown.low,
        high=shown.high,
        method=found.method,
        p=found.p,
        test=found.method,
        dz=None,
        reason=None,
    )
    return replace(pair, difference=by_people, p_adjusted=found.p, as_labelled=labelled)


def _same_decisions(entries: Sequence[_Entry]) -> bool:
    return len({None if one.scores.checked is None else one.scores.checked.decisions for one in entries}) == 1


def _correction_notes(entries: Sequence[_Entry], pairs: Sequence[PairedComparison]) -> Iterator[str]:
    if any(one.scores.checked for one in entries) and not _same_decisions(entries):
        yield "the runs were scored by different decisions of people; score them again for corrected differences"
    else:
        yield from _uncorrected(entries, pairs)
    checked = entries[0].scores.checked
    rough = [name for name, worth in ({} if checked is None else checked.metrics).items() if not worth.linear]
    rough = [name for name in rough if any(pair.metric == name and pair.as_labelled is not None for pair in pairs)]
    if rough:
        yield f"{listed(rough)}: corrected to first order; intervals may hold less often than they say"


def _uncorrected(entries: Sequence[_Entry], pairs: Sequence[PairedComparison]) -> Iterator[str]:
    """Pairs that go by the labels because one run has no corrected score: it found none of the judged pictures."""
    held = {one.name: set(one.scores.checked.metrics) if one.scores.checked else set() for one in entries}
    for first, second in dict.fromkeys((pair.first, pair.second) for pair in pairs):
        if lacking := sorted(held[first] ^ held[second]):
            yield f"{second} against {first} goes by the labels: one of them has no corrected {listed(lacking, 'or')}"


def _standings(
    entries: Sequence[_Entry], metric: str, pairs: Sequence[PairedComparison], level: float
) -> tuple[SystemStanding, ...]:
    estimates = {entry.name: entry.scores.overall[metric] for entry in entries}
    if all(metric in entry.scores.corrected for entry in entries) and _same_decisions(entries):
        estimates = {entry.name: _by_people(entry.scores, metric) for entry in entries}
    ranked = sorted(estimates, key=lambda name: -estimates[name].mean)
    different = [(pair.first, pair.second) for pair in pairs if pair.metric == metric and pair.is_win(level)]
    letters = tie_letters(ranked, different)
    return tuple(SystemStanding(name, estimates[name], letters[name]) for name in ranked)


def _by_people(scores: Scores, metric: str) -> Estimate:
    """The estimate with mean and interval as corrected by people's decisions."""
    found = scores.corrected[metric]
    return replace(
        scores.overall[metric], mean=found.mean, low=found.low, high=found.high, method=found.method, reason=None
    )


def _signed(found: PairedDifference) -> str:
    """Mean and interval, to a third decimal where the interval is narrow."""
    if found.no_interval is not None:
        return f"{signed(found.mean, 2)} [{found.no_interval}]"
    places = 2 if found.high - found.low >= 0.04 else 3
    return f"{signed(found.mean, places)} [{signed(found.low, places)}, {signed(found.high, places)}]"
