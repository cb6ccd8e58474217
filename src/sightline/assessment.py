"""Your queries, your systems, your judgments: which pictures to look at, and what is known so far.

The decisions lie in the benchmark's `reviews.jsonl`, one line each, on the disk before `tell` returns. An assessment
that is opened again after a kill, by another process or by another person goes on where it was: what is drawn depends
on the seed (and the runs) alone, and everything else follows from the file.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from sightline.benchmark.files import REVIEWS
from sightline.benchmark.review_decisions import WITHDRAW, append_review, grade_of, read_reviews, standing
from sightline.display import Shown
from sightline.english import counted, listed
from sightline.errors import UserError, require_at_least, require_one_of
from sightline.io.files import PathLike
from sightline.metrics.agreement import AgreementReport
from sightline.metrics.assessment.inquiry import Goal, Inquiry, Item
from sightline.metrics.assessment.votes import HIGHEST, agreement_of, gain, is_for, people_needed
from sightline.metrics.comparison import Comparison, PairedComparison, SystemStanding
from sightline.metrics.scores import Scores
from sightline.metrics.statistics.paired import PairedDifference
from sightline.metrics.statistics.significance import tie_letters
from sightline.runs.pooled_runs import PooledRuns, pool_runs
from sightline.scoring import benchmark_of, run_of
from sightline.types import Benchmark, Estimate, Review, Run

DEPTH = 10
METRIC = f"dcg@{DEPTH}"
HALF_WIDTH = 0.05
Grade: TypeAlias = Literal[0, 1, 2, 3, "skip", "can't tell"]
GRADES = {0: "does not fit", 1: "fits a little", 2: "mostly fits", 3: "is exactly what was asked for"}
"""What each grade says of a picture."""
_UNSURE = ("skip", "can't tell")
_UNASKED = "nobody is asked about it, and intervals of differences hold whatever the others found there"
_AT_WORK = timedelta(minutes=2)
"""Who has not decided anything for so long has left; their pictures go to others."""
_RUNS = "Name their folders: what make --pool kept as BENCH/runs/NAME, or what sightline run wrote."
UNIT = (
    f"{METRIC}: DCG of the first {DEPTH} results with gain grade/3, as a share of {DEPTH} perfect results; where "
    f"queries have fewer relevant pictures, a difference is larger in nDCG@{DEPTH} (1.5 times on our photographs, "
    "at most 4.5)"
)
"""What is measured, and how it differs from what most people have in mind."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A picture to grade for a query: the task's id, the picture's id, the words of the query, where the picture is.

    `shown` is where the pictures of the query are, for a search by picture.
    """

    task: str
    picture: str
    text: str
    uri: str
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outlook:
    """What some time of judging can settle: about the least difference (or half-width of scores) in `METRIC`."""

    minutes: float
    decisions: int
    difference: float

    def __str__(self) -> str:
        return (
            f"In {self.minutes:g} minutes (about {self.decisions:,} decisions) a difference of about "
            f"{self.difference:.2g} in {METRIC} can be settled; half of it takes four times as long."
        )


@dataclass(eq=False, repr=False)
class Assessment(Shown):
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
    _inquiry: Inquiry = field(init=False)
    _lock: threading.RLock = field(init=False, default_factory=threading.RLock)
    _reviews: tuple[Review, ...] = field(init=False, default=())
    _stamp: int | None = field(init=False, default=None)
    _votes: dict[Item, dict[str, int | None]] = field(init=False, default_factory=dict)
    _seen: dict[str, datetime] = field(init=False, default_factory=dict)
    _undone: dict[str, Item] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._tasks = {task: number for number, task in enumerate(self.pooled.tasks)}
        self._inquiry = Inquiry(self.pooled.pool, self.goal, self.seed, self.level, self._judge(), self.systems)
        self._take(self.benchmark.reviews)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, in the order of the runs."""
        return self.pooled.systems

    def _line(self) -> str:
        known = "settled" if self.settled else "not settled yet"
        return f"{listed(self.systems)} on {self.benchmark.name}: {known} after {counted(self.spent, 'decision')}"

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
        require_at_least(1, n=n)
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

    def has_told(self, pair: Pair, person: str = "me") -> bool:
        """Whether a decision of this name stands for a picture: if it is not your own, two people share a name."""
        with self._lock:
            self._refresh()
            item = self._tasks.get(pair.task, -1), self.pooled.place.get(pair.picture, -1)
            return person in self._votes.get(item, {})

    def undo(self, person: str = "me") -> Pair | None:
        """Take back this person's last decision, and give the picture back; None where there is none."""
        _check_person(person)
        with self._lock:
            self._refresh()
            mine = (one for one in reversed(standing(self._reviews)) if one.person == person and self._item(one))
            last = next(mine, None)
            if last is None:
                return None
            item = self._undone[person] = self._tasks[last.task], self.pooled.place[last.picture or ""]
            self._append(replace(last, decision=WITHDRAW, when=datetime.now(UTC)))
            return self._pair(item)

    def scores(self) -> dict[str, Scores]:
        """The score of each system with its interval; goal "compare" judges only what differs, and has no scores."""
        with self._lock:
            self._refresh()
            return {name: self._scores(name) for name in self.systems}

    def comparison(self) -> Comparison:
        """Every two systems: difference with its interval, and whether they can be told apart."""
        with self._lock:
            self._refresh()
            pairs = tuple(self._compared(first, second) for first, second in self._inquiry.twos)
            standings, notes = {METRIC: self._standings(pairs)}, self._notes()
            about = self.benchmark.name, self.systems, (METRIC,), self.level, self.seed, None
            return Comparison(*about, standings=standings, pairs=pairs, notes=notes)

    def answer(self) -> str:
        """What is known, in a sentence: who is better, or how large the difference can still be."""
        if not self.settled:
            return f"Not settled yet after {counted(self.spent, 'decision')}."
        after = f"Settled after {counted(self.spent, 'decision')}:"
        if self.goal == "score":
            return f"{after} every score is known to within ±{self.half_width:g} {METRIC}."
        pairs = self.comparison().pairs
        leader = self.systems[int(self._inquiry.ahead().argmax())]
        beaten, close, failing = list[str](), list[str](), dict[str, None]()
        for one in pairs:
            if leader not in (one.first, one.second):
                continue
            other = one.first if one.second == leader else one.second
            if one.is_win(self.level):
                beaten.append(other)
            else:
                most = max(abs(one.difference.low), abs(one.difference.high))
                more = f" (more in nDCG@{DEPTH})" if most > 0 else ""
                close.append(f"it differs from {other} by {most:.2f} {METRIC} at most{more}")
                failing |= {name: None for name in (leader, other) if self.pooled.failures[name]}
        close += [f"run {listed(failing)} again on failed queries to know more"] if failing else []
        ahead = f"no winner; {leader} is ahead" if self._inquiry.ahead().any() else "no winner"
        said = [f"{leader} is better than {listed(beaten)}"] if beaten else [ahead]
        return f"{after} {'; '.join([*said, *close])}."

    def outlook(self, minutes: float = 30, seconds: float = 4) -> Outlook:
        """What so many minutes of judging, at so many seconds for a decision, can settle."""
        with self._lock:
            self._refresh()
            decisions = max(1, int(minutes * 60 / seconds))
            return Outlook(minutes, decisions, self._inquiry.reachable(decisions))

    def agreement(self) -> AgreementReport | None:
        """How far people agree on the pictures that two of them graded; None where there are none."""
        with self._lock:
            self._refresh()
            return agreement_of(list(self._votes.values()))

    # Decisions.

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
        path = self.benchmark.folder / REVIEWS.name
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
        graded = grade_of(review.decision) is not None or review.decision in _UNSURE
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
        """What was undone, what needs another opinion, then what nobody answered: each person their own."""
        if person in self._undone and person not in self._votes.get(self._undone[person], {}):
            yield self._undone[person]
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
        task, picture = self.benchmark.tasks[self.pooled.tasks[item[0]]], self.pooled.pictures[item[1]]
        known = self.benchmark.corpus.pictures
        shown = tuple(known[one.id].uri for one in task.pictures)
        return Pair(task.id, picture, task.text, known[picture].uri, shown)

    # What is known.

    def _scores(self, name: str) -> Scores:
        failed = self.pooled.failures[name]
        failures, overall = {"no ranking": failed} if failed else {}, {METRIC: self._estimate(name)}
        found = Scores(self.benchmark.name, name, (METRIC,), self.level, self.seed, (), overall, {})
        return replace(found, failures=failures, notes=self._notes())

    def _estimate(self, name: str) -> Estimate:
        found, failed = self._inquiry.score(self.systems.index(name)), self.pooled.failures[name]
        if found is None:
            reason = 'only results that differ are judged; use goal="score"'
            return Estimate(0.0, 0.0, 1.0, 0, failed, None, self.level, "none", reason)
        answered = found.mean / self.pooled.answered[name]
        return Estimate(found.mean, found.low, found.high, len(self._tasks), failed, answered, self.level, "betting")

    def _compared(self, first: int, second: int) -> PairedComparison:
        found = self._inquiry.difference((first, second))
        wins, ties, losses = self._inquiry.outcomes((first, second))
        n = wins + ties + losses
        rate, why = ((wins + ties / 2) / n, None) if n else (None, "nothing judged yet")
        difference = PairedDifference(
            found.mean,
            found.low,
            found.high,
            n,
            self.level,
            "betting",
            found.p,
            "betting",
            None,
            wins,
            ties,
            losses,
            rate,
            why,
        )
        adjusted = min(1.0, found.p * len(self._inquiry.twos))
        return PairedComparison(METRIC, self.systems[first], self.systems[second], difference, adjusted, {})

    def _standings(self, pairs: Sequence[PairedComparison]) -> tuple[SystemStanding, ...]:
        ahead = dict(zip(self.systems, self._inquiry.ahead().tolist(), strict=True))
        ranked = sorted(ahead, key=lambda name: -ahead[name])
        letters = tie_letters(ranked, [(one.first, one.second) for one in pairs if one.is_win(self.level)])
        return tuple(SystemStanding(name, self._estimate(name), letters[name]) for name in ranked)

    def _notes(self) -> tuple[str, ...]:
        found = [UNIT]
        for name in self.systems:
            if failed := self.pooled.failures[name]:
                of = f"{name} failed on {counted(failed, 'query', 'queries')}; each counts as zero"
                found.append(f"{of}, {_UNASKED}" if self.goal == "compare" else of)
            if empty := self.pooled.empty[name]:
                found.append(f"{name} returned no picture for {counted(empty, 'query', 'queries')}")
            if unknown := self.pooled.unknown[name]:
                found.append(
                    f"{name} returned {counted(unknown, 'id')} that are not in the corpus; each counts as zero"
                )
        if unclear := sum(all(one is None for one in votes.values()) for votes in self._votes.values()):
            found.append(f"no person could tell for {counted(unclear, 'picture')}; each counts as half relevant")
        if self._inquiry.judge and self._inquiry.twos:
            saved = max(self._inquiry.difference(two).saved for two in self._inquiry.twos)
            fewer = int(self.spent * saved / (1 - saved)) if saved < 1 else 0
            found.append(f"the model's grades saved {f'about {fewer:,} decisions' if fewer else 'no decision'}")
        return tuple(found)


