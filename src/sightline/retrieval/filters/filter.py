"""A filter: read from either language, written in ours, applied to columns."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sightline.retrieval.columns.kinds import Mask, PictureColumns
from sightline.retrieval.filters.evaluation import check_values, mask_of
from sightline.retrieval.filters.grammar import parse_own
from sightline.retrieval.filters.python import parse_python
from sightline.retrieval.filters.tree import Compare, FilterError, NearPlace, Node, TooDeepError, leaves, to_text

MAX_LENGTH = 10_000
# What only Python's language has: methods, calls of its types, a string first, `in` before a field.
_PYTHON = re.compile(
    r"""\b(time|address)\s*(\[|\.\s*\w+\s*\()|\b(match_address|datetime|date|any|all|str|range|len)\s*[(.]"""
    r"""|["']\s*(not\s+)?in\s+(time|address)|["']\s*[<>=!]=?\s*(time|address)|\bis\s+(not\s+)?None\b|\blambda\b|__|:="""
)


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter; two that mean the same in the same words are equal, whatever their spaces."""

    tree: Node

    def to_text(self) -> str:
        """The filter in Sightline's own language."""
        return to_text(self.tree)

    def __str__(self) -> str:
        return self.to_text()

    def notes(self) -> tuple[str, ...]:
        """For each place name that could mean several places: which one was taken."""
        from sightline.retrieval.gazetteer import find_place

        places = (find_place(leaf.place.text) for leaf in leaves(self.tree) if isinstance(leaf, NearPlace))
        return tuple(place.note for place in places if place.note)


def parse_filter(text: str) -> Filter:
    """Read a filter in Sightline's language or, failing that, a Python boolean expression over time and address.

    Anything else raises `FilterError`, in the words of the language that the text looks like.
    """
    if len(text) > MAX_LENGTH:
        raise FilterError(f"a filter has more than {MAX_LENGTH} characters", MAX_LENGTH, "write it shorter")
    if not text.strip():
        raise FilterError("an empty filter", 0, "leave it out, or write one such as: time >= 2019-06")
    try:
        tree = _checked(parse_own(text))
    except TooDeepError:
        raise
    except FilterError as own:
        try:
            tree = _checked(parse_python(text))
        except FilterError as python:
            raise (python if _PYTHON.search(text) else own) from None
    return Filter(tree)


def compile_filter(filter_: Filter, columns: PictureColumns) -> Mask:
    """True for each row that the filter selects. A picture without a value satisfies no comparison; `not` does."""
    mask: Mask = mask_of(filter_.tree, columns) & columns.present
    return mask


def _checked(tree: Node) -> Node:
    for leaf in leaves(tree):
        if isinstance(leaf, Compare):
            check_values(leaf)
    return tree
