"""Is what a sentence says of an option only supposed, denied, an example, or said under a condition?"""

from __future__ import annotations

import re

from sightline.score.choices.languages import EXAMPLE, FLAGS, IF, NOT

_EXAMPLE = r"\b(?:for\s+example|for\s+instance|example|e\.\s?g\.|such\s+as|in\s+the\s+form(?:at)?(?:\s+of)?)"
_SUPPOSED = re.compile(
    rf"""(?:\b(?:if|whether|unless|why|suppose|assume|assuming|when|in\s+case)\s+(?:that\s+)?|{_EXAMPLE}\W*)
    (?:the\s+|your\s+|my\s+)?
    (?:(?:correct|right|best|final)\s+)?(?:(?:answer|option|choice)\s*)?(?:is|was|were|be|would\s+be)?\W*$
    | (?:{IF}|{EXAMPLE})[^.,;!?。，、]{{0,30}}$""",
    FLAGS,
)
_LONGEST_LEAD = 40
_UNFINISHED = re.compile(rf"(?:{_EXAMPLE}|{EXAMPLE})\W*$", FLAGS)
_DENIED = re.compile(
    rf"\b(?:nor|neither|not|than|between)\s+(?:\w+\s+(?:and|or|nor)\s+)?(?:option\s+)?$|{NOT}\s*$", FLAGS
)
_CONDITION = re.compile(
    rf"""[\s)\]"'.,，、]*(?:\b(?:if|when|where|unless|in\s+case|for\s+(?!sure))|{IF}|吗|的|なら|라면|일\s*때)""", FLAGS
)


def is_supposed(before: str) -> bool:
    """By what stands before it."""
    return _SUPPOSED.search(before) is not None


def is_conditional(text: str, end: int) -> bool:
    """By what stands behind it."""
    return _CONDITION.match(text, end) is not None


def is_unfinished(text: str) -> bool:
    """Does an example follow?"""
    return _UNFINISHED.search(text[-_LONGEST_LEAD:]) is not None


def is_open(found: re.Match[str]) -> bool:
    """By what stands before and behind what was found."""
    before = found.string[: found.start()]
    return is_supposed(before) or _DENIED.search(before) is not None or is_conditional(found.string, found.end())
