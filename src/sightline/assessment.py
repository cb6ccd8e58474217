"""Your queries, your systems, your judgments: which pictures to look at, and what is known so far.

The decisions lie in the benchmark's `reviews.jsonl`, one line each, on the disk before `tell` returns. An assessment
that is opened again after a kill, by another process or by another person goes on where it was: what is drawn depends
on the seed alone, and everything else follows from the file.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from sightline.benchmark.review_decisions import WITHDRAW, grade_of, standing
from sightline.benchmark.review_file import append_review, read_reviews
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import PathLike
from sightline.metrics.agreement import AgreementReport
from sightline.metrics.assessment import (
    HIGHEST,
    Assessed,
    Goal,
    Inquiry,
    Item,
    agreement_of,
    gain,
    is_for,
    people_needed,
)
from sightline.metrics.comparison import Comparison, PairedComparison, SystemStanding
from sightline.metrics.scores import Scores
from sightline.metrics.statistics import PairedDifference, tie_letters
from sightline.runs.pooled_runs import PooledRuns, pool_runs
from sightline.scoring import benchmark_of, run_of
from sightline.types import Benchmark, Estimate, Review, Run

DEPTH = 10
METRIC = f"dcg@{DEPTH}"
SKIP: Literal["skip"] = "skip"
CANT_TELL: Literal["can't tell"] = "can't tell"
Grade: TypeAlias = Literal[0, 1, 2, 3, "skip", "can't tell"]
_AT_WORK = timedelta(minutes=10)
"""Who has not decided anything for so long has left; their pictures go to others."""
_TARGET = (
    f"{METRIC} is the DCG of the first {DEPTH} results with gain grade/3, as a share of {DEPTH} perfect results; "
    "a query without a result counts as zero"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A picture to grade for a query: the task's id, the picture's id, the words of the query, where the picture is."""

    task: str
    picture: str
    text: str
    uri: str


