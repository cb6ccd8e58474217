"""The journal: what it was given comes back, on disk when it says so, from any process."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journal_tools import record_all
from sightline.calls.journal import Journal
from sightline.calls.journal_tables import JOURNAL_FILE, Call
from sightline.errors import UserError
from sightline.types import ChatReply, Failure, ToolCall, Usage


def call(key: str, result: ChatReply | Failure | None = None, **fields: Any) -> Call:
    result = ChatReply(f"reply to {key}") if result is None else result
    return Call(key.encode().ljust(32, b"\0"), "annotate", "openai/m", "http://x/v1", 1.7e9, result, **fields)


def key(text: str) -> bytes:
    return text.encode().ljust(32, b"\0")


def rows(workspace: Path, query: str) -> list[tuple[object, ...]]:
    database = sqlite3.connect(workspace / JOURNAL_FILE)
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=5,
)
any_text = st.text(st.characters(codec="utf-8"), max_size=30)
replies = st.builds(
    ChatReply,
    text=any_text | any_text.map(lambda text: text * 500),
    thinking=any_text,
    tool_calls=st.lists(st.builds(ToolCall, any_text, any_text, any_text), max_size=2).map(tuple),
    parsed=json_values,
    finish=st.sampled_from(["stop", "tool-calls"]),
    model=st.none() | any_text,
    usage=st.builds(Usage, *[st.integers(0, 10**9)] * 6, st.booleans()),
    usd=st.none() | st.floats(0, 100),
    seconds=st.none() | st.floats(0, 100),
    attempts=st.integers(1, 20),
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    with Journal(tmp_path_factory.mktemp("journal")) as journal:
        yield journal


@settings(max_examples=60, deadline=None)
@given(replies, st.binary(min_size=32, max_size=32))
def test_a_reply_comes_back_as_it_was(shared: Journal, reply: ChatReply, some_key: bytes) -> None:
    record_all(
        shared,
        [
            Call(
                some_key,
                "s",
                "m",
                "e",
                1.0,
                reply,
                usage=reply.usage,
                usd=reply.usd,
                seconds=reply.seconds,
                attempts=reply.attempts,
            )
        ],
    )
    found = shared.find(some_key)
    assert isinstance(found, ChatReply) and found.from_journal
    fields = ("text", "thinking", "tool_calls", "parsed", "finish", "model", "usage", "usd", "seconds", "attempts")
    assert all(getattr(found, name) == getattr(reply, name) for name in fields)


def test_long_replies_are_kept_compressed(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        record_all(journal, [call("short"), call("long", ChatReply("word " * 10_000))])
        found = journal.find(key("long"))
        assert isinstance(found, ChatReply) and found.text == "word " * 10_000
    sizes = rows(tmp_path, "SELECT length(reply) FROM calls ORDER BY id")
    assert sizes[0][0] < 100 and sizes[1][0] < 2000  # type: ignore[operator]


def test_the_latest_reply_counts_and_both_are_in_the_ledger(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        record_all(journal, [call("a", ChatReply("first"))])
        record_all(journal, [call("a", ChatReply("second"))])
        found = journal.find(key("a"))
        assert isinstance(found, ChatReply) and found.text == "second"
    assert rows(tmp_path, "SELECT count(*) FROM calls") == [(2,)]


def test_only_failures_that_would_come_again_are_reused(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        kept = ("content-filter", "refused", "length")
        others = ("timeout", "connection", "server-error", "auth", "bad-request", "bad-picture", "endless", "empty")
        record_all(journal, [call(kind, Failure(kind, f"why {kind}")) for kind in (*kept, *others)])
        assert [journal.find(key(kind)) for kind in kept] == [Failure(kind, f"why {kind}") for kind in kept]
        assert [journal.find(key(kind)) for kind in others] == [None] * len(others)
        record_all(journal, [call("timeout", ChatReply("at last"))])
        assert isinstance(journal.find(key("timeout")), ChatReply)


def test_a_row_is_on_disk_when_record_returns_and_many_share_a_commit(tmp_path: Path) -> None:
    async def main() -> None:
        journal = Journal(tmp_path)
        other = sqlite3.connect(tmp_path / JOURNAL_FILE)
        before = other.execute("PRAGMA data_version").fetchone()[0]
        commits = 0

        async def one(number: int) -> None:
            nonlocal before, commits
            await journal.record(call(str(number), task=f"t{number}"))
            seen = other.execute("SELECT count(*) FROM calls WHERE task = ?", (f"t{number}",)).fetchone()
            assert seen == (1,)
            version = other.execute("PRAGMA data_version").fetchone()[0]
            commits += version != before
            before = version

        await asyncio.gather(*(one(number) for number in range(500)))
        other.close()
        journal.close()
        assert commits <= 50

    asyncio.run(main())


def test_a_cancelled_wait_does_not_lose_the_row(tmp_path: Path) -> None:
    async def main() -> None:
        with Journal(tmp_path) as journal:
            waiting = asyncio.create_task(journal.record(call("a")))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert waiting.cancelled()

    asyncio.run(main())
    assert rows(tmp_path, "SELECT count(*) FROM calls") == [(1,)]


def test_hits_are_counted_when_the_journal_is_closed(tmp_path: Path) -> None:
    for _ in range(2):
        with Journal(tmp_path) as journal:
            for _ in range(3):
                journal.count_hit("judge", "openai/m", 0.25)
            journal.count_hit("judge", "vllm/m", None)
    assert rows(tmp_path, "SELECT * FROM hits") == [("judge", "openai/m", 6, 1.5), ("judge", "vllm/m", 2, 0.0)]


def test_several_processes_write_and_read_at_once(tmp_path: Path) -> None:
    code = textwrap.dedent("""
        import asyncio, sys
        from pathlib import Path
        from sightline.calls.journal import Call, Journal
        from sightline.types import ChatReply

        async def main(name):
            with Journal(Path(sys.argv[1])) as journal:
                async def one(number):
                    key = f"{name}-{number}".encode().ljust(32, b"_")
                    await journal.record(Call(key, "s", "m", "e", 1.0, ChatReply(f"{name}-{number}")))
                    assert journal.find(key).text == f"{name}-{number}"
                for start in range(0, 300, 30):
                    await asyncio.gather(*(one(number) for number in range(start, start + 30)))

        asyncio.run(main(sys.argv[2]))
    """)
    processes = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "abcd"]
    assert [process.wait(120) for process in processes] == [0] * 4
    assert rows(tmp_path, "SELECT count(*), count(DISTINCT key) FROM calls") == [(1200, 1200)]
    assert rows(tmp_path, "PRAGMA integrity_check") == [("ok",)]


def test_a_full_disk_stops_with_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    async def main() -> None:
        with Journal(tmp_path) as journal:
            monkeypatch.setattr(journal._writer, "_write", full)
            with pytest.raises(UserError, match="disk is full") as error:
                await journal.record(call("a"))
            assert "make room" in (error.value.fix or "")

    asyncio.run(main())
    assert rows(tmp_path, "SELECT count(*) FROM calls") == [(0,)]


def test_another_file_and_a_newer_journal_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / JOURNAL_FILE).write_bytes(b"no database " * 1000)
    with pytest.raises(UserError, match="is not a Sightline database"):
        Journal(tmp_path / "a")
    Journal(tmp_path / "b").close()
    database = sqlite3.connect(tmp_path / "b" / JOURNAL_FILE)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(UserError, match="newer Sightline"):
        Journal(tmp_path / "b")


def test_it_can_be_closed_twice_and_leaves_no_thread(tmp_path: Path) -> None:
    import threading

    before = threading.active_count()
    journal = Journal(tmp_path)
    record_all(journal, [call("a")])
    assert threading.active_count() == before + 1
    journal.close()
    journal.close()
    assert threading.active_count() == before


def test_it_knows_who_replied_before_and_what_was_given_up(tmp_path: Path) -> None:
    broken = Failure("server-error", "HTTP 500", retryable=True)

    async def main() -> None:
        with Journal(tmp_path) as journal:
            nothing = await journal.past("http://x/v1", "openai/m", "annotate", 6)
            await journal.record(call("given up", broken, attempts=6))
            await journal.record(call("broken off", broken, attempts=5))
            await journal.record(call("too slow", Failure("timeout", "", retryable=True), attempts=6))
            failed = await journal.past("http://x/v1", "openai/m", "annotate", 6)
            await journal.record(call("reply"))
            assert nothing == (False, frozenset())
            assert failed == (False, frozenset({key("given up")}))
            assert await journal.past("http://x/v1", "openai/m", "annotate", 6) == (True, frozenset({key("given up")}))
            assert await journal.past("http://x/v1", "openai/m", "judge", 6) == (False, frozenset({key("given up")}))
            assert await journal.past("http://y/v1", "openai/m", "annotate", 6) == (False, frozenset({key("given up")}))
            assert await journal.past("http://x/v1", "openai/n", "annotate", 6) == (False, frozenset())

    asyncio.run(main())
