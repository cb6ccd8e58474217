"""How well labels can be told without looking at content, which facts give them away, and that in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.english import counted
from sightline.metrics.statistics.auc import WithinAuc, pooled_auc, within_auc
from sightline.metrics.statistics.significance import holm
from sightline.runs.shortcuts.facts import CorpusFiles, fact_columns
from sightline.runs.shortcuts.features import FeatureGroup, encode
from sightline.runs.shortcuts.learned import (
    LabelledPairs,
    LearnedRanker,
    PairTable,
    fit_folds,
    labelled_pairs,
    unseen_scores,
)
from sightline.types import Benchmark

Floats = NDArray[np.float64]
FEWEST_QUERIES = 8
MOST_PICTURES = 100_000
ALARM_AUC, ALARM_P = 0.6, 0.01
"""A group of facts gives labels away at this AUC or more, if it is above chance by this p after Holm's correction."""
_AS_MUCH = 0.9


@dataclass(frozen=True, slots=True)
class GivenAway:
    """What one kind of fact tells about the labels, and which of its features tells most."""

    facts: str
    auc: WithinAuc
    adjusted_p: float
    by: str

    @property
    def alarms(self) -> bool:
        return self.auc.value >= ALARM_AUC and self.adjusted_p < ALARM_P


@dataclass(frozen=True, slots=True)
class ShortcutReport:
    """All facts together, and each kind alone; `unmeasured` says why there is no figure.

    `auc` is within queries, `across` over all pairs at once.
    """

    queries: int
    pairs: int
    auc: WithinAuc | None = None
    across: float | None = None
    adjusted_p: float = 1.0
    groups: tuple[GivenAway, ...] = ()
    unmeasured: str | None = None

    @property
    def given_away(self) -> tuple[GivenAway, ...]:
        """Kinds of facts that tell labels, the clearest first."""
        return tuple(sorted((one for one in self.groups if one.alarms), key=lambda one: -one.auc.value))

    @property
    def alarms(self) -> bool:
        """Can labels be told without looking at content?"""
        together = self.auc is not None and self.auc.value >= ALARM_AUC and self.adjusted_p < ALARM_P
        return together or bool(self.given_away)


@dataclass(frozen=True, slots=True, eq=False)
class LearnedShortcut:
    """The fitted model: its report, and a ranker where there was enough to learn from."""

    report: ShortcutReport
    ranker: LearnedRanker | None = None


def learn_shortcut(benchmark: Benchmark, files: CorpusFiles | None = None, seed: int = 0) -> LearnedShortcut:
    """Fit and test the model on what a system under test may know of the pictures and queries."""
    files = (files or CorpusFiles()).with_known_copies(benchmark.corpus)
    pairs = labelled_pairs(benchmark, files.copies, seed)
    unmeasured = _unmeasured(benchmark, pairs)
    ids = list(benchmark.corpus.pictures)
    groups = () if unmeasured else encode(fact_columns(benchmark, files), ids, list(benchmark.tasks), files.copies)
    if unmeasured or not groups:
        why = unmeasured or "nothing but their ids is known of the pictures"
        return LearnedShortcut(ShortcutReport(len(pairs.tasks), len(pairs.queries), unmeasured=why))
    table = PairTable.of(pairs, groups)
    models = fit_folds(table)
    return LearnedShortcut(
        _report(table, groups, unseen_scores(table, models)), LearnedRanker(table, models, groups, ids)
    )


def _unmeasured(benchmark: Benchmark, pairs: LabelledPairs) -> str | None:
    if len(benchmark.corpus.pictures) > MOST_PICTURES:
        return f"the corpus has more than {MOST_PICTURES:,} pictures"
    if len(pairs.tasks) < FEWEST_QUERIES:
        return (
            f"at least {FEWEST_QUERIES} queries with relevant and other pictures are needed; there are "
            f"{len(pairs.tasks):,}"
        )
    return None


def _report(table: PairTable, groups: Sequence[FeatureGroup], scores: Floats) -> ShortcutReport:
    pairs = table.pairs
    whole = _auc(pairs, scores)
    assert whole is not None  # There are enough queries with both labels.
    found: list[tuple[FeatureGroup, WithinAuc, str]] = []
    start = 0
    for group in groups:
        part = table.part(start, group.width)
        auc = _auc(pairs, unseen_scores(part, fit_folds(part)))
        if auc is not None:
            found.append((group, auc, group.labels[_clearest(part, len(group.pairs))]))
        start += group.width
    adjusted = holm([whole.p, *(auc.p for _, auc, _ in found)])
    return ShortcutReport(
        len(pairs.tasks),
        len(pairs.queries),
        whole,
        pooled_auc(scores, pairs.relevant),
        adjusted[0],
        tuple(GivenAway(group.name, auc, p, label) for (group, auc, label), p in zip(found, adjusted[1:], strict=True)),
    )


def _auc(pairs: LabelledPairs, scores: Floats) -> WithinAuc | None:
    _, groups = np.unique(pairs.groups, return_inverse=True)
    return within_auc(scores, pairs.relevant, pairs.queries, groups.astype(np.intp), cross_fitted=True)


def _clearest(part: PairTable, together: int) -> int:
    """The feature whose weighted means of relevant and other pictures are farthest apart.

    Of several that tell as much, one of the `together` last, which depend on the query; else the first that relevant
    pictures have more of.
    """
    pairs = part.pairs
    signed = np.where(pairs.relevant, pairs.weights, -pairs.weights)
    apart = signed @ part.values / np.maximum(part.values.std(axis=0), 1e-9)
    best = np.flatnonzero(np.abs(apart) >= _AS_MUCH * np.abs(apart).max())
    if best[-1] >= len(apart) - together:
        return int(best[-1])
    return int(next((one for one in best if apart[one] > 0), best[0]))


_SHOWN = 5


def shortcut_lines(report: ShortcutReport | None) -> Iterator[str]:
    """For a terminal: the AUC of all facts, and each kind of fact that tells labels."""
    if report is None:
        return
    if report.auc is None:
        yield f"Labels told without content: not measured, because {report.unmeasured}"
        return
    yield (
        f"Labels told without content: AUC {auc_text(report.auc)} within "
        f"{counted(report.queries, 'query', 'queries')}, {report.pairs:,} pairs; 0.5 is chance"
    )
    for one in report.given_away:
        yield f"  {one.facts:<32} {auc_text(one.auc)}  {one.by}"


def shortcut_problem(report: ShortcutReport | None) -> Iterator[str]:
    """One line where labels can be told without content, with what gives them away."""
    if report is None or report.auc is None or not report.alarms:
        return
    said = [f"{one.facts} (AUC {auc_text(one.auc)}, {one.by})" for one in report.given_away[:_SHOWN]]
    by = f" What gives them away: {'; '.join(said)}." if said else ""
    yield f"Labels can be told without looking at content: AUC {auc_text(report.auc)} with all facts together.{by}"


def shortcut_summary(report: ShortcutReport | None) -> dict[str, Any]:
    """For a card: the figure with its interval, and the kinds of facts that tell labels."""
    if report is None or report.auc is None:
        return {"auc": None, "unmeasured": None if report is None else report.unmeasured}
    auc = report.auc
    return {
        "auc": {"value": auc.value, "low": auc.low, "high": auc.high, "queries": auc.queries},
        "alarm": report.alarms,
        "given_away_by": [one.facts for one in report.given_away],
    }


def auc_text(auc: WithinAuc) -> str:
    """`0.84 (0.79–0.89)`."""
    return f"{auc.value:.2f} ({auc.low:.2f}–{auc.high:.2f})"
