"""What calls took: money, tokens, time and failures, by stage and model, from the journal."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import orjson

from sightline.calls.journal_claims import collect_lost
from sightline.calls.journal_repair import REPAIR, explain
from sightline.calls.journal_tables import (
    DAMAGED,
    JOURNAL_FILE,
    MIGRATIONS,
    columns_checksum,
    hits_are_sound,
    missing_rows,
)
from sightline.errors import UserError
from sightline.io.sqlite import DATABASE_FAULTS, open_database
from sightline.plain_text import dollars

LedgerGrouping: TypeAlias = Literal["stage", "model"]
_DAMAGED = """SELECT id FROM calls WHERE NOT sound(id, checksum, key, stage, task, model, endpoint, sample, at, seconds,
    attempts, input, cached, output, reasoning, image, cache_written, reported, usd, failure, message, reusable,
    at_least, turn)"""
_SOUND = "id NOT IN (SELECT value FROM json_each(?))"
_SUMS = f"""SELECT stage, model, count(*), total(input), total(cached), total(output), total(reasoning), total(image),
    total(coalesce(usd, at_least)), total(usd IS NULL) FROM calls WHERE {_SOUND} GROUP BY stage, model"""
_FAILURES = f"""SELECT stage, model, failure, count(*) FROM calls WHERE failure IS NOT NULL AND {_SOUND}
    GROUP BY stage, model, failure"""
_SECONDS = f"SELECT stage, model, seconds FROM calls WHERE failure IS NULL AND seconds IS NOT NULL AND {_SOUND}"
_LOST = "SELECT stage, model, why, count(*) FROM lost GROUP BY stage, model, why"
_TOKENS = ("input", "cached", "output", "reasoning", "image")
_ADDED = ("calls", "from_journal", *_TOKENS, "usd", "unpriced", "saved_usd")


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """What the calls of a stage and a model took; `usd` leaves out the `unpriced` ones, whose price is not known."""

    stage: str | None = None
    model: str | None = None
    calls: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    from_journal: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    image: int = 0
    usd: float = 0.0
    unpriced: int = 0
    saved_usd: float = 0.0
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None

    @property
    def failed(self) -> int:
        return sum(self.failures.values())

    @property
    def money(self) -> str:
        """`$1.20`; `at least $1.20` when some calls have no known price, `unknown` when none that was paid has."""
        if self.unpriced == 0:
            return dollars(self.usd)
        return f"at least {dollars(self.usd)}" if self.usd else "unknown"

    def to_dict(self) -> dict[str, Any]:
        """For JSON; `usd` is null when it is not known at all."""
        usd = None if self.money == "unknown" else self.usd
        return asdict(self) | {"usd": usd, "failed": self.failed, "money": self.money}


@dataclass(frozen=True, slots=True)
class Ledger:
    """A row for each stage and model (or for each of one of them), and all of it together."""

    rows: tuple[LedgerRow, ...]
    total: LedgerRow

    def to_dict(self) -> dict[str, Any]:
        return {"rows": [row.to_dict() for row in self.rows], "total": self.total.to_dict()}


def read_ledger(workspace: Path, by: LedgerGrouping | None = None) -> Ledger:
    """Add up the journal of a workspace, by stage and model, or by one of them."""
    path = workspace / JOURNAL_FILE
    if not path.is_file():
        raise UserError(f"there is no journal in {workspace}: no model was asked there.", "give another --workspace")
    with closing(open_database(path, MIGRATIONS, existing=True, fix=REPAIR)) as database:
        try:
            collect_lost(workspace, database)
            damaged = _damaged(database)
            sums, seconds = _sums(database, damaged), _seconds(database, damaged)
        except DATABASE_FAULTS as error:
            raise explain(path, error) from error
    groups: dict[tuple[str | None, str | None], list[LedgerRow]] = {}
    for row in sums:
        key = (None if by == "model" else row.stage, None if by == "stage" else row.model)
        groups.setdefault(key, []).append(row)
    rows = tuple(_add_up(key, parts, seconds) for key, parts in groups.items())
    return Ledger(rows, _add_up((None, None), sums, seconds))


def _damaged(database: sqlite3.Connection) -> list[int]:
    """Rows whose numbers can't be trusted; the replies, which the ledger does not read, are not looked at."""
    last, is_ordered = 0, True

    def is_sound(number: int, checksum: int | None, key: bytes, *columns: Any) -> bool:
        nonlocal last, is_ordered
        last, is_ordered = number, is_ordered and number > last
        if checksum is None:  # Of before, unless the row is empty.
            return None not in (key, columns[0], columns[2])
        return checksum & 0xFFFFFFFF == columns_checksum(key, *columns)

    database.create_function("sound", -1, is_sound, deterministic=True)
    if missing := missing_rows(database):
        raise sqlite3.DatabaseError(f"{missing:,} rows are missing")
    damaged = [number for (number,) in database.execute(_DAMAGED)]
    if not is_ordered:  # A page was written over another: some rows stand twice, and others are gone.
        raise sqlite3.DatabaseError("its rows are out of order")
    return damaged


