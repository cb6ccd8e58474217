"""Rows → finished shards: the traces that are kept, and beside them what was not and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sightline.bench.formats.parquet import as_json, write_file
from sightline.io import write_jsonl
from sightline.reason.traces.folder import Format, shard_files, writing
from sightline.reason.traces.index import Copied, Index
from sightline.reason.traces.leaving import take_out
from sightline.reason.traces.nouns import CUT_OFF, Judged, Row, Verified
from sightline.reason.traces.prints import prints_of
from sightline.types import Failure

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


class Shards:
    """Gathers rows and writes them as shards; a shard is in the index as soon as all of it is on disk."""

    def __init__(
        self, folder: Path, index: Index, models: Sequence[str], format_: Format, shard_rows: int = SHARD_ROWS
    ) -> None:
        self._folder, self._index, self._models = folder, index, tuple(models)
        self._format, self._shard_rows = format_, shard_rows
        self._rows: list[Row] = []
        self._characters = 0

    def add(self, row: Row) -> None:
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

    def _write_shard(self, rows: Sequence[Row]) -> None:
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

    def _take_places(self) -> list[Row]:
        """The rows to write; one that was asked again takes the place of the row that is there, unless more failed."""
        before = self._index.failures(row.question.id for row in self._rows)
        rows = [row for row in self._rows if _failures(row) <= before.get(row.question.id, len(self._models))]
        again = {row.question.id for row in rows if row.question.id in before}
        if again:
            take_out(self._index, self._folder, self.write, again)
        return sorted(rows, key=lambda row: row.question.id not in again)  # What was there is no copy of what is new.

    def _without_copies(self, rows: Sequence[Row]) -> list[Row]:
        kept = [(_name(row, place), trace) for row in rows for place, trace in _kept(row)]
        prints = prints_of(f"{trace.thinking}\n{trace.answer}" for _, trace in kept)
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

    def _cells(self, row: Row) -> dict[str, Any]:
        record = self.record(row)
        return {**record, "checks": as_json(record["checks"])} if self._format == "parquet" else record

    def record(self, row: Row) -> dict[str, Any]:
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

    def _usage(self, row: Row) -> Iterator[dict[str, Any]]:
        for place, model in enumerate(self._models):
            said = row.said(place)
            if said is not None:
                counts = {name: getattr(said.usage, name) for name in _COUNTED}
                yield {"model": model, "finish": said.finish, **counts, "usd": said.usd}

    def _rejected(self, row: Row) -> Iterator[dict[str, Any]]:
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


def _name(row: Row, place: int) -> str:
    return f"{row.question.id}:{place + 1}"


def _kept(row: Row) -> Iterator[tuple[int, Judged]]:
    return ((place, trace) for place, trace in enumerate(row.found.traces) if trace.state == "kept")


def _failures(row: Row) -> int:
    return sum(trace.state == "failed" for trace in row.found.traces)


def _but_for(row: Row, copies: Mapping[str, Copied]) -> Row:
    """The row, with its traces that are copies of earlier ones rejected."""
    copied = {place: copies[_name(row, place)] for place, _ in _kept(row) if _name(row, place) in copies}
    if not copied:
        return row
    traces = tuple(
        _as_copy(trace, copied[place]) if place in copied else trace for place, trace in enumerate(row.found.traces)
    )
    return replace(row, found=replace(row.found, traces=traces))


def _as_copy(trace: Judged, copied: Copied) -> Judged:
    notes = {**(trace.notes or {}), "copy_of": copied.trace, "likeness": copied.likeness}
    return replace(trace, state="rejected", reasons=(*trace.reasons, "duplicate"), notes=notes)


def _checks(row: Row) -> dict[str, Any]:
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


def _check(number: int, trace: Judged) -> dict[str, Any]:
    found: dict[str, Any] = {"n": number, "state": trace.state, "reasons": list(trace.reasons)}
    if trace.failure is not None:
        found |= {"failure": trace.failure.kind, "message": trace.failure.message}
    if trace.quality is not None:
        found |= {"quality": trace.quality, "parts": dict(trace.parts or {})}
    return {**found, **(trace.notes or {})}
