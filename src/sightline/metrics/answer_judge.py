"""Judged answers: who decides where rules can't, and why. `runs.judged_answers` asks chat models as judges."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import orjson

from sightline.errors import UserError
from sightline.metrics.answers.match import match_answer
from sightline.types import Answer


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """Whether an answer is right, how sure the judge is (0 to 1, if it says), why, and who decided."""

    correct: bool
    confidence: float | None
    reason: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class AnswerToJudge:
    """One answer to be judged."""

    question: str
    truth: Answer
    prediction: str


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
