from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta, timezone
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline_world.histories.people import owner_names
from sightline_world.histories.shots import batches
from sightline_world.histories.towns import SPOTS, Daylight, daylight, light_at, town_map, zone_of
from sightline_world.histories.years import FEWEST, MOST, MOST_PICTURES, parts, plan_history
from sightline_world.scene import SCENE_LIGHTS
from sightline_world.truth import SyntheticHistory

SMALL = (160, 120)


def planned(seed: int, pictures: int = 400) -> SyntheticHistory:
    return plan_history(seed, owner_names(seed, 1)[0], town_map(seed), pictures, SMALL).life


# --- planning ----------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 3000), st.integers(0, 1000))
def test_sizes_of_events_add_up_and_keep_their_bounds(total: int, seed: int) -> None:
    sizes = parts(total, Random(seed))
    assert sum(sizes) == total
    assert all(FEWEST <= size <= MOST for size in sizes) or total < FEWEST


@settings(deadline=None, max_examples=12)
@given(st.integers(1, 300), st.integers(0, 50))
def test_a_life_has_exactly_as_many_pictures_as_asked_for_each_with_a_name_of_its_own(pictures: int, seed: int) -> None:
    plan = plan_history(seed, "ana-test", town_map(seed), pictures, SMALL)
    ids = [frame.id for batch in batches(plan) for frame in batch.frames]
    assert len(ids) == len(set(ids)) == pictures
    assert all(id_.startswith("ana-test/") for id_ in ids)


def test_the_largest_life_can_be_planned_and_a_larger_one_is_refused() -> None:
    plan = plan_history(1, "ana-test", town_map(1), MOST_PICTURES, SMALL)
    assert sum(len(batch.frames) for batch in batches(plan)) == MOST_PICTURES
    with pytest.raises(UserError, match="more owners"):
        plan_history(1, "ana-test", town_map(1), MOST_PICTURES + 1, SMALL)


@pytest.mark.parametrize("seed", range(6))
def test_events_never_overlap_and_span_three_to_nine_years(seed: int) -> None:
    life = planned(seed)
    for before, after in pairwise(life.events):
        assert before.last + timedelta(days=1) < after.first
    years = (life.events[-1].last - life.events[0].first).days / 365
    assert 2 <= years <= 9
    assert life.events[-1].last < date(2026, 11, 1)


@pytest.mark.parametrize("seed", range(6))
def test_a_life_has_what_stories_are_made_of(seed: int) -> None:
    life = planned(seed)
    kinds = Counter(event.kind for event in life.events)
    assert len(kinds) >= 7
    assert kinds["market day"] >= 2 and kinds["birthday"] >= 2 and kinds["move"] == 1
    assert len(life.homes) == 2 and life.homes[0].town != life.homes[1].town
    assert any(friend.met for friend in life.friends) and any(item.bought for item in life.belongings)
    assert len({event.town for event in life.events}) >= 4
    assert life.friends[0].name == life.owner


@pytest.mark.parametrize("seed", range(6))
def test_looks_and_belongings_of_a_life_are_told_apart(seed: int) -> None:
    life = planned(seed)
    looks = [(friend.hair, friend.headgear, friend.headgear_colour) for friend in life.friends]
    assert len(set(looks)) == len(looks)
    assert len({friend.name for friend in life.friends}) == len(looks)
    things = [(item.kind, item.colour) for item in life.belongings]
    assert len(set(things)) == len(things)


def test_birthdays_are_on_one_day_of_the_year() -> None:
    for seed in range(6):
        days = {(event.first.month, event.first.day) for event in planned(seed).events if event.kind == "birthday"}
        assert len(days) == 1


def test_nobody_meets_a_friend_or_has_a_thing_before_its_time() -> None:
    for seed in range(6):
        life = planned(seed)
        number = {event.id: at for at, event in enumerate(life.events)}
        for friend in life.friends:
            seen = [number[event.id] for event in life.events if friend.name in event.friends]
            assert friend.met is None or min(seen) == number[friend.met]
        for item in life.belongings:
            days = [event.first for event in life.events if item.name in event.belongings]
            assert all(item.since <= day and (item.until is None or day <= item.until) for day in days)
            if item.bought is not None:
                assert min(days) == life.events[number[item.bought]].first


# --- the map -----------------------------------------------------------------------------------------------


def test_towns_have_names_that_fit_on_signs_and_are_known_by_one_only() -> None:
    towns = town_map(7)
    assert len({town.name for town in towns}) == len(towns) == len(SPOTS)
    assert all(4 <= len(town.name) <= 9 and town.name.isalpha() for town in towns)
    assert {town.name for town in towns} != {town.name for town in town_map(8)}


def test_summer_time_changes_on_the_last_sundays_of_march_and_october() -> None:
    town = next(town for town in town_map(1) if town.country == "Belgium")
    hours = {
        day: zone_of(town, day)
        for day in (date(2021, 3, 27), date(2021, 3, 28), date(2021, 10, 30), date(2021, 10, 31))
    }
    assert [zone.utcoffset(None) // timedelta(hours=1) for zone in hours.values()] == [1, 2, 2, 1]
    japan = next(town for town in town_map(1) if town.country == "Japan")
    assert zone_of(japan, date(2021, 7, 1)) == timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("country", "day", "rise", "down"),
    [
        ("Belgium", date(2021, 6, 21), 5.5, 22.0),
        ("Belgium", date(2021, 12, 21), 8.7, 16.6),
        ("South Africa", date(2021, 12, 21), 5.5, 20.0),
    ],
)
def test_the_sun_keeps_its_hours(country: str, day: date, rise: float, down: float) -> None:
    town = next(town for town in town_map(1) if town.country == country)
    assert daylight(town, day) == pytest.approx((rise, down), abs=0.35)


def test_light_follows_the_hour() -> None:
    sun = Daylight(6.0, 20.0)
    assert [sun.light(hour) for hour in (3, 6.5, 12, 19.5, 23)] == ["night", "sunset", "day", "sunset", "night"]


def test_every_light_occurs_and_snow_falls_in_winter_only() -> None:
    town = next(town for town in town_map(1) if town.country == "Estonia")
    seen: dict[str, set[int]] = {}
    for day in range(0, 365, 2):
        for hour in (8, 13, 18, 23):
            when = datetime(2021, 1, 1, hour) + timedelta(days=day)
            seen.setdefault(light_at(town, when, "a"), set()).add(when.month)
    assert set(seen) == set(SCENE_LIGHTS)
    assert seen["snowfall"] <= {12, 1, 2, 3}
