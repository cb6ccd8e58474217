"""`reviews.jsonl` of a benchmark: what people decided, one line each, and what that says of the labels."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from sightline.bench.files import HEADER, REVIEWS
from sightline.bench.problems import ProblemsError, stop
from sightline.bench.schema import CURRENT
from sightline.bench.table import Source
from sightline.errors import SightlineError, UserError
from sightline.io import read_json, sha256_of, write_json
from sightline.make.audit.decisions import WITHDRAW, standing
from sightline.make.audit.judges import JudgeQuality, judge_quality
from sightline.make.audit.people import people_summary
from sightline.make.audit.reviews import Checked, check
from sightline.run.lines import GrowingFile
from sightline.types import Review
from sightline.web.library import Fresh, Shelf

log = logging.getLogger(__name__)

_PATIENCE = 50


@dataclass(frozen=True, slots=True)
class Figures:
    """What people's decisions say of the labels, and of each judge."""

    checked: Checked
    judges: tuple[JudgeQuality, ...]


_FIGURES: Fresh[Figures] = Fresh()


def figures_of(shelf: Shelf, reviews: Iterable[Review]) -> Figures:
    """Measured once for each state of the reviews."""
    held = tuple(reviews)

    def measured() -> Figures:
        reviewed = replace(shelf.benchmark, reviews=held)
        judges = judge_quality(reviewed, labels=shelf.labels, said=shelf.judges)
        return Figures(check(reviewed, labels=shelf.labels), judges)

    return _FIGURES.get(shelf.folder, (shelf.benchmark.checksum, held), measured)


def mark_of(review: Review) -> str:
    """Names one decision, so that an undo takes back that one and no other."""
    parts = (review.person, review.task, review.picture or "", review.decision, review.when.isoformat())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def last_of(reviews: Iterable[Review], person: str) -> Review | None:
    """The decision that somebody made last, of those that stand."""
    return next((review for review in reversed(standing(reviews)) if review.person == person), None)


@dataclass(slots=True)
class _Volume:
    """One benchmark's file: a lock for its lines and one for its card, and how far both have come."""

    lines: threading.Lock = field(default_factory=threading.Lock)
    card: threading.Lock = field(default_factory=threading.Lock)
    written: int = 0
    in_card: int = 0
    late: str | None = None


class Book:
    """The reviews of any number of benchmarks: a decision is on the disk before anybody is told that it is saved."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._volumes: dict[Path, _Volume] = {}
        self._read: Fresh[tuple[Review, ...]] = Fresh()

    def read(self, folder: Path) -> tuple[Review, ...]:
        """All lines, withdrawn ones and withdrawals too; a half last line counts as not written."""
        path = folder / REVIEWS.name
        try:
            state = path.stat()
            return self._read.get(folder, (state.st_mtime_ns, state.st_size), lambda: _reviews(folder))
        except FileNotFoundError:
            return ()
        except ProblemsError as error:
            raise UserError(f"The reviews of {folder} can't be read. {error}") from error
        except OSError as error:
            raise UserError(f"{path} can't be read: {error.strerror}.", "let this account read it") from error

    def late(self, folder: Path) -> str | None:
        """Why the card does not say what the reviews do, where it does not."""
        return self._volume(folder).late

    def decide(self, shelf: Shelf, person: str, task: str, picture: str | None, decision: str) -> Review:
        """Append one decision, and bring the card up to date; a form that is sent twice in a row counts once."""
        volume = self._volume(shelf.folder)
        review = Review(task, person, decision, datetime.now(UTC), picture)
        with volume.lines, _writing(shelf.folder / REVIEWS.name) as file:
            # Read first: what is wrong with the file is said before anything is written.
            last = last_of(self.read(shelf.folder), person)
            if last is not None and replace(last, when=review.when) == review:
                return last
            self._append(volume, file, review)
        self._update_card(shelf, volume)
        return review

    def undo(self, shelf: Shelf, person: str, mark: str) -> Review | None:
        """Take back a decision by a line that says so; None where it is not this person's last any more."""
        volume, path = self._volume(shelf.folder), shelf.folder / REVIEWS.name
        if not path.exists():
            return None
        with volume.lines, _writing(path) as file:
            last = last_of(self.read(shelf.folder), person)
            if last is None or mark_of(last) != mark:
                return None
            self._append(volume, file, replace(last, decision=WITHDRAW, when=datetime.now(UTC)))
        self._update_card(shelf, volume)
        return last

    def _volume(self, folder: Path) -> _Volume:
        with self._lock:
            return self._volumes.setdefault(folder, _Volume())

    @staticmethod
    def _append(volume: _Volume, file: GrowingFile, review: Review) -> None:
        file.append(REVIEWS.line(review))
        volume.written += 1

    def _update_card(self, shelf: Shelf, volume: _Volume) -> None:
        """The card as the decisions are now; who waited while another wrote it finds theirs in it already."""
        mine = volume.written
        with volume.card:
            if volume.in_card >= mine:
                return
            written = volume.written
            try:
                self._write_card(shelf)
                volume.late = None
            except (SightlineError, OSError) as error:  # The decision is saved; who decides again would have it twice.
                volume.late = str(error)
                log.warning("%s: the decision is saved, its card is not: %s", shelf.folder, error)
            volume.in_card = written

    def _write_card(self, shelf: Shelf) -> None:
        """What people say of the labels, as the audit measures it, and the checksum of the file that has grown."""
        found = figures_of(shelf, self.read(shelf.folder))
        path = shelf.folder / HEADER
        header = read_json(path)
        card = header.setdefault("card", {})
        audit = card.get("audit") if isinstance(card.get("audit"), dict) else {}
        card["audit"] = audit | people_summary(found.checked, found.judges)
        # Of no other table: what somebody damaged stays noticed.
        header.setdefault("checksums", {})[REVIEWS.name] = sha256_of(shelf.folder / REVIEWS.name)
        write_json(path, header)


def _reviews(folder: Path) -> tuple[Review, ...]:
    source = Source(folder, CURRENT, stop, growing=True)
    return tuple(review for _, review in source.rows(REVIEWS))


@contextmanager
def _writing(path: Path) -> Iterator[GrowingFile]:
    """The file, for us alone; on the disk when the block ends."""
    try:
        file = _opened(path)
        try:
            yield file
        finally:
            file.close()
    except OSError as error:
        raise UserError(
            f"{path} can't be written: {error.strerror}. The decision was not saved.",
            "let this account write there and make room, or review a copy of the benchmark",
        ) from error


def _opened(path: Path) -> GrowingFile:
    """Another process may be writing its own line at this moment."""
    for _ in range(_PATIENCE):
        try:
            return GrowingFile(path)
        except UserError:
            time.sleep(0.02)
    return GrowingFile(path)
