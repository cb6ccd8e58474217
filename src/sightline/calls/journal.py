"""The journal of calls, and so the cache of replies: nothing is paid for twice, and what was paid is never forgotten.

One SQLite file in the workspace. Docs: docs/engine.md; why it is as it is: docs/design/journal.md.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from sightline.calls.in_flight import LostCall
from sightline.calls.journal_claims import (
    ClaimEntry,
    ForgottenOwner,
    JournalOwner,
    ReleasedClaim,
    RequestClaim,
    collect_lost,
    is_alive,
    write_claims,
)
from sightline.calls.journal_repair import REPAIR, explain, set_aside_damaged
from sightline.calls.journal_tables import (
    FIND,
    INSERT,
    MIGRATIONS,
    REPLY,
    Call,
    DamagedRowError,
    from_row,
    seal_hits,
    to_row,
)
from sightline.calls.journal_tables import JOURNAL_FILE as FILE_NAME
from sightline.calls.journal_writer import GroupWriter
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.sqlite import DATABASE_FAULTS, error_kind, is_damage, open_database
from sightline.types import ChatReply, Failure, Usage

_COUNT_HIT = """INSERT INTO hits VALUES (?, ?, ?, ?) ON CONFLICT (stage, model)
    DO UPDATE SET count = count + excluded.count, usd = usd + excluded.usd"""
_FIRST_LOOK, _LONGEST_LOOK = 0.05, 1.0
"""Seconds between two looks at what another process is asking."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Hits:
    stage: str
    model: str
    count: int
    usd: float


JournalEntry: TypeAlias = "tuple[Any, ...] | _Hits | ClaimEntry"
"""A row of `calls` (made by whoever hands it in, so that what can't be written concerns nobody else), or another."""


class PilotChain(NamedTuple):
    """Tokens of the calls for one task: requests that begin a conversation, and what followed from them."""

    first: list[Usage]
    following: list[Usage]


class EndpointHistory(NamedTuple):
    """What is known from before of a stage that asks a model at an endpoint."""

    answered: bool
    "Was there ever a reply?"
    worn_out: frozenset[bytes]
    "Keys of the model's requests that were given up, because the server failed at all attempts."


class JournalLike(Protocol):
    """What a caller needs of a journal: a `Journal`, or one that is reached over a wire."""

    async def seek(self, key: bytes, *, fresh: bool) -> ChatReply | Failure | None:
        """What is known of a request, unless a `fresh` reply is wanted; None: whoever sought it is to ask it now.

        While somebody asks it, others who seek it wait, and get what comes of it.
        """

    def leave(self, key: bytes) -> None:
        """Whoever was to ask it has done with it, also when nothing came of it."""

    async def record(self, call: Call) -> None: ...

    def record_later(self, call: Call) -> None: ...

    def sending(self, call: LostCall) -> None:
        """A request is about to be sent; raises where what comes of it could not be kept."""

    def unpaid(self, key: bytes) -> None:
        """What was sent costs nothing."""

    def count_hit(self, stage: str, model: str, usd: float | None) -> None: ...

    async def past(self, endpoint: str, model: str, stage: str, attempts: int) -> EndpointHistory:
        """What is known from before; a request was given up when it failed after so many attempts."""


