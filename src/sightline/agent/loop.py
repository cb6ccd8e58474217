"""The loop: a model thinks and calls tools, sees what they answer, and ends with an answer or at a limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sightline.agent.finish import FINISH, Final, finish_spec, from_call, from_text, unread
from sightline.agent.memory import COMPRESS_TOOL, Conversation, compress_request, is_due, is_overflow, outline
from sightline.agent.prompts import last_turn, once_more, system_prompt
from sightline.agent.settings import AgentQuestion, AgentSettings, AgentUsage
from sightline.agent.state import PictureView
from sightline.agent.tool_calls import MOST_CALLS, Called, Toolbelt
from sightline.agent.tools.base import Observation, Tool
from sightline.agent.trajectory import Cost, End, Memory, Offered, Recorder, Start, Turn, Use, ViewedPicture, words_hash
from sightline.benchmark.formats.replies import to_exact
from sightline.calls.request_key import UnreadablePictureError, request_key
from sightline.models.protocols import ChatModel
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Message, ToolCall, ToolSpec

_NUDGES = 2
"""So many empty or aimless replies in a row are answered with a reminder; the next one is the last turn."""
_SQUEEZES = 3
"""So many overflows in a row are met by compressing."""
_REPEATS = 3
"""So many turns in a row with calls that bring nothing new: the attempt ends where they fail, else one turn is left."""
GIVEN_UP = ("no-action", "repeated-calls")
"""Why a last turn is forced on a model that makes no progress; other reasons are limits that were reached."""
_EMPTY = frozenset({"empty", "length", "endless"})
Stop: TypeAlias = Callable[[AgentUsage], str | None]


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of an attempt; `final` is None after a failure."""

    end: End
    final: Final | None = None


@dataclass(frozen=True, slots=True)
class Agent:
    """A model with tools; `compressor` writes memories (the model itself when not given).

    `stop` says when only a last turn is left; replaying a trajectory gives its own.
    """

    model: ChatModel
    tools: Sequence[Tool]
    settings: AgentSettings = field(default_factory=AgentSettings)
    compressor: ChatModel | None = None
    stop: Stop | None = None

    def first_request(self, question: AgentQuestion) -> ChatRequest:
        """What the model would be asked first."""
        return _Attempt(self, question, Recorder()).request(None)

    async def attempt(self, question: AgentQuestion, recorder: Recorder | None = None) -> Answered:
        """Work on a question until there is an answer; a failure is one, too. `StoppedError` ends all work."""
        recorder = recorder or Recorder()
        try:
            return await _Attempt(self, question, recorder).run()
        finally:
            recorder.close()


