"""Splits: no picture twice, nothing that belongs together apart, and the same again after a picture is gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from make_publishing import save_picture
from sightline.authoring.dataset.selection import subset_benchmark
from sightline.authoring.dataset.splits import linked_sets, parse_splits, split_benchmark
from sightline.errors import UserError
from sightline.types import (
    Annotation,
    Benchmark,
    Candidate,
    Corpus,
    Group,
    GroupKind,
    Judgment,
    Picture,
    PictureRef,
    PictureSet,
    Relevance,
    Scope,
    Task,
    Truth,
)

NOWHERE = Path("/nowhere")
SHARES = {"train": 0.5, "dev": 0.2, "test": 0.3}


@st.composite
def benchmarks(draw: st.DrawFn) -> Benchmark:
    """Pictures with groups and hashes at random, tasks with some relevant ones."""
    count = draw(st.integers(12, 40))
    ids = [f"{number:02d}" for number in range(count)]
    hashes = draw(
        st.lists(st.sampled_from([0, *(0x0F0F << shift for shift in range(0, 48, 3))]), min_size=count, max_size=count)
    )
    pictures = {id_: Picture(id_, id_, phash=hash_) for id_, hash_ in zip(ids, hashes, strict=True)}
    kinds: tuple[GroupKind, ...] = ("event", "owner", "dataset")
    groups = tuple(
        Group(str(number), draw(st.sampled_from(kinds)), tuple(draw(st.lists(st.sampled_from(ids), max_size=4))))
        for number in range(draw(st.integers(0, 6)))
    )
    tasks, truth = {}, {}
    for number in range(draw(st.integers(6, 14))):
        judged = draw(st.lists(st.sampled_from(ids), min_size=2, max_size=8, unique=True))
        tasks[f"q{number}"] = Task(f"q{number}", "rank", ("words",))
        truth[f"q{number}"] = Relevance({id_: int(place < 2) for place, id_ in enumerate(judged)})
    return Benchmark("b", Corpus("b", pictures, groups), tasks, truth)


@given(benchmarks(), st.integers(0, 3))
@settings(deadline=None, max_examples=80)
def test_nothing_that_belongs_together_is_apart(benchmark: Benchmark, seed: int) -> None:
    try:
        found = split_benchmark(benchmark, SHARES, NOWHERE, seed=seed)
    except UserError as refused:
        assert "too few" in refused.message or "no task" in refused.message
        return
    homes = {id_: split for split, part in found.splits.items() for id_ in part.corpus.pictures}
    assert sum(len(part.corpus.pictures) for part in found.splits.values()) == len(benchmark.corpus.pictures)
    for members in linked_sets(benchmark, NOWHERE, ("duplicate", "event", "owner"), 6):
        assert len({homes[id_] for id_ in members}) == 1
    posed = [task for part in found.splits.values() for task in part.tasks]
    assert sorted([*posed, *found.lost_tasks]) == sorted(benchmark.tasks)
    pairs = 0
    for part in found.splits.values():
        for truth in part.truth.values():
            assert isinstance(truth, Relevance)
            assert set(truth.grades) <= set(part.corpus.pictures)
            assert any(truth.grades.values())
            pairs += len(truth.grades)
    whole = 0
    for task in posed:
        truth = benchmark.truth[task]
        assert isinstance(truth, Relevance)
        whole += len(truth.grades)
    assert pairs + found.lost_pairs == whole
    again = split_benchmark(benchmark, SHARES, NOWHERE, seed=seed)
    assert {split: list(part.tasks) for split, part in again.splits.items()} == {
        split: list(part.tasks) for split, part in found.splits.items()
    }


@given(benchmarks(), st.data())
@settings(deadline=None, max_examples=40)
def test_pictures_keep_their_split_when_one_is_taken_down(benchmark: Benchmark, data: st.DataObject) -> None:
    try:
        found = split_benchmark(benchmark, SHARES, NOWHERE)
        homes = {id_: split for split, part in found.splits.items() for id_ in part.corpus.pictures}
        gone = data.draw(st.sampled_from(sorted(homes)))
        rest = subset_benchmark(benchmark, frozenset(homes) - {gone}).benchmark
        again = split_benchmark(rest, SHARES, NOWHERE, before=homes)
    except UserError:
        return
    assert {id_: split for split, part in again.splits.items() for id_ in part.corpus.pictures} == {
        id_: split for id_, split in homes.items() if id_ != gone
    }


def test_shares_are_about_those_asked_for() -> None:
    pictures = {str(number): Picture(str(number), "x") for number in range(300)}
    tasks = {f"q{number}": Task(f"q{number}", "rank", ("w",)) for number in range(60)}
    truth = {
        f"q{number}": Relevance({str(number * 5 + place): int(place < 2) for place in range(5)}) for number in range(60)
    }
    found = split_benchmark(Benchmark("b", Corpus("b", pictures), tasks, truth), SHARES, NOWHERE)
    sizes = {split: len(part.corpus.pictures) for split, part in found.splits.items()}
    assert all(abs(sizes[split] - share * 300) <= 6 for split, share in SHARES.items())
    assert not found.lost_tasks
    assert found.lost_relevant == 0


def test_look_alikes_are_found_in_files_that_nobody_hashed(tmp_path: Path) -> None:
    save_picture(tmp_path / "a.jpg", 1)
    save_picture(tmp_path / "b.jpg", 1, quality=60)
    save_picture(tmp_path / "c.jpg", 2)
    pictures = {name: Picture(name, f"{name}.jpg") for name in "abc"}
    sets = linked_sets(Benchmark("b", Corpus("b", pictures), {}, {}), tmp_path, ["duplicate"], 6)
    assert sets == [("a", "b"), ("c",)]


def test_one_owner_of_everything_can_not_be_divided_and_it_is_said_how() -> None:
    pictures = {str(number): Picture(str(number), "x") for number in range(10)}
    corpus = Corpus("b", pictures, (Group("o", "owner", tuple(pictures)),))
    with pytest.raises(UserError, match="--together") as refused:
        split_benchmark(Benchmark("b", corpus, {}, {}), SHARES, NOWHERE)
    assert "owner" in str(refused.value)


@pytest.mark.parametrize("wrong", ["train=0.5", "train=x,test=0.5", "a=0.5,b=0.6", "tr ain=0.5,test=0.5", "", "a=2"])
def test_shares_that_make_no_sense_are_refused(wrong: str) -> None:
    with pytest.raises(UserError):
        parse_splits(wrong)


def test_shares_are_read() -> None:
    assert parse_splits("test") == {"test": 1.0}
    assert parse_splits(" train=0.75, test=0.25") == {"train": 0.75, "test": 0.25}


def test_a_smaller_benchmark_is_still_true() -> None:
    pictures = {id_: Picture(id_, id_) for id_ in "abcde"}
    tasks = {
        "rank": Task("rank", "rank", ("w",), extra={"similarity": {"column": "s", "scores": {"a": 1.0, "b": 2.0}}}),
        "gone": Task("gone", "rank", ("w",)),
        "shows": Task("shows", "rank", (PictureRef("a"),)),
        "set": Task("set", "select", ("w",)),
        "scoped": Task("scoped", "select", ("w",), scope=Scope(pictures=("a",))),
    }
    truth: dict[str, Truth] = {
        "rank": Relevance({"a": 1, "b": 2, "c": 0}), "gone": Relevance({"a": 1, "b": 0}), "shows": Relevance({"b": 1}),
        "set": PictureSet(("a", "b")), "scoped": PictureSet(("b",)),
    }  # fmt: skip
    benchmark = Benchmark(
        "b", Corpus("b", pictures, (Group("e", "event", ("a", "b")), Group("f", "event", ("a",)))), tasks, truth,
        annotations=(Annotation("a"), Annotation("b")), candidates=(Candidate("rank", "a", "seed"),),
        judgments=(Judgment("gone", "b", "j", 0), Judgment("rank", "b", "j", 2)),
    )  # fmt: skip
    found = subset_benchmark(benchmark, frozenset("bcde"))
    assert set(found.benchmark.tasks) == {"rank", "set"}
    assert set(found.lost_tasks) == {"gone", "shows", "scoped"}
    assert found.benchmark.truth == {"rank": Relevance({"b": 2, "c": 0}), "set": PictureSet(("b",))}
    assert found.benchmark.tasks["rank"].extra == {"similarity": {"column": "s", "scores": {"b": 2.0}}}
    assert found.benchmark.corpus.groups == (Group("e", "event", ("b",)),)
    assert found.benchmark.annotations == (Annotation("b"),)
    assert not found.benchmark.candidates
    assert found.benchmark.judgments == (Judgment("rank", "b", "j", 2),)
    assert (found.lost_pairs, found.lost_relevant) == (1, 1)
