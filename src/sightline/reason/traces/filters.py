"""What makes a reply no good trace, by name; a runaway one is cut and marked."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sightline.reason.traces.language import speaks
from sightline.reason.traces.loops import find_circles
from sightline.reason.traces.nouns import CUT_OFF, Rules, Said
from sightline.reason.traces.refusals import refuses

REASONS = {
    "short": "the answer has too few words",
    "runaway": "thinking and answer have too many words; cut",
    "repetition": "it goes round in circles; cut where it begins to",
    "truncated": "it ended at the limit of tokens",
    "refusal": "the teacher declined",
    "markup": "it begins with tags that nobody knows, so that thinking and answer can't be told apart",
    "language": "thinking or answer is in another language",
    "no-thinking": "there is an answer without thinking",
    "ungrounded": "who looked at the picture confirmed too few of its claims",
    "low-quality": "its quality is below what was asked for",
    "duplicate": "nearly the same was said before",
}
"""Why a reply is not kept as a trace."""

_TEMPLATE_MARK = re.compile(r"<\|/?[A-Za-z][\w /:-]{1,40}\|>")
_TAGGED = re.compile(r"\s*<(?P<name>[A-Za-z][\w:-]{1,40})(?:\s[^<>]{0,200})?>(?P<inside>.*?)</(?P=name)>", re.DOTALL)
_LINE = 40
"""Letters from which on what stands in tags is more than a word that is set off."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """A reply after the filters: its text, cut where it ran away, and every reason not to keep it."""

    thinking: str
    answer: str
    reasons: tuple[str, ...]
    words: int
    repeated: float


def sift(said: Said, rules: Rules) -> Sifted:
    """Every filter over one reply."""
    thought, answered = find_circles(said.thinking), find_circles(said.answer)
    thinking, answer = _until(said.thinking, thought.cut), _until(said.answer, answered.cut)
    words = thought.words + answered.words
    repeated = max(thought.repeated, answered.repeated)
    reasons = [CUT_OFF[said.finish]] if said.finish in CUT_OFF else []
    if thought.cut is not None or answered.cut is not None or repeated > rules.most_repeated:
        reasons.append("repetition")
    if words > rules.most_words:
        reasons.append("runaway")
        thinking = _first_words(thinking, rules.most_words)
        answer = _first_words(answer, rules.most_words)
    if answered.words < rules.least_words:
        reasons.append("short")
    if refuses(said.answer):
        reasons.append("refusal")
    if is_marked_up(said.answer) or _TEMPLATE_MARK.search(said.thinking):
        reasons.append("markup")
    if rules.language is not None and not (speaks(rules.language, thinking) and speaks(rules.language, answer)):
        reasons.append("language")
    if rules.needs_thinking and not thinking:
        reasons.append("no-thinking")
    return Sifted(thinking, answer, tuple(dict.fromkeys(reasons)), words, repeated)


def is_marked_up(answer: str) -> bool:
    """Is a mark of a template in it, or does it begin with a line or most of it in a pair of tags that nobody knows?"""
    if "<" not in answer:
        return False
    tagged = _TAGGED.match(answer)
    if tagged is not None and len(tagged["inside"]) > min(_LINE, len(answer) // 2):
        return True
    return _TEMPLATE_MARK.search(answer) is not None


def _until(text: str, cut: int | None) -> str:
    return text if cut is None else text[:cut].rstrip()


def _first_words(text: str, most: int) -> str:
    pieces = text.split(maxsplit=most)
    return text if len(pieces) <= most else " ".join(pieces[:most])