@dataclass(slots=True)
class _Attempt:
    agent: Agent
    question: AgentQuestion
    recorder: Recorder
    spent: AgentUsage = field(default_factory=AgentUsage)
    belt: Toolbelt = field(init=False)
    talk: Conversation = field(init=False)
    nudged: int = 0
    squeezed: int = 0
    given_up: str | None = None
    failing: tuple[tuple[str, str], ...] = ()
    repeated: int = 0

    def __post_init__(self) -> None:
        task, settings = self.question.task, self.agent.settings
        language, division = settings.language, settings.division
        system = system_prompt(task, language, division, subsets=settings.subsets, extra=settings.extra)
        content: list[str | ImagePart] = []
        views = [part for part in self.question.content if isinstance(part, PictureView)]
        for part in self.question.content:
            content += [part] if isinstance(part, str) else [f"\nphoto_id: {part.name}\n", part.part]
        self.talk = Conversation((Message("system", (system,)), Message("user", tuple(content))))
        self.belt = Toolbelt(self.agent.tools, self.question.state, self.recorder, settings.repeats)
        self.question.state.note_views(views)
        self.question.state.names = self.question.names
        outgoing = self.question.state.outgoing
        outgoing.hear_user("\n".join(part for part in self.question.content if isinstance(part, str)))
        if views:
            outgoing.hear(Observation("", found=tuple(view.name for view in views)))
        self.recorder.write(
            Start(
                task=task.id,
                attempt=self.question.attempt,
                kind=task.kind,
                model=self.agent.model.name,
                tools=tuple(Offered(spec.name, spec.description, dict(spec.parameters)) for spec in self._specs),
                system=system,
                prompt=prompt_of(self.question, self.recorder),
                options={option.key: option.text for option in task.options},
                limits=settings.limits.to_json(),
                settings=settings.to_json(),
            )
        )

    @property
    def _specs(self) -> tuple[ToolSpec, ...]:
        own = [finish_spec(self.question.task)]
        if self.agent.settings.memory.compress:
            own.append(COMPRESS_TOOL)
        return (*(tool.spec for tool in self.agent.tools), *own)

    async def run(self) -> Answered:
        while True:
            forced = self.given_up or self._limit()
            request = self.request(forced)
            due = None if forced else is_due(self.agent.settings.memory, self.talk, request)
            if due is not None:
                await self._compress(due)
                request = self.request(forced)
            self.spent.turns += 1
            said = await self.agent.model.reply(request)
            ended = (
                await self._failed(request, said, forced)
                if isinstance(said, Failure)
                else await self._said(request, said, forced)
            )
            if ended is not None:
                return ended

    def _limit(self) -> str | None:
        stop = self.agent.stop or self.agent.settings.limits.reached
        return stop(self.spent)

    def request(self, forced: str | None) -> ChatRequest:
        """The conversation so far; in a last turn, with the word that it is."""
        settings = self.agent.settings
        messages = self.talk.messages
        if forced is not None:
            messages = (*messages, Message("user", (last_turn(self.question.task, settings.language),)))
        return ChatRequest(
            model=self.agent.model.name,
            messages=messages,
            tools=self._specs,
            tool_choice=None if forced is None else "none",
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            reasoning_effort=settings.reasoning_effort,
            seed=settings.seed,
            sample=self.question.attempt,
        )

    # --- a reply ------------------------------------------------------------------------------------------------

    async def _said(self, request: ChatRequest, reply: ChatReply, forced: str | None) -> Answered | None:
        self.spent.add(reply)
        self.squeezed = 0
        calls = _numbered(reply.tool_calls)
        uses, final, ended = await self._used(calls, reply, forced)
        thought = reply.thinking or reply.text
        turn = Turn(
            number=self.spent.turns,
            request=digest(request),
            thought=thought,
            text=reply.text,
            uses=tuple(each.use for each in uses),
            cost=cost_of(reply),
            forced=forced,
            said=words_hash(thought, reply.text),
        )
        self.recorder.write(turn)
        if final is None and not (calls and forced is None):
            final, ended = self._worded(reply, forced), "text"
        if final is not None:
            return self._ended(ended, final, forced)
        if forced is not None:
            return self._ended("failed", Final(unread(reply.text)), forced)
        if self._repeats(uses):
            if not uses[0].use.repeated:
                return self._ended("failed", Final(_repeated(uses[0].use)), forced)
            self.given_up = "repeated-calls"
        self._continue(reply, calls, uses)
        if any(each.use.tool == COMPRESS_TOOL.name and not each.use.error for each in uses):
            await self._compress("agent")
        return None

    async def _used(
        self, calls: Sequence[ToolCall], reply: ChatReply, forced: str | None
    ) -> tuple[list[Called], Final | None, str]:
        """Run the calls in order, up to one that ends the work; in a last turn only that one."""
        uses: list[Called] = []
        for number, call in enumerate(calls):
            if call.name == FINISH:
                final = self._finished(call, reply)
                if not isinstance(final, str):
                    uses.append(self.belt.told(call, "The work is done."))
                    return uses, final, "finish"
                uses.append(self.belt.refused(call, final))
            elif forced is not None:
                uses.append(self.belt.refused(call, "this was the last turn; no tool is used any more"))
            elif number >= MOST_CALLS:
                uses.append(self.belt.refused(call, f"at most {MOST_CALLS} calls are made in one turn"))
            elif call.name == COMPRESS_TOOL.name and self.agent.settings.memory.compress:
                uses.append(self.belt.told(call, "The conversation is compressed."))
            else:
                uses.append(await self.belt.use(call))
                self.spent.pictures += len(uses[-1].use.pictures)
        return uses, None, ""

    def _finished(self, call: ToolCall, reply: ChatReply) -> Final | str:
        said = self.belt.read(call)
        if isinstance(said, str):
            return said
        return from_call(self.question.task, said, self.question.names, reply.thinking)

    def _worded(self, reply: ChatReply, forced: str | None) -> Final | None:
        """An answer in words; a model that was reminded, or has no turn left, is taken at whatever it says."""
        loose = forced is not None or self.nudged >= _NUDGES
        return from_text(self.question.task, reply.text, self.question.names, reply.thinking, loose=loose)

    def _continue(self, reply: ChatReply, calls: Sequence[ToolCall], uses: Sequence[Called]) -> None:
        said = Message("assistant", (reply.text,) if reply.text else (), tuple(calls))
        self.talk.exchanges.append([said, *(each.message for each in uses)])
        self.talk.uses += [each.use for each in uses]
        if calls:
            self.nudged = 0
        else:
            self._nudge()

    def _repeats(self, uses: Sequence[Called]) -> bool:
        """Has the model made calls that fail as before, or that were answered before, too often to go on?"""
        made = tuple((each.use.tool, each.use.arguments) for each in uses)
        failing = made if all(each.use.error for each in uses) else ()
        if uses and all(each.use.repeated for each in uses):
            self.repeated += 1
        else:
            self.repeated = 0 if not failing else self.repeated + 1 if failing == self.failing else 1
        self.failing = failing
        return self.repeated >= _REPEATS

    def _nudge(self) -> None:
        self.nudged += 1
        if self.nudged > _NUDGES:
            self.given_up = "no-action"
        else:
            self.talk.say(once_more(self.question.task, self.agent.settings.language))

    # --- no reply -----------------------------------------------------------------------------------------------

    async def _failed(self, request: ChatRequest, failure: Failure, forced: str | None) -> Answered | None:
        self.spent.add(failure)
        cost, failure = cost_of(failure), replace(failure, usage=None, usd=None)
        self.recorder.write(Turn(self.spent.turns, digest(request), cost=cost, forced=forced, failure=failure))
        if is_overflow(failure):
            if self.agent.settings.memory.compress and self.squeezed < _SQUEEZES and self.talk.exchanges:
                self.squeezed += 1
                await self._compress("overflow")
                return None
            failure = replace(failure, kind="context-overflow", retryable=False)
        elif failure.kind in _EMPTY and forced is None:
            self._nudge()
            return None
        return self._ended("failed", Final(failure), forced)

    # --- memory -------------------------------------------------------------------------------------------------

    async def _compress(self, why: str) -> None:
        """Replace the conversation; the last exchange stays, unless it is what does not fit."""
        keep_last = len(self.talk.exchanges) > 1 and self.squeezed < 2 and why != "agent"
        compressor = self.agent.compressor or self.agent.model
        request = compress_request(
            self.talk,
            self.request(None),
            self.agent.settings.memory,
            model=compressor.name,
            keep_last=keep_last,
            flat=why == "overflow" or compressor is not self.agent.model,
        )
        said = await compressor.reply(request)
        self.spent.add(said)
        if isinstance(said, ChatReply) and said.text.strip():
            text, made_by = said.text, compressor.name
        else:
            text, made_by = outline(self.talk), "outline"
        summary = self.question.state.summary()
        self.recorder.write(Memory(why, text, made_by, digest(request), cost_of(said)))
        self.talk.replace_by(f"{text}\n{summary}" if summary else text, keep_last=keep_last)
        self.belt.forget()

    # --- the end ------------------------------------------------------------------------------------------------

    def _ended(self, ended: str, final: Final, forced: str | None) -> Answered:
        failed = isinstance(final.prediction, Failure)
        end = End(
            ended=ended,
            answer=to_exact(final.prediction),
            forced=forced,
            evidence=final.evidence,
            unknown=final.unknown,
            reason=final.reason,
            subsets=dict(self.question.state.subsets),
            turns=self.spent.turns,
            tokens=self.spent.tokens,
            pictures=self.spent.pictures,
            usd=None if self.spent.unpriced else self.spent.usd,
            seconds=round(self.spent.seconds, 3),
        )
        self.recorder.write(end)
        return Answered(end, None if failed else final)


