from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sightline.errors import UserError
from sightline.metrics import registry
from sightline.metrics.context import Context
from sightline.metrics.evaluation import evaluate, metric_names
from sightline.metrics.registry import Metric, MetricSpec
from sightline.metrics.scores import Scores, read_scores, scores_from, write_scores
from sightline.metrics.statistics.estimates import estimate
from sightline.types import (
    Answer,
    Attempt,
    Benchmark,
    Choice,
    Corpus,
    Failure,
    Group,
    Option,
    PictureSet,
    Prediction,
    Ranking,
    Relevance,
    Run,
    Scope,
    Task,
    TaskKind,
    Text,
    Trace,
    Traces,
    Truth,
)
from sightline.types.task_table import Tasks

TIMEOUT = Failure("timeout", "no reply within 60 s", retryable=True)


@pytest.fixture
def length_metric() -> Iterator[str]:
    """A metric of answers that is undefined where the truth is empty, and can't take a failure."""

    def build(spec: MetricSpec) -> Metric:
        def metric(truth: Truth, prediction: Prediction, context: Context) -> float | None:
            assert isinstance(truth, Answer)
            assert isinstance(prediction, Text)
            return min(len(prediction.text) / len(truth.text), 1.0) if truth.text else None

        return metric

    registry.register("test-length", kinds=("answer",))(build)
    yield "test-length"
    registry._REGISTRY.pop("test-length")


def bench(truth: Mapping[str, Truth], kind: TaskKind = "answer", **tasks: Task) -> Benchmark:
    made = {name: tasks.get(name, Task(name, kind, ("?",))) for name in truth}
    return Benchmark("b", Corpus("c"), made, dict(truth), checksum="0123")


def run(predictions: Mapping[str, Prediction | list[Prediction]]) -> Run:
    attempts = []
    for task, given in predictions.items():
        several = given if isinstance(given, list) else [given]
        attempts += [Attempt(task, prediction, number) for number, prediction in enumerate(several)]
    return Run("b", "system", tuple(attempts), benchmark_checksum="0123")


def test_failures_and_missing_predictions_are_zero_and_counted(length_metric: str) -> None:
    benchmark = bench({name: Answer("abcd") for name in "pqrs"})
    scores = evaluate(benchmark, run({"p": Text("abcd"), "q": Text("ab"), "r": TIMEOUT}), [length_metric])
    found = scores.overall[length_metric]
    assert found == estimate([1.0, 0.5, None, None], failures=[False, False, True, True])
    assert (found.mean, found.answered, found.failures) == (0.375, 0.75, 2)
    assert scores.failures == {"missing": 1, "timeout": 1}
    assert [(row.task_id, row.status, row.failure) for row in scores.tasks] == [
        ("p", "answered", None),
        ("q", "answered", None),
        ("r", "failed", "timeout"),
        ("s", "missing", "missing"),
    ]
    assert scores.notes == ("no prediction, counted as zero: 1 of 4 tasks",)


def test_a_task_that_a_metric_is_not_defined_for_is_left_out_even_if_it_failed(length_metric: str) -> None:
    benchmark = bench({"p": Answer("ab"), "q": Answer(""), "r": Answer("")})
    scores = evaluate(benchmark, run({"p": Text("a"), "q": Text("a"), "r": TIMEOUT}), [length_metric])
    assert (scores.overall[length_metric].n, scores.overall[length_metric].failures) == (1, 0)
    assert scores.undefined == {length_metric: 2}
    assert [row.values[length_metric] for row in scores.tasks] == [0.5, None, None]


def test_a_prediction_of_a_form_that_does_not_fit_is_a_failure(length_metric: str) -> None:
    benchmark = bench({"p": Answer("ab"), "q": Answer("ab")})
    scores = evaluate(benchmark, run({"p": Ranking(("x",)), "q": Text("ab")}), [length_metric])
    assert scores.failures == {"wrong-form": 1}
    assert scores.overall[length_metric].mean == 0.5


def test_attempts_are_averaged_per_task_first(length_metric: str) -> None:
    benchmark = bench({"p": Answer("abcd"), "q": Answer("abcd")})
    said: dict[str, Prediction | list[Prediction]] = {
        "p": [Text("abcd"), TIMEOUT, Text("ab")],
        "q": [Text("a"), Text("a"), Text("a")],
    }
    scores = evaluate(benchmark, run(said), [length_metric])
    found = scores.overall[length_metric]
    assert found.n == 2
    assert found.mean == pytest.approx((0.5 + 0.25) / 2)
    assert found.answered == pytest.approx((0.75 + 0.25) / 2)
    assert found.failures == 1
    again = scores.repeated[length_metric]
    assert again.run_means == pytest.approx((0.625, 0.125, 0.375))
    assert again.between_run_sd == pytest.approx(0.25)
    assert scores.best_of[length_metric] == pytest.approx((0.375, (5 / 6 + 0.25) / 2, 0.625))


