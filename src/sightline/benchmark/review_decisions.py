"""What people decided: how a line of `reviews.jsonl` is read and added, which lines count, and what they settle."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias, TypeVar

from sightline.benchmark.files import REVIEWS
from sightline.benchmark.problems import stop
from sightline.benchmark.table import TableSource
from sightline.errors import UserError
from sightline.io.append_only_file import AppendOnlyFile
from sightline.types import Answer, Benchmark, Choice, PictureSet, Relevance, Review, Task
from sightline.types.truth import grades_of

WITHDRAW = "withdraw"
"""A decision that takes back the same person's last one on the same; lines are never deleted."""
REWORD, OPTION, ANSWER, REJECT, NOTE = "reword: ", "option: ", "answer: ", "reject: ", "note: "
"""How decisions begin that carry words: a query's new words, an answer in place of the truth's, a reason."""
WHOLE = ""
"""In place of a picture: the decision is about the task itself."""
REVIEWED = "reviewed"
"""In the `extra` of a task, what people changed about it: `labels` and `answer` as they were, `words` as they were."""
RESOLVED = "resolved"
"""Behind a decision on a picture (`relevant: resolved`): its author knew that people disagree, and settles it."""
PEOPLE = 2
"""So many must agree; where they do not, one more decides, or one of them again."""
_YES = frozenset({"relevant", "yes", "fits", "true"})
_NO = frozenset({"not relevant", "irrelevant", "no", "does not fit", "false"})
_AGREE = frozenset({"accept", "accepted", "agree", "keep", "right", "correct", "ok"})
_DISAGREE = frozenset({"reject", "rejected", "disagree", "drop", "wrong", "incorrect"})

T = TypeVar("T")
Pair: TypeAlias = tuple[str, str]
Votes: TypeAlias = Mapping[Pair, Mapping[str, bool]]


def decision_of(text: str, is_relevant: bool) -> bool | None:
    """Whether the person finds the picture relevant: said outright, as a grade, or about the label; None if neither.

    Of a whole task, with `is_relevant` true: whether it is good as it is.
    """
    word = _word(text)
    if word.isdecimal():
        return int(word) > 0
    if word in _YES or word in _NO:
        return word in _YES
    if word in _AGREE or word in _DISAGREE:
        return is_relevant == (word in _AGREE)
    return None


def is_about_the_label(text: str) -> bool:
    """Whether it says something of a label that its author must have seen."""
    return _word(text) in _AGREE | _DISAGREE


def is_note(text: str) -> bool:
    """Whether it says something that is not a vote."""
    return text.startswith((REWORD, NOTE))


def grade_of(text: str) -> int | None:
    """The grade that was given, where one was."""
    word = _word(text)
    return int(word) if word.isdecimal() else None


def reason_of(text: str) -> str | None:
    """Why, where it was said: `reject: nobody would ask for this`."""
    return text.partition(":")[2].strip() or None


def _word(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text.partition(":")[0].strip().lower())


def _moment(review: Review) -> datetime:
    """When it was made; a time without a zone is taken for UTC, so that the order is the same on every machine."""
    return review.when if review.when.tzinfo else review.when.replace(tzinfo=UTC)


def standing(reviews: Iterable[Review]) -> tuple[Review, ...]:
    """The decisions that were not taken back, in the order in which they were made."""
    kept: dict[int, Review] = {}
    last: dict[tuple[str, str, str | None], list[int]] = defaultdict(list)
    for place, review in enumerate(sorted(reviews, key=_moment)):
        before = last[review.person, review.task, review.picture]
        if review.decision.strip().lower() != WITHDRAW:
            kept[place] = review
            before.append(place)
        elif before:
            del kept[before.pop()]
    return tuple(kept.values())


