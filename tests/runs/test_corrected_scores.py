"""Corrected scores on benchmarks whose judge is wrong in known ways: no bias, and intervals that hold."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from sightline.benchmark.provenance import CARD_FIELD, Provenance
from sightline.benchmark.review_decisions import labels_of
from sightline.benchmark.review_sample import sample_of
from sightline.metrics.blind_rows import BaselineScore
from sightline.metrics.comparison import Comparison, compare
from sightline.metrics.evaluation import evaluate
from sightline.metrics.labels.corrected import Corrected, within
from sightline.metrics.scores import Scores, read_scores, write_scores
from sightline.runs.corrected_scores import with_corrections
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
        found = with_corrections(scores, decided(made, truth, 100), run).corrected["p@5"]
        misses.append(found.mean - real)
        held.append(found.low <= real <= found.high)
        plain.append(precision(made, run) - real)
    assert np.mean(plain) > 0.05  # The run follows the judge, errors and all.
    assert abs(np.mean(misses)) < 3 * np.std(misses) / np.sqrt(len(misses)) < 0.02
    assert sum(held) >= 54


def test_without_a_draw_or_with_a_part_of_the_tasks_nothing_is_corrected() -> None:
    made, truth, run = judged(0)
    scores = evaluate(made, run, ("p@5",), resamples=20)
    assert with_corrections(scores, made, run).corrected == {}
    people = decided(made, truth, 100)
    assert with_corrections(scores, replace(people, reviews=people.reviews[:60]), run).corrected == {}
    part = evaluate(made, run, ("p@5",), resamples=20, limit=10)
    assert with_corrections(part, people, run).corrected == {}
    given = replace(people, card={CARD_FIELD: Provenance("given").to_json()})
    assert with_corrections(scores, given, run).corrected == {}


def follows(truth: Benchmark, seed: int, system: str) -> Run:
    """A run that ranks by these labels, as it happens where they are equal."""
    lot = random.Random(seed)
    attempts = []
    for task, said in truth.truth.items():
        assert isinstance(said, Relevance)
        grades = said.grades
        order = sorted(grades, key=lambda one: (-grades[one], lot.random()))
        attempts.append(Attempt(task, Ranking(tuple(order))))
    return Run("made", system, tuple(attempts))


def scored(people: Benchmark, run: Run, metrics: tuple[str, ...]) -> Scores:
    return with_corrections(evaluate(people, run, metrics, resamples=50), people, run)


def test_the_winner_is_named_by_what_people_decided_and_not_by_the_labels() -> None:
    """One run follows the judge, the other the truth: by the labels the first is better, in truth the second."""
    right, wrong = 0, 0
    for seed in range(10):
        made, truth, _ = judged(seed)
        people = decided(made, truth, 100)
        runs = follows(made, seed, "judge"), follows(truth, seed, "truth")
        found = compare([scored(people, run, ("p@3",)) for run in runs], resamples=200, flips=200)
        pair = found.of("p@3")[0]
        assert pair.as_labelled is not None and pair.as_labelled.p is not None and pair.difference.p is not None
        assert pair.as_labelled.mean < -0.02 and pair.as_labelled.p < 0.1
        assert pair.difference.method == "prediction-powered"
        assert (pair.difference.p < 0.05) == (not pair.difference.low <= 0 <= pair.difference.high)
        right += pair.is_win(0.95) and pair.difference.mean > 0
        wrong += pair.is_win(0.95) and pair.difference.mean < 0
        first, second = found.standings["p@3"]
        if pair.is_win(0.95):
            assert (first.system, first.letters, second.letters) == ("truth", "a", "b")
            assert first.estimate.mean > second.estimate.mean and first.estimate.method == "prediction-powered"
    assert right >= 8 and not wrong


@pytest.mark.parametrize("metric", ["p@3", "recall@3", "ndcg@3", "rr", "map"])
def test_differences_are_those_that_people_would_give_to_all_labels(metric: str) -> None:
    """With normalizers frozen, which decisions about all labels keep; RR and AP against the classical metric."""
    misses, held = [], []
    for seed in range(20):
        made, truth, _ = judged(seed)
        runs = follows(made, seed, "judge"), judged(seed + 100)[2]
        values = []
        for people in (decided(made, truth, 200), decided(made, truth, QUERIES * POOL)):
            pair = compare([scored(people, run, (metric,)) for run in runs], resamples=50, flips=50).of(metric)[0]
            assert pair.as_labelled is not None
            values.append(pair.difference)
        real = values[1].mean
        if metric in ("rr", "map"):
            first, second = (evaluate(truth, run, (metric,), resamples=10).overall[metric].mean for run in runs)
            real = second - first
        misses.append(values[0].mean - real)
        held.append(values[0].low <= real <= values[0].high)
    assert abs(np.mean(misses)) < 0.04
    assert sum(held) >= 17


def _both(people: Benchmark, other: Benchmark | None = None, metrics: tuple[str, ...] = ("p@3", "rr")) -> Comparison:
    made = replace(people, reviews=())
    runs = follows(made, 0, "one"), follows(made, 1, "other")
    return compare(
        [scored(people, runs[0], metrics), scored(other or people, runs[1], metrics)], resamples=50, flips=50
    )


def test_what_was_decided_is_kept_with_the_scores(tmp_path: Path) -> None:
    made, truth, run = judged(0)
    scores = scored(decided(made, truth, 100), run, ("p@3", "rr"))
    write_scores(scores, tmp_path)
    again = read_scores(tmp_path)
    assert again.checked == scores.checked and again.corrected == scores.corrected
    assert again.checked is not None and set(again.checked.metrics) == {"p@3", "rr"}
    assert "checked" not in scores.to_json()


def test_runs_scored_by_other_decisions_are_compared_by_the_labels() -> None:
    made, truth, _ = judged(0)
    found = _both(decided(made, truth, 100), decided(made, truth, 150))
    assert all(pair.as_labelled is None and pair.difference.method != "prediction-powered" for pair in found)
    assert any("score them again" in note for note in found.notes)


def test_what_is_corrected_to_first_order_says_so() -> None:
    made, truth, _ = judged(0)
    found = _both(decided(made, truth, 100))
    assert [note for note in found.notes if "first order" in note] == [
        "rr: corrected to first order; intervals may hold less often than they say"
    ]
    assert "corrected by people's decisions; by the labels" in str(found)
    assert not any("first order" in note for note in _both(decided(made, truth, 100), metrics=("p@3",)).notes)


def test_a_run_against_itself_has_nothing_to_correct() -> None:
    made, truth, run = judged(0)
    scores = scored(decided(made, truth, 100), run, ("p@3",))
    pair = compare([scores, replace(scores, system="copy")], resamples=50, flips=50).of("p@3")[0]
    assert pair.as_labelled is None and pair.difference.mean == 0 and pair.p_adjusted == 1


def test_differences_are_clustered_where_tasks_are() -> None:
    """Queries of an owner err together: the interval over 10 owners is wider than over 50 queries."""
    made, truth, _ = judged(3)
    owners = {task: {"owner": str(number % 10)} for number, task in enumerate(made.tasks)}
    tasks = {id_: replace(task, labels={"owner": (owners[id_]["owner"],)}) for id_, task in made.tasks.items()}
    people = decided(replace(made, tasks=tasks), truth, 200)
    runs = follows(made, 0, "one"), follows(truth, 1, "other")
    found = {}
    for by in (None, "owner"):
        scores = [
            with_corrections(evaluate(people, run, ("p@3",), resamples=50, cluster_by=by), people, run) for run in runs
        ]
        found[by] = compare(scores, resamples=50, flips=50)
    one, other = (found[by].of("p@3")[0].difference for by in (None, "owner"))
    assert found["owner"].clustered_by == "owner" and "clustered by owner" in str(found["owner"])
    assert one.mean == pytest.approx(other.mean, abs=0.05) and one.high - one.low != other.high - other.low


@pytest.mark.parametrize("metric", ["ndcg@3", "map"])
def test_corrected_scores_stay_within_what_a_metric_can_be(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut to [0, 1], they hold the cut truth exactly as often as uncut ones hold the truth, where a run is near 1."""
    held, cut, reached = [], [], 0
    for seed in range(10):
        made, truth, _ = judged(seed)
        run = follows(truth, seed, "truth")
        shown = scored(decided(made, truth, 100), run, (metric,)).corrected[metric]
        assert 0 <= shown.low <= shown.mean <= shown.high <= 1
        with monkeypatch.context() as patched:
            patched.setattr("sightline.runs.corrected_scores.within", lambda found, _: found)
            raw = scored(decided(made, truth, 100), run, (metric,)).corrected[metric]
            real = scored(decided(made, truth, QUERIES * POOL), run, (metric,)).corrected[metric].mean
        held.append(raw.low <= real <= raw.high)
        cut.append(shown.low <= min(real, 1.0) <= shown.high)
        reached += raw.high > 1
        assert any("undercount" in said for said in shown.warnings) == (raw.mean > 1)
    assert reached and all(after or not before for before, after in zip(held, cut, strict=True))


