"""Who has a history that is worth mining, and how much of it is taken."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from sightline.errors import UserError
from sightline.mining.history import EVERYONE, histories
from sightline.mining.project import DISBENCH, OwnerRules
from sightline.types import Corpus, Group, Picture

RULES = OwnerRules(pictures=4, coverage=0.5, events=2, days=10, cap=100)


def corpus(events: list[int], *, apart: int = 20, placed: bool = True, owner: str | None = "ana") -> Corpus:
    """Events with so many pictures each, so many days apart."""
    pictures, groups = {}, []
    for number, size in enumerate(events):
        ids = []
        for at in range(size):
            taken = datetime(2020, 1, 1) + timedelta(days=apart * number, minutes=at)
            id_ = f"{owner}/{number}-{at}.jpg"
            pictures[id_] = Picture(id_, f"file:///{id_}", taken_at=taken, lat=1.0 if placed else None)
            ids.append(id_)
        groups.append(Group(f"event/{number}", "event", tuple(ids)))
    if owner is not None:
        groups.append(Group(f"owner/{owner}", "owner", tuple(pictures)))
    return Corpus("c", pictures, tuple(groups))


def test_whole_events_are_taken_in_order_of_time_while_they_fit() -> None:
    (history,) = histories(corpus([3, 3, 3]), OwnerRules(4, 0.5, 2, 10, cap=8))
    assert [event.id for event in history.events] == ["event/0", "event/1"]
    assert history.taken == 6 and not history.refused


@pytest.mark.parametrize(
    ("events", "apart", "placed", "reason"),
    [
        ([1, 1], 20, True, "2 pictures, fewer than 4"),
        ([3, 3], 20, False, "0% of the pictures tell when and where, less than 50%"),
        ([6], 20, True, "1 event, fewer than 2"),
        ([3, 3], 5, True, "a span of 5 days, less than 10"),
    ],
)
def test_a_history_that_lacks_something_is_refused_with_the_reason(
    events: list[int], apart: int, placed: bool, reason: str
) -> None:
    (history,) = histories(corpus(events, apart=apart, placed=placed), RULES)
    assert history.refused == reason


def test_the_numbers_of_disbench_are_a_preset() -> None:
    assert (DISBENCH.pictures, DISBENCH.coverage, DISBENCH.events, DISBENCH.days, DISBENCH.cap) == (
        2000,
        0.9,
        50,
        366,
        2000,
    )


def test_a_corpus_without_owners_is_one_history() -> None:
    (history,) = histories(corpus([3, 3], owner=None), RULES)
    assert history.owner == EVERYONE and history.taken == 6


def test_an_owner_who_is_not_there_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match='no owner "bo"'):
        histories(corpus([3, 3]), RULES, ["bo"])
    (history,) = histories(corpus([3, 3]), RULES, ["ana"])
    assert history.owner == "ana"


def test_pictures_without_a_time_belong_to_no_history() -> None:
    made = corpus([3, 3])
    stray = Picture("ana/stray.jpg", "file:///s", lat=1.0)
    everything = {**made.pictures, stray.id: stray}
    groups = [group for group in made.groups if group.kind != "owner"]
    owner = Group("owner/ana", "owner", tuple(everything))
    (history,) = histories(Corpus("c", everything, (*groups, owner)), RULES)
    assert stray.id not in {picture.id for picture in history}
    assert history.coverage == pytest.approx(6 / 7)


def test_a_cap_that_leaves_no_history_refuses_it() -> None:
    (history,) = histories(corpus([5, 5]), OwnerRules(4, 0.5, 2, 10, cap=6))
    assert history.refused == "1 event from the first on fit into 6 pictures"


def test_a_history_of_some_pictures_alone_leaves_out_events_that_have_none() -> None:
    (history,) = histories(corpus([2, 2]), RULES)
    assert [picture.id for picture in history.only({"ana/1-0.jpg"})] == ["ana/1-0.jpg"]
    assert [event.id for event in history.only({"ana/1-0.jpg"}).events] == ["event/1"]
