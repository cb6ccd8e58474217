"""`sightline.assess`: what is asked, what is kept, and what is said; with several people, bad runs and sudden ends."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sightline
from sightline import Benchmark, Failure, Pair, Run, UserError
from sightline.assessment import Assessment, assess
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.exchange import validate
from sightline.runs.folder import write_run
from sightline.types import Group, Judgment, PictureRef
from sightline.types.task import WEIGHT

PICTURES = [f"p{number:02}" for number in range(60)]
QUERIES = {f"q{number:02}": f"query {number}" for number in range(40)}


def _relevant(seed: int = 0) -> dict[str, dict[str, int]]:
    rng = np.random.default_rng(seed)
    return {query: {one: 3 * int(rng.random() < 0.3) for one in PICTURES} for query in QUERIES}


RELEVANT = _relevant()


def _rankings(noise: float, seed: int = 1) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    return {
        query: sorted(PICTURES, key=lambda one: -(grades[one] / 3 + noise * rng.normal()))[:10]
        for query, grades in RELEVANT.items()
    }


@pytest.fixture
def bench(tmp_path: Path) -> Benchmark:
    made = Benchmark.from_tables(PICTURES, QUERIES, {query: {"p00": 0} for query in QUERIES})
    return write_benchmark(made, tmp_path / "bench")


def _runs(bench: Benchmark, good: float = 0.3, bad: float = 1.2) -> list[Run]:
    both = {"bad": _rankings(bad, 1), "good": _rankings(good, 2)}
    return [Run.from_rankings(found, benchmark=bench, system=name) for name, found in both.items()]


def _truth(pair: Pair) -> int:
    return RELEVANT[pair.task][pair.picture]


def _judge(found: Assessment, decisions: int = 10_000) -> None:
    while not found.settled and found.spent < decisions:
        pair = found.next()[0]
        found.tell(pair, _truth(pair))  # type: ignore[arg-type]


def test_the_better_system_is_found_from_few_decisions(bench: Benchmark) -> None:
    found = assess(bench, _runs(bench))
    _judge(found)
    (pair,) = found.comparison().pairs
    assert (pair.first, pair.second) == ("bad", "good")
    assert pair.difference.low > 0
    assert pair.is_win(0.95)
    assert found.spent < 150 < 40 * 14
    assert "good against bad" in str(found.comparison())
    assert str(found.scores()["good"]).count("–") >= 2  # Duels say nothing of what both found.


def test_scores_are_measured_to_the_width_asked_for(bench: Benchmark) -> None:
    found = assess(bench, _runs(bench)[1:], goal="score", half_width=0.1)
    while not found.settled:
        for pair in found.next(10):
            found.tell(pair, _truth(pair))  # type: ignore[arg-type]
    weights = 1 / np.log2(np.arange(2, 12))
    ranked = [[RELEVANT[query][one] / 3 for one in pictures] for query, pictures in _rankings(0.3, 2).items()]
    truth = float((np.array(ranked) @ weights).mean() / weights.sum())
    estimate = found.scores()["good"]["dcg@10"]
    assert estimate.low <= truth <= estimate.high
    assert estimate.high - estimate.low <= 0.2


def test_the_same_call_goes_on_where_it_was(bench: Benchmark) -> None:
    assert bench.folder is not None
    first = assess(bench, _runs(bench))
    _judge(first, 21)
    again = assess(bench.folder, _runs(bench))
    assert again.spent == 21
    assert again.next() == first.next()
    assert str(again.comparison()) == str(first.comparison())
    assert not [problem for problem in validate(bench.folder) if problem.file != "pictures.jsonl"]


_KILLED = """
import os, signal, sys
import sightline
found = sightline.assess(sys.argv[1], sys.argv[2:])
for number in range(7):
    found.tell(found.next()[0], number % 4)
    print(number, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_loses_no_decision(bench: Benchmark, tmp_path: Path) -> None:
    for run in _runs(bench):
        write_run(run, tmp_path / run.system)
    arguments = [str(tmp_path / name) for name in ("bench", "bad", "good")]
    killed = subprocess.run([sys.executable, "-c", _KILLED, *arguments], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with (tmp_path / "bench" / "reviews.jsonl").open("ab") as file:
        file.write(b'{"task": "q00", "pict')  # A line that a writer did not finish.
    found = sightline.assess(arguments[0], arguments[1:])
    assert found.spent == 7
    found.tell(found.next()[0], 0)
    assert sightline.assess(arguments[0], arguments[1:]).spent == 8


def test_two_processes_see_each_other(bench: Benchmark) -> None:
    first, second = assess(bench, _runs(bench)), assess(bench, _runs(bench))
    pair = first.next()[0]
    assert not first.has_told(pair)
    second.tell(pair, 2)
    assert first.has_told(pair) and not first.has_told(pair, "bob")
    assert first.spent == 1
    assert first.next()[0] != pair


def test_undo_takes_back_the_last_decision_of_that_person(bench: Benchmark) -> None:
    found = assess(bench, _runs(bench), people=2)
    (first,) = found.next(person="ann")
    found.tell(first, 3, "ann")
    (other,) = found.next(person="bob")
    found.tell(other, 0, "bob")
    assert found.undo("ann") == first
    assert found.spent == 1
    assert found.next(person="ann")[0] == first
    assert found.undo("ann") is None
    assert found.undo("bob") == other


def test_people_share_the_work_and_overlap_by_lot(bench: Benchmark) -> None:
    found = assess(bench, _runs(bench, bad=0.4), people=3)
    rng = np.random.default_rng(3)
    for number in range(300):
        person = ("ann", "bob", "cy")[number % 3]
        pair = found.next(person=person)[0]
        wrong = rng.random() < 0.1
        found.tell(pair, 3 - _truth(pair) if wrong else _truth(pair), person)  # type: ignore[arg-type]
    asked: dict[tuple[str, str], list[str]] = {}
    for review in read_benchmark(bench.folder or "").reviews:
        asked.setdefault((review.task, review.picture or ""), []).append(review.person)
    assert all(len(set(people)) == len(people) for people in asked.values())  # Nobody is asked twice.
    twice = sum(len(people) > 1 for people in asked.values())
    assert 0.1 < twice / len(asked) < 0.4
    assert any(len(people) == 3 for people in asked.values())
    agreement = found.agreement()
    assert agreement is not None
    assert agreement.n == twice
    assert agreement.kappa.value is not None and agreement.kappa.low is not None
    assert 0.3 < agreement.kappa.value < 1
    assert agreement.kappa.low < agreement.kappa.value


def test_what_nobody_can_tell_counts_half_and_goes_to_another_person(bench: Benchmark) -> None:
    found = assess(bench, _runs(bench), people=2)
    pair = found.next(person="ann")[0]
    found.tell(pair, "can't tell", "ann")
    assert found.next(person="bob")[0] == pair
    assert pair not in found.next(50, person="ann")
    assert "no person could tell for 1 picture" in str(found.comparison())
    found.tell(pair, 3, "bob")
    assert "no person could tell" not in str(found.comparison())


FAILED = ("q00", "q01", "q02", "q03")
"""A tenth of the queries."""


def _failing(bench: Benchmark, failing: dict[str, list[str]], other: dict[str, list[str]]) -> list[Run]:
    given = {query: Failure("timeout", "late") if query in FAILED else found for query, found in failing.items()}
    return [Run.from_rankings(one, benchmark=bench, system=name) for name, one in (("f", given), ("g", other))]


def _dcg(rankings: dict[str, list[str]], but: tuple[str, ...] = ()) -> float:
    """By the definition, failed queries at zero."""
    weights = 1 / np.log2(np.arange(2, 12))
    gains = [[RELEVANT[q][one] / 3 for one in found] for q, found in rankings.items() if q not in but]
    return float((np.array(gains) @ weights).sum() / weights.sum() / len(rankings))


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_a_failed_query_counts_as_zero_and_nobody_is_asked_about_it(bench: Benchmark, noise: float) -> None:
    """The interval holds the true difference, in which the failing system has zero there, without one decision."""
    first, second = _rankings(noise, 2), _rankings(0.9, 3)
    found = assess(bench, _failing(bench, first, second), half_width=0.001)
    asked = found.next(10_000)
    assert asked and not {pair.task for pair in asked} & set(FAILED)
    for pair in asked:
        found.tell(pair, _truth(pair))  # type: ignore[arg-type]
    truth = _dcg(second) - _dcg(first, FAILED)
    (pair_of,) = found.comparison().pairs
    assert pair_of.difference.low <= truth <= pair_of.difference.high
    assert abs(pair_of.difference.mean - truth) < 0.02
    assert pair_of.difference.high - pair_of.difference.low == pytest.approx(0.1)  # A tenth can be worth so much.
    assert "f failed on 4 queries; each counts as zero, nobody is asked" in str(found.comparison())
    assert found.settled
    scores = assess(bench, _failing(bench, first, second), goal="score").scores()["f"]
    assert scores.failures == {"no ranking": 4}
    assert scores["dcg@10"].failures == 4


def test_where_only_failures_tell_two_systems_apart_the_answer_says_so(bench: Benchmark) -> None:
    same = _rankings(0.5)
    found = assess(bench, _failing(bench, same, same))
    assert (found.settled, found.next()) == (True, [])
    assert found.answer() == (
        "Settled after 0 decisions: no winner; g is ahead; it differs from f by 0.10 dcg@10 at most (more in nDCG@10); "
        "run f again on failed queries to know more."
    )


def test_failures_do_not_hide_a_winner_and_others_are_still_asked_about(bench: Benchmark) -> None:
    """A third system that answered is compared on the queries that another failed on."""
    f, g = _failing(bench, _rankings(2.0, 2), _rankings(0.1, 3))
    h = Run.from_rankings(_rankings(0.8, 4), benchmark=bench, system="h")
    found = assess(bench, [f, g, h])
    assert {pair.task for pair in found.next(10_000)} & set(FAILED)
    _judge(found)
    assert "g is better than f and h" in found.answer()
    assert found.comparison().pairs[0].is_win(0.95)


def test_unknown_ids_are_never_asked_about(bench: Benchmark) -> None:
    strange = {query: ["gone.jpg", *found[:9]] for query, found in _rankings(0.3, 2).items()}
    found = assess(bench, _failing(bench, strange, _rankings(0.3, 3)))
    assert {pair.picture for pair in found.next(400)} <= set(PICTURES)
    assert "f returned 36 ids that are not in the corpus" in str(found.comparison())


def test_no_winner_means_that_the_difference_is_surely_small(bench: Benchmark) -> None:
    found = assess(bench, _runs(bench, 0.8, 0.85), half_width=0.1)
    _judge(found)
    (pair,) = found.comparison().pairs
    assert found.settled and pair.difference.low < 0 < pair.difference.high
    assert max(-pair.difference.low, pair.difference.high) <= 0.1
    assert "no winner" in found.answer() and "dcg@10 at most" in found.answer()


def test_queries_count_by_their_traffic(bench: Benchmark) -> None:
    """The first query is asked a thousand times as often as the others together: it decides."""
    tasks = {id_: replace(task, extra={WEIGHT: 39_000 if id_ == "q00" else 1}) for id_, task in bench.tasks.items()}
    weighted = replace(bench, tasks=tasks, folder=None)
    better = _rankings(0.0)["q00"]
    worse = [one for one in PICTURES if not RELEVANT["q00"][one]][:10]
    first = Run.from_rankings(_rankings(0.0) | {"q00": worse}, system="mostly")
    second = Run.from_rankings(_rankings(3.0) | {"q00": better}, system="once")
    found = assess(weighted, [first, second])
    assert found.next()[0].task == "q00"
    _judge(found)
    (pair,) = found.comparison().pairs
    assert pair.difference.low > 0
    assert pair.difference.mean > 0.9
    assert found.spent < 40


def test_runs_that_are_kept_in_the_benchmark_need_not_be_named(bench: Benchmark) -> None:
    for run in _runs(bench):
        write_run(run, (bench.folder or Path()) / "runs" / run.system)
    done = _terminal("q\n", str(bench.folder))
    assert "good against bad" in done.stdout, done.stderr


def test_copies_are_judged_once(bench: Benchmark) -> None:
    pictures = {
        id_: replace(one, sha256="a" * 64) if id_ in ("p01", "p02") else one
        for id_, one in bench.corpus.pictures.items()
    }
    corpus = replace(bench.corpus, pictures=pictures, groups=(Group("d", "duplicate", ("p05", "p06", "p07")),))
    copied = replace(bench, corpus=corpus, folder=None)
    first = Run.from_rankings({"q00": ["p01", "p05", "p09"]}, system="a")
    second = Run.from_rankings({"q00": ["p02", "p10", "p07"]}, system="b")
    found = assess(copied, [first, second])
    asked = found.next(10)
    assert sorted(pair.picture for pair in asked) == ["p05", "p09", "p10"]  # p01 and p02 are one, at the same rank.


def test_a_benchmark_in_memory_keeps_decisions_in_memory(bench: Benchmark) -> None:
    found = assess(replace(bench, folder=None), _runs(bench))
    found.tell(found.next()[0], 3)
    assert found.spent == 1
    assert not (bench.folder or Path()).joinpath("reviews.jsonl").exists()


def test_a_models_grades_save_decisions_and_are_told_of(bench: Benchmark) -> None:
    rng = np.random.default_rng(5)
    runs = _runs(bench, 0.5, 0.6)

    def judged(right: float) -> Benchmark:
        said = [
            Judgment(query, one, "model", int((grade > 0) == (rng.random() < right)), 0.9)
            for query, grades in RELEVANT.items()
            for one, grade in grades.items()
        ]
        return replace(bench, judgments=tuple(said), folder=None)

    widths = {}
    for right in (0.97, 0.5):
        found = assess(judged(right), runs, half_width=0.001)
        _judge(found, 160)
        (pair,) = found.comparison().pairs
        widths[right] = pair.difference.high - pair.difference.low
        assert "the model's grades saved" in str(found.comparison())
    assert widths[0.97] < 0.8 * widths[0.5]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"goal": "win"}, "goal"),
        ({"half_width": 0}, "half_width"),
        ({"people": 0}, "people"),
        ({"runs": 1}, "needs a list of 2 runs"),
    ],
)
def test_bad_arguments_are_refused_with_a_fix(bench: Benchmark, options: dict[str, object], said: str) -> None:
    runs = _runs(bench)[: int(str(options.pop("runs", 2)))]
    with pytest.raises(UserError, match=said):
        assess(bench, runs, **options)  # type: ignore[arg-type]


