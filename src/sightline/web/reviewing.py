"""The human half of a benchmark: which labels people look at next, what they decided, and how far they agree."""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

from sightline.bench.files import HEADER, REVIEWS, checksums
from sightline.bench.problems import stop
from sightline.bench.schema import CURRENT
from sightline.bench.table import Source
from sightline.errors import UserError
from sightline.io import read_json, write_json
from sightline.make.audit.reviews import WITHDRAW, LabelQuality, decision_of, label_quality, standing
from sightline.run.lines import GrowingFile
from sightline.score.statistics import estimate
from sightline.types import Benchmark, Estimate, PictureSet, Relevance, Review
from sightline.web.library import Shelf

SAMPLE = 100
"""About so many labels are enough to know how far the judges can be trusted."""
TARGET_IOU = 0.91
"""What the annotators of DISBench reached."""
GRADES = ("0", "1", "2", "3")
REWORD = "reword: "
_PEOPLE = 2
_PATIENCE = 50

Pair: TypeAlias = tuple[str, str]
Votes: TypeAlias = Mapping[Pair, Mapping[str, bool]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two people agree: over the tasks of which both looked at pictures, the IoU of what they find relevant."""

    first: str
    second: str
    labels: int
    iou: Estimate
    conflicts: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a sample of labels stands: how many have enough decisions, and how many people contradict each other on."""

    labels: int
    settled: int
    conflicts: tuple[Pair, ...]
    mine: int


def labels_of(benchmark: Benchmark) -> dict[Pair, int]:
    """Every label that a person can check: graded pictures, and for sets what is in them and what was put beside."""
    found: dict[Pair, int] = {}
    for task, truth in benchmark.truth.items():
        if isinstance(truth, Relevance):
            found |= {(task, picture): grade for picture, grade in truth.grades.items()}
        elif isinstance(truth, PictureSet):
            found |= {(task, picture): 1 for picture in truth.pictures}
    sets = {task for task, truth in benchmark.truth.items() if isinstance(truth, PictureSet)}
    for one in benchmark.candidates:
        if one.task in sets:
            found.setdefault((one.task, one.picture), 0)
    return found


def sample_of(shelf: Shelf, most: int = SAMPLE, seed: int = 0) -> list[Pair]:
    """Labels to check, as many of each tier as there are to share; those of one query follow each other."""
    rng = random.Random(seed)
    labels = labels_of(shelf.benchmark)
    tiers: dict[str, list[Pair]] = defaultdict(list)
    known = {(one.task, one.picture): str(one.tier) for one in shelf.benchmark.candidates}
    for pair, grade in labels.items():
        tiers[known.get(pair, f"grade {grade}")].append(pair)
    for pairs in tiers.values():
        rng.shuffle(pairs)
    chosen: list[Pair] = []
    while len(chosen) < most and any(tiers.values()):
        for tier in sorted(tiers):
            if tiers[tier] and len(chosen) < most:
                chosen.append(tiers[tier].pop())
    place = {task: number for number, task in enumerate(shelf.benchmark.tasks)}
    return sorted(chosen, key=lambda pair: (place.get(pair[0], len(place)), pair[1]))


def votes_of(reviews: Iterable[Review], labels: Mapping[Pair, int]) -> dict[Pair, dict[str, bool]]:
    """For each label what each person found, by their last decision; also for pictures that have no label yet."""
    found: dict[Pair, dict[str, bool]] = defaultdict(dict)
    for review in reviews:
        if review.picture is not None:
            pair = review.task, review.picture
            relevant = decision_of(review.decision, labels.get(pair, 0) > 0)
            if relevant is not None:
                found[pair][review.person] = relevant
    return dict(found)


def queue_for(person: str, sample: Sequence[Pair], votes: Votes) -> list[Pair]:
    """What a person looks at next: where two others contradict each other, what one other saw, what nobody saw."""
    order: dict[int, list[Pair]] = {0: [], 1: [], 2: []}
    for pair in dict.fromkeys((*sample, *_disputed(votes))):
        others = votes.get(pair, {})
        if person in others or (len(others) >= _PEOPLE and not _conflict(others)):
            continue
        order[0 if _conflict(others) else 1 if others else 2].append(pair)
    return [pair for pairs in order.values() for pair in pairs]


def standing_of(person: str, sample: Sequence[Pair], votes: Votes) -> Standing:
    """Where the sample stands, and how much of it this person has looked at."""
    seen = [votes.get(pair, {}) for pair in sample]
    settled = sum(len(one) >= _PEOPLE and not _conflict(one) for one in seen)
    return Standing(len(sample), settled, tuple(_disputed(votes)), sum(person in one for one in seen))


def agreements(votes: Votes) -> list[Agreement]:
    """Every two people who looked at the same pictures."""
    people = sorted({person for given in votes.values() for person in given})
    found = []
    for first, second in combinations(people, 2):
        both = {pair: given for pair, given in votes.items() if first in given and second in given}
        if both:
            tasks = dict.fromkeys(task for task, _ in both)
            shares = [_iou(task, first, second, both) for task in tasks]
            conflicts = tuple(pair for pair, given in both.items() if given[first] != given[second])
            found.append(Agreement(first, second, len(both), estimate(shares), conflicts))
    return found


def _iou(task: str, first: str, second: str, both: Votes) -> float:
    """|A ∩ B| / |A ∪ B| of the pictures that each finds relevant, of those that both saw; 1 where neither finds any."""
    mine = {pair for pair, given in both.items() if pair[0] == task and given[first]}
    theirs = {pair for pair, given in both.items() if pair[0] == task and given[second]}
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0


def _conflict(given: Mapping[str, bool]) -> bool:
    """As many say yes as say no; a third person decides."""
    return len(given) >= _PEOPLE and 2 * sum(given.values()) == len(given)


def _disputed(votes: Votes) -> list[Pair]:
    return [pair for pair, given in votes.items() if _conflict(given)]


class Book:
    """`reviews.jsonl` of one benchmark: a decision is on the disk before anybody is told that it is saved."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def read(self, folder: Path) -> tuple[Review, ...]:
        """All lines, withdrawn ones and withdrawals too."""
        source = Source(folder, CURRENT, stop, growing=True)
        return tuple(review for _, review in source.rows(REVIEWS))

    def decide(self, shelf: Shelf, person: str, task: str, picture: str | None, decision: str) -> Review:
        """Append one decision, and bring the card up to date."""
        review = Review(task, person, decision, datetime.now(UTC), picture)
        with self._lock:
            file = _opened(shelf.folder / REVIEWS.name)
            try:
                file.append(REVIEWS.line(review))
            finally:
                file.close()
            self._update_card(shelf)
        return review

    def undo(self, shelf: Shelf, person: str) -> Review | None:
        """Take back this person's last decision by a line that says so; None where there is none."""
        mine = [review for review in standing(self.read(shelf.folder)) if review.person == person]
        if not mine:
            return None
        self.decide(shelf, person, mine[-1].task, mine[-1].picture, WITHDRAW)
        return mine[-1]

    def _update_card(self, shelf: Shelf) -> None:
        """Label quality as the audit measures it, and the checksum of the file that has grown."""
        found = quality(shelf, self.read(shelf.folder))
        path = shelf.folder / HEADER
        header = read_json(path)
        card = header.setdefault("card", {})
        audit = card.get("audit") if isinstance(card.get("audit"), dict) else {}
        card["audit"] = audit | {
            "label_quality": None if found is None else asdict(found.right),
            "labels_checked": 0 if found is None else found.checked,
        }
        header["checksums"] = checksums(shelf.folder)
        write_json(path, header)


def quality(shelf: Shelf, reviews: Iterable[Review]) -> LabelQuality | None:
    """The share of labels that people find right; None where nobody checked any."""
    return label_quality(replace(shelf.benchmark, reviews=tuple(reviews)))


def _opened(path: Path) -> GrowingFile:
    """Another process may be writing its own line at this moment."""
    for _ in range(_PATIENCE):
        try:
            return GrowingFile(path)
        except UserError:
            time.sleep(0.02)
    return GrowingFile(path)
