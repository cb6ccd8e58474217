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
    ("<thoughts>", "</thoughts>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<unused94>thought", "<unused95>"),
    ("[THINK]", "[/THINK]"),
)
_STEPS = tuple(
    (f"<{name}>", f"</{name}>") for name in ("reasoning", "reason", "analysis", "reflection", "summary", "caption")
)
_OPENED_BY = {closing.lower(): opening.lower() for opening, closing in (*_PAIRS, *_STEPS)}
_OPENING = frozenset(_OPENED_BY.values())
_HARMONY = "harmony"
# Templates that mark thinking in these ways mark the answer, too; those marks say nothing more.
_MARKS = ("<|begin_of_solution|>", "<|end_of_solution|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>")
# gpt-oss: what stands in another channel than the final one is thinking.
_CHANNELS = (
    r"<\|(?:start\|>\s*assistant\s*<\|)?channel\|>\s*(?P<channel>\w+)[^<]{0,200}"
    r"(?:<\|constrain\|>[^<]{0,40})?<\|message\|>",
    r"<\|(?:end|return|call)\|>",
)
# Some servers drop its marks, but not the words between them.
_BARE, _BARE_FINAL = "analysis", "assistantfinal"
# A look for these is much cheaper than one for all tags, and most replies have few.
_STARTS = tuple({tag[0] for pair in (*_PAIRS, *_STEPS) for tag in pair})
_ANSWER_OPENS = re.compile(
    r"(?:^|(?<=[.!?>]))[ \t]*(?P<tag><(?:answer|response|output|conclusion|solution|final(?:[_-]?answer)?)>)\s*[^\s<]",
    re.IGNORECASE | re.MULTILINE,
)
_ANY_TAG = re.compile(r"<[^<>]*>")


