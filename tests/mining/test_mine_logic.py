"""What the graph knows, and which photos a request means by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mine_tools import graph_of, keys, knowledge
from sightline.mining import knowledge as words
from sightline.mining.knowledge import ClueSight, Knowledge, decide
from sightline.mining.records import Clue, Logic


def sight(known_sure: set[str], doubt: set[str]) -> ClueSight:
    return ClueSight(frozenset(known_sure), frozenset(doubt))


# --- sights ------------------------------------------------------------------------------------------------------


def test_low_confidence_is_a_doubt_for_every_look_of_the_noun() -> None:
    known = knowledge({"a": [{"red kite": 0.9}, {"blue kite": 0.3}, {"blue dog": 0.3}]})
    assert known.sight(keys("red kite")) == sight({"a0"}, {"a1"})
    assert known.sight(keys("blue kite")) == sight(set(), {"a1"})


def test_what_one_frame_of_a_burst_shows_is_in_doubt_in_the_others() -> None:
    known = knowledge({"a": [["red kite"], ["blue dog"], []]}, alike={"a0": "burst", "a1": "burst"})
    assert known.sight(keys("red kite")) == sight({"a0"}, {"a1"})
    assert known.copies_outside(["a0"]) == ("a1",)
    assert known.copies_outside(["a0", "a1"]) == ()


def test_an_accepted_comparison_is_a_sight_and_another_theme_only_a_doubt() -> None:
    links = [("a0#0", "b0", "unique-identifier"), ("a0#0", "b1", "same-theme")]
    known = knowledge({"a": [["red kite"]], "b": [[], []]}, links=links)
    assert known.sight(keys("red kite")) == sight({"a0", "b0"}, {"b1"})


def test_a_refused_comparison_of_an_equal_look_is_a_doubt() -> None:
    known = knowledge({"a": [["red kite"]], "b": [["red kite"], []]}, refused=[("a0#0", "b0"), ("a0#0", "b1")])
    assert known.sight(keys("red kite")) == sight({"a0"}, {"b0"})


def test_a_rare_look_that_nearly_equals_a_common_one_may_be_misread() -> None:
    known = knowledge({"a": [["brown kite"], *[["red kite"]] * 3, ["blue dog"]]})
    assert known.sight(keys("brown kite")) == sight(set(), {"a0"})
    assert known.sight(keys("red kite")) == sight({"a1", "a2", "a3"}, {"a0"})
    written = knowledge({"a": [["HARBOR"], *[["HARBOUR"]] * 3, ["FERRY"]]})
    assert written.sight(keys("HARBOR")).sure == frozenset()
    assert written.sight(keys("FERRY")).sure == {"a4"}


def named(*looks: str, names: Mapping[str, Sequence[str]]) -> Knowledge:
    """One event, and one photo for each look; `names` are those that the metadata of photos give."""
    graph = graph_of({"a": [[look] if look else [] for look in looks]})
    clues = {
        f"{photo}@{name}": Clue(f"{photo}@{name}", photo, "name", "name", name, name, name, 1.0)
        for photo, told in names.items()
        for name in told
    }
    people = {f"{photo}p": Clue(f"{photo}p", photo, "person", "person", "red hair", "p", "p", 0.9) for photo in ("a1",)}
    return Knowledge(replace(graph, clues={**graph.clues, **clues, **people}), "ana", 0.5)


def test_a_name_is_certain_and_in_doubt_where_more_people_are_seen_than_named() -> None:
    known = named("red kite", "", "", names={"a0": ["Bo"], "a2": ["Cy"]})
    assert known.sight(("name:Bo",)) == sight({"a0"}, {"a1"})
    assert known.sight(("name:Cy",)) == sight({"a2"}, {"a1"})  # Names are not misread for each other.


def test_an_anchor_that_was_perhaps_misread_is_told_from_one_that_is_not_there() -> None:
    known = knowledge({"a": [["brown kite"], *[["red kite"]] * 3]})
    rare, none = (Logic("same-event", keys(look), keys("red kite")) for look in ("brown kite", "grey dog"))
    assert decide(rare, known).problem == words.UNSURE_ANCHOR
    assert decide(none, known).problem == words.NO_ANCHOR


def test_a_look_is_counted_once_in_a_burst() -> None:
    known = knowledge({"a": [["red kite"], ["red kite"], ["red kite"]]}, alike={"a0": "b", "a1": "b"})
    assert known.times(keys("red kite")) == 2


# --- requests ----------------------------------------------------------------------------------------------------

LIFE = {
    "a": [["red kite", "grey dog"], ["old tent"], ["old tent", "grey dog"]],
    "b": [["old tent"], ["grey dog"]],
    "c": [["old tent"], ["blue bus"]],
    "d": [["grey dog", "old tent"], ["old tent"]],
}


@pytest.mark.parametrize(
    ("logic", "wanted"),
    [
        (Logic("same-event", keys("red kite"), keys("old tent")), ("a1", "a2")),
        (Logic("same-event", keys("red kite"), keys("old tent", "grey dog")), ("a2",)),
        (Logic("same-event", keys("red kite"), keys("blue bus")), ()),
        (Logic("other-events", keys("red kite"), keys("old tent"), "object:grey dog"), ("b0", "d0", "d1")),
        (Logic("next-event", keys("red kite"), keys("old tent"), "object:grey dog"), ("b0",)),
        (Logic("previous-event", keys("blue bus"), keys("grey dog"), "object:old tent"), ("b1",)),
    ],
)
def test_a_request_means_exactly_these_photos(logic: Logic, wanted: tuple[str, ...]) -> None:
    meant = decide(logic, knowledge(LIFE))
    assert not meant.problem and meant.pictures == wanted and meant.doubts == ()


def test_the_same_place_is_near_and_between_near_and_far_is_in_doubt() -> None:
    places = {"a": (50.0, 8.0), "b": (50.01, 8.0), "c": (50.2, 8.0), "d": (51.0, 8.0)}
    meant = decide(Logic("same-place", keys("red kite"), keys("old tent")), knowledge(LIFE, places=places))
    assert meant.pictures == ("b0",) and meant.doubts == ("c0",)
    nowhere = knowledge(LIFE, places={"a": (50.0, 8.0)})
    assert decide(Logic("same-place", keys("red kite"), keys("old tent")), nowhere).problem == words.NO_EVENT


@pytest.mark.parametrize(
    ("life", "logic", "problem"),
    [
        (LIFE, Logic("same-event", keys("pink car"), keys("old tent")), words.NO_ANCHOR),
        (LIFE, Logic("same-event", keys("grey dog"), keys("old tent")), words.SEVERAL_ANCHORS),
        (
            {**LIFE, "e": [{"red kite": 0.2}]},
            Logic("same-event", keys("red kite"), keys("old tent")),
            words.DOUBTFUL_ANCHOR,
        ),
        (LIFE, Logic("other-events", keys("blue bus"), keys("old tent"), "object:grey dog"), words.NO_LINK),
        (
            {**LIFE, "a": [*LIFE["a"], ["black dog"], ["black dog"], ["black dog"]]},
            Logic("next-event", keys("red kite"), keys("old tent"), "object:grey dog"),
            words.SEVERAL_LOOKS,
        ),
        (LIFE, Logic("previous-event", keys("red kite"), keys("old tent"), "object:grey dog"), words.NO_EVENT),
        (
            {"a": LIFE["a"], "x": [{"grey dog": 0.2}], "b": LIFE["b"]},
            Logic("next-event", keys("red kite"), keys("old tent"), "object:grey dog"),
            words.DOUBTFUL_EVENT,
        ),
        (LIFE, Logic("free", (), keys("old tent")), words.UNDECIDED),
    ],
)
def test_what_can_t_be_decided_says_why(life: dict[str, list[list[str]]], logic: Logic, problem: str) -> None:
    assert decide(logic, knowledge(life)).problem == problem


def test_a_doubtful_event_makes_its_targets_doubtful() -> None:
    life: dict[str, Any] = {**LIFE, "e": [{"grey dog": 0.2}, {"old tent": 0.9}]}
    meant = decide(Logic("other-events", keys("red kite"), keys("old tent"), "object:grey dog"), knowledge(life))
    assert meant.pictures == ("b0", "d0", "d1") and meant.doubts == ("e1",)


lives = st.dictionaries(
    st.sampled_from("abcde"),
    st.lists(st.sets(st.sampled_from(["red kite", "grey dog", "old tent"])), min_size=1, max_size=4),
    min_size=1,
)


@settings(deadline=None, max_examples=80)
@given(life=lives, relation=st.sampled_from(["same-event", "other-events"]))
def test_certain_lives_are_decided_as_a_plain_reading_of_the_words_says(
    life: dict[str, list[set[str]]], relation: str
) -> None:
    """Against code that follows the sentence of a request and nothing else."""
    known = knowledge({event: [sorted(photo) for photo in photos] for event, photos in life.items()})
    logic = Logic(relation, keys("red kite"), keys("old tent"), "object:grey dog")  # type: ignore[arg-type]
    meant = decide(logic, known)
    anchored = [event for event, photos in life.items() if any("red kite" in photo for photo in photos)]
    dogs = [event for event, photos in life.items() if any("grey dog" in photo for photo in photos)]
    if len(anchored) != 1 or (relation == "other-events" and (anchored[0] not in dogs or len(dogs) < 2)):
        assert meant.problem
        return
    where = anchored if relation == "same-event" else [event for event in dogs if event != anchored[0]]
    wanted = {f"{event}{at}" for event in where for at, photo in enumerate(life[event]) if "old tent" in photo}
    assert set(meant.pictures) == wanted and not meant.doubts
