"""`think --engine ray`: a cluster asks, and the folder is the same as one made here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from models_server import Received, chat, respond_json, serving_in_thread
from reason.think_tools import ONE, TWO, things, work_of
from sightline.calls.session import CallOptions
from sightline.reason.traces.pipeline import make_traces
from sightline.reason.traces.questions import Prompts, Template
from sightline.reason.traces.records import Teacher
from sightline.reason.traces.teachers import TraceSettings

NAMES = ("a brown dog", "an old lighthouse", "a red tractor", "a wooden boat", "a stone bridge")


def said(received: Received) -> str:
    body = received.json
    thing = body["messages"][-1]["content"][0]["text"]
    return (ONE if body["model"] == "one" else TWO).format(thing)


@pytest.mark.slow
def test_a_cluster_makes_the_same_folder_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    settings = TraceSettings((Teacher("vllm/one"), Teacher("vllm/two")), Prompts((Template.of("{label}"),)))
    with serving_in_thread(lambda received: respond_json(chat(said(received)))) as server:
        for engine in ("local", "ray"):
            work = work_of(things(NAMES), settings, tmp_path / engine, CallOptions(base_url=server.base_url))
            work = replace(work, session=replace(work.session, engine=engine))
            done = make_traces(work, tmp_path / engine / "out", format_="jsonl", shard_rows=2)
            assert (done.rows, done.kept, done.shards) == (5, 10, 3)
        assert len(server.requests) == 2 * 2 * len(NAMES)
        # The journal of a cluster's work is here: going on elsewhere with it asks nobody.
        work = work_of(things(NAMES), settings, tmp_path / "ray", CallOptions(base_url=server.base_url))
        make_traces(work, tmp_path / "ray" / "more", format_="jsonl")
        assert len(server.requests) == 2 * 2 * len(NAMES)
    here, there = (sorted((tmp_path / engine / "out" / "data").iterdir()) for engine in ("local", "ray"))
    assert [file.read_bytes() for file in here] == [file.read_bytes() for file in there]
