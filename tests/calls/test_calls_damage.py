"""A journal that was damaged never lies: rows are checked, set aside, named and asked again; the rest is kept."""

from __future__ import annotations

import asyncio
import logging
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Cli
from journal_tools import record_all
from sightline.calls.in_flight import InFlightFile, LostCall, lost_calls
from sightline.calls.journal import Journal
from sightline.calls.journal_claims import CLAIMS_FOLDER
from sightline.calls.journal_repair import repair_journal, verify_journal
from sightline.calls.journal_tables import JOURNAL_FILE, Call
from sightline.calls.ledger import read_ledger
from sightline.errors import UserError
from sightline.types import ChatReply, Failure, Usage

COUNT = 60


def key(number: int) -> bytes:
    return number.to_bytes(2, "big") * 16


def reply(number: int) -> ChatReply:
    return ChatReply(f"reply {number} " * (400 if number % 9 == 0 else 4), usage=Usage(100 + number, output=7))


def call(number: int) -> Call:
    result = reply(number)
    return Call(key(number), "think", "openai/m", "http://x/v1", 1.7e9, result, usage=result.usage, usd=0.01, seconds=2)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    with Journal(tmp_path) as journal:
        record_all(journal, map(call, range(COUNT)))
    return tmp_path


def change(workspace: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(workspace / JOURNAL_FILE)
    with database:
        database.execute(statement, values)
    database.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("reply", b'{"text":"another"}'),
        ("reply", b"\xff\x00"),
        ("reply", None),
        ("usd", 0.02),
        ("output", 70),
        ("message", "x"),
        ("model", "openai/n"),
        ("task", b"\xff\xfe"),
        ("at_least", 1.0),
    ],
)
def test_a_changed_row_is_set_aside_named_and_asked_again(
    workspace: Path, column: str, value: object, caplog: pytest.LogCaptureFixture
) -> None:
    cast = "CAST(? AS TEXT)" if column == "task" else "?"
    change(workspace, f"UPDATE calls SET {column} = {cast} WHERE id = 6", value)
    assert verify_journal(workspace).damaged == (6,)
    with Journal(workspace) as journal, caplog.at_level(logging.WARNING):
        assert journal.find(key(5)) is None
        assert "row 6 is damaged" in caplog.text
        found = journal.find(key(6))
        assert isinstance(found, ChatReply) and found.text == reply(6).text
        assert asyncio.run(journal.seek(key(5), fresh=False)) is None, "it is to be asked again"
    ledger = read_ledger(workspace)
    assert ledger.total.calls == COUNT and ledger.total.failures == {"damaged": 1}
    assert ledger.total.money == "at least $0.59"
    assert verify_journal(workspace).is_sound


def test_an_index_that_names_another_row_answers_nothing_wrong(workspace: Path) -> None:
    database = sqlite3.connect(workspace / JOURNAL_FILE)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    path = workspace / JOURNAL_FILE
    data = path.read_bytes()
    # An entry of the index is the key and the row: swap the rows of two keys.
    first, second = key(3) + b"\x04", key(4) + b"\x05"
    assert data.count(first) == data.count(second) == 1
    path.write_bytes(data.replace(first, key(3) + b"\x05").replace(second, key(4) + b"\x04"))
    with Journal(workspace) as journal:
        for number in (3, 4):
            found = journal.find(key(number))
            assert isinstance(found, ChatReply) and found.text == reply(number).text
    assert verify_journal(workspace).is_sound


@pytest.mark.parametrize("seed", range(40))
def test_one_flipped_bit_is_an_error_with_its_fix_or_changes_nothing(workspace: Path, seed: int) -> None:
    path, rng = workspace / JOURNAL_FILE, random.Random(seed)
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    try:
        with Journal(workspace) as journal:
            found = [journal.find(key(number)) for number in range(COUNT)]
        total = read_ledger(workspace).total
    except UserError as error:
        assert error.fix
    else:
        for number, one in enumerate(found):
            assert one is None or (isinstance(one, ChatReply) and one.text == reply(number).text)
        assert total.usd == pytest.approx(0.01 * (total.calls - total.unpriced)), "never another number"
        assert total.usd <= 0.01 * COUNT + 1e-9
        if total.usd < 0.01 * COUNT - 1e-9:
            assert total.money.startswith("at least") or verify_journal(workspace).fault is not None
    check = repair_journal(workspace)
    assert verify_journal(workspace).is_sound
    with Journal(workspace) as journal:
        left = [journal.find(key(number)) for number in range(COUNT)]
    assert all(one is None or one.text == reply(n).text for n, one in enumerate(left) if not isinstance(one, Failure))
    if check.kept_as is not None and check.rows:
        assert sum(one is not None for one in left) == check.rows >= COUNT - 25, "all but a page of rows"


