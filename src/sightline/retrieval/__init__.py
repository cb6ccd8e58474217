"""How to find a picture: an index over vectors, words and metadata, and every way to ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import later
from sightline.retrieval.results import Hit, Results

if TYPE_CHECKING:
    from sightline.retrieval.index import Content, Parts, build_index
    from sightline.retrieval.searcher import Searcher

__all__ = ["Content", "Hit", "Parts", "Results", "Searcher", "build_index"]

# Loaded when first used: whoever only names a type needs no index.
_LATER = {
    "Content": "sightline.retrieval.index.content",
    "Parts": "sightline.retrieval.index.build",
    "Searcher": "sightline.retrieval.searcher",
    "build_index": "sightline.retrieval.index.build",
}

__getattr__, __dir__ = later(__name__, _LATER)
