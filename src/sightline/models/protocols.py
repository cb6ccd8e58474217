"""Who answers: the protocols of chat models and embedders, and what one attempt at a call brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.types import ChatReply, ChatRequest, Failure, Partial, Usage

Pixels: TypeAlias = NDArray[np.uint8]
"""Height × width × 3."""
Vectors: TypeAlias = NDArray[np.float32]
"""One unit-length row for each input."""


class ChatModel(Protocol):
    """Anything that replies; a failure is a value, never an exception."""

    name: str

    async def reply(self, request: ChatRequest) -> ChatReply | Failure: ...


@dataclass(slots=True)
class CallOutcome:
    """One attempt: a reply or a failure; `status` and `headers` as the server sent them (names in lower case).

    `retry_after` is in seconds, from the server's own word. `Failure.retryable` says whether another attempt may help.
    `partial` is what a model said although the attempt failed (cut off, refused, wrong schema): it was paid for.
    `sent` is False when the request certainly did not reach a server: then it cost nothing.
    """

    result: ChatReply | Failure
    status: int | None = None
    retry_after: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    partial: ChatReply | None = None
    sent: bool = True

    @property
    def usage(self) -> Usage | None:
        """Tokens that the attempt cost, also when it failed; None when the model was not reached."""
        said = self.result if isinstance(self.result, ChatReply) else self.partial
        return None if said is None else said.usage

    @property
    def words(self) -> Partial | None:
        """What was said in words although the attempt failed."""
        said = self.partial
        return Partial(said.text, said.thinking) if said is not None and (said.text or said.thinking) else None


class Transport(Protocol):
    """One attempt at one call, with no retry, no cache and no budget; `endpoint` is what limits are kept for.

    What changes a reply beside the request (settings that reach the wire) is told by an attribute `wire`, a string that
    becomes part of the journal's keys; a transport without it has nothing of the sort.
    """

    endpoint: str

    async def send(self, request: ChatRequest) -> CallOutcome: ...

    async def close(self) -> None: ...


def wire_of(transport: Transport) -> str:
    """What of a transport's settings is part of the journal's keys."""
    found: object = getattr(transport, "wire", "")
    return found if isinstance(found, str) else ""


class Embedder(Protocol):
    """Pictures and texts into one space; `revision` changes with whatever changes a vector.

    What an embedder may offer beside this is in `models.embedders.base`.
    """

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def pictures(self, batch: Sequence[Pixels]) -> Vectors: ...

    def texts(self, batch: Sequence[str]) -> Vectors: ...
