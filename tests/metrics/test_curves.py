"""Recall against cut-off, beside a plain count."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metrics.diagnostics import CUT_OFFS
from sightline.metrics.evaluation import DIRECT_RETRIEVAL, evaluate
from sightline.metrics.scores import scores_from
from sightline.types import (
    Attempt,
    Benchmark,
    Corpus,
    Failure,
    PictureSet,
    Prediction,
    Ranking,
    Relevance,
    Run,
    Task,
    TaskKind,
    Truth,
)

IDS = [f"p{number:02}" for number in range(30)]


@st.composite
def scored(draw: st.DrawFn) -> tuple[Benchmark, Run]:
    tasks: dict[str, Task] = {}
    truth: dict[str, Truth] = {}
    attempts: list[Attempt] = []
    for number in range(draw(st.integers(1, 6))):
        kind: TaskKind = draw(st.sampled_from(["rank", "select"]))
        name = f"t{number}"
        wanted = draw(st.lists(st.sampled_from(IDS), max_size=5, unique=True))
        tasks[name] = Task(name, kind, ("x",))
        truth[name] = Relevance({"p00": 0} | dict.fromkeys(wanted, 2)) if kind == "rank" else PictureSet(tuple(wanted))
        for attempt in range(draw(st.integers(0, 2))):
            ranking = tuple(draw(st.permutations(IDS))[: draw(st.integers(0, 30))])
            failed = draw(st.booleans())
            said: Prediction = Failure("timeout", "x") if failed else Ranking(ranking)
            attempts.append(Attempt(name, said, attempt))
    return Benchmark("b", Corpus("c"), tasks, truth), Run("b", "s", tuple(attempts))


def relevant(truth: Truth) -> set[str]:
    if isinstance(truth, Relevance):
        return {picture for picture, grade in truth.grades.items() if grade > 0}
    assert isinstance(truth, PictureSet)
    return set(truth.pictures)


@settings(deadline=None, max_examples=60)
@given(scored())
def test_each_point_is_the_mean_recall_with_failures_as_zero(found: tuple[Benchmark, Run]) -> None:
    benchmark, run = found
    scores = evaluate(benchmark, run, cluster_by=None, resamples=20)
    by_task: dict[str, list[Prediction]] = defaultdict(list)
    for attempt in run.attempts:
        by_task[attempt.task_id].append(attempt.prediction)
    for kind, points in scores.recall.items():
        for point in points:
            values = []
            for task in benchmark.tasks.values():
                wanted = relevant(benchmark.truth[task.id])
                if task.kind == kind and wanted:
                    shares = [
                        len(wanted & set(said.pictures[: point.k])) / len(wanted) if isinstance(said, Ranking) else 0.0
                        for said in by_task[task.id]
                    ]
                    values.append(sum(shares) / len(shares) if shares else 0.0)
            assert point.found.n == len(values) and point.found.mean == pytest.approx(sum(values) / len(values))
        means = [point.found.mean for point in points]
        assert means == sorted(means)
    assert scores_from(scores.to_dict()) == scores


def test_it_ends_where_the_longest_ranking_does_and_sets_have_none() -> None:
    tasks = {"r": Task("r", "rank", ("x",)), "s": Task("s", "select", ("x",))}
    benchmark = Benchmark("b", Corpus("c"), tasks, {"r": Relevance({"p01": 1}), "s": PictureSet(("p01",))})
    said = (Attempt("r", Ranking(tuple(IDS[:7]))), Attempt("s", PictureSet(tuple(IDS[:7]))))
    scores = evaluate(benchmark, Run("b", "s", said))
    assert [point.k for point in scores.recall["rank"]] == [k for k in CUT_OFFS if k <= 10]
    assert "select" not in scores.recall


def test_rankings_for_exact_sets_are_scored_as_direct_retrieval() -> None:
    tasks = {"s": Task("s", "select", ("x",))}
    benchmark = Benchmark("b", Corpus("c"), tasks, {"s": PictureSet(("p00", "p02", "p29"))}, metrics=("em", "f1"))
    ranked = evaluate(benchmark, Run("b", "s", (Attempt("s", Ranking(tuple(IDS[:10]))),)))
    assert ranked.metrics == ("em", "f1", *DIRECT_RETRIEVAL)
    assert ranked.overall["map_min@1"].mean == ranked.overall["ndcg@1"].mean == 1.0  # = P@1, and not recall@1.
    assert ranked.overall["recall@1"].mean == pytest.approx(1 / 3)
    assert ranked.overall["map_min@3"].mean == pytest.approx((1 + 2 / 3) / 3)
    sets = evaluate(benchmark, Run("b", "s", (Attempt("s", PictureSet(("p00",))),)))
    assert sets.metrics == ("em", "f1")
    given = evaluate(benchmark, Run("b", "s", (Attempt("s", Ranking(("p00",))),)), ["f1"])
    assert given.metrics == ("f1",)