class Journal:
    """The workspace's journal; several processes may use one at a time, each through its own `Journal`."""

    def __init__(self, workspace: Path) -> None:
        self.path = workspace / FILE_NAME
        self._reading = self._connect()
        self._writer: GroupWriter[JournalEntry] = GroupWriter(self._connect, _write, self._rescue)
        self._hits: dict[tuple[str, str], tuple[int, float]] = {}
        self._asking: dict[bytes, asyncio.Future[ChatReply | Failure]] = {}
        self._owner = JournalOwner(workspace)
        self._claimed: set[bytes] = set()
        # A claim finds out, too, whether there is an answer: where the last look was in vain, one look is enough.
        self._looks_first = True
        self._later: set[bytes] = set()
        self._stopped: UserError | None = None
        with suppress(sqlite3.Error):  # It stays where it is, for the next to note.
            collect_lost(workspace, self._reading)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what is left; safe to call twice."""
        if self._writer.is_closed:
            return
        for (stage, model), (count, usd) in self._hits.items():
            self._writer.put_later(_Hits(stage, model, count, usd))
        self._hits.clear()
        if self._claimed:
            self._writer.put_later(ForgottenOwner(self._owner.name))
        self._writer.close()
        if not self._writer.has_failed:
            self._owner.ended(self._later)
        self._owner.end()
        self._reading.close()

    def find(self, key: bytes) -> ChatReply | Failure | None:
        """The latest reply to this request (marked `from_journal`), or the failure that it would meet again."""
        try:
            return self._found(key)
        except (DamagedRowError, *DATABASE_FAULTS) as error:
            with self._explained():
                set_aside_damaged(self._reading, self.path, key, error)
                return self._found(key)

    def _found(self, key: bytes) -> ChatReply | Failure | None:
        row = self._reading.execute(FIND, (key,)).fetchone()
        return None if row is None else from_row(row, key)

    async def seek(self, key: bytes, *, fresh: bool) -> ChatReply | Failure | None:
        """`find`, unless a `fresh` reply is wanted; while another asks the same, also another process, wait for it.

        Two processes that both want a fresh reply get one each.
        """
        while (asked := self._asking.get(key)) is not None:
            await asyncio.wait((asked,))
            if not asked.cancelled():
                return asked.result()
        if not fresh and self._looks_first and (known := self._look(key)) is not None:
            return known
        self._refuse_if_stopped()
        self._asking[key] = asyncio.get_running_loop().create_future()
        if fresh:
            return None
        try:
            found = await self._claim(key)
        except BaseException:
            self.leave(key)
            raise
        if found is not None:
            self._asking[key].set_result(found)
            self.leave(key)
        return found

    def _look(self, key: bytes) -> ChatReply | Failure | None:
        known = self.find(key)
        self._looks_first = known is not None or not self._owner.can_claim
        return known

    def leave(self, key: bytes) -> None:
        """Whoever asked has done with it; if nothing came of it, another may ask."""
        asked = self._asking.pop(key, None)
        if asked is not None:
            asked.cancel()  # No effect after an answer: then whoever waits has it.
        if key in self._claimed:
            self._claimed.remove(key)
            self._put_later(ReleasedClaim(key, self._owner.name))

    async def record(self, call: Call) -> None:
        """Keep a call; returns when it is on disk, and whoever waits for it has it."""
        row = to_row(call)
        await self._put(row, *self._given_up(call.key))
        self._owner.ended((call.key,), len(row[REPLY] or b""))
        asked = self._asking.get(call.key)
        if asked is not None and not asked.done():
            asked.set_result(call.result)

    def record_later(self, call: Call) -> None:
        """Keep a call that nobody waits for; on disk when the journal is closed."""
        self._put_later(to_row(call))
        self._later.add(call.key)

    def sending(self, call: LostCall) -> None:
        """A request is about to be sent: noted first, so that a kill leaves word of it. Refused after a failed write.

        The first one makes sure of room on the disk.
        """
        self._refuse_if_stopped()
        if self._owner.can_claim:
            self._owner.in_flight().begin(call)

    def unpaid(self, key: bytes) -> None:
        """What was sent costs nothing: a kill need not leave word of it."""
        self._owner.ended((key,))

    def count_hit(self, stage: str, model: str, usd: float | None) -> None:
        """A request was answered from here; kept for the ledger, and written when the journal is closed."""
        count, saved = self._hits.get((stage, model), (0, 0.0))
        self._hits[stage, model] = (count + 1, saved + (usd or 0.0))

    def pilot(self, stage: str, model: str, turn: int = 0, most: int = 1000) -> list[PilotChain]:
        """Tokens of the latest calls of a stage that were paid for, also those that failed, to plan with.

        A chain is what was asked for one task: requests that hold `turn` replies begin a conversation, and repairs and
        further turns follow from them.
        """
        chains: dict[object, PilotChain] = {}
        with self._explained():
            rows = self._reading.execute(
                """SELECT id, task, turn, input, cached, output, reasoning, image, cache_written FROM calls
                WHERE stage = ? AND model = ? AND reported = 1 AND (failure IS NULL OR input + output > 0)
                ORDER BY id DESC LIMIT ?""",
                (stage, model, most),
            )
            for number, task, held, *tokens in rows:
                chain = chains.setdefault(number if task is None else task, PilotChain([], []))
                (chain.first if held <= turn else chain.following).append(Usage(*tokens))
        return [chain for chain in chains.values() if chain.first]

    async def past(self, endpoint: str, model: str, stage: str, attempts: int) -> EndpointHistory:
        """What is known from before; it reads the whole table, in a thread."""
        return await asyncio.to_thread(self._read_past, endpoint, model, stage, attempts)

    def _read_past(self, endpoint: str, model: str, stage: str, attempts: int) -> EndpointHistory:
        with closing(self._connect()) as reading:
            (answered,) = reading.execute(
                """SELECT EXISTS (SELECT 1 FROM calls
                WHERE endpoint = ? AND model = ? AND stage = ? AND failure IS NULL)""",
                (endpoint, model, stage),
            ).fetchone()
            worn_out = reading.execute(
                "SELECT key FROM calls WHERE model = ? AND failure = 'server-error' AND attempts >= ?",
                (model, attempts),
            )
            return EndpointHistory(bool(answered), frozenset(key for (key,) in worn_out))

    async def _claim(self, key: bytes) -> ChatReply | Failure | None:
        """Take a request as ours to ask, before all other processes; else what came of it elsewhere."""
        pause = _FIRST_LOOK
        while self._owner.can_claim:
            claim = RequestClaim(key, self._owner.name)
            try:
                await self._put(claim)
            except asyncio.CancelledError:
                self._put_later(ReleasedClaim(key, self._owner.name))
                raise
            if claim.is_ours:
                self._claimed.add(key)
                return None
            while True:
                if (known := self._look(key)) is not None:
                    return known
                holder = self._reading.execute("SELECT owner FROM claims WHERE key = ?", (key,)).fetchone()
                if holder is None:
                    break
                if not is_alive(self.path.parent, holder[0]):
                    collect_lost(self.path.parent, self._reading)
                    await self._put(ForgottenOwner(holder[0]))
                    break
                _log.info("another process asks for the same; waiting for its reply")
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_LOOK)
        return None

    def _given_up(self, key: bytes) -> tuple[ReleasedClaim, ...]:
        """The claim on a request, to be taken away together with the row that answers it."""
        if key not in self._claimed:
            return ()
        self._claimed.remove(key)
        return (ReleasedClaim(key, self._owner.name),)

    async def _put(self, *entries: JournalEntry) -> None:
        try:
            await self._writer.put(*entries)
        except DATABASE_FAULTS as error:
            raise self._explain(error) from error

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except DATABASE_FAULTS as error:
            raise self._explain(error) from error

    def _put_later(self, entry: JournalEntry) -> None:
        if self._writer.is_closed:
            _log.warning("%s is closed: what became of a call that was broken off is not written down", self.path)
        else:
            self._writer.put_later(entry)

    def _connect(self) -> sqlite3.Connection:
        database = open_database(self.path, MIGRATIONS, any_thread=True, existing=True, fix=REPAIR)
        database.execute("PRAGMA synchronous = FULL")  # A paid call outlives a power cut, too.
        return database

    def _rescue(self, error: sqlite3.Error) -> bool:
        """A write failed: nothing more is sent. On a full disk the room that was set aside keeps what is in flight."""
        is_full = error_kind(error) == sqlite3.SQLITE_FULL
        self._stopped = self._explain(error)
        return is_full and self._owner.release_room()

    def _refuse_if_stopped(self) -> None:
        if self._stopped is not None:
            raise self._stopped.again()

    def _explain(self, error: Exception) -> UserError:
        if is_damage(error):
            return explain(self.path, error)
        in_flight = self._owner.calls_in_flight
        return UserError(
            f"{self.path} can't be written: {error}. Nothing more is sent; of the {counted(in_flight, 'call')} "
            "in flight those whose replies can't be kept would be paid again.",
            "make room on the disk, or end the other program that locks the file, and run the same command again",
        )


def write_calls(database: sqlite3.Connection, calls: Iterable[Call]) -> None:
    """Add calls inside a transaction of one's own, together with what else belongs to them."""
    database.executemany(INSERT, map(to_row, calls))


def _write(database: sqlite3.Connection, entries: Sequence[JournalEntry]) -> None:
    calls: list[tuple[Any, ...]] = []
    hits: list[_Hits] = []
    claims: list[ClaimEntry] = []
    for entry in entries:
        if isinstance(entry, tuple):
            calls.append(entry)
        elif isinstance(entry, _Hits):
            hits.append(entry)
        else:
            claims.append(entry)
    database.executemany(INSERT, calls)
    write_claims(database, claims)
    for entry in hits:
        database.execute(_COUNT_HIT, (entry.stage, entry.model, entry.count, entry.usd))
        seal_hits(database)
