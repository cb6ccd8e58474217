"""Which pictures become queries."""

from __future__ import annotations

import numpy as np
import pytest

from make_tools import notes
from sightline.authoring.plan import choose_seeds
from sightline.authoring.plan_table import PictureFingerprint, PictureTable
from sightline.types import Annotation


def chosen(table: PictureTable, count: int, how: str = "diverse", seed: int = 0) -> list[str]:
    return [query.seeds[0] for query in choose_seeds(table, count, how, seed)]  # type: ignore[arg-type]


def covered(found: list[Annotation], ids: list[str]) -> int:
    by_id = {note.picture_id: note for note in found}
    return len({value for id_ in ids for value in (*by_id[id_].tags, *by_id[id_].facets.items())})


def test_diverse_seeds_cover_more_than_others() -> None:
    found = notes(500, vocabulary=200)
    table = PictureTable(found)
    diverse = covered(found, chosen(table, 12))
    for how in ("even", "random"):
        assert diverse > 1.15 * covered(found, chosen(table, 12, how))


def test_a_rare_group_is_covered_early() -> None:
    common = [Annotation(f"a{number:03}", tags=("car", "street", f"c{number % 7}")) for number in range(200)]
    rare = [Annotation(f"z{number}", tags=("whale", "sea")) for number in range(3)]
    assert any(id_.startswith("z") for id_ in chosen(PictureTable([*common, *rare]), 5))


def test_vectors_alone_are_spread_out() -> None:
    found = [Annotation(f"{number:02}") for number in range(40)]
    vectors = {note.picture_id: np.eye(4, dtype=np.float32)[at % 4] for at, note in enumerate(found)}
    seeds = chosen(PictureTable(found, vectors=vectors), 4)
    assert {int(seed) % 4 for seed in seeds} == {0, 1, 2, 3}


@pytest.mark.parametrize("how", ["diverse", "even", "random"])
def test_no_two_seeds_look_the_same(how: str) -> None:
    found = notes(40)
    looks = {note.picture_id: PictureFingerprint(group=f"burst/{at // 10}") for at, note in enumerate(found)}
    seeds = chosen(PictureTable(found, looks=looks), 10, how)
    assert sorted(int(seed[:4]) // 10 for seed in seeds) == [0, 1, 2, 3]


@pytest.mark.parametrize("how", ["diverse", "even", "random"])
def test_seeds_are_repeatable_and_as_many_as_wanted(how: str) -> None:
    table = PictureTable(notes(120))
    seeds = chosen(table, 25, how, 0)
    assert seeds == chosen(table, 25, how, 0)
    assert len(set(seeds)) == 25
    assert len(chosen(table, 500, how)) == 120


def test_even_seeds_are_those_of_benchmaker_and_random_ones_depend_on_the_seed() -> None:
    table = PictureTable(notes(100))
    assert chosen(table, 7, "even") == [f"{number * 100 // 7:04}.jpg" for number in range(7)]
    assert chosen(table, 7, "random", 0) != chosen(table, 7, "random", 42)
    assert [query.id for query in choose_seeds(table, 2)] == ["query_001", "query_002"]
