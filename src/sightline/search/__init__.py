"""How to find a picture: an index over vectors, words and metadata, and every way to ask it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sightline._callable import make_callable
from sightline.search.results import Hit, Results

if TYPE_CHECKING:
    from sightline.search.index import Content, Parts, build_index
    from sightline.search.searcher import Searcher

__all__ = ["Content", "Hit", "Parts", "Results", "Searcher", "build_index"]

# Loaded when first used: whoever only names a type needs no index.
_LATER = {
    "Content": "sightline.search.index",
    "Parts": "sightline.search.index",
    "Searcher": "sightline.search.searcher",
    "build_index": "sightline.search.index",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'sightline.search' has no attribute {name!r}")


make_callable(__name__)
