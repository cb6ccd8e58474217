"""The nouns: frozen, documented in one line, with no more logic than a property."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings

from sightline import types
from sightline.types import Benchmark, Corpus, Group, Option, Picture, PictureRef, Run, Task
from strategies import benchmarks, runs

NOUNS = [noun for name in types.__all__ if inspect.isclass(noun := getattr(types, name))]


@pytest.mark.parametrize("noun", NOUNS)
def test_a_noun_is_frozen_has_slots_and_says_what_it_is(noun: Any) -> None:
    assert dataclasses.is_dataclass(noun) and isinstance(noun, type)
    assert vars(noun)["__dataclass_params__"].frozen
    assert "__slots__" in vars(noun)
    summary = inspect.getdoc(noun) or ""
    assert summary.partition("\n")[0].endswith(".")
    assert not summary.startswith(f"{noun.__name__}(")


def test_what_is_exported_is_what_the_modules_define() -> None:
    assert len(set(types.__all__)) == len(types.__all__)
    assert all(noun.__module__.startswith("sightline.types.") for noun in NOUNS)


def test_a_noun_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Picture("a", "a").id = "b"  # type: ignore[misc]


@settings(deadline=None, max_examples=20)
@given(benchmarks(), runs())
def test_nouns_travel_between_processes(benchmark: Benchmark, run: Run) -> None:
    assert pickle.loads(pickle.dumps((benchmark, run))) == (benchmark, run)


def test_a_time_without_offset_is_marked_so() -> None:
    assert Picture("a", "a", taken_at=datetime(2024, 5, 31)).taken_at_is_naive
    assert not Picture("a", "a", taken_at=datetime(2024, 5, 31, tzinfo=UTC)).taken_at_is_naive
    assert not Picture("a", "a").taken_at_is_naive


def test_a_prompt_is_text_and_pictures_in_order() -> None:
    task = Task("q", "select", ("like ", PictureRef("a"), " but not ", PictureRef("b")))
    assert task.text == "like  but not "
    assert task.pictures == (PictureRef("a"), PictureRef("b"))
    assert Option("A", ("one ", PictureRef("a"), "two")).text == "one two"


def test_groups_by_kind_keep_their_order() -> None:
    groups = (Group("b", "owner", ()), Group("x", "event", ()), Group("a", "owner", ()))
    corpus = Corpus("c", {}, groups)
    assert corpus.groups_of("owner") == (groups[0], groups[2])
    assert corpus.groups_of("burst") == ()
