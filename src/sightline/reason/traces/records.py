"""The records that pass through the making of traces, from a picture and a prompt to a checked row.

Pickled between processes, they travel many to a frame; a process that only passes a frame on never unpickles it.
"""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias

from sightline.errors import UserError
from sightline.types import Box, Failure, Json, Usage
from sightline.types.chat import split_model

NO_USAGE = Usage(reported=False)
State: TypeAlias = Literal["kept", "rejected", "failed"]
Verdict: TypeAlias = Literal["supported", "contradicted", "unclear"]
CUT_OFF = {"length": "truncated", "endless": "runaway", "refused": "refusal", "content-filter": "refusal"}
"""Calls that failed for what is a reason not to keep a trace; what was said until then is kept beside, as partial."""


@dataclass(frozen=True, slots=True)
class Teacher:
    """A model that is asked, at its usual address or another; `sample` tells apart one that is asked several times."""

    name: str
    base_url: str | None = None
    sample: int = 0

    @classmethod
    def parse(cls, text: str) -> Teacher:
        """`provider/model`, or `provider/model@http://host:port/v1`."""
        name, address = split_model(text)
        if not name:
            raise UserError(f'"{text}" names no model.', "for example --teacher vllm/glm@http://localhost:8000/v1")
        return cls(name, address)


def numbered_teachers(teachers: tuple[Teacher, ...]) -> tuple[Teacher, ...]:
    """The same, with sample numbers that tell equal teachers apart."""
    found: list[Teacher] = []
    for teacher in teachers:
        before = sum((one.name, one.base_url) == (teacher.name, teacher.base_url) for one in found)
        found.append(Teacher(teacher.name, teacher.base_url, before))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class PictureKnowledge:
    """What is known of a picture beforehand: names of its class (any of them is right), a caption, exact facts."""

    labels: tuple[str, ...] = ()
    caption: str | None = None
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TracePicture:
    """A picture that is to be spoken of."""

    picture: str
    uri: str
    known: PictureKnowledge = PictureKnowledge()
    synset: str | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class TraceQuestion:
    """One prompt about one picture: a row of the data set. `told` names what the prompt gave away."""

    id: str
    subject: TracePicture
    prompt: str
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TeacherReply:
    """One teacher's reply, thinking apart from the answer."""

    thinking: str
    answer: str
    finish: str = "stop"
    usage: Usage = NO_USAGE
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """What a verifier who looked at the picture said of claims, what it cost, and the part that was shown for some."""

    verdicts: Mapping[str, Verdict]
    usd: float | None = None
    regions: Mapping[str, Box] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TeacherReplies:
    """All replies to one question, in the order of the teachers; `verified` is None where nobody was to verify."""

    replies: tuple[TeacherReply | Failure, ...]
    verified: Verified | Failure | None = None


@dataclass(frozen=True, slots=True)
class TraceRules:
    """What a trace must be like to be kept."""

    language: str | None = "en"
    least_words: int = 8
    most_words: int = 3_000
    most_repeated: float = 0.3
    least_quality: float = 0.0
    least_grounded: float = 0.5
    needs_thinking: bool = False


class CheckJob(NamedTuple):
    """What is to be judged: the replies to one question."""

    question: TraceQuestion
    asked: TeacherReplies
    rules: TraceRules
    teachers: tuple[str, ...] = ()
    "Who gave each reply; two of one teacher that are the same, word by word, are one."


@dataclass(frozen=True, slots=True)
class CheckedTrace:
    """A reply after all checks: its text (cut where it ran away), why it is not kept, the parts of its quality."""

    state: State
    thinking: str = ""
    answer: str = ""
    reasons: tuple[str, ...] = ()
    quality: float | None = None
    parts: Mapping[str, float] | None = None
    notes: Mapping[str, Json] | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What became of each teacher's reply, and of all of them together."""

    traces: tuple[CheckedTrace, ...]
    agreement: float | None = None
    conflicts: tuple[tuple[str, str, str], ...] = ()
    """Kind of the contradiction, and the words on either side."""


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A question, what was said to it, and what became of that."""

    question: TraceQuestion
    asked: TeacherReplies
    found: Findings

    def said(self, place: int) -> TeacherReply | None:
        """A teacher's reply, if there was one."""
        reply = self.asked.replies[place]
        return reply if isinstance(reply, TeacherReply) else None


def _quickly(kind: type[Any]) -> None:
    """Pickle a data class as a call of itself: its own way, field by field in Python, takes twice as long."""
    values = attrgetter(*(field.name for field in fields(kind)))
    copyreg.pickle(kind, lambda one: (kind, values(one)))


for _kind in (
    TeacherReplies,
    Failure,
    Findings,
    CheckedTrace,
    PictureKnowledge,
    TraceQuestion,
    TraceRow,
    TraceRules,
    TeacherReply,
    TracePicture,
    Usage,
    Verified,
):
    _quickly(_kind)


def pack(values: Iterable[CheckJob] | Iterable[TraceRow]) -> bytes:
    """A frame of jobs or rows."""
    return pickle.dumps(list(values), protocol=pickle.HIGHEST_PROTOCOL)


def unpack(frame: bytes) -> list[Any]:
    """The jobs or rows of a frame, which only ever comes from our own parent or child process."""
    found: list[Any] = pickle.loads(frame)
    return found


def check_frame(numbered: tuple[int, bytes]) -> bytes:
    """A frame of jobs, with its number → a frame of rows; done in a worker process."""
    from sightline.reason.traces.quality import check_replies

    return pack(TraceRow(job.question, job.asked, check_replies(job)) for job in unpack(numbered[1]))
