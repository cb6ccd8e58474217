"""Verdicts on disk while they are made: what holds from before, what is new, and what failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sightline.io import CutOffError, LineError, dump, parse_line, read_lines, write_jsonl
from sightline.make import project as files
from sightline.make.files import MEND
from sightline.make.project import Project
from sightline.run.lines import GrowingFile
from sightline.types import Failure, Judgment


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one judge said of one picture: where it stood among how many, when, and under which questions (`key`).

    `counts` is False for one that the labels were not made from: of a former panel, pool or wording.
    """

    task: str
    picture: str
    judge: str
    grade: int
    confidence: float | None = None
    reason: str | None = None
    place: int | None = None
    shown: int | None = None
    at: float | None = None
    key: str = ""
    counts: bool = True

    def to_judgment(self) -> Judgment:
        """As a benchmark keeps it."""
        return Judgment(self.task, self.picture, self.judge, self.grade, self.confidence, self.reason)


_NAMES = frozenset(field.name for field in fields(Verdict))
_TEXTS = ("task", "picture", "judge")
_OPTIONAL: dict[str, tuple[type, ...]] = {
    "reason": (str,),
    "place": (int,),
    "shown": (int,),
    "confidence": (int, float),
    "at": (int, float),
}


def read_verdict(row: object) -> Verdict:
    """One row; raises `ValueError` with what was expected."""
    if not isinstance(row, dict):
        raise ValueError("expected one JSON object")
    for name in _TEXTS:
        if not isinstance(row.get(name), str) or not row[name]:
            raise ValueError(f'expected text in "{name}"')
    grade = row.get("grade")
    if not isinstance(grade, int) or isinstance(grade, bool) or grade < 0:
        raise ValueError(f'expected a grade of 0 or more in "grade", got {grade!r}')
    for name, kind in _OPTIONAL.items():
        value = row.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, kind)):
            raise ValueError(f'"{name}" is {value!r}')
    return Verdict(**{name: value for name, value in row.items() if name in _NAMES})


def read_verdicts(path: Path) -> tuple[list[Verdict], list[str]]:
    """The verdicts of a file in their order, and a warning for a last line that is cut off."""
    found, warnings = [], []
    for number, line in read_lines(path):
        try:
            found.append(read_verdict(parse_line(path, number, line)))
        except CutOffError:
            warnings.append(f"{path}, line {number}: cut off by a run that was stopped; it is judged again")
        except LineError as error:
            raise LineError(path, number, error.reason, MEND) from None
        except ValueError as error:
            raise LineError(path, number, str(error), MEND) from None
    return found, warnings


class VerdictStore:
    """Takes verdicts group by group, each on disk before the next; the files are whole when the block ends.

    Killed in between, the lines of the unfinished run are found by the next one. Verdicts that are no longer asked for
    (another panel, another pool) stay in the file: they were paid for.
    """

    def __init__(self, project: Project) -> None:
        self.path = project.prepare(files.VERDICTS)
        self.failed_path, self._partial = project.failed(files.VERDICTS), project.partial(files.VERDICTS)
        self.warnings: list[str] = []
        self._found: dict[tuple[str, str, str], Verdict] = {}
        for path in (self.path, self._partial):
            if path.is_file():
                verdicts, said = read_verdicts(path)
                self.warnings += said
                self._add(verdicts)
        self._failures: dict[tuple[str, str, str], Failure] = {}
        self._file: GrowingFile | None = None

    def get(self, task: str, picture: str, judge: str, key: str) -> Verdict | None:
        """The verdict, if it holds: the same questions about the same words and bytes, or written by hand."""
        known = self._found.get((task, picture, judge))
        return known if known is not None and known.key in (key, "") else None

    def failures(self) -> Iterator[Failure]:
        """One for each picture that a judge gave no verdict on in this run."""
        return iter(self._failures.values())

    def __enter__(self) -> Self:
        self._file = GrowingFile(self._partial)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._file is not None
        self._write()
        write_jsonl(self.failed_path, (_failed(*who, what) for who, what in self._failures.items()))
        self._file.close()
        self._partial.unlink(missing_ok=True)

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """New verdicts."""
        assert self._file is not None
        new = list(verdicts)
        self._file.append(b"".join(dump(asdict(verdict)) for verdict in new))
        self._add(new)

    def mark(self, counted: Iterable[Verdict]) -> None:
        """Write down which verdicts the labels were made from."""
        used = {_who(verdict) for verdict in counted}
        self._found = {who: replace(verdict, counts=who in used) for who, verdict in self._found.items()}
        self._write()

    def fail(self, task: str, judge: str, picture: str, failure: Failure) -> None:
        """No verdict, and why."""
        self._failures[task, picture, judge] = failure

    def _add(self, verdicts: Iterable[Verdict]) -> None:
        for verdict in verdicts:
            self._found.pop(_who(verdict), None)  # The order of the file is that of the judging.
            self._found[_who(verdict)] = verdict

    def _write(self) -> None:
        write_jsonl(self.path, (asdict(verdict) for verdict in self._found.values()))


def _who(verdict: Verdict) -> tuple[str, str, str]:
    return verdict.task, verdict.picture, verdict.judge


def _failed(task: str, picture: str, judge: str, failure: Failure) -> dict[str, Any]:
    return {"task": task, "picture": picture, "judge": judge, "kind": failure.kind, "error": failure.message}
