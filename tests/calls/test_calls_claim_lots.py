"""Claims that are written many at a time come out as if they were written one by one."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.calls.journal import write_calls
from sightline.calls.journal_claims import (
    ClaimEntry,
    ForgottenOwner,
    ReleasedClaim,
    RequestClaim,
    _write_one,
    write_claims,
)
from sightline.calls.journal_tables import MIGRATIONS, Call
from sightline.io.sqlite import open_database
from sightline.types import ChatReply

OURS, THEIRS = "ours", "theirs"
KEYS = [bytes([number]) * 32 for number in range(6)]
KEY = st.sampled_from(KEYS)
ENTRIES = st.lists(
    st.one_of(
        KEY.map(lambda key: RequestClaim(key, OURS)),
        KEY.map(lambda key: ReleasedClaim(key, OURS)),
        st.just(ForgottenOwner(THEIRS)),
    ),
    max_size=6,
)


def outcome(
    entries: list[ClaimEntry], before: set[bytes], answered: set[bytes], lot: bool
) -> tuple[list[Any], list[bool | None]]:
    entries = [copy(entry) for entry in entries]
    with TemporaryDirectory() as folder:
        database = open_database(Path(folder) / "j.sqlite", MIGRATIONS)
        write_calls(database, [Call(key, "s", "m", "e", 1.0, ChatReply("x")) for key in answered])
        database.executemany("INSERT INTO claims VALUES (?, ?)", [(key, THEIRS) for key in before])
        if lot:
            write_claims(database, entries)
        else:
            for entry in entries:
                _write_one(database, entry)
        rows = database.execute("SELECT key, owner FROM claims ORDER BY key").fetchall()
        database.close()
    return rows, [entry.is_ours for entry in entries if isinstance(entry, RequestClaim)]


@given(ENTRIES, st.sets(KEY, max_size=3), st.sets(KEY, max_size=3))
@settings(max_examples=150, deadline=None)
def test_a_lot_is_as_good_as_one_by_one(entries: list[ClaimEntry], before: set[bytes], answered: set[bytes]) -> None:
    assert outcome(entries, before, answered, True) == outcome(entries, before, answered, False)


def test_who_is_too_late_is_told_so() -> None:
    rows, ours = outcome([RequestClaim(key, OURS) for key in KEYS], {KEYS[1]}, {KEYS[2]}, True)
    assert ours == [True, False, False, True, True, True]
    assert (KEYS[1], THEIRS) in rows and len(rows) == 5
