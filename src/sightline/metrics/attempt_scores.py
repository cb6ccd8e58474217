"""Every metric on every attempt at every task: what each metric is given, and which tasks it leaves out.

Tasks with nothing to find: sets can be right about them, since an empty answer is right (1) and any other is wrong (0).
A ranking can't, whatever it says, so metrics over rankings leave them out, and whoever shows a mean says how many were.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sightline.metrics import registry
from sightline.metrics.context import Context
from sightline.metrics.ranked_batch import RankedBatch, batch_of
from sightline.metrics.ranked_formula import TaskMetric
from sightline.metrics.registry import Metric
from sightline.metrics.scope import Scopes
from sightline.metrics.scores import Status
from sightline.metrics.text_metric import TextMetric, references_with
from sightline.types import (
    Answer,
    Benchmark,
    Choice,
    Failure,
    PictureSet,
    Prediction,
    Ranking,
    Relevance,
    Task,
    TaskKind,
    Text,
    Trace,
    Traces,
    Truth,
)
from sightline.types.truth import grades_of

# CIDEr looks at n-grams of up to four words.
_LONGEST = 4
Values: TypeAlias = dict[str, float | None]
WRONG_FORM = "wrong-form"
MISSING = "missing"
_FORMS: Mapping[TaskKind, tuple[type, ...]] = {
    "rank": (Ranking, PictureSet),
    "select": (PictureSet, Ranking),
    "answer": (Text, Trace),
    "choose": (Choice, Text, Trace),
    "describe": (Trace, Text),
}


class Contexts:
    """The given context with the task, its scope and, for texts, the word frequencies of all references."""

    def __init__(self, benchmark: Benchmark, given: Context, metrics: Iterable[str]) -> None:
        self._given = given
        self._truth = benchmark.truth
        self._scopes = Scopes(benchmark.corpus)
        self._order = _LONGEST if any(registry.parse_name(name).base == "cider" for name in metrics) else 1
        self._by_part: dict[str, Context] = {}

    def of(self, task: Task, metric: Metric) -> Context:
        """The context of one metric for one task."""
        given = self.of_texts(metric) if isinstance(metric, TextMetric) else self._given
        return replace(given, task=task, scope=self.scope(task))

    def of_texts(self, metric: TextMetric) -> Context:
        """The context of a text metric, whatever the task: frequencies are those of the part that it looks at."""
        if self._given.idf is not None:
            return self._given
        if metric.part not in self._by_part:
            from sightline.metrics.text.bag_of_words import document_frequencies

            texts = [references_with(truth, metric.part) for truth in self._truth.values() if isinstance(truth, Traces)]
            items = [item for item in texts if item]
            counted = document_frequencies(items, self._order) if items else None
            self._by_part[metric.part] = replace(self._given, idf=counted)
        return self._by_part[metric.part]

    def scope(self, task: Task) -> frozenset[str] | None:
        """The ids that may be returned for a task; None when any may."""
        return self._scopes.pictures(task.scope)


def has_something(truth: Truth | None, least: int = 1) -> bool:
    """Is there a picture to be found, with at least this grade? (Of an exact set every picture has grade 1.)"""
    return any(grade >= least for grade in grades_of(truth).values())


def leaves_out(metric: Metric, truth: Truth | None) -> bool:
    """Is the task left out of this metric, because there is nothing to find that the metric would count?"""
    if not isinstance(metric, TaskMetric) or not isinstance(truth, Relevance | PictureSet):
        return False
    return metric.least is not None and not has_something(truth, metric.least)


@dataclass(frozen=True, slots=True)
class Attempted:
    """A task with its truth and what was said; `prediction` None is missing, `truth` None is not known."""

    task: Task
    truth: Truth | None
    prediction: Prediction | None
    number: int = 0

    @property
    def failure(self) -> str | None:
        """Why there is no answer: the failure's kind, a form that this kind of task has no use for, or missing."""
        if self.prediction is None:
            return MISSING
        if isinstance(self.prediction, Failure):
            return self.prediction.kind
        return None if isinstance(self.prediction, _FORMS[self.task.kind]) else WRONG_FORM

    @property
    def status(self) -> Status:
        if self.prediction is None:
            return "missing"
        return "answered" if self.failure is None else "failed"