@dataclass(frozen=True, slots=True)
class BenchmarkLabels:
    """Every label that people can check: of pictures the grade, of whole answers that they are right.

    `before` is what they were made as; it differs from `now` where people changed them. A set's labels are 1 for what
    is in it, and 0 for what was put beside it. `tier` is the tier of the picture, else its grade, or the kind of the
    task; `stratum` is the tier and whether the label, as it was made, says relevant: labels are drawn within strata.
    """

    now: Mapping[Pair, int]
    before: Mapping[Pair, int]
    tier: Mapping[Pair, str]
    stratum: Mapping[Pair, str]

    def of(self, tasks: Iterable[str]) -> BenchmarkLabels:
        """Those of some tasks alone."""
        kept = frozenset(tasks)
        if not kept:
            return BenchmarkLabels({}, {}, {}, {})
        if kept.issuperset({task for task, _ in self.now}):  # As a rule a benchmark has one kind of task.
            return self
        return BenchmarkLabels(
            *(_of_tasks(self.now, kept), _of_tasks(self.before, kept)),
            *(_of_tasks(self.tier, kept), _of_tasks(self.stratum, kept)),
        )


def _of_tasks(values: Mapping[Pair, T], tasks: frozenset[str]) -> dict[Pair, T]:
    return {pair: value for pair, value in values.items() if pair[0] in tasks}


def labels_of(benchmark: Benchmark) -> BenchmarkLabels:
    """All labels of a benchmark."""
    now: dict[Pair, int] = {}
    for task, truth in benchmark.truth.items():
        if isinstance(truth, Relevance | PictureSet):
            now |= {(task, picture): grade for picture, grade in grades_of(truth).items()}
        else:
            now[task, WHOLE] = 1
    tiers: dict[Pair, str] = {}
    for one in benchmark.candidates:
        tiers[one.task, one.picture] = str(one.tier)
        if isinstance(benchmark.truth.get(one.task), PictureSet):
            now.setdefault((one.task, one.picture), 0)
    for id_, asked in benchmark.tasks.items():
        if isinstance(benchmark.truth.get(id_), PictureSet):  # People may have taken one out of the set.
            now |= {(id_, picture): 0 for picture in labels_before(asked) if (id_, picture) not in now}
    before = {pair: was for pair, grade in now.items() if (was := _before(benchmark, pair, grade)) is not None}
    kinds = {id_: str(task.kind) for id_, task in benchmark.tasks.items()}
    tier = {
        pair: kinds.get(pair[0], "") if pair[1] == WHOLE else tiers.get(pair) or f"grade {before.get(pair, grade)}"
        for pair, grade in now.items()
    }
    names = {name: (f"{name}, not relevant", f"{name}, relevant") for name in set(tier.values())}
    stratum = {pair: names[tier[pair]][before.get(pair, grade) > 0] for pair, grade in now.items()}
    return BenchmarkLabels(now, before, tier, stratum)


def _before(benchmark: Benchmark, pair: Pair, now: int) -> int | None:
    """The label that was there before people changed it; None where there was none."""
    task = benchmark.tasks.get(pair[0])
    if task is None:
        return now
    if pair[1] == WHOLE:
        changed = task.extra.get(REVIEWED)
        return 0 if isinstance(changed, dict) and "answer" in changed else now
    return labels_before(task).get(pair[1], now)


def left_out_labels(benchmark: Benchmark) -> dict[str, tuple[int, int]]:
    """By stratum, how many drawn labels of queries that people left out were right, and how many there were.

    A query leaves because a label of it is wrong: without these the labels that nobody looked at would seem better.
    """
    return _counts_in_card(benchmark, "left_out_labels")


def still_drawn(benchmark: Benchmark) -> dict[str, tuple[int, int]]:
    """By stratum, how many labels of an earlier version's draw are left, and of how many labels they were drawn.

    Only of a version from which people left queries out: another draw of as many labels would not be the same.
    """
    return _counts_in_card(benchmark, "drawn")


def _counts_in_card(benchmark: Benchmark, name: str) -> dict[str, tuple[int, int]]:
    reviewed = benchmark.card.get(REVIEWED)
    found = reviewed.get(name) if isinstance(reviewed, dict) else None
    held = found.items() if isinstance(found, dict) else ()
    return {name: (one[0], one[1]) for name, one in held if isinstance(one, list) and len(one) == 2}  # type: ignore[misc]


