"""Tool calls as a model writes them: parsed, run, and answered with an observation.

Whatever is wrong with a call is an observation too. An observation is data between marks; what others wrote is marked
as untrusted.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

import orjson

from sightline.agent.state import AgentState
from sightline.agent.tools.base import Observation, Tool, mistake
from sightline.agent.trajectory import Recorder, Use
from sightline.errors import SightlineError, StoppedError, StorageError, nearest, refuse_disk_fault
from sightline.types import ImagePart, Json, Message, ToolCall

_MARK = re.compile(r"<(?=\s*/?\s*observation\b)", re.IGNORECASE)
LONGEST = 40_000
"""More characters than this are cut off, whatever a tool says."""
MOST_CALLS = 16
"""Of one turn; more are refused."""
_AGAIN = (
    "You have made this very call before. Its answer, which has not changed, is in this conversation: use it, "
    "call something else, or give the answer."
)
_log = logging.getLogger(__name__)


def rendered(tool: str, observation: Observation, state: AgentState | None = None) -> tuple[str | ImagePart, ...]:
    """The content of a tool's message; each picture follows its name. A mistake is told in plain words."""
    text = observation.text if len(observation.text) <= LONGEST else f"{observation.text[:LONGEST]}\n(cut off here)"
    text = _harmless(text)
    if not observation.error or observation.untrusted:
        trust = ' source="outside, untrusted"' if observation.untrusted else ""
        text = f'<observation tool="{_name(tool)}"{trust}>\n{text}\n</observation>'
    summary = "" if state is None else state.summary()
    parts: list[str | ImagePart] = [f"{text}\n{summary}" if summary else text]
    for view in observation.pictures:
        parts += [f"\nphoto_id: {view.name}\n", view.part]
    return tuple(parts)


def _harmless(text: str) -> str:
    """Words can't end the observation that they stand in, nor begin another."""
    return _MARK.sub("&lt;", text)


def _name(tool: str) -> str:
    return re.sub(r"[^\w.-]", "_", tool)[:64]


def _canonical(arguments: str) -> str:
    """Arguments in one form, whatever the order and the blanks that a model wrote them with."""
    try:
        return orjson.dumps(orjson.loads(arguments), option=orjson.OPT_SORT_KEYS).decode()
    except (orjson.JSONDecodeError, TypeError):
        return arguments


@dataclass(frozen=True, slots=True)
class Called:
    """A call that was dealt with: for the trajectory, and for the model."""

    use: Use
    message: Message


class Toolbelt:
    """The tools of one attempt; notes in its state what they found and showed.

    A call whose answer the conversation holds already is not made again, unless `repeats` allows it or subsets have
    changed since; nor is a picture shown again that is still there.
    """

    def __init__(self, tools: Iterable[Tool], state: AgentState, recorder: Recorder, repeats: bool = False) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._state, self._recorder, self._repeats = state, recorder, repeats
        self._answered: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
        if not repeats:
            state.in_view = set()

    def forget(self) -> None:
        """The conversation is gone: what it held may be asked for again."""
        self._answered.clear()
        if self._state.in_view is not None:
            self._state.in_view.clear()

    def read(self, call: ToolCall) -> dict[str, Json] | str:
        """The arguments of a call, or what is wrong with them."""
        text = call.arguments.strip()
        try:
            given = orjson.loads(text) if text else {}
        except orjson.JSONDecodeError as error:
            return f"the arguments of {call.name} are no JSON ({error}); write one JSON object"
        if not isinstance(given, dict):
            return f"the arguments of {call.name} must be one JSON object, not {type(given).__name__}"
        return given

    async def use(self, call: ToolCall) -> Called:
        """Run a call; a tool's fault is told to the model, and logged."""
        started, before = time.perf_counter(), dict(self._state.subsets)
        key = (call.name, _canonical(call.arguments))
        if self._answered.get(key) == before and not self._repeats:
            return self._called(call, Observation(_AGAIN), repeated=True)
        observation = await self._observed(call)
        if not observation.error:
            self._answered[key] = dict(self._state.subsets)
        self._state.note(observation)
        saved = {name: ids for name, ids in self._state.subsets.items() if before.get(name) != ids}
        return self._called(call, observation, saved, time.perf_counter() - started)

    def told(self, call: ToolCall, text: str) -> Called:
        """A call that the loop itself deals with."""
        return self._called(call, Observation(text))

    def refused(self, call: ToolCall, why: str) -> Called:
        """A call that can't be done as it is."""
        return self._called(call, mistake(why))

    async def _observed(self, call: ToolCall) -> Observation:
        tool = self._tools.get(call.name)
        if tool is None:
            near = nearest(call.name, self._tools)
            hint = f" Did you mean {near}?" if near else ""
            return mistake(f'there is no tool "{call.name[:80]}".{hint} Tools: {", ".join(self._tools)}')
        arguments = self.read(call)
        if isinstance(arguments, str):
            return mistake(arguments)
        try:
            return await tool.call(arguments, self._state)
        except (StoppedError, StorageError):
            raise
        except SightlineError as error:
            return mistake(error.message)
        except Exception as fault:  # A plug-in's fault must not end a run; it is logged, counted and shown.
            refuse_disk_fault(fault)
            _log.warning("tool %s raised %s: %s", call.name, type(fault).__name__, fault, exc_info=True)
            return mistake(f"{call.name} failed with {type(fault).__name__}; try another way")

    def _called(
        self,
        call: ToolCall,
        observation: Observation,
        saved: dict[str, tuple[str, ...]] | None = None,
        seconds: float = 0.0,
        repeated: bool = False,
    ) -> Called:
        content = rendered(call.name, observation, self._state)
        use = Use(
            id=call.id,
            tool=call.name,
            arguments=call.arguments,
            observation=observation.text,
            pictures=tuple(map(self._recorder.sight, observation.pictures)),
            found=tuple(dict.fromkeys(observation.found)),
            data=observation.data,
            error=observation.error,
            untrusted=observation.untrusted,
            saved=saved or {},
            seconds=round(seconds, 4),
            repeated=repeated,
        )
        return Called(use, Message("tool", content, tool_call_id=call.id))
