"""The pools of the planner `tiers`: each tier as CONTRACTS defines it, in order, and the same every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from make_tools import jaccard, notes, settings
from sightline.authoring.plan_table import MOST_BITS, PictureFingerprint, PictureTable, TagIndex
from sightline.authoring.plan_tiers import TierPlanner, best, best_spread
from sightline.authoring.project_files import PlannedQuery, Pooled, SeededQuery
from sightline.types import Annotation, Tier

CORE = ("place", "subject")
LADDER: tuple[Tier, ...] = ("positive", "neutral", "hard", "near", "easy")


def planned(found: list[Annotation], seed: str = "0007.jpg", query: str = "q1", **given: Any) -> PlannedQuery:
    return TierPlanner(PictureTable(found), settings(**given)).plan(SeededQuery(query, (seed,)))


def scores_of(candidates: Sequence[Pooled]) -> list[float]:
    scores = [one.score for one in candidates if one.score is not None]
    assert len(scores) == len(candidates)
    return scores


def off(note: Annotation, seed: Annotation) -> int:
    return sum(note.facets[name] != seed.facets[name] for name in CORE)


@given(st.integers(0, 50), st.integers(0, 399))
@hypothesis(max_examples=25, deadline=None)
def test_each_tier_with_core_facets_is_what_the_contract_says(world: int, at: int) -> None:
    found = notes(400, seed=world)
    seed, by_id = found[at], {note.picture_id: note for note in found}
    pool = planned(found, seed.picture_id, core_facets=CORE)
    assert pool.candidates[0].picture == seed.picture_id
    assert len(set(pool.pictures)) == len(pool.pictures)
    for candidate in pool.candidates[1:]:
        note = by_id[candidate.picture]
        assert candidate.score == pytest.approx(jaccard(note.tags, seed.tags), abs=1e-6)
        match candidate.tier:
            case "positive" | "hard":
                assert off(note, seed) == 0
            case "neutral" | "near":
                assert off(note, seed) == 1
            case "easy":
                assert off(note, seed) == 2
    hard = pool.of_tier("hard")
    assert all(set(by_id[one.picture].tags) != set(seed.tags) for one in hard)
    positives = pool.of_tier("positive")
    if positives and hard:
        assert min(scores_of(positives)) >= max(scores_of(hard))


@given(st.integers(0, 30), st.integers(0, 299), st.booleans())
@hypothesis(max_examples=25, deadline=None)
def test_without_core_facets_tiers_are_ordered_by_similarity(world: int, at: int, spread: bool) -> None:
    found = notes(300, seed=world)
    diversity = ("weather",) if spread else ()
    pool = planned(found, found[at].picture_id, core_facets=(), diversity_facets=diversity)
    tiers = [scores_of(pool.of_tier(tier)) for tier in LADDER]
    assert all(min(nearer) >= max(farther) for nearer, farther in pairwise(tier for tier in tiers if tier))
    assert sum(map(len, tiers)) > 10


def test_vectors_decide_where_there_are_no_tags() -> None:
    rng = np.random.default_rng(0)
    found = [Annotation(f"{number:04}.jpg") for number in range(200)]
    angles = np.linspace(0, np.pi, 200)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    vectors = {note.picture_id: vector for note, vector in zip(found, circle, strict=True)}
    planner = TierPlanner(PictureTable(found, vectors=vectors), settings())
    assert planner.basis == "vectors"
    pool = planner.plan(SeededQuery("q", ("0000.jpg",)))
    assert pool.pictures[1:5] == ("0001.jpg", "0002.jpg", "0003.jpg", "0004.jpg")
    means = [np.mean(scores_of(pool.of_tier(tier))) for tier in LADDER]
    assert means == sorted(means, reverse=True)
    mixed = [Annotation(note.picture_id, tags=("x", f"t{rng.integers(9)}")) for note in found]
    both = TierPlanner(PictureTable(mixed, vectors=vectors), settings())
    assert both.basis == "tags and vectors"
    tiers = [scores_of(both.plan(SeededQuery("q", ("0000.jpg",))).of_tier(tier)) for tier in LADDER]
    assert all(min(nearer) >= max(farther) for nearer, farther in pairwise(tier for tier in tiers if tier))


@pytest.mark.parametrize("core", [CORE, ()])
def test_what_looks_like_the_seed_is_never_a_negative(core: tuple[str, ...]) -> None:
    found = notes(300)
    twins = [note.picture_id for note in found if note.picture_id != "0007.jpg"][:60]
    looks = {
        "0007.jpg": PictureFingerprint(phash=0xF0F0_1234_5678_9ABC, sha256="a", group="burst/1"),
        **{id_: PictureFingerprint(phash=0xF0F0_1234_5678_9ABC ^ (1 << at % 5)) for at, id_ in enumerate(twins[:20])},
        **dict.fromkeys(twins[20:40], PictureFingerprint(sha256="a")),
        **dict.fromkeys(twins[40:], PictureFingerprint(group="burst/1")),
    }
    quotas = {"positives": 0, "neutrals": 0, "hard": 100, "near": 100, "easy": 100, "random": 100}
    query = SeededQuery("q", ("0007.jpg",))
    blind = TierPlanner(PictureTable(found), settings(core_facets=core, **quotas)).plan(query)
    seeing = TierPlanner(PictureTable(found, looks=looks), settings(core_facets=core, **quotas)).plan(query)
    assert set(twins) & set(blind.pictures)
    assert not set(twins) & set(seeing.pictures)


def test_the_same_seed_plans_the_same_and_nought_is_a_seed() -> None:
    found = notes(300)
    first = planned(found, random_seed=0, core_facets=CORE)
    assert first == planned(list(reversed(found)), random_seed=0, core_facets=CORE)
    assert first != planned(found, random_seed=42, core_facets=CORE)
    assert first.of_tier("hard") == planned(found, random_seed=42, core_facets=CORE).of_tier("hard")


def test_a_query_does_not_depend_on_those_before_it() -> None:
    planner = TierPlanner(PictureTable(notes(300)), settings(core_facets=CORE))
    query, other = SeededQuery("a", ("0003.jpg",)), SeededQuery("b", ("0004.jpg",))
    assert planner.plan(query) == (planner.plan(other), planner.plan(query))[1]


def test_a_quota_of_nought_is_kept_and_a_shortage_is_said() -> None:
    pool = planned(notes(300), core_facets=CORE, positives=0, hard=1000, easy=0)
    assert not pool.of_tier("positive")
    assert not pool.of_tier("easy")
    assert pool.short == {"hard": 1000 - len(pool.of_tier("hard"))}


def test_unknown_values_neither_match_nor_differ() -> None:
    found = [
        Annotation("seed", facets={"place": "beach", "subject": "dog"}, tags=("a", "b")),
        Annotation("same", facets={"place": "Beach ", "subject": "dog"}, tags=("a", "b")),
        Annotation("unknown", facets={"place": "unknown", "subject": "dog"}, tags=("a", "b")),
        Annotation("missing", facets={"subject": "dog"}, tags=("a", "b")),
        Annotation("near", facets={"place": "city", "subject": "dog"}, tags=("a",)),
        Annotation("far", facets={"place": "city", "subject": "car"}, tags=("z",)),
    ]
    pool = TierPlanner(PictureTable(found), settings(core_facets=CORE, alike=0.5, neutrals=0, random=0)).plan(
        SeededQuery("q", ("seed",))
    )
    assert {one.picture: one.tier for one in pool.candidates} == {
        "seed": "seed", "same": "positive", "near": "near", "far": "easy"
    }  # fmt: skip


def test_several_seeds_vote_and_half_is_yes() -> None:
    found = [
        Annotation("a", facets={"place": "beach"}, flags={"people": True}, tags=("x",)),
        Annotation("b", facets={"place": "city"}, flags={"people": False}, tags=("y",)),
        Annotation("yes", facets={"place": "beach"}, flags={"people": True}, tags=("x", "y")),
        Annotation("no", facets={"place": "beach"}, flags={"people": False}, tags=("x", "y")),
    ]
    planner = TierPlanner(PictureTable(found), settings(core_facets=("place", "people"), alike=0.1, random=0, easy=0))
    pool = planner.plan(SeededQuery("q", ("a", "b")))
    assert [one.picture for one in pool.of_tier("positive")] == ["yes"]
    assert [one.picture for one in pool.of_tier("neutral")] == ["no"]


def test_candidates_are_spread_over_the_diversity_facets() -> None:
    found = notes(400)
    tags = found[7].tags[:-1]
    # The most alike are all taken in rain: unless they are spread, the tier is all rain.
    rainy = [
        replace(note, facets={**note.facets, "weather": "rain"}, tags=tags) if at < 150 and at != 7 else note
        for at, note in enumerate(found)
    ]
    table = {note.picture_id: note for note in rainy}

    def weathers(**given: Any) -> list[str]:
        pool = planned(rainy, core_facets=("subject",), positives=0, hard=9, **given)
        return [table[one.picture].facets["weather"] for one in pool.of_tier("hard")]

    assert set(weathers()) == {"rain"}
    spread = weathers(diversity_facets=("weather",))
    assert len(set(spread)) == 3
    assert spread.count("rain") == 3


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), min_size=1, max_size=30), st.booleans(), st.data())
@hypothesis(max_examples=60, deadline=None)
def test_jaccard_agrees_with_sets(tags: list[list[str]], large: bool, data: st.DataObject) -> None:
    filler = [f"filler{number}" for number in range(MOST_BITS + 1)] if large else []
    index = TagIndex([*tags, filler])
    row = data.draw(st.integers(0, len(tags) - 1))
    wanted = index.of(np.array([row]))
    expected = [jaccard(one, tags[row]) for one in tags]
    every = np.arange(len(tags))
    assert index.jaccard(wanted)[: len(tags)] == pytest.approx(expected)
    assert index.jaccard(wanted, every[::-1]) == pytest.approx(expected[::-1])


@given(st.lists(st.integers(0, 5).map(float), max_size=40), st.integers(0, 45))
@hypothesis(max_examples=80, deadline=None)
def test_best_is_a_stable_sort(scores: list[float], count: int) -> None:
    expected = sorted(range(len(scores)), key=lambda at: -scores[at])[:count]
    assert best(np.array(scores), count).tolist() == expected
    assert best_spread(np.array(scores), count, None).tolist() == expected
    keys = np.arange(len(scores))
    assert best_spread(np.array(scores), count, keys).tolist() == expected


def test_a_positive_is_alike_and_alike_is_what_few_pairs_are() -> None:
    found = notes(400)
    planner = TierPlanner(PictureTable(found), settings(core_facets=("subject",), positives=400))
    positives = [
        scores_of(planner.plan(SeededQuery("q", (note.picture_id,))).of_tier("positive")) for note in found[:20]
    ]
    pairs = sorted(jaccard(left.tags, right.tags) for left in found[:60] for right in found[60:120])
    mark = pairs[int(0.9 * len(pairs))]
    assert 0.8 * mark < min(score for scores in positives for score in scores) < 1.3 * mark
    same = sum(note.facets["subject"] == found[0].facets["subject"] for note in found)
    assert len(positives[0]) < same - 1, "not all that share the core facet are alike"
    assert not planned(found, core_facets=("subject",), alike=1.1).of_tier("positive")
