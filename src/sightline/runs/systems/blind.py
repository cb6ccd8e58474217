"""Baselines that never look at a picture: words against words, chance, and the commonest answer.

What one of them solves, a benchmark does not test. `by` says what is looked at: `captions`, `tags`, `names` (of files),
`exif` (when, where, with what), `all` of these; everything but content, by a model that is fitted on the truth of other
queries and pictures: `learned`; or nothing at all: `random`, `majority`.
"""

from __future__ import annotations

import asyncio
import calendar
import sqlite3
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from random import Random
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from sightline.class_names import known_as
from sightline.errors import UserError
from sightline.metrics.scope import Scopes
from sightline.retrieval.bm25 import TOKENIZER, match_expression, query_words, words_of
from sightline.runs.systems.base import (
    Kind,
    Options,
    Outcome,
    System,
    SystemSetting,
    as_prediction,
    attempt_number,
    lacking_words,
    words_of_task,
)
from sightline.types import Annotation, Answer, Benchmark, Choice, Failure, Picture, Prediction, Task, TaskKind, Text
from sightline.types.task import FINDING

Source: TypeAlias = Literal["captions", "tags", "names", "exif", "all", "learned", "random", "majority"]
_FORMS: dict[str, frozenset[TaskKind]] = {
    "random": FINDING | {"choose"},
    "majority": frozenset(("choose", "answer")),
}
_DAY = ((6, "night"), (12, "morning"), (18, "afternoon"), (22, "evening"), (24, "night"))


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
        self._words = WordTable(rows)
        self.notes = list(_little_to_search(options.by, rows, setting))

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome | Failure:
        """The pictures within the scope that share words with the query."""
        text = words_of_task(task, self._options.language)
        if isinstance(text, Failure):
            return text
        words = query_words(text)
        if not words:
            return Failure("empty-query", "the task has no words")
        allowed = self._scopes.pictures(task.scope)
        found = await asyncio.to_thread(self._words.ranked, words, allowed, self._options.k)
        return Outcome(as_prediction(task, found, self._options.select), usd=0.0)

    async def close(self) -> None:
        self._words.close()


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
        self._every = tuple(setting.benchmark.corpus.pictures)
        self._scopes = Scopes(setting.benchmark.corpus)

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome:
        """Drawn with the seed, the task's id and the number of the attempt."""
        return Outcome(self.drawn(task), usd=0.0)

    def drawn(self, task: Task) -> Prediction:
        """What the lot says."""
        lot = Random(f"{self._seed}/{task.id}/{attempt_number()}")
        if task.kind == "choose":
            return Choice(lot.choice([option.key for option in task.options]) if task.options else None)
        allowed = self._scopes.pictures(task.scope)
        pictures = self._every if allowed is None else sorted(allowed)
        drawn = lot.sample(pictures, min(self._options.k, len(pictures)))
        return as_prediction(task, [(picture, 0.0) for picture in drawn], self._options.select, scored=False)


@known_as("BlindMajority")
class BlindMajority:
    """The answer that is right most often on all *other* tasks of the kind; of equal ones, the first in order."""

    kinds = _FORMS["majority"]

    def __init__(self, options: BlindOptions, setting: SystemSetting) -> None:
        self._truth = setting.truth
        self._options: Counter[str] = Counter()
        self._answers: Counter[str] = Counter()
        for truth in setting.truth.values():
            if isinstance(truth, Choice) and truth.option is not None:
                self._options[truth.option] += 1
            elif isinstance(truth, Answer):
                self._answers[truth.text] += 1

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome:
        """The commonest option or answer."""
        return Outcome(self.said(task), usd=0.0)

    def said(self, task: Task) -> Prediction:
        """What is right most often elsewhere."""
        own = self._truth.get(task.id)
        if task.kind == "choose":
            keys = {option.key for option in task.options}
            others = self._options - Counter([own.option] if isinstance(own, Choice) and own.option else [])
            return Choice(_commonest(others, keys))
        others = self._answers - Counter([own.text] if isinstance(own, Answer) else [])
        said = _commonest(others)
        return Failure("no-truth", "no other task has an answer to go by") if said is None else Text(said)


def _commonest(counts: Counter[str], allowed: Collection[str] | None = None) -> str | None:
    known = [word for word in counts if allowed is None or word in allowed]
    return min(known, key=lambda word: (-counts[word], word), default=min(allowed, default=None) if allowed else None)


class WordTable:
    """Words of pictures in memory, ranked by BM25; for any number of threads, one after the other."""

    def __init__(self, rows: Iterable[tuple[str, str]]) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute(f"CREATE VIRTUAL TABLE told USING fts5(id UNINDEXED, words, tokenize='{TOKENIZER}')")
        self._database.executemany("INSERT INTO told VALUES (?, ?)", rows)

    def ranked(self, words: list[str], allowed: Collection[str] | None, k: int) -> list[tuple[str, float]]:
        """The first `k` of those allowed, with scores; equal ones in order of id."""
        found: list[tuple[str, float]] = []
        with self._lock:
            query = "SELECT id, -bm25(told) AS score FROM told WHERE told MATCH ? ORDER BY score DESC, id"
            for id_, score in self._database.execute(query, (match_expression(words),)):
                if allowed is None or id_ in allowed:
                    found.append((id_, score))
                    if len(found) == k:
                        break
        return found

    def close(self) -> None:
        self._database.close()


def told(benchmark: Benchmark, by: Source) -> Iterator[tuple[str, str]]:
    """Each picture's id with the words that are looked at."""
    said = {annotation.picture_id: annotation for annotation in benchmark.annotations}
    for picture in benchmark.corpus.pictures.values():
        yield picture.id, " ".join(_words(picture, said.get(picture.id), by))


def _words(picture: Picture, said: Annotation | None, by: Source) -> Iterator[str]:
    fields = words_of(picture, said)
    if by in ("captions", "all"):
        yield from (fields.caption, fields.seen)
    if by in ("tags", "all"):
        yield from (fields.tags, fields.facets)
    if by in ("names", "all"):
        yield fields.name
    if by in ("exif", "all"):
        yield from (fields.place, picture.device or "", *_when(picture))


def _when(picture: Picture) -> Iterator[str]:
    """`2019 June Saturday evening`."""
    taken = picture.taken_at
    if taken is not None:
        part = next(name for end, name in _DAY if taken.hour < end)
        yield from (str(taken.year), calendar.month_name[taken.month], calendar.day_name[taken.weekday()], part)


def _open(options: BlindOptions, setting: SystemSetting) -> System:
    if options.by == "random":
        return BlindChance(options, setting)
    if options.by == "learned":
        from sightline.runs.systems.blind_learned import BlindLearned

        return BlindLearned(options, setting)
    return BlindMajority(options, setting) if options.by == "majority" else BlindWords(options, setting)


KINDS = {"blind": Kind("blind", "baselines that never look at a picture", BlindOptions, _open)}
