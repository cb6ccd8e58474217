"""The human half of a benchmark: what people look at next, what they decided, and how far they agree."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sightline.make.audit.decisions import (
    WHOLE,
    Labels,
    Pair,
    Votes,
    is_conflict,
    settled,
)
from sightline.score.statistics import estimate
from sightline.types import Benchmark, Estimate, PictureSet, Relevance

SAMPLE = 100
"""About so many labels are enough to know how far the judges can be trusted."""
TARGET_IOU = 0.91
"""What the annotators of DISBench reached."""
_WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two people agree: how often they decide the same, and the IoU of what they find relevant, over tasks."""

    first: str
    second: str
    labels: int
    same: Estimate
    iou: Estimate | None
    conflicts: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a sample stands: how much has enough decisions, and on what people contradict each other."""

    labels: int
    settled: int
    conflicts: tuple[Pair, ...]
    mine: int


def sample_of(benchmark: Benchmark, labels: Labels, most: int = SAMPLE, seed: int = 0) -> list[Pair]:
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


def queue_for(person: str, sample: Sequence[Pair], votes: Votes) -> list[Pair]:
    """What a person looks at next: where two others contradict each other, what one other saw, what nobody saw.

    What somebody decided outside the sample, such as a picture that was missed, waits for a second person too. Of a
    query that this person or enough people reject, nothing else is asked.
    """
    order: dict[int, list[Pair]] = {0: [], 1: [], 2: []}
    refused = {
        task
        for (task, picture), given in votes.items()
        if picture == WHOLE and (given.get(person) is False or settled(given) is False)
    }
    for pair in dict.fromkeys((*sample, *votes)):
        others = votes.get(pair, {})
        if person in others or settled(others) is not None or (pair[0] in refused and pair[1] != WHOLE):
            continue
        order[0 if is_conflict(others) else 1 if others else 2].append(pair)
    return [pair for pairs in order.values() for pair in pairs]


def standing_of(person: str, sample: Sequence[Pair], votes: Votes) -> Standing:
    """Where the sample stands, and how much of it this person has looked at."""
    seen = [votes.get(pair, {}) for pair in sample]
    done = sum(settled(one) is not None for one in seen)
    disputed = tuple(pair for pair, given in votes.items() if is_conflict(given))
    return Standing(len(sample), done, disputed, sum(person in one for one in seen))


def agreements(votes: Votes) -> list[Agreement]:
    """Every two people who looked at the same."""
    people = sorted({person for given in votes.values() for person in given})
    found = []
    for first, second in combinations(people, 2):
        both = {pair: given for pair, given in votes.items() if first in given and second in given}
        if both:
            tasks = dict.fromkeys(task for task, picture in both if picture != WHOLE)
            shares = [_iou(task, first, second, votes) for task in tasks]
            same = [float(given[first] == given[second]) for given in both.values()]
            found.append(
                Agreement(
                    first,
                    second,
                    len(both),
                    estimate(same, clusters=[task for task, _ in both], proportion=True),
                    estimate(shares) if shares else None,
                    tuple(pair for pair, given in both.items() if given[first] != given[second]),
                )
            )
    return found


def _iou(task: str, first: str, second: str, votes: Votes) -> float:
    """|A ∩ B| / |A ∪ B| of the pictures that each finds relevant; 1 where neither finds any.

    Where both say that the request is good and complete, what one of them found and the other never saw counts too;
    else only what both saw.
    """
    whole = votes.get((task, WHOLE), {})
    complete = whole.get(first) is True and whole.get(second) is True
    held = {pair[1]: given for pair, given in votes.items() if pair[0] == task and pair[1] != WHOLE}
    seen = {id_: given for id_, given in held.items() if complete or (first in given and second in given)}
    mine = {id_ for id_, given in seen.items() if given.get(first)}
    theirs = {id_ for id_, given in seen.items() if given.get(second)}
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0


def is_graded(benchmark: Benchmark) -> bool:
    """Whether its labels know more than relevant and not."""
    grades = (truth.grades.values() for truth in benchmark.truth.values() if isinstance(truth, Relevance))
    return any(grade > 1 for held in grades for grade in held)
