"""Which tasks belong together, so that an interval does not take them for independent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from sightline.errors import UserError
from sightline.metrics.scope import targets
from sightline.types import Benchmark, GroupKind, Task

AUTO = "auto"
# Near-duplicates are found as one or the other; both tie tasks together in the same way.
_SAME_PICTURE: tuple[GroupKind, ...] = ("duplicate", "burst")
_LEVELS: Mapping[str, tuple[GroupKind, ...]] = {
    "owner": ("owner",),
    "event": ("event",),
    "duplicate": _SAME_PICTURE,
}
# With fewer clusters no sign-flip test can reach p < 0.05: 2 / 2^5 is above it.
_ENOUGH = 6


@dataclass(frozen=True, slots=True)
class Clusters:
    """Tasks by cluster; a task that is not in `of` stands alone. `few`: too few for a test to find anything."""

    by: str
    of: Mapping[str, str]
    few: bool


def cluster_tasks(benchmark: Benchmark, by: str | None = AUTO) -> Clusters | None:
    """Clusters by `owner`, `event`, `duplicate`, another kind of group or a label; None when nothing is clustered.

    A task belongs to the owner of its scope or its `owner` label, else to every group that holds one of its target
    pictures; tasks that share a group are one cluster, transitively. `auto` takes the first of owner, event and
    duplicate that gives six clusters or more, else the first that gives two; it passes over groups of pictures that
    chain more than half of the tasks into one cluster.
    """
    if by is None:
        return None
    if by != AUTO:
        return _named(benchmark, by)
    found: list[Clusters] = []
    for level in _LEVELS:
        keys, said = _keys(benchmark, level)
        of = _join(keys)
        largest = max(Counter(of.values()).values(), default=0)
        chained = not said and largest > len(benchmark.tasks) / 2
        if largest >= 2 and not chained and _count(benchmark, of) >= 2:
            found.append(_clusters(benchmark, level, of, said))
    return next((clusters for clusters in found if not clusters.few), found[0] if found else None)


def _named(benchmark: Benchmark, by: str) -> Clusters | None:
    labels = {label for task in benchmark.tasks.values() for label in task.labels}
    known = sorted({*_LEVELS, *get_args(GroupKind), *labels})
    if by not in known:
        raise UserError(f'tasks can\'t be clustered by "{by}".', f"use auto, none or one of: {', '.join(known)}")
    keys, said = _keys(benchmark, by)
    of = _join(keys)
    if _count(benchmark, of) < 2 <= len(benchmark.tasks):
        raise UserError(f'clustering by "{by}" puts all tasks into one cluster.', "use another one, or auto")
    return _clusters(benchmark, by, of, said) if of else None


def _clusters(benchmark: Benchmark, by: str, of: Mapping[str, str], said: bool) -> Clusters:
    """Where tasks name their cluster, those that name none are of another kind and add nothing to the number."""
    count = len(set(of.values())) if said else _count(benchmark, of)
    return Clusters(by, of, count < _ENOUGH)


def _count(benchmark: Benchmark, of: Mapping[str, str]) -> int:
    return len(set(of.values())) + len(benchmark.tasks) - len(of)


def _keys(benchmark: Benchmark, by: str) -> tuple[dict[str, frozenset[str]], bool]:
    """What each task belongs to, and whether the tasks say so themselves (else their pictures do)."""
    tasks = benchmark.tasks.values()
    given = {task.id: _said(task, by) for task in tasks}
    if any(given.values()):
        return given, True
    kinds = _LEVELS.get(by, (by,))
    groups_of: dict[str, set[str]] = defaultdict(set)
    for group in benchmark.corpus.groups:
        if group.kind in kinds:
            for picture in group.pictures:
                groups_of[picture].add(group.id)
    if not groups_of:
        return {}, False
    none: set[str] = set()
    return {
        task.id: frozenset().union(*(groups_of.get(picture, none) for picture in targets(benchmark, task)))
        for task in tasks
    }, False


def _said(task: Task, by: str) -> frozenset[str]:
    """A task's own word: the owner of its scope, or its label; an event or duplicate label may be anything."""
    if by == "owner" and task.scope.owner is not None:
        return frozenset({task.scope.owner})
    if by in _LEVELS and by != "owner":
        return frozenset()
    return frozenset(task.labels.get(by, ()))


def _join(keys: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Task → name of its cluster (the first of its keys): tasks that share a key are joined, transitively."""
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        parent.setdefault(key, key)
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for shared in keys.values():
        roots = sorted({root(key) for key in shared})
        parent.update((other, roots[0]) for other in roots[1:])
    return {task: root(next(iter(shared))) for task, shared in keys.items() if shared}
