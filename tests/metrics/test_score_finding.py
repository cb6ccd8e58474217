"""Tasks with nothing to find: one rule, which the scores, the recall curves and the notes all follow."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metrics.attempt_scores import has_something
from sightline.metrics.evaluation import evaluate
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
    Truth,
)

RANKED = ("ndcg@10", "map", "recall@10", "rr@10", "p@10", "success@10", "rbp", "rprec", "bpref", "map_min@10")
SETS = ("em", "f1", "set_precision", "set_recall", "iou")
TIMEOUT = Failure("timeout", "no reply")


def bench(kind: str, **truth: Truth) -> Benchmark:
    tasks = {name: Task(name, kind, ("?",)) for name in truth}  # type: ignore[arg-type]
    return Benchmark("b", Corpus("c", {}), tasks, truth)


def run(**said: Prediction) -> Run:
    return Run("b", "s", tuple(Attempt(task, prediction) for task, prediction in said.items()))


@pytest.mark.parametrize("empty", [Relevance({}), Relevance({"a": 0, "b": -1})])
@pytest.mark.parametrize("said", [Ranking(("a", "b")), Ranking(()), TIMEOUT])
def test_rankings_leave_them_out(empty: Truth, said: Prediction) -> None:
    benchmark = bench("rank", some=Relevance({"a": 1}), none=empty)
    scores = evaluate(benchmark, run(some=Ranking(("b", "a")), none=said), RANKED)
    alone = evaluate(bench("rank", some=Relevance({"a": 1})), run(some=Ranking(("b", "a"))), RANKED)
    assert scores.overall == alone.overall
    assert scores.undefined == dict.fromkeys(RANKED, 1)
    (note,) = (note for note in scores.notes if "nothing to find" in note)
    assert note.startswith("tasks with nothing to find: 1 of 2; left out of ndcg@10, map,")
    assert scores.recall["rank"] == alone.recall["rank"]


def test_sets_are_right_to_be_empty() -> None:
    benchmark = bench("select", none=PictureSet(()), also=PictureSet(()), failed=PictureSet(()))
    said = run(none=PictureSet(()), also=PictureSet(("a",)), failed=TIMEOUT)
    scores = evaluate(benchmark, said, SETS)
    values = {name: [row.values[name] for row in scores.tasks] for name in SETS}
    assert values == {name: [1.0, 0.0, 0.0] for name in SETS}
    assert any("a set is right about them when it is empty" in note for note in scores.notes)
    assert not any("sightline assess" in note for note in scores.notes)


def test_where_nothing_is_labelled_the_note_says_how_to_have_it_judged() -> None:
    scores = evaluate(bench("rank", none=Relevance({})), run(none=Ranking(("a",))), ("ndcg@10",))
    assert any(note.endswith("to have them judged: sightline assess BENCH RUN RUN") for note in scores.notes)


def test_what_is_returned_can_be_judged_where_nothing_is_to_be_found() -> None:
    scores = evaluate(bench("rank", none=Relevance({"a": 0})), run(none=Ranking(("a", "z"))), ("judged@2",))
    assert scores.overall["judged@2"].mean == 0.5 and not scores.undefined


def test_what_counts_as_something_is_what_the_metric_counts() -> None:
    benchmark = bench("rank", low=Relevance({"a": 1}), high=Relevance({"a": 2}))
    scores = evaluate(benchmark, run(low=Ranking(("a",)), high=Ranking(("a",))), ("rr(rel=2)@10", "rr@10"))
    assert [row.values["rr(rel=2)@10"] for row in scores.tasks] == [None, 1.0]
    assert [row.values["rr@10"] for row in scores.tasks] == [1.0, 1.0]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(-1, 2)), min_size=1, max_size=6))
def test_recall_of_scores_and_of_the_curve_agree(grades: list[dict[str, int]]) -> None:
    truth: dict[str, Truth] = {f"t{at}": Relevance(given) for at, given in enumerate(grades)}
    said = {name: Ranking(("a", "c", "z")) for name in truth}
    scores = evaluate(bench("rank", **truth), run(**said), ("recall@3",))
    found = [name for name, known in truth.items() if has_something(known)]
    assert scores.overall["recall@3"].n == len(found)
    if found:
        (at_3,) = (point.found for point in scores.recall["rank"] if point.k == 3)
        assert [at_3.mean, at_3.n] == [pytest.approx(scores.overall["recall@3"].mean), len(found)]
    else:
        assert "rank" not in scores.recall
