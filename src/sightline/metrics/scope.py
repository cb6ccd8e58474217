"""Which pictures a task may be answered with, and which it is about."""

from __future__ import annotations

from sightline.types import Benchmark, Corpus, PictureSet, Prediction, Ranking, Relevance, Scope, Task
from sightline.types.truth import grades_of


class Scopes:
    """The pictures of each scope of a corpus, worked out once for all tasks that share it."""

    def __init__(self, corpus: Corpus) -> None:
        self._owners = {group.id: frozenset(group.pictures) for group in corpus.groups_of("owner")}
        self._groups = {group.id: group.pictures for group in corpus.groups}
        self._known: dict[Scope, frozenset[str] | None] = {}

    def pictures(self, scope: Scope) -> frozenset[str] | None:
        """The ids that may be returned; None when anything may, or when the corpus doesn't say what the scope holds.

        Named groups and pictures add up; an owner narrows them to what is theirs.
        """
        if scope not in self._known:
            self._known[scope] = self._resolve(scope)
        return self._known[scope]

    def _resolve(self, scope: Scope) -> frozenset[str] | None:
        if scope.nowhere:
            return frozenset()
        if any(group not in self._groups for group in scope.groups):
            return None
        named: frozenset[str] | None = None
        if scope.groups or scope.pictures:  # A group may be empty, which is not the same as no group.
            named = frozenset(scope.pictures).union(*(self._groups[group] for group in scope.groups))
        owned = self._owners.get(scope.owner) if scope.owner is not None else None
        if owned is None or named is None:
            return named if owned is None else owned
        return owned & named


def targets(benchmark: Benchmark, task: Task) -> frozenset[str]:
    """The pictures that a task is about: those to be found (of graded ones the best), else those that it shows."""
    truth = benchmark.truth.get(task.id)
    if isinstance(truth, Relevance | PictureSet):
        grades = grades_of(truth)
        best = max(grades.values(), default=0)
        return frozenset(picture for picture, grade in grades.items() if grade == best > 0)
    return frozenset(ref.id for ref in task.shown)


def returned(prediction: Prediction) -> tuple[str, ...]:
    """The pictures that a prediction returns, each once, in order."""
    if isinstance(prediction, Ranking | PictureSet):
        return tuple(dict.fromkeys(prediction.pictures))
    return ()
