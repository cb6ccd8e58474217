"""All blind baselines of any benchmark by one function: what is not known is not zero, and the learned one is there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from runs.test_shortcuts import PLANTED, clean, fitting
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.metrics.evaluation import evaluate, headline_metrics
from sightline.runs.blind_baselines import blind_baselines, score_blind_baselines
from sightline.runs.folder import read_run
from sightline.runs.kept_baselines import baselines_of
from sightline.runs.runner import run
from sightline.types import Annotation, Answer, Benchmark, Choice, Corpus, Option, Picture, PictureSet, Task
from sightline.types.task_table import Tasks


def partly_annotated(pictures: int) -> Benchmark:
    """Captions that give every answer away, of the first so many relevant pictures alone."""
    benchmark = clean(Random(3))
    notes = [Annotation(id_, f"a {word}", by="someone") for id_, word in fitting(benchmark).items()]
    return replace(benchmark, annotations=tuple(notes[:pictures]))


def test_captions_of_some_pictures_are_scored_on_those_and_the_rest_is_unknown() -> None:
    found = {one.by: one for one in blind_baselines(partly_annotated(15))}["captions"]
    assert found.pictures == 15
    assert len(found.unknown) == 15  # Of twenty queries with three relevant pictures, five have captions.
    assert found.ndcg.n == 5 and found.ndcg.mean == 1.0
    assert len(found.solved) == 5


def test_a_query_of_which_one_relevant_picture_has_a_caption_is_scored_by_that_one() -> None:
    found = {one.by: one for one in blind_baselines(partly_annotated(16))}["captions"]
    assert found.ndcg.n == 6 and found.ndcg.mean == 1.0


def test_captions_of_no_relevant_picture_are_not_zero() -> None:
    from sightline.authoring.audit import audit_benchmark

    benchmark = clean(Random(3))
    other = next(id_ for id_ in benchmark.corpus.pictures if id_ not in fitting(benchmark))
    benchmark = replace(benchmark, annotations=(Annotation(other, "a dog", by="someone"),))
    found = score_blind_baselines(benchmark)["captions"]
    assert found.scores is None and len(found.unknown) == 20
    audit = audit_benchmark(benchmark)
    assert audit.summary()["blind"]["captions"]["ndcg@10"] is None
    (line,) = [line for line in audit.to_text().splitlines() if line.startswith("  captions")]
    assert "0.000" not in line and "not known for 20 queries: 1 picture has any" in line


def test_without_any_caption_there_is_no_figure_for_captions() -> None:
    assert "captions" not in score_blind_baselines(partly_annotated(0))


def test_every_baseline_is_scored_as_its_run_would_be(tmp_path: Path) -> None:
    benchmark = replace(PLANTED["words"][0](clean(Random(3))), metrics=("rr@10", "ndcg@10"))
    found = score_blind_baselines(benchmark)
    assert headline_metrics(benchmark) == ("rr@10",)
    learned = found["learned"].scores
    assert learned is not None and learned.metrics == ("rr@10",)
    assert learned.overall["rr@10"].mean > 0.5 > found["random"].scores.overall["rr@10"].mean  # type: ignore[union-attr]
    assert len(learned.tasks) == 20
    folder = tmp_path / "bench"
    write_benchmark(benchmark, folder)
    run(folder, "blind:by=learned", tmp_path / "run", workspace=tmp_path / "ws")
    again = evaluate(read_benchmark(folder), read_run(tmp_path / "run"), ["rr@10"])
    assert again.overall["rr@10"].mean == pytest.approx(learned.overall["rr@10"].mean)


def test_too_few_queries_to_learn_from_are_failures_of_the_run(tmp_path: Path) -> None:
    benchmark = clean(Random(3))
    few = replace(benchmark, tasks=Tasks({name: benchmark.tasks[name] for name in ("q0", "q1")}))
    few = replace(few, truth={name: few.truth[name] for name in few.tasks})
    assert "learned" not in score_blind_baselines(few)
    write_benchmark(few, tmp_path / "bench")
    run(tmp_path / "bench", "blind:by=learned", tmp_path / "run", workspace=tmp_path / "ws")
    scores = evaluate(few, read_run(tmp_path / "run"), ["ndcg@10"], allow_other_version=True)
    assert scores.failures == {"not-enough-data": 2}


def test_questions_with_options_and_sets_have_baselines_too() -> None:
    pictures = {str(number): Picture(str(number), f"{number}.jpg") for number in range(12)}
    options = tuple(Option(key, (key,)) for key in "AB")
    tasks = {f"c{number}": Task(f"c{number}", "choose", ("Which?",), options) for number in range(5)}
    tasks |= {f"s{number}": Task(f"s{number}", "select", ("all boats",)) for number in range(3)}
    tasks["a"] = Task("a", "answer", ("How many?",))
    truth = {f"c{number}": Choice("B" if number else "A") for number in range(5)}
    sets = {f"s{number}": PictureSet((str(number), "9")) for number in range(3)}
    benchmark = Benchmark("b", Corpus("b", pictures), tasks, {**truth, **sets, "a": Answer("3")})
    found = score_blind_baselines(benchmark)
    majority = found["majority"].scores
    assert majority is not None
    assert headline_metrics(benchmark) == ("accuracy", "em", "answer")
    assert majority.overall["accuracy"].mean == pytest.approx(4 / 5)
    assert {row.task_id: row.values.get("em") for row in majority.tasks if row.kind == "select"} == {
        "s0": 0.0, "s1": 0.0, "s2": 0.0,
    }  # fmt: skip
    assert found["random"].scores is not None and "a" in found["random"].unknown
    assert all(name in found["names"].unknown for name in truth)


def test_a_benchmark_of_questions_has_no_ranking_baselines() -> None:
    options = tuple(Option(key, (key,)) for key in "AB")
    tasks = {f"c{number}": Task(f"c{number}", "choose", ("Which?",), options) for number in range(5)}
    benchmark = Benchmark("b", Corpus("b", {"1": Picture("1", "1.jpg")}), tasks, dict.fromkeys(tasks, Choice("A")))
    assert set(score_blind_baselines(benchmark)) == {"majority", "random"}


def test_the_audit_and_the_scores_show_one_figure_for_each_baseline() -> None:
    from sightline.authoring.audit import audit_benchmark

    benchmark = replace(PLANTED["words"][0](clean(Random(3))), metrics=("ndcg@10",))
    beside = baselines_of(benchmark)
    audit = audit_benchmark(benchmark, seed=42)  # The seed of a project, which draws other things.
    assert {one.by for one in audit.baselines} >= {"random", "majority", "names"}
    for one in audit.baselines:
        assert one.ndcg.mean == pytest.approx(beside[one.by]["ndcg@10"][0].mean), one.by
