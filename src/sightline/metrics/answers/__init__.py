"""Answers in free text: exact, normalised, numeric, dates, yes/no and lists, in any of the languages given.

Importing this registers the metrics; the rest is loaded when it is first used, for its patterns take time to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import later
from sightline.metrics.answers import metrics

if TYPE_CHECKING:
    from sightline.metrics.answers.match import MatchResult, match_answer, match_form, share_of_parts

__all__ = ["MatchResult", "match_answer", "match_form", "metrics", "share_of_parts"]

_LAZY = {
    "MatchResult": "sightline.metrics.answers.match",
    "match_answer": "sightline.metrics.answers.match",
    "match_form": "sightline.metrics.answers.match",
    "share_of_parts": "sightline.metrics.answers.match",
}

__getattr__, __dir__ = later(__name__, _LAZY)
