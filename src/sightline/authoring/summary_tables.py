"""The tables of a summary, one CSV file each; names and columns as benchmaker has them where it has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from sightline.authoring.summary_charts import Floats, by_relevance, relevant_by
from sightline.authoring.summary_statistics import UNKNOWN, BenchmarkNumbers
from sightline.calls.ledger import Ledger, LedgerRow
from sightline.config import Config
from sightline.config.schema import leaves
from sightline.metrics.agreement import krippendorff_alpha

Rows: TypeAlias = Sequence[Mapping[str, Any]]
_MOST_TAGS = 50


def tables(numbers: BenchmarkNumbers, config: Config, ledger: Ledger | None) -> dict[str, Rows]:
    """Tables by the name of their file, without those that would be empty."""
    name = numbers.similarity_name
    found: dict[str, Rows] = {
        "dataset_summary_stats": [{"Metric": key, "Value": value} for key, value in overview(numbers).items()],
        "query_relevancy_stats": list(_per_query(numbers)),
        "top_tags": [{"Tag": tag, "Count": count} for tag, count in numbers.tags.most_common(_MOST_TAGS)],
        "top_words": [{"Word": word, "Count": count} for word, count in numbers.words.most_common(_MOST_TAGS)],
        "image_proportions": list(_proportions(numbers)),
        "relevance_by_facet": list(_relevance(numbers)),
        "relevance_by_tier": [
            {"tier": tier, "judged": judged, "relevant": relevant, "share": round(relevant / judged, 6)}
            for tier, (judged, relevant) in numbers.tiers.items()
        ],
        f"{name}_stats_by_relevance": [
            {"relevance": key, **statistics(part)} for key, part in by_relevance(numbers, numbers.similarity).items()
        ],
        f"{name}_overall_stats": _one(numbers.similarity),
        f"{name}_by_query_stats": list(_similarity_by_query(numbers)),
        "confidence_overall_stats": _one([value for of in numbers.confidence.values() for value in of.values()]),
        "confidence_stats_by_category": [
            {"category": key, **statistics(list(of.values()))} for key, of in numbers.confidence.items()
        ],
        "config_values": list(_config(config)),
        "cost_summary": [] if ledger is None else list(_costs(ledger, numbers)),
    }
    return {key: rows for key, rows in found.items() if rows}


def overview(numbers: BenchmarkNumbers) -> dict[str, Any]:
    """The numbers that a reader asks for first."""
    relevant, judged = numbers.per_query
    pairs = len(numbers.grades)
    found: dict[str, Any] = {
        "pictures": len(numbers.pictures),
        "pictures judged": len(np.unique(numbers.picture_of)),
        "pictures annotated": len(numbers.notes),
        "queries": len(numbers.tasks),
        "queries with the words of another": numbers.repeated_queries,
        "queries with nothing relevant": int((relevant == 0).sum()),
        "judged pairs": pairs,
        "relevant pairs": int(numbers.relevant.sum()),
        "share relevant": round(float(numbers.relevant.mean()), 4),
        "judged pictures per query, mean": round(float(judged.mean()), 2),
        "relevant pictures per query, mean": round(float(relevant.mean()), 2),
        "words per query, mean": round(float(numbers.query_words.mean()), 2),
        "tags": len(numbers.tags),
        "near-duplicate pairs of pictures": numbers.duplicates,
        "pictures with no known licence": numbers.licences[UNKNOWN],
        "judges": len({judgment.judge for judgment in numbers.benchmark.judgments}),
    }
    alpha = agreement(numbers)
    return found if alpha is None else found | {"agreement of judges (Krippendorff's alpha)": round(alpha, 4)}


def agreement(numbers: BenchmarkNumbers) -> float | None:
    """Krippendorff's alpha over pairs that two judges or more have judged; None where there are none."""
    judges = sorted({judgment.judge for judgment in numbers.benchmark.judgments})
    if len(judges) < 2:
        return None
    place = {judge: number for number, judge in enumerate(judges)}
    ratings: dict[tuple[str, str], list[int | None]] = {}
    for judgment in numbers.benchmark.judgments:
        row = ratings.setdefault((judgment.task, judgment.picture), [None] * len(judges))
        row[place[judgment.judge]] = judgment.grade
    return krippendorff_alpha(list(zip(*ratings.values(), strict=True)), "ordinal")


