"""The memory graph: building, keeping, looking at it, and sampling from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mine_tools import clue, graph_of
from sightline.errors import UserError
from sightline.mining.drafts import sample
from sightline.mining.graph import MemoryGraph, Node, build_graph, read_graph, write_graph
from sightline.mining.history import HistoryEvent, PhotoHistory
from sightline.mining.records import Association, PictureClues
from sightline.types import Group, Picture


def small() -> MemoryGraph:
    return graph_of(
        {"a": [["red kite"], ["red kite", "tea <pot>"]], "b": [["red kite"], ["blue dog"]]},
        links=[("a0#0", "b0", "unique-identifier"), ("a0#0", "a1", "matching-features")],
        refused=[("b1#0", "a0")],
    )


def test_a_graph_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_graph(small(), tmp_path / "g.jsonl")
    assert read_graph(tmp_path / "g.jsonl") == small()


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "g.jsonl"
    write_graph(small(), path)
    path.write_text(path.read_text() + '{"is": "photo", "id": 3}\n')
    with pytest.raises(UserError, match=f"line {len(path.read_text().splitlines())}"):
        read_graph(path)
    path.write_text('{"is": "cat"}\n')
    with pytest.raises(UserError, match="line 1"):
        read_graph(path)


def test_it_is_built_from_readings_and_accepted_comparisons() -> None:
    taken = datetime(2020, 5, 1)
    pictures = [Picture(id_, f"file:///{id_}", taken_at=taken, extra={"people": ["Bo"]}) for id_ in ("p", "q")]
    history = PhotoHistory("ana", (HistoryEvent("e", tuple(pictures)),), 2, 1.0, 0)
    found = clue("p", 0, "red kite")
    readings = {"p": PictureClues("p", "a kite", "beach", (found,), "m"), "q": PictureClues("q", "", "", (), "m")}
    compared = [
        Association(found.id, "q", "inside", 0.5, True, "reference", "it hangs on the wall", 0.7),
        Association(found.id, "p", "inside", 0.5, False, None, "no", 0.7),
        Association("gone#0", "q", "inside", 0.5, True, "reference", "of a picture that was left out", 0.7),
    ]
    graph = build_graph([history], readings, compared, [Group("burst/p", "burst", ("p", "q"))])
    stats = graph.stats()
    assert stats["nodes"] == {"photo": 2, "event": 1, "clue": 3, "person": 1}  # A name is a clue of its photos.
    assert stats["edges"] == {"event-photo": 2, "photo-clue": 3, "person-photo": 2, "association": 1}
    assert stats["rules"] == {"reference": 1} and stats["across_events"] == 0 and stats["refused"] == 1
    assert graph.photos["q"].alike == "burst/p" and graph.photos["p"].summary == "a kite"


def history(owner: str, *events: tuple[str, ...], people: Sequence[str] = ()) -> PhotoHistory:
    made = []
    for day, ids in enumerate(events, 1):
        taken = datetime(2020, 5, day)
        own = [Picture(f"{owner}/{id_}", "u", taken_at=taken, extra={"people": list(people)}) for id_ in ids]
        made.append(HistoryEvent(f"{owner} {day}", tuple(own)))
    return PhotoHistory(owner, tuple(made), 2, 1.0, 0)


def read(*pictures: str) -> dict[str, PictureClues]:
    return {id_: PictureClues(id_, "", "", (clue(id_, 0, "red kite"),), "m") for id_ in pictures}


def test_equal_names_of_two_owners_are_two_people_and_a_subgraph_stays_with_its_owner() -> None:
    histories = [history(owner, ("p", "q"), people=["Bo"]) for owner in ("ana", "cy")]
    graph = build_graph(histories, read("ana/p", "ana/q", "cy/p", "cy/q"), [])
    assert [(person.owner, person.name) for person in graph.people.values()] == [("ana", "Bo"), ("cy", "Bo")]
    part = sample(graph, graph.around(), "ana/p", Random(0), 40)
    assert set(part.photos) == {"ana/p", "ana/q"} and len(part.people) == 1


def test_pictures_that_nobody_could_read_are_left_out() -> None:
    graph = build_graph([history("ana", ("p", "q"), ("r",))], read("ana/q"), [])
    assert list(graph.photos) == ["ana/q"] and [event.photos for event in graph.events.values()] == [("ana/q",)]


looks = st.lists(st.sampled_from(["red kite", "blue dog", "old tent", "big bus"]), unique=True)
events = st.dictionaries(st.sampled_from("abcdef"), st.lists(looks, min_size=1, max_size=5), min_size=1)


@settings(deadline=None, max_examples=40)
@given(events=events, seed=st.integers(0, 99), most=st.integers(0, 40), data=st.data())
def test_a_subgraph_grows_from_its_photo_within_its_bound(
    events: dict[str, list[list[str]]], seed: int, most: int, data: st.DataObject
) -> None:
    graph = graph_of(events)
    start = data.draw(st.sampled_from(sorted(graph.photos)))
    around = graph.around()
    part = sample(graph, around, start, Random(seed), most)
    assert part == sample(graph, around, start, Random(seed), most)
    assert len(part.edges) == len(set(part.edges)) <= most
    reached = {Node("photo", start)}
    for edge in part.edges:  # Each edge touches what was reached before it.
        assert {edge.source, edge.target} & reached
        reached |= {edge.source, edge.target}
    assert {graph.clues[id_].picture for id_ in part.clues} <= set(part.photos)
    assert {graph.photos[id_].event for id_ in part.photos} == set(part.events)
    if most == 40 and len(graph.edges) <= 40 and len(graph.events) == 1:
        assert set(part.edges) == set(graph.edges)


def test_rare_kinds_of_edges_come_as_often_as_common_ones() -> None:
    many = [f"n{number} thing" for number in range(20)]
    graph = graph_of({"a": [many], "b": [["red kite"]]}, links=[("b0#0", "a0", "unique-identifier")])
    around = graph.around()
    first = Counter(sample(graph, around, "a0", Random(seed), 1).edges[0].kind for seed in range(300))
    assert min(first.values()) > 60  # A third of 300 each; an edge by lot would give the link 14 times.
    assert set(first) == {"event-photo", "photo-clue", "association"}
