"""From pictures to a folder of traces: teachers are asked, replies are checked and written.

Killed at any moment, the next run resumes. Before it does, it repairs the folder: are all shards there as they were
written, and the pictures unchanged since they were shown?
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Container, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from sightline.calls.ask_many import ask_many
from sightline.calls.plan import CostPlan
from sightline.calls.session import Session
from sightline.english import counted
from sightline.errors import SightlineError, UserError
from sightline.models.transport_factory import find_endpoint
from sightline.reason.traces.folder import (
    CARD,
    DATA,
    HEADER,
    REJECTED,
    TraceFormat,
    choose_format,
    describe,
    discard,
    only_writer,
    prepare,
    shard_files,
    writing,
)
from sightline.reason.traces.index import DoneQuestions, TraceIndex
from sightline.reason.traces.questions import PictureSource
from sightline.reason.traces.records import CheckJob, TeacherReplies, TraceQuestion
from sightline.reason.traces.shards import SHARD_ROWS, TraceShards, remove_rows
from sightline.reason.traces.summary import TraceSummary, summarize_traces, write_card
from sightline.reason.traces.teachers import ThinkJob, TraceSettings, price_traces
from sightline.reason.traces.writer_process import WriterTarget, write_in_process, write_in_subprocess
from sightline.types import Failure

_log = logging.getLogger(__name__)
_FEW = 256
"""Below so many questions, starting processes takes longer than the work."""
_AT_ONCE = 512
_MOST_LOOKED_UP = 2_000
"""Questions that are looked for in the journal; they stand for the rest."""
_DONE = "SELECT shard, sha256, retryable FROM rows WHERE id = ?"
_MAY_LACK = "SELECT count(*) FROM outcomes WHERE row = ? AND (state = 'failed' OR reason = 'runaway')"
"""The journal keeps no failure that may pass, and no reply that never ended."""


@dataclass(frozen=True, slots=True)
class TraceWork:
    """What is to be done, and where what is needed for it lies."""

    source: PictureSource
    settings: TraceSettings
    session: Session = field(default_factory=Session)
    limit: int | None = None

    @property
    def most(self) -> int:
        """Questions, if every picture has all of its prompts."""
        pictures = self.source.count if self.limit is None else min(self.limit, self.source.count)
        return pictures * self.settings.prompts.each

    def questions(self, counts: Counter[str] | None = None) -> Iterator[TraceQuestion]:
        """All questions, in order; pictures for which no prompt fits are counted."""
        for subject in islice(self.source.subjects(), self.limit):
            asked = 0
            for question in self.settings.prompts.questions(subject):
                asked += 1
                yield question
            if not asked and counts is not None:
                counts["without prompt"] += 1

    def price(self) -> CostPlan:
        """What it would cost; nobody is asked."""
        return price_traces(self.questions, self.most, self.settings, self.session)


def make_traces(
    work: TraceWork,
    out: Path,
    *,
    format_: TraceFormat | None = None,
    shard_rows: int = SHARD_ROWS,
    retry_failed: bool = False,
) -> TraceSummary:
    """Ask for what is not done yet, and write it to `out`; a stop (budget, server down) leaves whole shards and a card.

    With `retry_failed`, teachers that failed for a reason that may pass are asked again; what the others said is in the
    journal, and the row takes the place of the one that was there.
    """
    started, settings = time.monotonic(), work.settings
    header = describe(settings, work.source.name, choose_format(out, format_))
    models = [teacher.name for teacher in settings.teachers]
    for asked in (*settings.teachers, *filter(None, (settings.verifier,))):  # Before a folder has their names.
        find_endpoint(
            asked.name, base_url=asked.base_url or work.session.calls.base_url, models=work.session.config.models
        )
    if not (out / HEADER).is_file() and next(work.questions(), None) is None:
        raise UserError(
            "no prompt fits what is known of any picture.",
            "give prompts that ask for nothing else, or what they ask for: --metadata FILE, or --labels FILE",
        )
    existed = out.exists()
    prepare(out, header)
    with only_writer(out) as held:
        with TraceIndex(out) as index:
            shards = TraceShards(out, index, models, header["format"])
            repair_folder(work, index, out, shards, retry_failed=retry_failed)
            before = index.count(but_failed=retry_failed)
        asking = _Requests(work, index.path if before else None, retry_failed)
        place = WriterTarget(out, tuple(models), header["format"], shard_rows)
        with closing(iter(asking)) as jobs:
            if work.most - before < _FEW:
                write_in_process(jobs, place)
            else:
                write_in_subprocess(jobs, place, held)
        with TraceIndex(out) as index:
            summary = summarize_traces(
                out,
                index,
                models,
                asked=asking.counts["asked"],
                without_prompt=asking.counts["without prompt"],
                seconds=time.monotonic() - started,
            )
        with writing(out / CARD):
            write_card(out, header, summary)
        if asking.stopped is not None and not (summary.rows or summary.shards):
            discard(out, existed=existed)
    if asking.stopped is not None:
        raise asking.stopped
    return summary


class _Requests:
    """Iterate it for the jobs of the judges; a stop ends it, and is kept until all that came before it is written."""

    def __init__(self, work: TraceWork, index: Path | None, retry_failed: bool) -> None:
        """`index` says what is done; None: nothing yet."""
        self._work, self._index, self._retry_failed = work, index, retry_failed
        self.counts: Counter[str] = Counter()
        self.stopped: SightlineError | None = None

    def __iter__(self) -> Generator[CheckJob, None, None]:
        work, settings = self._work, self._work.settings
        teachers = tuple(f"{teacher.name}@{teacher.base_url}" for teacher in settings.teachers)
        results = ask_many(
            self._left(),
            ThinkJob(settings),
            work.session,
            concurrency=_concurrency(work),
            total=work.most,
        )
        try:
            for question, asked in results:
                replies = TeacherReplies((asked,) * len(settings.teachers)) if isinstance(asked, Failure) else asked
                self.counts["asked"] += 1
                yield CheckJob(question, replies, settings.rules, teachers)
        except SightlineError as stopped:
            self.stopped = stopped

    def _left(self) -> Iterator[TraceQuestion]:
        """Opened by the thread that draws the items."""
        if self._index is None:
            yield from self._work.questions(self.counts)
            return
        done = DoneQuestions(self._index, but_failed=self._retry_failed)
        try:
            yield from (question for question in self._work.questions(self.counts) if question.id not in done)
        finally:
            done.close()


def _concurrency(work: TraceWork) -> int:
    """Questions at once: enough for every call that is allowed, and some whose replies are being written down."""
    limits = work.session.calls.limits
    calls = _AT_ONCE if limits is None else limits.most
    return max(16, calls * 5 // 4 // len(work.settings.teachers))


@dataclass(slots=True)
class _Differences:
    """What the source and the folder tell of the rows that are done."""

    changed: set[str] = field(default_factory=set)
    lost: list[TraceQuestion] = field(default_factory=list)
    "Of shards that are not as they were written; the first of them."
    failed: list[TraceQuestion] = field(default_factory=list)
    "Those with a failure that another try may help; the first of them."
    found: int = 0
    found_lost: int = 0


def repair_folder(
    work: TraceWork, index: TraceIndex, folder: Path, shards: TraceShards, *, retry_failed: bool = False
) -> None:
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
            f"the journal of {work.session.workspace} does not have what other teachers said where one failed",
            "say the --workspace that the traces were made with, or go on without --retry-failed",
        )
    if damaged:
        first = damaged[min(damaged)]
        _refuse_to_pay_twice(
            work,
            index,
            found.lost,
            f"{folder / first} is missing or cut, and the journal of {work.session.workspace} does not have what it is "
            "made of",
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
            remove_rows(index, folder, shards.write, found.changed, damaged)


def _remove_uncounted(index: TraceIndex, folder: Path) -> None:
    """A shard that was written when the process was killed, before it was counted: all of its rows come again."""
    known = {path for (path,) in index.database.execute("SELECT path FROM files")}
    # Folders of earlier versions do not tell of the second file.
    known |= {shard_files(number, "")[1] for (number,) in index.database.execute("SELECT number FROM shards")}
    for place, pattern in ((DATA, "train-*"), (REJECTED, "rejected-*")):
        for file in (folder / place).glob(pattern):
            if f"{place}/{file.name}" not in known:
                file.unlink()


def _damaged(index: TraceIndex, folder: Path) -> dict[int, str]:
    """The shards of which a file is gone, or has another size than it was written with, and that file."""
    files = index.database.execute("SELECT shard, path, bytes FROM files")
    return {shard: path for shard, path, size in files if not _is_whole(folder / path, size)}


def _is_whole(path: Path, size: int | None) -> bool:
    return path.is_file() and size in (None, path.stat().st_size)


def _compare(work: TraceWork, index: TraceIndex, damaged: Container[int]) -> _Differences:
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


def _refuse_to_pay_twice(work: TraceWork, index: TraceIndex, lost: list[TraceQuestion], why: str, fix: str) -> None:
    """Replies are in the journal, or this is another one; who wants them afresh is not asked."""
    if not lost or work.session.calls.fresh:
        return
    settings = replace(work.settings, verifier=None)
    plan = price_traces(lambda: lost, len(lost), settings, work.session)
    missing = sum(stage.calls for stage in plan.stages)
    failed = sum(index.database.execute(_MAY_LACK, (question.id,)).fetchone()[0] for question in lost)
    if missing > failed:
        raise UserError(f"{why}: {counted(missing, 'call')} would be paid twice.", fix)


def _count_rows(index: TraceIndex, numbers: Iterable[int]) -> int:
    count = "SELECT count(*) FROM rows WHERE shard = ?"
    return sum(index.database.execute(count, (number,)).fetchone()[0] for number in numbers)
