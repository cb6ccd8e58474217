"""Train, dev and test: pictures that belong together stay together, and no picture is in two splits.

Pictures are joined where they look the same (also brighter, cropped or mirrored), or are of one owner, event or burst.
Each such set goes to one split; a task goes where its seed and relevant pictures are, and judgments of pictures
elsewhere are left out of it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sightline.authoring.dataset.selection import BenchmarkSubset, subset_benchmark
from sightline.benchmark.copy_detection import LookPair, looks_of, same_looks
from sightline.config import Config
from sightline.corpus.near_duplicates import chained, connected, near_pairs
from sightline.errors import UserError
from sightline.types import Benchmark, GroupKind, Relevance
from sightline.types.truth import relevant_pictures

TOGETHER: tuple[GroupKind, ...] = ("duplicate", "burst", "event", "owner", "film")
_SPLIT = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class BenchmarkSplits:
    """The splits in their order, each a benchmark of its own; tasks that fit none, and how many pairs went."""

    splits: Mapping[str, Benchmark]
    lost_tasks: Mapping[str, str]
    lost_pairs: int = 0
    lost_relevant: int = 0


def parse_splits(text: str) -> dict[str, float]:
    """`train=0.6,dev=0.2,test=0.2` → shares that add up to 1; a single name takes everything."""
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, equals, share = (piece.strip() for piece in part.partition("="))
        try:
            shares[name] = float(share) if equals else 1.0
        except ValueError:
            shares[name] = 0.0
        if not _SPLIT.fullmatch(name) or not 0 < shares[name] <= 1:
            raise UserError(f'"{part.strip()}" is not a split.', "for example --splits train=0.6,dev=0.2,test=0.2")
    if abs(sum(shares.values()) - 1) > 1e-6:
        raise UserError(f"the shares of --splits add up to {sum(shares.values()):g}.", "let them add up to 1")
    return shares


def split_benchmark(
    benchmark: Benchmark,
    shares: Mapping[str, float],
    folder: Path,
    *,
    together: Collection[GroupKind] = TOGETHER,
    same_bits: int = 6,
    seed: int = 0,
    before: Mapping[str, str] | None = None,
    copies: Sequence[LookPair] | None = None,
) -> BenchmarkSplits:
    """The same benchmark in splits of about these shares of its pictures; always the same for the same seed.

    `before` tells where pictures were when it was published last: they stay there, so that nobody's training pictures
    turn up in a test. `copies` are pairs that look the same; without them, the files in `folder` are looked at.
    """
    if len(shares) == 1:
        return BenchmarkSplits(dict.fromkeys(shares, benchmark), {})
    sets = linked_sets(benchmark, folder, together, same_bits, copies)
    if len(sets) < len(shares):
        raise _too_few(sets, benchmark, together)
    homes = _Placing(benchmark, sets, shares, seed).all(before or {})
    tasks = {task: _home_of(benchmark, task, homes, tuple(shares)) for task in benchmark.tasks}
    parts: dict[str, BenchmarkSubset] = {}
    for split in shares:
        pictures = frozenset(id_ for id_, home in homes.items() if home == split)
        parts[split] = subset_benchmark(
            benchmark, pictures, frozenset(task for task, home in tasks.items() if home == split)
        )
    empty = [split for split, part in parts.items() if not part.benchmark.tasks]
    if empty:
        raise UserError(
            f'split "{empty[0]}" would have no task: {len(benchmark.tasks):,} tasks over {len(sets):,} sets of '
            "pictures that belong together.",
            "use fewer splits, or larger shares",
        )
    return BenchmarkSplits(
        {split: part.benchmark for split, part in parts.items()},
        {task: "nothing is relevant to it" for task, home in tasks.items() if home is None}
        | {task: why for part in parts.values() for task, why in part.lost_tasks.items()},
        sum(part.lost_pairs for part in parts.values()),
        sum(part.lost_relevant for part in parts.values()),
    )


def linked_sets(
    benchmark: Benchmark,
    folder: Path,
    together: Collection[GroupKind],
    same_bits: int,
    copies: Sequence[LookPair] | None = None,
) -> list[tuple[str, ...]]:
    """Pictures that must not be apart, also the lone ones; in the order of the corpus."""
    ids = list(benchmark.corpus.pictures)
    place = {id_: number for number, id_ in enumerate(ids)}
    tied = (group.pictures for group in benchmark.corpus.groups if group.kind in together)
    links = [chained([place[id_] for id_ in members if id_ in place] for members in tied)]
    if "duplicate" in together:
        pictures = benchmark.corpus.pictures.values()
        if copies is None:
            copies = same_looks(looks_of(benchmark.corpus.pictures, folder, Config()), same_bits)
        links.append(chained((place[pair.first], place[pair.second]) for pair in copies))
        hashes = np.array([(picture.phash or 0) % 2**64 for picture in pictures], dtype=np.uint64)
        links.append(near_pairs(hashes, same_bits))
        same: dict[str, list[int]] = defaultdict(list)
        for number, picture in enumerate(pictures):
            if picture.sha256 is not None:
                same[picture.sha256].append(number)
        links.append(chained(same.values()))
    pairs = np.concatenate(links)
    groups = connected(len(ids), pairs) if len(pairs) else []
    joined = {int(number) for group in groups for number in group}
    alone = [(ids[number],) for number in range(len(ids)) if number not in joined]
    return sorted(
        [*alone, *(tuple(ids[number] for number in group) for group in groups)], key=lambda one: place[one[0]]
    )


class _Placing:
    """Sets of pictures one after the other: where the tasks that need them are, else where room is left."""

    def __init__(
        self, benchmark: Benchmark, sets: Sequence[tuple[str, ...]], shares: Mapping[str, float], seed: int
    ) -> None:
        self._benchmark = benchmark
        self._sets = sets
        self._names = tuple(shares)
        total = len(benchmark.corpus.pictures)
        self._room = {name: share * total for name, share in shares.items()}
        self._target = dict(self._room)
        self._set_of = {id_: number for number, members in enumerate(sets) for id_ in members}
        self._placed: dict[int, str] = {}
        self._rng = np.random.default_rng(seed)

    def all(self, before: Mapping[str, str]) -> dict[str, str]:
        """The split of every picture; a set of which some were published before goes where most of them were.

        What was published before stays where it was, also where it is known only now that others belong to it.
        """
        for number, members in enumerate(self._sets):
            votes = Counter(before[id_] for id_ in members if before.get(id_) in self._names)
            if votes:
                self._put(number, votes.most_common(1)[0][0])
        tasks = list(self._benchmark.tasks)
        for at in self._rng.permutation(len(tasks)):
            self._for_task(tasks[int(at)])
        wanted = self._wanted()
        for at in self._rng.permutation(len(self._sets)):
            number = int(at)
            if number not in self._placed:
                self._put(number, self._best(wanted.get(number, Counter()), len(self._sets[number])))
        placed = {id_: self._placed[number] for id_, number in self._set_of.items()}
        return placed | {id_: home for id_, home in before.items() if id_ in placed and home in self._names}

    def _for_task(self, task: str) -> None:
        """What is relevant to one task goes to one split, as far as it is not placed yet."""
        needed = [self._set_of[id_] for id_ in relevant_to(self._benchmark, task) if id_ in self._set_of]
        votes = Counter(self._placed[number] for number in needed if number in self._placed)
        new = dict.fromkeys(number for number in needed if number not in self._placed)
        size = sum(len(self._sets[number]) for number in new)
        split = self._best(votes, size)
        for number in new:
            self._put(number, split)

    def _wanted(self) -> dict[int, Counter[str]]:
        """For sets that no task needs: how often the tasks of each split judge them."""
        found: dict[int, Counter[str]] = defaultdict(Counter)
        homes = {id_: self._placed[number] for id_, number in self._set_of.items() if number in self._placed}
        for task in self._benchmark.tasks:
            truth = self._benchmark.truth.get(task)
            home = _home_of(self._benchmark, task, homes, self._names)
            for id_ in truth.grades if isinstance(truth, Relevance) else ():
                if id_ in self._set_of and home is not None:
                    found[self._set_of[id_]][home] += 1
        return found

    def _best(self, votes: Counter[str], size: int) -> str:
        """The split that is asked for most and has room; else the one with most room for its size."""
        fitting = [name for name in self._names if self._room[name] >= size / 2]
        asked = [name for name, _ in votes.most_common() if name in fitting]
        if asked:
            return asked[0]
        return max(fitting or self._names, key=lambda name: self._room[name] / self._target[name])

    def _put(self, number: int, split: str) -> None:
        self._placed[number] = split
        self._room[split] -= len(self._sets[number])


def relevant_to(benchmark: Benchmark, task: str) -> tuple[str, ...]:
    """What a task needs: the pictures that it shows, and those that are relevant to it."""
    shown = (ref.id for ref in benchmark.tasks[task].pictures)
    return (*shown, *relevant_pictures(benchmark.truth.get(task)))


def _home_of(benchmark: Benchmark, task: str, homes: Mapping[str, str], names: Sequence[str]) -> str | None:
    """Where most of what a task needs is; where two tie, the earlier split."""
    votes = Counter(homes[id_] for id_ in relevant_to(benchmark, task) if id_ in homes)
    return max(names, key=lambda name: votes[name]) if votes else None


def _too_few(sets: Sequence[tuple[str, ...]], benchmark: Benchmark, together: Collection[GroupKind]) -> UserError:
    largest = max(map(len, sets))
    kinds = ", ".join(kind for kind in TOGETHER if kind in together and benchmark.corpus.groups_of(kind))
    return UserError(
        f"{len(benchmark.corpus.pictures):,} pictures make {len(sets):,} sets that belong together ({largest:,} in the "
        "largest): too few to divide.",
        f"they are kept together by {kinds or 'looking the same'}; say which ties count, such as --together duplicate",
    )
