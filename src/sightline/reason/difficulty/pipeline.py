"""From a benchmark to the same benchmark with difficulty: by samples of a model, by a judge, or from an existing run.

A run says how often its attempts were right, and how many turns an agent took.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

from sightline.benchmark.folder import check_place, read_benchmark
from sightline.calls.ask_many import CallJob
from sightline.calls.caller import paid_now
from sightline.calls.plan import CostPlan
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.jsonl import CutOffError, read_jsonl
from sightline.metrics.attempt_scores import WRONG_FORM
from sightline.metrics.evaluation import evaluate
from sightline.reason.difficulty import judge, sampling
from sightline.reason.difficulty.labels import DifficultySummary, Measure, MeasuredDifficulty, store
from sightline.reason.difficulty.pass_rate import (
    LEVEL,
    Bucket,
    BucketRule,
    TriedQuestion,
    about_guessing,
    credible_interval,
    probability_of_at_least,
)
from sightline.reason.difficulty.sampling import (
    KINDS,
    NO_RIGHT_OPTION,
    UNFINISHED,
    UNREAD,
    SampleCounts,
    SamplingSettings,
)
from sightline.reason.questions import QuestionWork, TaskQuestion, has_right_option
from sightline.runs.folder import TRAJECTORIES, read_run
from sightline.types import Benchmark, Failure, Json, Run

_DIGITS = 4
_SHOWN = 5
_MANY_CUT = 0.1
_RIGHT = 1.0
_FEW = 100
"""Resamples of intervals that nobody reads here."""
_CAME = UNFINISHED | {"unparsed", "repeated-call", "wrong-schema", "bad-prediction", WRONG_FORM}
"""Failed attempts that brought a reply, if no answer: they did not pass. Of all others nothing came."""
_SERVICES = frozenset({"http", "retriever"})
"""Kinds of system whose `refused` is a service that did not take the question, not a model that would not answer."""
R = TypeVar("R")


def price_samples(work: QuestionWork, settings: SamplingSettings) -> CostPlan:
    """What all samples would cost; nobody is asked."""
    _, opened = work.opened(KINDS)
    questions = [question for question in opened if has_right_option(question.task, question.truth)]
    requests = (request for question in questions for request in sampling.requests_for(question, settings))
    return work.price(settings.model, sampling.STAGE, requests, len(questions) * settings.rule.samples)


def price_judge(work: QuestionWork, model: str) -> CostPlan:
    """What a judge would cost; nobody is asked."""
    _, questions = work.opened(KINDS)
    requests = (judge.request_for(question, model) for question in questions)
    return work.price(model, judge.STAGE, requests, len(questions))


def measure_by_samples(work: QuestionWork, settings: SamplingSettings, out: Path) -> DifficultySummary:
    """Ask each question until its pass rate is clear, and write the benchmark with it.

    A stop (budget, server down) leaves a benchmark with what is known so far; run it again to go on, which asks
    nothing twice.
    """
    started = time.monotonic()
    job = sampling.SamplingJob(settings)
    questions, found, summary = _asked(work, job, lambda one: _from_samples(one, settings), out, "samples")
    summary = _with_calls(summary, found, settings.rule)
    notes = (*settings.preset.notes(settings.model), *_notes(questions, found, settings))
    return replace(summary, seconds=_since(started), notes=notes)


def _asked(
    work: QuestionWork,
    job: CallJob[TaskQuestion, R],
    read: Callable[[R | Failure], MeasuredDifficulty],
    out: Path,
    measure: Measure,
) -> tuple[list[TaskQuestion], dict[str, R | Failure], DifficultySummary]:
    """Ask all questions and write the benchmark with what came; a stop is raised when that is written."""
    benchmark, questions = work.opened(KINDS)
    check_place(out, benchmark.name, benchmark.reviews, benchmark.tasks)
    found, stopped = work.ask(questions, job)
    summary = store(benchmark, work.source, out, {name: read(one) for name, one in found.items()}, measure)
    if stopped is not None:
        raise stopped
    return questions, found, summary


def _since(started: float) -> float:
    return round(time.monotonic() - started, 2)


def _notes(
    questions: Sequence[TaskQuestion], found: Mapping[str, SampleCounts | Failure], settings: SamplingSettings
) -> Iterator[str]:
    """What is wrong with truths and with samples, and whether the model only guesses."""
    wrong = [name for name, one in found.items() if isinstance(one, Failure) and one.kind == NO_RIGHT_OPTION]
    if wrong:
        listed = ", ".join(f'"{name}"' for name in wrong[:_SHOWN]) + (", …" if len(wrong) > _SHOWN else "")
        many = counted(len(wrong), "question was", "questions were")
        yield f"{many} not asked: the truth of {listed} is none of the options; `sightline validate` names the lines"
    yield from _about_samples(
        [one for one in found.values() if isinstance(one, SampleCounts) and one.replies], settings
    )
    came = ((question, found.get(question.task.id)) for question in questions)
    yield from about_guessing(
        settings.model,
        [
            TriedQuestion(question.task, question.truth, one.first_rate(settings.rule), one.options)
            for question, one in came
            if isinstance(one, SampleCounts) and one.replies
        ],
    )


def _about_samples(sampled: Sequence[SampleCounts], settings: SamplingSettings) -> Iterator[str]:
    """Of how many questions samples are missing, and how many replies had no room to end."""
    rule = settings.rule
    short = [one.replies for one in sampled if one.failures and not rule.is_clear(one.passes, one.replies)]
    if short:
        many = counted(len(short), "question has", "questions have")
        yield (
            f"{many} fewer than {rule.samples:,} samples (the fewest {min(short):,}), for calls brought no reply; run "
            "the same command again to ask for those"
        )
    cut, replies = sum(one.unfinished.get("length", 0) for one in sampled), sum(one.replies for one in sampled)
    if cut > _MANY_CUT * replies:
        limit = settings.preset.max_tokens
        at = "the model's own limit" if limit is None else f"the limit of {limit:,} tokens"
        way = "give a model that thinks more room: --max-tokens"
        yield f"{cut:,} of {replies:,} replies were cut off at {at}: they are samples that did not pass; {way}"


def measure_by_judge(work: QuestionWork, model: str, out: Path) -> DifficultySummary:
    """Have a judge grade each question, and write the benchmark with it."""
    started = time.monotonic()
    _, found, summary = _asked(work, judge.GradingJob(model), lambda one: judge.measured(one, model), out, "judge")
    costs = [paid_now(one) if isinstance(one, Failure) else one.usd for one in found.values()]
    return replace(
        summary,
        calls=sum(not isinstance(one, Failure) for one in found.values()),
        failures=dict(Counter(one.kind for one in found.values() if isinstance(one, Failure))),
        usd=sum(usd or 0.0 for usd in costs),
        unpriced=costs.count(None),
        seconds=_since(started),
    )


def figures(found: SampleCounts, rule: BucketRule, by: str) -> dict[str, Json]:
    """What is kept of a pass rate; there is at least one sample."""
    low, high = credible_interval(found.passes, found.replies)
    kept: dict[str, Json] = {
        "by": by,
        "passes": found.passes,
        "samples": found.replies,
        "rate": round(found.passes / found.replies, _DIGITS),
        "low": round(low, _DIGITS),
        "high": round(high, _DIGITS),
        "level": LEVEL,
        "easy_from": rule.easy,
        "probability_easy": round(probability_of_at_least(rule.easy, found.passes, found.replies), _DIGITS),
        "stopped_early": found.replies + sum(found.failures.values()) < rule.samples,
    }
    told = {"options": found.options, "unfinished": found.unfinished, "no_reply": found.failures}
    return {**kept, **{name: dict(counts) for name, counts in told.items() if counts}}


def _from_samples(found: SampleCounts | Failure, settings: SamplingSettings) -> MeasuredDifficulty:
    if isinstance(found, Failure):
        return MeasuredDifficulty(None, why_not=found.kind)
    if not found.replies:
        return MeasuredDifficulty(None, why_not="no reply")
    bucket = settings.rule.bucket(found.passes, found.replies)
    return MeasuredDifficulty(bucket, figures(found, settings.rule, settings.model))


def _with_calls(
    summary: DifficultySummary, found: Mapping[str, SampleCounts | Failure], rule: BucketRule
) -> DifficultySummary:
    sampled = [one for one in found.values() if isinstance(one, SampleCounts)]
    failures: Counter[str] = Counter()
    unfinished = sum((Counter(one.unfinished) for one in sampled), Counter[str]())
    for one in found.values():
        failures.update(
            one.failures if isinstance(one, SampleCounts) else {one.kind: 1} if one.usage is not None else {}
        )
    asked = sum(one.replies + sum(one.failures.values()) for one in sampled)
    return replace(
        summary,
        calls=sum(one.replies for one in sampled),
        saved=len(sampled) * rule.samples - asked,
        unread=sum(one.options.get(UNREAD, 0) for one in sampled),
        unfinished=dict(unfinished),
        failures=dict(failures),
        usd=sum(one.usd for one in sampled),
        unpriced=sum(one.unpriced for one in sampled),
    )


@dataclass(frozen=True, slots=True)
class _Try:
    """One attempt: was it right, did anything come of it, and why it failed, if it did."""

    right: bool
    came: bool
    failure: str | None


class _Tried(NamedTuple):
    """The attempts at each task, by number; and the tasks that no metric of the benchmark scores."""

    tries: Mapping[str, Mapping[int, _Try]]
    unscored: Mapping[str, MeasuredDifficulty]


def measure_by_run(source: Path, run: Path, out: Path, rule: BucketRule) -> DifficultySummary:
    """The attempts of a run (`run --repeat 10`) as samples; right is a full score in the task's first metric."""
    started = time.monotonic()
    benchmark, tried = read_benchmark(source), read_run(run)
    tries, unscored = _read(benchmark, tried)
    measured = dict(unscored)
    samples = {task: _sampled(attempts) for task, attempts in tries.items()}
    rates: list[TriedQuestion] = []
    for task, found in samples.items():
        if not found.replies:
            measured[task] = MeasuredDifficulty(None, why_not="no answer")
            continue
        rates.append(TriedQuestion(benchmark.tasks[task], benchmark.truth[task], found.passes / found.replies))
        exact = replace(rule, samples=len(tries[task]))
        measured[task] = MeasuredDifficulty(
            rule.bucket(found.passes, found.replies), figures(found, exact, tried.system)
        )
    _require(measured, run)
    summary = store(benchmark, source, out, measured, "run")
    notes = (*_about_missing(list(samples.values())), *about_guessing(tried.system, rates))
    return replace(summary, seconds=_since(started), notes=notes)