def _sums(database: sqlite3.Connection, damaged: list[int]) -> list[LedgerRow]:
    """Calls that were `lost`, or are damaged, count as paid at a price that is not known."""
    left_out = (orjson.dumps(damaged).decode(),)
    rows: dict[tuple[str, str], LedgerRow] = {}
    for stage, model, calls, *tokens, usd, unpriced in database.execute(_SUMS, left_out):
        counts: dict[str, Any] = dict(zip(_TOKENS, map(int, tokens), strict=True))
        rows[stage, model] = LedgerRow(stage, model, calls, usd=usd, unpriced=int(unpriced), **counts)
    for stage, model, kind, count in database.execute(_FAILURES, left_out):
        rows[stage, model].failures[kind] = count
    if not hits_are_sound(database):
        raise sqlite3.DatabaseError("what is counted of reused replies is not what was written")
    for stage, model, count, usd in database.execute("SELECT stage, model, count, usd FROM hits"):
        row = rows.get((stage, model), LedgerRow(stage, model))
        rows[stage, model] = replace(row, from_journal=count, saved_usd=usd)
    lost = [*database.execute(_LOST), *([("unknown", "unknown", DAMAGED, len(damaged))] if damaged else [])]
    for stage, model, why, count in lost:
        stage, model, why = stage or "unknown", model or "unknown", why or DAMAGED
        row = rows.get((stage, model), LedgerRow(stage, model))
        failures = row.failures | {why: row.failures.get(why, 0) + count}
        rows[stage, model] = replace(row, calls=row.calls + count, unpriced=row.unpriced + count, failures=failures)
    return [rows[key] for key in sorted(rows)]


def _seconds(database: sqlite3.Connection, damaged: list[int]) -> dict[tuple[str, str], array[float]]:
    found: dict[tuple[str, str], array[float]] = {}
    for stage, model, seconds in database.execute(_SECONDS, (orjson.dumps(damaged).decode(),)):
        found.setdefault((stage, model), array("d")).append(seconds)
    return found


def _add_up(
    key: tuple[str | None, str | None], parts: Iterable[LedgerRow], seconds: dict[tuple[str, str], array[float]]
) -> LedgerRow:
    totals: dict[str, Any] = dict.fromkeys(_ADDED, 0)
    failures: dict[str, int] = {}
    times: array[float] = array("d")
    for part in parts:
        for name in _ADDED:
            totals[name] += getattr(part, name)
        for kind, count in part.failures.items():
            failures[kind] = failures.get(kind, 0) + count
        times.extend(seconds.get((part.stage or "", part.model or ""), ()))
    stage, model = key
    p50, p95, p99 = _percentiles(times)
    return LedgerRow(stage, model, failures=failures, p50=p50, p95=p95, p99=p99, **totals)


def _percentiles(times: array[float]) -> tuple[float | None, float | None, float | None]:
    """The 50th, 95th and 99th, linear between the two nearest; None when there are no times."""
    import numpy as np

    if not times:
        return None, None, None
    p50, p95, p99 = np.percentile(np.frombuffer(times, dtype=np.float64), [50, 95, 99])
    return float(p50), float(p95), float(p99)
