"""Arguments as models write them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.agent.tools.arguments import (
    MistakeError,
    ToolArguments,
    read_box,
    spec,
    text_field,
    texts_field,
    whole_field,
)
from sightline.types import Box

SPEC = spec(
    "T",
    "",
    {
        "text": text_field("words"),
        "how": text_field("a way", choices=("fast", "slow")),
        "top_k": whole_field("how many", 1, 50, 20),
        "photos": texts_field("ids", 3),
    },
    "text",
)


def read(**arguments: Any) -> ToolArguments:
    return ToolArguments(arguments, SPEC)


def test_what_is_well_written_is_read() -> None:
    given_ = read(text=" a dog ", how="FAST", top_k="7", photos=["a", "b", "a"])
    assert (given_.text("text"), given_.text("how")) == ("a dog", "fast")
    assert given_.whole("top_k", 20) == 7
    assert given_.texts("photos") == ("a", "b")
    assert read(photos="a").texts("photos") == ("a",)
    assert read(top_k=None).whole("top_k", 20) == 20
    assert read(text="  ").maybe_text("text") is None


@pytest.mark.parametrize(
    ("arguments", "read_as", "says"),
    [
        ({}, lambda g: g.text("text"), "missing"),
        ({"text": 5}, lambda g: g.text("text"), "must be a text"),
        ({"text": "a" * 5000}, lambda g: g.text("text"), "5,000 characters"),
        ({"how": "sideways"}, lambda g: g.text("how"), "fast, slow"),
        ({"top_k": 51}, lambda g: g.whole("top_k", 20), "from 1 to 50"),
        ({"top_k": 2.5}, lambda g: g.whole("top_k", 20), "whole number"),
        ({"top_k": True}, lambda g: g.whole("top_k", 20), "must be a number"),
        ({"top_k": 10**400}, lambda g: g.whole("top_k", 20), "too large"),
        ({"top_k": float("nan")}, lambda g: g.whole("top_k", 20), "too large"),
        ({"top_k": "many"}, lambda g: g.whole("top_k", 20), "must be a number"),
        ({"photos": ["a", 1]}, lambda g: g.texts("photos"), "list of texts"),
        ({"photos": ["a", "b", "c", "d"]}, lambda g: g.texts("photos"), "at most 3"),
        ({"photos": ["a" * 5000]}, lambda g: g.texts("photos"), "4,000 characters"),
        ({"photos": {"a": 1}}, lambda g: g.texts("photos"), "list of texts"),
    ],
)
def test_what_is_wrong_is_said(arguments: dict[str, Any], read_as: Any, says: str) -> None:
    with pytest.raises(MistakeError, match=says):
        read_as(read(**arguments))


def test_an_unknown_argument_is_named_with_its_likeliest_meaning() -> None:
    with pytest.raises(MistakeError, match=r'no argument "topk"\. Did you mean top_k'):
        read(text="a", topk=5)


def test_half_a_surrogate_is_replaced() -> None:
    assert read(text="a\ud800b").text("text") == "a?b"


@pytest.mark.parametrize(
    "box",
    [None, [], [0, 0, 1], "0,0,1,1", [0, 0, 10, 10], [-0.5, 0, 1, 1], [0.5, 0, 0.5, 1], [0.9, 0, 0.1, 1],
     [0, 0, 1, "x"], [0, 0, 1, 1e400], [0, 0, 1, None]],
)  # fmt: skip
def test_a_region_outside_or_without_area_is_refused(box: Any) -> None:
    with pytest.raises(MistakeError, match="box"):
        read_box(box)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_a_region_that_is_read_lies_inside(edges: list[float]) -> None:
    try:
        box = read_box(list(edges))
    except MistakeError:
        assert edges[0] >= edges[2] or edges[1] >= edges[3]
        return
    assert box == Box(*edges)