def test_uneven_attempts_are_said_and_averaged_over_their_own(length_metric: str) -> None:
    benchmark = bench({"p": Answer("ab"), "q": Answer("ab")})
    scores = evaluate(benchmark, run({"p": [Text("ab"), Text("a")], "q": Text("ab")}), [length_metric])
    assert scores.overall[length_metric].mean == pytest.approx(0.875)
    assert scores.notes == ("tasks have 1 to 2 attempts; each is averaged over its own",)
    assert scores.best_of == {}


def test_tasks_without_a_prediction_do_not_pass_for_a_bad_first_run(length_metric: str) -> None:
    benchmark = bench({"p": Answer("ab"), "q": Answer("ab"), "r": Answer("ab")})
    scores = evaluate(benchmark, run({"p": [Text("ab"), Text("ab")], "q": [Text("a"), Text("a")]}), [length_metric])
    assert scores.overall[length_metric].mean == pytest.approx(0.5)
    assert scores.repeated[length_metric].run_means == (0.75, 0.75)


def test_labels_are_slices_and_what_has_none_is_unlabelled(length_metric: str) -> None:
    labels: dict[str, dict[str, tuple[str, ...]]] = {"p": {"city": ("Rome",)}, "q": {"city": ("Rome", "Oslo")}, "r": {}}
    tasks = {name: Task(name, "answer", ("?",), labels=of) for name, of in labels.items()}
    benchmark = bench({name: Answer("ab") for name in labels}, "answer", **tasks)
    scores = evaluate(benchmark, run({"p": Text("ab"), "q": Text("a"), "r": TIMEOUT}), [length_metric])
    means = {value: found[length_metric].mean for value, found in scores.by_label["city"].items()}
    assert means == {"Oslo": 0.5, "Rome": 0.75, "unlabelled": 0.0}
    assert list(scores.by_label["city"]) == ["Oslo", "Rome", "unlabelled"]
    assert scores.by_label["city"]["unlabelled"][length_metric].failures == 1


def mixed() -> Benchmark:
    truth: dict[str, Truth] = {
        "rank": Relevance({"a": 2, "b": 1, "c": 0}),
        "select": PictureSet(("a", "b")),
        "nothing": PictureSet(()),
        "answer": Answer("Paris"),
        "choose": Choice("B"),
        "describe": Traces((Trace("I see a dog", "a brown dog runs"),)),
        "describe2": Traces((Trace("I see a boat", "a white boat sails"),)),
    }
    kinds: dict[str, TaskKind] = {"nothing": "select", "describe2": "describe"}
    options = tuple(Option(key, (f"option {key}",)) for key in "AB")
    tasks = {
        name: Task(name, kinds.get(name, name), ("?",), options, labels={"of": (name,)})  # type: ignore[arg-type]
        for name in truth
    }
    tasks["select"] = replace(tasks["select"], scope=Scope(owner="ann"))
    corpus = Corpus("c", {}, (Group("ann", "owner", ("a", "b", "x")),))
    return Benchmark("b", corpus, tasks, truth, checksum="0123")


MIXED: dict[str, Prediction | list[Prediction]] = {
    "rank": Ranking(("a", "z", "b")),
    "select": PictureSet(("a", "c", "a")),
    "nothing": PictureSet(()),
    "answer": Text("It is Paris."),
    "choose": Text("The answer is (B)"),
    "describe": Trace("a dog", "a brown dog runs"),
    "describe2": Trace("a boat", "a boat"),
}


def test_every_kind_of_task_with_its_usual_metrics() -> None:
    scores = evaluate(mixed(), run(MIXED))
    means = {name: found.mean for name, found in scores.overall.items()}
    assert means["ndcg@10"] == pytest.approx((2 + 0.5) / (2 + 1 / np.log2(3)))
    assert means["em"] == 0.5
    assert means["f1"] == pytest.approx((0.5 + 1) / 2)
    assert means["answer"] == means["accuracy"] == 1.0
    assert 0.5 < means["rouge-l"] < 1
    assert all(found.failures == 0 for found in scores.overall.values())


def test_a_mean_never_mixes_rankings_and_sets() -> None:
    scores = evaluate(mixed(), run(MIXED), ["ndcg@10", "f1"])
    assert (scores.overall["ndcg@10"].n, scores.overall["f1"].n) == (1, 2)
    only_sets = replace(
        mixed(), tasks=Tasks({name: task for name, task in mixed().tasks.items() if task.kind == "select"})
    )
    alone = evaluate(only_sets, run({"select": MIXED["select"]}), ["ndcg@10"])
    assert alone.overall["ndcg@10"].n == 1 and alone.undefined == {"ndcg@10": 1}  # The other has nothing to find.


