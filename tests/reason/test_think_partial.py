"""A reply that was cut off: what was received is kept and marked, is never an answer, and is not asked for again."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from models_server import Received, chat, respond_json, serving_in_thread
from reason.think_tools import things, work_of
from sightline.calls.session import CallOptions
from sightline.models.failures import failure
from sightline.reason.traces.pipeline import make_traces
from sightline.reason.traces.records import Teacher, TeacherReply
from sightline.reason.traces.shards import read_traces
from sightline.reason.traces.teachers import TraceSettings, parse_reply
from sightline.types import Failure, Partial, Usage

WHOLE = (
    "<think>I look at the wall first, then at the door.</think>A brick wall with a green door, and a bicycle beside it."
)
CUT = {
    "vllm/answering": "<think>The light comes from the left here.</think>The picture shows a tall brick wall with a",
    "vllm/thinking": "<think>The light comes from the left here, so that the wall",
}


def rejected(folder: Path) -> list[dict[str, Any]]:
    files = sorted((folder / "rejected").glob("*.gz"))
    return [orjson.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


def answer(received: Received) -> Any:
    name = f"vllm/{received.json['model']}"
    usage = {"prompt_tokens": 10, "completion_tokens": 4096, "total_tokens": 4106}
    return respond_json(chat(CUT[name], finish_reason="length", usage=usage) if name in CUT else chat(WHOLE))


def test_what_was_received_is_kept_marked_and_no_answer(tmp_path: Path) -> None:
    settings = TraceSettings(tuple(Teacher(name) for name in (*CUT, "vllm/whole")))
    with serving_in_thread(answer) as server:
        work = work_of(things(["wall"]), settings, tmp_path, CallOptions(base_url=server.base_url))
        for name in ("first", "again"):  # The second is all from the journal.
            done = make_traces(work, tmp_path / name, format_="jsonl")
            assert (done.kept, done.rejected, done.failed) == (1, {"truncated": 2}, {})
            assert [teacher.output for teacher in done.teachers] == [4096, 4096, 5]
            answering, thinking = rejected(tmp_path / name)
            assert answering["partial"] and answering["answer"] == "The picture shows a tall brick wall with a"
            assert answering["think"] == "The light comes from the left here." and "truncated" in answering["reasons"]
            assert thinking["partial"] and thinking["answer"] == "" and thinking["think"].endswith("so that the wall")
            (row,) = read_traces(tmp_path / name)
            assert [trace.model for trace in row.traces.references] == ["vllm/whole"]
        assert len(server.requests) == 3


@pytest.mark.parametrize("kind", ["length", "endless", "content-filter", "refused"])
def test_a_partial_reply_is_said_with_what_cut_it(kind: str) -> None:
    failed = Failure(kind, "cut", usage=Usage(1, output=2), usd=0.5, partial=Partial("<think>Hm.</think>A wall"))
    assert parse_reply(failed) == TeacherReply("Hm.", "A wall", kind, Usage(1, output=2), 0.5)


def test_without_words_or_for_other_reasons_it_stays_a_failure() -> None:
    for failed in (
        failure("length", "cut"),
        Failure("length", "cut", partial=Partial(" \n")),
        Failure("wrong-schema", "no", partial=Partial("A wall")),
    ):
        assert parse_reply(failed) is failed
