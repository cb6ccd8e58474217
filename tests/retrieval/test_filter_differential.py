"""The vectorised filter against one that looks at each picture; and text that turns into the same tree again."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings

from filter_reference import selects
from filter_trees import every_kind, leaves, odd_trees, records, trees
from sightline.retrieval.columns.builder import build_columns
from sightline.retrieval.filters.filter import Filter, compile_filter, parse_filter
from sightline.retrieval.filters.tree import Node
from sightline.types import Annotation, Group, Picture

# A picture that knows everything, so that the columns of facets, flags and extra are always there.
FIRST: tuple[Picture, Annotation, list[Group]] = (
    Picture("x", "x", extra={"iso": 1}),
    Annotation("x", facets={"setting": "none"}, flags={"blurry": False}),
    [],
)


@settings(max_examples=400, deadline=None)
@given(records, trees)
def test_as_one_picture_at_a_time(rows: list[Any], tree: Node) -> None:
    rows = [FIRST, *rows]
    mask = compile_filter(Filter(tree), build_columns(rows))
    assert mask.dtype == np.bool_
    assert mask.tolist() == [row is not None and selects(tree, row) for row in rows]


EVERY_KIND: list[Any] = [FIRST, *every_kind()]
EVERY_KIND_COLUMNS = build_columns(EVERY_KIND)


@settings(max_examples=500, deadline=None)
@given(leaves)
def test_each_test_on_every_kind_of_picture(tree: Node) -> None:
    mask = compile_filter(Filter(tree), EVERY_KIND_COLUMNS)
    assert mask.tolist() == [selects(tree, row) for row in EVERY_KIND]


@settings(max_examples=300, deadline=None)
@given(trees)
def test_text_round_trips(tree: Node) -> None:
    assert parse_filter(Filter(tree).to_text()).tree == tree


@settings(max_examples=300, deadline=None)
@given(odd_trees)
def test_text_of_any_names_and_values_round_trips(tree: Node) -> None:
    assert parse_filter(Filter(tree).to_text()).tree == tree
