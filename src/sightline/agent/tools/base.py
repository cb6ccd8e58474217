"""What a tool is, what it is made from, what it answers, and tools made from plain functions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar, runtime_checkable

from sightline.agent.state import AgentState, PictureView
from sightline.agent.tools.arguments import MistakeError, ToolArguments
from sightline.errors import StorageError, UserError
from sightline.types import Annotation, Json, Picture, TaskKind, ToolSpec

if TYPE_CHECKING:
    from sightline.agent.web import Web
    from sightline.retrieval.searcher import Searcher

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Observation:
    """What a tool answers: text for the model, pictures to be shown with it, and the same as data for the trajectory.

    `found` are the ids of the corpus that it names: attribution of misses counts on them. `untrusted` marks words that
    somebody else wrote (a page, a sign in a picture): data, never an order. `public` says that it all comes from the
    web, and nothing from the user's pictures. `error` says that the call could not be
    done, and `text` why and what to do; it is no exception.
    """

    text: str
    pictures: tuple[PictureView, ...] = ()
    data: Json = None
    found: tuple[str, ...] = ()
    untrusted: bool = False
    error: bool = False
    public: bool = False


@runtime_checkable
class Tool(Protocol):
    """Something that an agent may use; it reads, and writes nothing but the state of the attempt.

    Arguments have been read as a JSON object, and are otherwise as the model wrote them. A mistake in them is an
    observation with `error`. The loop notes `found` and `pictures` of an observation in the state by itself.
    """

    @property
    def spec(self) -> ToolSpec: ...

    async def call(self, arguments: Mapping[str, Json], state: AgentState) -> Observation: ...


@dataclass(frozen=True, slots=True)
class Materials:
    """What tools are made from; a tool whose material is missing is not offered.

    `pictures` is the corpus that the tools work on, and `base` is where relative addresses of pictures begin.
    `fields` are those that GetMetadata may tell; None for all.
    """

    pictures: Mapping[str, Picture] = field(default_factory=dict)
    searcher: Searcher | None = None
    web: Web | None = None
    base: Path | None = None
    annotations: Mapping[str, Annotation] = field(default_factory=dict)
    fields: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """Something without which a tool is left out; `reason` says to a person what is not there, and what would help."""

    met: Callable[[Materials], bool]
    reason: str


@dataclass(frozen=True, slots=True)
class ToolKind:
    """A tool by its name; it is left out where one of its `needs` is not met, or `make` gives None.

    `sightline.agent.tools.registry.KINDS` maps the names of ours to them, and entry points of `sightline.tools` are of
    this type. `tasks` are the kinds of task that it is offered for when nobody names tools.
    """

    name: str
    summary: str
    make: Callable[[Materials], Tool | None]
    tasks: frozenset[TaskKind] = frozenset(("rank", "select", "answer", "choose", "describe"))
    needs: tuple[Need, ...] = ()

    def lacks(self, materials: Materials) -> str | None:
        """Why the tool can't be used with these materials; None if it can, as far as its needs tell."""
        return next((need.reason for need in self.needs if not need.met(materials)), None)


def mistake(text: str) -> Observation:
    """The observation for a call that can't be done as it was written."""
    return Observation(f"Error: {text}", data={"error": text}, error=True)


Work: TypeAlias = Callable[[ToolArguments, AgentState], Observation]
AsyncWork: TypeAlias = Callable[[ToolArguments, AgentState], Awaitable[Observation]]


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A tool whose work is done in a thread, so that other tasks go on meanwhile."""

    spec: ToolSpec
    work: Work

    async def call(self, arguments: Mapping[str, Json], state: AgentState) -> Observation:
        return await asyncio.to_thread(self._call, arguments, state)

    def _call(self, arguments: Mapping[str, Json], state: AgentState) -> Observation:
        try:
            return self.work(ToolArguments(arguments, self.spec), state)
        except (MistakeError, UserError) as error:
            return _told(error)


@dataclass(frozen=True, slots=True)
class AsyncTool:
    """A tool that waits for others, such as the web."""

    spec: ToolSpec
    work: AsyncWork

    async def call(self, arguments: Mapping[str, Json], state: AgentState) -> Observation:
        try:
            return await self.work(ToolArguments(arguments, self.spec), state)
        except (MistakeError, UserError) as error:
            return _told(error)


def tool(
    spec: ToolSpec, part: Callable[[Materials], Part], usable: Callable[[Materials], bool]
) -> Callable[[Callable[[Part, ToolArguments, AgentState], Observation]], Callable[[Materials], Tool | None]]:
    """Makes a function into what makes a tool: `part` is what it works on, made once of the materials it needs."""

    def decorate(work: Callable[[Part, ToolArguments, AgentState], Observation]) -> Callable[[Materials], Tool | None]:
        @wraps(work)
        def make(materials: Materials) -> Tool | None:
            return FunctionTool(spec, partial(work, part(materials))) if usable(materials) else None

        return make

    return decorate


def has_pictures(materials: Materials) -> bool:
    """Is there anything to look at, or a web that brings it?"""
    return bool(materials.pictures) or materials.web is not None


def _told(error: MistakeError | UserError) -> Observation:
    """For the model to mend; what a disk or a damaged file withholds is nothing that it could, and stops the work."""
    if isinstance(error, StorageError):
        raise error
    return mistake(" ".join(str(error).split()))