@dataclass(eq=False)
class Assessment:
    """Pictures to grade, and what the grades say so far; safe for several threads, processes and people.

    `next` gives pictures to grade, `tell` keeps a grade, `undo` takes the last one back. `settled` says that the
    question is answered: looking at it after every decision is allowed, its intervals hold at all times together.
    """

    benchmark: Benchmark
    pooled: PooledRuns
    goal: Goal
    half_width: float
    people: int
    seed: int
    level: float = 0.95
    _inquiry: Inquiry = field(init=False, repr=False)
    _lock: threading.RLock = field(init=False, repr=False, default_factory=threading.RLock)
    _reviews: tuple[Review, ...] = field(init=False, repr=False, default=())
    _stamp: int | None = field(init=False, repr=False, default=None)
    _votes: dict[Item, dict[str, int | None]] = field(init=False, repr=False, default_factory=dict)
    _seen: dict[str, datetime] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._tasks = {task: number for number, task in enumerate(self.pooled.tasks)}
        self._inquiry = Inquiry(self.pooled.pool, self.goal, self.seed, self.level, self._judge())
        self._take(self.benchmark.reviews)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, in the order of the runs."""
        return self.pooled.systems

    @property
    def settled(self) -> bool:
        """Whether the better system is known (or every score, for goal "score") to within `half_width`."""
        with self._lock:
            self._refresh()
            return self._inquiry.settled(self.half_width)

    @property
    def spent(self) -> int:
        """How many decisions people made about results of these systems."""
        with self._lock:
            self._refresh()
            return sum(map(len, self._votes.values()))

    def next(self, n: int = 1, person: str = "me") -> list[Pair]:
        """The next pictures for this person to grade, at most `n`; fewer where nothing is left to ask."""
        _check_person(person)
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise UserError(f"next({n!r}) must be given a number of pictures.", "Give a whole number from 1 on.")
        with self._lock:
            self._refresh()
            self._seen[person] = datetime.now(UTC)
            found: dict[Item, None] = {}
            for item in self._open_to(person):
                found[item] = None
                if len(found) == n:
                    break
            return [self._pair(item) for item in found]

    def tell(self, pair: Pair, grade: Grade, person: str = "me") -> None:
        """Keep what somebody said of a picture: a grade from 0 to 3, "skip" or "can't tell". The last word counts."""
        _check_person(person)
        if isinstance(grade, bool) or grade not in get_args(Grade):
            raise UserError(f"{grade!r} is not a grade.", 'Give a grade from 0 to 3, "skip" or "can\'t tell".')
        if pair.task not in self._tasks or pair.picture not in self.pooled.place:
            raise UserError(
                f'Picture "{pair.picture}" for task "{pair.task}" is not part of this assessment.',
                "Grade pairs that next() gives.",
            )
        self._append(Review(pair.task, person, str(grade), datetime.now(UTC), pair.picture))

    def undo(self, person: str = "me") -> Pair | None:
        """Take back this person's last decision, and give the picture back; None where there is none."""
        _check_person(person)
        with self._lock:
            self._refresh()
            mine = (one for one in reversed(standing(self._reviews)) if one.person == person and self._item(one))
            last = next(mine, None)
            if last is None:
                return None
            self._append(replace(last, decision=WITHDRAW, when=datetime.now(UTC)))
            return self._pair((self._tasks[last.task], self.pooled.place[last.picture or ""]))

    def scores(self) -> dict[str, Scores]:
        """The score of each system with its interval; goal "compare" judges only what differs, and has no scores."""
        with self._lock:
            self._refresh()
            return {name: self._scores(at, name) for at, name in enumerate(self.systems)}

    def comparison(self) -> Comparison:
        """Every two systems: difference with its interval, and whether they can be told apart."""
        with self._lock:
            self._refresh()
            pairs = tuple(self._compared(first, second) for first, second in self._inquiry.twos)
            return Comparison(
                benchmark=self.benchmark.name,
                systems=self.systems,
                metrics=(METRIC,),
                level=self.level,
                seed=self.seed,
                clustered_by=None,
                standings={METRIC: self._standings(pairs)},
                pairs=pairs,
                notes=self._notes(),
            )

    def agreement(self) -> AgreementReport | None:
        """How far people agree on the pictures that two of them graded; None where there are none."""
        with self._lock:
            self._refresh()
            return agreement_of(list(self._votes.values()))

    # What was decided.

    def _append(self, review: Review) -> None:
        with self._lock:
            if self.benchmark.folder is None:
                self._take((*self._reviews, review))
            else:
                append_review(self.benchmark.folder, review)
                self._refresh()

    def _refresh(self) -> None:
        """Read what this or another process has written since."""
        if self.benchmark.folder is None:
            return
        path = self.benchmark.folder / "reviews.jsonl"
        stamp = path.stat().st_size if path.exists() else None
        if stamp != self._stamp:
            self._take(read_reviews(self.benchmark.folder))
            self._stamp = stamp

    def _take(self, reviews: tuple[Review, ...]) -> None:
        votes: dict[Item, dict[str, int | None]] = {}
        for review in standing(reviews):
            if (item := self._item(review)) is not None:
                grade = grade_of(review.decision)
                votes.setdefault(item, {})[review.person] = None if grade is None else min(grade, HIGHEST)
        for item in {**self._votes, **votes}:
            if self._votes.get(item) != votes.get(item):
                self._inquiry.tell(item, gain(votes.get(item, {})))
        self._reviews, self._votes = reviews, votes

    def _item(self, review: Review) -> Item | None:
        """The pair that a decision grades; None for one about something else."""
        task, picture = self._tasks.get(review.task), self.pooled.place.get(review.picture or "")
        graded = grade_of(review.decision) is not None or review.decision in (SKIP, CANT_TELL)
        return None if task is None or picture is None or not graded else (task, picture)

    def _judge(self) -> dict[Item, float]:
        """How far model judges hold each pair to be relevant, from 0 to 1, on average over judges."""
        top = max((one.grade for one in self.benchmark.judgments), default=1) or 1
        said: dict[Item, list[float]] = {}
        for one in self.benchmark.judgments:
            task, picture = self._tasks.get(one.task), self.pooled.place.get(one.picture)
            if task is not None and picture is not None:
                sure, share = 0.9 if one.confidence is None else one.confidence, one.grade / top
                said.setdefault((task, picture), []).append(sure * share + (1 - sure) * (1 - share))
        return {item: sum(each) / len(each) for item, each in said.items()}

    # What to ask.

    def _open_to(self, person: str) -> Iterator[Item]:
        """What needs another opinion comes first, then what nobody answered; of several people each gets their own."""
        for item, votes in self._votes.items():
            if person not in votes and len(votes) < people_needed(votes, str(item), self.people, self.seed):
                yield item
        now = datetime.now(UTC)
        latest = {one.person: one.when for one in self._reviews} | self._seen
        active = {name for name, when in latest.items() if now - when < _AT_WORK} | {person}
        for item in self._inquiry.undecided(self.half_width):
            if self.people == 1 or is_for(person, str(item), active):
                yield item

    def _pair(self, item: Item) -> Pair:
        task, picture = self.pooled.tasks[item[0]], self.pooled.pictures[item[1]]
        return Pair(task, picture, self.benchmark.tasks[task].text, self.benchmark.corpus.pictures[picture].uri)

    # What is known.

    def _scores(self, at: int, name: str) -> Scores:
        found = self._inquiry.score(at)
        return Scores(
            benchmark=self.benchmark.name,
            system=name,
            metrics=(METRIC,),
            level=self.level,
            seed=self.seed,
            tasks=(),
            overall={METRIC: self._estimate(found, name)},
            by_label={},
            failures={"no ranking": self.pooled.failures[name]} if self.pooled.failures[name] else {},
            notes=self._notes(),
        )

    def _estimate(self, found: Assessed | None, name: str) -> Estimate:
        failed = self.pooled.failures[name]
        if found is None:
            reason = 'only results that differ are judged; use goal="score"'
            return Estimate(0.0, 0.0, 1.0, 0, failed, None, self.level, "none", reason)
        answered = found.mean / (1 - failed / len(self._tasks))
        return Estimate(found.mean, found.low, found.high, len(self._tasks), failed, answered, self.level, "betting")

    def _compared(self, first: int, second: int) -> PairedComparison:
        found = self._inquiry.difference((first, second))
        wins, ties, losses = self._inquiry.outcomes((first, second))
        n = wins + ties + losses
        difference = PairedDifference(
            mean=found.mean,
            low=found.low,
            high=found.high,
            n=n,
            level=self.level,
            method="betting",
            p=found.p,
            test="betting",
            dz=None,
            wins=wins,
            ties=ties,
            losses=losses,
            win_rate=(wins + ties / 2) / n if n else None,
        )
        adjusted = min(1.0, found.p * len(self._inquiry.twos))
        return PairedComparison(METRIC, self.systems[first], self.systems[second], difference, adjusted, {})

    def _standings(self, pairs: Sequence[PairedComparison]) -> tuple[SystemStanding, ...]:
        ahead: Counter[str] = Counter(dict.fromkeys(self.systems, 0))
        total = dict.fromkeys(self.systems, 0.0)
        for pair in pairs:
            total[pair.second] += pair.difference.mean
            total[pair.first] -= pair.difference.mean
        ranked = sorted(ahead, key=lambda name: -total[name])
        letters = tie_letters(ranked, [(one.first, one.second) for one in pairs if one.is_win(self.level)])
        estimates = {name: self._estimate(self._inquiry.score(at), name) for at, name in enumerate(self.systems)}
        return tuple(SystemStanding(name, estimates[name], letters[name]) for name in ranked)

    def _notes(self) -> tuple[str, ...]:
        found = [_TARGET]
        for name in self.systems:
            if self.pooled.failures[name]:
                failed = counted(self.pooled.failures[name], "query", "queries")
                found.append(f"{name} failed on {failed}; each counts as zero")
            if self.pooled.unknown[name]:
                unknown = counted(self.pooled.unknown[name], "result")
                found.append(f"{name} returned {unknown} that are not in the corpus; each counts as zero")
        unclear = sum(
            gain(votes) is not None and not any(one is not None for one in votes.values())
            for votes in self._votes.values()
        )
        if unclear:
            found.append(f"nobody could tell for {counted(unclear, 'picture')}; each counts as half")
        return tuple(found)


