"""Frames between processes: what goes in comes out, and one bad job of a frame takes no other with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sightline.engine.worker_pool import Died
from sightline.reason.traces import writer_process
from sightline.reason.traces.quality import check_replies
from sightline.reason.traces.records import (
    CheckJob,
    PictureKnowledge,
    TeacherReplies,
    TeacherReply,
    TracePicture,
    TraceQuestion,
    TraceRow,
    TraceRules,
    Verified,
    check_frame,
    pack,
    unpack,
)
from sightline.types import Failure, Partial, Usage

TEXT = "The picture shows a red tractor beside a stone wall. Two dogs run along the road behind it."


def job(name: str) -> CheckJob:
    subject = TracePicture(
        name, f"https://p.example/{name}", PictureKnowledge(("tractor",), "a red tractor", ("one tractor",)), "n1"
    )
    cut = Failure("timeout", "late", True, Usage(3), 0.1, Partial("It"))
    said = TeacherReply("I look closely at the road first, then at it.", TEXT, "stop", Usage(7, output=9), 0.5)
    return CheckJob(
        TraceQuestion(name, subject, "What?", ("label",)),
        TeacherReplies((said, cut), Verified({TEXT: "supported"}, 1.0)),
        TraceRules(),
    )


def test_what_is_packed_comes_out_equal() -> None:
    jobs = [job("a"), job("b")]
    assert unpack(pack(jobs)) == jobs
    rows = unpack(check_frame((7, pack(jobs))))
    assert rows == [TraceRow(one.question, one.asked, check_replies(one)) for one in jobs]
    (failed,) = (reply for reply in unpack(pack(jobs))[0].asked.replies if isinstance(reply, Failure))
    assert failed.partial == Partial("It") and failed.usd == 0.1


def test_equal_texts_travel_once() -> None:
    one = job("a")
    rows = [TraceRow(one.question, one.asked, check_replies(one))]
    assert pack(rows).count(TEXT.encode()) == 1


def test_only_what_ends_a_judge_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def dying(function: str, items: object, **options: Any) -> object:
        for number, frame in items:  # type: ignore[attr-defined]
            deadly = any(one.question.id == "deadly" for one in unpack(frame))
            yield (number, frame), Died("killed") if deadly else check_frame((number, frame))

    monkeypatch.setattr(writer_process, "map_in_processes", dying)
    jobs = [job("a"), replace_id(job("b"), "deadly"), job("c"), job("d")]
    rows = list(writer_process._judged([pack(jobs[:3]), pack(jobs[3:])]))
    assert [row.question.id for row in rows] == ["a", "deadly", "c", "d"]
    assert {trace.reasons for trace in rows[1].found.traces} == {("check-died",)}
    assert [row.found.traces[0].state for row in rows] == ["kept", "failed", "kept", "kept"]


def replace_id(one: CheckJob, id_: str) -> CheckJob:
    return one._replace(question=replace(one.question, id=id_))
