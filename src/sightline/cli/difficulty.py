"""`sightline difficulty BENCH --model MODEL --out BENCH2`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import ChatOptions, Common, EngineOption, Positive, Switch, show_plan
from sightline.english import counted
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.reason.difficulty.labels import DifficultySummary
    from sightline.reason.difficulty.sampling import SamplingSettings


def difficulty(
    benchmark: Path,
    /,
    *,
    out: Path | None = None,
    by: Literal["samples", "judge", "run", "turns"] = "samples",
    samples: Positive = 10,
    easy: float = 0.7,
    preset: Literal["mir", "own"] = "mir",
    max_tokens: Positive | None = None,
    all_samples: Switch = False,
    run: Path | None = None,
    easy_turns: Annotated[float, Parameter(validator=Number(gt=0))] | None = None,
    engine: EngineOption = "local",
    chat: ChatOptions = ChatOptions(),
    common: Common = Common(),
) -> None:
    """Say of each question whether it is easy or hard, and keep it on the task. Run it again to go on.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark.
    out:
        The folder of the benchmark with difficulty, new or written before; it may be the same.
    by:
        samples of a model's replies, a judge's grade, how often the attempts of a run were right, or the turns that an
        agent took.
    samples:
        How often each question is asked.
    easy:
        The pass rate from which on a question is easy.
    preset:
        How samples are drawn: mir (temperature 0.7, top_p 0.8, repetition penalty 1.05, 512 tokens, at most 20
        pictures), or the model's own settings.
    max_tokens:
        The most tokens of a reply, where the preset's are too few for a model that thinks; the rest is the preset's.
    all_samples:
        Draw all samples, also where it is clear before.
    run:
        The folder of a run on this benchmark, for --by run and --by turns.
    easy_turns:
        The most turns of an easy question; the median of those that were solved when not given.
    """
    from sightline.reason.difficulty.pass_rate import BucketRule
    from sightline.reason.difficulty.sampling import PRESETS, SamplingSettings

    rule = BucketRule(samples, easy, early=not all_samples)
    _refuse_idle(by, run, chat.model, max_tokens)
    if out is None and not chat.plan:
        raise UserError("there is no place for the benchmark with difficulty.", "say where: --out FOLDER")
    if by in ("samples", "judge"):
        drawn = PRESETS[preset] if max_tokens is None else replace(PRESETS[preset], max_tokens=max_tokens)
        _ask(benchmark, out, by == "judge", SamplingSettings(chat.chosen(), rule, drawn), engine, chat, common)
    elif run is None or out is None:
        raise UserError(
            f"--by {by} goes by a run that is there, and asks nobody.", "say which: --run FOLDER --out FOLDER"
        )
    else:
        from sightline.reason.difficulty.pipeline import measure_by_run, measure_by_turns

        done = (
            measure_by_turns(benchmark, run, out, easy_turns)
            if by == "turns"
            else measure_by_run(benchmark, run, out, rule)
        )
        _show(done, common)


def _refuse_idle(by: str, run: Path | None, model: str | None, max_tokens: int | None) -> None:
    """What was named and would not be used is no wish to ignore in silence."""
    asks = by in ("samples", "judge")
    if asks and run is not None:
        raise UserError(f"--by {by} asks a model, and does not look at --run {run}.", "leave it out, or say --by run")
    if by != "samples" and max_tokens is not None:
        raise UserError(f"--by {by} draws no samples, which --max-tokens is for.", "leave it out, or say --by samples")
    if not asks and model is not None:
        raise UserError(
            f"--by {by} goes by a run that is there: {model} would not be asked.",
            "leave --model out, or say --by samples",
        )


def _ask(
    benchmark: Path,
    out: Path | None,
    judge: bool,
    settings: SamplingSettings,
    engine: str,
    chat: ChatOptions,
    common: Common,
) -> None:
    from sightline.calls.session import Session
    from sightline.reason.difficulty import pipeline
    from sightline.reason.questions import QuestionWork

    session = Session(common.workspace_path, common.settings(), chat.asking(common), engine)
    work = QuestionWork(benchmark, session, common.limit)
    if chat.plan or out is None:
        show_plan(
            pipeline.price_judge(work, settings.model) if judge else pipeline.price_samples(work, settings), common
        )
    elif judge:
        _show(pipeline.measure_by_judge(work, settings.model, out), common)
    else:
        _show(pipeline.measure_by_samples(work, settings, out), common)


def _show(done: DifficultySummary, common: Common) -> None:
    common.warn(done.notes)
    if common.json:
        common.print_json(done.to_json())
    else:
        common.console.print(to_text(done), markup=False, soft_wrap=True)


def to_text(done: DifficultySummary) -> str:
    """How many are easy and hard, in all and by subtask, and what it cost."""
    from sightline.calls.ledger import LedgerRow

    lines = [f"  {done.easy:,} easy, {done.hard:,} hard of {done.tasks:,} questions, by {done.measure}"]
    width = max(map(len, done.by_subtask), default=0)
    for subtask, counts in done.by_subtask.items():
        lines.append(f"    {subtask:<{width}}  {counts['easy']:>5,} easy {counts['hard']:>5,} hard")
    if done.unmeasured:
        lines.append(f"  not measured: {', '.join(f'{why} {count:,}' for why, count in done.unmeasured.items())}")
    if done.failures:
        listed = ", ".join(f"{kind} {count:,}" for kind, count in done.failures.items())
        lines.append(f"  calls without a reply: {listed}")
    if done.calls or done.failures:
        saved = f", {done.saved:,} saved by an early stop" if done.saved else ""
        cut = ", ".join(f"{kind} {count:,}" for kind, count in done.unfinished.items())
        unread = f", {done.unread:,} unread{f' ({cut})' if cut else ''}" if done.unread else ""
        cost = LedgerRow(usd=done.usd, unpriced=done.unpriced).money
        said = counted(done.calls, "reply", "replies")
        lines.append(f"  {said}{saved}{unread} · cost {cost} · {done.seconds:.1f} s")
    lines.append(f"  → {done.folder}")
    if done.choices:
        lines.append(f"  next: sightline curriculum {done.folder} --plan mir --out DIR")
    return "\n".join(lines)
