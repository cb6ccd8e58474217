"""Corrected scores on benchmarks whose judge is wrong in known ways: no bias, and intervals that hold."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np

from sightline.benchmark.provenance import CARD_FIELD, Provenance
from sightline.benchmark.review_decisions import labels_of
from sightline.benchmark.review_sample import sample_of
from sightline.metrics.evaluation import evaluate
from sightline.runs.corrected_scores import corrected_scores
from sightline.types import Attempt, Benchmark, Corpus, Judgment, Picture, Ranking, Relevance, Review, Run, Task

QUERIES, POOL = 50, 8


def judged(seed: int) -> tuple[Benchmark, Benchmark, Run]:
    """A benchmark by a judge that calls every fifth label wrong, what is true, and a run that follows the judge."""
    lot = random.Random(seed)
    pictures = {f"p{number}": Picture(f"p{number}", f"p{number}.jpg") for number in range(POOL)}
    tasks = {f"q{number}": Task(f"q{number}", "rank", (f"query {number}",)) for number in range(QUERIES)}
    said = {task: {picture: int(lot.random() < 0.4) for picture in pictures} for task in tasks}
    true = {
        task: {picture: grade ^ int(lot.random() < 0.2) for picture, grade in grades.items()}
        for task, grades in said.items()
    }
    made = Benchmark(
        "made",
        Corpus("made", pictures),
        tasks,
        {task: Relevance(grades) for task, grades in said.items()},
        card={CARD_FIELD: Provenance("made").to_json()},
        judgments=tuple(Judgment(task, one, "a/judge", grade) for task in tasks for one, grade in said[task].items()),
    )
    attempts = [
        Attempt(task, Ranking(tuple(sorted(pictures, key=lambda one: (-said[task][one], lot.random())))))
        for task in tasks
    ]
    truth = replace(made, truth={task: Relevance(grades) for task, grades in true.items()})
    return made, truth, Run("made", "system", tuple(attempts))


def decided(made: Benchmark, truth: Benchmark, size: int) -> Benchmark:
    labels, at = labels_of(made), datetime(2026, 1, 1, tzinfo=UTC)
    right = labels_of(truth).now
    drawn = enumerate(sample_of(made, labels, size))
    reviews = (Review(pair[0], "me", str(right[pair]), at + timedelta(seconds=n), pair[1]) for n, pair in drawn)
    return replace(made, reviews=tuple(reviews))


def precision(benchmark: Benchmark, run: Run) -> float:
    """P@5 over all tasks, also those with nothing to find."""
    found = []
    for attempt in run.attempts:
        truth, said = benchmark.truth[attempt.task_id], attempt.prediction
        assert isinstance(truth, Relevance) and isinstance(said, Ranking)
        found.append(sum(truth.grades[picture] for picture in said.pictures[:5]) / 5)
    return sum(found) / len(found)


def test_the_correction_has_no_bias_and_its_intervals_hold() -> None:
    misses, held, plain = [], [], []
    for seed in range(60):
        made, truth, run = judged(seed)
        scores = evaluate(made, run, ("p@5",), resamples=20)
        real = precision(truth, run)
        found = corrected_scores(decided(made, truth, 100), run, scores)["p@5"]
        misses.append(found.mean - real)
        held.append(found.low <= real <= found.high)
        plain.append(precision(made, run) - real)
    assert np.mean(plain) > 0.05  # The run follows the judge, errors and all.
    assert abs(np.mean(misses)) < 3 * np.std(misses) / np.sqrt(len(misses)) < 0.02
    assert sum(held) >= 54


def test_without_a_draw_or_with_a_part_of_the_tasks_nothing_is_corrected() -> None:
    made, truth, run = judged(0)
    scores = evaluate(made, run, ("p@5",), resamples=20)
    assert corrected_scores(made, run, scores) == {}
    people = decided(made, truth, 100)
    assert corrected_scores(replace(people, reviews=people.reviews[:60]), run, scores) == {}
    part = evaluate(made, run, ("p@5",), resamples=20, limit=10)
    assert corrected_scores(people, run, part) == {}
    given = replace(people, card={CARD_FIELD: Provenance("given").to_json()})
    assert corrected_scores(given, run, scores) == {}
