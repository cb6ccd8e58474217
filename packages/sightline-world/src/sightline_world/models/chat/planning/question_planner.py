"""Questions with tools at hand: find the picture, look closer, look it up, and answer in few words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sightline.models.json_schema import json_values
from sightline.types import ToolCall
from sightline_world.models.chat.answers import CANNOT, full_question, narrowed, the_question
from sightline_world.models.chat.claims import Meant
from sightline_world.models.chat.images import SeenImage
from sightline_world.models.chat.lexicon import tokens
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.planning.conversation import ToolConversation, ToolStep
from sightline_world.models.chat.planning.lookups import LABEL, needs_others, recall, relations_in, signs_of, walk
from sightline_world.models.chat.planning.search import Finder, Move, verdict_notes
from sightline_world.models.chat.planning.tools import Toolbox
from sightline_world.models.chat.questions import answer
from sightline_world.models.chat.verification import area
from sightline_world.scene import Sign

_PICTURES = re.compile(r"\b(?:photos?|pictures?|photographs?|images?|shots?|snaps?)\b", re.IGNORECASE)
_ASKS = re.compile(
    r"^\W*(?:who|what|when|where|why|how|which|is|are|was|were|does|do|did|in what|in which)\b", re.IGNORECASE
)
_WANTS_THEM = re.compile(
    r"^\W*(?:which|what|where are|find|show|give|list|get)\b.{0,40}\b(?:photos?|pictures?|images?|shots?)\b",
    re.IGNORECASE,
)
_SMALL_WORDS = frozenset(("the", "it", "its", "in", "a", "an", "he", "she"))
_URL = re.compile(r"\b(?:https?|world|page)://?[^\s\"'<>)\]]+")
_WRITTEN = re.compile(
    r"\b(?:sign|say|says|written|read|reads|word|words|name|town|city|village|letters?)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_NAME = re.compile(r"\b[A-Z][a-z]+(?:[ -][A-Z][a-z]+)*\b")
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")
_NUMBER = re.compile(r"\b\d[\d,.]*\d\b|\b\d\b")
_PHASE = "anchor"
_AROUND = 1.5
"""So many times its own size are shown on each side of what is looked at closely: the reader was never shown a picture
that is all sign, and finds none in it."""
_SMALL = 0.02
"""Of the picture; words that are larger are read as well without a closer look, and so is everything but words."""
_UNSURE = 0.5
_MOST_PAGES = 3
_WALKED = 0.7
_MOST_SIGNS = 3


@dataclass(frozen=True, slots=True)
class NextStep:
    """The answer to a question, or the call that is needed first."""

    thought: str
    text: str = ""
    sure: float = 0.0
    calls: tuple[ToolCall, ...] = ()
    ids: tuple[str, ...] = ()
    "The pictures that show it, where they did not come with the question."
    notes: tuple[str, ...] = ()
    "What must not be forgotten."

    @classmethod
    def of(cls, move: Move) -> NextStep:
        return cls(move.thought, calls=move.calls, notes=move.notes)


def is_inquiry(history: ToolConversation) -> bool:
    """Is a fact asked for, and not pictures?"""
    question = the_question(history.asked)
    if history.shown:
        return True
    return bool(_ASKS.match(question)) and not _WANTS_THEM.match(question) and not _lists(history.asked)


def _lists(text: str) -> bool:
    return bool(
        re.match(r"\W*(?:find|show|give|list|get|select|all)\b", text, re.IGNORECASE) and _PICTURES.search(text)
    )


def inquire(history: ToolConversation, tools: Toolbox) -> NextStep:
    """The next step towards an answer."""
    tools = tools.without(history.broken())
    question = full_question(LABEL.sub(" ", history.asked))
    meant = understand(question)
    recalled = recall(history, tools) if needs_others(history) and not history.must_answer else None
    if recalled is not None:
        if recalled.move is not None:
            return NextStep.of(recalled.move)
        if recalled.text:
            return NextStep(recalled.why, recalled.text, recalled.sure)
        walked = _walked(history, tools, question, recalled.seen)
        if walked is not None:
            return walked
    seen = _pictures(history, tools, meant)
    if isinstance(seen, NextStep):
        return seen
    closer = _look_closer(history, tools, question, meant, seen)
    if isinstance(closer, NextStep):
        return closer
    looked_at = [*closer, *seen][: max(1, len(seen))] if closer else seen
    shown = answer(question, looked_at)
    # Words that mean nothing here are small talk, unless something is asked of something else.
    beyond = not shown.known or (bool(meant.unknown) and bool(relations_in(question)))
    if beyond and tools.has("web") and not history.must_answer:
        walked = _walked(history, tools, question, [*closer, *seen])
        if walked is not None:
            return walked
        return _look_up(history, tools, question, meant, [*closer, *seen])
    if beyond and history.done("web"):
        return _from_pages(history, question, meant, [*closer, *seen])
    if history.shown:
        return NextStep(shown.why, shown.text, shown.sure)
    if not looked_at and history.steps:
        return NextStep("None of the pictures that were found shows it.", "None of them shows it.", 0.3)
    if not looked_at and tools.has("search"):
        return NextStep("I understand nothing in the question that I could look for.", CANNOT, 0.1)
    return NextStep(shown.why, shown.text, shown.sure, ids=tuple(each.label for each in seen))


def _pictures(history: ToolConversation, tools: Toolbox, meant: Meant) -> NextStep | list[SeenImage]:
    """The pictures that the question is about: those that came with it, or those that a search finds."""
    if history.shown:
        return list(history.shown)
    if not meant.claims or not tools.has("search"):
        return []
    finder, meant = Finder(history, tools), replace(meant, unknown=())
    finder.keep(_PHASE, meant)
    found: Move | list[str] = finder.sought(_PHASE, meant, None)
    if isinstance(found, list):
        again = finder.look_again(found)
        if again is None:
            return [history.seen[name] for name in found if name in history.seen]
        found = again
    return NextStep.of(found)


def anchor_notes(history: ToolConversation) -> list[str]:
    """Which of the pictures that a question about an album was looked up in show what it speaks of."""
    if history.shown or not is_inquiry(history):
        return []
    meant = understand(full_question(LABEL.sub(" ", history.asked)))
    return verdict_notes(_PHASE, replace(meant, unknown=()), history.seen)


def _look_closer(
    history: ToolConversation, tools: Toolbox, question: str, meant: Meant, seen: Sequence[SeenImage]
) -> NextStep | list[SeenImage]:
    """What a closer look has shown; asked for where words are to be read that are small."""
    zoomed = [each for step in history.done("zoom") for each in step.seen.values() if each.reading.graph.signs]
    if zoomed or not tools.has("zoom") or not seen or history.must_answer or history.done("zoom"):
        return zoomed
    sign = _sign(meant, seen[0]) if _WRITTEN.search(question) else None
    if sign is None or area(sign) >= _SMALL:
        return []
    box = sign.box
    wide, high = _AROUND * (box.right - box.left), _AROUND * (box.bottom - box.top)
    corners = (box.left - wide, box.top - high, box.right + wide, box.bottom + high)
    region = [round(min(1.0, max(0.0, corner)), 4) for corner in corners]
    call = tools.call("zoom", len(history.steps) + 1, photo=seen[0].label, box=region)
    return [] if call is None else NextStep("Look closer at the part that matters.", calls=(call,))


def _sign(meant: Meant, seen: SeenImage) -> Sign | None:
    wanted = [item for each in meant.wanted for item in narrowed(each, meant, seen)]
    signs = [item for item in wanted if isinstance(item, Sign)] or list(seen.reading.graph.signs)
    return signs[0] if signs else None


# --- the web ---------------------------------------------------------------------------------------------------------


def _walked(history: ToolConversation, tools: Toolbox, question: str, seen: Sequence[SeenImage]) -> NextStep | None:
    """The way from what is written on a sign, page by page, to what is asked; None where there is none."""
    relations = relations_in(question)
    if not relations or not tools.has("web") or not tools.has("open"):
        return None
    for words in signs_of(seen)[:_MOST_SIGNS]:
        found = walk(history, tools, relations, words.title())
        if found.call is not None:
            return NextStep(found.why, calls=(found.call,))
        if found.text:
            return NextStep(found.why, found.text, _WALKED)
    return None


def _look_up(
    history: ToolConversation, tools: Toolbox, question: str, meant: Meant, seen: Sequence[SeenImage]
) -> NextStep:
    words = " ".join(dict.fromkeys((*meant.unknown, *_subject(question, meant, seen))))
    if not history.done("web"):
        call = tools.call("web", len(history.steps) + 1, query=words, top_k=5)
        if call is not None and words:
            return NextStep(f"Look up {words}.", calls=(call,))
    found = _from_pages(history, question, meant, seen)
    if found.sure > _UNSURE or not tools.has("open"):
        return found
    opened = {str(next(iter(step.arguments.values()), "")) for step in history.done("open")}
    for url in _urls(history.done("web"))[:_MOST_PAGES]:
        if url not in opened:
            call = tools.call("open", len(history.steps) + 1, url=url)
            if call is not None:
                return NextStep("Read the page itself.", calls=(call,))
    return found


def _subject(question: str, meant: Meant, seen: Sequence[SeenImage]) -> list[str]:
    """What the pictures name: words on the sign in question; else names in the question itself."""
    named = [token.text for token in tokens(question)[1:] if token.is_capital]
    for each in seen:
        signs = [item for wanted in meant.wanted for item in narrowed(wanted, meant, each) if isinstance(item, Sign)]
        words = [sign.words for sign in (signs or each.reading.graph.signs) if sign.words]
        if words:
            return [*named, words[0].title()]
    return named


def _urls(steps: Sequence[ToolStep]) -> list[str]:
    return list(dict.fromkeys(url for step in steps for url in _URL.findall(step.text or "")))


def _from_pages(history: ToolConversation, question: str, meant: Meant, seen: Sequence[SeenImage]) -> NextStep:
    """The sentence of the pages that speaks of most of what is asked, and in it what the question wants."""
    topic, subject = meant.unknown, _subject(question, meant, seen)
    texts = [_told(step.text or "") for step in (*history.done("open"), *history.done("web"))]
    sentences = [sentence.strip() for text in texts for sentence in _SENTENCE.findall(text) if sentence.strip()]
    rated = [(_overlap(sentence, topic, subject), -at, sentence) for at, sentence in enumerate(sentences)]
    best = max(rated, default=(0.0, 0, ""))
    if best[0] <= 0:
        return NextStep("No page says anything of it.", CANNOT, 0.1)
    return NextStep(
        f'A page says: "{best[2]}"', _wanted_part(question, best[2], subject), min(0.9, 0.3 + 0.3 * best[0])
    )


def _told(text: str) -> str:
    """The words of a tool's answer, without its JSON."""
    value = next(json_values(text), None)
    return "\n".join(_strings(value)) if isinstance(value, dict | list) else text


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _strings(part)]


def _overlap(sentence: str, topic: Sequence[str], subject: Sequence[str]) -> float:
    words = sentence.lower()
    hits = sum(_stem(word) in words for word in topic)
    return hits + 0.5 * sum(name.lower() in words for name in subject) if hits else 0.0


def _stem(word: str) -> str:
    return word[: max(4, len(word) - 3)].lower()


def _wanted_part(question: str, sentence: str, subject: Sequence[str]) -> str:
    """A name for who, a year for when, a number for how many; else the sentence itself."""
    lower = question.lower()
    if re.search(r"\bwhen\b|\bwhat year\b|\bwhich year\b", lower):
        pattern: re.Pattern[str] = _YEAR
    elif re.search(r"\bhow (?:many|much|old|tall|high|long|far)\b|\bpopulation\b", lower):
        pattern = _NUMBER
    elif re.search(r"\bwho|\bwhich|\bwhat\b|\bname\b", lower):
        pattern = _NAME
    else:
        return sentence.rstrip(".")
    known = {name.lower() for name in subject} | _SMALL_WORDS
    found = [part for part in pattern.findall(sentence) if part.lower() not in known]
    return found[0] if found else sentence.rstrip(".")
