"""What is wrong with a file: where, and what was expected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from pydantic import ValidationError

from sightline.errors import UserError, nearest
from sightline.plain_text import cut

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: in which file, on which line, in which field, and what was expected."""

    file: str
    line: int | None
    field: str | None
    message: str

    def __str__(self) -> str:
        where = [self.file]
        if self.line is not None:
            where.append(f"line {self.line}")
        if self.field is not None:
            where.append(self.field)
        return f"{', '.join(where)}: {self.message}"


Report: TypeAlias = Callable[[Sequence[Problem]], None]
"""Where a reader's problems go: into a list, or into an error that stops the reading."""


_CORRECT = "correct it; `sightline validate` lists everything that is wrong"


class ProblemsError(UserError):
    """Input that can't be used; `problems` holds all that is known to be wrong with it."""

    def __init__(self, problems: Iterable[Problem], fix: str | None = None) -> None:
        self.problems = tuple(problems)
        shown = [str(problem) for problem in self.problems[:_SHOWN]]
        if len(self.problems) > _SHOWN:
            shown.append(f"… and {len(self.problems) - _SHOWN:,} more")
        heading = [] if len(shown) == 1 else [f"{len(self.problems):,} problems:"]
        super().__init__("\n  ".join([*heading, *shown]), fix or _CORRECT)


def stop(problems: Sequence[Problem]) -> NoReturn:
    """The `Report` that ends the reading at the first wrong line."""
    raise ProblemsError(problems)


def explain(
    error: ValidationError, file: str, line: int | None = None, fields: Collection[str] = ()
) -> tuple[Problem, ...]:
    """A schema's complaints in plain words; `fields` are the record's own, to name the nearest one to a typo."""
    details = error.errors(include_url=False, include_context=False)
    missing = {_path(detail["loc"]) for detail in details if detail["type"] == "missing"}
    return tuple(
        Problem(file, line, _path(detail["loc"]) or None, _message(detail, {*fields, *missing})) for detail in details
    )


def _path(location: tuple[int | str, ...]) -> str:
    """`prompt.1.picture`; the names of union branches, written `<so>`, are ours and not the user's."""
    return ".".join(str(part) for part in location if not str(part).startswith("<"))


def _message(detail: ErrorDetails, known: Collection[str]) -> str:
    match detail["type"]:
        case "missing":
            return "expected, but it is not there"
        case "extra_forbidden":
            near = nearest(_path(detail["loc"]), known)
            return "unknown field" + (f', did you mean "{near}"?' if near else "")
        case _:
            words = detail["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
            return f"{words}, got {cut(repr(detail['input']), 60)}"
