"""Reviews applied: labels, words and answers as people settled them, and rejected queries left out.

What differs between two versions of a benchmark is listed, with by whose decisions.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias

from sightline.benchmark.review_decisions import (
    ANSWER,
    NOTE,
    OPTION,
    PEOPLE,
    REVIEWED,
    REWORD,
    WHOLE,
    Pair,
    ReviewVote,
    cast_votes,
    decision_of,
    grade_of,
    is_about_the_label,
    labels_of,
    reason_of,
    settled,
    standing,
)
from sightline.metrics.assessment.votes import HIGHEST
from sightline.metrics.attempt_scores import has_something
from sightline.types import Answer, Benchmark, Candidate, Choice, Json, Part, PictureSet, Relevance, Review, Task, Truth

What: TypeAlias = Literal["label", "new label", "words", "answer"]


@dataclass(frozen=True, slots=True)
class ReviewChange:
    """One thing that is different now: what it was, by whose decisions, and when the last of them was made."""

    task: str
    what: What
    was: Json
    now: Json
    people: tuple[str, ...]
    when: datetime
    picture: str | None = None


@dataclass(frozen=True, slots=True)
class DroppedQuery:
    """A query that is not in the new version, and why."""

    task: str
    reason: str
    people: tuple[str, ...] = ()
    when: datetime | None = None


@dataclass(frozen=True, slots=True)
class AppliedReviews:
    """A new version of a benchmark, and all that makes it differ from the one before."""

    benchmark: Benchmark
    changes: tuple[ReviewChange, ...]
    left_out: tuple[DroppedQuery, ...]
    accepted: tuple[str, ...]
    confirmed: int
    undecided: int

    def counts(self) -> dict[str, int]:
        """The summary of what changed, in numbers."""
        kinds = Counter(change.what for change in self.changes)
        return {
            "queries": len(self.benchmark.tasks),
            "labels changed": kinds["label"],
            "labels added": kinds["new label"],
            "labels confirmed": self.confirmed,
            "queries reworded": kinds["words"],
            "answers corrected": kinds["answer"],
            "queries accepted": len(self.accepted),
            "queries left out": len(self.left_out),
            "undecided": self.undecided,
        }


def apply_reviews(benchmark: Benchmark, *, people: int = PEOPLE, accepted_only: bool = False) -> AppliedReviews:
    """The next version of a benchmark, in which people outrank whoever made its labels.

    A decision counts once `people` agree, or one more has decided between them. The newest words of a query count.
    With `accepted_only`, queries that were not accepted as a whole are left out too. Decisions about a label are turned
    into ones about the picture, so that they keep their meaning; what labels, words and answers were before is in each
    task's `extra["reviewed"]`.
    """
    decisions = _Decisions(benchmark, people, accepted_only)
    tasks, truths = dict(benchmark.tasks), dict(benchmark.truth)
    for task in (task for task in benchmark.tasks.values() if task.id in benchmark.truth):
        held = decisions.decide(task)
        if held is None:
            del tasks[task.id], truths[task.id]
        else:
            tasks[task.id], truths[task.id] = held
    known = {(one.task, one.picture) for one in benchmark.candidates}
    pooled = [pair for pair in decisions.pooled if pair not in known and pair[0] in tasks]
    kept = replace(
        benchmark,
        version=raised(benchmark.version),
        tasks=tasks,
        truth=truths,
        candidates=(
            *(one for one in benchmark.candidates if one.task in tasks),
            *(Candidate(task, picture, "pooled") for task, picture in pooled),
        ),
        judgments=tuple(one for one in benchmark.judgments if one.task in tasks),
        reviews=tuple(decisions.reviews(tasks)),
        checksum=None,
    )
    changes = tuple(change for change in decisions.changes if change.task in tasks)
    accepted = tuple(task for task in decisions.accepted if task in tasks)
    return AppliedReviews(kept, changes, tuple(decisions.left_out), accepted, decisions.confirmed, decisions.undecided)


def raised(version: str) -> str:
    """The version after this one: its last number plus one."""
    found = re.search(r"\d+$", version)
    return f"{version}.1" if found is None else f"{version[: found.start()]}{int(found[0]) + 1}"


class _Decisions:
    """Decides about each task once, and remembers what it decided."""

    def __init__(self, benchmark: Benchmark, people: int, accepted_only: bool) -> None:
        self._benchmark, self._people, self._accepted_only = benchmark, people, accepted_only
        labels = labels_of(benchmark)
        self._labels = labels.now
        stand = standing(benchmark.reviews)
        self._ballots: dict[str, dict[str, dict[str, ReviewVote]]] = {}
        for (task, picture), given in cast_votes(stand, benchmark, self._labels).items():
            self._ballots.setdefault(task, {})[picture] = given
        self._words = {one.task: one for one in stand if one.picture is None and one.decision.startswith(REWORD)}
        grades = [grade for (id_, _), grade in labels.before.items() if isinstance(benchmark.truth[id_], Relevance)]
        self._highest = max((1, *grades)) if grades else HIGHEST
        self.changes: list[ReviewChange] = []
        self.left_out: list[DroppedQuery] = []
        self.accepted: list[str] = []
        self.pooled: list[Pair] = []
        self.confirmed = self.undecided = 0

    def decide(self, task: Task) -> tuple[Task, Truth] | None:
        """The task and its truth as they are now; None where it is left out."""
        given = self._ballots.get(task.id, {})
        about = given.get(WHOLE, {})
        whole, truth = self._settled(about), self._with_pictures(task, self._benchmark.truth[task.id], given)
        corrected = self._corrected(task, truth, about) if whole is False else None
        if corrected is not None:
            whole = True
        reason = self._against(task, truth, whole, about)
        if reason is not None:
            of = [ballot.review for held in given.values() for ballot in held.values()]
            self.left_out.append(
                DroppedQuery(task.id, reason, _people(of), max((one.when for one in of), default=None))
            )
            return None
        if whole:
            self.accepted.append(task.id)
        return self._noted(self._worded(task), bool(whole)), corrected or truth

    def reviews(self, tasks: Mapping[str, Task]) -> Iterator[Review]:
        """All lines about these tasks; those about a label that was seen as ones about what it is a label of."""
        corrected = {change.task: change for change in self.changes if change.what == "answer"}
        for review in self._benchmark.reviews:
            if review.task not in tasks:
                continue
            if review.picture is None and review.task in corrected:
                yield replace(
                    review, decision=_about_former(review.decision, corrected[review.task].was, tasks[review.task])
                )
            elif review.picture is not None and is_about_the_label(review.decision):
                yield replace(review, decision=self._outright(review))
            else:
                yield review

    def _outright(self, review: Review) -> str:
        grade = self._labels.get((review.task, review.picture or WHOLE), 0)
        relevant = decision_of(review.decision, grade > 0)
        if relevant == (grade > 0):
            return str(grade)
        return "relevant" if relevant else "not relevant"

    def _settled(self, given: Mapping[str, ReviewVote]) -> bool | None:
        found = settled({person: ballot.yes for person, ballot in given.items()}, self._people)
        self.undecided += bool(given) and found is None
        return found

    # --- pictures ---------------------------------------------------------------------------------------------

    def _with_pictures(self, task: Task, truth: Truth, given: Mapping[str, Mapping[str, ReviewVote]]) -> Truth:
        if not isinstance(truth, Relevance | PictureSet):
            return truth
        changed: dict[str, int] = {}
        for picture, held in given.items():
            relevant = None if picture == WHOLE else self._settled(held)
            if relevant is None:
                continue
            was = self._labels.get((task.id, picture))
            side = [ballot.review for ballot in held.values() if ballot.yes == relevant]
            now = _grade(side, was, self._highest if isinstance(truth, Relevance) else 1) if relevant else 0
            if was == now:
                self.confirmed += 1
                continue
            changed[picture] = now
            if was is None:
                self.pooled.append((task.id, picture))
            self._change(task.id, "new label" if was is None else "label", was, now, side, picture)
        if isinstance(truth, Relevance):
            return Relevance({**truth.grades, **changed})
        kept = [picture for picture in truth.pictures if changed.get(picture, 1)]
        return PictureSet((*kept, *(picture for picture, grade in changed.items() if grade and picture not in kept)))

    # --- whole tasks ------------------------------------------------------------------------------------------

    def _corrected(self, task: Task, truth: Truth, given: Mapping[str, ReviewVote]) -> Truth | None:
        """The truth with the other answer that enough people gave; None where they did not give the same one."""
        if not isinstance(truth, Answer | Choice):
            return None
        is_choice = isinstance(truth, Choice)
        begin = OPTION if is_choice else ANSWER
        said: dict[str, list[Review]] = defaultdict(list)
        for ballot in given.values():
            if not ballot.yes and ballot.review.decision.startswith(begin):
                text = ballot.review.decision.removeprefix(begin).strip()
                said[text if is_choice else text.casefold()].append(ballot.review)
        best = max(said.values(), key=len, default=[])
        now = best[0].decision.partition(":")[2].strip() if best else ""
        if len(best) < max(1, self._people) or (is_choice and now not in {option.key for option in task.options}):
            return None
        if isinstance(truth, Choice):
            self._change(task.id, "answer", truth.option, now, best)
            return replace(truth, option=now, steps=())
        self._change(task.id, "answer", truth.text, now, best)
        return replace(truth, text=now, aliases=(), translations={}, steps=())

    def _against(self, task: Task, truth: Truth, whole: bool | None, given: Mapping[str, ReviewVote]) -> str | None:
        """Why a task with this truth does not stay; None where it does."""
        if whole is False:
            said = [ballot.review.decision for ballot in given.values() if not ballot.yes]
            reasons = [reason_of(one) for one in said if is_about_the_label(one)]
            usual = "rejected" if isinstance(truth, Relevance | PictureSet) else "its answer is wrong"
            return "; ".join(dict.fromkeys(reason for reason in reasons if reason)) or usual
        if self._accepted_only and whole is None:
            return "not accepted by enough people" if given else "no person has decided about it"
        before = self._benchmark.truth[task.id]
        if isinstance(truth, Relevance) and isinstance(before, Relevance) and truth != before:
            if has_something(before) and not has_something(truth):
                return "nothing relevant is left"
            seeds = task.extra.get("seeds")
            if isinstance(seeds, list) and any(truth.grades.get(str(seed)) == 0 for seed in seeds):
                return "seed not relevant"
        return None

    def _worded(self, task: Task) -> Task:
        review = self._words.get(task.id)
        words = "" if review is None else review.decision.removeprefix(REWORD).strip()
        if review is None or not words or words == task.text:
            return task
        self._change(task.id, "words", task.text, words, [review])
        pictures = [part for part in task.prompt if not isinstance(part, str)]
        first = bool(task.prompt) and not isinstance(task.prompt[0], str)
        prompt: tuple[Part, ...] = (*pictures, words) if first else (words, *pictures)
        # Similarities were those of the words before.
        extra = {name: value for name, value in task.extra.items() if name != "similarity"}
        return replace(task, prompt=prompt, extra=extra)

    def _noted(self, task: Task, accepted: bool) -> Task:
        """The task with what people changed about it; what it was first made as stays known over several versions."""
        changes = [change for change in self.changes if change.task == task.id]
        extra = dict(task.extra)
        if accepted and "review" in extra:
            extra["review"] = "accepted"
        if changes:
            held = task.extra.get(REVIEWED)
            earlier = dict(held) if isinstance(held, dict) else {}
            known = earlier.get("labels")
            labels: dict[str, Json] = {one.picture: one.was for one in changes if one.picture is not None}
            if labels or isinstance(known, dict):
                earlier["labels"] = {**labels, **(known if isinstance(known, dict) else {})}
            for one in changes:
                if one.picture is None:
                    earlier.setdefault(one.what, one.was)
            extra[REVIEWED] = earlier
        return replace(task, extra=extra)

    def _change(
        self, task: str, what: What, was: Json, now: Json, by: Iterable[Review], picture: str | None = None
    ) -> None:
        reviews = tuple(by)
        self.changes.append(
            ReviewChange(task, what, was, now, _people(reviews), max(one.when for one in reviews), picture)
        )


def _grade(side: Iterable[Review], was: int | None, highest: int) -> int:
    """The lower median of the grades that people gave or accepted; without any, the label's own, where relevant."""
    said = (was if is_about_the_label(one.decision) else grade_of(one.decision) for one in side)
    given = sorted(min(grade, highest) for grade in said if grade)
    return given[(len(given) - 1) // 2] if given else max(1, was or 0)


def _about_former(decision: str, was: Json, task: Task) -> str:
    """What was said of an answer that is no longer the truth."""
    good = decision_of(decision, True)
    if decision.startswith((OPTION, ANSWER)) or good is None:
        return decision
    return f"{OPTION if task.kind == 'choose' else ANSWER}{was}" if good else f"{NOTE}not {was}"


def _people(reviews: Iterable[Review]) -> tuple[str, ...]:
    return tuple(sorted({review.person for review in reviews}))
