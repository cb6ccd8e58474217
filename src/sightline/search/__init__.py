"""How to find a picture: an index over vectors, words and metadata, and every way to ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline._callable import make_callable
from sightline.lazy import later
from sightline.search.results import Hit, Results

if TYPE_CHECKING:
    from sightline.search.index import Content, Parts, build_index
    from sightline.search.searcher import Searcher

__all__ = ["Content", "Hit", "Parts", "Results", "Searcher", "build_index"]

# Loaded when first used: whoever only names a type needs no index.
_LATER = {
    "Content": ".index",
    "Parts": ".index",
    "Searcher": ".searcher",
    "build_index": ".index",
}

__getattr__, __dir__ = later(__name__, _LATER)
make_callable(__name__)
