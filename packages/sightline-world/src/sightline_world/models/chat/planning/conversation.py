"""A conversation → what has been asked, called, answered, seen and noted so far; nothing else is remembered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from sightline.types import Failure, ImagePart, Message
from sightline_world.models.chat.images import ImageReader, SeenImage, label_in
from sightline_world.models.chat.planning.tools import Facts, Toolbox, Use, facts_in, ids_in, is_error, read_time
from sightline_world.models.chat.verification import query_in

_NOTE = re.compile(r"^\W*Noted ([a-z ]+): (\[.*\]|\{.*\}|\".*\")\s*$", re.MULTILINE)
_ASKED = re.compile(
    r"^\W*(?:question|task|request|goal|the task|user question)\s*:\s*(.+)$", re.IGNORECASE | re.MULTILINE
)
_LAST_TURN = re.compile(
    r"\b(?:last|final) (?:turn|step|chance)\b|\banswer now\b|\bmust (?:now )?(?:answer|give|finish)\b|"
    r"\bno (?:more|further) (?:tool|turn|step)",
    re.IGNORECASE,
)
_TRIES = 2


@dataclass(frozen=True, slots=True)
class ToolStep:
    """One tool call and what came of it; `text` is None while there is no answer."""

    name: str
    use: Use | None
    arguments: Mapping[str, Any]
    text: str | None
    seen: Mapping[str, SeenImage] = field(default_factory=dict)
    turn: int = 0

    @property
    def failed(self) -> bool:
        return self.text is not None and not self.seen and is_error(self.text)

    @property
    def ids(self) -> list[str]:
        return [] if self.text is None or self.failed else ids_in(self.text)


@dataclass(frozen=True, slots=True)
class ToolConversation:
    """What a conversation holds; `seen` and `facts` are by picture id, `notes` what the model itself wrote down."""

    asked: str
    steps: tuple[ToolStep, ...] = ()
    seen: Mapping[str, SeenImage] = field(default_factory=dict)
    facts: Mapping[str, Facts] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    shown: tuple[SeenImage, ...] = ()
    must_answer: bool = False

    def done(self, use: Use) -> list[ToolStep]:
        """Answered calls of one use that did not fail."""
        return [step for step in self.steps if step.use == use and step.text is not None and not step.failed]

    def found(self, use: Use) -> list[tuple[Mapping[str, Any], list[str]]]:
        """The arguments and the ids of each call of one use, the noted ones first."""
        noted = self.notes.get("found", {})
        before = [(key.partition(" "), ids) for key, ids in noted.items()] if isinstance(noted, dict) else []
        known: list[tuple[Mapping[str, Any], list[str]]] = [
            (_loaded(parts[2]), [str(each) for each in ids])
            for parts, ids in before
            if parts[0] == use and isinstance(ids, list)
        ]
        return [*known, *((step.arguments, step.ids) for step in self.done(use))]

    @property
    def last_steps(self) -> list[ToolStep]:
        """The calls of the last turn."""
        turn = max((step.turn for step in self.steps), default=0)
        return [step for step in self.steps if step.turn == turn]

    @property
    def last_seen(self) -> dict[str, SeenImage]:
        """What the last turn has shown."""
        return {name: seen for step in self.last_steps for name, seen in step.seen.items()}

    def broken(self) -> frozenset[str]:
        """Tools that failed twice, and never worked."""
        names = {step.name for step in self.steps}
        return frozenset(
            name
            for name in names
            if sum(step.failed for step in self.steps if step.name == name) >= _TRIES
            and all(step.failed for step in self.steps if step.name == name)
        )

    def noted(self, key: str) -> list[str]:
        """Ids that were written down under a key."""
        found = self.notes.get(key, [])
        return [str(each) for each in found] if isinstance(found, list) else []


def read_conversation(messages: Sequence[Message], tools: Toolbox, eyes: ImageReader) -> ToolConversation | Failure:
    """All that the messages say; a picture that can't be looked at in the question itself is a failure."""
    steps: list[ToolStep] = []
    shown: list[SeenImage] = []
    for turn, group in enumerate(_turns(messages)):
        if group[0].role == "assistant" and group[0].tool_calls:
            steps += [replace(step, turn=turn) for step in _steps(group[0], group[1:], tools, eyes)]
        for message in group:
            if message.role == "user" and not group[0].tool_calls:
                found = _pictures_asked(message, eyes, len(shown))
                if isinstance(found, Failure):
                    return found
                shown += found
    notes = _notes(messages)
    return ToolConversation(
        asked=_asked(messages),
        steps=tuple(steps),
        seen={name: seen for step in steps for name, seen in step.seen.items()},
        facts=_noted_facts(notes) | {k: v for step in steps if step.use == "metadata" for k, v in _facts(step).items()},
        notes=notes,
        shown=tuple(shown),
        must_answer=_must_answer(messages),
    )


