"""The human half of a benchmark: what people look at next, what they decided, and how far they agree.

`reviews.jsonl` gets one line for each decision, and the card what that says of the labels.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

from sightline.authoring.audit import people_summary
from sightline.authoring.judge_quality import JudgeQuality, judge_quality
from sightline.authoring.review import refresh_card
from sightline.benchmark.files import REVIEWS
from sightline.benchmark.label_quality import CheckedLabels, check_labels
from sightline.benchmark.problems import ProblemsError
from sightline.benchmark.review_decisions import (
    WHOLE,
    WITHDRAW,
    Pair,
    Votes,
    is_conflict,
    read_reviews,
    settled,
    standing,
    writing_reviews,
)
from sightline.errors import SightlineError, UserError
from sightline.io.append_only_file import AppendOnlyFile
from sightline.metrics.statistics.estimates import estimate
from sightline.types import Benchmark, Estimate, Relevance, Review
from sightline.web.cache import StampedCache, stamp_of
from sightline.web.library import LoadedBenchmark

TARGET_IOU = 0.91
"""What the annotators of DISBench reached."""
log = logging.getLogger(__name__)
_FIGURES: StampedCache[ReviewFigures] = StampedCache()


@dataclass(frozen=True, slots=True)
class ReviewerAgreement:
    """How far two people agree: how often they decide the same, and the IoU of what they find relevant, over tasks."""

    first: str
    second: str
    labels: int
    same: Estimate
    iou: Estimate | None
    conflicts: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """Where a sample stands: how much has enough decisions, and on what people contradict each other."""

    labels: int
    settled: int
    conflicts: tuple[Pair, ...]
    mine: int


def queue_for(person: str, sample: Sequence[Pair], votes: Votes) -> list[Pair]:
    """What a person looks at next: where two others contradict each other, what one other saw, what nobody saw.

    What somebody decided outside the sample, such as a picture that was missed, waits for a second person too. Of a
    query that this person or enough people reject, nothing else is asked. When nothing else is left, pictures come
    again on which this person and others contradict each other: one more decision settles them.
    """
    order: dict[int, list[Pair]] = {0: [], 1: [], 2: []}
    own: list[Pair] = []
    refused = {
        task
        for (task, picture), given in votes.items()
        if picture == WHOLE and (given.get(person) is False or settled(given) is False)
    }
    for pair in dict.fromkeys((*sample, *votes)):
        others = votes.get(pair, {})
        if settled(others) is not None or (pair[0] in refused and pair[1] != WHOLE):
            continue
        if person not in others:
            order[0 if is_conflict(others) else 1 if others else 2].append(pair)
        elif pair[1] != WHOLE and is_conflict(others):
            own.append(pair)
    return [pair for pairs in order.values() for pair in pairs] or own


def standing_of(person: str, sample: Sequence[Pair], votes: Votes) -> ReviewProgress:
    """Where the sample stands, and how much of it this person has looked at."""
    seen = [votes.get(pair, {}) for pair in sample]
    done = sum(settled(one) is not None for one in seen)
    disputed = tuple(pair for pair, given in votes.items() if is_conflict(given))
    return ReviewProgress(len(sample), done, disputed, sum(person in one for one in seen))


def agreements(votes: Votes) -> list[ReviewerAgreement]:
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
                ReviewerAgreement(
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


@dataclass(frozen=True, slots=True)
class ReviewFigures:
    """What people's decisions say of the labels, and of each judge."""

    checked: CheckedLabels
    judges: tuple[JudgeQuality, ...]


def figures_of(loaded: LoadedBenchmark, reviews: Iterable[Review]) -> ReviewFigures:
    """Measured once for each state of the reviews."""
    held = tuple(reviews)

    def measured() -> ReviewFigures:
        reviewed = replace(loaded.benchmark, reviews=held)
        judges = judge_quality(reviewed, labels=loaded.labels, said=loaded.judges)
        return ReviewFigures(check_labels(reviewed, labels=loaded.labels), judges)

    return _FIGURES.get(loaded.folder, (loaded.benchmark.checksum, held), measured)


