"""What is proved of every record before anything is written: counted by check, and named where it fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sightline.corpus.pixels import identify
from sightline.errors import FoundError
from sightline.reason.curriculum.apart import NO_TWINS, Twins
from sightline.reason.curriculum.lessons import IMAGE, Exercise
from sightline.reason.curriculum.overlap import MOST, largest_overlap, repeats_question, states_answer
from sightline.reason.curriculum.pool import Pool, Shown
from sightline.reason.curriculum.tokens import Counter as TokenCounter
from sightline.reason.curriculum.tokens import Tokens

Check: TypeAlias = Literal["leak", "answer", "pictures", "files", "test", "tokens"]
CHECKS: Mapping[Check, str] = {
    "leak": "no target text in the prompt",
    "answer": "the conclusion names the right option",
    "pictures": "as many pictures as placeholders",
    "files": "every picture is there",
    "test": "no picture of the test, or nearly one",
    "tokens": "within the limit of tokens",
}
_NAMED = 1000
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Fault:
    """A check that one record fails, and how."""

    check: Check
    stage: str
    task: str
    message: str

    def __str__(self) -> str:
        return f"{self.stage}, {self.task}: {self.check}: {self.message}"


@dataclass(frozen=True, slots=True)
class Against:
    """What records are held against: a limit of tokens and a test's pictures, where they are given."""

    limit_tokens: int | None = None
    test: Path | None = None
    twins: Twins = NO_TWINS
    same_bits: int | None = None


@dataclass
class Proof:
    """Counts by check, the faults that were found, and the largest overlap of those that passed."""

    against: Against
    tokens: str
    records: int = 0
    worst_overlap: float = 0.0
    longest: int = 0
    failed: Counter[Check] = field(default_factory=Counter)
    failed_records: int = 0
    faults: list[Fault] = field(default_factory=list)

    def take(self, faults: list[Fault], overlap: float, tokens: Tokens) -> bool:
        """Count one record; is it proved?"""
        self.records += 1
        self.failed.update({fault.check for fault in faults})
        self.faults += faults[: max(0, _NAMED - len(self.faults))]
        if faults:
            self.failed_records += 1
        else:
            self.worst_overlap = max(self.worst_overlap, overlap)
            self.longest = max(self.longest, tokens.total)
        return not faults

    def asked(self, check: Check) -> bool:
        """Was there something to hold records against?"""
        wanted = {"tokens": self.against.limit_tokens is not None, "test": self.against.test is not None}
        return wanted.get(check, True)

    def refuse(self) -> None:
        """End here if any record failed, naming the first of them."""
        if not self.faults:
            return
        shown = [f"  {fault}" for fault in self.faults[:_SHOWN]]
        more = self.failed_records - len({(fault.stage, fault.task) for fault in self.faults[:_SHOWN]})
        if more > 0:
            shown.append(f"  … and {more:,} more")
        raise FoundError(
            "\n".join([f"{self.failed_records:,} of {self.records:,} records can't be proved:", *shown]),
            "mend the benchmark, or add --drop to leave them out; nothing was written",
        )

    def to_json(self) -> dict[str, Any]:
        """As in `proof.json`."""
        checks = {
            check: {"says": says, "checked": self.records, "failed": self.failed[check]} if self.asked(check) else None
            for check, says in CHECKS.items()
        }
        against = self.against
        return {
            "records": self.records,
            "proved": self.records - self.failed_records,
            "checks": checks,
            "largest_overlap": round(self.worst_overlap, 4),
            "overlap_allowed": MOST,
            "longest_record": self.longest,
            "tokens": self.tokens,
            "limit_tokens": against.limit_tokens,
            "test": None if against.test is None else against.test.resolve().name,
            "same_bits": against.same_bits,
            "pictures_not_compared": against.twins.unreadable,
            "dropped": [
                {"check": fault.check, "stage": fault.stage, "task": fault.task, "message": fault.message}
                for fault in self.faults
            ],
        }


class Prover:
    """Holds records against the checks."""

    def __init__(self, pool: Pool, counter: TokenCounter, against: Against) -> None:
        self._pool, self._counter, self._against = pool, counter, against

    def prove(self, exercise: Exercise, proof: Proof) -> Tokens | None:
        """The tokens of a record that holds; None, and its faults in the proof, for one that does not."""
        pictures = [self._pool.picture(name) for name in exercise.lesson.images]
        tokens = self._counter.count(exercise.prompt, exercise.target, [shown.size for shown in pictures])
        overlap = largest_overlap(exercise)
        found = [
            Fault(check, exercise.stage.name, exercise.lesson.task, message)
            for check, message in self._faults(exercise, pictures, tokens, overlap)
        ]
        return tokens if proof.take(found, overlap, tokens) else None

    def _faults(
        self, exercise: Exercise, pictures: list[Shown], tokens: Tokens, overlap: float
    ) -> Iterator[tuple[Check, str]]:
        lesson, limit = exercise.lesson, self._against.limit_tokens
        yield from _leaks(exercise, overlap)
        if "conclusion" in exercise.stage.target and lesson.concludes != lesson.answer:
            yield "answer", f"the answer is {lesson.answer}, but the conclusion says {lesson.concludes}"
        if (marks := exercise.prompt.count(IMAGE)) != len(lesson.images):
            yield "pictures", f"{len(lesson.images)} pictures, but {IMAGE} {marks} times"
        if IMAGE in exercise.target:
            yield "pictures", f"{IMAGE} in the target, where there is no picture"
        for name, shown in zip(lesson.images, pictures, strict=True):
            if (why := _unusable(shown)) is not None:
                yield "files", f'"{name}" {why}'
            if (twin := self._against.twins.found.get(name)) is not None:
                how = "is" if twin.same_file else "looks like"
                yield "test", f'"{name}" {how} "{twin.test}" of the test'
        if limit is not None and tokens.total > limit:
            yield "tokens", f"{tokens.total:,} tokens are over {limit:,}"


def _leaks(exercise: Exercise, overlap: float) -> Iterator[tuple[Check, str]]:
    if overlap > MOST:
        yield "leak", f"{overlap:.0%} of a target step is in the given steps"
    if repeats_question(exercise):
        yield "leak", "a target step is in the question"
    if states_answer(exercise):
        yield "leak", f"a given step says that the answer is {exercise.lesson.answer}"


def _unusable(shown: Shown) -> str | None:
    if shown.path is None:
        return "is not on this machine"
    try:
        with shown.path.open("rb") as file:
            return None if identify(file.read(64)) is not None else "is no picture"
    except OSError as error:
        return f"can't be read at {shown.path}: {error.strerror}"
