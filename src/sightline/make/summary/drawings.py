"""The charts of a benchmark, chosen by what it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sightline.make.summary.drawing import (
    Bar,
    Bars,
    Box,
    Boxes,
    Curves,
    Drawing,
    Floats,
    Shares,
    binned,
    box_of,
    curve_of,
)
from sightline.make.summary.numbers import Numbers
from sightline.score.statistics.intervals import wilson
from sightline.types import Estimate

_MOST_BARS = 12
_MOST_TAGS = 30
_MOST_QUERIES = 30
_LEVEL = 0.95
_TIERS = ("seed", "positive", "neutral", "hard", "near", "easy", "random", "pooled")


@dataclass(frozen=True, slots=True)
class Charts:
    """Drawings by the part of the page that they belong to."""

    pictures: tuple[Drawing, ...] = ()
    queries: tuple[Drawing, ...] = ()
    relevance: tuple[Drawing, ...] = ()
    similarity: tuple[Drawing, ...] = ()
    confidence: tuple[Drawing, ...] = ()

    @property
    def all(self) -> tuple[Drawing, ...]:
        return (*self.pictures, *self.queries, *self.relevance, *self.similarity, *self.confidence)


def charts(numbers: Numbers) -> Charts:
    """Every chart that there is something to show in."""
    return Charts(
        tuple(_pictures(numbers)),
        tuple(_queries(numbers)),
        tuple(_relevance(numbers)),
        tuple(_similarity(numbers)),
        tuple(_confidence(numbers)),
    )


def share_of(successes: int, n: int) -> Estimate:
    """A share of judged pairs with its Wilson interval."""
    mean = successes / n
    interval = wilson(mean, n, _LEVEL)
    return Estimate(mean, interval.low, interval.high, n, 0, mean, _LEVEL, "wilson")


def _pictures(numbers: Numbers) -> Iterator[Drawing]:
    yield _bars("dataset_proportions", "Pictures by data set", numbers.sources)
    yield _bars("licence_proportions", "Pictures by licence", numbers.licences)
    for name, values in numbers.facets.items():
        yield _bars(f"image_proportions_{name}", f"Pictures by {name}", Counter(values.values()))
    if numbers.tags:
        yield _bars("top_tags", "Most frequent tags", numbers.tags, _MOST_TAGS, rest=False)
    if numbers.words:
        yield _bars("top_words", "Most frequent words of summaries", numbers.words, _MOST_TAGS, rest=False)


def _queries(numbers: Numbers) -> Iterator[Drawing]:
    relevant, judged = numbers.per_query
    lengths = {"queries": numbers.query_words.astype(float)}
    yield binned("query_relevancy_distribution", "Queries by relevant pictures", "relevant pictures",
                 {"queries": relevant.astype(float)})  # fmt: skip
    yield binned("pool_size_distribution", "Queries by judged pictures", "judged pictures",
                 {"queries": judged.astype(float)})  # fmt: skip
    yield binned("query_text_length_distribution", "Queries by length", "words", lengths)


def _relevance(numbers: Numbers) -> Iterator[Drawing]:
    grades = Counter(numbers.grades.tolist())
    total = len(numbers.grades)
    bars = [
        Bar(f"grade {grade}", grades[grade], f"{grades[grade]:,} ({grades[grade] / total:.1%})")
        for grade in sorted(grades)
    ]
    yield Bars("relevance_overview", "Judged pairs by grade", bars)
    if numbers.tiers:
        ordered = sorted(numbers.tiers.items(), key=lambda item: _TIERS.index(item[0]))
        shares = [(str(tier), share_of(relevant, judged)) for tier, (judged, relevant) in ordered]
        yield Shares("relevance_by_tier", "Relevant among judged, by tier", shares)
    for name, values in numbers.facets.items():
        rows = relevant_by(numbers, values)[:_MOST_BARS]
        if rows:
            yield Shares(f"relevance_by_{name}", f"Relevant among judged, by {name}", rows)


def relevant_by(numbers: Numbers, values: Mapping[str, str]) -> list[tuple[str, Estimate]]:
    """The share of relevant pairs for each value that pictures have, most frequent first."""
    names = sorted(set(values.values()))
    code = {name: number for number, name in enumerate(names)}
    of_picture = np.array([code.get(values.get(id_, ""), -1) for id_ in numbers.pictures], dtype=np.intp)
    codes = of_picture[numbers.picture_of]
    judged = np.bincount(codes[codes >= 0], minlength=len(names))
    relevant = np.bincount(codes[(codes >= 0) & numbers.relevant], minlength=len(names))
    order = np.argsort(-judged, kind="stable")
    return [(names[at], share_of(int(relevant[at]), int(judged[at]))) for at in order if judged[at]]


def by_relevance(numbers: Numbers, values: Floats) -> dict[str, Floats]:
    """Values of judged pairs that are known, apart for relevant and other ones."""
    known = ~np.isnan(values)
    parts = {"relevant": values[known & numbers.relevant], "not relevant": values[known & ~numbers.relevant]}
    return {name: part for name, part in parts.items() if len(part)}


def _similarity(numbers: Numbers) -> Iterator[Drawing]:
    parts, name = by_relevance(numbers, numbers.similarity), numbers.similarity_name
    if not parts:
        return
    yield binned(f"{name}_histogram", "Similarity of query and picture", name, parts)
    boxes = [box_of(label, values, series) for series, (label, values) in enumerate(parts.items())]
    yield Boxes(f"{name}_boxes", "Similarity, 5 to 95 percent", name, boxes)
    yield Curves(f"{name}_cdf", "Similarity, share at most", name, {key: curve_of(part) for key, part in parts.items()})
    yield Boxes(f"{name}_by_query", f"Similarity by query (first {_MOST_QUERIES})", name, list(_by_query(numbers)))


def _by_query(numbers: Numbers) -> Iterator[Box]:
    for number, (task, _) in enumerate(numbers.tasks[:_MOST_QUERIES]):
        here = (numbers.query_of == number) & ~np.isnan(numbers.similarity)
        for series, mask in enumerate((numbers.relevant, ~numbers.relevant)):
            if (here & mask).any():
                yield box_of(task.id, numbers.similarity[here & mask], series)


def _confidence(numbers: Numbers) -> Iterator[Drawing]:
    if not numbers.confidence:
        return
    of_name = {name: np.array(list(values.values())) for name, values in numbers.confidence.items()}
    yield binned("confidence_distribution", "Confidence of annotations", "confidence",
                 {"facets and flags": np.concatenate(list(of_name.values()))}, bins=20)  # fmt: skip
    boxes = [box_of(name, values) for name, values in of_name.items()]
    yield Boxes("confidence_by_category", "Confidence by facet and flag", "confidence", boxes)
    yield Boxes("confidence_by_category_and_relevance", "Confidence of judged pictures", "confidence",
                list(_confidence_by_relevance(numbers)))  # fmt: skip


def _confidence_by_relevance(numbers: Numbers) -> Iterator[Box]:
    """A picture is on both sides if it is relevant to one query and not to another, and once on each."""
    sides = [np.unique(numbers.picture_of[mask]) for mask in (numbers.relevant, ~numbers.relevant)]
    for name, values in numbers.confidence.items():
        for series, side in enumerate(sides):
            found = [values[id_] for id_ in (numbers.pictures[at] for at in side) if id_ in values]
            if found:
                yield box_of(name, np.array(found), series)


def _bars(name: str, title: str, counts: Counter[str], most: int = _MOST_BARS, *, rest: bool = True) -> Bars:
    """The most frequent first; with `rest`, what the others come to, and the share of each."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown, others = ordered[:most], ordered[most:]
    if others and rest:
        shown.append((f"{len(others):,} others", sum(count for _, count in others)))
    total = sum(counts.values())
    return Bars(
        name,
        title,
        [Bar(label, count, f"{count:,} ({count / total:.1%})" if rest else f"{count:,}") for label, count in shown],
    )
