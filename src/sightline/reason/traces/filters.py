"""What makes a reply no good trace, by name; a runaway one is cut and marked."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sightline.reason.traces.language import language_of
from sightline.reason.traces.loops import find_circles
from sightline.reason.traces.nouns import Rules, Said

REASONS = {
    "short": "the answer has too few words",
    "runaway": "thinking and answer have too many words; cut",
    "repetition": "it goes round in circles; cut where it begins to",
    "truncated": "it ended at the limit of tokens",
    "refusal": "the teacher declined",
    "language": "thinking or answer is in another language",
    "no-thinking": "there is an answer without thinking",
    "ungrounded": "who looked at the picture confirmed too few of its claims",
    "low-quality": "its quality is below what was asked for",
    "duplicate": "nearly the same was said before",
}
"""Why a reply is not kept as a trace."""
FAILED_AS = {"length": "truncated", "endless": "runaway", "refused": "refusal", "content-filter": "refusal"}
"""Calls that failed for what is a reason here; nothing of them can be kept."""

_CANT = "can(?:no|['\u2019])t"
_AM = "(?: am|['\u2019]m)"
_REFUSES = re.compile(
    rf"\W*(?:(?:i{_AM} )?(?:very |so )?sorry\b[^.!\n]{{0,60}}?\b(?:{_CANT}|unable|not able)"
    rf"|(?:unfortunately,? )?i(?: {_CANT}|{_AM} (?:unable|not able) to| won['\u2019]t| will not| must decline to) "
    r"(?:help|assist|provide|describe|analy[sz]e|identify|view|see|process|comply|fulfil|answer|do|access|open)"
    r"|as an ai\b|i don.t have (?:the )?ability|there (?:is|was) no (?:image|picture) (?:attached|provided|here)"
    r"|(?:抱歉|对不起)[^。\n]{0,12}(?:无法|不能)|我(?:无法|不能)(?:提供|描述|查看|协助|帮助|回答))",
    re.IGNORECASE,
)


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
    parts = (find_circles(said.thinking), find_circles(said.answer))
    thinking, answer = (
        text if part.cut is None else text[: part.cut].rstrip()
        for text, part in zip((said.thinking, said.answer), parts, strict=True)
    )
    words = parts[0].words + parts[1].words
    repeated = max(part.repeated for part in parts)
    reasons: list[str] = []
    if any(part.cut is not None for part in parts) or repeated > rules.most_repeated:
        reasons.append("repetition")
    if words > rules.most_words:
        reasons.append("runaway")
        thinking = _first_words(thinking, rules.most_words)
        answer = _first_words(answer, rules.most_words)
    if said.finish == "length":
        reasons.append("truncated")
    if parts[1].words < rules.least_words:
        reasons.append("short")
    if refuses(said.answer):
        reasons.append("refusal")
    if rules.language is not None and not _speaks(rules.language, thinking, answer):
        reasons.append("language")
    if rules.needs_thinking and not thinking:
        reasons.append("no-thinking")
    return Sifted(thinking, answer, tuple(reasons), words, repeated)


def refuses(answer: str) -> bool:
    """Does the answer begin with a refusal?"""
    return _REFUSES.match(answer) is not None


def _speaks(language: str, *texts: str) -> bool:
    return all(language_of(text) in (None, language) for text in texts)


def _first_words(text: str, most: int) -> str:
    pieces = text.split(maxsplit=most)
    return text if len(pieces) <= most else " ".join(pieces[:most])
