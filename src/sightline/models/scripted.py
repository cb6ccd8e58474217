"""A model that replies from a script: for tests and demonstrations, with no network and no cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sightline.errors import UserError
from sightline.io.jsonl import LineError, read_jsonl
from sightline.models.failures import LASTING, RETRYABLE, failure
from sightline.models.protocols import CallOutcome
from sightline.models.providers import ModelName
from sightline.models.replies import ReplyText, check_reply
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatReply, ChatRequest, Failure, Message, Usage

Line: TypeAlias = str | ChatReply | Failure | CallOutcome
"""A scripted answer: a string is read as a model's text (thinking split off, schema checked)."""
Script: TypeAlias = Callable[[ChatRequest], Line] | Iterable[Line]


class ScriptedModel:
    """A ChatModel and a Transport in one; answers from a function or, in order, from a list.

    `requests` holds what was asked. When a list has run out, the answer is a `server-error` that says so.
    """

    def __init__(self, script: Script, *, name: str = "scripted/script") -> None:
        self.name = name
        self.endpoint = f"scripted:{name.partition('/')[2]}"
        self.requests: list[ChatRequest] = []
        self.closed = False
        self._script: Callable[[ChatRequest], Line] = script if callable(script) else self._reader(script)

    async def send(self, request: ChatRequest) -> CallOutcome:
        """The next answer of the script."""
        self.requests.append(request)
        line = self._script(request)
        match line:
            case CallOutcome():
                return line
            case str():
                return check_reply(ReplyText(line, usage=_counted(request, line)), request)
            case _:
                return CallOutcome(line)

    async def reply(self, request: ChatRequest) -> ChatReply | Failure:
        """The same without what a transport adds."""
        return (await self.send(request)).result

    async def close(self) -> None:
        """Nothing to close; remembered, so that a test can see that it was called."""
        self.closed = True

    def _reader(self, lines: Iterable[Line]) -> Callable[[ChatRequest], Line]:
        rest = iter(lines)
        return lambda _: next(rest, failure("server-error", f"the script of {self.name} has run out"))


def echo(request: ChatRequest) -> str:
    """The last words that were said to the model."""
    return next((words for words in map(_words, reversed(request.messages)) if words), "…")


def _words(message: Message) -> str:
    return "".join(part for part in message.content if isinstance(part, str)).strip()


def _counted(request: ChatRequest, text: str) -> Usage:
    """A count of words: good enough to see that usage is carried on."""
    asked = sum(len(_words(message).split()) for message in request.messages)
    return Usage(input=asked, output=len(text.split()))


@dataclass(frozen=True, slots=True)
class _Rule:
    match: str
    answer: str | Failure


def open_scripted(name: ModelName, *, settings: WireSettings, local_only: bool) -> ScriptedModel:
    """What `scripted/…` names; nothing is ever sent."""
    return open_script(name.model)


def open_script(model: str) -> ScriptedModel:
    """`scripted/echo`, or `scripted/FILE.jsonl` with lines of `{"match", "text"}` or `{"match", "failure"}`.

    The first line whose `match` occurs in the request's last words answers; a line without `match` always does.
    """
    name = f"scripted/{model}"
    if model == "echo":
        return ScriptedModel(echo, name=name)
    if not model.endswith(".jsonl"):
        raise UserError(f'There is no script "{model}".', "use scripted/echo, or scripted/FILE.jsonl")
    rules = _read_rules(Path(model))

    def answer(request: ChatRequest) -> Line:
        words = echo(request)
        found = next((rule.answer for rule in rules if rule.match in words), None)
        return failure("server-error", f"no line of {model} answers {words[:80]!r}") if found is None else found

    return ScriptedModel(answer, name=name)


def _read_rules(path: Path) -> list[_Rule]:
    return [_read_rule(path, number, row) for number, row in read_jsonl(path)]


def _read_rule(path: Path, number: int, row: object) -> _Rule:
    if not isinstance(row, dict) or not ({"text", "failure"} & row.keys()) or row.keys() - {"match", "text", "failure"}:
        raise LineError(path, number, 'expected {"match": …, "text": …} or {"match": …, "failure": …}')
    if not all(isinstance(value, str) for value in row.values()):
        raise LineError(path, number, "match, text and failure must be strings")
    kind = row.get("failure")
    if kind is None:
        return _Rule(row.get("match", ""), row["text"])
    if kind not in RETRYABLE | LASTING:
        raise LineError(path, number, f'"{kind}" is not a failure; known are {", ".join(sorted(RETRYABLE | LASTING))}')
    return _Rule(row.get("match", ""), failure(kind, "scripted"))