def _check_person(person: object) -> None:
    if not isinstance(person, str) or not person.strip():
        raise UserError(f"{person!r} is not a person's name.", 'Give a name, such as person="ann".')


def assess(
    benchmark: PathLike | Benchmark,
    runs: Sequence[PathLike | Run],
    *,
    goal: Goal = "compare",
    half_width: float = 0.05,
    people: int = 1,
    seed: int = 0,
) -> Assessment:
    """Judge the results of your systems until it is known which is better: only pictures that help are shown.

    Decisions are kept in the benchmark's `reviews.jsonl`; the same call goes on with them. A benchmark that is only in
    memory keeps them in memory.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark, or the benchmark itself. It needs queries and pictures; labels are not needed.
        Grades that models gave (its judgments) make fewer decisions necessary and are never taken for the truth.
    runs:
        What the systems returned: folders of runs, or runs. A task without a ranking counts as zero.
    goal:
        "compare" to find the best system, "score" to measure each.
    half_width:
        How exact to be. A difference is settled when zero is excluded, or when it is known to within so much.
    people:
        How many people judge. With two or more, one picture in five is given to two of them.
    seed:
        Decides which pictures are drawn. Keep it: with another seed the guarantee starts over.

    Returns
    -------
    Assessment
        `next()` gives pictures to grade, `tell(pair, grade)` keeps a grade, `settled` says when to stop, and
        `comparison()` and `scores()` what is known.

    Examples
    --------
    >>> found = sightline.assess("bench", ["run", "other_run"])
    >>> pair = found.next()[0]
    >>> found.tell(pair, 3)
    >>> found.spent
    1
    """
    opened = benchmark_of(benchmark)
    if isinstance(runs, str | Path | Run) or not isinstance(runs, Sequence):
        raise UserError("An assessment needs a list of runs.", 'Give a list: assess(bench, ["run_a", "run_b"]).')
    _check(goal, half_width, people, len(runs))
    named = ((_name(run, found), found) for run in runs for found in [run_of(run)])
    return Assessment(opened, pool_runs(opened, named, DEPTH), goal, half_width, people, seed)


def _check(goal: object, half_width: float, people: int, runs: int) -> None:
    if goal not in get_args(Goal):
        raise UserError(f'The goal "{goal}" is unknown.', 'Use "compare" or "score".')
    least = 2 if goal == "compare" else 1
    if runs < least:
        raise UserError(f"{counted(runs, 'run')} can't be assessed with goal {goal}.", f"Give at least {least}.")
    if not 0 < half_width < 1:
        raise UserError(f"half_width must be between 0 and 1, not {half_width}.", "0.05 is usual.")
    if people < 1:
        raise UserError(f"people must be at least 1, not {people}.", "Say how many people judge.")


def _name(given: PathLike | Run, run: Run) -> str:
    """The folder's name where there is one: two runs of one system are told apart by it."""
    return run.system if isinstance(given, Run) else Path(given).expanduser().resolve().name