def _turns(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Each assistant's message with what follows it; what comes before the first one by itself."""
    group: list[Message] = []
    for message in messages:
        if message.role == "assistant" and group:
            yield group
            group = []
        group.append(message)
    if group:
        yield group


def _steps(said: Message, after: Sequence[Message], tools: Toolbox, eyes: ImageReader) -> list[ToolStep]:
    answers = {message.tool_call_id: message for message in after if message.role == "tool"}
    unnamed = [message for message in after if message.role == "tool" and message.tool_call_id is None]
    later = [part for message in after if message.role == "user" for part in message.content]
    steps = []
    for call in said.tool_calls:
        answer = answers.get(call.id) or (unnamed.pop(0) if unnamed else None)
        arguments = _loaded(call.arguments)
        content = () if answer is None else answer.content
        parts = content if any(isinstance(part, ImagePart) for part in content) else tuple(later)
        use = tools.use_of(call.name)
        seen = _look(parts, _wanted(arguments), eyes) if use in ("view", "zoom") else {}
        text = None if answer is None else "".join(part for part in content if isinstance(part, str))
        steps.append(ToolStep(call.name, use, arguments, text, seen))
    return steps


def _look(parts: Sequence[str | ImagePart], wanted: Sequence[str], eyes: ImageReader) -> dict[str, SeenImage]:
    """Pictures by the id that stands before each, else in the order in which they were asked for."""
    seen: dict[str, SeenImage] = {}
    before, number = "", 0
    for part in parts:
        if isinstance(part, str):
            before = part
            continue
        label = next((name for name in wanted if name == label_in(before)), "")
        label = label or next((name for name in sorted(wanted, key=len, reverse=True) if name in before), "")
        label = label or (wanted[number] if number < len(wanted) else label_in(before) or str(number + 1))
        reading = eyes.look(part)
        if not isinstance(reading, Failure):
            seen[label] = SeenImage(label, reading)
        before, number = "", number + 1
    return seen


def _wanted(arguments: Mapping[str, Any]) -> list[str]:
    for value in arguments.values():
        if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
            return value
    return [value for value in arguments.values() if isinstance(value, str)]


def _pictures_asked(message: Message, eyes: ImageReader, known: int) -> list[SeenImage] | Failure:
    seen: list[SeenImage] = []
    before = ""
    for part in message.content:
        if isinstance(part, str):
            before = part
            continue
        reading = eyes.look(part)
        if isinstance(reading, Failure):
            return reading
        seen.append(SeenImage(label_in(before) or str(known + len(seen) + 1), reading))
        before = ""
    return seen


def _loaded(text: str) -> dict[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _asked(messages: Sequence[Message]) -> str:
    """The request itself: the first words of the user, or what they mark as the query."""
    for message in messages:
        words = "\n".join(part for part in message.content if isinstance(part, str)).strip()
        if message.role == "user" and words:
            marked = _ASKED.search(words)
            return query_in(words) or (marked[1].strip() if marked else words)
    return ""


def _must_answer(messages: Sequence[Message]) -> bool:
    last = messages[-1] if messages else None
    if last is None or last.role not in ("user", "system") or len(messages) < 3:
        return False
    return bool(_LAST_TURN.search(" ".join(part for part in last.content if isinstance(part, str))))


def _facts(step: ToolStep) -> dict[str, Facts]:
    return facts_in(step.text) if step.text is not None and not step.failed else {}


# --- notes -----------------------------------------------------------------------------------------------------------


def _notes(messages: Sequence[Message]) -> dict[str, Any]:
    """What was noted in any turn or memory; what tools say is no note."""
    notes: dict[str, Any] = {}
    for message in messages:
        if message.role == "tool":
            continue
        for part in message.content:
            for key, text in _NOTE.findall(part) if isinstance(part, str) else ():
                _add(notes, key, text)
    return notes


def _add(notes: dict[str, Any], key: str, text: str) -> None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return
    before = notes.get(key)
    if isinstance(value, list) and isinstance(before, list):
        notes[key] = list(dict.fromkeys(str(each) for each in (*before, *value)))
    elif isinstance(value, dict) and isinstance(before, dict):
        notes[key] = {**before, **value}
    else:
        notes[key] = value


def _noted_facts(notes: Mapping[str, Any]) -> dict[str, Facts]:
    found = notes.get("times", {})
    if not isinstance(found, dict):
        return {}
    pairs = ((str(name), str(text).partition(" | ")) for name, text in found.items())
    return {name: Facts(read_time(time), address) for name, (time, _, address) in pairs}


def note(key: str, value: Any) -> str:
    """A line that can be read back after the rest of the conversation is gone."""
    return f"Noted {key}: {orjson.dumps(value).decode()}"


def found_note(history: ToolConversation) -> str:
    """What searches and filters have found."""
    uses: tuple[Use, ...] = ("search", "filter")
    pairs = [(use, arguments, ids) for use in uses for arguments, ids in history.found(use)]
    return note("found", {f"{use} {orjson.dumps(dict(arguments)).decode()}": ids for use, arguments, ids in pairs})


def facts_note(facts: Mapping[str, Facts]) -> str:
    told = {k: f"{v.time.isoformat() if v.time else ''} | {v.address}" for k, v in facts.items()}
    return note("times", told)
