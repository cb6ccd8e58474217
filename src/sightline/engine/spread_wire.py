"""What a worker and the coordinator say to each other: questions, which are answered, and news, which is not.

Named tuples, because there are several for each call, and these are the quickest to pickle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from sightline.engine.journal import Call
from sightline.engine.limits import Limits
from sightline.errors import SightlineError, StoppedError, UserError
from sightline.types import Failure

GO_ON = "what was done so far is kept: run the same command again to go on"


class Seek(NamedTuple):
    """What is known of a request? Answered by a reply or failure; by None, and then the worker has to ask it."""

    number: int
    key: bytes
    fresh: bool


class Record(NamedTuple):
    """Keep this call. Answered when it is on disk; one of number 0 is not answered."""

    number: int
    call: Call


class Reserve(NamedTuple):
    """Set money aside for an attempt of this estimate and sort. Answered when it is."""

    number: int
    usd: float
    about: str


class Acquire(NamedTuple):
    """Leave to make a call. Answered, when it is given, by whether tokens are counted there.

    `paid_by` is the number of the question that set money aside for it, 0 when none was.
    """

    number: int
    endpoint: str
    limits: Limits | None
    tokens: int
    paid_by: int


class LookBack(NamedTuple):
    """What is known of a stage's calls from before? Answered by a `journal.Past`."""

    number: int
    endpoint: str
    model: str
    stage: str
    attempts: int


Question: TypeAlias = Seek | Record | Reserve | Acquire | LookBack


class Leave(NamedTuple):
    """The request that was to be asked was not."""

    key: bytes


class Hit(NamedTuple):
    """A request was answered from the journal."""

    stage: str
    model: str
    usd: float | None


class Settle(NamedTuple):
    """What the attempt cost that money was set aside for (by the number of that question); None: nobody knows."""

    number: int
    spent: float | None


class Release(NamedTuple):
    """The call that leave was given for (by the number of that question) ended."""

    number: int
    ok: bool
    refused: bool
    retry_after: float | None
    headers: Mapping[str, str] | None
    tokens: int | None


class GiveBack(NamedTuple):
    """The call that leave was given for was not made."""

    number: int


News: TypeAlias = Record | Leave | Hit | Settle | Release | GiveBack
Message: TypeAlias = Question | News


class Stop(NamedTuple):
    """A `SightlineError` on its way: of which kind it is, and what it says."""

    kind: str
    message: str
    fix: str | None

    @classmethod
    def of(cls, error: SightlineError) -> Stop:
        kind = "user" if isinstance(error, UserError) else "stopped" if isinstance(error, StoppedError) else "fault"
        return cls(kind, error.message, error.fix)

    def error(self) -> SightlineError:
        """The error again; a new one each time, because a traceback is added where it is raised."""
        kinds: dict[str, type[SightlineError]] = {"user": UserError, "stopped": StoppedError}
        return kinds.get(self.kind, SightlineError)(self.message, self.fix)


class Answer(NamedTuple):
    """To the question of this number."""

    number: int
    value: Any = None
    stop: Stop | None = None


class ShardDone(NamedTuple):
    """What came of a shard: results by the place of their item in it; not of all items when it was stopped."""

    results: Sequence[tuple[int, Any | Failure]]
    stop: Stop | None = None


class Desk(Protocol):
    """The coordinator, as one worker reaches it."""

    async def tell(self, messages: Sequence[Message]) -> Sequence[Answer]:
        """Hand in messages; returns the answers that are there already."""

    async def hear(self) -> Sequence[Answer]:
        """Wait for answers that took longer."""
