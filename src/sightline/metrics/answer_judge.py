"""Judged answers: who decides where rules can't, and why. `runs.judged_answers` asks chat models as judges."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import orjson

from sightline.errors import UserError
from sightline.metrics.answers.match import match_answer
from sightline.metrics.context import Context
from sightline.metrics.registry import Metric
from sightline.types import Answer, Failure, Prediction, Truth


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """Whether an answer is right, how sure the judge is (0 to 1, if it says), why, and who decided."""

    correct: bool
    confidence: float | None
    reason: str
    by: str = ""


class AnswerJudge(Protocol):
    """Decides on one answer; `name` must change with anything that can change a verdict (model, prompt, settings)."""

    name: str

    async def verdict(self, question: str, truth: Answer, prediction: str) -> AnswerVerdict | Failure: ...


@dataclass(frozen=True, slots=True)
class AnswerToJudge:
    """One answer to be judged."""

    question: str
    truth: Answer
    prediction: str


class ScriptedJudge:
    """A judge that says what it was told to, by prediction, and keeps what it was asked; anything else is a failure."""

    def __init__(self, script: Mapping[str, AnswerVerdict | Failure], name: str = "scripted") -> None:
        self.name = name
        self.asked: list[str] = []
        self._script = dict(script)

    async def verdict(self, question: str, truth: Answer, prediction: str) -> AnswerVerdict | Failure:
        self.asked.append(prediction)
        unknown = Failure("no verdict", f'The script has no verdict for "{prediction}".')
        return self._script.get(prediction, unknown)


class VerdictCache:
    """Verdicts in the cache of an earlier version (SQLite), to be read; those of today are kept by the journal."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise UserError(f"there is no cache of verdicts {path}.", "check the path")
        self._db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)

    def get(self, judge: str, item: AnswerToJudge) -> AnswerVerdict | None:
        """What a judge of that name said of the answer, if it was asked."""
        row = self._db.execute(
            "SELECT correct, confidence, reason FROM verdicts WHERE key = ?", (_key(judge, item),)
        ).fetchone()
        return None if row is None else AnswerVerdict(bool(row[0]), row[1], row[2], by=judge)

    def close(self) -> None:
        self._db.close()


def rules_verdict(item: AnswerToJudge, *, rules_first: bool = True) -> AnswerVerdict | None:
    """What can be decided without a judge: an empty prediction is wrong, and what the rules find right is right."""
    if not item.prediction.strip():
        return AnswerVerdict(False, 1.0, "The prediction is empty.", by="rules")
    if rules_first and (found := match_answer(item.truth, item.prediction)).matched:
        return AnswerVerdict(True, 1.0, f"{found.how}: {found.detail}", by="rules")
    return None


async def decide(item: AnswerToJudge, judge: AnswerJudge, *, rules_first: bool = True) -> AnswerVerdict | Failure:
    """Right or wrong, and why: by the rules where they find the answer right, else by the judge.

    An empty prediction is wrong without a judge. With `rules_first=False` every other one goes to the judge.
    """
    decided = rules_verdict(item, rules_first=rules_first)
    if decided is not None:
        return decided
    said = await judge.verdict(item.question, item.truth, item.prediction)
    return (
        said
        if isinstance(said, Failure) or said.by
        else AnswerVerdict(said.correct, said.confidence, said.reason, judge.name)
    )


async def decide_all(
    items: Sequence[AnswerToJudge], judge: AnswerJudge, *, rules_first: bool = True, at_once: int = 8
) -> tuple[AnswerVerdict | Failure, ...]:
    """Verdicts in the order of the items, with at most `at_once` calls under way."""
    gate = asyncio.Semaphore(at_once)

    async def one(item: AnswerToJudge) -> AnswerVerdict | Failure:
        async with gate:
            return await decide(item, judge, rules_first=rules_first)

    return tuple(await asyncio.gather(*(one(item) for item in items)))


def judged_metric(verdicts: Mapping[str, AnswerVerdict | Failure]) -> Metric:
    """A metric from verdicts by task id: 1 right, 0 wrong or failed; None where the judge failed or was not asked."""

    def value(truth: Truth, prediction: Prediction, context: Context) -> float | None:
        if isinstance(prediction, Failure):
            return 0.0
        verdict = None if context.task is None else verdicts.get(context.task.id)
        return float(verdict.correct) if isinstance(verdict, AnswerVerdict) else None

    return value


def _key(judge: str, item: AnswerToJudge) -> str:
    parts = [judge, item.question, _truth_json(item.truth).decode(), item.prediction]
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()


def _truth_json(truth: Answer) -> bytes:
    """All of a truth that a verdict can depend on; its reference steps are not shown to a judge."""
    known = {
        "text": truth.text,
        "aliases": truth.aliases,
        "translations": dict(truth.translations),
        "unit": truth.unit,
        "tolerance": truth.tolerance,
    }
    return orjson.dumps(known, option=orjson.OPT_SORT_KEYS)
