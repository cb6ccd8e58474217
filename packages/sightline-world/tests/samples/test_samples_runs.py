from __future__ import annotations

from sightline.types import Benchmark, Choice, Failure, PictureSet, Ranking, Relevance, Run, Text, Trace
from sightline_world.samples import sample_runs

FORMS = {"rank": Ranking, "select": PictureSet, "answer": Text, "choose": Choice, "describe": Trace}


def failures(run: Run) -> int:
    return sum(isinstance(attempt.prediction, Failure) for attempt in run.attempts)


def found_early(benchmark: Benchmark, run: Run) -> float:
    """How much grade the first five of each ranking hold."""
    total = 0
    for attempt in run.attempts:
        truth = benchmark.truth[attempt.task_id]
        if isinstance(truth, Relevance) and isinstance(attempt.prediction, Ranking):
            total += sum(truth.grades.get(picture, 0) for picture in attempt.prediction.pictures[:5])
    return total


def test_three_systems_that_say_they_are_samples(benchmark_of_samples: Benchmark) -> None:
    runs = sample_runs(benchmark_of_samples)
    assert [run.system for run in runs] == ["sample-strong", "sample-middling", "sample-weak"]
    assert all(run.parameters["made_up"] is True for run in runs)


def test_each_task_has_one_attempt_in_its_form(benchmark_of_samples: Benchmark) -> None:
    for run in sample_runs(benchmark_of_samples):
        assert [attempt.task_id for attempt in run.attempts] == list(benchmark_of_samples.tasks)
        for attempt in run.attempts:
            kind = benchmark_of_samples.tasks[attempt.task_id].kind
            assert isinstance(attempt.prediction, FORMS[kind] | Failure)


def test_predictions_name_only_what_exists(benchmark_of_samples: Benchmark) -> None:
    known = set(benchmark_of_samples.corpus.pictures)
    for run in sample_runs(benchmark_of_samples):
        for attempt in run.attempts:
            match attempt.prediction:
                case Ranking(pictures, scores):
                    assert set(pictures) <= known
                    assert scores is not None
                    assert list(scores) == sorted(scores, reverse=True)
                    assert len(pictures) == len(scores) == len(set(pictures))
                case PictureSet(pictures):
                    assert set(pictures) <= known
                case Choice(option):
                    assert option in {choice.key for choice in benchmark_of_samples.tasks[attempt.task_id].options}


def test_strength_and_failures_go_the_right_way(benchmark_of_samples: Benchmark) -> None:
    strong, middling, weak = sample_runs(benchmark_of_samples)
    assert found_early(benchmark_of_samples, strong) > found_early(benchmark_of_samples, middling)
    assert found_early(benchmark_of_samples, middling) > found_early(benchmark_of_samples, weak)
    assert failures(strong) == 0
    assert 0 < failures(middling) < failures(weak) < len(weak.attempts)


def test_runs_are_the_same_for_a_seed_and_others_for_another(benchmark_of_samples: Benchmark) -> None:
    assert sample_runs(benchmark_of_samples, 3) == sample_runs(benchmark_of_samples, 3)
    assert sample_runs(benchmark_of_samples, 3) != sample_runs(benchmark_of_samples, 4)


def test_the_ledger_has_a_line_for_each_attempt(benchmark_of_samples: Benchmark) -> None:
    for run in sample_runs(benchmark_of_samples):
        assert [entry.task_id for entry in run.ledger] == [attempt.task_id for attempt in run.attempts]
        assert sum(not entry.ok for entry in run.ledger) == failures(run)