def test_bad_runs_grades_and_names_are_refused(bench: Benchmark) -> None:
    with pytest.raises(UserError, match="needs a list"):
        assess(bench, "run")
    none = replace(_runs(bench)[0], attempts=())
    with pytest.raises(UserError, match="no ranking for any task"):
        assess(bench, [none, none])
    other = replace(_runs(bench)[0], benchmark_checksum="0" * 64)
    with pytest.raises(UserError, match="another version"):
        assess(bench, [other, *_runs(bench)])
    found = assess(bench, _runs(bench))
    pair = found.next()[0]
    for grade in (4, -1, True, "3", None):
        with pytest.raises(UserError, match="not a grade"):
            found.tell(pair, grade)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="not part of this assessment"):
        found.tell(replace(pair, picture="gone.jpg"), 3)
    with pytest.raises(UserError, match="person's name"):
        found.next(person=" ")
    with pytest.raises(UserError, match="at least 1"):
        found.next(0)
    assert found.spent == 0


def test_decisions_count_whatever_the_order_of_the_systems(bench: Benchmark) -> None:
    runs = _runs(bench, 0.3, 0.6)
    one = assess(bench, runs)
    _judge(one, 60)
    (there,), (back,) = one.comparison().pairs, assess(bench, runs[::-1]).comparison().pairs
    assert (back.first, back.second) == (there.second, there.first)
    assert back.difference.mean == pytest.approx(-there.difference.mean)
    assert back.difference.low == pytest.approx(-there.difference.high)
    assert back.difference.n == there.difference.n > 10


