"""A JSONL file of records: lines become values and values lines, and what is wrong is reported by line."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from sightline.benchmark.problems import Problem, ProblemsError, Report, explain
from sightline.benchmark.record_fields import StrictRecord
from sightline.errors import UserError
from sightline.io.files import PathLike, write_whole
from sightline.io.jsonl import CutOffError, LineError, dump, parse_line, read_json, read_lines

log = logging.getLogger(__name__)

CURRENT = 2
"""The schema version of benchmarks and runs."""

H = TypeVar("H", bound=StrictRecord)
R = TypeVar("R", bound=StrictRecord)
V = TypeVar("V")


def read_header(folder: PathLike, name: str, what: str, record: type[H]) -> H:
    """The header of a folder, `benchmark.json` or `run.json`; one of another schema version than ours is refused."""
    path = Path(folder) / name
    if not path.is_file():
        raise UserError(f"{folder} is not a {what}: it has no {name}.", "give the folder that holds it")
    raw = read_json(path)
    version = raw.get("schema") if isinstance(raw, dict) else None
    if type(version) is not int or version < 1:
        expected = f"expected a schema version, the integer {CURRENT}"
        raise ProblemsError([Problem(name, None, "schema", expected)], f"is {path} one of Sightline's files?")
    if version != CURRENT:
        newer = "upgrade: pip install --upgrade sightline"
        fix = newer if version > CURRENT else "It is older than version 0.1.0, the first that later ones read."
        raise UserError(f"{path} has schema {version}; this Sightline reads {CURRENT}.", fix)
    try:
        return record.model_validate_json(dump(raw))
    except ValidationError as error:
        raise ProblemsError(explain(error, name, None, record.model_fields)) from error


@dataclass(frozen=True, slots=True)
class RecordTable(Generic[R, V]):
    """One kind of file: its name, the schema of a line, and the ways between a line's record and a value."""

    name: str
    schema: TypeAdapter[R]
    to_value: Callable[[R], V]
    to_record: Callable[[V], R]
    fields: frozenset[str]
    required: bool = False

    def write(self, values: Iterable[V], folder: Path) -> None:
        """Write one line per value, whole or not at all."""
        write_whole(folder / self.name, (self.line(value, number) for number, value in enumerate(values, 1)))

    def line(self, value: V, number: int | None = None) -> bytes:
        """The line of one value; what the schema does not allow is refused."""
        try:
            record = self.to_record(value)
        except ValidationError as error:
            raise ProblemsError(explain(error, self.name, number), f"the value was {value!r:.200}") from error
        return dump(record.model_dump(mode="json", exclude_defaults=True))


def table(
    name: str,
    record: Any,
    to_value: Callable[[R], V],
    to_record: Callable[[V], R],
    *,
    forms: Sequence[type[StrictRecord]] = (),
    required: bool = False,
) -> RecordTable[R, V]:
    """A table of records of that type; for a union, `forms` are its members."""
    fields = frozenset(field for form in forms or (record,) for field in form.model_fields)
    return RecordTable(name, TypeAdapter(record), to_value, to_record, fields, required)


def plain_table(name: str, record: type[R], kind: Callable[..., V]) -> RecordTable[R, V]:
    """A table whose records have the fields of their values."""
    return table(name, record, lambda row: row.to(kind), record.of)


@dataclass(frozen=True, slots=True)
class TableSource:
    """A folder of tables, and where its problems go.

    In a `growing` folder, whose writer may have been stopped, a half last line counts as not written.
    """

    folder: Path
    report: Report
    growing: bool = False

    def rows(self, table: RecordTable[R, V]) -> Iterator[tuple[int, V]]:
        """Line numbers and values of one table; wrong lines are reported and left out."""
        path = self.folder / table.name
        if not path.exists():
            if table.required:
                self.report([Problem(table.name, None, None, "the file is not there")])
            return
        for number, line in read_lines(path):
            try:
                value = table.to_value(_record(table, path, number, line))
            except LineError as error:
                if self.growing and isinstance(error, CutOffError):
                    log.warning("%s, line %d: left out, the file ends in the middle of it", path, number)
                    continue
                self.report([Problem(table.name, error.line, None, error.reason)])
            except ValidationError as error:
                self.report(explain(error, table.name, number, table.fields))
            else:
                yield number, value

    def unique(self, table: RecordTable[R, V], key: Callable[[V], Hashable], field: str) -> Iterator[tuple[int, V]]:
        """The rows of one table; a second one with the same key is reported and left out."""
        seen: dict[Hashable, int] = {}
        for number, value in self.rows(table):
            first = seen.setdefault(key(value), number)
            if first == number:
                yield number, value
            else:
                message = f"{key(value)!r} is already on line {first}"
                self.report([Problem(table.name, number, field, message)])


@dataclass(frozen=True, slots=True)
class OpenFolder(Generic[H]):
    """A BENCH or RUN folder whose header has been read, and the tables beside it."""

    header: H
    source: TableSource


def _record(table: RecordTable[R, V], path: Path, number: int, line: bytes) -> R:
    if b"NaN" in line or b"Infinity" in line:
        parse_line(path, number, line)  # The schema's own parser would let NaN through inside `extra`.
    try:
        return table.schema.validate_json(line)
    except ValidationError:
        parse_line(path, number, line)  # When it is not JSON at all, that is the better message.
        raise
