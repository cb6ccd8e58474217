"""Tasks that stand for more or less traffic: weighted means, their intervals and tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sightline.metrics.comparison import compare
from sightline.metrics.evaluation import evaluate
from sightline.metrics.scores import read_scores, write_scores
from sightline.metrics.statistics.estimates import Column, estimate_columns
from sightline.metrics.statistics.intervals import effective_count
from sightline.metrics.statistics.paired import paired_differences
from sightline.types import Attempt, Benchmark, Corpus, Estimate, Failure, Picture, Ranking, Relevance, Run, Task
from sightline.types.task import WEIGHT


def weighted(values: np.ndarray, weights: np.ndarray, **options: object) -> Estimate:
    return estimate_columns({"m": Column.of(values, None)}, weights=weights, **options)["m"]  # type: ignore[arg-type]


def test_equal_weights_change_nothing() -> None:
    values = np.random.default_rng(0).random(80)
    plain = estimate_columns({"m": Column.of(values, None)})["m"]
    assert weighted(values, np.full(80, 7.0)) == plain


def test_the_mean_is_that_of_the_traffic() -> None:
    rng = np.random.default_rng(1)
    values, counts = rng.random(50), rng.integers(1, 9, 50)
    found = weighted(values, counts.astype(float))
    assert found.mean == pytest.approx(np.repeat(values, counts).mean())
    assert found.low < found.mean < found.high
    assert found.n == 50


def test_wilson_takes_the_number_of_equal_tasks_that_they_are_worth() -> None:
    values, weights = np.array([1.0, 0.0] * 30), np.array([3.0, 1.0] * 30)
    found = weighted(values, weights)
    worth = effective_count(weights)
    assert worth == pytest.approx(16 / 10 / 2 * 60)
    low, high = stats.binomtest(round(0.75 * worth), round(worth)).proportion_ci(method="wilson")
    assert (found.mean, found.method) == (0.75, "wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.005)


def test_one_heavy_task_has_no_interval() -> None:
    found = weighted(np.linspace(0, 1, 40), np.array([1e6, *[1.0] * 39]))
    assert found.interval is None
    assert found.no_interval == "too few tasks by weight (1)"


def test_intervals_hold_the_traffic_mean_as_often_as_they_say() -> None:
    """Queries are drawn by count within strata; the interval must hold the score of the whole traffic."""
    from sightline.authoring.query_sample import inclusion, strata_of, systematic

    rng = np.random.default_rng(2)
    counts = np.floor(rng.pareto(1.0, 3000)) + 1
    counts = np.minimum(counts, 400)
    values = np.clip(rng.beta(1.2, 1.5, 3000) + 0.1 * np.log(counts), 0, 1)
    truth = np.average(values, weights=counts)
    strata = strata_of(counts)
    chances = inclusion(counts, strata, 200)
    held, means = 0, []
    for seed in range(200):
        chosen = systematic(chances, strata, np.random.default_rng(seed))
        assert chosen.sum() in (199, 200)
        found = weighted(values[chosen], (counts / chances)[chosen], resamples=500)
        means.append(found.mean)
        held += found.low <= truth <= found.high
    assert np.mean(means) == pytest.approx(truth, abs=0.005)
    assert held >= 184  # 95 % of 200 less three standard errors


def test_a_weighted_difference_has_the_weighted_mean_and_a_test_that_agrees_with_its_interval() -> None:
    rng = np.random.default_rng(3)
    for clusters in (None, [number // 3 for number in range(120)]):
        first, weights = rng.random(120), rng.integers(1, 30, 120).astype(float)
        second = np.clip(first + rng.normal(0.02, 0.1, 120), 0, 1)
        found = paired_differences({"m": first}, {"m": second}, clusters=clusters, weights=weights)["m"]
        assert found.mean == pytest.approx(np.average(second - first, weights=weights))
        assert found.p is not None
        assert (found.p < 0.05) == (found.low > 0 or found.high < 0)


def test_a_null_difference_is_found_in_one_of_twenty_at_most() -> None:
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        weights = np.minimum(np.floor(rng.pareto(1.2, 80)) + 1, 50)
        difference = rng.normal(0, 0.2, 80) * (rng.random(80) < 0.7)
        one = paired_differences({"m": np.zeros(80)}, {"m": difference}, weights=weights, resamples=500, flips=500)["m"]
        found += one.p is not None and one.p < 0.05
    assert found <= 20


def _benchmark(weights: Sequence[float | None]) -> Benchmark:
    pictures = {name: Picture(name, name) for name in ("a", "b")}
    tasks = {
        f"q{at}": Task(f"q{at}", "rank", (f"q{at}",), extra={} if weight is None else {WEIGHT: weight})
        for at, weight in enumerate(weights)
    }
    return Benchmark("b", Corpus("c", pictures), tasks, {task: Relevance({"a": 1, "b": 0}) for task in tasks})


def _run(system: str, right: int, tasks: int, fails: bool = False) -> Run:
    said = [Ranking(("a", "b")) if at < right else Ranking(("b", "a")) for at in range(tasks)]
    attempts = tuple(Attempt(f"q{at}", one) for at, one in enumerate(said))
    return Run("b", system, (Attempt("q0", Failure("timeout", "")), *attempts[1:]) if fails else attempts)


def test_scores_and_comparisons_are_of_the_traffic() -> None:
    benchmark = _benchmark([10.0] * 10 + [1.0] * 10)
    good, bad = evaluate(benchmark, _run("x", 10, 20), ["p@1"]), evaluate(benchmark, _run("y", 0, 20), ["p@1"])
    assert good["p@1"].mean == pytest.approx(100 / 110)
    assert any("worth" in note for note in good.notes)
    found = compare([bad, good]).pairs[0].difference
    assert found.mean == pytest.approx(100 / 110)
    failed = evaluate(benchmark, _run("x", 10, 20, fails=True), ["p@1"])["p@1"]
    assert failed.mean == pytest.approx(90 / 110)
    assert failed.answered == pytest.approx(90 / 100)


def test_weights_are_kept_with_the_scores(tmp_path: Path) -> None:
    scores = evaluate(_benchmark([4.0, 1.0, 2.0]), _run("x", 1, 3), ["p@1"])
    write_scores(scores, tmp_path)
    assert [row.weight for row in read_scores(tmp_path).tasks] == [4.0, 1.0, 2.0]
    assert (tmp_path / "per_task.csv").read_text().splitlines()[0].endswith(",weight")
    plain = evaluate(_benchmark([None, None, None]), _run("x", 1, 3), ["p@1"])
    assert "weight" not in plain.to_dict()["tasks"][0]
    assert "weight" not in plain.records()[0]


def test_holes_are_shown_with_the_condensed_score() -> None:
    benchmark = _benchmark([None] * 8)
    run = Run("b", "s", tuple(Attempt(f"q{at}", Ranking(("new", "a", "b"))) for at in range(8)))
    scores = evaluate(benchmark, run, ["ndcg@10"])
    assert scores.unjudged == pytest.approx(1 / 3)
    assert scores.condensed["ndcg@10"].mean == 1.0
    assert scores["ndcg@10"].mean < 1
    assert "judged@10: 66.7% of the results; ndcg@10 without the others: 1.000" in str(scores)
