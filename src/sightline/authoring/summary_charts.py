"""The charts of a benchmark, chosen by what it holds, before they are SVG or PNG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.authoring.summary_statistics import BenchmarkNumbers
from sightline.metrics.statistics.intervals import wilson
from sightline.types import Estimate

Floats = NDArray[np.float64]
_POINTS = 120
_AROUND = 2
_MOST_BARS = 12
_MOST_TAGS = 30
_MOST_QUERIES = 30
_LEVEL = 0.95
_TIERS = ("seed", "positive", "neutral", "hard", "near", "easy", "random", "pooled")


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A label, how long its bar is, and what is written beside it."""

    label: str
    value: float
    shown: str


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars one below the other."""

    name: str
    title: str
    bars: Sequence[ChartBar]


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many values lie between each two edges, for one series or several."""

    name: str
    title: str
    across: str
    edges: Sequence[float]
    series: Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class ChartBox:
    """Quantiles of `n` values: 5, 25, 50, 75 and 95 percent; `series` tells its colour."""

    label: str
    quantiles: tuple[float, float, float, float, float]
    n: int
    series: int = 0


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes one below the other."""

    name: str
    title: str
    across: str
    boxes: Sequence[ChartBox]


@dataclass(frozen=True, slots=True)
class Curves:
    """For each series, the share of its values that are at most x."""

    name: str
    title: str
    across: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares with their intervals."""

    name: str
    title: str
    rows: Sequence[tuple[str, Estimate]]


Chart: TypeAlias = Bars | Histogram | Boxes | Curves | Shares


def box_of(label: str, values: Floats, series: int = 0) -> ChartBox:
    """The box of these values; there must be one at least."""
    low, first, middle, third, high = (float(value) for value in np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95)))
    return ChartBox(label, (low, first, middle, third, high), len(values), series)


def curve_of(values: Floats) -> tuple[list[float], list[float]]:
    """The cumulative distribution of values, at no more points than a drawing can show."""
    ordered = np.sort(values)
    places = np.unique(np.linspace(0, len(ordered) - 1, min(_POINTS, len(ordered))).round().astype(int))
    return ordered[places].tolist(), ((places + 1) / len(ordered)).tolist()


def binned(name: str, title: str, across: str, series: Mapping[str, Floats], bins: int = 24) -> Histogram:
    """A histogram with the same edges for all series; whole numbers of a small range get a bin each."""
    together = np.concatenate(list(series.values()))
    low, high = float(together.min()), float(together.max())
    if np.array_equal(together, together.round()):
        step = max(1, int(np.ceil((high - low + 1) / bins)))
        # A few empty bins around, so that one value alone is a bar and not a wall.
        first, last = max(0.0, low - _AROUND * step) if low >= 0 else low, high + (_AROUND + 1) * step
        edges = np.arange(first, last + 0.5, step) - 0.5
    else:
        edges = np.linspace(low, high if high > low else low + 1, bins + 1)
    counts = {key: np.histogram(values, edges)[0].tolist() for key, values in series.items()}
    return Histogram(name, title, across, edges.tolist(), counts)


@dataclass(frozen=True, slots=True)
class SummaryCharts:
    """Drawings by the part of the page that they belong to."""

    pictures: tuple[Chart, ...] = ()
    queries: tuple[Chart, ...] = ()
    relevance: tuple[Chart, ...] = ()
    similarity: tuple[Chart, ...] = ()
    confidence: tuple[Chart, ...] = ()

    @property
    def all(self) -> tuple[Chart, ...]:
        return (*self.pictures, *self.queries, *self.relevance, *self.similarity, *self.confidence)