def labels_before(task: Task) -> dict[str, int | None]:
    """What people changed about the labels of a task, as it was when they were made; None for a new label."""
    changed = task.extra.get(REVIEWED)
    labels = changed.get("labels") if isinstance(changed, dict) else None
    found = labels.items() if isinstance(labels, dict) else ()
    return {picture: was if isinstance(was, int) else None for picture, was in found}


@dataclass(frozen=True, slots=True)
class ReviewVote:
    """A decision that is a vote: whether the picture is relevant, or the task good as it is."""

    yes: bool
    review: Review


def cast_votes(
    reviews: Iterable[Review], benchmark: Benchmark, labels: Mapping[Pair, int], *, resolved: bool = True
) -> dict[Pair, dict[str, ReviewVote]]:
    """For each label, and each task as a whole, the last word of each person that is a vote.

    `reviews` are those that stand. Pictures that have no label yet are in it too. With `resolved`, a decision that
    settles a disagreement counts for all who decided before it.
    """
    found: dict[Pair, dict[str, ReviewVote]] = defaultdict(dict)
    for review in reviews:
        if review.picture is None:
            pair, vote = (review.task, WHOLE), _of_whole(review.decision, benchmark, review.task)
        else:
            pair = review.task, review.picture
            vote = decision_of(review.decision, labels.get(pair, 0) > 0)
        if vote is not None:
            if resolved and review.picture is not None and reason_of(review.decision) == RESOLVED:
                found[pair] = {person: replace(ballot, yes=vote) for person, ballot in found[pair].items()}
            found[pair][review.person] = ReviewVote(vote, review)
    return dict(found)


def votes_of(
    reviews: Iterable[Review], benchmark: Benchmark, labels: Mapping[Pair, int], *, resolved: bool = True
) -> dict[Pair, dict[str, bool]]:
    """The same as plain yes and no."""
    cast = cast_votes(reviews, benchmark, labels, resolved=resolved)
    return {pair: {person: ballot.yes for person, ballot in given.items()} for pair, given in cast.items()}


def _of_whole(decision: str, benchmark: Benchmark, task: str) -> bool | None:
    truth = benchmark.truth.get(task)
    if decision.startswith(OPTION):
        return isinstance(truth, Choice) and truth.option == decision.removeprefix(OPTION)
    if decision.startswith(ANSWER):
        said = decision.removeprefix(ANSWER).strip().casefold()
        return isinstance(truth, Answer) and said in {each.strip().casefold() for each in (truth.text, *truth.aliases)}
    return decision_of(decision, True)


def settled(given: Mapping[str, bool], people: int = PEOPLE) -> bool | None:
    """What the most say, once enough people have; None while they are too few or as many say yes as say no."""
    yes = sum(given.values())
    return None if len(given) < max(1, people) or 2 * yes == len(given) else 2 * yes > len(given)


def is_conflict(given: Mapping[str, bool]) -> bool:
    """As many say yes as say no; one more person decides, or one of them again."""
    return len(given) > 1 and settled(given) is None


_PATIENCE = 50


def read_reviews(folder: Path) -> tuple[Review, ...]:
    """All lines, withdrawn ones and withdrawals too; a half last line counts as not written."""
    source = TableSource(folder, stop, growing=True)
    return tuple(review for _, review in source.rows(REVIEWS))


def append_review(folder: Path, review: Review) -> None:
    """Keep one decision."""
    with writing_reviews(folder / REVIEWS.name) as file:
        file.append(REVIEWS.line(review))


@contextmanager
def writing_reviews(path: Path) -> Iterator[AppendOnlyFile]:
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


def _opened(path: Path) -> AppendOnlyFile:
    """Another process may be writing its own line at this moment."""
    for _ in range(_PATIENCE):
        try:
            return AppendOnlyFile(path)
        except UserError:
            time.sleep(0.02)
    return AppendOnlyFile(path)
