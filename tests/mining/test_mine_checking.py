"""Shortcuts that make a request too easy, and the other reasons to refuse one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mine_tools import graph_of, keys, knowledge
from sightline.mining import checks
from sightline.mining.checks import VectorRanker, anchor_words, best_cut, best_filter, check
from sightline.mining.knowledge import SEVERAL_ANCHORS, Knowledge
from sightline.mining.project import MiningSettings
from sightline.mining.records import Draft, Logic

SETTINGS = MiningSettings("m", retrieval_bound=0.99, metadata_bound=1.1)
LIFE = {
    "a": [["red kite"], ["old tent"], ["grey dog"], ["old tent"]],
    "b": [["old tent"], ["grey dog"], ["old tent"]],
}


def f1(found: set[str], wanted: set[str]) -> float:
    return 2 * len(found & wanted) / (len(found) + len(wanted))


@settings(deadline=None, max_examples=60)
@given(st.permutations("abcdefgh"), st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_the_best_cut_is_the_best_of_all_cuts(ranking: list[str], wanted: set[str]) -> None:
    best = best_cut(ranking, wanted)
    assert best.f1 == pytest.approx(max(f1(set(ranking[:k]), wanted) for k in range(1, 9)))
    assert f1(set(ranking[: best.size]), wanted) == pytest.approx(best.f1)


@settings(deadline=None, max_examples=60)
@given(st.sets(st.integers(0, 9), min_size=1))
def test_the_best_filter_is_at_least_the_best_span_of_days(wanted: set[int]) -> None:
    photos = list(graph_of({"a": [[]] * 3, "b": [[]] * 2, "c": [[]] * 4, "d": [[]]}).photos.values())
    ids, days = {photos[at].id for at in wanted}, sorted({photo.taken_at[:10] for photo in photos})
    spans = [
        f1({photo.id for photo in photos if first <= photo.taken_at[:10] <= last}, ids)
        for first in days
        for last in days
        if first <= last
    ]
    assert best_filter(photos, ids).f1 >= max(spans) - 1e-9


def test_a_span_within_a_day_is_not_to_be_told() -> None:
    photos = [
        replace(photo, taken_at=photo.taken_at[:13] + f":0{n}:00")
        for n, photo in enumerate(
            replace(each, taken_at="2020-01-01T09:00:00") for each in graph_of({"a": [[]] * 5}).photos.values()
        )
    ]
    assert best_filter(photos, {photos[2].id}).f1 == pytest.approx(2 / 6)


def test_one_value_of_metadata_is_a_filter_and_is_named() -> None:
    photos = list(graph_of({"a": [[]] * 4}).photos.values())
    placed = [replace(photo, address=f"{place}, France") for photo, place in zip(photos, "PQPQ", strict=True)]
    best = best_filter(placed, {photos[0].id, photos[2].id})
    assert best.f1 == 1.0 and best.by.startswith("place 1 P")
    assert best_cut([], set()).f1 == 0.0


def draft(query: str, logic: Logic, *targets: str) -> Draft:
    return Draft("q", "ana", query, logic, "intra-event", targets, "test", "a0", (), ())


TENTS = Logic("same-event", keys("red kite"), keys("old tent"))


def ranker(known: Knowledge, *drafts: Draft, first: tuple[str, ...] = ()) -> VectorRanker:
    """Ranks the named photos first, and finds every anchor."""
    ids = list(known.photos)
    order = np.array([[10.0 - first.index(id_) if id_ in first else 0.0, float(id_ == "a0")] for id_ in ids])
    texts = {each.query: np.array([1.0, 0.0]) for each in drafts}
    texts |= {anchor_words(each, known): np.array([0.0, 1.0]) for each in drafts}
    return VectorRanker(ids, order.astype(np.float32), {text: row.astype(np.float32) for text, row in texts.items()})


def reasons(
    one: Draft, *, first: tuple[str, ...] = (), how: MiningSettings = SETTINGS, **given: Any
) -> tuple[str, ...]:
    known = knowledge(LIFE, **given)
    return check(one, known, ranker(known, one, first=first), how).reasons


def test_a_good_draft_is_kept_with_its_figures_and_a_pool_for_people() -> None:
    known = knowledge(LIFE)
    good = draft("the tents of the kite's day", TENTS, "a1", "a3")
    verdict = check(good, known, ranker(known, good, first=("b0", "a1")), SETTINGS)
    assert (
        verdict.kept
        and verdict.retrieval == pytest.approx(4 / 7, abs=1e-4)
        and verdict.metadata == pytest.approx(2 / 3, abs=1e-4)
    )
    assert verdict.anchored == ("a0",) and verdict.events == ("a",)
    # What is missing is most often in the event that is meant: its other photos come before the look-alikes.
    assert [id_ for id_, _ in verdict.pool][:3] == ["a0", "a2", "b0"]
    assert not {"a1", "a3"} & {id_ for id_, _ in verdict.pool}


def test_what_direct_retrieval_or_one_filter_finds_is_refused() -> None:
    good = draft("the tents", TENTS, "a1", "a3")
    assert reasons(good, first=("a1", "a3")) == (checks.RETRIEVAL,)
    assert reasons(good, how=replace(SETTINGS, metadata_bound=0.6)) == (checks.METADATA,)


def test_a_set_that_is_not_the_graphs_is_refused() -> None:
    assert checks.OTHER_SET in reasons(draft("the tents", TENTS, "a1"))
    several = Logic("same-event", keys("grey dog"), keys("old tent"))
    assert SEVERAL_ANCHORS in reasons(draft("the tents", several, "a1", "a3"))


def test_ids_and_file_names_are_no_words() -> None:
    life = {"a": LIFE["a"], "b": LIFE["b"]}
    known = knowledge(life)
    renamed = {**known.photos, "img_20200101.jpg": replace(known.photos["a2"], id="img_20200101.jpg")}
    known.photos = renamed
    leaking = draft("the tents near IMG_20200101", TENTS, "a1", "a3")
    assert checks.PICTURE in check(leaking, known, ranker(knowledge(life), leaking), SETTINGS).reasons


def test_a_copy_outside_the_set_and_a_doubt_are_refused() -> None:
    good = draft("the tents", TENTS, "a1", "a3")
    found = reasons(good, alike={"a3": "burst", "a2": "burst"})
    assert checks.COPY in found and checks.DOUBT in found


def test_targets_that_look_like_nothing_else_are_refused() -> None:
    alone = draft("the bus", Logic("same-event", keys("red kite"), keys("grey dog")), "a2")
    assert checks.NOT_AMBIGUOUS not in reasons(alone)
    known = knowledge({"a": LIFE["a"], "b": [["old tent"]]})
    assert checks.NOT_AMBIGUOUS in check(alone, known, ranker(known, alone), SETTINGS).reasons


def test_an_anchor_that_no_search_finds_is_refused() -> None:
    life = {"a": LIFE["a"], "b": [["old tent"]] * 20}
    known = knowledge(life)
    good = draft("the tents", TENTS, "a1", "a3")
    lost = VectorRanker(
        list(known.photos),
        np.array([[0.0 if id_ == "a0" else 1.0] for id_ in known.photos], np.float32),
        {text: np.ones(1, np.float32) for text in (good.query, anchor_words(good, known))},
    )
    assert checks.WEAK_ANCHOR in check(good, known, lost, SETTINGS).reasons


def test_a_request_without_an_answer_is_checked_by_the_graph_alone() -> None:
    nothing = draft("the buses", Logic("same-event", keys("red kite"), keys("blue bus")))
    life = {**LIFE, "b": [*LIFE["b"], ["blue bus"]]}
    known = knowledge(life)
    verdict = check(nothing, known, ranker(known, nothing), SETTINGS)
    assert verdict.kept and verdict.retrieval is None and verdict.metadata is None
    assert checks.NOWHERE in reasons(nothing)


def test_a_free_request_whose_target_is_not_seen_in_a_photo_is_refused() -> None:
    free = Logic("free", keys("red kite"), keys("old tent"))
    assert checks.NOT_SEEN not in reasons(draft("the tents", free, "a1", "b0"))
    assert checks.NOT_SEEN in reasons(draft("the tents", free, "a1", "b1"))


# --- words -------------------------------------------------------------------------------------------------------

DOGS = Logic("other-events", keys("red kite"), keys("old tent"), "object:grey dog")


def told(query: str, logic: Logic = TENTS, address: str | None = "4 Quai Sud, Lyon, France") -> list[str]:
    graph = graph_of(LIFE)
    photos = {id_: replace(photo, address=address) for id_, photo in graph.photos.items()}
    known = Knowledge(replace(graph, photos=photos), "ana", 0.5)
    return list(checks.told(replace(draft(query, logic, "a1", "a3"), photos=("a0",)), known))


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("Like C12 in P8: the tents of the day with a red kite", checks.LABEL),
        ("the tents of E1, with a red kite", checks.LABEL),
        ("the tents of 2020-10-12, with a red kite", checks.DATE),
        ("the tents of the kite's day in 2020", checks.DATE),
        ("the tents of that October, when we saw a red kite", checks.DATE),
        ("the tents of the 3rd of May", checks.DATE),
        ("the tents of the kite's day, near Quai Sud in Lyon", checks.PLACE),
        ("the tents of other days with the grey dog of the kite's day", checks.LINK),
    ],
)
def test_words_that_tell_too_much_are_refused(query: str, reason: str) -> None:
    assert told(query, DOGS if reason == checks.LINK else TENTS) == [reason]


def test_plain_words_and_what_a_clue_itself_shows_are_no_fault() -> None:
    assert told("the tents that we may have put up on the march, with a dog and a red kite", DOGS) == []
    assert told("a party of 12 in the tents, from lyons' day") == []
    sign = graph_of({"a": [["BUS E1 1999"], ["old tent"]], "b": [["old tent"]]})
    shown = draft(
        "the tents of the day of the words BUS E1 1999", Logic("same-event", keys("BUS E1 1999"), keys("old tent"))
    )
    assert list(checks.told(shown, Knowledge(sign, "ana", 0.5))) == []
