"""Pictures that queries show: found in the corpus, or kept apart from it."""

from __future__ import annotations

from dataclasses import replace

from sightline.types import Benchmark, Group, Picture, PictureRef, Scope, Task

CORPUS = "corpus"
"""The group of the pictures that may be returned, where queries show others."""


class QueryPictures:
    """Turns the pictures of queries into references, and adds those that the corpus does not have to `pictures`."""

    def __init__(self, pictures: dict[str, Picture]) -> None:
        self._pictures = pictures
        self._corpus = tuple(pictures)
        self._known: dict[str, str] | None = None

    def ref(self, picture: Picture) -> PictureRef:
        """The same picture of the corpus (by its content, else by its address), or this one as a new one."""
        if self._known is None:
            self._known = {_identity(known): name for name, known in self._pictures.items()}
        name = self._known.get(_identity(picture))
        if name is None:
            name = picture.id if picture.id not in self._pictures else f"queries/{picture.id}"
            self._pictures[name] = replace(picture, id=name)
            self._known[_identity(picture)] = name
        return PictureRef(name)

    def keep_apart(self, benchmark: Benchmark) -> Benchmark:
        """The benchmark in which a picture that only a query shows can't be an answer."""
        if len(self._corpus) == len(self._pictures):
            return benchmark
        corpus = replace(benchmark.corpus, groups=(Group(CORPUS, "dataset", self._corpus),))
        tasks = {name: _within_corpus(task) for name, task in benchmark.tasks.items()}
        return replace(benchmark, corpus=corpus, tasks=tasks)


def _identity(picture: Picture) -> str:
    return picture.sha256 or picture.uri


def _within_corpus(task: Task) -> Task:
    return task if task.scope != Scope() else replace(task, scope=Scope(groups=(CORPUS,)))
