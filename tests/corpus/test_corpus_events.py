"""Events end at long pauses, long jumps and other owners."""

from __future__ import annotations

import pytest

from sightline.config import EventSettings
from sightline.corpus.groups import PictureMoment, kilometres, split_events

HOUR = 3600.0


def moment(id_: str, hours: float, place: tuple[float, float] | None = None, owner: str | None = None) -> PictureMoment:
    lat, lon = place or (None, None)
    return PictureMoment(id_, owner, "2024-05-01T10:00:00", hours * HOUR, lat, lon)


def split(*moments: PictureMoment) -> list[str]:
    return ["".join(m.id for m in event) for event in split_events(moments, EventSettings())]


def test_a_long_pause_ends_an_event() -> None:
    assert split(moment("a", 0), moment("b", 11.9), moment("c", 24)) == ["ab", "c"]


def test_a_long_jump_ends_an_event_even_over_pictures_without_a_place() -> None:
    paris, rome = (48.86, 2.35), (41.9, 12.5)
    assert split(moment("a", 0, paris), moment("b", 1), moment("c", 2, rome), moment("d", 3)) == ["ab", "cd"]


def test_another_owner_is_another_event() -> None:
    assert split(moment("a", 0, owner="ana"), moment("b", 0.1, owner="ben")) == ["a", "b"]


def test_nothing_gives_nothing() -> None:
    assert split() == []


def test_distance_over_the_date_line() -> None:
    assert kilometres(moment("a", 0, (0.0, 179.5)), moment("b", 0, (0.0, -179.5))) == pytest.approx(111.2, abs=0.1)
