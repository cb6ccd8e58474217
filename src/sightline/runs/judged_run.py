"""The answers of a run, judged: by rules where they find one right, else by a chat model; people check and correct.

Verdicts are kept in the run as `judged_answers.csv`, in random order. Whoever fills in its first column, from the top,
decides on a random sample: agreement and the corrected score follow from it (`metrics.labels.corrected`).
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sightline.calls.ask_many import price_many
from sightline.calls.plan import CostPlan, DryRunError
from sightline.calls.session import Session
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import write_whole
from sightline.metrics.agreement import agreement_report
from sightline.metrics.answer_judge import AnswerToJudge, AnswerVerdict, rules_verdict
from sightline.metrics.answers.metrics import said
from sightline.metrics.labels.calibration import confidence_feature
from sightline.metrics.labels.corrected import LEAST_DECISIONS, Corrected, JudgedPairs, correct
from sightline.metrics.labels.targets import target
from sightline.runs.judged_answers import STAGE, AnswerJudgeJob, judge_answers, judge_request, read_verdict
from sightline.types import Answer, Benchmark, Failure, Run
from sightline.types.chat import split_model

FILE = "judged_answers.csv"
_COLUMNS = ("people", "task", "question", "truth", "reply", "correct", "by", "confidence", "reason")
_DECISIONS = {"": None, "1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}
_MOST_SWAPPED = 50
_SURE = 0.9
"""What a verdict without a stated confidence counts as."""
_RULES = "rules"
AnswerKey: TypeAlias = tuple[str, str]
"""A task, and a reply to it."""


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """Verdicts on the answers of a run in random order, and what people decided on the first of them.

    `swapped` are verdicts that were asked for again with reference and answer in the other order, `changed` how many
    of them were others. `own` is whether the judge also gave the answers.
    """

    judge: str
    answers: dict[AnswerKey, AnswerToJudge]
    verdicts: dict[AnswerKey, AnswerVerdict | Failure]
    people: dict[AnswerKey, bool]
    swapped: int = 0
    changed: int = 0
    own: bool = False

    def values(self) -> dict[AnswerKey, bool]:
        """What the metric `answer_judged` reads: right or wrong, where that is known."""
        return {key: one.correct for key, one in self.verdicts.items() if isinstance(one, AnswerVerdict)}

    def corrected(self, *, level: float = 0.95, seed: int = 0) -> Corrected | None:
        """The share of right answers, freed of the judge's errors; None with too few decisions by people.

        Each answer is a query with one result, so that P@1 is its correctness.
        """
        known = [key for key, one in self.verdicts.items() if isinstance(one, AnswerVerdict)]
        drawn = max((place for place, key in enumerate(known, 1) if key in self.people), default=0)
        if sum(key in self.people for key in known) < LEAST_DECISIONS:
            return None
        weights = np.where(np.arange(len(known)) < drawn, len(known) / drawn, 0.0)
        decided = np.array([float(self.people[key]) if key in self.people else np.nan for key in known])
        numbers = np.arange(len(known))
        sure = confidence_feature([_probability(self.verdicts[key]) for key in known])
        pairs = JudgedPairs(numbers, sure, decided, weights, len(known))
        return correct(pairs, target("p@1", numbers, np.ones(len(known)), len(known)), level=level, seed=seed)

    def notes(self) -> Iterator[str]:
        """Who decided how many answers, whether order matters to the judge, and how it agrees with people."""
        rules = sum(isinstance(one, AnswerVerdict) and one.by == _RULES for one in self.verdicts.values())
        failed = sum(isinstance(one, Failure) for one in self.verdicts.values())
        yield (
            f"Of {counted(len(self.verdicts), 'answer')}, rules decided {rules}, {self.judge} decided "
            f"{len(self.verdicts) - rules - failed}, and {failed} could not be judged."
        )
        if self.swapped:
            yield (
                f"Asked again with reference and answer in the other order, {self.judge} changed {self.changed} of "
                f"{counted(self.swapped, 'verdict')}."
            )
        yield from self._agreement()

    def _agreement(self) -> Iterator[str]:
        decided = [key for key in self.people if self._judged(key)]
        if not decided:
            own = " It also gave the answers, and may prefer them." if self.own else ""
            yield f"Nobody has checked {self.judge} yet.{own} Fill in the column people of {FILE} from the top, 1 or 0."
            return
        judge, people = [self.values()[key] for key in decided], [self.people[key] for key in decided]
        found = agreement_report(judge, people)
        kappa = found.kappa
        about = "not defined" if kappa.value is None else f"{kappa.value:.2f}"
        between = "" if kappa.low is None else f" [{kappa.low:.2f}, {kappa.high:.2f}]"
        agree = found.agreement.value or 0.0
        on = counted(len(decided), "answer")
        yield f"On {on}, {self.judge} agrees with people in {agree:.0%}; kappa {about}{between}."
        more = np.array(judge, float) - np.array(people, float)
        spread = 1.96 * float(more.std(ddof=1)) / len(more) ** 0.5 if len(more) > 1 else float("nan")
        whose = "its own answers" if self.own else "answers of another system"
        yield f"It accepts {more.mean():+.1%} ± {spread:.1%} more of {whose} than people do."

    def _judged(self, key: AnswerKey) -> bool:
        verdict = self.verdicts.get(key)
        return isinstance(verdict, AnswerVerdict) and verdict.by != _RULES


def judge_run(benchmark: Benchmark, run: Run, model: str, session: Session, folder: Path | None = None) -> JudgedRun:
    """Judge every answer that rules do not find right, and keep the verdicts in the folder of the run.

    With `session.calls.plan` it raises `DryRunError` with the price before anything is asked.
    """
    answers = _answers(benchmark, run)
    if not answers:
        raise UserError("The run holds no answers in words to judge.", "Leave out --judge (judge=None).")
    names = {f"{key[0]} {place}" if place else key[0]: key for place, key in _numbered(list(answers))}
    asked = [key for key, item in answers.items() if rules_verdict(item) is None]
    again = asked[:_MOST_SWAPPED]
    if session.calls.plan:
        wanted = [judge_request(answers[key], model=model) for key in asked]
        wanted += [judge_request(answers[key], model=model, swapped=True) for key in again]
        plan = price_many(wanted, model, STAGE, session)
        raise DryRunError(CostPlan((plan,)))
    people = _decisions(folder / FILE, answers) if folder is not None else {}
    job = AnswerJudgeJob(model, partial(judge_request, model=model), read_verdict)
    found = judge_answers({name: answers[key] for name, key in names.items()}, job, session)
    verdicts = {names[name]: verdict for name, verdict in found.items()}
    swapped = _swapped({name: answers[key] for name, key in names.items() if key in again}, model, session)
    pairs = [(verdicts[names[name]], other) for name, other in swapped.items()]
    both = [(one, other) for one, other in pairs if not isinstance(one, Failure) and not isinstance(other, Failure)]
    own = split_model(model)[0] in {entry.model for entry in run.ledger}
    changed = sum(one.correct != other.correct for one, other in both)
    judged = JudgedRun(model, answers, verdicts, people, len(both), changed, own)
    if folder is not None:
        write_whole(folder / FILE, _csv(judged))
    return judged


def _swapped(answers: dict[str, AnswerToJudge], model: str, session: Session) -> dict[str, AnswerVerdict | Failure]:
    job = AnswerJudgeJob(model, partial(judge_request, model=model, swapped=True), read_verdict)
    return judge_answers(answers, job, session, rules_first=False)


def _answers(benchmark: Benchmark, run: Run) -> dict[AnswerKey, AnswerToJudge]:
    """Every reply to a question whose answer is known, in random order that a new run of the same replies keeps."""
    found = {}
    for attempt in run.attempts:
        task, truth = benchmark.tasks.get(attempt.task_id), benchmark.truth.get(attempt.task_id)
        if task is not None and isinstance(truth, Answer) and not isinstance(attempt.prediction, Failure):
            reply = said(attempt.prediction)
            found[task.id, reply] = AnswerToJudge(task.text, truth, reply)
    return dict(sorted(found.items(), key=lambda item: hashlib.sha256("\n".join(item[0]).encode()).digest()))


def _numbered(keys: Sequence[AnswerKey]) -> Iterator[tuple[int, AnswerKey]]:
    """How many other replies to the same task stand before each."""
    counts: dict[str, int] = {}
    for key in keys:
        yield counts.get(key[0], 0), key
        counts[key[0]] = counts.get(key[0], 0) + 1


def _probability(verdict: AnswerVerdict | Failure) -> float:
    if isinstance(verdict, Failure):
        return 0.5
    sure = _SURE if verdict.confidence is None else verdict.confidence
    return sure if verdict.correct else 1 - sure


def _decisions(path: Path, answers: dict[AnswerKey, AnswerToJudge]) -> dict[AnswerKey, bool]:
    """What people filled in, by task and reply; decisions on replies that the run no longer holds are left out."""
    if not path.is_file():
        return {}
    found: dict[AnswerKey, bool] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            word, key = (row.get("people") or "").strip().lower(), (row.get("task") or "", row.get("reply") or "")
            if word not in _DECISIONS:
                raise UserError(
                    f'{path} says "{word}" in the column people for task "{key[0]}".', "Write 1, 0 or nothing there."
                )
            decision = _DECISIONS[word]
            if decision is not None and key in answers:
                found[key] = decision
    return found


def _csv(judged: JudgedRun) -> bytes:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for key, verdict in judged.verdicts.items():
        item, decision = judged.answers[key], judged.people.get(key)
        shown = ["" if decision is None else int(decision), key[0], item.question, item.truth.text, key[1]]
        if isinstance(verdict, Failure):
            rows.writerow([*shown, "", judged.judge, "", f"{verdict.kind}: {verdict.message}"])
        else:
            sure = "" if verdict.confidence is None else verdict.confidence
            rows.writerow([*shown, int(verdict.correct), verdict.by, sure, verdict.reason])
    return text.getvalue().encode()
