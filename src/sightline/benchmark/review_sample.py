"""Which labels people are asked to check: a draw with known probabilities, so that what they find holds for all."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping

from sightline.benchmark.review_decisions import WHOLE, BenchmarkLabels, Pair
from sightline.types import Benchmark, PictureSet

SAMPLE = 100
"""About so many labels are enough to know how far the judges can be trusted."""
_WAITING = "waiting"


def sample_of(benchmark: Benchmark, labels: BenchmarkLabels, most: int = SAMPLE, seed: int = 0) -> list[Pair]:
    """What people look at, in the order of the tasks; a picture is `(task, id)`, a whole task `(task, "")`.

    Of rank tasks as many labels of each tier as there are to share; of select tasks all pictures in and beside the set,
    in an order that does not tell which is which, and then the request itself: those that wait for people all, of
    others about as many labels; of all other tasks their answers.
    """
    rng = random.Random(seed)
    tiers: dict[str, list[Pair]] = defaultdict(list)
    pools: dict[str, list[Pair]] = {
        task: [] for task, truth in benchmark.truth.items() if isinstance(truth, PictureSet)
    }
    for pair in labels.now:
        if pair[0] in pools:
            pools[pair[0]].append(pair)
        else:
            tiers[labels.stratum[pair]].append(pair)
    chosen = [*_of_tiers(tiers, most, rng), *_of_sets(benchmark, pools, most, rng)]
    place = {task: number for number, task in enumerate(benchmark.tasks)}
    return sorted(chosen, key=lambda pair: (place.get(pair[0], len(place)), "" if pair[0] in pools else pair[1]))


def _of_tiers(tiers: Mapping[str, list[Pair]], most: int, rng: random.Random) -> list[Pair]:
    for pairs in tiers.values():
        rng.shuffle(pairs)
    chosen: list[Pair] = []
    while len(chosen) < most and any(tiers.values()):
        for tier in sorted(tiers):
            if tiers[tier] and len(chosen) < most:
                chosen.append(tiers[tier].pop())
    return chosen


def _of_sets(benchmark: Benchmark, pools: Mapping[str, list[Pair]], most: int, rng: random.Random) -> Iterator[Pair]:
    left = most
    for task in rng.sample(list(pools), len(pools)):
        held = benchmark.tasks.get(task)
        if held is None or (left <= 0 and held.extra.get("review") != _WAITING):
            continue
        yield from rng.sample(sorted(pools[task]), len(pools[task]))
        yield task, WHOLE
        left -= len(pools[task])
