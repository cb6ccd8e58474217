"""From a benchmark to the same benchmark with reference steps; what is left goes into a file for people."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sightline.benchmark.folder import check_place, write_benchmark_elsewhere
from sightline.calls.plan import CostPlan, DryRunError, priced
from sightline.calls.session import Session, require_model
from sightline.errors import SightlineError, UserError, require_at_least
from sightline.io.files import PathLike, as_path, optional_path
from sightline.reason.questions import QuestionWork, TaskQuestion
from sightline.reason.steps.annotation import (
    KINDS,
    MAX_TOKENS,
    STAGE,
    AnnotatedSteps,
    StepSettings,
    StepsJob,
    request_for,
)
from sightline.reason.steps.checks import StepFault, has_steps, question_faults, step_faults
from sightline.reason.steps.summary import (
    REVIEW,
    CheckedSteps,
    StepReview,
    StepsSummary,
    read_reviewed,
    rows_of,
    write_review,
)
from sightline.types import Answer, Benchmark, Choice, Json


@priced
def steps(
    benchmark: PathLike,
    out: PathLike | None = None,
    *,
    model: str | None = None,
    repairs: int = 2,
    tell_answer: bool = False,
    again: bool = False,
    reviewed: PathLike | None = None,
    max_tokens: int | None = None,
    temperature: float | None = None,
    reasoning_effort: str | None = None,
    limit: int | None = None,
    seed: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> StepsSummary:
    """Have a model write the five reasoning steps of each question; what passes the checks becomes its reference.

    A stop (budget, server down) leaves a benchmark with what is known so far; run it again to resume, which asks
    nothing twice.

    Parameters
    ----------
    benchmark:
        The folder of a benchmark with choose or answer tasks.
    out:
        The folder of the benchmark with steps, new or written before; it may be the same. Only a dry run needs none.
    model:
        The model that writes, such as "openai/gpt-5-mini"; not needed with `reviewed`.
    repairs:
        How often a reply is sent back with what is wrong with it.
    tell_answer:
        Tell the model the right answer from the beginning; otherwise only when its conclusion was wrong.
    again:
        Also replace the steps of questions that have all five.
    reviewed:
        A steps-review.jsonl whose replies people have corrected; without `model` nobody is asked for the others.
    max_tokens, temperature, reasoning_effort:
        Fields of every request.
    limit:
        Take only the first questions.
    seed:
        A field of every request.
    workspace, session:
        Where to work and how to call models; see `Session`.

    Returns
    -------
    StepsSummary
        How many questions have steps now, and what is left; `print` shows what the command prints.

    Examples
    --------
    >>> import sightline
    >>> plan = sightline.dry_run(sightline.steps, "questions", model="openai/gpt-5-mini", workspace="ws")
    >>> plan.stages[0].calls
    4
    """
    session = Session.of(session, workspace)
    require_at_least(0, repairs=repairs, temperature=temperature)
    require_at_least(1, limit=limit, max_tokens=max_tokens)
    parameters = {
        "max_tokens": max_tokens or MAX_TOKENS,
        "temperature": temperature,
        "reasoning_effort": reasoning_effort,
        "seed": session.seed if seed is None else seed,
    }
    work = QuestionWork(as_path(benchmark, "a benchmark"), session, limit)
    if session.calls.plan:
        raise DryRunError(
            price_steps(work, StepSettings(require_model(model), repairs, tell_answer, parameters), again=again)
        )
    if out is None:
        raise UserError("No folder is given for the benchmark with steps.", "Give one: --out FOLDER.")
    nobody = model is None and reviewed is not None
    settings = None if nobody else StepSettings(require_model(model), repairs, tell_answer, parameters)
    place, mended = as_path(out, "the folder to write"), optional_path(reviewed, "a steps-review.jsonl")
    return annotate_benchmark(work, settings, place, again=again, reviewed=mended)


def check_steps(benchmark: PathLike, *, limit: int | None = None) -> CheckedSteps:
    """Check the reasoning steps that a benchmark has; no model is called.

    Parameters
    ----------
    benchmark:
        The folder of a benchmark with choose or answer tasks.
    limit:
        Take only the first questions.

    Returns
    -------
    CheckedSteps
        How many questions have all five steps, and what is wrong with them; `raise_if_faulty` raises it.

    Examples
    --------
    >>> import sightline
    >>> print(sightline.check_steps("questions"))
      0 of 4 questions have all five steps; 0 of these are in order
    """
    _, questions = QuestionWork(as_path(benchmark, "a benchmark"), limit=limit).opened(KINDS)
    complete = [question for question in questions if has_steps(question.truth)]
    found = {question.task.id: _own_faults(question) for question in complete}
    return CheckedSteps(
        tasks=len(questions),
        complete=len(complete),
        faults={task: tuple(fault.message for fault in faults) for task, faults in found.items() if faults},
        kinds=dict(Counter(fault.kind for faults in found.values() for fault in faults)),
    )


def price_steps(work: QuestionWork, settings: StepSettings, *, again: bool = False) -> CostPlan:
    """What the first replies would cost; repairs cost more. Nobody is asked."""
    _, questions = work.opened(KINDS)
    todo = [
        question
        for question in questions
        if (again or not has_steps(question.truth)) and not question_faults(question.task, question.truth)
    ]
    return work.price(settings.model, STAGE, (request_for(question, settings) for question in todo), len(todo))


def annotate_benchmark(
    work: QuestionWork, settings: StepSettings | None, out: Path, *, again: bool = False, reviewed: Path | None = None
) -> StepsSummary:
    """Write the benchmark with the steps that a model gave and people mended; `again` also replaces those that it has.

    A stop (budget, server down) leaves a benchmark with what is known so far; run it again to go on, which asks nothing
    twice. Without `settings` nobody is asked: the mended steps are added to those that the benchmark has.
    """
    started = time.monotonic()
    benchmark, questions = work.opened(KINDS)
    _check_place(work, settings, out, benchmark)
    review = StepReview() if reviewed is None else read_reviewed(reviewed, questions)
    # Where nobody is asked, what is known of the others stays.
    as_it_was = {} if settings is not None else {**rows_of(work.source / REVIEW), **review.rows}
    kept: list[TaskQuestion] = []
    todo: dict[str, TaskQuestion] = {}
    for question in questions:
        if has_steps(question.truth) and not again and question.task.id not in review.mended:
            kept.append(question)
        elif question.task.id not in review.mended:
            todo[question.task.id] = question
    results, stopped = _asked(work, settings, list(todo.values()))
    good = {name: one for name, one in results.items() if one.steps and not one.faults}
    left = {name: review.waiting.get(name, one) for name, one in results.items() if name not in good}
    by = "" if settings is None else settings.model
    changed = _with_steps(_with_steps(benchmark, good, by), review.mended, "people")
    write_benchmark_elsewhere(changed, work.source, out)
    write_review(out / REVIEW, todo, left, as_it_was)
    if stopped is not None:
        raise stopped
    return StepsSummary(
        folder=out,
        tasks=len(questions),
        annotated=len(good),
        repaired=sum(one.calls > 1 for one in good.values()),
        told=sum(one.told for one in good.values()),
        reviewed=len(review.mended),
        kept=len(kept),
        left=len(left),
        unasked=sum(one.unasked for one in left.values()),
        faults=dict(Counter(kind for one in left.values() for kind in {fault.kind for fault in one.faults})),
        kept_faults=dict(Counter(fault.kind for question in kept for fault in _own_faults(question))),
        failures=dict(Counter(one.failure.kind for one in left.values() if one.failure is not None)),
        calls=sum(one.calls for one in results.values()),
        usd=sum(one.usd for one in results.values()),
        unpriced=sum(one.unpriced for one in results.values()),
        seconds=round(time.monotonic() - started, 2),
    )


def _check_place(work: QuestionWork, settings: StepSettings | None, out: Path, benchmark: Benchmark) -> None:
    """Before anything is asked, or steps that were paid for are written over."""
    if settings is None and out.exists() and out.resolve() != work.source.resolve():
        raise UserError(
            f"{out} has steps that {work.source} has not, and nobody is asked for them.",
            f"add people's corrections to it: sightline steps {out} --reviewed FILE --out {out}",
        )
    check_place(out, benchmark.name, benchmark.reviews, benchmark.tasks)


def _asked(
    work: QuestionWork, settings: StepSettings | None, todo: Sequence[TaskQuestion]
) -> tuple[dict[str, AnnotatedSteps], SightlineError | None]:
    if settings is None:
        return {one.task.id: AnnotatedSteps(faults=question_faults(one.task, one.truth)) for one in todo}, None
    found, stopped = work.ask(todo, StepsJob(settings))
    return {
        name: one if isinstance(one, AnnotatedSteps) else AnnotatedSteps(failure=one) for name, one in found.items()
    }, stopped


def _own_faults(question: TaskQuestion) -> tuple[StepFault, ...]:
    """What is wrong with a question, and with the steps that it has."""
    truth = question.truth
    own = step_faults(question.task, truth, truth.steps) if isinstance(truth, Choice | Answer) else ()
    return (*question_faults(question.task, truth), *own)


def _with_steps(benchmark: Benchmark, found: Mapping[str, AnnotatedSteps], by: str) -> Benchmark:
    """The benchmark with these steps as reference, and on each task who gave them."""
    tasks, truth = dict(benchmark.tasks), dict(benchmark.truth)
    for name, one in found.items():
        before = truth[name]
        assert isinstance(before, Choice | Answer)
        note: dict[str, Json] = {"by": by, "calls": one.calls, "told": one.told}
        tasks[name] = replace(tasks[name], extra={**tasks[name].extra, "steps": note})
        truth[name] = replace(before, steps=one.steps)
    return replace(benchmark, tasks=tasks, truth=truth)
