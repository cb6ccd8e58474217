"""Shards of traces: read back, rows removed from them, and written from checked rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from sightline.benchmark.formats.parquet import as_json, read_table, write_file
from sightline.io.files import PathLike
from sightline.io.jsonl import read_jsonl, write_jsonl
from sightline.reason.traces.folder import DATA, TraceFormat, read_header, shard_files, writing
from sightline.reason.traces.index import NearDuplicate, TraceIndex, bands_of, minhashes_of
from sightline.reason.traces.records import CUT_OFF, CheckedTrace, TraceRow, Verified
from sightline.types import Failure, Trace, Traces

Write: TypeAlias = Callable[[str, Sequence[Mapping[str, Any]]], int]
"""Writes the records of a file of the folder, and says how large it is; `TraceShards.write`."""
_PRINTS = """SELECT id, value FROM prints
    WHERE trace IN (SELECT row || ':' || (place + 1) FROM outcomes WHERE row IN leaving)"""
_FORGET = """
DELETE FROM outcomes WHERE row IN leaving;
DELETE FROM rows WHERE id IN leaving;
DELETE FROM shards WHERE number NOT IN (SELECT shard FROM rows)
"""
SHARD_ROWS = 1_000
_MOST_CHARACTERS = 32 << 20
_COUNTED = ("input", "cached", "output", "reasoning", "image", "reported")
_USAGE = {
    "model": "string",
    "finish": "string",
    **dict.fromkeys(_COUNTED, "int64"),
    "reported": "bool",
    "usd": "float64",
}


class StoredTraceRow(NamedTuple):
    """A row of the data set: its references are the traces that were kept, in the order of the teachers."""

    id: str
    picture: str
    prompt: str
    traces: Traces


def read_traces(folder: PathLike) -> Iterator[StoredTraceRow]:
    """The rows of a folder that `sightline think` made, finished or not, in order."""
    place = Path(folder).expanduser()
    teachers = len(read_header(place)["teachers"])
    for shard in sorted((place / DATA).glob("train-*")):
        for record in records_of(shard):
            references = tuple(
                Trace(record[f"think_{number}"], record[f"answer_{number}"], record[f"model_{number}"])
                for number in range(1, teachers + 1)
                if record[f"answer_{number}"] is not None
            )
            yield StoredTraceRow(record["id"], record["picture"], record["prompt"], Traces(references))


def records_of(shard: Path) -> Iterator[dict[str, Any]]:
    """The rows of a shard as they were written; `checks` of a Parquet file is JSON text."""
    if shard.suffix == ".parquet":
        yield from read_table(shard)
    else:
        yield from (record for _, record in read_jsonl(shard))


def remove_rows(
    index: TraceIndex, folder: Path, write: Write, ids: Collection[str], damaged: Collection[int] = ()
) -> None:
    """Rows leave, and all of `damaged` shards with their files; in a change of the index that the caller began.

    Killed before its end, the files have other sizes than the index says: the next run makes them again.
    """
    database = index.database
    database.execute("CREATE TEMP TABLE IF NOT EXISTS leaving (id TEXT PRIMARY KEY)")
    database.execute("DELETE FROM leaving")
    database.executemany("INSERT INTO leaving VALUES (?)", ((id_,) for id_ in ids))
    touched = {shard for (shard,) in database.execute("SELECT DISTINCT shard FROM rows WHERE id IN leaving")}
    for number in sorted(touched.difference(damaged)):
        _write_without(index, folder, write, number, ids)
    for number in damaged:
        database.execute("INSERT OR IGNORE INTO leaving SELECT id FROM rows WHERE shard = ?", (number,))
        for file in _files(index, number):
            (folder / file).unlink(missing_ok=True)
        database.execute("DELETE FROM files WHERE shard = ?", (number,))
    _forget_prints(index)
    for statement in _FORGET.split(";"):
        database.execute(statement)


def _write_without(index: TraceIndex, folder: Path, write: Write, number: int, ids: Collection[str]) -> None:
    """The files of a shard again, without some rows."""
    for file in _files(index, number):
        records = [record for record in records_of(folder / file) if record["id"] not in ids]
        size = write(file, records)
        if size:
            index.database.execute("UPDATE files SET bytes = ? WHERE path = ?", (size, file))
        else:
            index.database.execute("DELETE FROM files WHERE path = ?", (file,))
        index.database.execute("UPDATE shards SET rows = ? WHERE file = ?", (len(records), file))


def _forget_prints(index: TraceIndex) -> None:
    found = index.database.execute(_PRINTS).fetchall()
    bands = ((band, id_) for id_, print_ in found for band in bands_of(print_))
    index.database.executemany("DELETE FROM bands WHERE band = ? AND print = ?", bands)
    index.database.executemany("DELETE FROM prints WHERE id = ?", ((id_,) for id_, _ in found))


def _files(index: TraceIndex, number: int) -> list[str]:
    return [path for (path,) in index.database.execute("SELECT path FROM files WHERE shard = ?", (number,))]


class TraceShards:
    """Gathers rows and writes them as shards; a shard is in the index as soon as all of it is on disk."""

    def __init__(
        self, folder: Path, index: TraceIndex, models: Sequence[str], format_: TraceFormat, shard_rows: int = SHARD_ROWS
    ) -> None:
        self._folder, self._index, self._models = folder, index, tuple(models)
        self._format, self._shard_rows = format_, shard_rows
        self._rows: list[TraceRow] = []
        self._characters = 0

    def add(self, row: TraceRow) -> None:
        """One more row; the shard is written when it is full."""
        self._rows.append(row)
        self._characters += sum(len(trace.thinking) + len(trace.answer) for trace in row.found.traces)
        if len(self._rows) >= self._shard_rows or self._characters >= _MOST_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Write what was gathered."""
        if not self._rows:
            return
        with self._index.change():
            self._write_shard(self._without_copies(self._take_places()))
        self._rows, self._characters = [], 0

    def _write_shard(self, rows: Sequence[TraceRow]) -> None:
        if not rows:
            return
        number = self._index.next_number()
        kept = [row for row in rows if any(trace.state == "kept" for trace in row.found.traces)]
        file, beside = shard_files(number, self._format)
        # A shard that was written when the process was killed, before it was counted, is written over.
        sizes = {
            file: self.write(file, [self._cells(row) for row in kept]),
            beside: self.write(beside, [record for row in rows for record in self._rejected(row)]),
        }
        self._index.add_shard(number, file, rows, len(kept), {name: size for name, size in sizes.items() if size})

    def _take_places(self) -> list[TraceRow]:
        """The rows to write; one that was asked again takes the place of the row that is there, unless more failed."""
        before = self._index.failures(row.question.id for row in self._rows)
        rows = [row for row in self._rows if _failures(row) <= before.get(row.question.id, len(self._models))]
        again = {row.question.id for row in rows if row.question.id in before}
        if again:
            remove_rows(self._index, self._folder, self.write, again)
        return sorted(rows, key=lambda row: row.question.id not in again)  # What was there is no copy of what is new.

    def _without_copies(self, rows: Sequence[TraceRow]) -> list[TraceRow]:
        kept = [(_name(row, place), trace) for row in rows for place, trace in _kept(row)]
        prints = minhashes_of(f"{trace.thinking}\n{trace.answer}" for _, trace in kept)
        copies = self._index.copies({name: print_ for (name, _), print_ in zip(kept, prints, strict=True)})
        return [_but_for(row, copies) for row in rows]

    def write(self, file: str, records: Sequence[Mapping[str, Any]]) -> int:
        """Write a file of the folder, and say how large it is; without records there is none: a reader expects some."""
        path = self._folder / file
        if not records:
            path.unlink(missing_ok=True)
            return 0
        with writing(path):
            if path.suffix == ".parquet":
                write_file(path, self._columns(), records)
            else:
                write_jsonl(path, records)
        return path.stat().st_size

    def _cells(self, row: TraceRow) -> dict[str, Any]:
        record = self.record(row)
        return {**record, "checks": as_json(record["checks"])} if self._format == "parquet" else record

    def record(self, row: TraceRow) -> dict[str, Any]:
        """A row of the data set; a reply that is not kept leaves its columns empty."""
        question, subject = row.question, row.question.subject
        record: dict[str, Any] = {
            "id": question.id,
            "picture": subject.picture,
            "image": subject.picture,
            "prompt": question.prompt,
            "labels": list(subject.known.labels),
            "synset": subject.synset,
        }
        for number, (model, trace) in enumerate(zip(self._models, row.found.traces, strict=True), 1):
            kept = trace.state == "kept"
            record |= {
                f"model_{number}": model if kept else None,
                f"think_{number}": trace.thinking if kept else None,
                f"answer_{number}": trace.answer if kept else None,
                f"quality_{number}": trace.quality if kept else None,
            }
        return {**record, "usage": [*self._usage(row)], "checks": _checks(row)}

    def _usage(self, row: TraceRow) -> Iterator[dict[str, Any]]:
        for place, model in enumerate(self._models):
            said = row.said(place)
            if said is not None:
                counts = {name: getattr(said.usage, name) for name in _COUNTED}
                yield {"model": model, "finish": said.finish, **counts, "usd": said.usd}

    def _rejected(self, row: TraceRow) -> Iterator[dict[str, Any]]:
        for number, (model, trace) in enumerate(zip(self._models, row.found.traces, strict=True), 1):
            if trace.state == "kept":
                continue
            record = {
                "id": row.question.id,
                "picture": row.question.subject.picture,
                "n": number,
                "model": model,
                **_check(number, trace),
            }
            if trace.state == "rejected":
                record |= {"prompt": row.question.prompt, "think": trace.thinking, "answer": trace.answer}
                said = row.said(number - 1)
                if said is not None and said.finish in CUT_OFF:
                    record["partial"] = True
            yield record

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = dict.fromkeys(("id", "picture", "image", "prompt"), "string")
        columns |= {"labels": ["string"], "synset": "string"}
        for number in range(1, len(self._models) + 1):
            columns |= dict.fromkeys((f"model_{number}", f"think_{number}", f"answer_{number}"), "string")
            columns[f"quality_{number}"] = "float64"
        return {**columns, "usage": [_USAGE], "checks": "json"}