def _check_person(person: object) -> None:
    if not isinstance(person, str) or not person.strip():
        raise UserError(f"{person!r} is not a person's name.", 'Give a name, such as person="ann".')


def assess(
    benchmark: PathLike | Benchmark,
    runs: Sequence[PathLike | Run],
    *,
    goal: Goal = "compare",
    half_width: float = HALF_WIDTH,
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
        What the systems returned: folders of runs, or runs. A task without a ranking counts as zero, and nobody is
        asked about it for that system.
    goal:
        "compare" to find the best system, "score" to measure each.
    half_width:
        How exact to be, in `dcg@10`, whose differences are about two thirds of those in nDCG@10. A difference is
        settled when zero is excluded, or when it is surely no larger than this; a score when it is known to ± this.
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
    opened, least = benchmark_of(benchmark), 2 if goal == "compare" else 1
    require_one_of(get_args(Goal), goal=goal)
    if isinstance(runs, str | Path | Run) or not isinstance(runs, Sequence) or len(runs) < least:
        raise UserError(f"An assessment with goal {goal} needs a list of {least} runs or more.", _RUNS)
    if not 0 < half_width < 1:
        raise UserError(f"half_width must be between 0 and 1, not {half_width}.", f"{HALF_WIDTH} is usual.")
    require_at_least(1, people=people)
    named = ((_name(run, found), found) for run in runs for found in [run_of(run)])
    return Assessment(opened, pool_runs(opened, named, DEPTH), goal, half_width, people, seed)


def _name(given: PathLike | Run, run: Run) -> str:
    """The folder's name where there is one: two runs of one system are told apart by it."""
    return run.system if isinstance(given, Run) else Path(given).expanduser().resolve().name