def kinds_scored(name: str, present: Collection[TaskKind]) -> tuple[TaskKind, ...]:
    """The kinds of task that a metric is computed for, of those present.

    Metrics of rankings also take sets, and the other way round; where a benchmark has both, only the kind that the
    metric names first, so that no mean mixes the two.
    """
    kinds = [kind for kind in registry.kinds_of(name) if kind in present]
    found = [kind for kind in kinds if kind in ("rank", "select")]
    return tuple(kind for kind in kinds if kind not in found[1:])


def measure(attempts: Sequence[Attempted], names: Sequence[str], contexts: Contexts) -> list[Values]:
    """The values of each attempt, by metric: those for the task's kind; None where not defined, zero for a failure."""
    present = {attempt.task.kind for attempt in attempts}
    chosen = {name: (registry.metric(name), kinds_scored(name, present)) for name in names}
    ranked = _ranked(attempts, {name: metric for name, (metric, _) in chosen.items()})
    rows: list[Values] = []
    for place, attempt in enumerate(attempts):
        row: Values = {}
        for name, (metric, kinds) in chosen.items():
            if attempt.task.kind not in kinds:
                continue
            if leaves_out(metric, attempt.truth):
                row[name] = None
            elif name in ranked and place in ranked[name]:
                row[name] = ranked[name][place]
            else:
                row[name] = _value(metric, attempt, contexts)
        rows.append(row)
    return rows


def _value(metric: Metric, attempt: Attempted, contexts: Contexts) -> float | None:
    if attempt.truth is None:
        return None
    context = contexts.of(attempt.task, metric)
    if attempt.failure is None and attempt.prediction is not None:
        return metric(attempt.truth, attempt.prediction, context)
    # The truth as its own prediction shows whether the metric is defined for this task at all.
    return None if metric(attempt.truth, _perfect(attempt.truth), context) is None else 0.0


def _perfect(truth: Truth) -> Prediction:
    """The best that could be said."""
    match truth:
        case Relevance(grades):
            return Ranking(tuple(sorted(grades, key=lambda picture: -grades[picture])))
        case Answer(text):
            return Text(text)
        case Traces(references):
            return references[0] if references else Trace("", "")
        case PictureSet() | Choice():
            return truth


def _ranked(attempts: Sequence[Attempted], metrics: Mapping[str, Metric]) -> dict[str, dict[int, float | None]]:
    """Metrics over rankings, for all answered attempts at once: taking them one by one costs twenty times as much."""
    formulas = {name: metric.formula for name, metric in metrics.items() if isinstance(metric, TaskMetric)}
    if not formulas:
        return {}
    places = rankings(attempts)
    all_at_once = batch(attempts, places)
    return {
        name: {
            place: value if math.isfinite(value) else None
            for place, value in zip(places, compute(all_at_once).tolist(), strict=True)
        }
        for name, compute in formulas.items()
    }


def rankings(attempts: Sequence[Attempted]) -> list[int]:
    """The places of answered attempts at tasks whose truth is pictures."""
    return [
        place
        for place, attempt in enumerate(attempts)
        if attempt.failure is None and isinstance(attempt.truth, Relevance | PictureSet)
    ]


def batch(attempts: Sequence[Attempted], places: Iterable[int]) -> RankedBatch:
    """Those attempts as one batch, for ranked formulas."""
    pairs = ((attempts[place].truth, attempts[place].prediction) for place in places)
    return batch_of((truth, said) for truth, said in pairs if truth is not None and said is not None)