def test_limits_of_differences_are_cut_too_and_those_of_sums_are_not() -> None:
    found = Corrected(0.8, -1.2, 1.3, 0.5, 50, 100, 0, 0.5, 0.5, 9.0, True)
    wide = within(found, "map", difference=True)
    assert (wide.mean, wide.low, wide.high, wide.warnings) == (0.8, -1.0, 1.0, ())
    assert within(found, "dcg@10") == found


def test_a_table_says_what_is_corrected_and_what_goes_by_the_labels() -> None:
    made, truth, _ = judged(0)
    people = decided(made, truth, 100)
    runs = [follows(made, 0, "judge"), follows(truth, 0, "truth"), follows(made, 1, "other")]
    scores = [scored(people, run, ("p@3",)) for run in runs]
    plain = compare([replace(one, corrected={}, checked=None) for one in scores], resamples=50, flips=50)
    blind = BaselineScore("tags", "p@3", scores[0].overall["p@3"], plain.pairs[0].difference, True)
    scores = [replace(one, baselines=(blind,)) for one in scores]
    found = compare(scores, resamples=50, flips=50)
    assert str(found).startswith("p@3: corrected by people's decisions\n")
    assert "see no pixel, p@3 (by the labels, not corrected):" in str(found)
    page = found._repr_html_()
    assert "p@3: corrected by people" in page and "blind:by=tags (by the labels, not corrected)" in page
    assert "sees no pixel (by the labels, not corrected)" in str(scores[0])
    assert "sees no pixel (by the labels, not corrected)" in scores[0]._repr_html_()
    assert "corrected" not in str(plain) and "corrected" not in str(replace(scores[0], corrected={}))


def test_a_pair_that_goes_by_the_labels_says_so() -> None:
    """A system that finds nothing has no corrected score."""
    made, truth, run = judged(0)
    people = decided(made, truth, 100)
    nothing = Run("made", "nothing", tuple(Attempt(task, Ranking(())) for task in made.tasks))
    found = compare([scored(people, one, ("p@3",)) for one in (run, nothing)], resamples=50, flips=50)
    assert found.pairs[0].as_labelled is None
    assert "nothing against system goes by the labels: one of them has no corrected p@3" in found.notes
