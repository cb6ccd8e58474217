"""A JSONL file of records: lines become values and values lines, and what is wrong is reported by line."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from sightline.bench.fields import Record
from sightline.bench.problems import Problem, ProblemsError, Report, explain
from sightline.bench.schema import upgrade_of
from sightline.io import CutOffError, LineError, dump, parse_line, read_lines, write_whole

log = logging.getLogger(__name__)

R = TypeVar("R", bound=Record)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Table(Generic[R, V]):
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
    forms: Sequence[type[Record]] = (),
    required: bool = False,
) -> Table[R, V]:
    """A table of records of that type; for a union, `forms` are its members."""
    fields = frozenset(field for form in forms or (record,) for field in form.model_fields)
    return Table(name, TypeAdapter(record), to_value, to_record, fields, required)


@dataclass(frozen=True, slots=True)
class Source:
    """A folder of tables in one schema version, and where its problems go.

    In a `growing` folder, whose writer may have been stopped, a half last line counts as not written.
    """

    folder: Path
    version: int
    report: Report
    growing: bool = False

    def rows(self, table: Table[R, V]) -> Iterator[tuple[int, V]]:
        """Line numbers and values of one table; wrong lines are reported and left out."""
        path = self.folder / table.name
        if not path.exists():
            if table.required:
                self.report([Problem(table.name, None, None, "the file is not there")])
            return
        upgrade = upgrade_of(table.name, self.version)
        for number, line in read_lines(path):
            try:
                if upgrade is not None:
                    line = dump(upgrade(_an_object(path, number, line)))
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

    def unique(self, table: Table[R, V], key: Callable[[V], Hashable], field: str) -> Iterator[tuple[int, V]]:
        """The rows of one table; a second one with the same key is reported and left out."""
        seen: dict[Hashable, int] = {}
        for number, value in self.rows(table):
            first = seen.setdefault(key(value), number)
            if first == number:
                yield number, value
            else:
                message = f"{key(value)!r} is already on line {first}"
                self.report([Problem(table.name, number, field, message)])


def _record(table: Table[R, V], path: Path, number: int, line: bytes) -> R:
    if b"NaN" in line or b"Infinity" in line:
        parse_line(path, number, line)  # The schema's own parser would let NaN through inside `extra`.
    try:
        return table.schema.validate_json(line)
    except ValidationError:
        parse_line(path, number, line)  # When it is not JSON at all, that is the better message.
        raise


def _an_object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    row = parse_line(path, number, line)
    if not isinstance(row, dict):
        raise LineError(path, number, "expected an object")
    return row
