"""Filters on what is known of a picture: parsed by a grammar, never evaluated (docs/filters.md)."""

from sightline.retrieval.filters.filter import Filter, compile_filter, parse_filter
from sightline.retrieval.filters.tree import FilterError

__all__ = ["Filter", "FilterError", "compile_filter", "parse_filter"]
