"""What is wrong with labels as they stand: twins that are judged differently, queries that are lopsided or equal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sightline.benchmark.copy_detection import LookPair
from sightline.corpus.near_duplicates import chained, connected
from sightline.retrieval.bm25 import query_words
from sightline.runs.shortcuts.facts import CorpusFiles
from sightline.types import Benchmark, Relevance

MANY = 0.5
"""A larger share of relevant pictures than this in a pool is too many."""
_SPLIT = "split"


@dataclass(frozen=True, slots=True)
class LookAlikeReport:
    """Pictures that look the same: how many, and where that does harm.

    `disagree`: (query, picture, picture) judged differently. `seed_twins`: (query, picture) that looks like the seed
    and was judged not relevant. `shared`: pairs of queries in whose pools twins (not the same picture) are relevant.
    `across_splits`: groups that are relevant in more than one split. `shown`: (query, picture) that is relevant and
    looks like a picture that the query shows. `compared` is how many files were compared by their looks; None where
    only groups that a scan found were at hand.
    """

    pictures: int
    groups: int
    disagree: tuple[tuple[str, str, str], ...] = ()
    seed_twins: tuple[tuple[str, str], ...] = ()
    shared: tuple[tuple[str, str], ...] = ()
    across_splits: tuple[str, ...] = ()
    shown: tuple[tuple[str, str], ...] = ()
    compared: int | None = None


def find_look_alikes(benchmark: Benchmark, files: CorpusFiles | None = None) -> LookAlikeReport:
    """From the groups of duplicates that the corpus has, and copies among the files: brighter, cropped, mirrored."""
    files = files or CorpusFiles()
    group_of = _look_alike_groups(benchmark, files.copies)
    disagree: list[tuple[str, str, str]] = []
    seeds: list[tuple[str, str]] = []
    holders: dict[str, list[tuple[str, str]]] = defaultdict(list)
    splits: dict[str, set[str]] = defaultdict(set)
    for task, grades in _grades(benchmark).items():
        by_group: dict[str, list[str]] = defaultdict(list)
        for picture in grades:
            if picture in group_of:
                by_group[group_of[picture]].append(picture)
        for group, pictures in by_group.items():
            pairs = combinations(pictures, 2)
            disagree += [(task, one, other) for one, other in pairs if (grades[one] > 0) != (grades[other] > 0)]
            for picture in pictures:
                if grades[picture] > 0:
                    holders[group].append((task, picture))
                    splits[group].update(benchmark.tasks[task].labels.get(_SPLIT, ()))
        seeds += _seed_twins(benchmark, task, grades, group_of)
    return LookAlikeReport(
        len(group_of),
        len(set(group_of.values())),
        tuple(disagree),
        tuple(seeds),
        tuple(sorted(_shared(holders))),
        tuple(sorted(group for group, names in splits.items() if len(names) > 1)),
        tuple(_shown_copies(benchmark, group_of)),
        len(files.facts) or None,
    )


def _look_alike_groups(benchmark: Benchmark, copies: Sequence[LookPair]) -> dict[str, str]:
    """The group of each picture that looks like another; copies of pictures of a group belong to it."""
    groups = benchmark.corpus.groups_of("duplicate")
    named = {picture: group.id for group in groups for picture in group.pictures}
    ids = sorted({*named, *(id_ for pair in copies for id_ in (pair.first, pair.second))})
    place = {id_: at for at, id_ in enumerate(ids)}
    alike = (*(group.pictures for group in groups), *((pair.first, pair.second) for pair in copies))
    found = dict(named)
    for rows in connected(len(ids), chained([place[id_] for id_ in one] for one in alike)):
        members = [ids[row] for row in rows.tolist()]
        name = next((named[id_] for id_ in members if id_ in named), f"copies-{members[0]}")
        found |= dict.fromkeys(members, name)
    return found


def _shown_copies(benchmark: Benchmark, group_of: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for task, grades in _grades(benchmark).items():
        shown = {ref.id for ref in benchmark.tasks[task].pictures}
        looks = {group_of[id_] for id_ in shown if id_ in group_of}
        for picture, grade in grades.items():
            if grade > 0 and picture not in shown and group_of.get(picture) in looks:
                yield task, picture


def _seed_twins(
    benchmark: Benchmark, task: str, grades: Mapping[str, int], group_of: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    named = benchmark.tasks[task].extra.get("seeds")
    seeds = {seed for seed in named if isinstance(seed, str)} if isinstance(named, list) else set()
    looks = {group_of[seed] for seed in seeds if seed in group_of}
    for picture, grade in grades.items():
        if picture not in seeds and grade == 0 and group_of.get(picture) in looks:
            yield task, picture


def _shared(holders: Mapping[str, list[tuple[str, str]]]) -> set[tuple[str, str]]:
    return {
        (one, other)
        for held in holders.values()
        for (one, picture), (other, twin) in combinations(sorted(set(held)), 2)
        if one != other and picture != twin
    }


@dataclass(frozen=True, slots=True)
class WeakQueries:
    """Queries that say little: `none` has no relevant picture, `only_seed` none but its seed, `many` too many.

    `equal` are pairs with the same words, in whatever order.
    """

    count: int
    none: tuple[str, ...] = ()
    only_seed: tuple[str, ...] = ()
    many: tuple[str, ...] = ()
    equal: tuple[tuple[str, str], ...] = ()


def find_weak_queries(benchmark: Benchmark) -> WeakQueries:
    """Count relevant pictures, and compare the words."""
    none, only, many = [], [], []
    for task, grades in _grades(benchmark).items():
        named = benchmark.tasks[task].extra.get("seeds")
        seeds = set(map(str, named)) if isinstance(named, list) else set()
        relevant = {picture for picture, grade in grades.items() if grade > 0}
        if not relevant:
            none.append(task)
        elif relevant <= seeds:
            only.append(task)
        elif len(relevant) > MANY * len(grades):
            many.append(task)
    same: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for id_, one in benchmark.tasks.items():
        same[tuple(sorted(query_words(one.text)))].append(id_)
    equal = [pair for ids in same.values() for pair in combinations(ids, 2)]
    return WeakQueries(len(benchmark.tasks), tuple(none), tuple(only), tuple(many), tuple(equal))


def _grades(benchmark: Benchmark) -> dict[str, Mapping[str, int]]:
    return {id_: truth.grades for id_, truth in benchmark.truth.items() if isinstance(truth, Relevance)}