def charts(numbers: BenchmarkNumbers) -> SummaryCharts:
    """Every chart that there is something to show in."""
    return SummaryCharts(
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


def _pictures(numbers: BenchmarkNumbers) -> Iterator[Chart]:
    yield _bars("dataset_proportions", "Pictures by data set", numbers.sources)
    yield _bars("licence_proportions", "Pictures by licence", numbers.licences)
    for name, values in numbers.facets.items():
        yield _bars(f"image_proportions_{name}", f"Pictures by {name}", Counter(values.values()))
    if numbers.tags:
        yield _bars("top_tags", "Most frequent tags", numbers.tags, _MOST_TAGS, rest=False)
    if numbers.words:
        yield _bars("top_words", "Most frequent words of summaries", numbers.words, _MOST_TAGS, rest=False)


def _queries(numbers: BenchmarkNumbers) -> Iterator[Chart]:
    relevant, judged = numbers.per_query
    lengths = {"queries": numbers.query_words.astype(float)}
    yield binned("query_relevancy_distribution", "Queries by relevant pictures", "relevant pictures",
                 {"queries": relevant.astype(float)})  # fmt: skip
    yield binned("pool_size_distribution", "Queries by judged pictures", "judged pictures",
                 {"queries": judged.astype(float)})  # fmt: skip
    yield binned("query_text_length_distribution", "Queries by length", "words", lengths)


def _relevance(numbers: BenchmarkNumbers) -> Iterator[Chart]:
    grades = Counter(numbers.grades.tolist())
    total = len(numbers.grades)
    bars = [
        ChartBar(f"grade {grade}", grades[grade], f"{grades[grade]:,} ({grades[grade] / total:.1%})")
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


def relevant_by(numbers: BenchmarkNumbers, values: Mapping[str, str]) -> list[tuple[str, Estimate]]:
    """The share of relevant pairs for each value that pictures have, most frequent first."""
    names = sorted(set(values.values()))
    code = {name: number for number, name in enumerate(names)}
    of_picture = np.array([code.get(values.get(id_, ""), -1) for id_ in numbers.pictures], dtype=np.intp)
    codes = of_picture[numbers.picture_of]
    judged = np.bincount(codes[codes >= 0], minlength=len(names))
    relevant = np.bincount(codes[(codes >= 0) & numbers.relevant], minlength=len(names))
    order = np.argsort(-judged, kind="stable")
    return [(names[at], share_of(int(relevant[at]), int(judged[at]))) for at in order if judged[at]]


def by_relevance(numbers: BenchmarkNumbers, values: Floats) -> dict[str, Floats]:
    """Values of judged pairs that are known, apart for relevant and other ones."""
    known = ~np.isnan(values)
    parts = {"relevant": values[known & numbers.relevant], "not relevant": values[known & ~numbers.relevant]}
    return {name: part for name, part in parts.items() if len(part)}


def _similarity(numbers: BenchmarkNumbers) -> Iterator[Chart]:
    parts, name = by_relevance(numbers, numbers.similarity), numbers.similarity_name
    if not parts:
        return
    yield binned(f"{name}_histogram", "Similarity of query and picture", name, parts)
    boxes = [box_of(label, values, series) for series, (label, values) in enumerate(parts.items())]
    yield Boxes(f"{name}_boxes", "Similarity, 5 to 95 percent", name, boxes)
    yield Curves(f"{name}_cdf", "Similarity, share at most", name, {key: curve_of(part) for key, part in parts.items()})
    yield Boxes(f"{name}_by_query", f"Similarity by query (first {_MOST_QUERIES})", name, list(_by_query(numbers)))


def _by_query(numbers: BenchmarkNumbers) -> Iterator[ChartBox]:
    for number, (task, _) in enumerate(numbers.tasks[:_MOST_QUERIES]):
        here = (numbers.query_of == number) & ~np.isnan(numbers.similarity)
        for series, mask in enumerate((numbers.relevant, ~numbers.relevant)):
            if (here & mask).any():
                yield box_of(task.id, numbers.similarity[here & mask], series)


def _confidence(numbers: BenchmarkNumbers) -> Iterator[Chart]:
    if not numbers.confidence:
        return
    of_name = {name: np.array(list(values.values())) for name, values in numbers.confidence.items()}
    yield binned("confidence_distribution", "Confidence of annotations", "confidence",
                 {"facets and flags": np.concatenate(list(of_name.values()))}, bins=20)  # fmt: skip
    boxes = [box_of(name, values) for name, values in of_name.items()]
    yield Boxes("confidence_by_category", "Confidence by facet and flag", "confidence", boxes)
    yield Boxes("confidence_by_category_and_relevance", "Confidence of judged pictures", "confidence",
                list(_confidence_by_relevance(numbers)))  # fmt: skip


def _confidence_by_relevance(numbers: BenchmarkNumbers) -> Iterator[ChartBox]:
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
        [
            ChartBar(label, count, f"{count:,} ({count / total:.1%})" if rest else f"{count:,}")
            for label, count in shown
        ],
    )
