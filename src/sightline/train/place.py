"""The folder of a training: one process writes there at a time, and says it where it can't."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.errors import UserError
from sightline.locks import locked

AGAIN = "give the same command again, with --resume where there is a checkpoint"
"""How a training goes on that something stopped."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Hold the folder until the block ends, or refuse it if another training does; a killed one lets go of it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{out}: no folder can be made here: {error.strerror}.", "choose another --out") from None
    with locked(out, wait=False) as ours:
        if not ours:
            raise UserError(
                f"{out}: another training writes here at this moment.", "wait for its end, or choose another --out"
            )
        try:
            yield
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise not_written(out, error, AGAIN) from error


def not_written(place: Path, error: OSError, then: str) -> UserError:
    """What to say where something can't be written, with what to do `then`."""
    if error.errno in _FULL:
        return UserError(f"{place} can't be written: the disk is full.", f"make room, and {then}")
    why = error.strerror or str(error)
    return UserError(f"{place} can't be written: {why}.", f"see that files of its size can be, and {then}")