def statistics(values: Floats | Sequence[float]) -> dict[str, float | int]:
    """Count, mean, spread and quartiles; values that are not known are left out."""
    found = np.asarray(values, dtype=np.float64)
    found = found[~np.isnan(found)]
    low, first, median, third, high = np.quantile(found, (0, 0.25, 0.5, 0.75, 1))
    deviation = float(found.std(ddof=1)) if len(found) > 1 else 0.0
    named = {"mean": found.mean(), "std": deviation, "min": low, "25%": first, "50%": median, "75%": third, "max": high}
    return {"count": len(found), **{key: round(float(value), 6) for key, value in named.items()}}


def _one(values: Floats | Sequence[float]) -> Rows:
    found = np.asarray(values, dtype=np.float64)
    return [] if not len(found) or np.isnan(found).all() else [statistics(found)]


def _per_query(numbers: BenchmarkNumbers) -> Iterator[dict[str, Any]]:
    relevant, judged = numbers.per_query
    for (task, _), total, count in zip(numbers.tasks, relevant.tolist(), judged.tolist(), strict=True):
        yield {
            "query_id": task.id,
            "sum": total,
            "count": count,
            "relevance_rate": round(total / count, 6),
            "words": len(task.text.split()),
            "query_text": task.text,
        }


def _proportions(numbers: BenchmarkNumbers) -> Iterator[dict[str, Any]]:
    total = len(numbers.pictures)
    groups = {"data set": numbers.sources, "licence": numbers.licences}
    for name, counts in groups.items():
        yield from _counted(name, counts.most_common(), total)
    for name, values in numbers.facets.items():
        ordered = sorted(Counter(values.values()).items(), key=lambda item: (-item[1], item[0]))
        yield from _counted(name, ordered, len(values))


def _counted(name: str, counts: Iterable[tuple[str, int]], total: int) -> Iterator[dict[str, Any]]:
    for value, count in counts:
        yield {"facet": name, "value": value, "pictures": count, "share": round(count / total, 6)}


def _relevance(numbers: BenchmarkNumbers) -> Iterator[dict[str, Any]]:
    for name, values in numbers.facets.items():
        for value, share in relevant_by(numbers, values):
            yield {
                "facet": name,
                "value": value,
                "judged": share.n,
                "relevant": round(share.mean * share.n),
                "share": round(share.mean, 6),
                "low": round(share.low, 6),
                "high": round(share.high, 6),
            }


def _similarity_by_query(numbers: BenchmarkNumbers) -> Iterator[dict[str, Any]]:
    known = np.flatnonzero(~np.isnan(numbers.similarity))
    starts = np.searchsorted(numbers.query_of[known], np.arange(len(numbers.tasks) + 1))
    for number, (task, _) in enumerate(numbers.tasks):
        part = numbers.similarity[known[starts[number] : starts[number + 1]]]
        if len(part):
            yield {"query_id": task.id, **statistics(part)}


def _config(config: Config) -> Iterator[dict[str, Any]]:
    """Every setting; a secret is `***` if it is set."""
    dumped = config.model_dump(mode="json")
    for leaf in leaves().values():
        value: Any = dumped
        for key in leaf.path:
            value = value[key]
        shown = "***" if leaf.secret and value is not None else value
        yield {"Config Variable": leaf.dotted, "Value": shown, "Type": type(value).__name__}


def _costs(ledger: Ledger, numbers: BenchmarkNumbers) -> Iterator[dict[str, Any]]:
    items = {"annotate": len(numbers.notes), "query": len(numbers.tasks), "judge": len(numbers.tasks)}
    for spent in ledger.rows:
        yield _cost(spent.stage or "", spent, items.get(spent.stage or "", spent.calls))
    yield _cost("total", ledger.total, len(numbers.pictures))


def _cost(phase: str, spent: LedgerRow, items: int) -> dict[str, Any]:
    """As benchmaker has it; text tokens are all input that is not a picture, and an unknown price is not a zero."""
    usd = None if spent.money == "unknown" else spent.usd
    tokens = spent.input + spent.output
    return {
        "Phase": phase,
        "Total Input Tokens": spent.input,
        "Total Cached Tokens": spent.cached,
        "Total Uncached Input Tokens": spent.input - spent.cached,
        "Total Output Tokens": spent.output,
        "Total Reasoning Tokens": spent.reasoning,
        "Total Image Input Tokens": spent.image,
        "Total Cost": "" if usd is None else f"{usd:.2f}",
        "Calls": spent.calls,
        "Failed": spent.failed,
        "Calls Without Known Price": spent.unpriced,
        "Num Items": items,
        "Cost Per Item": "" if usd is None or not items else f"{usd / items:.6f}",
        "Cost Per Token": "" if usd is None or not tokens else f"{usd / tokens:.8f}",
    }
