"""Errors that speak to the person: what was wrong, where, and what to do next."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

READ_AGAIN = "check the disk and who may use the file, and run it again"
"""The fix for a file that is there and can't be used."""


class SightlineError(Exception):
    """An expected end of the work; printed without a traceback."""

    exit_code = 2

    def __init__(self, message: str, fix: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return self.message if self.fix is None else f"{self.message}\n  {self.fix}"

    def _render_traceback_(self) -> list[str]:
        """What IPython and Jupyter show instead of a traceback: what went wrong, and the fix."""
        return [f"{type(self).__name__}: {self.message}", *([] if self.fix is None else [f"  {self.fix}"])]

    def again(self) -> SightlineError:
        """The same error, new: a traceback is added to each where it is raised."""
        return type(self)(self.message, self.fix)


class UserError(SightlineError):
    """The user's input can't be used as it is; `fix` says what to do."""


class StorageError(UserError):
    """What is stored can't be used: the fault of the disk or a file, whoever asked for it."""


class StoppedError(SightlineError):
    """Stopped by a budget or a limit; what was done so far is valid."""

    exit_code = 3


class FoundError(SightlineError):
    """A check found what it looks for."""

    exit_code = 4


class MissingExtraError(UserError):
    """A feature needs an optional package."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional package.", f"pip install 'sightline[{extra}]'")
        self.extra = extra


@contextmanager
def needs_extra(feature: str, extra: str) -> Iterator[None]:
    """Around imports of an optional package: where it is missing, the error names the extra that brings it."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(feature, extra) from error


@contextmanager
def explained(said: str, fix: str | None = None) -> Iterator[None]:
    """Around work on a file: what the disk refuses is told after `said`, with the fix."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{said}: {error.strerror or error}.", fix) from error


def explain_fault(error: BaseException) -> UserError | None:
    """What a disk or a database under the work met, and what to do; None for an error of another kind."""
    if isinstance(error, OSError):
        said, fix = f"{error.filename or 'the output'}: {error.strerror or error}.", READ_AGAIN
        if error.errno in (errno.EIO, errno.EROFS):
            fix = "check the disk, or choose another place that can be written"
        elif error.errno in (errno.ENOSPC, errno.EDQUOT):
            fix = "make room, and run the same command again: it goes on, and replies that came are kept"
        return UserError(said, fix)
    if type(error).__module__ != "sqlite3":
        return None
    said = f"a database of the workspace can't be used: {error}."
    if "full" in str(error):
        return UserError(said, "make room on its disk, and run the same command again: it goes on")
    repair = "sightline ledger --repair (journal), sightline index --rebuild (index), sightline scan (corpus)"
    return UserError(said, f"check its disk, and whether another program locks it; damage is repaired by {repair}")


def refuse_disk_fault(error: BaseException) -> None:
    """Raise what a full, broken or read-only disk caused, or a database of ours, as such; other faults pass."""
    of_disk = isinstance(error, OSError) and error.errno in (errno.EIO, errno.EROFS, errno.ENOSPC, errno.EDQUOT)
    if (of_disk or type(error).__module__ == "sqlite3") and (fault := explain_fault(error)) is not None:
        raise StorageError(fault.message, fault.fix) from error


def require_at_least(least: float, **given: float | None) -> None:
    """Refuse parameters that are not numbers, or too small; one that is None was not given."""
    for name, value in given.items():
        if value is not None and (not isinstance(value, int | float) or not value >= least):
            raise UserError(
                f"{name} must be a number of at least {least:g}, not {value!r}.", "Leave it out for the default."
            )


def require_one_of(known: Iterable[str], **given: str | None) -> None:
    """Refuse parameters that name none of the known words; one that is None was not given."""
    for name, value in given.items():
        if value is not None and value not in (words := tuple(known)):
            raise UserError(f"{name} can't be {value!r}.", f"Choose from {', '.join(words)}.")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like this one, if any is like it at all."""
    from difflib import get_close_matches  # Here: only mistakes need it.

    found = get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """`Did you mean "near"?`, then `otherwise`; that alone where no known word is like this one."""
    near = nearest(word, known)
    return " ".join(part for part in (f'Did you mean "{near}"?' if near else "", otherwise) if part)