def test_what_stands_beside_the_scores() -> None:
    scores = evaluate(mixed(), run(MIXED), ["ndcg@3", "f1", "rouge-l", "tfidf"])
    assert scores.unjudged == pytest.approx(1 / 3) and scores.unjudged_depth == 3
    assert scores.outside_scope == 1
    assert scores.abstention is not None
    assert (scores.abstention.empty, scores.abstention.right) == (1, 1)
    assert 0 < scores.chance["rouge-l"] < scores.overall["rouge-l"].mean
    assert scores.notes[-2:] == (
        "tasks with nothing to find: 1 of 3; a set is right about them when it is empty",
        "tfidf is tfidf of the answer, mean over references, by idf over 2 documents",
    )


def test_a_slice_leaves_out_metrics_that_it_says_nothing_about() -> None:
    scores = evaluate(mixed(), run(MIXED), ["f1", "accuracy"])
    assert set(scores.by_label["of"]["choose"]) == {"accuracy"}
    assert "rank" not in scores.by_label["of"]


def test_cider_gets_its_counts() -> None:
    scores = evaluate(mixed(), run(MIXED), ["cider"])
    assert scores.overall["cider"].mean > 0


def test_clusters_of_owners_reach_the_intervals(length_metric: str) -> None:
    rng = np.random.default_rng(0)
    tasks = {f"t{i}": Task(f"t{i}", "answer", ("?",), scope=Scope(owner=f"o{i % 12}")) for i in range(60)}
    said: dict[str, Prediction | list[Prediction]] = {name: Text("a" * rng.integers(1, 9)) for name in tasks}
    benchmark = bench({name: Answer("a" * 8) for name in tasks}, "answer", **tasks)
    scores = evaluate(benchmark, run(said), [length_metric])
    values = [row.values[length_metric] for row in scores.tasks]
    expected = estimate(values, clusters=[f"o{i % 12}" for i in range(60)])
    assert scores.overall[length_metric] == expected
    assert (scores.clustered_by, expected.method) == ("owner", "cluster-bootstrap")
    alone = evaluate(benchmark, run(said), [length_metric], cluster_by=None)
    assert (alone.clustered_by, alone.overall[length_metric].method) == (None, "bca")


def test_few_clusters_are_said(length_metric: str) -> None:
    tasks = {f"t{i}": Task(f"t{i}", "answer", ("?",), scope=Scope(owner=f"o{i % 2}")) for i in range(6)}
    benchmark = bench({name: Answer("ab") for name in tasks}, "answer", **tasks)
    scores = evaluate(benchmark, run({name: Text("ab") for name in tasks}), [length_metric])
    assert any("so few" in note for note in scores.notes)


def test_another_version_of_the_benchmark_is_refused_unless_told(length_metric: str) -> None:
    benchmark = replace(bench({"p": Answer("ab")}), checksum="4567")
    with pytest.raises(UserError, match=r"another version.*0123.*4567"):
        evaluate(benchmark, run({"p": Text("ab")}), [length_metric])
    assert evaluate(benchmark, run({"p": Text("ab")}), [length_metric], allow_other_version=True).overall


def test_a_wholly_different_benchmark_is_not_called_a_version(length_metric: str) -> None:
    made = replace(bench({"p": Answer("ab")}), checksum="4567")
    tried = run({"p": Text("ab")})
    with pytest.raises(UserError, match=f'on the benchmark "{made.name}", not on "other"') as refused:
        evaluate(replace(made, name="other"), tried, [length_metric])
    assert "version" not in str(refused.value)
    assert evaluate(replace(made, name="other", checksum=tried.benchmark_checksum), tried, [length_metric]).overall


def test_a_run_without_a_task_of_the_benchmark_is_refused(length_metric: str) -> None:
    tried = replace(run({"x": Text("ab")}), benchmark_checksum=None)
    for insist in (False, True):
        with pytest.raises(UserError, match='its tasks are like "x", those of the benchmark like "p"') as refused:
            evaluate(bench({"p": Answer("ab")}), tried, [length_metric], allow_other_version=insist)
        assert "that it was run on" in str(refused.value.fix)
    nothing = replace(tried, attempts=())
    assert evaluate(bench({"p": Answer("ab")}), nothing, [length_metric]).overall[length_metric].mean == 0


def test_unknown_tasks_are_reported(length_metric: str) -> None:
    scores = evaluate(bench({"p": Answer("ab")}), run({"p": Text("ab"), "x": Text(""), "w": Text("")}), [length_metric])
    assert scores.unknown_tasks == ("w", "x")
    assert scores.overall[length_metric].n == 1
    assert scores.notes == ("predictions for tasks that the benchmark doesn't have: 2 (w, x)",)


