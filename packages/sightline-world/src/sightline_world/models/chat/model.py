"""`builtin/world`: a rule-based model that answers from pixels and words on this machine, for nothing."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from sightline.models.failures import failure
from sightline.models.json_schema import schema_errors
from sightline.models.protocols import CallOutcome
from sightline.types import ChatReply, ChatRequest, Failure, Message, ToolCall, Usage
from sightline_world.models.chat.answers import CANNOT, full_question
from sightline_world.models.chat.descriptions import STYLES, Style, facts, query, thinking
from sightline_world.models.chat.field_values import Situation
from sightline_world.models.chat.images import ImageReader, Reader, SeenImage, shown_in, told_of
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.planning.conversation import read_conversation
from sightline_world.models.chat.planning.planner import (
    as_request,
    compressed,
    count,
    counts_pictures,
    final_words,
    next_move,
)
from sightline_world.models.chat.planning.question_planner import inquire, is_inquiry
from sightline_world.models.chat.planning.search import Move
from sightline_world.models.chat.planning.tools import Toolbox
from sightline_world.models.chat.questions import answer, choose, in_form, options_in
from sightline_world.models.chat.structured_output import fill
from sightline_world.models.chat.verification import grade, query_in, verdicts
from sightline_world.models.declaration import NAME, endpoint
from sightline_world.models.scene_reader import read

_IMAGE_TOKENS = 85
_FINAL_FORM = re.compile(r"the final answer is\s*:(\s*\[)?", re.IGNORECASE)
_COMPRESS = re.compile(
    r"\b(?:compress|condense|summari[sz]e)\b.{0,80}\b(?:conversation|context|history|memory|progress|trajectory)\b",
    re.IGNORECASE | re.DOTALL,
)
_WRITE_QUERY = re.compile(
    r"\b(?:write|make|give|compose|suggest|formulate|generate)\b.{0,60}\bquer(?:y|ies)\b", re.IGNORECASE | re.DOTALL
)
_JUDGE = re.compile(r"\b(?:relevan|judge|grade|fits? the query|match(?:es)? the query)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Said:
    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    parsed: Any = None


class WorldChat:
    """A ChatModel and a Transport in one; `reader` sees, and everything else is rules.

    It knows the words of the built-in world. What it can't do, it says; what it sees wrongly, it says wrongly.
    """

    def __init__(self, reader: Reader = read) -> None:
        self.name, self.endpoint = NAME, endpoint()
        self._eyes = ImageReader(reader)

    async def send(self, request: ChatRequest) -> CallOutcome:
        """One reply, made in a thread."""
        return CallOutcome(await self.reply(request))

    async def reply(self, request: ChatRequest) -> ChatReply | Failure:
        """The reply; a picture that can't be read, or a schema that can't be met, is a failure."""
        started = time.perf_counter()
        said = await asyncio.to_thread(self._answered, request)
        if isinstance(said, Failure):
            return said
        return ChatReply(
            said.text,
            said.thinking,
            said.calls,
            said.parsed,
            finish="tool-calls" if said.calls else "stop",
            model=NAME,
            usage=_usage(request, said),
            usd=0.0,
            seconds=time.perf_counter() - started,
        )

    async def close(self) -> None:
        """Nothing is open."""

    def _answered(self, request: ChatRequest) -> _Said | Failure:
        asked = _words(request.messages, "user")
        if _COMPRESS.search(f"{_words(request.messages, 'system')}\n{asked}") and not request.tools:
            return self._compressed(request)
        if request.tools and request.tool_choice != "none":
            return self._with_tools(request)
        if any(message.tool_calls for message in request.messages):
            return self._with_tools(replace(request, tools=()))
        return self._alone(request, asked)

    # --- with tools ------------------------------------------------------------------------------------------------

    def _with_tools(self, request: ChatRequest) -> _Said | Failure:
        tools = Toolbox(request.tools)
        history = read_conversation(request.messages, tools, self._eyes)
        if isinstance(history, Failure):
            return history
        history = replace(history, must_answer=history.must_answer or not request.tools)
        options = options_in(history.asked)
        if options and history.shown:
            return self._alone(request, history.asked)
        if counts_pictures(history):
            move, said = count(history, tools)
            if not move.calls:
                return self._finished(request, tools, said, move, len(history.steps))
        elif is_inquiry(history := as_request(history)):
            told = inquire(history, tools)
            move, said = Move(told.thought, told.calls, told.ids, told.notes), told.text
            if not move.calls:
                return self._finished(request, tools, said, move, len(history.steps))
        else:
            move = next_move(history, tools)
            if not move.calls:
                return self._finished(request, tools, list(move.ids), move, len(history.steps))
        return _Said(_noted(move), move.thought, move.calls)

    def _finished(
        self, request: ChatRequest, tools: Toolbox, found: str | list[str], move: Move, number: int
    ) -> _Said | Failure:
        """The answer by the tool for it, under a schema, or in the words that are asked for."""
        thought = move.thought
        if request.tools and tools.has("finish"):
            call = _finish(tools, found, move, number + 1)
            if call is not None:
                return _Said(_noted(move), thought, (call,))
        if request.schema is not None:
            return self._structured(request, "", Situation(answered=(_joined(found), 0.7, thought)))
        wanted = _FINAL_FORM.search("\n".join(_words(request.messages, role) for role in ("system", "user")))
        if isinstance(found, list) and not found and wanted is not None and wanted[1] is None:
            found = thought.rstrip(".")
        if isinstance(found, list):
            return _Said("\n".join(filter(None, (thought, final_words(found)))), thought)
        return _Said(f"The final answer is: {found}." if wanted else found, thought)

    def _compressed(self, request: ChatRequest) -> _Said | Failure:
        tools = Toolbox(request.tools)
        history = read_conversation(request.messages, tools, self._eyes)
        if isinstance(history, Failure):
            return history
        if not history.steps and not history.notes:
            kept = [line for line in history.asked.splitlines() if line.strip()]
            return self._in_schema(request, "\n".join(kept[:40]) or "Nothing has been found yet.")
        return self._in_schema(request, compressed(as_request(history), tools))

    def _in_schema(self, request: ChatRequest, text: str) -> _Said | Failure:
        if request.schema is None:
            return _Said(text)
        return self._structured(request, "", Situation(answered=(text, 0.7, text)))

    # --- without tools ---------------------------------------------------------------------------------------------

    def _alone(self, request: ChatRequest, asked: str) -> _Said | Failure:
        seen = self._eyes.look_all([each for each in shown_in(request.messages) if _is_asked(request, each.turn)])
        if isinstance(seen, Failure):
            return seen
        if request.schema is not None and seen:
            verified = verdicts(request.schema, asked, seen[0].reading)
            if verified is not None:
                return _Said(orjson.dumps(verified).decode(), thinking(seen[0].reading), parsed=verified)
        told = [] if seen else told_of(asked)
        here = _situation(asked, seen or told)
        if request.schema is not None:
            return self._structured(request, asked, here)
        return _in_words(asked, here)

    def _structured(self, request: ChatRequest, asked: str, here: Situation) -> _Said | Failure:
        assert request.schema is not None
        value = fill(request.schema, replace(here, text=here.text or asked)).value
        wrong = schema_errors(value, request.schema)
        if wrong:
            return failure("unsupported", f"{NAME} can't meet this schema: {'; '.join(wrong[:3])}")
        thought = thinking(here.seen[0].reading) if here.seen else ""
        return _Said(orjson.dumps(value).decode(), thought, parsed=value)


def _finish(tools: Toolbox, found: str | list[str], move: Move, number: int) -> ToolCall | None:
    """The call that ends the work; where it wants a text, pictures that were found are the evidence of a sentence."""
    if not tools.is_text("finish", "answer"):
        return tools.call("finish", number, answer=found, photos=found if isinstance(found, list) else None)
    lists = tools.takes("finish", "evidence")
    told = move.thought if isinstance(found, list) and (lists or not found) else found
    return tools.call("finish", number, answer=told, evidence=list(move.ids) or None)


def _noted(move: Move) -> str:
    return "\n".join((move.thought, *move.notes))


def _situation(asked: str, seen: Sequence[SeenImage]) -> Situation:
    """What a reply without tools is made from."""
    wanted = query_in(asked)
    options = options_in(asked)
    here = Situation(asked, tuple(seen), wanted, meant=understand(wanted))
    if options:
        chosen = choose(asked, options, seen)
        return replace(here, option=chosen.key, answered=(chosen.key, chosen.sure, chosen.why))
    if seen and not wanted:
        found = answer(full_question(asked), seen)
        here = replace(here, answered=(found.text, found.sure, found.why))
    return here


def _in_words(asked: str, here: Situation) -> _Said:
    """A reply in plain text: a choice, a judgment, a query, or an answer."""
    if here.option and here.answered is not None:
        return _Said(in_form(asked, here.option), here.answered[2])
    if _WRITE_QUERY.search(asked) and here.seen:
        return _Said(query(facts(here.seen[0].reading.graph), _style(asked)), thinking(here.seen[0].reading))
    if here.query and here.seen and (_JUDGE.search(asked) or not asked.strip().endswith("?")):
        return _judged(here)
    if not here.seen:
        return _Said(
            CANNOT if asked.strip() else "I see no picture and no question.", "There is no picture to look at."
        )
    found = answer(full_question(asked), here.seen)
    return _Said(found.text, found.why)


def _judged(here: Situation) -> _Said:
    lines = []
    for seen in here.seen:
        judged = grade(here.meant, seen.reading)
        word = "relevant" if judged.holds else "not relevant"
        lines.append(f"{seen.label}: {judged.grade} ({word}). {judged.reason}")
    return _Said("\n".join(lines), f"The query asks for: {here.query}")


def _style(asked: str) -> Style:
    return next((style for style in STYLES if style in asked.lower()), "sentence")


def _is_asked(request: ChatRequest, turn: int) -> bool:
    """Pictures of the user and the system, not those in earlier replies."""
    return request.messages[turn].role in ("user", "system", "tool")


def _words(messages: Sequence[Message], role: str) -> str:
    return "\n".join(
        part for message in messages if message.role == role for part in message.content if isinstance(part, str)
    )


def _joined(found: str | list[str]) -> str:
    return found if isinstance(found, str) else ", ".join(found)


def _usage(request: ChatRequest, said: _Said) -> Usage:
    """Words for tokens: what is free is still counted."""
    texts = [part for message in request.messages for part in message.content if isinstance(part, str)]
    pictures = sum(not isinstance(part, str) for message in request.messages for part in message.content)
    image = pictures * _IMAGE_TOKENS
    reasoning = len(said.thinking.split())
    output = len(said.text.split()) + sum(len(call.arguments.split()) + 1 for call in said.calls)
    return Usage(
        sum(len(text.split()) for text in texts) + image, output=output + reasoning, reasoning=reasoning, image=image
    )
