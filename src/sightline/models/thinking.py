"""Thinking kept apart from the answer, in whatever tags a model's template writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["none", "closed", "unclosed", "nested", "close-only"]

_PAIRS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("[THINK]", "[/THINK]"),
)
_OPEN = {opening.lower(): number for number, (opening, _) in enumerate(_PAIRS)}
_CLOSE = {closing.lower(): number for number, (_, closing) in enumerate(_PAIRS)}
# The template with begin_of_thought also marks the answer; those marks say nothing more.
_MARKS = frozenset({"<|begin_of_solution|>", "<|end_of_solution|>"})
_TAG = re.compile("|".join(re.escape(tag) for tag in (*_OPEN, *_CLOSE, *sorted(_MARKS))), re.IGNORECASE | re.ASCII)

# A look for these is much cheaper than one for all tags, and most replies have none.
_STARTS = frozenset(tag[0] for tag in (*_OPEN, *_CLOSE, *_MARKS))


@dataclass(frozen=True, slots=True)
class Thinking:
    """A reply in two parts.

    `none`: no tags. `closed`: one or more well-formed blocks. `nested`: a block was opened inside another.
    `close-only`: the template opened the block in the prompt, so only its end is in the reply. `unclosed`: the last
    block never ends, so what follows its opening is thinking and not an answer.
    """

    thinking: str
    answer: str
    status: Status


def split_thinking(text: str) -> Thinking:
    """Thinking and answer; together they hold every character of the text but the tags and space at the edges."""
    if not any(start in text for start in _STARTS) or _TAG.search(text) is None:
        return Thinking("", text, "none")
    return _Splitter(text).split()


def starts_thinking(text: str) -> bool:
    """Does the text begin with an opening tag?"""
    found = _TAG.match(text.lstrip())
    return found is not None and found[0].lower() in _OPEN


class _Splitter:
    """One pass over the tags; `at` is how far the text has been handed out."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.thoughts: list[str] = []
        self.answers: list[str] = []
        self.family: int | None = None
        self.depth = 0
        self.last_close: int | None = None
        self.kept = 0
        self.seen: set[Status] = set()

    def split(self) -> Thinking:
        for tag in _TAG.finditer(self.text):
            word = tag[0].lower()
            if word in _OPEN:
                self._opens(tag, _OPEN[word])
            elif word in _CLOSE:
                self._closes(tag, _CLOSE[word])
            elif self.family is None:
                self._hand_out(self.answers, tag)
        self._end()
        return Thinking(_joined(self.thoughts), _joined(self.answers), self._status())

    def _opens(self, tag: re.Match[str], family: int) -> None:
        if self.family is None:
            self._hand_out(self.answers, tag)
            self.family, self.depth, self.last_close = family, 1, None
        elif family == self.family:
            self._hand_out(self.thoughts, tag)
            self.depth += 1
            self.seen.add("nested")

    def _closes(self, tag: re.Match[str], family: int) -> None:
        if self.family is None:
            # What came before was thinking that the prompt had opened.
            self._hand_out(self.thoughts, tag)
            self.seen.add("close-only")
        elif family == self.family:
            self._hand_out(self.thoughts, tag)
            self.depth -= 1
            self.last_close, self.kept = self.at, len(self.thoughts)
            if self.depth == 0:
                self.family = None
                self.seen.add("closed")

    def _end(self) -> None:
        rest = self.text[self.at :]
        if self.family is None:
            self.answers.append(rest)
        elif self.last_close is not None:
            # An opening tag was only spoken of inside the block, so its last closing tag ends it.
            self.answers.extend(self.thoughts[self.kept :])
            del self.thoughts[self.kept :]
            self.answers.append(rest)
        else:
            self.thoughts.append(rest)
            self.seen.add("unclosed")

    def _hand_out(self, part: list[str], tag: re.Match[str]) -> None:
        part.append(self.text[self.at : tag.start()])
        self.at = tag.end()

    def _status(self) -> Status:
        order: tuple[Status, ...] = ("unclosed", "nested", "close-only", "closed")
        return next((status for status in order if status in self.seen), "none")


def _joined(parts: list[str]) -> str:
    return "\n\n".join(filter(None, (part.strip() for part in parts)))