@pytest.mark.parametrize("how", ["copied", "swapped"])
def test_a_page_in_the_place_of_another_counts_no_call_twice(workspace: Path, how: str) -> None:
    path = workspace / JOURNAL_FILE
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    data = path.read_bytes()
    # Leaf pages of a table begin with 13; those of `calls` hold the names of its model.
    pages = [at for at in range(0, len(data), 4096) if data[at] == 13 and b"openai/m" in data[at : at + 4096]]
    first, last = (data[at : at + 4096] for at in (pages[0], pages[-1]))
    assert len(pages) > 1 and first != last
    changed = bytearray(data)
    changed[pages[-1] : pages[-1] + 4096] = first
    if how == "swapped":
        changed[pages[0] : pages[0] + 4096] = last
    path.write_bytes(changed)
    with pytest.raises(UserError, match="damaged") as caught:
        read_ledger(workspace)
    assert caught.value.fix is not None and "--repair" in caught.value.fix
    assert not verify_journal(workspace).is_sound
    repair_journal(workspace)
    assert verify_journal(workspace).is_sound
    with Journal(workspace) as journal:
        left = [(number, journal.find(key(number))) for number in range(COUNT)]
    assert all(one is None or (isinstance(one, ChatReply) and one.text == reply(n).text) for n, one in left)
    total = read_ledger(workspace).total
    assert total.money.startswith("at least") and total.usd < 0.01 * COUNT


def test_verify_and_repair_on_the_command_line(workspace: Path, cli: Cli) -> None:
    def ledger(*options: str) -> tuple[int, str]:
        done = cli("ledger", *options, "--workspace", str(workspace))
        return done.returncode, done.stdout + done.stderr

    assert ledger("--verify")[0] == 0
    change(workspace, "UPDATE calls SET output = 8 WHERE id IN (2, 9)")
    code, said = ledger("--verify")
    assert code == 4 and "Damaged rows: 2, 9." in said and "--repair" in said
    code, said = ledger("--repair")
    assert code == 0 and "journal.damaged-" in said
    assert ledger("--verify")[0] == 0
    assert read_ledger(workspace).total.failures == {"damaged": 2}


def test_changed_counts_of_reused_replies_are_noticed(workspace: Path) -> None:
    with Journal(workspace) as journal:
        journal.count_hit("think", "openai/m", 0.5)
    assert read_ledger(workspace).total.from_journal == 1
    change(workspace, "UPDATE hits SET count = 100")
    with pytest.raises(UserError, match="reused replies"):
        read_ledger(workspace)
    check = verify_journal(workspace)
    assert not check.is_sound and repair_journal(workspace).kept_as is not None
    assert read_ledger(workspace).total.from_journal == 0


def test_a_journal_of_before_has_no_checksums_and_is_read(workspace: Path) -> None:
    change(workspace, "UPDATE calls SET checksum = NULL")
    with Journal(workspace) as journal:
        found = journal.find(key(9))
        assert isinstance(found, ChatReply) and found.text == reply(9).text
    check = verify_journal(workspace)
    assert check.is_sound and check.unchecked == COUNT and "had no checksum" in str(check)
    change(workspace, "UPDATE calls SET reply = x'00' WHERE id = 3")
    with Journal(workspace) as journal:
        assert journal.find(key(2)) is None, "what can't be read is damage without a checksum, too"


def test_what_is_no_database_is_repaired_to_an_empty_journal(workspace: Path) -> None:
    path = workspace / JOURNAL_FILE
    path.write_bytes(b"x" * 5000)
    with pytest.raises(UserError, match="not a Sightline database") as refused:
        read_ledger(workspace)
    assert "sightline ledger --repair" in (refused.value.fix or "")
    check = repair_journal(workspace)
    assert check.rows == 0 and check.kept_as is not None and check.kept_as.read_bytes() == b"x" * 5000
    assert read_ledger(workspace).total.money == "unknown", "what was paid before is not nothing"


