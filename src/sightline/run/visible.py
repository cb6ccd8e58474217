"""What a system under test may see of a benchmark: no truth, no judgments, no labels, no hidden group."""

from __future__ import annotations

from dataclasses import replace

from sightline.score.scope import Scopes
from sightline.types import Benchmark, Scope, Task


def visible(benchmark: Benchmark) -> Benchmark:
    """The benchmark as a system sees it; a scope that names a hidden group is told by its pictures instead."""
    corpus = benchmark.corpus
    hidden = {group.id for group in corpus.groups if group.hidden}
    scopes = Scopes(corpus)
    return replace(
        benchmark,
        corpus=replace(corpus, groups=tuple(group for group in corpus.groups if not group.hidden)),
        tasks={name: _shown(task, hidden, scopes) for name, task in benchmark.tasks.items()},
        truth={},
        candidates=(),
        judgments=(),
        reviews=(),
    )


def _shown(task: Task, hidden: set[str], scopes: Scopes) -> Task:
    asked = replace(task, labels={}, extra={})  # What is known of a task may tell its answer.
    if hidden.isdisjoint(task.scope.groups):
        return asked
    allowed = scopes.pictures(task.scope)
    if allowed is None:  # It names a group that nobody knows: what can be told of it is the rest.
        known = tuple(group for group in task.scope.groups if group not in hidden)
        return replace(asked, scope=replace(task.scope, groups=known))
    return replace(asked, scope=Scope(pictures=tuple(sorted(allowed)), nowhere=not allowed))
