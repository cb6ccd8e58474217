"""Filters on what is known of a picture: parsed by a grammar, never evaluated (docs/filters.md)."""

from sightline.search.filters.filter import Filter, compile_filter, parse_filter
from sightline.search.filters.problems import FilterError

__all__ = ["Filter", "FilterError", "compile_filter", "parse_filter"]
