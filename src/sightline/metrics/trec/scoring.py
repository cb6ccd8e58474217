"""From qrels and a run to a value for each query and metric, by trec_eval's rules.

The results of a run stand beside the judgments of their queries in a batch that the ranked metrics are computed from.
Queries are taken in blocks, several at once in threads; within one, results meet judgments by hash, and every match is
confirmed byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sightline.errors import UserError
from sightline.metrics.ranked_batch import Bools, Floats, Ints, RankedBatch, places
from sightline.metrics.ranked_formula import formula
from sightline.metrics.trec.fields import Words
from sightline.metrics.trec.ids import Ids, find, hash_ids, pair_keys
from sightline.metrics.trec.table import Numbers, TrecTable, parallel

_BLOCK = 1 << 17  # results


@dataclass(frozen=True, slots=True)
class Matched:
    """What became of a run: the batch (one row for each query of the qrels), and what there was to notice."""

    batch: RankedBatch
    answered: Bools
    unknown_queries: int
    duplicates: int


@dataclass(frozen=True, slots=True)
class _Part:
    """The judged results of a block, in rank order within each query, and how many results each query has."""

    query: Ints
    rank: Ints
    grade: Ints
    retrieved: Ints
    duplicates: int


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines of a few queries, numbered from 0: whose each is, its score or grade, its document."""

    owner: Ints
    number: Numbers
    document: Ids

    def __len__(self) -> int:
        return self.owner.size

    def take(self, rows: Ints) -> _Lines:
        return _Lines(self.owner[rows], self.number[rows], self.document[rows])

    def pair_keys(self) -> Words:
        return pair_keys(hash_ids(self.document), self.owner)


def match(qrels: TrecTable, run: TrecTable, *, threads: int | None = None) -> Matched:
    """Put every query's results in trec_eval's order, and look up their grades."""
    numbers = {query: number for number, query in enumerate(qrels.queries)}
    known = np.array([numbers.get(query, -1) for query in run.queries], np.int64)

    def work(block: tuple[int, int]) -> _Part:
        return _block(qrels, run, known, *block)

    found = list(parallel(work, _blocks(run.offsets), threads))
    return Matched(
        _batch(qrels, known, found),
        np.bincount(known[known >= 0], minlength=len(qrels.queries)) > 0,
        int(np.count_nonzero(known < 0)),
        sum(part.duplicates for part in found),
    )


def _blocks(offsets: Ints) -> list[tuple[int, int]]:
    """Stretches of whole queries with about `_BLOCK` results each."""
    cuts = np.searchsorted(offsets, np.arange(0, offsets[-1] + _BLOCK, _BLOCK))
    return list(pairwise(np.unique(np.minimum(cuts, offsets.size - 1)).tolist()))


def _batch(qrels: TrecTable, known: Ints, found: list[_Part]) -> RankedBatch:
    """Bring what the blocks found into the order of the qrels."""
    count = len(qrels.queries)
    query, rank, grade, retrieved = (
        np.concatenate([np.empty(0, np.int64), *(getattr(part, name) for part in found)])
        for name in ("query", "rank", "grade", "retrieved")
    )
    offsets = np.append(0, np.cumsum(np.bincount(query, minlength=count)))
    # A query's results are already together and in rank order, so a stable sort by query is enough.
    order = np.argsort(query, kind="stable")
    returned = np.zeros(count, np.int64)
    returned[known[known >= 0]] = retrieved[known >= 0]
    return RankedBatch(offsets, rank[order], grade[order], returned, *_pool(qrels))


def _pool(qrels: TrecTable) -> tuple[Ints, Ints]:
    """Every judged grade, highest first within its query; a negative one is not a judgment."""
    judged = qrels.numbers >= 0
    owner, grade = qrels.owners()[judged], qrels.numbers[judged].astype(np.int64)
    queries, levels = len(qrels.queries), int(grade.max(initial=0)) + 1
    offsets = np.append(0, np.cumsum(np.bincount(owner, minlength=queries)))
    if queries * levels > 4 * grade.size:  # far more levels than judgments: sorting beats counting
        return offsets, grade[np.lexsort((-grade, owner))]
    counts = np.bincount(owner * levels + (levels - 1 - grade), minlength=queries * levels)
    return offsets, np.repeat(np.tile(np.arange(levels)[::-1], queries), counts)


def _block(qrels: TrecTable, run: TrecTable, known: Ints, first: int, last: int) -> _Part:
    """Rank, look up and count the results of the run's queries [first, last)."""
    offsets, known = run.offsets[first : last + 1], known[first:last]
    rows = slice(int(offsets[0]), int(offsets[-1]))
    owner = np.repeat(np.arange(last - first), np.diff(offsets))
    results = _ranked(_Lines(owner, run.numbers[rows], run.documents[rows]))
    judged = _judged(qrels, known)
    found = find(results.pair_keys(), judged.pair_keys())
    if found.repeats:
        results = _distinct(results)
        found = find(results.pair_keys(), judged.pair_keys())
    result, judgment = results.take(found.at), judged.take(found.which)
    same = result.document.same(judgment.document) & (result.owner == judgment.owner)
    at, grade = found.at[same], judgment.number[same].astype(np.int64)
    place = _break_ties(results, at)
    order = np.argsort(place)
    retrieved = np.bincount(results.owner, minlength=last - first)
    owner = results.owner[at[order]]
    rank = place[order] - np.append(0, np.cumsum(retrieved))[owner]
    return _Part(known[owner], rank, grade[order], retrieved, rows.stop - rows.start - len(results))


