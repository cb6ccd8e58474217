"""`kill -9` on a real process: no call is made twice but those in flight, no row is lost, doubled or half written."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import orjson

from models_server import Received, after, chat, respond_json, serving_in_thread
from sightline.reason.traces.shards import read_traces

CLIENT = Path(__file__).with_name("think_client.py")
PICTURES, AT_ONCE, KILLS = 280, 16, 2


def said(received: Received) -> str:
    """A different answer for each picture and teacher."""
    body = received.json
    thing = body["messages"][-1]["content"][0]["text"]
    rng = random.Random(f"{thing} {body['model']}")
    words = " ".join("".join(rng.choices("bcdfgklmnprstaeiou", k=8)) for _ in range(30))
    return f"<think>The {words}.</think>The picture shows {thing} of the {words}."


def start(url: str, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, CLIENT, url, folder, str(PICTURES), str(AT_ONCE)])


def test_killed_a_few_times(tmp_path: Path) -> None:
    rng = random.Random(1)
    with serving_in_thread(lambda received: after(0.004, respond_json(chat(said(received))))) as server:
        for kill in range(KILLS):
            client = start(server.base_url, tmp_path)
            wanted = (kill + 1) * 2 * PICTURES // (KILLS + 1)
            while client.poll() is None and len(server.requests) < wanted:
                time.sleep(0.01)
            time.sleep(rng.random() * 0.05)
            client.kill()
            client.wait()
        client = start(server.base_url, tmp_path)
        assert client.wait(120) == 0
        asked = Counter(
            (body["model"], body["messages"][-1]["content"][0]["text"])
            for body in (received.json for received in server.requests)
        )
    # 16 questions of two calls each are under way: those on the wire, and those whose replies are being written down.
    assert len(asked) == 2 * PICTURES and asked.total() - len(asked) <= KILLS * 2 * AT_ONCE
    rows = list(read_traces(tmp_path / "out"))
    assert [row.id for row in rows] == [f"{number:05d}" for number in range(PICTURES)]
    assert all(len(row.traces.references) == 2 for row in rows)
    shards = sorted((tmp_path / "out" / "data").iterdir())
    assert [shard.name for shard in shards] == [f"train-{number:05d}.jsonl" for number in range(len(shards))]
    assert sum(len(list(map(orjson.loads, shard.read_bytes().splitlines()))) for shard in shards) == PICTURES
