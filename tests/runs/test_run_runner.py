"""The runner: what is kept, what is run again, what a system gets to see."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import orjson
import pytest

import sightline
from runs.run_world import Scripted, coloured
from sightline import dry_run
from sightline.benchmark.folder import read_benchmark
from sightline.errors import SightlineError, StoppedError, UserError
from sightline.runs.folder import read_run
from sightline.runs.runner import run
from sightline.runs.systems.base import Outcome, attempt_number
from sightline.types import Benchmark, Choice, Failure, LedgerEntry, PictureSet, Ranking, Task, Text


@pytest.fixture(scope="module")
def colours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return coloured(tmp_path_factory.mktemp("colours"))


def test_a_run_holds_system_parameters_predictions_and_times(colours: Path, tmp_path: Path) -> None:
    system = Scripted()
    system.parameters = {"depth": 3, "api_key": "abc123"}  # type: ignore[attr-defined]
    done = run(colours, system, tmp_path / "run", seed=7)
    kept = read_run(tmp_path / "run")
    assert kept.system == "scripted" and kept.seed == 7
    assert kept.parameters == {"depth": 3, "api_key": "***"}
    assert kept.benchmark_checksum == read_benchmark(colours).checksum
    assert [attempt.task_id for attempt in kept.attempts] == list(read_benchmark(colours).tasks)
    timed = [entry for entry in kept.ledger if entry.stage == "run"]
    assert [entry.task_id for entry in timed] == system.asked
    assert all(entry.seconds is not None and entry.ok for entry in timed)
    assert (done.attempts, done.made, done.answered, done.tasks, done.latency.n) == (10, 10, 10, 10, 10)


def test_a_system_sees_no_truth_and_no_hidden_group(colours: Path, tmp_path: Path) -> None:
    system = Scripted()
    run(colours, system, tmp_path / "run")
    for shown in system.shown:
        assert not shown.truth and not shown.judgments and not shown.candidates
        assert all(not group.hidden for group in shown.corpus.groups)
        assert "secret party" not in str(shown)
        assert not any(task.labels or task.extra for task in shown.tasks.values())
    scope = system.shown[0].tasks["at the party"].scope
    assert set(scope.pictures) == {"ana/red.png", "ana/blue.png"} and not scope.groups


def test_what_is_done_is_not_done_again(colours: Path, tmp_path: Path) -> None:
    first = Scripted()
    run(colours, first, tmp_path / "run", limit=4)
    second = Scripted()
    done = run(colours, second, tmp_path / "run")
    assert len(first.asked) == 4 and len(second.asked) == 6 and not set(first.asked) & set(second.asked)
    assert (done.attempts, done.made) == (10, 6)
    third = Scripted()
    done = run(colours, third, tmp_path / "run", repeat=3)
    assert Counter(third.asked) == dict.fromkeys(read_benchmark(colours).tasks, 2) and done.attempts == 30


def test_each_attempt_knows_its_number(colours: Path, tmp_path: Path) -> None:
    run(colours, Scripted(lambda task: Text(str(attempt_number()))), tmp_path / "run", repeat=3, concurrency=5)
    for attempt in read_run(tmp_path / "run").attempts:
        assert attempt.prediction == Text(str(attempt.number))


def test_failures_are_values_and_counted(colours: Path, tmp_path: Path) -> None:
    def said(task: Task) -> Ranking | Failure:
        if task.id == "say":
            return Failure("timeout", "no reply", retryable=True)
        return Failure("refusal", "no") if task.id == "which" else Ranking(())

    done = run(colours, Scripted(said), tmp_path / "run")
    assert done.failures == {"timeout": 1, "refusal": 1} and done.answered == 8 and done.latency.n == 8
    again = Scripted()
    assert run(colours, again, tmp_path / "run").made == 0
    done = run(colours, again, tmp_path / "run", retry_failed=True)
    assert again.asked == ["say"] and done.failures == {"refusal": 1} and done.attempts == 10


def test_a_fault_of_a_system_from_elsewhere_is_a_failure_of_the_task(colours: Path, tmp_path: Path) -> None:
    def said(task: Task) -> Ranking:
        if task.id == "red":
            raise ZeroDivisionError("oops")
        return Ranking(())

    done = run(colours, Scripted(said), tmp_path / "run")
    assert done.failures == {"crashed": 1}
    failed = next(one.prediction for one in read_run(tmp_path / "run").attempts if one.task_id == "red")
    assert failed == Failure("crashed", "ZeroDivisionError: oops")


def test_a_stop_keeps_what_was_done(colours: Path, tmp_path: Path) -> None:
    def said(task: Task) -> Ranking:
        if task.id == "both":
            raise StoppedError("the budget is spent")
        return Ranking(())

    with pytest.raises(StoppedError):
        run(colours, Scripted(said), tmp_path / "run")
    assert [attempt.task_id for attempt in read_run(tmp_path / "run").attempts] == ["red", "blue of ben", "like it"]
    rest = Scripted()
    assert run(colours, rest, tmp_path / "run").attempts == 10 and "red" not in rest.asked


def test_no_more_at_once_than_allowed(colours: Path, tmp_path: Path) -> None:
    class Counting:
        concurrency = 3
        now = most = 0

        async def attempt(self, task: Task, bench: Benchmark) -> Ranking:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.01)
            self.now -= 1
            return Ranking(())

    system = Counting()
    run(colours, system, tmp_path / "run")
    assert system.most == 3
    assert read_run(tmp_path / "run").system == "Counting"
    other = Counting()
    run(colours, other, tmp_path / "one", concurrency=1)
    assert other.most == 1


def test_tasks_that_a_system_does_not_do_are_left_out_and_said(colours: Path, tmp_path: Path) -> None:
    system = Scripted(lambda task: Choice("A"))
    system.kinds = frozenset(("choose",))  # type: ignore[attr-defined]
    done = run(colours, system, tmp_path / "run")
    assert done.attempts == 3 and done.left_out == {"rank": 4, "select": 2, "answer": 1}


def test_a_run_of_nothing_is_refused_and_says_what_the_system_can_do(colours: Path, tmp_path: Path) -> None:
    system = Scripted(lambda task: Choice("A"))
    system.kinds = frozenset(("choose", "answer"))  # type: ignore[attr-defined]
    can = 'scripted can do answer and choose tasks, and "colours" has only rank tasks among the first 2 tasks'
    for planned in (False, True):
        with pytest.raises(UserError, match=can) as refused:
            if planned:
                dry_run(run, colours, system, tmp_path / "run", limit=2)
            run(colours, system, tmp_path / "run", limit=2)
        assert "rank tasks" in str(refused.value.fix) and "--limit (limit=)" in str(refused.value.fix)
    assert not (tmp_path / "run").exists()


def test_a_plan_says_why_nothing_or_less_is_asked(colours: Path, tmp_path: Path) -> None:
    system = Scripted(lambda task: Choice("A"))
    system.kinds = frozenset(("choose",))  # type: ignore[attr-defined]
    plan = dry_run(run, colours, system, tmp_path / "run")
    assert "no chat model would be called" in repr(plan) and "no chat model would be called" in str(plan)
    assert plan.notes == ("Left out, because such a system does not do them: 4 rank, 2 select, 1 answer.",)
    run(colours, system, tmp_path / "run")
    assert dry_run(run, colours, system, tmp_path / "run").notes[0].endswith("run already.")


def test_calls_and_prices_go_to_the_ledger(colours: Path, tmp_path: Path) -> None:
    def said(task: Task) -> Outcome:
        call = LedgerEntry("ask", "model", task.id, tokens_in=5, usd=0.5)
        return Outcome(Text("x"), seconds=2.5, usd=0.25, entries=(call,))

    done = run(colours, Scripted(said), tmp_path / "run", limit=1)
    ask, attempt = done.run.ledger
    assert (ask.usd, attempt.usd, attempt.seconds, done.latency.p50) == (0.5, 0.25, 2.5, 2.5)


def test_a_system_is_prepared_before_and_closed_after_also_when_it_can_not_begin(colours: Path, tmp_path: Path) -> None:
    class Opened(Scripted):
        def __init__(self) -> None:
            super().__init__()
            self.log: list[str] = []

        def prepare(self) -> list[LedgerEntry]:
            self.log.append("prepared")
            return [LedgerEntry("index", "words", seconds=3.0)]

        async def close(self) -> None:
            self.log.append("closed")

    system = Opened()
    done = run(colours, system, tmp_path / "run")
    assert system.log == ["prepared", "closed"] and done.latency.index == 3.0
    other = Opened()
    other.name = "another"
    with pytest.raises(UserError, match="started with system"):
        run(colours, other, tmp_path / "run")
    assert other.log == ["prepared", "closed"]


@pytest.mark.parametrize("options", [{"repeat": 0}, {"limit": 0}, {"concurrency": 0}])
def test_numbers_that_run_nothing_are_refused(colours: Path, tmp_path: Path, options: dict[str, int]) -> None:
    with pytest.raises(UserError, match="would run nothing"):
        run(colours, "oracle", tmp_path / "run", **options)  # type: ignore[arg-type]


def test_a_run_is_not_written_over_something_else(colours: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a benchmark"):
        run(colours, "oracle", colours)
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="is a file"):
        run(colours, "oracle", tmp_path / "file")
    with pytest.raises(UserError, match="no attempt"):
        run(colours, object(), tmp_path / "run")  # type: ignore[arg-type]


def test_another_seed_or_option_is_another_run(colours: Path, tmp_path: Path) -> None:
    run(colours, "blind:by=random", tmp_path / "run", seed=1)
    with pytest.raises(UserError, match="seed"):
        run(colours, "blind:by=random", tmp_path / "run", seed=2)
    with pytest.raises(UserError, match=r"system|parameters"):
        run(colours, "blind:by=random,k=3", tmp_path / "run", seed=1)


def test_the_oracle_is_right_everywhere(colours: Path, tmp_path: Path) -> None:
    sightline.run(colours, "oracle", tmp_path / "run")
    scores = sightline.score(colours, tmp_path / "run")
    assert {name: found.mean for name, found in scores.overall.items()} == dict.fromkeys(
        ("ndcg@10", "map", "rr@10", "recall@100", "em", "f1", "answer", "accuracy"), 1.0
    ) | {"p@10": scores.overall["p@10"].mean}


def test_the_summary_is_ready_for_json_and_pandas(colours: Path, tmp_path: Path) -> None:
    done = run(colours, "oracle", tmp_path / "run")
    said = orjson.loads(orjson.dumps(done.to_json()))
    assert said["attempts"] == 10 and said["failures"] == {} and said["system"] == "oracle"
    pytest.importorskip("pandas")
    assert len(done.to_pandas()) == 10


def test_a_fault_of_our_own_ends_the_run(colours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("sightline.runs.systems.oracle.Oracle.attempt", broken)
    with pytest.raises(ZeroDivisionError):
        run(colours, "oracle", tmp_path / "run")


def test_a_sightline_error_inside_a_foreign_system_stops_the_run(colours: Path, tmp_path: Path) -> None:
    def said(task: Task) -> PictureSet:
        raise SightlineError("the server went away")

    with pytest.raises(SightlineError, match="went away"):
        run(colours, Scripted(said), tmp_path / "run")
