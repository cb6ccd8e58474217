"""Reviews: what is asked next, how decisions are kept and taken back, agreement, and what the card says of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline import bench
from sightline.io import read_json
from sightline.make.audit.reviews import label_quality, standing
from sightline.types import Benchmark, Candidate, Corpus, Picture, Relevance, Review, Task
from sightline.web.library import Library, Shelf
from sightline.web.reviewing import (
    Book,
    agreements,
    labels_of,
    quality,
    queue_for,
    sample_of,
    standing_of,
    votes_of,
)

PICTURES = tuple(f"p{number}" for number in range(8))


def benchmark(tasks: int = 3) -> Benchmark:
    names = [f"t{number}" for number in range(tasks)]
    grades = {picture: int(place < 3) for place, picture in enumerate(PICTURES)}
    tiers = ("seed", "positive", "positive", "hard", "hard", "easy", "easy", "easy")
    return Benchmark(
        "small",
        Corpus("small", {id_: Picture(id_, f"https://example.org/{id_}.jpg") for id_ in PICTURES}),
        {name: Task(name, "rank", (f"query {name}",)) for name in names},
        {name: Relevance(grades) for name in names},
        candidates=tuple(
            Candidate(name, picture, tier)  # type: ignore[arg-type]
            for name in names
            for picture, tier in zip(PICTURES, tiers, strict=True)
        ),
    )


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    bench.write(benchmark(), tmp_path / "bench")
    found = Library((tmp_path,), None).shelf("bench")
    assert found is not None
    return found


def test_the_queue_goes_from_conflicts_to_what_one_saw_to_what_nobody_saw() -> None:
    sample = [("t", "a"), ("t", "b"), ("t", "c"), ("t", "d")]
    votes = {
        ("t", "b"): {"ana": True},
        ("t", "c"): {"ana": True, "ben": False},
        ("t", "d"): {"ana": True, "ben": True},
    }
    assert queue_for("eva", sample, votes) == [("t", "c"), ("t", "b"), ("t", "a")]
    assert queue_for("ana", sample, votes) == [("t", "a")]
    state = standing_of("ana", sample, votes)
    assert (state.labels, state.settled, state.conflicts, state.mine) == (4, 1, (("t", "c"),), 3)
    votes[("t", "c")] = {"ana": True, "ben": False, "eva": True}
    assert queue_for("zoe", sample, votes) == [("t", "b"), ("t", "a")]  # The third has decided.


def test_a_sample_takes_as_many_of_each_tier_as_it_can(shelf: Shelf) -> None:
    sample = sample_of(shelf, 8)
    tiers = {(one.task, one.picture): one.tier for one in shelf.benchmark.candidates}
    drawn = [tiers[pair] for pair in sample]
    assert len(set(sample)) == 8 and {tier: drawn.count(tier) for tier in drawn} == dict.fromkeys(set(drawn), 2)
    assert sample == sample_of(shelf, 8) and sample_of(shelf, 1000) == sorted(labels_of(shelf.benchmark))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(PICTURES[:4]), st.booleans()), max_size=25))
def test_iou_is_that_of_the_two_sets(decisions: list[tuple[str, str, bool]]) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    reviews = [
        Review("t0", person, "relevant" if yes else "not relevant", at + timedelta(seconds=place), picture)
        for place, (person, picture, yes) in enumerate(decisions)
    ]
    last = {(person, picture): yes for person, picture, yes in decisions}
    both = [picture for picture in PICTURES if ("a", picture) in last and ("b", picture) in last]
    mine = {picture for picture in both if last["a", picture]}
    theirs = {picture for picture in both if last["b", picture]}
    found = agreements(votes_of(reviews, {}))
    if not both:
        assert found == []
        return
    (one,) = found
    assert one.iou.mean == (len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0)
    assert {picture for _, picture in one.conflicts} == mine ^ theirs and one.labels == len(both)


def test_decisions_are_lines_that_are_never_deleted(shelf: Shelf) -> None:
    book, path = Book(), shelf.folder / "reviews.jsonl"
    book.decide(shelf, "ana", "t0", "p0", "accept")
    book.decide(shelf, "ana", "t0", "p5", "2")
    before = path.read_bytes()
    taken = book.undo(shelf, "ana")
    assert taken is not None and taken.picture == "p5"
    assert path.read_bytes().startswith(before)
    lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert [line["decision"] for line in lines] == ["accept", "2", "withdraw"]
    assert all(line["person"] == "ana" and datetime.fromisoformat(line["when"]).tzinfo for line in lines)
    assert [review.picture for review in standing(book.read(shelf.folder))] == ["p0"]
    assert book.undo(shelf, "ben") is None
    assert book.undo(shelf, "ana") is not None and book.undo(shelf, "ana") is None
    assert len(path.read_bytes().splitlines()) == 4


def test_a_half_line_that_a_kill_left_costs_only_itself(shelf: Shelf) -> None:
    book, path = Book(), shelf.folder / "reviews.jsonl"
    book.decide(shelf, "ana", "t0", "p0", "accept")
    with path.open("ab") as file:
        file.write(b'{"task": "t0", "pict')
    assert len(book.read(shelf.folder)) == 1
    book.decide(shelf, "ana", "t0", "p1", "reject")
    assert [review.picture for review in book.read(shelf.folder)] == ["p0", "p1"]


def test_the_card_says_what_the_audit_would(shelf: Shelf) -> None:
    book = Book()
    for task in ("t0", "t1", "t2"):
        for picture, decision in (("p0", "accept"), ("p1", "3"), ("p4", "1"), ("p6", "0")):
            book.decide(shelf, "ana", task, picture, decision)
    again = bench.read(shelf.folder)
    found = label_quality(again)
    assert found is not None and found.checked == 12 and 0 < found.right.mean < 1
    card = read_json(shelf.folder / "benchmark.json")["card"]["audit"]
    assert card["labels_checked"] == 12 and card["label_quality"]["mean"] == pytest.approx(found.right.mean)
    assert bench.validate(shelf.folder) == ()  # The checksum of what has grown is right, too.
    book.undo(shelf, "ana")
    assert read_json(shelf.folder / "benchmark.json")["card"]["audit"]["labels_checked"] == 11


def test_a_withdrawn_decision_counts_for_nothing() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    said = [Review("t0", "ana", "reject", at, "p0"), Review("t0", "ana", "accept", at + timedelta(1), "p0")]
    back = Review("t0", "ana", "withdraw", at + timedelta(2), "p0")
    other = Review("t0", "ben", "withdraw", at + timedelta(3), "p0")
    small = benchmark()
    wrong = label_quality(replace(small, reviews=(*said, back, other)))
    assert wrong is not None and wrong.right.mean == 0.0 and wrong.unread == {}  # The first one counts again.
    assert label_quality(replace(small, reviews=(*said, back, replace(back, when=at + timedelta(4))))) is None


def test_sets_can_be_reviewed_too(shelf: Shelf) -> None:
    assert quality(shelf, ()) is None
    assert len(labels_of(shelf.benchmark)) == 24
