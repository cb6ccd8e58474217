"""Which of the requests that passed are taken."""

from __future__ import annotations

from mine_tools import keys
from sightline.mining.benchmark import choose
from sightline.mining.records import Draft, DraftVerdict, Logic

TENTS = Logic("same-event", keys("red kite"), keys("old tent"))


def passed(number: int, *, anchored: int = 1, targets: tuple[str, ...] = ("a1",), owner: str = "ana") -> DraftVerdict:
    draft = Draft(f"q{number}", owner, "q", TENTS, "intra-event", targets, "test", "a0", (), ())
    return DraftVerdict(draft, (), anchored=tuple(f"a{place}" for place in range(anchored)))


def chosen(verdicts: list[DraftVerdict], most: int) -> list[str]:
    return [verdict.draft.id for verdict in choose(verdicts, most)]


def test_anchors_that_are_seen_twice_come_first_and_what_is_refused_never() -> None:
    refused = DraftVerdict(passed(9, anchored=3).draft, ("metadata alone",), anchored=("a0", "a1"))
    assert chosen([passed(0), passed(1, anchored=2), refused, passed(2)], 2) == ["q1", "q0"]


def test_a_tenth_has_no_answer_and_one_of_a_few_does() -> None:
    some, none = [passed(number) for number in range(30)], [passed(100 + number, targets=()) for number in range(9)]
    for most, without in ((4, 1), (10, 1), (20, 2)):
        taken = chosen([*none, *some], most)
        assert len(taken) == most and sum(id_ in {each.draft.id for each in none} for id_ in taken) == without


def test_owners_take_turns() -> None:
    assert chosen([passed(0), passed(1), passed(2, owner="bo")], 2) == ["q0", "q2"]