def _name(row: TraceRow, place: int) -> str:
    return f"{row.question.id}:{place + 1}"


def _kept(row: TraceRow) -> Iterator[tuple[int, CheckedTrace]]:
    return ((place, trace) for place, trace in enumerate(row.found.traces) if trace.state == "kept")


def _failures(row: TraceRow) -> int:
    return sum(trace.state == "failed" for trace in row.found.traces)


def _but_for(row: TraceRow, copies: Mapping[str, NearDuplicate]) -> TraceRow:
    """The row, with its traces that are copies of earlier ones rejected."""
    copied = {place: copies[_name(row, place)] for place, _ in _kept(row) if _name(row, place) in copies}
    if not copied:
        return row
    traces = tuple(
        _as_copy(trace, copied[place]) if place in copied else trace for place, trace in enumerate(row.found.traces)
    )
    return replace(row, found=replace(row.found, traces=traces))


def _as_copy(trace: CheckedTrace, copied: NearDuplicate) -> CheckedTrace:
    notes = {**(trace.notes or {}), "copy_of": copied.trace, "likeness": copied.likeness}
    return replace(trace, state="rejected", reasons=(*trace.reasons, "duplicate"), notes=notes)


def _checks(row: TraceRow) -> dict[str, Any]:
    verified = row.asked.verified
    checks: dict[str, Any] = {} if row.found.agreement is None else {"agreement": row.found.agreement}
    checks |= {
        "conflicts": [{"kind": kind, "one": one, "other": other} for kind, one, other in row.found.conflicts],
        "traces": [_check(number, trace) for number, trace in enumerate(row.found.traces, 1)],
    }
    if isinstance(verified, Failure):
        checks["verifier"] = {"failure": verified.kind, "message": verified.message}
    elif isinstance(verified, Verified):
        checks["verifier"] = {"claims": len(verified.verdicts), "usd": verified.usd}
    return checks


def _check(number: int, trace: CheckedTrace) -> dict[str, Any]:
    found: dict[str, Any] = {"n": number, "state": trace.state, "reasons": list(trace.reasons)}
    if trace.failure is not None:
        found |= {"failure": trace.failure.kind, "message": trace.failure.message}
    if trace.quality is not None:
        found |= {"quality": trace.quality, "parts": dict(trace.parts or {})}
    return {**found, **(trace.notes or {})}
