from __future__ import annotations

from typing import Any

import pytest

from sightline.errors import UserError
from sightline.metrics.clusters import cluster_tasks
from sightline.types import Benchmark, Corpus, Group, PictureRef, PictureSet, Relevance, Scope, Task, Truth


def benchmark(tasks: list[Task], truth: dict[str, Truth] | None = None, groups: tuple[Group, ...] = ()) -> Benchmark:
    return Benchmark("b", Corpus("c", {}, groups), {task.id: task for task in tasks}, truth or {})


def select(name: str, **more: Any) -> Task:
    return Task(name, "select", ("find",), **more)


def partition(of: dict[str, str]) -> set[frozenset[str]]:
    return {frozenset(task for task in of if of[task] == cluster) for cluster in of.values()}


def events(*pictures: str, kind: str = "event") -> tuple[Group, ...]:
    return tuple(Group(f"{kind}{number}", kind, tuple(each)) for number, each in enumerate(pictures))  # type: ignore[arg-type]


def test_owners_of_scopes_and_labels_come_first() -> None:
    tasks = [select(f"t{i}", scope=Scope(owner=f"o{i % 7}")) for i in range(20)]
    tasks += [select("labelled", labels={"owner": ("o0",)}), select("alone")]
    found = cluster_tasks(benchmark(tasks))
    assert found is not None
    assert (found.by, found.few, len(set(found.of.values()))) == ("owner", False, 7)
    assert found.of["labelled"] == found.of["t0"] == found.of["t7"]
    assert "alone" not in found.of


def test_few_owners_give_way_to_events() -> None:
    truth: dict[str, Truth] = {f"t{i}": PictureSet((f"p{i // 2}",)) for i in range(16)}
    tasks = [select(name, scope=Scope(owner="ab"[i % 2])) for i, name in enumerate(truth)]
    by_event = cluster_tasks(benchmark(tasks, truth, events(*([f"p{i}"] for i in range(8)))))  # type: ignore[arg-type]
    assert by_event is not None
    assert (by_event.by, by_event.few, len(set(by_event.of.values()))) == ("event", False, 8)
    by_owner = cluster_tasks(benchmark(tasks, truth))
    assert by_owner is not None
    assert (by_owner.by, by_owner.few) == ("owner", True)


def test_a_task_that_touches_several_groups_joins_them() -> None:
    truth: dict[str, Truth] = {
        "a": PictureSet(("p1",)),
        "b": PictureSet(("p1", "p2")),
        "c": PictureSet(("p2",)),
        "d": PictureSet(("p3",)),
        "e": Relevance({"p3": 2, "p1": 1, "p2": 0}),
        "f": PictureSet(()),
        "g": PictureSet(("p4",)),
    }
    groups = events("1", "2", "3", "4")
    groups = tuple(Group(group.id, "event", tuple(f"p{n}" for n in group.pictures)) for group in groups)
    found = cluster_tasks(benchmark([select(name) for name in truth], truth, groups), "event")
    assert found is not None
    assert partition(dict(found.of)) == {frozenset("abc"), frozenset("de"), frozenset("g")}


def test_pictures_in_prompts_are_targets_of_tasks_that_find_nothing() -> None:
    tasks = [Task(f"t{i}", "answer", ("what is", PictureRef(f"p{i // 2}"))) for i in range(16)]
    groups = tuple(Group(f"g{i}", "burst", (f"p{i}", f"q{i}")) for i in range(8))
    found = cluster_tasks(benchmark(tasks, None, groups))
    assert found is not None
    assert (found.by, len(partition(dict(found.of)))) == ("duplicate", 8)


def test_events_that_chain_most_tasks_together_are_passed_over() -> None:
    truth: dict[str, Truth] = {f"t{i}": PictureSet(("hub", f"p{i}")) for i in range(9)}
    truth |= {"u": PictureSet(("p10",)), "v": PictureSet(("p11",))}
    groups = (Group("party", "event", ("hub",)), Group("trip", "event", ("p10",)), Group("walk", "event", ("p11",)))
    tasks = [select(name) for name in truth]
    assert cluster_tasks(benchmark(tasks, truth, groups)) is None
    explicit = cluster_tasks(benchmark(tasks, truth, groups), "event")
    assert explicit is not None
    assert explicit.by == "event"


def test_groups_that_put_nothing_together_are_none() -> None:
    truth: dict[str, Truth] = {f"t{i}": PictureSet((f"p{i}",)) for i in range(6)}
    groups = tuple(Group(f"g{i}", "event", (f"p{i}",)) for i in range(6))
    assert cluster_tasks(benchmark([select(name) for name in truth], truth, groups)) is None


def test_by_label_by_nothing_and_by_something_unknown() -> None:
    bench = benchmark([select(f"t{i}", labels={"city": (f"c{i % 3}",)}) for i in range(9)])
    found = cluster_tasks(bench, "city")
    assert found is not None
    assert (found.by, len(partition(dict(found.of)))) == ("city", 3)
    assert cluster_tasks(bench, None) is None
    assert cluster_tasks(bench) is None
    with pytest.raises(UserError, match=r"country.*\n.*city"):
        cluster_tasks(bench, "country")


def test_one_cluster_asked_for_by_name_is_refused() -> None:
    with pytest.raises(UserError, match="one cluster"):
        cluster_tasks(benchmark([select(f"t{i}", scope=Scope(owner="o")) for i in range(4)]), "owner")
