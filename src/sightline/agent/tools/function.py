"""A tool as a function: what it raises for a mistake becomes an observation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sightline.agent.state import State
from sightline.agent.tools.base import Observation, mistake
from sightline.agent.tools.given import Given, MistakeError
from sightline.errors import UserError
from sightline.types import Json, ToolSpec

Work: TypeAlias = Callable[[Given, State], Observation]
AsyncWork: TypeAlias = Callable[[Given, State], Awaitable[Observation]]


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A tool whose work is done in a thread, so that other tasks go on meanwhile."""

    spec: ToolSpec
    work: Work

    async def call(self, arguments: Mapping[str, Json], state: State) -> Observation:
        return await asyncio.to_thread(self._call, arguments, state)

    def _call(self, arguments: Mapping[str, Json], state: State) -> Observation:
        try:
            return self.work(Given(arguments, self.spec), state)
        except (MistakeError, UserError) as error:
            return _told(error)


@dataclass(frozen=True, slots=True)
class AsyncTool:
    """A tool that waits for others, such as the web."""

    spec: ToolSpec
    work: AsyncWork

    async def call(self, arguments: Mapping[str, Json], state: State) -> Observation:
        try:
            return await self.work(Given(arguments, self.spec), state)
        except (MistakeError, UserError) as error:
            return _told(error)


def _told(error: MistakeError | UserError) -> Observation:
    return mistake(" ".join(str(error).split()))
