"""Answers in free text: exact, normalised, numeric, dates, yes/no and lists, in any of the languages given.

Importing this registers the metrics; the rest is loaded when it is first used, for its patterns take time to compile.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sightline.score.answers import metrics

if TYPE_CHECKING:
    from sightline.score.answers.match import MatchResult, match_answer, match_form, share_of_parts

__all__ = ["MatchResult", "match_answer", "match_form", "metrics", "share_of_parts"]

_LAZY = {
    "MatchResult": "match",
    "match_answer": "match",
    "match_form": "match",
    "share_of_parts": "match",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
