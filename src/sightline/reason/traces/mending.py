"""Before going on: are all shards there as they were written, and the pictures as they were when they were shown?"""

from __future__ import annotations

import logging
from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.english import counted
from sightline.errors import UserError
from sightline.reason.traces.asking import price
from sightline.reason.traces.folder import DATA, REJECTED, shard_files
from sightline.reason.traces.index import Index
from sightline.reason.traces.leaving import take_out
from sightline.reason.traces.nouns import Question
from sightline.reason.traces.shards import Shards

if TYPE_CHECKING:
    from sightline.reason.traces.making import Work

_log = logging.getLogger(__name__)
_MOST_LOOKED_UP = 2_000
"""Questions that are looked for in the journal; they stand for the rest."""
_DONE = "SELECT shard, sha256, retryable FROM rows WHERE id = ?"
_MAY_LACK = "SELECT count(*) FROM outcomes WHERE row = ? AND (state = 'failed' OR reason = 'runaway')"
"""The journal keeps no failure that may pass, and no reply that never ended."""


@dataclass(slots=True)
class _Differences:
    """What the source and the folder tell of the rows that are done."""

    changed: set[str] = field(default_factory=set)
    lost: list[Question] = field(default_factory=list)
    "Of shards that are not as they were written; the first of them."
    failed: list[Question] = field(default_factory=list)
    "Those with a failure that another try may mend; the first of them."
    found: int = 0
    found_lost: int = 0


def mend(work: Work, index: Index, folder: Path, shards: Shards, *, retry_failed: bool = False) -> None:
    """What has to be made again counts as never asked; said, before anybody is.

    That are rows of pictures that changed, and shards that are missing or cut. The journal has what was said for those,
    and with `retry_failed` what was said beside failures; where it does not, going on is refused.
    """
    count = index.count()
    if not count:
        return
    damaged = _damaged(index, folder)
    lost = _count_rows(index, damaged)
    found = _compare(work, index, damaged)
    if retry_failed:
        _refuse_to_pay_twice(
            work,
            index,
            found.failed,
            f"the journal of {work.workspace} does not have what other teachers said where one failed",
            "say the --workspace that the traces were made with, or go on without --retry-failed",
        )
    if damaged:
        first = damaged[min(damaged)]
        _refuse_to_pay_twice(
            work,
            index,
            found.lost,
            f"{folder / first} is missing or cut, and the journal of {work.workspace} does not have what it is made of",
            "put the file back, say the --workspace it was made with, or choose another --out",
        )
        rows = f"{found.found_lost:,} of {counted(lost, 'row')}"
        _log.warning("missing or cut: %s (%s); made again: %s", counted(len(damaged), "shard"), first, rows)
    if found.changed:
        _log.warning("pictures that changed since they were asked about are asked again: %d", len(found.changed))
    if gone := count - lost - (found.found - found.found_lost):
        _log.warning("traces of pictures that are gone stay as they are: %s", counted(gone, "row"))
    _remove_uncounted(index, folder)
    if damaged or found.changed:
        with index.change():
            take_out(index, folder, shards.write, found.changed, damaged)


def _remove_uncounted(index: Index, folder: Path) -> None:
    """A shard that was written when the process was killed, before it was counted: all of its rows come again."""
    known = {path for (path,) in index.database.execute("SELECT path FROM files")}
    # Folders of earlier versions do not tell of the second file.
    known |= {shard_files(number, "")[1] for (number,) in index.database.execute("SELECT number FROM shards")}
    for place, pattern in ((DATA, "train-*"), (REJECTED, "rejected-*")):
        for file in (folder / place).glob(pattern):
            if f"{place}/{file.name}" not in known:
                file.unlink()


def _damaged(index: Index, folder: Path) -> dict[int, str]:
    """The shards of which a file is gone, or has another size than it was written with, and that file."""
    files = index.database.execute("SELECT shard, path, bytes FROM files")
    return {shard: path for shard, path, size in files if not _is_whole(folder / path, size)}


def _is_whole(path: Path, size: int | None) -> bool:
    return path.is_file() and size in (None, path.stat().st_size)


def _compare(work: Work, index: Index, damaged: Container[int]) -> _Differences:
    """One pass over the source, as far as rows are done."""
    found, count = _Differences(), index.count()
    for question in replace(work, limit=None).questions():
        row = index.database.execute(_DONE, (question.id,)).fetchone()
        if row is None:
            continue
        shard, before, retryable = row
        found.found += 1
        found.found_lost += shard in damaged
        now = question.subject.sha256
        if before is not None and now is not None and before != now:
            found.changed.add(question.id)
        elif shard in damaged and len(found.lost) < _MOST_LOOKED_UP:
            found.lost.append(question)
        elif retryable and len(found.failed) < _MOST_LOOKED_UP:
            found.failed.append(question)
        if found.found == count:
            break
    return found


def _refuse_to_pay_twice(work: Work, index: Index, lost: list[Question], why: str, fix: str) -> None:
    """Replies are in the journal, or this is another one; who wants them afresh is not asked."""
    if not lost or work.asking.fresh:
        return
    settings = replace(work.settings, verifier=None)
    plan = price(lambda: lost, len(lost), settings, work.session())
    missing = sum(stage.calls for stage in plan.stages)
    failed = sum(index.database.execute(_MAY_LACK, (question.id,)).fetchone()[0] for question in lost)
    if missing > failed:
        raise UserError(f"{why}: {counted(missing, 'call')} would be paid twice.", fix)


def _count_rows(index: Index, numbers: Iterable[int]) -> int:
    count = "SELECT count(*) FROM rows WHERE shard = ?"
    return sum(index.database.execute(count, (number,)).fetchone()[0] for number in numbers)
