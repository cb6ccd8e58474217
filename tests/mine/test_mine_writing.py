"""Requests by a model: it is told labels, not ids, and what it means is decided again by the graph."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from mine_tools import graph_of, keys
from sightline.mine.drafting import Source
from sightline.mine.knowledge import Knowledge
from sightline.mine.logic import decide
from sightline.mine.sampling import sample
from sightline.mine.writing import Labels, ask_for, notes_on, written_in

LIFE = {
    "a": [["red kite", "grey dog"], ["old tent"], ["old tent"]],
    "b": [["old tent"], ["grey dog"]],
}


@pytest.fixture
def source() -> Source:
    graph = graph_of(LIFE, links=[("a0#1", "b1", "unique-identifier")])
    known = Knowledge(graph, "ana", 0.5)
    return Source(sample(graph, graph.around(), "a0", Random(0), 40), known, Random(0))


def row(source: Source, relation: str, anchor: str, target: str, photos: list[str], link: str = "") -> dict[str, Any]:
    """What a model would say, by the looks of clues and the ids of photos."""
    labels = Labels.of(source)
    by_look = {source.known.graph.clues[id_].look: label for id_, label in labels.clues.items()}
    return {
        "query": "the tents of that day",
        "relation": relation,
        "anchor": [by_look[anchor]],
        "link": by_look[link] if link else "",
        "target": [by_look[target]],
        "photos": [labels.photos[id_] for id_ in photos],
        "reasoning": "because",
    }


def test_notes_tell_labels_links_and_no_id(source: Source) -> None:
    notes = notes_on(source)
    assert "is seen in P5, too (unique-identifier): alike" in notes
    assert "a0#" not in notes and "E1: event of 2020-01-01" in notes
    assert notes in str(ask_for(source, "m").request.messages[-1].content[0])


def test_where_the_graph_decides_the_set_is_the_whole_one(source: Source) -> None:
    (written,) = written_in({"queries": [row(source, "same-event", "red kite", "old tent", ["a1"])]}, source)
    assert written.logic.anchor == keys("red kite") and written.targets == ("a1", "a2")


def test_photos_that_the_graph_does_not_give_stay_and_are_refused_later(source: Source) -> None:
    (written,) = written_in({"queries": [row(source, "same-event", "red kite", "old tent", ["b0"])]}, source)
    assert written.targets == ("b0",) != decide(written.logic, source.known).pictures


def test_a_free_request_keeps_what_the_model_chose(source: Source) -> None:
    (written,) = written_in({"queries": [row(source, "free", "red kite", "old tent", ["a2", "b0"])]}, source)
    assert written.logic.relation == "free" and written.targets == ("a2", "b0")


def test_a_link_that_is_missing_makes_a_request_free(source: Source) -> None:
    (written,) = written_in({"queries": [row(source, "next-event", "red kite", "old tent", ["b0"])]}, source)
    assert written.logic.relation == "free"
    linked = row(source, "next-event", "red kite", "old tent", ["b0"], link="grey dog")
    (written,) = written_in({"queries": [linked]}, source)
    assert written.logic.link == "object:grey dog" and written.targets == ("b0",)


def test_labels_that_are_not_there_are_left_out(source: Source) -> None:
    wrong = row(source, "same-event", "red kite", "old tent", ["a1"]) | {"target": ["C99"]}
    assert list(written_in({"queries": [wrong]}, source)) == []
    assert list(written_in(None, source)) == []
