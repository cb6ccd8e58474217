"""Figures beside a score: unjudged results, abstentions, chance similarity, best of k, recall at growing cut-offs."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from random import Random

import numpy as np

from sightline.errors import UserError
from sightline.metrics import registry
from sightline.metrics.attempt_scores import Attempted, Contexts, batch, has_something, rankings
from sightline.metrics.ranked_formula import formula
from sightline.metrics.scores import Abstention, RecallAt, TaskScore
from sightline.metrics.sets import abstention
from sightline.metrics.statistics.estimates import Column
from sightline.metrics.statistics.repeats import best_at_k
from sightline.metrics.task_table import Floats, attempts_table
from sightline.metrics.text_metric import TextMetric, part_of, references_with
from sightline.types import Estimate, Failure, PictureSet, Prediction, Ranking, Relevance, TaskKind, Text, Trace, Traces

_BASELINE_SAMPLE = 2_000
CUT_OFFS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
Estimating = Callable[[Mapping[str, Column], Sequence[Hashable | None] | None, Floats | None], Mapping[str, Estimate]]


def unjudged_shares(attempts: Sequence[Attempted], depth: int) -> dict[int, float]:
    """By place of an answered rank task: the share of its first `depth` results that nobody judged."""
    places = [place for place in rankings(attempts) if isinstance(attempts[place].truth, Relevance)]
    shares = formula(f"judged@{depth}")(batch(attempts, places)).tolist()
    return {place: 1 - share for place, share in zip(places, shares, strict=True) if math.isfinite(share)}


def condensed_name(names: Iterable[str]) -> str | None:
    """The first metric of rankings that can leave unjudged results out; None where there is none."""
    for name in names:
        with suppress(UserError):  # It has no such option.
            if "rank" in registry.kinds_of(name) and registry.metric(condensed(name)):
                return name
    return None


def condensed(name: str) -> str:
    """The same metric over rankings without their unjudged results: `ndcg(unjudged=condensed)@10`."""
    spec = registry.parse_name(name)
    options = ",".join(f"{key}={value}" for key, value in {**spec.options, "unjudged": "condensed"}.items())
    return f"{spec.base}({options})" + ("" if spec.cutoff is None else f"@{spec.cutoff}")


def abstentions(attempts: Iterable[Attempted]) -> Abstention | None:
    """How often nothing was rightly returned; None when every select task has something to find."""
    selects = [(attempt.truth, _said(attempt)) for attempt in attempts if isinstance(attempt.truth, PictureSet)]
    return abstention(selects) if any(not truth.pictures for truth, _ in selects) else None


def chance_similarities(
    attempts: Sequence[Attempted], names: Iterable[str], contexts: Contexts, seed: int
) -> dict[str, float]:
    """For each text metric the mean score against other tasks' references of the same length; needs two tasks.

    Over at most 2,000 attempts, drawn at random.
    """
    found: dict[str, float] = {}
    for name in names:
        metric = registry.metric(name)
        if not isinstance(metric, TextMetric):
            continue
        pairs = [pair for pair in _text_pairs(attempts, metric.part) if pair[1]]
        pairs = Random(seed).sample(pairs, min(len(pairs), _BASELINE_SAMPLE))
        if len(pairs) > 1:
            from sightline.metrics.text.pairs import random_pair_baseline

            predictions, references = zip(*pairs, strict=True)
            context = contexts.of_texts(metric)
            found[name] = float(np.mean(random_pair_baseline(name, predictions, references, seed, context=context)))
    return found


def text_notes(names: Iterable[str], contexts: Contexts) -> list[str]:
    """Which embedder or which counts each text metric used."""
    metrics = {name: registry.metric(name) for name in names}
    return [
        f"{name} is {metric.label(contexts.of_texts(metric))}"
        for name, metric in metrics.items()
        if isinstance(metric, TextMetric) and metric.uses is not None
    ]


def best_of(rows: Sequence[TaskScore], names: Iterable[str]) -> dict[str, tuple[float, ...]]:
    """Mean best@1, best@2, … by metric, where every task has the same attempts and a value for each."""
    found: dict[str, tuple[float, ...]] = {}
    for name in names:
        scored = [row for row in rows if row.values.get(name) is not None]
        table = attempts_table(scored, name)
        runs = table.shape[1]
        if runs > 1 and np.isfinite(table).all():
            found[name] = tuple(float(best_at_k(table, k).mean()) for k in range(1, runs + 1))
    return found


def _said(attempt: Attempted) -> Prediction:
    if attempt.prediction is None or attempt.failure is not None:
        return Failure(attempt.failure or "missing", "")
    return attempt.prediction


def _text_pairs(attempts: Iterable[Attempted], part: str) -> list[tuple[str, list[str]]]:
    """What was said in answered describe tasks, beside its references."""
    return [
        (part_of(attempt.prediction, part), references_with(attempt.truth, part))
        for attempt in attempts
        if isinstance(attempt.truth, Traces) and isinstance(attempt.prediction, Trace | Text)
    ]


def recall_curves(
    attempts: Sequence[Attempted], cluster_of: Mapping[str, str], estimating: Estimating
) -> dict[TaskKind, tuple[RecallAt, ...]]:
    """For rank and select tasks that some ranking answers: recall at each cut-off up to the longest ranking.

    Tasks with nothing to find are left out; a failed or missing attempt counts as zero; attempts at a task are
    averaged. A set has no order, so where no prediction is a `Ranking` there is no curve.
    """
    curves: dict[TaskKind, tuple[RecallAt, ...]] = {}
    kinds: tuple[TaskKind, ...] = ("rank", "select")
    for kind in kinds:
        of_kind = [one for one in attempts if one.task.kind == kind and has_something(one.truth)]
        lengths = [len(one.prediction.pictures) for one in of_kind if isinstance(one.prediction, Ranking)]
        longest = max(lengths, default=0)
        if longest > 1:
            curves[kind] = _curve(of_kind, longest, cluster_of, estimating)
    return curves


def _curve(
    attempts: Sequence[Attempted], longest: int, cluster_of: Mapping[str, str], estimating: Estimating
) -> tuple[RecallAt, ...]:
    last = next((place for place, k in enumerate(CUT_OFFS) if k >= longest), len(CUT_OFFS) - 1)
    answered = rankings(attempts)
    all_at_once = batch(attempts, answered)
    tasks = {one.task.id: one.task for one in attempts}
    row = {task: number for number, task in enumerate(tasks)}
    owners = np.array([row[one.task.id] for one in attempts])
    tried = np.bincount(owners, minlength=len(tasks))
    replied = np.bincount(owners[answered], minlength=len(tasks))
    columns: dict[str, Column] = {}
    for k in CUT_OFFS[: last + 1]:
        sums = np.bincount(owners[answered], formula(f"recall@{k}")(all_at_once), minlength=len(tasks))
        means = np.divide(sums, replied, out=np.full(len(tasks), np.nan), where=replied > 0)
        columns[str(k)] = Column(sums / tried, replied < tried, means)
    clusters = [cluster_of.get(task) for task in tasks] if cluster_of else None
    weights = np.array([task.weight for task in tasks.values()], np.float64)
    return tuple(RecallAt(int(k), found) for k, found in estimating(columns, clusters, weights).items())
