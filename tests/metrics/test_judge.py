"""Judged verdicts: rules first, each question asked once, kept through a kill, failures not kept."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.metrics.answer_judge import (
    AnswerToJudge,
    AnswerVerdict,
    CachedJudge,
    ScriptedJudge,
    VerdictCache,
    decide,
    decide_all,
    judged_metric,
)
from sightline.metrics.context import Context
from sightline.types import Answer, Failure, Prediction, Task, Text

TRUTH = Answer("Paris", aliases=("City of Light",))
RIGHT = AnswerVerdict(True, 0.9, "The same city.")
WRONG = AnswerVerdict(False, None, "Another city.")


@pytest.fixture
def cache(tmp_path: Path) -> VerdictCache:
    return VerdictCache(tmp_path / "judge" / "verdicts.sqlite")


def ask(prediction: str, truth: Answer = TRUTH) -> AnswerToJudge:
    return AnswerToJudge("Which city is this?", truth, prediction)


def test_rules_decide_first_and_say_which() -> None:
    judge = ScriptedJudge({})
    verdict = asyncio.run(decide(ask("It's Paris."), judge))
    assert verdict == AnswerVerdict(True, 1.0, 'normalised: "paris" [answer]', by="rules")
    assert judge.asked == []


def test_what_rules_do_not_find_right_goes_to_the_judge() -> None:
    judge = ScriptedJudge({"the French capital": RIGHT, "London": WRONG})
    assert asyncio.run(decide(ask("the French capital"), judge)) == AnswerVerdict(
        True, 0.9, "The same city.", by="scripted"
    )
    assert asyncio.run(decide(ask("London"), judge)) == AnswerVerdict(False, None, "Another city.", by="scripted")


def test_without_rules_the_judge_sees_all_but_the_empty() -> None:
    judge = ScriptedJudge({"Paris": WRONG})
    verdict = asyncio.run(decide(ask("Paris"), judge, rules_first=False))
    assert isinstance(verdict, AnswerVerdict) and not verdict.correct
    empty = asyncio.run(decide(ask(" "), judge, rules_first=False))
    assert isinstance(empty, AnswerVerdict) and not empty.correct and empty.by == "rules"
    assert judge.asked == ["Paris"]


def test_a_failure_stays_a_failure_and_is_asked_again(cache: VerdictCache) -> None:
    down = ScriptedJudge({"London": Failure("timeout", "no reply", retryable=True)})
    assert asyncio.run(decide(ask("London"), CachedJudge(down, cache))) == Failure("timeout", "no reply", True)
    assert len(cache) == 0
    up = ScriptedJudge({"London": WRONG})
    assert isinstance(asyncio.run(decide(ask("London"), CachedJudge(up, cache))), AnswerVerdict)


def test_no_verdict_is_asked_for_twice(cache: VerdictCache) -> None:
    judge = ScriptedJudge({"London": WRONG, "Rome": WRONG})
    items = [ask("London"), ask("Rome"), ask("London"), ask("London")]
    verdicts = asyncio.run(decide_all(items, CachedJudge(judge, cache)))
    again = asyncio.run(decide_all(items, CachedJudge(judge, cache), at_once=1))
    assert sorted(judge.asked) == ["London", "Rome"]
    assert verdicts == again
    assert all(isinstance(verdict, AnswerVerdict) and verdict.by == "scripted" for verdict in verdicts)


def test_verdicts_come_back_in_order(cache: VerdictCache) -> None:
    judge = ScriptedJudge({"a": RIGHT, "b": WRONG})
    items = [ask("b"), ask("a"), ask("Paris"), ask("unknown")]
    verdicts = asyncio.run(decide_all(items, CachedJudge(judge, cache), at_once=2))
    assert [verdict.correct if isinstance(verdict, AnswerVerdict) else None for verdict in verdicts] == [
        False,
        True,
        True,
        None,
    ]


@pytest.mark.parametrize(
    "other",
    [
        AnswerToJudge("Which country is this?", TRUTH, "London"),
        AnswerToJudge("Which city is this?", Answer("Paris"), "London"),
        AnswerToJudge(
            "Which city is this?", Answer("Paris", aliases=TRUTH.aliases, translations={"zh": "巴黎"}), "London"
        ),
        AnswerToJudge("Which city is this?", Answer("Paris", aliases=TRUTH.aliases, tolerance=0.1), "London"),
        AnswerToJudge("Which city is this?", TRUTH, "London!"),
    ],
)
def test_another_question_truth_or_prediction_is_another_verdict(cache: VerdictCache, other: AnswerToJudge) -> None:
    cache.put("judge", ask("London"), WRONG)
    assert cache.get("judge", ask("London")) == AnswerVerdict(False, None, "Another city.", by="judge")
    assert cache.get("judge", other) is None
    assert cache.get("judge-2", ask("London")) is None


def test_the_first_verdict_stays(cache: VerdictCache) -> None:
    cache.put("judge", ask("London"), WRONG)
    cache.put("judge", ask("London"), RIGHT)
    kept = cache.get("judge", ask("London"))
    assert kept is not None and not kept.correct


def test_a_cancelled_wait_does_not_lose_the_verdict(cache: VerdictCache) -> None:
    class Slow(ScriptedJudge):
        async def verdict(self, question: str, truth: Answer, prediction: str) -> AnswerVerdict | Failure:
            await asyncio.sleep(0)
            return await super().verdict(question, truth, prediction)

    slow = Slow({"London": WRONG})

    async def cancel_one_of_two() -> AnswerVerdict | Failure:
        judge = CachedJudge(slow, cache)
        first = asyncio.create_task(decide(ask("London"), judge))
        second = asyncio.create_task(decide(ask("London"), judge))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert isinstance(asyncio.run(cancel_one_of_two()), AnswerVerdict)
    assert slow.asked == ["London"]
    assert len(cache) == 1


def test_verdicts_as_a_metric() -> None:
    metric = judged_metric({"1": RIGHT, "2": WRONG, "3": Failure("timeout", "no reply")})

    def value(task_id: str, prediction: Prediction) -> float | None:
        return metric(TRUTH, prediction, Context(task=Task(task_id, "answer", ("Which city is this?",))))

    assert [value(task_id, Text("x")) for task_id in "1234"] == [1.0, 0.0, None, None]
    assert value("1", Failure("timeout", "no reply")) == 0.0
    assert metric(TRUTH, Text("x"), Context()) is None


KILLED = """
import os, signal, sys
from pathlib import Path
from sightline.metrics.answer_judge import AnswerToJudge, AnswerVerdict, VerdictCache
from sightline.types import Answer
cache = VerdictCache(Path(sys.argv[1]))
for number in range(50):
    item = AnswerToJudge("q", Answer("a"), str(number))
    cache.put("judge", item, AnswerVerdict(number % 2 == 0, None, "because"))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_verdicts_survive_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    cache = VerdictCache(path)
    assert len(cache) == 50
    kept = cache.get("judge", AnswerToJudge("q", Answer("a"), "48"))
    assert kept is not None and kept.correct
    cache.close()
