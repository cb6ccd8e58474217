"""The numbers of a benchmark: each query and each picture counts once, judged pairs are columns of numbers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sightline.authoring.query_checks import word_list
from sightline.benchmark.formats.retrieval import JudgedTask
from sightline.corpus.near_duplicates import near_pairs
from sightline.errors import UserError
from sightline.types import Annotation, Benchmark, Tier
from sightline.types.truth import grades_of

Floats = NDArray[np.float64]
UNKNOWN = "unknown"
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True)
class BenchmarkNumbers:
    """What is counted; `grades` and `similarity` (NaN where there is none) have one place for each judged pair."""

    benchmark: Benchmark
    tasks: tuple[JudgedTask, ...]
    pictures: tuple[str, ...]
    query_of: NDArray[np.intp]
    picture_of: NDArray[np.intp]
    grades: NDArray[np.int64]
    similarity: Floats
    similarity_name: str
    notes: Mapping[str, Annotation]
    same_bits: int = 6

    @property
    def relevant(self) -> NDArray[np.bool_]:
        """Which judged pairs count as relevant: any grade above 0."""
        return self.grades > 0

    @cached_property
    def per_query(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """How many pictures of each query are relevant, and how many are judged."""
        many = len(self.tasks)
        return np.bincount(self.query_of[self.relevant], minlength=many), np.bincount(self.query_of, minlength=many)

    @cached_property
    def facets(self) -> Mapping[str, Mapping[str, str]]:
        """Facets and flags by name: what each picture has."""
        found: dict[str, dict[str, str]] = defaultdict(dict)
        for picture, note in self.notes.items():
            for name, value in note.facets.items():
                found[name][picture] = value
            for name, flag in note.flags.items():
                found[name][picture] = "yes" if flag else "no"
        return found

    @cached_property
    def tags(self) -> Counter[str]:
        """Pictures by tag."""
        return Counter(tag for note in self.notes.values() for tag in dict.fromkeys(note.tags))

    @cached_property
    def words(self) -> Counter[str]:
        """Pictures by word of their summary, without words that say nothing."""
        summaries = (note.summary.casefold() for note in self.notes.values() if note.summary)
        words = Counter(word for text in summaries for word in dict.fromkeys(_WORD.findall(text)))
        return Counter({word: count for word, count in words.items() if word not in word_list("common")})

    @cached_property
    def sources(self) -> Counter[str]:
        """Pictures by the data set that they come from."""
        return self._by_rights("source")

    @cached_property
    def licences(self) -> Counter[str]:
        """Pictures by licence."""
        return self._by_rights("license")

    @cached_property
    def query_words(self) -> NDArray[np.intp]:
        """Words of each query."""
        return np.array([len(task.text.split()) for task, _ in self.tasks], dtype=np.intp)

    @cached_property
    def confidence(self) -> Mapping[str, Mapping[str, float]]:
        """How sure the annotator was, by facet or flag and picture."""
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for picture, note in self.notes.items():
            for name, value in note.confidence.items():
                found[name][picture] = value
        return found

    @cached_property
    def tiers(self) -> Mapping[Tier, tuple[int, int]]:
        """Judged candidates by tier: how many, and how many of them are relevant."""
        grades = {task.id: found for task, found in self.tasks}
        judged: Counter[Tier] = Counter()
        relevant: Counter[Tier] = Counter()
        for candidate in self.benchmark.candidates:
            grade = grades.get(candidate.task, {}).get(candidate.picture)
            if grade is not None:
                judged[candidate.tier] += 1
                relevant[candidate.tier] += grade > 0
        return {tier: (count, relevant[tier]) for tier, count in judged.items()}

    @cached_property
    def duplicates(self) -> int:
        """Pairs of pictures that are the same or nearly, as far as hashes are known."""
        known = self.benchmark.corpus.pictures
        hashes = [known[id_].phash or 0 for id_ in self.pictures if id_ in known]
        return len(near_pairs(np.array(hashes, dtype=np.uint64), self.same_bits)) if hashes else 0

    @cached_property
    def repeated_queries(self) -> int:
        """Queries whose words another query has too."""
        texts = Counter(" ".join(task.text.casefold().split()) for task, _ in self.tasks)
        return sum(count - 1 for count in texts.values())

    def _by_rights(self, field: str) -> Counter[str]:
        pictures = self.benchmark.corpus.pictures.values()
        return Counter(getattr(picture.rights, field) or UNKNOWN for picture in pictures)


def count(benchmark: Benchmark, same_bits: int = 6) -> BenchmarkNumbers:
    """Count what a benchmark holds; one with no judged query has nothing to sum up."""
    tasks = tuple(_judged(benchmark))
    if not tasks:
        raise UserError(f'"{benchmark.name}" has no query with judged pictures.', "judge first: sightline make judge")
    pictures = tuple(dict.fromkeys((*benchmark.corpus.pictures, *(id_ for _, grades in tasks for id_ in grades))))
    place = {id_: number for number, id_ in enumerate(pictures)}
    scores = [_scores(task.extra) for task, _ in tasks]
    name = next((found[0] for found in scores if found[0]), "similarity_score")
    return BenchmarkNumbers(
        benchmark,
        tasks,
        pictures,
        query_of=np.repeat(np.arange(len(tasks)), [len(grades) for _, grades in tasks]),
        picture_of=np.array([place[id_] for _, grades in tasks for id_ in grades], dtype=np.intp),
        grades=np.array([grade for _, grades in tasks for grade in grades.values()], dtype=np.int64),
        similarity=_similarity(tasks, [found[1] for found in scores]),
        similarity_name=name,
        notes=_first_notes(benchmark.annotations),
        same_bits=same_bits,
    )


def _judged(benchmark: Benchmark) -> Iterable[JudgedTask]:
    for task in benchmark.tasks.values():
        if grades := grades_of(benchmark.truth.get(task.id)):
            yield JudgedTask(task, grades)


def _scores(extra: Mapping[str, object]) -> tuple[str, Mapping[str, object]]:
    found = extra.get("similarity")
    if not isinstance(found, Mapping) or not isinstance(found.get("scores"), Mapping):
        return "", {}
    return str(found.get("column") or ""), found["scores"]


def _similarity(tasks: Sequence[JudgedTask], scores: Sequence[Mapping[str, object]]) -> Floats:
    values = [
        float(value) if isinstance(value := of_task.get(id_), int | float) else np.nan
        for (_, grades), of_task in zip(tasks, scores, strict=True)
        for id_ in grades
    ]
    return np.array(values, dtype=np.float64)


def _first_notes(annotations: Iterable[Annotation]) -> dict[str, Annotation]:
    found: dict[str, Annotation] = {}
    for note in annotations:
        found.setdefault(note.picture_id, note)
    return found
