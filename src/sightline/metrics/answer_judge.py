"""Judged answers: who decides where rules can't, with every verdict kept, explained and asked for only once."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import orjson

from sightline.metrics.answers.match import match_answer
from sightline.metrics.context import Context
from sightline.metrics.registry import Metric
from sightline.types import Answer, Failure, Prediction, Truth

_SCHEMA = """
CREATE TABLE IF NOT EXISTS verdicts (
    key TEXT PRIMARY KEY,
    judge TEXT NOT NULL,
    question TEXT NOT NULL,
    truth TEXT NOT NULL,
    prediction TEXT NOT NULL,
    correct INTEGER NOT NULL,
    confidence REAL,
    reason TEXT NOT NULL
) WITHOUT ROWID
"""


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
    """Verdicts on disk (SQLite, write-ahead log): what was put in is there after `kill -9`; failures are not kept."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(_SCHEMA)

    def get(self, judge: str, item: AnswerToJudge) -> AnswerVerdict | None:
        row = self._db.execute(
            "SELECT correct, confidence, reason FROM verdicts WHERE key = ?", (_key(judge, item),)
        ).fetchone()
        return None if row is None else AnswerVerdict(bool(row[0]), row[1], row[2], by=judge)

    def put(self, judge: str, item: AnswerToJudge, verdict: AnswerVerdict) -> None:
        """Keep a verdict; the first one for a question stays."""
        row = (_key(judge, item), judge, item.question, _truth_json(item.truth).decode(), item.prediction)
        self._db.execute(
            "INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, verdict.correct, verdict.confidence, verdict.reason),
        )

    def __len__(self) -> int:
        count: int = self._db.execute("SELECT count(*) FROM verdicts").fetchone()[0]
        return count

    def close(self) -> None:
        self._db.close()


class CachedJudge:
    """A judge that asks another one, each question once: also when the same one comes twice at the same time."""

    def __init__(self, judge: AnswerJudge, cache: VerdictCache) -> None:
        self.name = judge.name
        self._judge = judge
        self._cache = cache
        self._under_way: dict[str, asyncio.Task[AnswerVerdict | Failure]] = {}

    async def verdict(self, question: str, truth: Answer, prediction: str) -> AnswerVerdict | Failure:
        item = AnswerToJudge(question, truth, prediction)
        known = self._cache.get(self.name, item)
        if known is not None:
            return known
        key = _key(self.name, item)
        if key not in self._under_way:
            self._under_way[key] = asyncio.create_task(self._ask(item))
            self._under_way[key].add_done_callback(lambda _: self._under_way.pop(key))
        # One that waits may be cancelled; the call that others wait for (and that is paid for) goes on.
        return await asyncio.shield(self._under_way[key])

    async def _ask(self, item: AnswerToJudge) -> AnswerVerdict | Failure:
        said = await self._judge.verdict(item.question, item.truth, item.prediction)
        if isinstance(said, AnswerVerdict):
            self._cache.put(self.name, item, said)
            return AnswerVerdict(said.correct, said.confidence, said.reason, by=self.name)
        return said


async def decide(item: AnswerToJudge, judge: AnswerJudge, *, rules_first: bool = True) -> AnswerVerdict | Failure:
    """Right or wrong, and why: by the rules where they find the answer right, else by the judge.

    An empty prediction is wrong without a judge. With `rules_first=False` every other one goes to the judge.
    """
    if not item.prediction.strip():
        return AnswerVerdict(False, 1.0, "The prediction is empty.", by="rules")
    if rules_first:
        found = match_answer(item.truth, item.prediction)
        if found.matched:
            return AnswerVerdict(True, 1.0, f"{found.how}: {found.detail}", by="rules")
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