def mark_of(review: Review) -> str:
    """Names one decision, so that an undo takes back that one and no other."""
    parts = (review.person, review.task, review.picture or "", review.decision, review.when.isoformat())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def last_of(reviews: Iterable[Review], person: str) -> Review | None:
    """The decision that somebody made last, of those that stand."""
    return next((review for review in reversed(standing(reviews)) if review.person == person), None)


@dataclass(slots=True)
class _ReviewFile:
    """One benchmark's file: a lock for its lines and one for its card, and how far both have come."""

    lines: threading.Lock = field(default_factory=threading.Lock)
    card: threading.Lock = field(default_factory=threading.Lock)
    written: int = 0
    in_card: int = 0
    late: str | None = None


class ReviewLog:
    """The reviews of any number of benchmarks: a decision is on the disk before anybody is told that it is saved."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._volumes: dict[Path, _ReviewFile] = {}
        self._read: StampedCache[tuple[Review, ...]] = StampedCache()

    def read(self, folder: Path) -> tuple[Review, ...]:
        """All lines, withdrawn ones and withdrawals too; a half last line counts as not written."""
        path = folder / REVIEWS.name
        try:
            return self._read.get(folder, stamp_of(path), lambda: read_reviews(folder))
        except FileNotFoundError:
            return ()
        except ProblemsError as error:
            raise UserError(f"The reviews of {folder} can't be read. {error}") from error
        except OSError as error:
            raise UserError(f"{path} can't be read: {error.strerror}.", "let this account read it") from error

    def late(self, folder: Path) -> str | None:
        """Why the card does not say what the reviews do, where it does not."""
        return self._volume(folder).late

    def decide(self, loaded: LoadedBenchmark, person: str, task: str, picture: str | None, decision: str) -> Review:
        """Append one decision, and bring the card up to date; a form that is sent twice in a row counts once."""
        volume = self._volume(loaded.folder)
        review = Review(task, person, decision, datetime.now(UTC), picture)
        with volume.lines, writing_reviews(loaded.folder / REVIEWS.name) as file:
            # Read first: what is wrong with the file is said before anything is written.
            last = last_of(self.read(loaded.folder), person)
            if last is not None and replace(last, when=review.when) == review:
                return last
            self._append(volume, file, review)
        self._update_card(loaded, volume)
        return review

    def undo(self, loaded: LoadedBenchmark, person: str, mark: str) -> Review | None:
        """Take back a decision by a line that says so; None where it is not this person's last any more."""
        volume, path = self._volume(loaded.folder), loaded.folder / REVIEWS.name
        if not path.exists():
            return None
        with volume.lines, writing_reviews(path) as file:
            last = last_of(self.read(loaded.folder), person)
            if last is None or mark_of(last) != mark:
                return None
            self._append(volume, file, replace(last, decision=WITHDRAW, when=datetime.now(UTC)))
        self._update_card(loaded, volume)
        return last

    def _volume(self, folder: Path) -> _ReviewFile:
        with self._lock:
            return self._volumes.setdefault(folder, _ReviewFile())

    @staticmethod
    def _append(volume: _ReviewFile, file: AppendOnlyFile, review: Review) -> None:
        file.append(REVIEWS.line(review))
        volume.written += 1

    def _update_card(self, loaded: LoadedBenchmark, volume: _ReviewFile) -> None:
        """The card as the decisions are now; who waited while another wrote it finds theirs in it already."""
        mine = volume.written
        with volume.card:
            if volume.in_card >= mine:
                return
            written = volume.written
            try:
                self._write_card(loaded)
                volume.late = None
            except (SightlineError, OSError) as error:  # The decision is saved; who decides again would have it twice.
                volume.late = str(error)
                log.warning("%s: the decision is saved, its card is not: %s", loaded.folder, error)
            volume.in_card = written

    def _write_card(self, loaded: LoadedBenchmark) -> None:
        """What people say of the labels, as the audit measures it, and the checksum of the file that has grown."""
        reviews = self.read(loaded.folder)
        found = figures_of(loaded, reviews)
        reviewed = replace(loaded.benchmark, reviews=reviews)
        refresh_card(loaded.folder, reviewed, people_summary(found.checked, found.judges), loaded.labels)
