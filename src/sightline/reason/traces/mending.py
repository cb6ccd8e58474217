"""Before going on: are all shards there as they were written, and the pictures as they were when they were shown?"""

from __future__ import annotations

import logging
from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.database import transaction
from sightline.errors import UserError
from sightline.reason.traces.asking import price
from sightline.reason.traces.index import Index
from sightline.reason.traces.nouns import Question
from sightline.reason.traces.reading import records_of
from sightline.reason.traces.shards import Shards
from sightline.types.words import counted

if TYPE_CHECKING:
    from sightline.reason.traces.making import Work

_log = logging.getLogger(__name__)
_MOST_LOOKED_UP = 2_000
"""Questions that are looked for in the journal; they stand for the rest."""
_MAY_LACK = "SELECT count(*) FROM outcomes WHERE row = ? AND (state = 'failed' OR reason = 'runaway')"
"""The journal keeps no failure that may pass, and no reply that never ended."""
_TAKE_OUT = """
DELETE FROM prints WHERE trace IN (SELECT row || ':' || (place + 1) FROM outcomes WHERE row IN leaving);
DELETE FROM bands WHERE print NOT IN (SELECT id FROM prints);
DELETE FROM outcomes WHERE row IN leaving;
DELETE FROM rows WHERE id IN leaving;
DELETE FROM shards WHERE number NOT IN (SELECT shard FROM rows)
"""


@dataclass(slots=True)
class _Differences:
    """What the source and the folder tell of the rows that are done."""

    changed: set[str] = field(default_factory=set)
    lost: list[Question] = field(default_factory=list)
    "Of shards that are not as they were written; the first of them."
    found: int = 0
    found_lost: int = 0


def mend(work: Work, index: Index, folder: Path, shards: Shards, *, again: Iterable[str] = ()) -> None:
    """What has to be made again counts as never asked; said, before anybody is.

    That are the rows `again`, rows of pictures that changed, and shards that are missing or cut. The journal has what
    was said for those; where it does not, going on is refused.
    """
    count = index.count()
    if not count:
        return
    damaged = _damaged(index, folder)
    lost = _count_rows(index, damaged)
    found = _compare(work, index, damaged)
    if damaged:
        first = damaged[min(damaged)]
        if found.lost and not work.asking.fresh:
            _refuse_to_pay_twice(work, index, folder / first, found.lost)
        rows = f"{found.found_lost:,} of {counted(lost, 'row')}"
        _log.warning("missing or cut: %s (%s); made again: %s", counted(len(damaged), "shard"), first, rows)
    if found.changed:
        _log.warning("pictures that changed since they were asked about are asked again: %d", len(found.changed))
    if gone := count - lost - (found.found - found.found_lost):
        _log.warning("traces of pictures that are gone stay as they are: %s", counted(gone, "row"))
    leaving = found.changed.union(again)
    if damaged or leaving:
        _forget(index, folder, shards, damaged, leaving)


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
        row = index.database.execute("SELECT shard, sha256 FROM rows WHERE id = ?", (question.id,)).fetchone()
        if row is None:
            continue
        shard, before = row
        found.found += 1
        found.found_lost += shard in damaged
        now = question.subject.sha256
        if before is not None and now is not None and before != now:
            found.changed.add(question.id)
        elif shard in damaged and len(found.lost) < _MOST_LOOKED_UP:
            found.lost.append(question)
        if found.found == count:
            break
    return found


def _refuse_to_pay_twice(work: Work, index: Index, file: Path, lost: list[Question]) -> None:
    """Replies are in the journal, or this is another one."""
    settings = replace(work.settings, verifier=None)
    plan = price(lambda: lost, len(lost), settings, work.workspace, work.config, work.asking)
    missing = sum(stage.calls for stage in plan.stages)
    failed = sum(index.database.execute(_MAY_LACK, (question.id,)).fetchone()[0] for question in lost)
    if missing > failed:
        raise UserError(
            f"{file} is missing or cut, and the journal of {work.workspace} does not have what it was made of: "
            f"{counted(missing, 'call')} would be paid twice.",
            "put the file back, say the --workspace it was made with, or choose another --out",
        )


def _forget(index: Index, folder: Path, shards: Shards, damaged: Collection[int], leaving: set[str]) -> None:
    """Killed before the end, the files have other sizes than the index says: the next run makes them again."""
    database = index.database
    database.execute("CREATE TEMP TABLE leaving (id TEXT PRIMARY KEY)")
    with transaction(database):
        database.executemany("INSERT INTO leaving VALUES (?)", ((id_,) for id_ in leaving))
        touched = {shard for (shard,) in database.execute("SELECT DISTINCT shard FROM rows WHERE id IN leaving")}
        for number in touched.difference(damaged):
            _write_without(index, folder, shards, number, leaving)
        for number in damaged:
            database.execute("INSERT OR IGNORE INTO leaving SELECT id FROM rows WHERE shard = ?", (number,))
            for file in _files(index, number):
                (folder / file).unlink(missing_ok=True)
            database.execute("DELETE FROM files WHERE shard = ?", (number,))
        for statement in _TAKE_OUT.split(";"):
            database.execute(statement)
    database.execute("DROP TABLE leaving")


def _write_without(index: Index, folder: Path, shards: Shards, number: int, ids: set[str]) -> None:
    """The files of a shard again, without some rows."""
    for file in _files(index, number):
        records = [record for record in records_of(folder / file) if record["id"] not in ids]
        size = shards.write(file, records)
        if size:
            index.database.execute("UPDATE files SET bytes = ? WHERE path = ?", (size, file))
        else:
            index.database.execute("DELETE FROM files WHERE path = ?", (file,))
        index.database.execute("UPDATE shards SET rows = ? WHERE file = ?", (len(records), file))


def _files(index: Index, number: int) -> list[str]:
    return [path for (path,) in index.database.execute("SELECT path FROM files WHERE shard = ?", (number,))]


def _count_rows(index: Index, numbers: Iterable[int]) -> int:
    count = "SELECT count(*) FROM rows WHERE shard = ?"
    return sum(index.database.execute(count, (number,)).fetchone()[0] for number in numbers)