def _ranked(results: _Lines) -> _Lines:
    """By query and falling score; most files are in that order already."""
    owner, score = results.owner, results.number
    if not ((score[1:] > score[:-1]) & (owner[1:] == owner[:-1])).any():
        return results
    bits = (score + np.float32(0)).view(np.int32)  # adding 0 turns −0 into 0
    # Negative floats already fall as their bits rise; the others are turned round, to come before them.
    falling = np.where(bits < 0, bits, ~bits & 0x7FFFFFFF).astype(np.int64) & 0xFFFFFFFF
    return results.take(np.argsort(owner << 32 | falling))


def _distinct(results: _Lines) -> _Lines:
    """Of a document that a query has twice, only the better-ranked result."""
    key = results.pair_keys()
    order = np.argsort(key, kind="stable")
    pairs = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    sooner, later = results.take(order[pairs]), results.take(order[pairs + 1])
    same = sooner.document.same(later.document) & (sooner.owner == later.owner)
    if not same.all():
        row = int(np.flatnonzero(~same)[0])
        names = sooner.document.text_at(row), later.document.text_at(row)
        raise UserError(f"documents {names[0]} and {names[1]} share a 64-bit hash.", "rename one of them")
    keep = np.ones(key.size, np.bool_)
    keep[order[pairs + 1]] = False
    return results.take(np.flatnonzero(keep))


def _judged(qrels: TrecTable, known: Ints) -> _Lines:
    """The lines of these queries; a negative grade stands for a document of the pool that nobody judged."""
    sizes = np.where(known >= 0, qrels.offsets[known + 1] - qrels.offsets[known], 0)
    owner = np.repeat(np.arange(known.size), sizes)
    row = qrels.offsets[known][owner] + places(owner, known.size)
    return _Lines(owner, qrels.numbers[row], qrels.documents[row])


def _break_ties(results: _Lines, at: Ints) -> Ints:
    """The places of the results `at`: among equal scores, ids in descending byte order.

    Only ties that a judged result is part of are put in order: no other can change a metric.
    """
    owner, score = results.owner, results.number
    tied = np.zeros(len(results) + 1, np.bool_)  # with the result before
    tied[1:-1] = (score[1:] == score[:-1]) & (owner[1:] == owner[:-1])
    member = np.flatnonzero(tied[:-1] | tied[1:])
    if not member.size:
        return at
    group = np.cumsum(~tied[member]) - 1
    judged = np.zeros(len(results), np.bool_)
    judged[at] = True
    wanted = np.bincount(group, judged[member]) > 0
    member, group = member[wanted[group]], group[wanted[group]]
    descending = [~key for key in results.document[member].sort_keys()]
    place = np.arange(len(results))
    place[member[np.lexsort([*descending, group])]] = member
    return place[at]


@dataclass(frozen=True, slots=True)
class TrecScores:
    """Values by metric name as given, one for each query in `queries` (sorted by id), and what there was to notice.

    `answered` is False for a query that the run doesn't have: its values are 0. `unknown_queries` are in the run but
    not in the qrels, and ignored. `duplicates` counts repeated documents in the run (the best-ranked stays) and
    `repeated_judgments` those in the qrels. `unjudged_rate` is the share of the answered queries' results that has
    no judgment, None when there are no results.
    """

    queries: tuple[str, ...]
    values: Mapping[str, Floats]
    answered: Bools
    missing_queries: int
    unknown_queries: int
    duplicates: int
    repeated_judgments: int
    results: int
    unjudged_rate: float | None

    def mean(self, metric: str) -> float:
        """The mean over all queries; 0 when there are none."""
        values = self.values[metric]
        return float(values.mean()) if values.size else 0.0


def score_trec(
    qrels: TrecTable,
    run: TrecTable,
    metrics: Sequence[str],
    *,
    intersection: bool = False,
    threads: int | None = None,
) -> TrecScores:
    """Score a run by trec_eval's rules; a query missing from the run counts as zero unless `intersection`."""
    formulas = {name: formula(name) for name in metrics}
    found = match(qrels, run, threads=threads)
    batch, answered = found.batch, found.answered
    names = qrels.queries
    rows = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    if intersection:
        rows = rows[answered[rows]]
    results = int(batch.retrieved.sum())
    return TrecScores(
        queries=tuple(names[row] for row in rows),
        values={name: np.where(answered, compute(batch), 0.0)[rows] for name, compute in formulas.items()},
        answered=answered[rows],
        missing_queries=int(np.count_nonzero(~answered)),
        unknown_queries=found.unknown_queries,
        duplicates=found.duplicates,
        repeated_judgments=qrels.duplicates,
        results=results,
        unjudged_rate=1 - np.count_nonzero(batch.grades >= 0) / results if results else None,
    )
