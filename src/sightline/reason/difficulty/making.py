"""From a benchmark to the same benchmark with difficulty: by samples of a model, or by a judge."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sightline import bench
from sightline.engine.plan import Plan
from sightline.english import counted
from sightline.models.course import paid_now
from sightline.reason.asking import Work
from sightline.reason.difficulty import judging, sampling
from sightline.reason.difficulty.guessing import Tried, about_guessing
from sightline.reason.difficulty.posterior import LEVEL, Rule, credible_interval, probability_of_at_least
from sightline.reason.difficulty.sampling import KINDS, NO_RIGHT_OPTION, UNREAD, Sampled, Settings
from sightline.reason.difficulty.storing import Measured, Summary, store
from sightline.reason.questions import Question, has_right_option
from sightline.types import Failure, Json

_DIGITS = 4
_SHOWN = 5
_MANY_CUT = 0.1


def price_samples(work: Work, settings: Settings) -> Plan:
    """What all samples would cost; nobody is asked."""
    _, opened = work.opened(KINDS)
    questions = [question for question in opened if has_right_option(question.task, question.truth)]
    requests = (request for question in questions for request in sampling.requests_for(question, settings))
    return work.price(settings.model, sampling.STAGE, requests, len(questions) * settings.rule.samples)


def price_judge(work: Work, model: str) -> Plan:
    """What a judge would cost; nobody is asked."""
    _, questions = work.opened(KINDS)
    requests = (judging.request_for(question, model) for question in questions)
    return work.price(model, judging.STAGE, requests, len(questions))


def measure_by_samples(work: Work, settings: Settings, out: Path) -> Summary:
    """Ask each question until its pass rate is clear, and write the benchmark with it.

    A stop (budget, server down) leaves a benchmark with what is known so far; run it again to go on, which asks
    nothing twice.
    """
    started = time.monotonic()
    benchmark, questions = work.opened(KINDS)
    bench.check_place(out, benchmark.name, benchmark.reviews, benchmark.tasks)
    found, stopped = work.ask(questions, sampling.SamplingJob(settings))
    measured = {name: _from_samples(one, settings) for name, one in found.items()}
    summary = store(benchmark, work.source, out, measured, "samples")
    if stopped is not None:
        raise stopped
    summary = _with_calls(summary, found, settings.rule)
    notes = (*settings.preset.notes(settings.model), *_notes(questions, found, settings))
    return replace(summary, seconds=round(time.monotonic() - started, 2), notes=notes)


def _notes(questions: Sequence[Question], found: Mapping[str, Sampled | Failure], settings: Settings) -> Iterator[str]:
    """What is wrong with truths and with samples, and whether the model only guesses."""
    wrong = [name for name, one in found.items() if isinstance(one, Failure) and one.kind == NO_RIGHT_OPTION]
    if wrong:
        listed = ", ".join(f'"{name}"' for name in wrong[:_SHOWN]) + (", …" if len(wrong) > _SHOWN else "")
        many = counted(len(wrong), "question was", "questions were")
        yield f"{many} not asked: the truth of {listed} is none of the options; `sightline validate` names the lines"
    yield from _about_samples([one for one in found.values() if isinstance(one, Sampled) and one.replies], settings)
    came = ((question, found.get(question.task.id)) for question in questions)
    yield from about_guessing(
        settings.model,
        [
            Tried(question.task, question.truth, one.first_rate(settings.rule), one.options)
            for question, one in came
            if isinstance(one, Sampled) and one.replies
        ],
    )


def _about_samples(sampled: Sequence[Sampled], settings: Settings) -> Iterator[str]:
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


def measure_by_judge(work: Work, model: str, out: Path) -> Summary:
    """Have a judge grade each question, and write the benchmark with it."""
    started = time.monotonic()
    benchmark, questions = work.opened(KINDS)
    bench.check_place(out, benchmark.name, benchmark.reviews, benchmark.tasks)
    found, stopped = work.ask(questions, judging.GradingJob(model))
    measured = {name: judging.measured(one, model) for name, one in found.items()}
    summary = store(benchmark, work.source, out, measured, "judge")
    if stopped is not None:
        raise stopped
    costs = [paid_now(one) if isinstance(one, Failure) else one.usd for one in found.values()]
    return replace(
        summary,
        calls=sum(not isinstance(one, Failure) for one in found.values()),
        failures=dict(Counter(one.kind for one in found.values() if isinstance(one, Failure))),
        usd=sum(usd or 0.0 for usd in costs),
        unpriced=costs.count(None),
        seconds=round(time.monotonic() - started, 2),
    )


def figures(found: Sampled, rule: Rule, by: str) -> dict[str, Json]:
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


def _from_samples(found: Sampled | Failure, settings: Settings) -> Measured:
    if isinstance(found, Failure):
        return Measured(None, why_not=found.kind)
    if not found.replies:
        return Measured(None, why_not="no reply")
    bucket = settings.rule.bucket(found.passes, found.replies)
    return Measured(bucket, figures(found, settings.rule, settings.model))


def _with_calls(summary: Summary, found: Mapping[str, Sampled | Failure], rule: Rule) -> Summary:
    sampled = [one for one in found.values() if isinstance(one, Sampled)]
    failures: Counter[str] = Counter()
    unfinished = sum((Counter(one.unfinished) for one in sampled), Counter[str]())
    for one in found.values():
        failures.update(one.failures if isinstance(one, Sampled) else {one.kind: 1} if one.usage is not None else {})
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
