"""Several processes on one workspace: nothing is asked by two of them, and what the dead claimed is taken over."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from journal_tools import record_all
from sightline.calls.journal import Journal
from sightline.calls.journal_claims import CLAIMS_FOLDER
from sightline.calls.journal_tables import Call
from sightline.types import ChatReply, Failure, Partial

pytest.importorskip("fcntl")
KEY, OTHER = b"k" * 32, b"o" * 32
# Takes a request, says so, and then lives on without asking for it.
HOLDER = """
import asyncio, sys, time
from pathlib import Path
from sightline.calls.journal import Journal

journal = Journal(Path(sys.argv[1]))
assert asyncio.run(journal.seek(b"k" * 32, fresh=False)) is None
print("mine", flush=True)
time.sleep(600)
"""


def call(text: str, key: bytes = KEY) -> Call:
    return Call(key, "test", "vllm/m", "http://x", 1.0, ChatReply(text))


def claims(journal: Journal) -> list[bytes]:
    return [key for (key,) in journal._reading.execute("SELECT key FROM claims")]


async def still_waits(task: asyncio.Task[ChatReply | Failure | None]) -> bool:
    await asyncio.wait((task,), timeout=0.2)
    return not task.done()


def test_the_second_journal_waits_for_the_first_and_gets_its_reply(tmp_path: Path) -> None:
    async def main() -> None:
        with Journal(tmp_path) as first, Journal(tmp_path) as second:
            assert await first.seek(KEY, fresh=False) is None
            waiting = asyncio.create_task(second.seek(KEY, fresh=False))
            assert await second.seek(OTHER, fresh=False) is None, "other requests do not wait"
            assert await still_waits(waiting)
            await first.record(call("yes"))
            first.leave(KEY)
            found = await asyncio.wait_for(waiting, 5)
            assert isinstance(found, ChatReply) and found.text == "yes"
            assert claims(first) == [OTHER]

    asyncio.run(main())
    with Journal(tmp_path) as journal:
        assert claims(journal) == [], "what was closed claims nothing"
    assert list((tmp_path / CLAIMS_FOLDER).iterdir()) == []


@pytest.mark.parametrize("how", ["leave", "fail", "close"])
def test_when_nothing_comes_of_it_the_second_asks(tmp_path: Path, how: str) -> None:
    async def main() -> None:
        first, second = Journal(tmp_path), Journal(tmp_path)
        assert await first.seek(KEY, fresh=False) is None
        waiting = asyncio.create_task(second.seek(KEY, fresh=False))
        assert await still_waits(waiting)
        if how == "fail":
            await first.record(Call(KEY, "test", "vllm/m", "http://x", 1.0, Failure("timeout", "slow", True)))
        if how == "close":
            first.close()
        else:
            first.leave(KEY)
        assert await asyncio.wait_for(waiting, 5) is None
        second.close()
        first.close()

    asyncio.run(main())


def test_what_a_killed_process_claimed_is_taken_over_at_once(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "mine\n"

    async def main() -> None:
        with Journal(tmp_path) as journal:
            waiting = asyncio.create_task(journal.seek(KEY, fresh=False))
            assert await still_waits(waiting), "it lives"
            holder.kill()
            holder.wait()
            assert await asyncio.wait_for(waiting, 5) is None
            assert claims(journal) == [KEY]

    asyncio.run(main())
    assert list((tmp_path / CLAIMS_FOLDER).iterdir()) == []


def test_a_cancelled_wait_claims_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        with Journal(tmp_path) as first, Journal(tmp_path) as second:
            seeking = asyncio.create_task(first.seek(KEY, fresh=False))
            await asyncio.sleep(0)
            seeking.cancel()
            await asyncio.wait((seeking,))
            assert await asyncio.wait_for(second.seek(KEY, fresh=False), 5) is None

    asyncio.run(main())


def test_who_wants_a_fresh_reply_waits_for_no_other_process(tmp_path: Path) -> None:
    async def main() -> None:
        with Journal(tmp_path) as first, Journal(tmp_path) as second:
            assert await first.seek(KEY, fresh=False) is None
            assert await asyncio.wait_for(second.seek(KEY, fresh=True), 5) is None

    asyncio.run(main())


@pytest.mark.parametrize("pattern", ["kukkuu", "uukuk", "kkk", "uuu"])
def test_known_and_unknown_requests_in_any_order(pattern: str, tmp_path: Path) -> None:
    """Where the last look was in vain it claims first, which must find what is known, and leave no claim on it."""
    known = [bytes([number]) * 32 for number in range(len(pattern))]
    with Journal(tmp_path) as before:
        record_all(before, [call("known", key) for key, kind in zip(known, pattern, strict=True) if kind == "k"])

    async def main() -> None:
        with Journal(tmp_path) as journal:
            for key, kind in zip(known, pattern, strict=True):
                found = await journal.seek(key, fresh=False)
                assert (found is not None) == (kind == "k")
                if found is None:
                    await journal.record(call("asked", key))
                    journal.leave(key)
                assert claims(journal) == []
            assert all([await journal.seek(key, fresh=False) for key in known])

    asyncio.run(main())


@pytest.mark.parametrize("length", [3, 9_000])
def test_what_was_said_before_a_failure_is_kept_with_it(length: int, tmp_path: Path) -> None:
    """Short, or long enough to be compressed; a row without it is one of before."""
    words = Partial("word " * length, "hm")
    with Journal(tmp_path) as journal:
        cut = Failure("length", "cut", partial=words)
        record_all(journal, [replace(call(""), result=cut), replace(call("", OTHER), result=Failure("refused", "no"))])
        found, other = journal.find(KEY), journal.find(OTHER)
    assert isinstance(found, Failure) and found == cut and found.partial == words
    assert isinstance(other, Failure) and other.partial is None
