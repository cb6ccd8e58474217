"""`kill -9` and Ctrl-C on a real process: nothing that was journaled is asked again, nothing is lost."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sightline.calls.journal_tables import JOURNAL_FILE

HERE = Path(__file__).parent
AT_ONCE = 16


@contextmanager
def counting_server(seconds: float) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, HERE / "counting_server.py", str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def asked_since(server: str, start: int) -> list[str]:
    with urllib.request.urlopen(f"{server}/log?from={start}") as response:
        return [str(question) for question in json.load(response)]


def start_client(server: str, workspace: Path, count: int, acknowledged: Path) -> subprocess.Popen[bytes]:
    with acknowledged.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, HERE / "calling_client.py", f"{server}/v1", workspace, str(count), str(AT_ONCE)],
            stdout=output,
        )


def query(workspace: Path, sql: str) -> list[tuple[object, ...]]:
    if not (workspace / JOURNAL_FILE).exists():
        return []
    database = sqlite3.connect(workspace / JOURNAL_FILE)
    try:
        return database.execute(sql).fetchall()
    except sqlite3.OperationalError:  # Killed before the table was made.
        return []
    finally:
        database.close()


def journaled(workspace: Path) -> set[str]:
    return {f"question {task}" for (task,) in query(workspace, "SELECT task FROM calls WHERE reusable = 1")}


def kill_many_times(tmp_path: Path, count: int, kills: int) -> None:
    rng = random.Random(count)
    workspace, acknowledged = tmp_path / "ws", tmp_path / "acknowledged"
    seen = repeats = 0
    asked: set[str] = set()
    with counting_server(0.02) as server:
        for _ in range(kills):
            known = journaled(workspace)
            client = start_client(server, workspace, count, acknowledged)
            wanted = rng.randrange(0, 2 * (count - len(known)) // (kills + 1) + 1)
            while client.poll() is None and len(asked_since(server, seen)) < wanted:
                time.sleep(0.005)
            time.sleep(rng.random() * 0.03)
            client.kill()
            client.wait()
            news = asked_since(server, seen)
            seen += len(news)
            assert not known & set(news), "a journaled call was repeated"
            assert max(Counter(news).values(), default=1) == 1
            repeats += len(asked & set(news))
            asked |= set(news)
            acknowledged_now = {f"question {line}" for line in acknowledged.read_text().split()}
            assert acknowledged_now <= journaled(workspace), "an acknowledged call was lost"
            assert query(workspace, "PRAGMA integrity_check") in ([("ok",)], [])
        client = start_client(server, workspace, count, acknowledged)
        assert client.wait(300) == 0
        total = len(asked_since(server, 0))
    assert journaled(workspace) == {f"question {number}" for number in range(count)}
    replies = query(workspace, "SELECT count(*), count(DISTINCT key) FROM calls")
    assert replies == [(count, count)] and query(workspace, "PRAGMA integrity_check") == [("ok",)]
    assert total - count <= kills * AT_ONCE, "repeats are only what was in flight at a kill"
    assert repeats > 0, "no kill ever met a call in flight: this test tested nothing"


def test_killed_a_few_times(tmp_path: Path) -> None:
    kill_many_times(tmp_path, count=500, kills=5)


@pytest.mark.slow
def test_killed_fifty_times_during_five_thousand_calls(tmp_path: Path) -> None:
    kill_many_times(tmp_path, count=5000, kills=50)


def test_ctrl_c_ends_at_once_with_everything_saved(tmp_path: Path) -> None:
    workspace, acknowledged = tmp_path / "ws", tmp_path / "acknowledged"
    with counting_server(0.02) as quick, counting_server(600) as stuck:
        client = start_client(quick, workspace, 10**9, acknowledged)
        while len(asked_since(quick, 0)) < 200:
            time.sleep(0.01)
        client.send_signal(signal.SIGINT)
        assert client.wait(20) != 0
        saved = journaled(workspace)
        assert {f"question {line}" for line in acknowledged.read_text().split()} <= saved and len(saved) > 100
        assert query(workspace, "PRAGMA integrity_check") == [("ok",)]
        # Every call of this one takes ten minutes: it ends because it is told to.
        client = start_client(stuck, tmp_path / "other", 100, tmp_path / "none")
        while len(asked_since(stuck, 0)) < AT_ONCE:
            time.sleep(0.01)
        started = time.perf_counter()
        client.send_signal(signal.SIGINT)
        assert client.wait(20) != 0
        assert time.perf_counter() - started < 10
        broken_off = query(tmp_path / "other", "SELECT count(*), failure, usd, reusable FROM calls GROUP BY failure")
        assert broken_off == [(AT_ONCE, "cancelled", None, 0)], "they may have been billed"
        assert query(tmp_path / "other", "SELECT count(*) FROM claims") == [(0,)]


def test_ctrl_c_ends_a_map_without_an_event_loop_too(tmp_path: Path) -> None:
    code = """
import asyncio, sys
from sightline.engine.async_map import Stage, run_map

async def work(number):
    await asyncio.sleep(0 if number < 10 else 600)
    return number

for _, result in run_map(range(100), Stage("s", work)):
    print(result, flush=True)
"""
    client = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert client.stdout is not None
    assert [client.stdout.readline() for _ in range(10)] == [f"{number}\n" for number in range(10)]
    client.send_signal(signal.SIGINT)
    _, errors = client.communicate(timeout=20)
    assert client.returncode != 0 and "KeyboardInterrupt" in errors