def prompt_of(question: AgentQuestion, recorder: Recorder) -> tuple[str | ViewedPicture, ...]:
    """The prompt as it is written down."""
    return tuple(part if isinstance(part, str) else recorder.sight(part) for part in question.content)


def digest(request: ChatRequest) -> str:
    """What tells two requests apart, with pictures by their content."""
    try:
        return request_key(request).hex()
    except (UnreadablePictureError, TypeError) as error:
        return f"unreadable: {error}"[:120]


def _numbered(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Calls with ids of their own: some servers give none, or the same one twice."""
    known: set[str] = set()
    found = []
    for number, call in enumerate(calls, 1):
        name = call.id if call.id and call.id not in known else f"{call.id or 'call'}-{number}"
        known.add(name)
        found.append(call if name == call.id else replace(call, id=name))
    return found


def _repeated(use: Use) -> Failure:
    why = " ".join(use.observation.split()).removeprefix("Error: ")
    return Failure("repeated-call", f"the model made the same failing call {_REPEATS} times: {use.tool}: {why}"[:400])


def cost_of(said: ChatReply | Failure) -> Cost:
    """What one call took, also one that failed; nothing where nobody was reached."""
    used = said.usage
    if used is None:
        return Cost()
    spent = Cost(used.input, used.cached, used.output, used.reasoning, used.image, said.usd)
    return spent if isinstance(said, Failure) else replace(spent, seconds=said.seconds, from_journal=said.from_journal)
