"""Frames between processes: what goes in comes out, and one bad job of a frame takes no other with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sightline.engine.processes import Died
from sightline.reason.traces import scribe
from sightline.reason.traces.frames import judge_frame, pack, unpack
from sightline.reason.traces.judging import judge
from sightline.reason.traces.nouns import Asked, Job, Known, Question, Row, Rules, Said, Subject, Verified
from sightline.types import Failure, Partial, Usage

TEXT = "The picture shows a red tractor beside a stone wall. Two dogs run along the road behind it."


def job(name: str) -> Job:
    subject = Subject(name, f"https://p.example/{name}", Known(("tractor",), "a red tractor", ("one tractor",)), "n1")
    cut = Failure("timeout", "late", True, Usage(3), 0.1, Partial("It"))
    said = Said("I look closely at the road first, then at it.", TEXT, "stop", Usage(7, output=9), 0.5)
    return Job(
        Question(name, subject, "What?", ("label",)), Asked((said, cut), Verified({TEXT: "supported"}, 1.0)), Rules()
    )


def test_what_is_packed_comes_out_equal() -> None:
    jobs = [job("a"), job("b")]
    assert unpack(pack(jobs)) == jobs
    rows = unpack(judge_frame((7, pack(jobs))))
    assert rows == [Row(one.question, one.asked, judge(one)) for one in jobs]
    (failed,) = (reply for reply in unpack(pack(jobs))[0].asked.replies if isinstance(reply, Failure))
    assert failed.partial == Partial("It") and failed.usd == 0.1


def test_equal_texts_travel_once() -> None:
    one = job("a")
    rows = [Row(one.question, one.asked, judge(one))]
    assert pack(rows).count(TEXT.encode()) == 1


def test_only_what_ends_a_judge_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def dying(function: str, items: object, **options: object) -> object:
        for number, frame in items:  # type: ignore[attr-defined]
            deadly = any(one.question.id == "deadly" for one in unpack(frame))
            yield (number, frame), Died("killed") if deadly else judge_frame((number, frame))

    monkeypatch.setattr(scribe, "map_in_processes", dying)
    jobs = [job("a"), replace_id(job("b"), "deadly"), job("c"), job("d")]
    rows = list(scribe._judged([pack(jobs[:3]), pack(jobs[3:])]))
    assert [row.question.id for row in rows] == ["a", "deadly", "c", "d"]
    assert {trace.reasons for trace in rows[1].found.traces} == {("check-died",)}
    assert [row.found.traces[0].state for row in rows] == ["kept", "failed", "kept", "kept"]


def replace_id(one: Job, id_: str) -> Job:
    return one._replace(question=replace(one.question, id=id_))
