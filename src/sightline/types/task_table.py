"""The tasks of a benchmark by id, in order: take some with `tasks[:5]`; a notebook shows them with their pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, SupportsIndex, overload

from sightline.display import Frames, NoRowError, Thumbnail, html_table, pictures, place_of
from sightline.english import counted
from sightline.errors import did_you_mean
from sightline.io.files import picture_path
from sightline.markup import Markup, join, tag
from sightline.plain_text import short, text_table
from sightline.types.corpus import Picture
from sightline.types.task import Task
from sightline.types.truth import Answer, Choice, PictureSet, Relevance, Traces, Truth, relevant_pictures

_PICTURES, _TASKS, _WORDS = 5, 10, 300


class Tasks(dict[str, Task], Frames):
    """Tasks by id: `tasks["q1"]` is one, `tasks[0]` the first, `tasks[:5]` are the first five.

    Iterating gives ids, as with any mapping.
    """

    def __init__(
        self,
        tasks: Mapping[str, Task] | Iterable[tuple[str, Task]] = (),
        truth: Mapping[str, Truth] | None = None,
        corpus: Mapping[str, Picture] | None = None,
        folder: Path | None = None,
    ) -> None:
        super().__init__(tasks)
        self._truth, self._corpus, self._folder = truth or {}, corpus or {}, folder

    @overload
    def __getitem__(self, key: str | SupportsIndex, /) -> Task: ...
    @overload
    def __getitem__(self, key: slice, /) -> Tasks: ...
    def __getitem__(self, key: str | SupportsIndex | slice, /) -> Task | Tasks:
        if isinstance(key, str):
            return super().__getitem__(key)
        if not isinstance(key, slice):
            return super().__getitem__(list(self)[place_of(key, len(self))])
        names = list(self)[key]
        return Tasks({name: self[name] for name in names}, self._truth, self._corpus, self._folder)

    def __missing__(self, key: str) -> Task:
        usual = f"Give the id of one of the {counted(len(self), 'task')}, or its place from 0 on."
        raise NoRowError(f'There is no task "{key}".', did_you_mean(key, self, usual))

    __repr__ = Frames.__repr__

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each task: its words, its pictures, what is true of it, and its labels."""
        labels = sorted({label for task in self.values() for label in task.labels})
        return [
            {
                "task": task.id,
                "kind": task.kind,
                "text": task.text,
                "pictures": [one.id for one in task.pictures],
                "truth": truth_text(self._truth.get(task.id)),
                **{f"label:{label}": "|".join(task.labels.get(label, ())) for label in labels},
            }
            for task in self.values()
        ]

    def __str__(self) -> str:
        rows = [
            (task.id, task.kind, short(task.text, 80), truth_text(self._truth.get(task.id))) for task in self._some()
        ]
        more = f"\n  … and {counted(len(self) - _TASKS, 'more task')}" if len(self) > _TASKS else ""
        return text_table(("task", "kind", "text", "truth"), rows) + more

    def _some(self) -> Iterable[Task]:
        return islice(self.values(), _TASKS)

    def _line(self) -> str:
        return counted(len(self), "task")

    def _blocks(self) -> Iterable[str]:
        rows = [(task.id, task.kind, self._words(task), self._answer(task)) for task in self._some()]
        if rows:
            yield html_table(("task", "kind", "what is asked", "what is true"), rows)
        if len(self) > _TASKS:
            yield f"… and {counted(len(self) - _TASKS, 'more task')}"

    def _words(self, task: Task) -> Markup:
        options = [join([tag("br"), f"{option.key}. {short(option.text, 80)}"]) for option in task.options]
        return join([short(task.text, _WORDS), *options, *self._shown(one.id for one in task.pictures)])

    def _answer(self, task: Task) -> Markup:
        truth = self._truth.get(task.id)
        return join([truth_text(truth), *self._shown(relevant_pictures(truth))])

    def _shown(self, names: Iterable[str]) -> list[Markup]:
        """The first pictures of those that are in the corpus; where no file is at hand, nothing."""
        found = [
            thumbnail_of(self._corpus[name], self._folder) for name in islice(names, _PICTURES) if name in self._corpus
        ]
        return [pictures(found, small=True)] if any(one.source is not None for one in found) else []


def thumbnail_of(picture: Picture, folder: Path | None = None, lines: Sequence[str] = ()) -> Thumbnail:
    """A picture as a notebook shows it; relative addresses start at `folder`."""
    path = picture_path(picture.uri, folder or Path())
    return Thumbnail(path if path is not None and path.is_file() else None, picture.id, lines)


def truth_text(truth: Truth | None) -> str:
    """What is true of a task, in a few words."""
    match truth:
        case Relevance() | PictureSet():
            return counted(len(relevant_pictures(truth)), "relevant picture")
        case Answer():
            return short(truth.text, 80)
        case Choice():
            return truth.option or "–"
        case Traces():
            return counted(len(truth.references), "reference")
    return "–"
