"""Multiple choice: which option a reply chose, and whether it is the right one.

Importing this registers the metrics; the rest is loaded when it is first used, for its patterns take time to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import later
from sightline.score.choices import metrics

if TYPE_CHECKING:
    from sightline.score.choices.options import KeyedOption, Options, read_options
    from sightline.score.choices.parse import parse_choice

__all__ = ["KeyedOption", "Options", "metrics", "parse_choice", "read_options"]

_LAZY = {
    "KeyedOption": ".options",
    "Options": ".options",
    "parse_choice": ".parse",
    "read_options": ".options",
}

__getattr__, __dir__ = later(__name__, _LAZY)
