"""Baselines that never look at a picture: words against words, chance, and the commonest answer.

What one of them solves, a benchmark does not test. `by` says what is looked at: `captions`, `tags`, `names` (of files),
`exif` (when, where, with what), `all` of these; everything but content, by a model that is fitted on the truth of other
queries and pictures: `learned`; or nothing at all: `random`, `majority`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from sightline.class_names import known_as
from sightline.errors import UserError
from sightline.metrics.scope import Scopes
from sightline.retrieval.bm25 import query_words
from sightline.runs.blind_baselines import Commonest, drawn_option, lot_of
from sightline.runs.shortcuts.facts import read_files
from sightline.runs.shortcuts.report import LearnedShortcut, learn_shortcut
from sightline.runs.systems.base import (
    Kind,
    Options,
    Outcome,
    System,
    SystemSetting,
    as_prediction,
    attempt_number,
    lacking_words,
    own_pictures,
    words_of_task,
)
from sightline.runs.word_ranker import Source, WordRanker, told
from sightline.types import Benchmark, Failure, LedgerEntry, Task, TaskKind
from sightline.types.task import FINDING

_FORMS: dict[str, frozenset[TaskKind]] = {
    "random": FINDING | {"choose"},
    "majority": frozenset(("choose", "answer")),
}


class BlindOptions(Options):
    """What is looked at, how far down a ranking goes, and how select tasks are answered (as for `retriever`)."""

    by: Source = "all"
    k: Annotated[int, Field(ge=1)] = 100
    select: Literal["ranking"] | Annotated[int, Field(ge=1)] = "ranking"
    language: str | None = None


@known_as("BlindWords")
class BlindWords:
    """The query's words against words about the pictures, by BM25; every other picture is left out."""

    kinds = FINDING

    def __init__(self, options: BlindOptions, setting: SystemSetting) -> None:
        self._options = options
        self._scopes = Scopes(setting.benchmark.corpus)
        rows = list(told(setting.benchmark, options.by))
        if setting.hides_texts and not any(words.strip() for _, words in rows):
            raise UserError(
                f"All {options.by} of this benchmark were written by a model while it was made, and systems do not "
                "see them.",
                "Run with --show-annotations (show_annotations=True) to show them, or choose names, exif or learned.",
            )
        asked = {task.id: words_of_task(task, options.language) for task in setting.benchmark.tasks.values()}
        self._words = WordRanker(rows, {id_: text for id_, text in asked.items() if isinstance(text, str)})
        self.notes = list(_little_to_search(options.by, rows, setting))

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome | Failure:
        """The pictures within the scope that share words with the query."""
        text = words_of_task(task, self._options.language)
        if isinstance(text, Failure):
            return text
        if not query_words(text):
            return Failure("empty-query", "the task has no words")
        found = await asyncio.to_thread(self._words, task.id, self._scopes.pictures(task.scope), self._options.k)
        return Outcome(as_prediction(task, found, self._options.select), usd=0.0)


def _little_to_search(by: Source, rows: Iterable[tuple[str, str]], setting: SystemSetting) -> Iterator[str]:
    if not any(words.strip() for _, words in rows):
        yield f"no picture has words to search in (by={by}): nothing is found"
    elif by == "all" and (lack := lacking_words(setting)) is not None:
        yield f"{lack}: only file names, dates and devices are searched"


@known_as("BlindChance")
class BlindChance:
    """Pictures or an option by lot; another lot for each attempt."""

    kinds = _FORMS["random"]

    def __init__(self, options: BlindOptions, setting: SystemSetting) -> None:
        self._options, self._seed = options, setting.seed
        self._every = sorted(setting.benchmark.corpus.pictures)
        self._scopes = Scopes(setting.benchmark.corpus)

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome:
        """Drawn with the seed, the task's id and the number of the attempt."""
        lot = lot_of(self._seed, task, attempt_number())
        if task.kind == "choose":
            return Outcome(drawn_option(task, lot), usd=0.0)
        allowed = self._scopes.pictures(task.scope)
        pictures = self._every if allowed is None else sorted(allowed)
        drawn = [(picture, 0.0) for picture in lot.sample(pictures, min(self._options.k, len(pictures)))]
        return Outcome(as_prediction(task, drawn, self._options.select, scored=False), usd=0.0)


@known_as("BlindMajority")
class BlindMajority:
    """The answer that is right most often on all *other* tasks of the kind; of equal ones, the first in order."""

    kinds = _FORMS["majority"]

    def __init__(self, options: BlindOptions, setting: SystemSetting) -> None:
        self._commonest = Commonest(setting.truth)

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome:
        """The commonest option or answer."""
        return Outcome(self._commonest.said(task), usd=0.0)


@known_as("BlindLearned")
class BlindLearned:
    """Ranks by size, bytes, names, order, source, numbers and text columns, as it learned from other queries.

    Each query and picture is scored by models that saw neither.
    """

    kinds = FINDING

    def __init__(self, options: BlindOptions, setting: SystemSetting) -> None:
        self._options, self._setting = options, setting
        self._scopes = Scopes(setting.benchmark.corpus)
        self._model: LearnedShortcut | None = None

    def prepare(self) -> Iterable[LedgerEntry]:
        """Read the files and fit the models."""
        setting = self._setting
        files = read_files(setting.benchmark.corpus.pictures, setting.base, setting.session.config)
        self._model = learn_shortcut(replace(setting.benchmark, truth=setting.truth), files, setting.seed)
        return ()

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome | Failure:
        """All pictures within the scope, the likeliest first."""
        assert self._model is not None  # `prepare` comes first.
        ranker, k = self._model.ranker, self._options.k
        if ranker is None:
            return Failure("not-enough-data", self._model.report.unmeasured or "")
        own, allowed = own_pictures(task, allowed=False), self._scopes.pictures(task.scope)
        found = await asyncio.to_thread(ranker, task, allowed, k + len(own))
        shown = [pair for pair in found if pair[0] not in own][:k]
        return Outcome(as_prediction(task, shown, self._options.select), usd=0.0)


def _open(options: BlindOptions, setting: SystemSetting) -> System:
    if options.by == "random":
        return BlindChance(options, setting)
    if options.by == "learned":
        return BlindLearned(options, setting)
    return BlindMajority(options, setting) if options.by == "majority" else BlindWords(options, setting)


KINDS = {"blind": Kind("blind", "baselines that never look at a picture", BlindOptions, _open)}