def test_decisions_count_when_another_system_joins(bench: Benchmark) -> None:
    runs = _runs(bench, 0.3, 0.6)
    _judge(assess(bench, runs), 60)
    joined = assess(bench, [Run.from_rankings(_rankings(0.9, 7), benchmark=bench, system="also"), *runs])
    before = assess(bench, runs).comparison().pairs[0].difference
    after = next(one.difference for one in joined.comparison().pairs if "also" not in (one.first, one.second))
    assert after.mean == pytest.approx(before.mean)
    assert after.n == before.n > 10


def test_systems_that_return_nothing_are_told_of_and_neither_is_ahead(bench: Benchmark) -> None:
    empty: dict[str, list[str]] = {query: [] for query in QUERIES}
    nothing = [Run.from_rankings(empty, benchmark=bench, system=name) for name in ("a", "b")]
    found = assess(bench, nothing)
    assert found.answer() == "Settled after 0 decisions: no winner; it differs from b by 0.00 dcg@10 at most."
    assert "a returned no picture for 40 queries" in str(found.comparison())


def test_before_the_first_decision_no_interval_is_shown(bench: Benchmark) -> None:
    found = assess(bench, _runs(bench))
    assert "[nothing judged yet]" in str(found.comparison())
    assert repr(found) == "<Assessment: bad and good on benchmark: not settled yet after 0 decisions>"