def measure_by_turns(source: Path, run: Path, out: Path, easy_turns: float | None = None) -> DifficultySummary:
    """An agent's turns: easy are tasks whose right attempts took at most `easy_turns` in the median.

    Without a number, that is the median over the tasks that were solved. A task that no attempt solved is hard.
    """
    started = time.monotonic()
    benchmark, tried = read_benchmark(source), read_run(run)
    (tries, unscored), turns = _read(benchmark, tried), turns_of(run)
    took = {
        task: [turns[task, number] for number, one in attempts.items() if one.right and (task, number) in turns]
        for task, attempts in tries.items()
        if any((task, number) in turns for number in attempts)
    }
    _require(took, run)
    solved = [median(counts) for counts in took.values() if counts]
    limit = easy_turns if easy_turns is not None else median(solved) if solved else 0.0
    measured = dict(unscored)
    for task, counts in took.items():
        usual = median(counts) if counts else None
        bucket: Bucket = "easy" if usual is not None and usual <= limit else "hard"
        measured[task] = MeasuredDifficulty(
            bucket,
            {
                "by": tried.system,
                "turns": usual,
                "attempts": len(tries[task]),
                "right": len(counts),
                "easy_up_to": limit,
            },
        )
    summary = store(benchmark, source, out, measured, "turns")
    return replace(summary, seconds=_since(started))


