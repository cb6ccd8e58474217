"""Words for other times than the occasion's are taken out of a request, and say which times are meant."""

from __future__ import annotations

import pytest

from sightline_world.models.chat.planning.occasions import without_other_times
from sightline_world.models.chat.planning.requests import split


@pytest.mark.parametrize(
    ("text", "plain", "when"),
    [
        ("the guitar of that day, from any later time", "the guitar of that day", "after"),
        ("the guitar of that day, at an earlier date", "the guitar of that day", "before"),
        ("the guitar of that day on other occasions", "the guitar of that day", "other"),
        ("the guitar of that day, elsewhere.", "the guitar of that day.", "other"),
        ("the guitar of that day in former pictures", "the guitar of that day", "before"),
        ("the guitar we saw, years later", "the guitar we saw", "after"),
        ("boats, but only outside of that trip", "boats", "other"),
    ],
)
def test_words_for_other_times_are_taken_out(text: str, plain: str, when: str) -> None:
    assert without_other_times(text) == (plain, when)


@pytest.mark.parametrize(
    "text",
    [
        "boats of the trip right after it",  # An occasion of its own.
        "boats on a later trip with a tent",
        "boats that look older",  # Nothing is looked for again, so it is the boats that are old.
        "boats of the day with the kite",
    ],
)
def test_what_tells_of_an_occasion_or_a_look_stays(text: str) -> None:
    assert without_other_times(text) == (text, "")


def test_a_word_for_a_time_alone_counts_where_a_thing_is_pointed_at() -> None:
    assert without_other_times("the guitar in older pictures") == ("the guitar", "before")


def test_a_request_is_split_without_them() -> None:
    found = split("Show me the guitar from the day we saw a snowman, from any later time.")
    assert found.when == "after" and "later" not in f"{found.target} {found.occasion} {found.thing}"
