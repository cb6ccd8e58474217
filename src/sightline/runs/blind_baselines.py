"""Baselines that never look at a picture: how far each gets, and which queries it solves.

`score_blind_baselines` gives all of them for any benchmark with the metric that it is reported by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from pathlib import Path
from random import Random
from statistics import median_low
from typing import Protocol

from sightline.metrics.attempt_scores import kinds_scored
from sightline.metrics.context import Context
from sightline.metrics.evaluation import evaluate, headline_metrics
from sightline.metrics.registry import metric
from sightline.metrics.scope import Scopes
from sightline.metrics.scores import Scores
from sightline.metrics.statistics.estimates import estimate
from sightline.retrieval.bm25 import spaced
from sightline.runs.shortcuts.facts import CorpusFiles, read_files
from sightline.runs.shortcuts.report import LearnedShortcut, learn_shortcut
from sightline.runs.word_ranker import Source, WordRanker, told
from sightline.types import (
    Answer,
    Attempt,
    Benchmark,
    Choice,
    Estimate,
    Failure,
    Json,
    PictureSet,
    Prediction,
    Ranking,
    Relevance,
    Run,
    Task,
    Text,
    Truth,
)
from sightline.types.task import FINDING
from sightline.types.task_table import Tasks
from sightline.types.truth import relevant_pictures

_WORDS: tuple[Source, ...] = ("captions", "tags", "names", "exif", "all")
METADATA, LEARNED, POPULAR, RANDOM = "metadata", "learned", "majority", "random"
SHORTCUTS = frozenset({"names", "exif", METADATA, LEARNED, POPULAR})
"""What has nothing to do with the content of a picture: a query that these solve tests nothing."""
_DEPTH = 100
_SEED = 0


class BaselineRanker(Protocol):
    """Pictures for a query, best first, of those that are allowed; None for all."""

    def __call__(self, task: Task, allowed: Collection[str] | None, k: int) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True, eq=False)
class BlindRanker:
    """One baseline for tasks that find pictures; `known` are the pictures of which it knows something."""

    by: str
    rank: BaselineRanker
    known: frozenset[str]

    def judged(self, truth: Truth | None) -> Truth | None:
        """The truth without relevant pictures of which nothing is known; None where no other is left.

        What such a baseline would make of them is unknown, which is not the same as zero.
        """
        match truth:
            case Relevance(grades):
                left = {id_: grade for id_, grade in grades.items() if grade <= 0 or id_ in self.known}
                lost = relevant_pictures(truth) and not relevant_pictures(Relevance(left))
                return None if lost else Relevance(left)
            case PictureSet(pictures):
                members = tuple(id_ for id_ in pictures if id_ in self.known)
                return PictureSet(members) if members or not pictures else None
            case _:
                return truth


@dataclass(frozen=True, slots=True)
class Baseline:
    """How far one of them gets: over the whole corpus, and how many queries it solves.

    A query is solved when the baseline puts all relevant pictures of its pool before all others of it; `by_chance` is
    how many a random order would solve. `pictures` is of how many it knows something; relevant pictures of which it
    knows nothing are left out, and `unknown` are the queries that have no other.
    """

    by: str
    ndcg: Estimate
    success: Estimate
    solved: tuple[str, ...]
    by_chance: float
    pictures: int = 0
    unknown: tuple[str, ...] = ()


def blind_baselines(benchmark: Benchmark, learned: LearnedShortcut | None = None) -> tuple[Baseline, ...]:
    """All of them on rank tasks; a source that tells nothing of any picture is left out."""
    return tuple(_measured(ranker, benchmark) for ranker in blind_rankers(benchmark, learned))


def blind_rankers(benchmark: Benchmark, learned: LearnedShortcut | None = None) -> list[BlindRanker]:
    """By words of each source, by the learned model where one was fitted, by popularity, and by chance.

    Chance is one and the same draw wherever it is shown, so that a benchmark has one figure for it.
    """
    told_by: list[tuple[str, list[tuple[str, str]]]] = [(by, list(told(benchmark, by))) for by in _WORDS]
    told_by.append((METADATA, list(_metadata(benchmark))))
    found = []
    for by, rows in told_by:
        known = frozenset(id_ for id_, words in rows if words.strip())
        if known:
            found.append(BlindRanker(by, _by_words(rows, benchmark), known))
    every = frozenset(benchmark.corpus.pictures)
    if learned is not None and learned.ranker is not None:
        found.append(BlindRanker(LEARNED, _ids_of(learned.ranker), every))
    found.append(BlindRanker(POPULAR, _by_popularity(benchmark), every))
    found.append(BlindRanker(RANDOM, _by_lot(benchmark), every))
    return found


def _measured(ranker: BlindRanker, benchmark: Benchmark) -> Baseline:
    ndcg, success, context = metric("ndcg@10"), metric("success@1"), Context()
    values: tuple[list[float | None], list[float | None]] = ([], [])
    answer = _answers(ranker, benchmark)
    solved, unknown, by_chance = [], [], 0.0
    for task, truth in _ranked(benchmark):
        left, whole = ranker.judged(truth), answer(task)
        if not isinstance(left, Relevance) or not isinstance(whole, Ranking):
            unknown.append(task.id)
            continue
        for column, one in zip(values, (ndcg, success), strict=True):
            column.append(one(left, whole, context))
        relevant = set(relevant_pictures(left))
        if not relevant or len(relevant) == len(left.grades):
            continue
        first = ranker.rank(task, left.grades, len(left.grades))[: len(relevant)]
        by_chance += 1 / comb(len(left.grades), len(relevant))
        if set(first) == relevant:
            solved.append(task.id)
    ends = estimate(values[0]), estimate(values[1], proportion=True)
    return Baseline(ranker.by, *ends, tuple(solved), by_chance, len(ranker.known), tuple(unknown))


@dataclass(frozen=True, slots=True)
class BlindScore:
    """A baseline as it stands in a table: `scores` has the value of each task and the estimate over all.

    `pictures` is of how many it knows something, `unknown` are the tasks that it can't be scored on, because nothing
    is known of what they ask for; `scores` is None where that are all.
    """

    by: str
    scores: Scores | None
    pictures: int
    unknown: tuple[str, ...] = ()


def score_blind_baselines(
    benchmark: Benchmark,
    base: Path | None = None,
    *,
    metrics: Sequence[str] | None = None,
    files: CorpusFiles | None = None,
) -> dict[str, BlindScore]:
    """Every baseline that can do tasks of the benchmark, scored as a run is: by default, by the headline metrics.

    `base` is the benchmark's folder, where relative addresses of pictures begin; without it, and without `files`, the
    learned baseline knows no more of the files than the tables say.
    """
    files = files or read_files(benchmark.corpus.pictures, base)
    names = tuple(metrics or headline_metrics(benchmark))
    learned = learn_shortcut(benchmark, files)
    rankers = {ranker.by: ranker for ranker in blind_rankers(benchmark, learned)}
    if not any(task.kind in FINDING for task in benchmark.tasks.values()):
        rankers = {by: rankers[by] for by in (POPULAR, RANDOM)}
    return {by: _scored(ranker, benchmark, names) for by, ranker in rankers.items()}


def _scored(ranker: BlindRanker, benchmark: Benchmark, names: Sequence[str]) -> BlindScore:
    answer = _answers(ranker, benchmark)
    truth: dict[str, Truth] = {}
    attempts, unknown = [], []
    for task in benchmark.tasks.values():
        said, left = answer(task), ranker.judged(benchmark.truth.get(task.id))
        if said is None or (left is None and task.id in benchmark.truth):
            unknown.append(task.id)
            continue
        attempts.append(Attempt(task.id, said))
        if left is not None:
            truth[task.id] = left
    part = replace(benchmark, tasks=Tasks({one.task_id: benchmark.tasks[one.task_id] for one in attempts}), truth=truth)
    run = Run(benchmark.name, f"blind:by={ranker.by}", tuple(attempts), benchmark.checksum, seed=_SEED)
    kinds = {task.kind for task in part.tasks.values()}
    fitting = [name for name in names if kinds_scored(name, kinds)]
    scores = evaluate(part, run, fitting, seed=_SEED) if fitting else None
    return BlindScore(ranker.by, scores, len(ranker.known), tuple(unknown))


def _answers(ranker: BlindRanker, benchmark: Benchmark) -> Callable[[Task], Prediction | None]:
    """What the baseline says of a task; None for kinds of task that it does not do."""
    scopes = Scopes(benchmark.corpus)
    commonest, sizes = Commonest(benchmark.truth), _set_sizes(benchmark)

    def answer(task: Task) -> Prediction | None:
        if task.kind in FINDING:
            hidden = {ref.id for ref in task.pictures}
            k = _DEPTH if task.kind == "rank" else sizes.get(task.id, 1)
            found = ranker.rank(task, scopes.pictures(task.scope), k + len(hidden))
            shown = tuple(picture for picture in found if picture not in hidden)[:k]
            return Ranking(shown) if task.kind == "rank" else PictureSet(shown)
        if ranker.by == RANDOM and task.kind == "choose":
            return drawn_option(task, lot_of(_SEED, task))
        return commonest.said(task) if ranker.by == POPULAR and task.kind in ("choose", "answer") else None

    return answer


class Commonest:
    """The option or answer that is right most often on all *other* tasks; of equal ones, the first in order."""

    def __init__(self, truth: Mapping[str, Truth]) -> None:
        self._truth = truth
        said = truth.values()
        self._options = Counter(one.option for one in said if isinstance(one, Choice) and one.option is not None)
        self._answers = Counter(one.text for one in said if isinstance(one, Answer))

    def said(self, task: Task) -> Prediction:
        """What is right most often elsewhere."""
        own = self._truth.get(task.id)
        if task.kind == "choose":
            keys = {option.key for option in task.options}
            others = self._options - Counter([own.option] if isinstance(own, Choice) and own.option else [])
            return Choice(_first([key for key in others if key in keys], others) or min(keys, default=None))
        answers = self._answers - Counter([own.text] if isinstance(own, Answer) else [])
        text = _first(answers, answers)
        return Failure("no-truth", "no other task has an answer to go by") if text is None else Text(text)


def _first(words: Collection[str], counts: Mapping[str, int]) -> str | None:
    return min(words, key=lambda word: (-counts[word], word), default=None)


def lot_of(seed: int, task: Task, attempt: int = 0) -> Random:
    """What is drawn from for a task: the same for the baseline beside the scores and for a run of `blind:by=random`."""
    return Random(f"{seed}/{task.id}/{attempt}" if attempt or task.kind not in FINDING else f"{seed}/{task.id}")


def drawn_option(task: Task, lot: Random) -> Choice:
    """An option by lot."""
    return Choice(lot.choice([option.key for option in task.options]) if task.options else None)


def _set_sizes(benchmark: Benchmark) -> dict[str, int]:
    """How many pictures a set is guessed to have: the median over the other select tasks."""
    sizes = {id_: len(truth.pictures) for id_, truth in benchmark.truth.items() if isinstance(truth, PictureSet)}
    return {
        id_: max(1, median_low(others)) if (others := [size for other, size in sizes.items() if other != id_]) else 1
        for id_ in sizes
    }


def _ranked(benchmark: Benchmark) -> Iterator[tuple[Task, Relevance]]:
    for id_, task in benchmark.tasks.items():
        truth = benchmark.truth.get(id_)
        if isinstance(truth, Relevance):
            yield task, truth


def _by_words(rows: Sequence[tuple[str, str]], benchmark: Benchmark) -> BaselineRanker:
    ranker = WordRanker(rows, {id_: task.text for id_, task in benchmark.tasks.items()})
    return _ids_of(lambda task, allowed, k: ranker(task.id, allowed, k))


def _ids_of(
    ranker: Callable[[Task, Collection[str] | None, int], Sequence[tuple[str, float]]],
) -> BaselineRanker:
    return lambda task, allowed, k: [id_ for id_, _ in ranker(task, allowed, k)]


def _metadata(benchmark: Benchmark) -> Iterator[tuple[str, str]]:
    """Every text among what is known of a picture beside its looks."""
    for id_, picture in benchmark.corpus.pictures.items():
        rights = picture.rights
        known = (rights.source or "", rights.attribution or "", *_texts(list(picture.extra.values())))
        yield id_, spaced(" ".join(known)).replace("_", " ")


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str) and "://" not in value:
        yield value
    elif isinstance(value, list | dict):
        for item in value if isinstance(value, list) else value.values():
            yield from _texts(item)


def _by_popularity(benchmark: Benchmark) -> BaselineRanker:
    """Pictures that are relevant to most *other* queries come first."""
    own: Mapping[str, frozenset[str]] = {
        id_: frozenset(relevant_pictures(truth)) for id_, truth in benchmark.truth.items()
    }
    counts = Counter(picture for pictures in own.values() for picture in pictures)
    popular = sorted(counts, key=lambda picture: (-counts[picture], picture))

    def rank(task: Task, allowed: Collection[str] | None, k: int) -> Sequence[str]:
        mine = own.get(task.id, frozenset())
        # Its own pictures count one less, so no more than their number can move out of the first.
        known = popular[: k + len(mine)] if allowed is None else [picture for picture in allowed if picture in counts]
        scores = {picture: counts[picture] - (picture in mine) for picture in known}
        return sorted((p for p in scores if scores[p] > 0), key=lambda picture: (-scores[picture], picture))[:k]

    return rank


def _by_lot(benchmark: Benchmark) -> BaselineRanker:
    every = sorted(benchmark.corpus.pictures)

    def rank(task: Task, allowed: Collection[str] | None, k: int) -> Sequence[str]:
        pictures = every if allowed is None else sorted(allowed)
        return lot_of(_SEED, task).sample(pictures, min(k, len(pictures)))

    return rank
