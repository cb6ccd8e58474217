"""Judged verdicts: rules first, each question asked once, kept through a kill, failures not kept."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from models_server import Received, Server, chat, respond_json, serving_in_thread
from sightline.calls.session import CallOptions, Session
from sightline.metrics.answer_judge import (
    AnswerToJudge,
    AnswerVerdict,
    VerdictCache,
    rules_verdict,
)
from sightline.runs.judged_answers import AnswerJudgeJob, judge_answers
from sightline.types import Answer, ChatReply, ChatRequest, Failure, Message

TRUTH = Answer("Paris", aliases=("City of Light",))
RIGHT = AnswerVerdict(True, 0.9, "The same city.")
WRONG = AnswerVerdict(False, None, "Another city.")


MODEL = "vllm/judge"


def request_of(item: AnswerToJudge) -> ChatRequest:
    return ChatRequest(MODEL, (Message("user", (f"{item.question} {item.truth.text}? {item.prediction}",)),))


def read(reply: ChatReply) -> AnswerVerdict | Failure:
    said = orjson.loads(reply.text)
    return AnswerVerdict(said["correct"], said.get("confidence"), said["reason"])


JUDGE = AnswerJudgeJob(MODEL, request_of, read, name="judge")


def says(verdict: AnswerVerdict) -> Any:
    told = {"correct": verdict.correct, "confidence": verdict.confidence, "reason": verdict.reason}
    return respond_json(chat(orjson.dumps(told).decode()))


def asked_of(server: Server) -> list[str]:
    return [request.json["messages"][0]["content"] for request in server.requests]


def session_at(server: Server, tmp_path: Path) -> Session:
    return Session(tmp_path / "ws", calls=CallOptions(base_url=server.base_url))


def by_number(*items: AnswerToJudge) -> dict[str, AnswerToJudge]:
    return {str(number): item for number, item in enumerate(items)}


def scripted(verdicts: Mapping[str, AnswerVerdict]) -> Any:
    """A server that judges by how the request ends."""

    def answer(request: Received) -> Any:
        words = request.json["messages"][0]["content"]
        return next((says(verdict) for end, verdict in verdicts.items() if words.endswith(end)), refused())

    return serving_in_thread(answer)


def refused() -> Any:
    return respond_json({"error": {"message": "no"}}, status=400)


@pytest.fixture
def cache(tmp_path: Path) -> VerdictCache:
    """As an earlier version left it: one verdict, of the judge "judge"."""
    truth: dict[str, Any] = {
        "text": "Paris",
        "aliases": ["City of Light"],
        "translations": {},
        "unit": None,
        "tolerance": None,
    }
    known = orjson.dumps(truth, option=orjson.OPT_SORT_KEYS).decode()
    row = ("judge", "Which city is this?", known, "London")
    key = hashlib.sha256(orjson.dumps(row)).hexdigest()
    with sqlite3.connect(tmp_path / "verdicts.sqlite") as database:
        database.execute(
            "CREATE TABLE verdicts (key TEXT PRIMARY KEY, judge TEXT NOT NULL, question TEXT NOT NULL, "
            "truth TEXT NOT NULL, prediction TEXT NOT NULL, correct INTEGER NOT NULL, confidence REAL, "
            "reason TEXT NOT NULL) WITHOUT ROWID"
        )
        database.execute("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, 0, NULL, 'Another city.')", (key, *row))
    database.close()
    return VerdictCache(tmp_path / "verdicts.sqlite")


def ask(prediction: str, truth: Answer = TRUTH) -> AnswerToJudge:
    return AnswerToJudge("Which city is this?", truth, prediction)


def test_rules_decide_first_and_say_which() -> None:
    assert rules_verdict(ask("It's Paris.")) == AnswerVerdict(True, 1.0, 'normalised: "paris" [answer]', by="rules")
    assert rules_verdict(ask("the French capital")) is None
    assert rules_verdict(ask("Paris"), rules_first=False) is None
    empty = rules_verdict(ask(" "), rules_first=False)
    assert empty is not None and not empty.correct and empty.by == "rules"


def test_a_failure_stays_a_failure_and_is_asked_again(tmp_path: Path) -> None:
    with serving_in_thread([refused(), says(WRONG)]) as server:
        session = session_at(server, tmp_path)
        first = judge_answers({"1": ask("London")}, JUDGE, session)["1"]
        assert isinstance(first, Failure)
        assert isinstance(judge_answers({"1": ask("London")}, JUDGE, session)["1"], AnswerVerdict)


def test_no_verdict_is_asked_for_twice(tmp_path: Path) -> None:
    items = by_number(ask("London"), ask("Rome"), ask("London"), ask("London"))
    with scripted({"London": WRONG, "Rome": WRONG}) as server:
        session = session_at(server, tmp_path)
        verdicts = judge_answers(items, JUDGE, session)
        again = judge_answers(items, JUDGE, session)
        assert sorted(words.rpartition(" ")[2] for words in asked_of(server)) == ["London", "Rome"]
    assert verdicts == again
    assert all(isinstance(verdict, AnswerVerdict) and verdict.by == "judge" for verdict in verdicts.values())


def test_verdicts_come_back_in_order(tmp_path: Path) -> None:
    items = [ask("b"), ask("a"), ask("Paris"), ask("unknown")]
    with scripted({" a": RIGHT, " b": WRONG}) as server:
        by_model = judge_answers(by_number(*items), JUDGE, session_at(server, tmp_path))
    found = [verdict.correct if isinstance(verdict, AnswerVerdict) else None for verdict in by_model.values()]
    assert found == [False, True, True, None]


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
    assert cache.get("judge", ask("London")) == AnswerVerdict(False, None, "Another city.", by="judge")
    assert cache.get("judge", other) is None
    assert cache.get("judge-2", ask("London")) is None


def test_verdicts_of_an_earlier_version_are_not_asked_for_again(cache: VerdictCache, tmp_path: Path) -> None:
    with scripted({"Rome": RIGHT}) as server:
        items = {"1": ask("London"), "2": ask("Rome")}
        verdicts = judge_answers(items, JUDGE, session_at(server, tmp_path), earlier=cache)
        assert len(server.requests) == 1
    assert verdicts["1"] == AnswerVerdict(False, None, "Another city.", by="judge")
    assert verdicts["2"] == AnswerVerdict(True, 0.9, "The same city.", by="judge")
    cache.close()


def test_the_first_verdict_stays(tmp_path: Path) -> None:
    with serving_in_thread([says(WRONG), says(RIGHT)]) as server:
        for _ in range(2):
            kept = judge_answers({"1": ask("London")}, JUDGE, session_at(server, tmp_path))["1"]
            assert isinstance(kept, AnswerVerdict) and not kept.correct


KILLED = """
import os, signal, sys
from pathlib import Path
from sightline.calls.session import CallOptions, Session
from test_judge import JUDGE, ask, judge_answers
session = Session(Path(sys.argv[1]), calls=CallOptions(base_url=sys.argv[2]))
judge_answers({str(number): ask(f"{number} is it") for number in range(50)}, JUDGE, session)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_verdicts_survive_a_kill(tmp_path: Path) -> None:
    with scripted({"8 is it": RIGHT, "is it": WRONG}) as server:
        session = session_at(server, tmp_path)
        argv = [sys.executable, "-c", KILLED, str(session.workspace), server.base_url]
        done = subprocess.run(argv, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        assert done.returncode == -signal.SIGKILL
        assert len(server.requests) == 50
        kept = judge_answers({"48": ask("48 is it")}, JUDGE, session)["48"]
        assert len(server.requests) == 50
    assert isinstance(kept, AnswerVerdict) and kept.correct
