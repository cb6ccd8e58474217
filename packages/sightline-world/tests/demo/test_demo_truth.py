"""What queries are true of by exact scenes, and labels held against it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from sightline.types import Benchmark, Box, Corpus, Picture, Relevance, Task
from sightline_world.demo.results import Exact, audit_by_truth, by_truth, exact_truth
from sightline_world.histories import read_shots, write_history
from sightline_world.scene import SceneGraph, Thing
from sightline_world.tasks.rank import AskThings, RankQuery
from sightline_world.truth import ShotTruth

DOG = Thing("t0", "dog", "brown", "medium", Box(0.2, 0.3, 0.5, 0.7))


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> list[ShotTruth]:
    folder = tmp_path_factory.mktemp("life")
    write_history(folder, seed=5, pictures=60, size=(160, 120))
    return list(read_shots(folder))


@pytest.fixture(scope="module")
def shot(shots: list[ShotTruth]) -> ShotTruth:
    return shots[0]


def seen(shot: ShotTruth, name: str, place: str, *things: Thing) -> ShotTruth:
    return replace(shot, id=name, graph=SceneGraph(place, "day", things))


def test_true_in_doubt_and_false(shot: ShotTruth) -> None:
    scenes = [
        seen(shot, "there", "beach", DOG),
        seen(shot, "hidden", "beach", replace(DOG, hidden=0.8)),
        seen(shot, "tiny", "beach", replace(DOG, box=Box(0.2, 0.3, 0.21, 0.31))),
        seen(shot, "black", "beach", replace(DOG, colour="black")),
        seen(shot, "elsewhere", "kitchen", DOG),
        seen(shot, "none", "beach"),
    ]
    found = exact_truth({"q": "a brown dog on the beach"}, scenes)["q"]
    assert found == Exact(frozenset({"there"}), frozenset({"hidden", "tiny"}))


def test_what_a_place_is_full_of_is_in_doubt(shot: ShotTruth) -> None:
    tree = replace(DOG, kind="tree", colour="green")
    scenes = [seen(shot, "wood", "forest"), seen(shot, "planted", "forest", tree), seen(shot, "dunes", "desert")]
    found = exact_truth({"q": "a tree"}, scenes)["q"]
    assert (found.true, found.doubtful) == (frozenset({"planted"}), frozenset({"wood"}))


def test_none_of_them_is_in_doubt_where_one_is_hidden(shot: ShotTruth) -> None:
    scenes = [seen(shot, "hidden", "beach", replace(DOG, hidden=0.8)), seen(shot, "empty", "beach")]
    found = exact_truth({"q": "a beach without a dog"}, scenes)["q"]
    assert (found.true, found.doubtful) == (frozenset({"empty"}), frozenset({"hidden"}))


def test_words_that_are_not_understood_leave_a_query_out(shot: ShotTruth) -> None:
    assert exact_truth({"q": "a brown dog with a xylophone"}, [seen(shot, "there", "beach", DOG)]) == {}


def test_it_agrees_with_the_world_on_what_is_asked(shots: list[ShotTruth]) -> None:
    """Grades of `world.tasks` are made by other code: the highest is for pictures of which the query is true."""
    kinds = sorted({(thing.kind, thing.colour) for shot in shots for thing in shot.graph.things})
    assert len(kinds) > 10
    for kind, colour in kinds:
        ask = RankQuery((AskThings((kind,), colour),), (), ())
        wanted = {shot.id for shot in shots if ask.grade(shot.graph) == 3}
        found = exact_truth({"q": f"{colour} {kind}"}, shots)["q"]
        assert found.true <= wanted <= found.true | found.doubtful, (kind, colour)


def benchmark(**grades: dict[str, int]) -> Benchmark:
    pictures = {name: Picture(name, f"file:///{name}", taken_at=datetime(2024, 1, 1)) for name in "abcdef"}
    tasks = {name: Task(name, "rank", (f"query {name}",)) for name in grades}
    truth = {name: Relevance(found) for name, found in grades.items()}
    return Benchmark("made", Corpus("made", pictures), tasks, truth)


def test_precision_and_recall_of_labels() -> None:
    made = benchmark(one={"a": 1, "b": 1, "c": 0, "d": 1}, two={"a": 0, "b": 0}, three={"a": 1})
    exact = {
        "one": Exact(frozenset({"a", "c", "e"}), frozenset({"d"})),
        "two": Exact(frozenset({"f"}), frozenset()),
    }
    found = audit_by_truth(made, exact)
    assert (found.queries, found.labels, found.doubtful, found.not_understood) == (2, 6, 1, ("three",))
    assert found.precision.mean == pytest.approx(1 / 2) and found.precision.n == 2
    assert found.recall.mean == pytest.approx(1 / 4) and found.recall_in_pools.mean == pytest.approx(1 / 2)
    assert found.right.mean == pytest.approx(3 / 5) and found.right.low < 3 / 5 < found.right.high


def test_the_same_queries_by_the_truth() -> None:
    made = benchmark(one={"a": 1, "b": 1}, two={"a": 1})
    found = by_truth(made, {"one": Exact(frozenset({"c"}), frozenset({"d"}))})
    assert found.truth == {"one": Relevance({"a": 0, "b": 0, "c": 1, "e": 0, "f": 0})}
    assert list(found.tasks) == ["one"]