def test_two_runs_of_one_name_are_told_apart(bench: Benchmark) -> None:
    found = assess(bench, [_runs(bench)[0], _runs(bench, bad=0.9)[0]])
    assert found.systems == ("bad", "bad (2)")


def test_the_outlook_says_what_half_an_hour_can_settle(bench: Benchmark) -> None:
    found = assess(bench, _runs(bench)).outlook()
    assert found.decisions == 450
    assert "In 30 minutes (about 450 decisions)" in str(found)
    assert 0 < found.difference < 0.2


def _terminal(keys: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sightline", "assess", *map(str, arguments), "--no-open"]
    return subprocess.run(command, input=keys, capture_output=True, text=True, check=False)


def test_the_terminal_takes_keys_and_goes_on(bench: Benchmark, tmp_path: Path) -> None:
    for run in _runs(bench):
        write_run(run, tmp_path / run.system)
    places = [tmp_path / name for name in ("bench", "bad", "good")]
    done = _terminal("3\n0\nu\n1\nwhat\n?\ns\nq\n", *places)
    assert done.returncode == 0, done.stderr
    assert "Not settled yet after 4 decisions." in done.stdout
    assert "good against bad" in done.stdout
    assert "In 30 minutes" in done.stderr
    told = json.loads(_terminal("", *places, "--json").stdout)
    assert (told["spent"], told["settled"]) == (4, False)
    decisions = [one.decision for one in read_benchmark(places[0]).reviews]
    assert decisions == ["3", "0", "withdraw", "1", "can't tell", "skip"]


def test_a_search_by_picture_shows_the_picture_of_the_query(bench: Benchmark, tmp_path: Path) -> None:
    tasks = {id_: replace(task, prompt=(PictureRef("p59"),)) for id_, task in bench.tasks.items()}
    shown = write_benchmark(replace(bench, tasks=tasks), tmp_path / "by-picture")
    for run in _runs(shown):
        write_run(run, tmp_path / run.system)
    pair = assess(shown, [tmp_path / "bad", tmp_path / "good"]).next()[0]
    assert (pair.text, pair.shown) == ("", (shown.corpus.pictures["p59"].uri,))
    done = _terminal("0\nq\n", *(tmp_path / name for name in ("by-picture", "bad", "good")))
    assert re.search(r"like .*p59\n  \S*p\d\d\n1> ", done.stderr)
