"""Which labels people are asked to check: a draw with known probabilities, so that what they find holds for all.

Labels are drawn by lot within strata: the tier, and whether the label says relevant. Three of five decisions go to
labels that say relevant, because their precision is what a grade states; among them strata get decisions in proportion
to their size, among the others to its square root: corrected scores hang on the few that systems rank high. Each gets
at least one. A label of a stratum with N labels of which n are drawn was drawn with probability n / N.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from heapq import nsmallest

from sightline.benchmark.review_decisions import WHOLE, BenchmarkLabels, Pair
from sightline.types import Benchmark, PictureSet

SAMPLE = 100
"""The first draw."""
STEP = 50
"""So many are drawn at once after the first."""
_RELEVANT = 0.6
"""The share of decisions that goes to labels which say relevant."""
_WAITING = "waiting"


def sample_of(benchmark: Benchmark, labels: BenchmarkLabels, most: int = SAMPLE, seed: int = 0) -> list[Pair]:
    """What people look at, in the order of the tasks; a picture is `(task, id)`, a whole task `(task, "")`.

    Of rank tasks and answers `most` labels by lot within strata; of select tasks all pictures in and beside the set,
    in an order that does not tell which is which, and then the request itself: those that wait for people all, of
    others about as many labels. A larger draw holds a smaller one. What people changed, added or left out in a later
    version moves no other label in or out of its order.
    """
    pools, strata = _pools_and_strata(benchmark, labels)
    sizes = {name: len(pairs) for name, pairs in strata.items()}
    relevant = frozenset(name for name, pairs in strata.items() if labels.before[pairs[0]] > 0)
    chosen = [
        *_of_strata(strata, allocation(sizes, relevant, most), seed),
        *_of_sets(benchmark, pools, most, random.Random(seed)),
    ]
    place = {task: number for number, task in enumerate(benchmark.tasks)}
    return sorted(chosen, key=lambda pair: (place.get(pair[0], len(place)), "" if pair[0] in pools else pair[1]))


def first_of_strata(benchmark: Benchmark, labels: BenchmarkLabels, counts: Mapping[str, int]) -> frozenset[Pair]:
    """The first so many of each stratum: what is left of a draw after people left queries out of the benchmark."""
    return frozenset(_of_strata(_pools_and_strata(benchmark, labels)[1], counts, 0))


def _pools_and_strata(
    benchmark: Benchmark, labels: BenchmarkLabels
) -> tuple[dict[str, list[Pair]], dict[str, list[Pair]]]:
    """The labels of each select task, and those of all others by stratum."""
    pools: dict[str, list[Pair]] = {
        task: [] for task, truth in benchmark.truth.items() if isinstance(truth, PictureSet)
    }
    strata: dict[str, list[Pair]] = defaultdict(list)
    for pair in labels.now:
        if pair[0] in pools:
            pools[pair[0]].append(pair)
        elif pair in labels.before:
            strata[labels.stratum[pair]].append(pair)
    return pools, strata


def _of_strata(strata: Mapping[str, list[Pair]], counts: Mapping[str, int], seed: int) -> Iterator[Pair]:
    """The first of each stratum by a number that belongs to the pair alone."""

    def lot(pair: Pair) -> bytes:
        return blake2b(f"{seed}\0{pair[0]}\0{pair[1]}".encode(), digest_size=8).digest()

    for name, count in counts.items():
        yield from nsmallest(count, strata.get(name, ()), key=lot)


def allocation(sizes: Mapping[str, int], relevant: Iterable[str], most: int) -> Counter[str]:
    """How many of each stratum a draw of `most` takes; it never takes fewer of one than a smaller draw.

    After one of each, the next goes where share of the draw / (2 n + 1) is largest (Sainte-Laguë).
    """
    said = frozenset(relevant)
    weight = {name: size if name in said else size**0.5 for name, size in sizes.items() if size}
    whole = {kind: sum(one for name, one in weight.items() if (name in said) == kind) for kind in (True, False)}
    share = {
        name: (_RELEVANT if name in said else 1 - _RELEVANT) * one / whole[name in said] for name, one in weight.items()
    }
    taken = Counter(sorted(share, key=lambda name: (-share[name], name))[:most])
    for _ in range(most - taken.total()):
        left = [name for name in sorted(share) if taken[name] < sizes[name]]
        if not left:
            break
        taken[max(left, key=lambda name: share[name] / (2 * taken[name] + 1))] += 1
    return taken


def _of_sets(benchmark: Benchmark, pools: Mapping[str, list[Pair]], most: int, rng: random.Random) -> Iterator[Pair]:
    left = most
    for task in rng.sample(list(pools), len(pools)):
        held = benchmark.tasks.get(task)
        if held is None or (left <= 0 and held.extra.get("review") != _WAITING):
            continue
        yield from rng.sample(sorted(pools[task]), len(pools[task]))
        yield task, WHOLE
        left -= len(pools[task])
