"""Multiple choice: which option a reply chose, and whether it is the right one.

Importing this registers the metrics; the rest is loaded when it is first used, for its patterns take time to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import later
from sightline.metrics.choices import metrics

if TYPE_CHECKING:
    from sightline.metrics.choices.options import KeyedOption, Options, read_options
    from sightline.metrics.choices.parse import parse_choice

__all__ = ["KeyedOption", "Options", "metrics", "parse_choice", "read_options"]

_LAZY = {
    "KeyedOption": "sightline.metrics.choices.options",
    "Options": "sightline.metrics.choices.options",
    "parse_choice": "sightline.metrics.choices.parse",
    "read_options": "sightline.metrics.choices.options",
}

__getattr__, __dir__ = later(__name__, _LAZY)
