"""Jobs and rows on their way between processes: many in one frame, and who only passes a frame on never opens it."""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Iterable
from dataclasses import fields
from operator import attrgetter
from typing import Any

from sightline.reason.traces.nouns import (
    Asked,
    Findings,
    Job,
    Judged,
    Known,
    Question,
    Row,
    Rules,
    Said,
    Subject,
    Verified,
)
from sightline.types import Failure, Usage


def _quickly(kind: type[Any]) -> None:
    """Pickle a data class as a call of itself: its own way, field by field in Python, takes twice as long."""
    values = attrgetter(*(field.name for field in fields(kind)))
    copyreg.pickle(kind, lambda one: (kind, values(one)))


for _kind in (Asked, Failure, Findings, Judged, Known, Question, Row, Rules, Said, Subject, Usage, Verified):
    _quickly(_kind)


def pack(values: Iterable[Job] | Iterable[Row]) -> bytes:
    """A frame of jobs or rows."""
    return pickle.dumps(list(values), protocol=pickle.HIGHEST_PROTOCOL)


def unpack(frame: bytes) -> list[Any]:
    """The jobs or rows of a frame, which only ever comes from our own parent or child process."""
    found: list[Any] = pickle.loads(frame)
    return found


def judge_frame(numbered: tuple[int, bytes]) -> bytes:
    """A frame of jobs, with its number → a frame of rows; done in a worker process."""
    from sightline.reason.traces.judging import judge  # Here: who only passes frames on starts sooner without it.

    return pack(Row(job.question, job.asked, judge(job)) for job in unpack(numbered[1]))
