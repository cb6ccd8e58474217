"""What stands beside a score so that it can be read: unjudged results, abstentions, chance similarity, best of k."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from random import Random

import numpy as np

from sightline.score import registry
from sightline.score.contexts import Contexts, part_of, references_with
from sightline.score.measure import Attempted, batch, rankings
from sightline.score.ranked.formula import formula
from sightline.score.scores import TaskScore
from sightline.score.sets import Abstention, abstention, best_at_k
from sightline.score.table import attempts_table
from sightline.score.text import TextMetric, random_pair_baseline
from sightline.types import Failure, PictureSet, Prediction, Relevance, Text, Trace, Traces

_BASELINE_SAMPLE = 2_000


def unjudged_shares(attempts: Sequence[Attempted], depth: int) -> dict[int, float]:
    """By place of an answered rank task: the share of its first `depth` results that nobody judged."""
    places = [place for place in rankings(attempts) if isinstance(attempts[place].truth, Relevance)]
    shares = formula(f"judged@{depth}")(batch(attempts, places)).tolist()
    return {place: 1 - share for place, share in zip(places, shares, strict=True) if math.isfinite(share)}


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