def _pattern(pairs: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    opening = (re.sub(r"(?<=\w)>$", r"(?:\\s[^<>]{0,200})?>", re.escape(tag)) for tag, _ in pairs)
    others = (re.escape(tag) for tag in (*(closing for _, closing in pairs), *_MARKS))
    return re.compile("|".join((*_CHANNELS, *opening, *others)), re.IGNORECASE | re.ASCII)


_TAG = _pattern(_PAIRS)
_TAG_OR_STEP = _pattern((*_PAIRS, *_STEPS))


@dataclass(frozen=True, slots=True)
class Thinking:
    """A reply in two parts.

    `none`: no tags, or one that is only spoken of. `closed`: one or more well-formed blocks, or one that the answer's
    own tag ends. `nested`: a block was opened inside another. `close-only`: the template opened the block in the
    prompt, so only its end is in the reply. `unclosed`: the last block never ends, so what follows its opening is
    thinking and not an answer.
    """

    thinking: str
    answer: str
    status: Status


def split_thinking(text: str, *, steps: bool = False) -> Thinking:
    """Thinking and answer; together they hold every character of the text but the tags and space at the edges.

    With `steps`, what is tagged as a step towards the answer (reasoning, summary, caption, …) is thinking, too.
    """
    if text.startswith(_BARE) and (bare := _bare_channels(text)) is not None:
        return bare
    tags = _TAG_OR_STEP if steps else _TAG
    first = _next_tag(text, tags)
    if first is None:
        return Thinking("", text, "none")
    return _usual(text, tags, first) or _Splitter(text, tags).split()


def starts_thinking(text: str) -> bool:
    """Does the text begin with an opening tag?"""
    found = _TAG.match(text.lstrip())
    if found is None:
        return text.startswith(_BARE) and _bare_channels(text) is not None
    return _name(found) in _OPENING or _opens_channel(found)


def _usual(text: str, tags: re.Pattern[str], first: re.Match[str]) -> Thinking | None:
    """One block at the beginning, and an answer without tags: what most models write, in a fraction of the time."""
    last = None if first.start() else _next_tag(text, tags, first.end())
    if last is None or _OPENED_BY.get(last[0].lower()) != first[0].lower() or _next_tag(text, tags, last.end()):
        return None
    return Thinking(text[first.end() : last.start()].strip(), text[last.end() :].strip(), "closed")


def _next_tag(text: str, tags: re.Pattern[str], at: int = 0) -> re.Match[str] | None:
    """What a search finds from there on; begun where a tag may begin, it takes a fraction of the time."""
    starts = [place for start in _STARTS if (place := text.find(start, at)) >= 0]
    return tags.search(text, min(starts)) if starts else None


def _bare_channels(text: str) -> Thinking | None:
    thought, final, answer = text.removeprefix(_BARE).partition(_BARE_FINAL)
    glued = thought[:1].isupper() or thought[:1].isdigit()
    return Thinking(thought.strip(), answer.strip(), "closed") if final and glued else None


class _Splitter:
    """One pass over the tags; `at` is how far the text has been handed out."""

    def __init__(self, text: str, tags: re.Pattern[str]) -> None:
        self.text = text
        self.tags = tags
        self.at = 0
        self.thoughts: list[str] = []
        self.answers: list[str] = []
        self.family: str | None = None
        self.depth = 0
        self.last_close: int | None = None
        self.kept = 0
        self.seen: set[Status] = set()

    def split(self) -> Thinking:
        for tag in self.tags.finditer(self.text):
            name = _name(tag)
            if name in _OPENING:
                self._opens(tag, name)
            elif name in _OPENED_BY:
                self._closes(tag, _OPENED_BY[name])
            elif _opens_channel(tag):
                self._next_channel(tag)
            elif self.family == _HARMONY:
                self._closes(tag, _HARMONY)
            elif self.family is None:
                self._hand_out(self.answers, tag)
        if self._is_spoken_of():
            return Thinking("", self.text, "none")
        self._end()
        return Thinking(_joined(self.thoughts), _joined(self.answers), self._status())

    def _opens(self, tag: re.Match[str], family: str) -> None:
        if self.family is None:
            self._hand_out(self.answers, tag)
            self.family, self.depth, self.last_close = family, 1, None
        elif family == self.family:
            self._hand_out(self.thoughts, tag)
            self.depth += 1
            self.seen.add("nested")

    def _next_channel(self, tag: re.Match[str]) -> None:
        if self.family == _HARMONY:
            self._hand_out(self.thoughts, tag)
        else:
            self._opens(tag, _HARMONY)

    def _closes(self, tag: re.Match[str], family: str) -> None:
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

    def _is_spoken_of(self) -> bool:
        """Is the only block never ended, and begun in the middle of a line? "The sign says <think> in red letters"."""
        if self.family in (None, _HARMONY) or self.last_close is not None or self.seen - {"nested"}:
            return False
        before = _ANY_TAG.sub("", self.answers[-1].rpartition("\n")[2])
        return bool(before.strip()) and _answer_in(self.text[self.at :]) is None

    def _end(self) -> None:
        rest = self.text[self.at :]
        opened = None if self.family is None else _answer_in(rest)
        if self.family is None:
            self.answers.append(rest)
        elif self.last_close is not None:
            # An opening tag was only spoken of inside the block, so its last closing tag ends it.
            self.answers.extend(self.thoughts[self.kept :])
            del self.thoughts[self.kept :]
            self.answers.append(rest)
        elif opened is not None:
            self.thoughts.append(rest[:opened])
            self.answers.append(rest[opened:])
            self.seen.add("closed")
        else:
            self.thoughts.append(rest)
            self.seen.add("unclosed")

    def _hand_out(self, part: list[str], tag: re.Match[str]) -> None:
        part.append(self.text[self.at : tag.start()])
        self.at = tag.end()

    def _status(self) -> Status:
        order: tuple[Status, ...] = ("unclosed", "nested", "close-only", "closed")
        return next((status for status in order if status in self.seen), "none")


def _name(tag: re.Match[str]) -> str:
    """The tag without its attributes."""
    name, *attributes = tag[0].lower().split(maxsplit=1)
    return f"{name}>" if attributes else name


def _opens_channel(tag: re.Match[str]) -> bool:
    return (tag["channel"] or "final").lower() != "final"


def _answer_in(text: str) -> int | None:
    """Where the last tag that opens an answer stands; one in the middle of a sentence is only spoken of."""
    places = [found.start("tag") for found in _ANSWER_OPENS.finditer(text)]
    return places[-1] if places else None


def _joined(parts: list[str]) -> str:
    return "\n\n".join(filter(None, (part.strip() for part in parts)))