def turns_of(run: Path) -> dict[tuple[str, int], int]:
    """Turns of each finished attempt, by task and number, from the first and last line of its trajectory."""
    found: dict[tuple[str, int], int] = {}
    for path in sorted((run / TRAJECTORIES).glob("*.jsonl")):
        lines: list[dict[str, Any]] = []
        with suppress(CutOffError):  # What a stop left.
            lines = [row for _, row in read_jsonl(path) if isinstance(row, dict)]
        if lines and lines[0].get("type") == "start" and lines[-1].get("type") == "end":
            found[lines[0]["task"], lines[0]["attempt"]] = lines[-1]["turns"]
    return found


def _read(benchmark: Benchmark, run: Run) -> _Tried:
    scores = evaluate(benchmark, run, resamples=_FEW)
    came = _CAME - {"refused"} if run.parameters.get("kind") in _SERVICES else _CAME
    tries: dict[str, dict[int, _Try]] = {}
    unscored: dict[str, MeasuredDifficulty] = {}
    for row in scores.tasks:
        value = next((value for value in row.values.values() if value is not None), None)
        if row.status == "missing":
            continue
        if value is None:
            unscored[row.task_id] = MeasuredDifficulty(None, why_not=f"not scored by {', '.join(scores.metrics)}")
            continue
        answered = row.failure is None
        tries.setdefault(row.task_id, {})[row.attempt] = _Try(
            answered and value >= _RIGHT, answered or row.failure in came, row.failure
        )
    return _Tried(tries, {task: one for task, one in unscored.items() if task not in tries})


def _sampled(tries: Mapping[int, _Try]) -> SampleCounts:
    """Attempts as samples."""
    came = [one for one in tries.values() if one.came]
    return SampleCounts(
        passes=sum(one.right for one in came),
        replies=len(came),
        unfinished=dict(Counter(one.failure for one in came if one.failure is not None)),
        failures=dict(Counter(one.failure for one in tries.values() if one.failure is not None and not one.came)),
    )


def _about_missing(samples: Sequence[SampleCounts]) -> Iterator[str]:
    """Of how many tasks a part of the attempts brought nothing."""
    short = [one for one in samples if one.failures and one.replies]
    if short:
        many = counted(len(short), "task has", "tasks have")
        fewest = min(one.replies for one in short)
        yield f"{many} fewer samples than attempts (the fewest {fewest:,}), for nothing came of the others"


def _require(found: Mapping[str, object], run: Path) -> None:
    if not found:
        raise UserError(
            f"{run} has no attempts that tell how hard a task is.", "give a run of an agent, or one with --repeat"
        )
