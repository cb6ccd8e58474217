"""Scores on generated labels, corrected by what people decided on a drawn sample of them.

The draw is that of `review_sample`: by lot within each tier, so a decision of a tier with N labels and n decisions
weighs N / n. Precision, recall and nDCG are corrected without bias (`metrics.labels.corrected`); the normalizers of the
last two are frozen at what the labels said before people decided. RR, Success and AP are corrected to first order, with
a warning. What each task is worth by the decisions is kept with the scores, so that `compare` corrects differences.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sightline.benchmark.grade import drawn_decisions
from sightline.benchmark.provenance import provenance_of
from sightline.benchmark.review_decisions import BenchmarkLabels, Pair, labels_of, settled, standing, votes_of
from sightline.errors import UserError
from sightline.metrics.labels.calibration import confidence_feature
from sightline.metrics.labels.corrected import JudgedPairs, corrected_score, within, worths
from sightline.metrics.labels.targets import Target, frozen_relevant, target, target_name
from sightline.metrics.scores import CheckedTasks, Scores
from sightline.metrics.statistics.estimates import cluster_codes, narrow
from sightline.types import Benchmark, Ranking, Relevance, Run

_SURE = 0.9
"""What a label without a stated confidence counts as."""
_LARGEST_TABLE = 20_000_000
"""RR and AP without a cut-off need a table of tasks × ranks; a larger one is not made."""


def with_corrections(scores: Scores, benchmark: Benchmark, run: Run) -> Scores:
    """The scores with every metric corrected that can be, and with what the correction of differences needs."""
    scores = replace(scores, corrected={}, checked=None)  # Those of earlier decisions.
    tasks = sorted(id_ for id_, truth in benchmark.truth.items() if isinstance(truth, Relevance))
    labels = labels_of(benchmark)
    drawn = drawn_decisions(benchmark, labels) if provenance_of(benchmark).origin == "made" else None
    if not drawn or not _is_whole(benchmark, run, scores, tasks):
        return scores
    labels = labels.of(tasks)
    pairs = list(labels.before)
    judged = _judged(benchmark, labels, pairs, drawn, scores)
    targets = _targets(scores, labels, pairs, judged, run)
    try:
        made = worths(judged, list(targets.values()), seed=scores.seed)
        found = {
            name: within(corrected_score(worth, metric, judged.clusters, level=scores.level, seed=scores.seed), name)
            for (name, metric), worth in zip(targets.items(), made, strict=True)
        }
    except UserError:  # Too few decisions or clusters: the warnings say so.
        return scores
    checked = CheckedTasks(_checksum(pairs, judged, scores.seed), dict(zip(targets, made, strict=True)))
    return replace(scores, corrected=found, checked=checked)


def _judged(
    benchmark: Benchmark, labels: BenchmarkLabels, pairs: list[Pair], drawn: frozenset[Pair], scores: Scores
) -> JudgedPairs:
    clusters = {row.task_id: row.cluster for row in sorted(scores.tasks, key=lambda row: row.task_id)}
    numbers = {task: number for number, task in enumerate(clusters)}
    said = np.array([labels.before[pair] > 0 for pair in pairs], np.float64)
    return JudgedPairs(
        np.array([numbers[task] for task, _ in pairs], np.intp),
        confidence_feature(_probabilities(benchmark, pairs, said)),
        _decisions(benchmark, labels, pairs, drawn),
        _weights(labels, pairs, drawn),
        len(numbers),
        narrow(cluster_codes(list(clusters.values()))),
    )


def _checksum(pairs: list[Pair], judged: JudgedPairs, seed: int) -> str:
    """Of what people decided and how it was used: what two runs must share to be compared by it."""
    weighed = zip(pairs, judged.people.tolist(), judged.draw.tolist(), strict=True)
    said = sorted(row for row in weighed if row[2] > 0)
    return hashlib.sha256(repr((seed, judged.queries, said)).encode()).hexdigest()[:16]


def _targets(
    scores: Scores, labels: BenchmarkLabels, pairs: list[Pair], judged: JudgedPairs, run: Run
) -> dict[str, Target]:
    """The metrics that can be corrected; gains of grades above 1 are not what people decided on."""
    said = np.array([labels.before[pair] > 0 for pair in pairs], np.float64)
    frozen, rank = frozen_relevant(judged.query, said, judged.queries), _ranks(run, pairs)
    graded = max(labels.before.values(), default=0) > 1
    huge = int(rank.max(initial=0)) * judged.queries > _LARGEST_TABLE
    return {
        name: replace(target(known, judged.query, rank, judged.queries, frozen), name=name)
        for name in (scores.overall if rank.any() else ())
        if (known := target_name(name)) and not (graded and "dcg" in known) and ("@" in known or not huge)
    }


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
