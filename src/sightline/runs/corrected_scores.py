"""Scores on generated labels, corrected by what people decided on a drawn sample of them.

The draw is that of `review_sample`: by lot within each tier, so a decision of a tier with N labels and n decisions
weighs N / n. Precision and nDCG are corrected without bias (`metrics.labels.corrected`); the normalizer of nDCG is
frozen at what the labels said before people decided. Other metrics are left as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sightline.benchmark.grade import drawn_decisions
from sightline.benchmark.provenance import provenance_of
from sightline.benchmark.review_decisions import BenchmarkLabels, Pair, labels_of, settled, standing, votes_of
from sightline.errors import UserError
from sightline.metrics.labels import Corrected, JudgedPairs, confidence_feature, correct, frozen_relevant, target
from sightline.metrics.scores import Scores
from sightline.types import Benchmark, Ranking, Relevance, Run

_LINEAR = re.compile(r"(p|ndcg)@\d+")
_SURE = 0.9
"""What a label without a stated confidence counts as."""


def corrected_scores(benchmark: Benchmark, run: Run, scores: Scores) -> dict[str, Corrected]:
    """Every metric of a run that can be corrected; nothing where people have not decided on a draw."""
    labels = labels_of(benchmark)
    drawn = drawn_decisions(benchmark, labels) if provenance_of(benchmark).origin == "made" else None
    tasks = [id_ for id_, truth in benchmark.truth.items() if isinstance(truth, Relevance)]
    if not drawn or not _is_whole(benchmark, run, scores, tasks):
        return {}
    labels = labels.of(tasks)
    pairs = list(labels.before)
    numbers = {task: number for number, task in enumerate(tasks)}
    query = np.array([numbers[task] for task, _ in pairs], np.intp)
    said = np.array([labels.before[pair] > 0 for pair in pairs], np.float64)
    judged = JudgedPairs(
        query,
        confidence_feature(_probabilities(benchmark, pairs, said)),
        _decisions(benchmark, labels, pairs, drawn),
        _weights(labels, pairs, drawn),
        len(tasks),
        _clusters(scores, tasks),
    )
    frozen, rank = frozen_relevant(query, said, len(tasks)), _ranks(run, pairs)
    found = {}
    for name in filter(_LINEAR.fullmatch, scores.overall):
        if name.startswith("ndcg") and max(labels.before.values(), default=0) > 1:
            continue  # Gains of higher grades are not what people decided on.
        try:
            metric = target(name, query, rank, len(tasks), frozen)
            found[name] = correct(judged, metric, level=scores.level, seed=scores.seed)
        except UserError:  # Too few decisions or clusters: the warnings say so.
            return {}
    return found


def _is_whole(benchmark: Benchmark, run: Run, scores: Scores, tasks: list[str]) -> bool:
    """Does the run have one attempt at each task, and does the benchmark ask for rankings only?"""
    tried = Counter(attempt.task_id for attempt in run.attempts)
    scored = {row.task_id for row in scores.tasks}
    return bool(tasks) and scored == set(tasks) == set(benchmark.tasks) and max(tried.values(), default=0) == 1


def _probabilities(benchmark: Benchmark, pairs: list[Pair], said: NDArray[np.float64]) -> NDArray[np.float64]:
    """How sure the judges were that a pair is relevant, on average."""
    stated: dict[Pair, list[float]] = {}
    for one in benchmark.judgments:
        sure = _SURE if one.confidence is None else one.confidence
        stated.setdefault((one.task, one.picture), []).append(sure if one.grade > 0 else 1 - sure)
    usual = np.where(said > 0, _SURE, 1 - _SURE)
    return np.array([np.mean(stated.get(pair, [usual[at]])) for at, pair in enumerate(pairs)], np.float64)


def _decisions(
    benchmark: Benchmark, labels: BenchmarkLabels, pairs: list[Pair], drawn: frozenset[Pair]
) -> NDArray[np.float64]:
    votes = votes_of(standing(benchmark.reviews), benchmark, labels.now)
    said = {pair: settled(given, 1) for pair, given in votes.items() if pair in drawn}
    return np.array([np.nan if (one := said.get(pair)) is None else float(one) for pair in pairs], np.float64)


def _weights(labels: BenchmarkLabels, pairs: list[Pair], drawn: frozenset[Pair]) -> NDArray[np.float64]:
    """N / n of the pair's tier for pairs of the draw, 0 for others."""
    every = Counter(labels.stratum[pair] for pair in pairs)
    held = Counter(labels.stratum[pair] for pair in pairs if pair in drawn)
    return np.array(
        [every[labels.stratum[pair]] / held[labels.stratum[pair]] if pair in drawn else 0.0 for pair in pairs],
        np.float64,
    )


def _ranks(run: Run, pairs: list[Pair]) -> NDArray[np.intp]:
    """Each pair's place in the ranking, from 1 on; 0 where it was not found."""
    places: dict[str, Mapping[str, int]] = {}
    for attempt in run.attempts:
        if isinstance(attempt.prediction, Ranking):
            found = dict.fromkeys(attempt.prediction.pictures)
            places[attempt.task_id] = {picture: at for at, picture in enumerate(found, 1)}
    return np.array([places.get(task, {}).get(picture, 0) for task, picture in pairs], np.intp)


def _clusters(scores: Scores, tasks: list[str]) -> NDArray[np.intp] | None:
    if scores.clustered_by is None:
        return None
    of = {row.task_id: row.cluster or f"task {row.task_id}" for row in scores.tasks}
    numbers = {name: number for number, name in enumerate(dict.fromkeys(of[task] for task in tasks))}
    return np.array([numbers[of[task]] for task in tasks], np.intp)
