"""From pictures to a folder of traces: asked, judged, written; killed at any moment, the next run goes on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from sightline.calls.ask_many import ask_many
from sightline.calls.session import Session
from sightline.config import Config
from sightline.engine.plan import Plan
from sightline.errors import SightlineError, UserError
from sightline.models.asking import Asking
from sightline.models.opening import find_endpoint
from sightline.reason.traces.asking import Settings, ThinkJob, price
from sightline.reason.traces.card import write_card
from sightline.reason.traces.folder import (
    CARD,
    HEADER,
    Format,
    choose_format,
    describe,
    discard,
    only_writer,
    prepare,
    writing,
)
from sightline.reason.traces.index import Done, Index
from sightline.reason.traces.mending import mend
from sightline.reason.traces.nouns import Asked, Job, Question
from sightline.reason.traces.scribe import Place, write_elsewhere, write_here
from sightline.reason.traces.shards import SHARD_ROWS, Shards
from sightline.reason.traces.sources import Source
from sightline.reason.traces.summary import Summary, summarise
from sightline.types import Failure

_FEW = 256
"""Below so many questions, starting processes takes longer than the work."""
_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done, and where what is needed for it lies."""

    source: Source
    settings: Settings
    workspace: Path
    config: Config = field(default_factory=Config)
    asking: Asking = field(default_factory=Asking)
    limit: int | None = None

    @property
    def most(self) -> int:
        """Questions, if every picture has all of its prompts."""
        pictures = self.source.count if self.limit is None else min(self.limit, self.source.count)
        return pictures * self.settings.prompts.each

    def questions(self, counts: Counter[str] | None = None) -> Iterator[Question]:
        """All questions, in order; pictures for which no prompt fits are counted."""
        for subject in islice(self.source.subjects(), self.limit):
            asked = 0
            for question in self.settings.prompts.questions(subject):
                asked += 1
                yield question
            if not asked and counts is not None:
                counts["without prompt"] += 1

    def session(self, engine: str = "local") -> Session:
        """Where and how models are asked."""
        return Session(self.workspace, self.config, self.asking, engine)

    def price(self) -> Plan:
        """What it would cost; nobody is asked."""
        return price(self.questions, self.most, self.settings, self.session())


def make_traces(
    work: Work,
    out: Path,
    *,
    engine: str = "local",
    format_: Format | None = None,
    shard_rows: int = SHARD_ROWS,
    retry_failed: bool = False,
) -> Summary:
    """Ask for what is not done yet, and write it to `out`; a stop (budget, server down) leaves whole shards and a card.

    With `retry_failed`, teachers that failed for a reason that may pass are asked again; what the others said is in the
    journal, and the row takes the place of the one that was there.
    """
    started, settings = time.monotonic(), work.settings
    header = describe(settings, work.source.name, choose_format(out, format_))
    models = [teacher.name for teacher in settings.teachers]
    for asked in (*settings.teachers, *filter(None, (settings.verifier,))):  # Before a folder has their names.
        find_endpoint(asked.name, base_url=asked.base_url or work.asking.base_url, models=work.config.models)
    if not (out / HEADER).is_file() and next(work.questions(), None) is None:
        raise UserError(
            "no prompt fits what is known of any picture.",
            "give prompts that ask for nothing else, or what they ask for: --metadata FILE, or --labels FILE",
        )
    existed = out.exists()
    prepare(out, header)
    with only_writer(out) as held:
        with Index(out) as index:
            shards = Shards(out, index, models, header["format"])
            mend(work, index, out, shards, retry_failed=retry_failed)
            before = index.count(but_failed=retry_failed)
        asking = _Asking(work, index.path if before else None, engine, retry_failed)
        place = Place(out, tuple(models), header["format"], shard_rows)
        with closing(iter(asking)) as jobs:
            if work.most - before < _FEW:
                write_here(jobs, place)
            else:
                write_elsewhere(jobs, place, held)
        with Index(out) as index:
            summary = summarise(
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


class _Asking:
    """Iterate it for the jobs of the judges; a stop ends it, and is kept until all that came before it is written."""

    def __init__(self, work: Work, index: Path | None, engine: str, retry_failed: bool) -> None:
        """`index` says what is done; None: nothing yet."""
        self._work, self._index, self._engine, self._retry_failed = work, index, engine, retry_failed
        self.counts: Counter[str] = Counter()
        self.stopped: SightlineError | None = None

    def __iter__(self) -> Generator[Job, None, None]:
        work, settings = self._work, self._work.settings
        teachers = tuple(f"{teacher.name}@{teacher.base_url}" for teacher in settings.teachers)
        results = ask_many(
            self._left(),
            ThinkJob(settings),
            work.session(self._engine),
            concurrency=_concurrency(work),
            total=work.most,
        )
        try:
            for question, asked in results:
                replies = asked if isinstance(asked, Asked) else _nothing(asked, settings)
                self.counts["asked"] += 1
                yield Job(question, replies, settings.rules, teachers)
        except SightlineError as stopped:
            self.stopped = stopped

    def _left(self) -> Iterator[Question]:
        """Opened by the thread that draws the items."""
        if self._index is None:
            yield from self._work.questions(self.counts)
            return
        done = Done(self._index, but_failed=self._retry_failed)
        try:
            yield from (question for question in self._work.questions(self.counts) if question.id not in done)
        finally:
            done.close()


def _concurrency(work: Work) -> int:
    """Questions at once: enough for every call that is allowed, and some whose replies are being written down."""
    limits = work.asking.limits
    calls = _AT_ONCE if limits is None else limits.most
    return max(16, calls * 5 // 4 // len(work.settings.teachers))


def _nothing(failure: Failure, settings: Settings) -> Asked:
    return Asked((failure,) * len(settings.teachers))