# --- calls in flight -------------------------------------------------------------------------------------------------

KILLED = """
import asyncio, sys, time
from pathlib import Path
from sightline.calls.in_flight import LostCall
from sightline.calls.journal import Journal
from sightline.calls.journal_tables import Call
from sightline.types import ChatReply

async def main():
    journal = Journal(Path(sys.argv[1]))
    for number in range(5):
        journal.sending(LostCall(bytes([number]) * 32, "think", f"task {number}", "openai/m", time.time()))
    await journal.record(Call(bytes([0]) * 32, "think", "openai/m", "e", 1.0, ChatReply("x"), usd=0.5))
    journal.unpaid(bytes([1]) * 32)
    print("sent", flush=True)
    time.sleep(600)

asyncio.run(main())
"""


def test_calls_in_flight_at_a_kill_make_the_ledger_say_at_least(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "sent\n"
    assert read_ledger(tmp_path).total.money == "$0.50", "while it lives they are under way"
    process.kill()
    process.wait()
    process.stdout.close()
    total = read_ledger(tmp_path).total
    assert total.money == "at least $0.50" and total.failures == {"interrupted": 3} and total.calls == 4
    assert read_ledger(tmp_path).total == total, "noted once"
    assert list((tmp_path / CLAIMS_FOLDER).iterdir()) == []


def test_slots_are_used_again_and_grow(tmp_path: Path) -> None:
    file = InFlightFile(tmp_path / "slots")
    calls = [LostCall(key(number), "stage", f"task {number}", "m" * number, 1.0) for number in range(900)]
    for one in calls:
        file.begin(one)
        file.begin(one)
    for one in calls[:890]:
        file.end(one.key)
        file.end(one.key)
    file.begin(calls[3])
    left = {one.key: one for one in lost_calls(file.fileno())}
    assert set(left) == {calls[3].key, *(one.key for one in calls[890:])}
    assert left[calls[3].key] == calls[3]
    assert left[calls[899].key].task is None, "what is too long is cut"
    file.close()
    assert (tmp_path / "slots").exists(), "calls in flight are kept"


class Full(sqlite3.OperationalError):
    sqlite_errorcode = sqlite3.SQLITE_FULL


def test_on_a_full_disk_what_is_in_flight_is_kept_and_nothing_more_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        with Journal(tmp_path) as journal:
            write = journal._writer._write
            for number in range(3):
                journal.sending(LostCall(key(number), "s", None, "m", 1.0))
            file = next((tmp_path / CLAIMS_FOLDER).iterdir())
            assert file.stat().st_size > 4 << 20, "room is set aside"

            def full(database: sqlite3.Connection, rows: object) -> None:
                if file.stat().st_size > 1 << 20:
                    raise Full("database or disk is full")
                write(database, rows)  # type: ignore[arg-type]

            monkeypatch.setattr(journal._writer, "_write", full)
            await asyncio.gather(*(journal.record(call(number)) for number in range(3)))
            with pytest.raises(UserError, match="Nothing more is sent"):
                journal.sending(LostCall(key(7), "s", None, "m", 1.0))
            with pytest.raises(UserError, match="Nothing more is sent"):
                await journal.seek(key(8), fresh=True)

    asyncio.run(main())
    with Journal(tmp_path) as journal:
        assert all(journal.find(key(number)) is not None for number in range(3))
    assert read_ledger(tmp_path).total.money == "$0.030"


def test_replies_that_could_not_be_kept_are_counted_as_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    async def main() -> None:
        with Journal(tmp_path) as journal:
            await journal.record(call(1))
            journal.sending(LostCall(key(2), "s", None, "m", 1.0))
            monkeypatch.setattr(journal._writer, "_write", broken)
            with pytest.raises(UserError, match="the 1 call in flight"):
                await journal.record(call(2))

    asyncio.run(main())
    assert read_ledger(tmp_path).total.money == "at least $0.010"


def test_without_room_on_the_disk_nothing_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", refuse)
    with Journal(tmp_path) as journal:
        with pytest.raises(UserError, match="no room") as error:
            journal.sending(LostCall(key(1), "s", None, "m", 1.0))
        assert "MB" in (error.value.fix or "")
    assert read_ledger(tmp_path).total.calls == 0