def test_two_predictions_for_one_attempt_are_refused(length_metric: str) -> None:
    twice = Run("b", "s", (Attempt("p", Text("a")), Attempt("p", Text("b"))))
    with pytest.raises(UserError, match='attempt 0 at task "p"'):
        evaluate(bench({"p": Answer("ab")}), twice, [length_metric])


def test_a_task_without_truth_is_left_out_and_said(length_metric: str) -> None:
    benchmark = bench({"p": Answer("ab"), "q": Answer("ab")})
    benchmark = replace(benchmark, truth={"p": Answer("ab")})
    scores = evaluate(benchmark, run({"p": Text("ab"), "q": Text("ab")}), [length_metric])
    assert scores.overall[length_metric].n == 1
    assert scores.notes == ("left out because the truth is not known: 1 tasks (q)",)


def test_metrics_are_the_given_ones_then_the_benchmarks_then_the_usual() -> None:
    benchmark = bench({"p": Relevance({"a": 1})}, "rank")
    assert metric_names(benchmark, ["rr", "rr"]) == ("rr",)
    assert metric_names(replace(benchmark, metrics=("ap",))) == ("ap",)
    assert "ndcg@10" in metric_names(benchmark)
    with pytest.raises(UserError, match=r"accuracy.*choose.*only rank"):
        metric_names(benchmark, ["accuracy"])
    with pytest.raises(UserError, match="unknown metric"):
        metric_names(benchmark, ["ndgc@10"])


def test_an_impossible_level_is_refused_before_any_work() -> None:
    with pytest.raises(UserError, match="level"):
        evaluate(mixed(), run({}), level=95)


def test_a_benchmark_without_tasks() -> None:
    scores = evaluate(bench({}), run({}))
    assert (scores.overall, scores.by_label, scores.tasks) == ({}, {}, ())


def test_scores_round_trip_through_the_run_folder(tmp_path: Path) -> None:
    scores = evaluate(mixed(), run(MIXED | {"answer": [Text("Paris"), TIMEOUT]}))
    write_scores(scores, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["per_task.csv", "scores.json"]
    assert read_scores(tmp_path) == scores
    content = json.loads((tmp_path / "scores.json").read_text(), parse_constant=pytest.fail)
    assert set(content["overall"]["f1"]) == {
        "mean", "low", "high", "n", "failures", "answered", "level", "method"
    }  # fmt: skip
    assert "tasks" not in scores.to_dict(tasks=False)


def test_per_task_csv_has_a_row_for_each_attempt(tmp_path: Path) -> None:
    scores = evaluate(mixed(), run(MIXED | {"answer": [Text("Paris"), TIMEOUT]}))
    write_scores(scores, tmp_path)
    rows = list(csv.DictReader((tmp_path / "per_task.csv").open()))
    assert len(rows) == len(scores.tasks) == 8
    failed = next(row for row in rows if row["status"] == "failed")
    assert (failed["task"], failed["attempt"], failed["failure"], failed["answer"]) == ("answer", "1", "timeout", "0.0")
    assert failed["label:of"] == "answer"
    assert (failed["f1"], failed["unjudged"]) == ("", "")


def test_rows_become_a_data_frame() -> None:
    frame = evaluate(mixed(), run(MIXED)).to_pandas()
    assert list(frame["task"]) == list(mixed().tasks)
    assert frame["accuracy"].notna().sum() == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [({"schema": 99}, "schema 1"), ({"level": "high"}, "level"), ({"extra": 1}, "extra")],
)
def test_scores_of_another_form_are_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        scores_from(evaluate(mixed(), run(MIXED)).to_dict() | change, "runs/x/scores.json")


def test_a_run_without_scores_says_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="sightline score"):
        read_scores(tmp_path)


def test_the_same_seed_gives_the_same_scores() -> None:
    def scored(seed: int) -> Scores:
        return evaluate(mixed(), run(MIXED), seed=seed)

    assert scored(1) == scored(1)


def test_few_clusters_leave_no_interval_and_the_reason_is_kept(length_metric: str, tmp_path: Path) -> None:
    tasks = {f"t{i}": Task(f"t{i}", "answer", ("?",), scope=Scope(owner=f"o{i % 3}")) for i in range(24)}
    benchmark = bench({name: Answer("a" * 8) for name in tasks}, "rank", **tasks)
    scores = evaluate(benchmark, run({name: Text("a" * (1 + i % 7)) for i, name in enumerate(tasks)}), [length_metric])
    assert scores.few_clusters == scores.overall[length_metric].no_interval == "too few clusters (3)"
    write_scores(scores, tmp_path)
    assert read_scores(tmp_path) == scores
    assert evaluate(benchmark, run({}), [length_metric], cluster_by=None).few_clusters is None
