"""The verb `difficulty`: which questions are easy and which hard, by what is there or can be asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from sightline.calls.plan import DryRunError, priced
from sightline.calls.session import Session, require_model
from sightline.errors import UserError, require_at_least, require_one_of
from sightline.io.files import PathLike, as_path, optional_path
from sightline.reason.difficulty import pipeline
from sightline.reason.difficulty.labels import MEASURES, DifficultySummary, Measure
from sightline.reason.difficulty.pass_rate import BucketRule
from sightline.reason.difficulty.sampling import PRESETS, SamplingSettings
from sightline.reason.questions import QuestionWork


@priced
def difficulty(
    benchmark: PathLike,
    out: PathLike | None = None,
    *,
    model: str | None = None,
    by: Measure = "samples",
    samples: int = 10,
    easy: float = 0.7,
    preset: Literal["mir", "own"] = "mir",
    max_tokens: int | None = None,
    all_samples: bool = False,
    run: PathLike | None = None,
    easy_turns: float | None = None,
    limit: int | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> DifficultySummary:
    """Label each question as easy or hard, and keep the figures on the task. Run it again to resume.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark.
    out:
        The folder of the benchmark with difficulty, new or written before; it may be the same. Only a dry run needs
        none.
    model:
        The model that is asked, such as "openai/gpt-5-mini", by "samples" and by "judge".
    by:
        "samples" of a model's replies, a "judge"'s grade, how often the attempts of a "run" were right, or the "turns"
        that an agent took.
    samples:
        How often each question is asked.
    easy:
        The pass rate from which on a question is easy.
    preset:
        How samples are drawn: "mir" (temperature 0.7, top_p 0.8, repetition penalty 1.05, 512 tokens, at most 20
        pictures), or the model's "own" settings.
    max_tokens:
        The most tokens of a reply, where the preset's are too few for a model that thinks; the rest is the preset's.
    all_samples:
        Draw all samples, also where the result is clear before.
    run:
        The folder of a run on this benchmark, by "run" and by "turns".
    easy_turns:
        The most turns of an easy question; the median of those that were solved when not given.
    limit:
        Ask only about the first questions.
    workspace, session:
        Where to work and how to call models; see `Session`.

    Returns
    -------
    DifficultySummary
        How many questions are easy and hard; `print` shows what the command prints.

    Examples
    --------
    >>> import sightline
    >>> plan = sightline.dry_run(
    ...     sightline.difficulty, "questions", model="openai/gpt-5-mini", samples=5, workspace="ws"
    ... )
    >>> plan.stages[0].calls
    20
    """
    session = Session.of(session, workspace)
    require_one_of(MEASURES, by=by)
    require_one_of(PRESETS, preset=preset)
    require_at_least(1, samples=samples, limit=limit, max_tokens=max_tokens)
    require_at_least(0, easy=easy, easy_turns=easy_turns)
    rule = BucketRule(samples, easy, early=not all_samples)
    source, made = as_path(benchmark, "a benchmark"), optional_path(run, "a run")
    place = optional_path(out, "the folder to write")
    _refuse_idle(by, made, model, max_tokens)
    if place is None and not session.calls.plan:
        raise UserError("No folder is given for the benchmark with difficulty.", "Give one: --out FOLDER.")
    if by in ("run", "turns"):
        return _from_run(by, source, made, place, rule, easy_turns, session)
    drawn = PRESETS[preset] if max_tokens is None else replace(PRESETS[preset], max_tokens=max_tokens)
    settings = SamplingSettings(require_model(model), rule, drawn)
    return _asked(by, QuestionWork(source, session, limit), settings, place)


def _refuse_idle(by: str, run: Path | None, model: str | None, max_tokens: int | None) -> None:
    """What was named and would not be used is not a wish to ignore in silence."""
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


def _from_run(
    by: Measure,
    source: Path,
    run: Path | None,
    out: Path | None,
    rule: BucketRule,
    easy_turns: float | None,
    session: Session,
) -> DifficultySummary:
    if run is None or out is None or session.calls.plan:
        raise UserError(
            f"--by {by} goes by a run that is there, and asks nobody.", "say which: --run FOLDER --out FOLDER"
        )
    if by == "turns":
        return pipeline.measure_by_turns(source, run, out, easy_turns)
    return pipeline.measure_by_run(source, run, out, rule)


def _asked(by: Measure, work: QuestionWork, settings: SamplingSettings, out: Path | None) -> DifficultySummary:
    judged = by == "judge"
    if work.session.calls.plan or out is None:
        raise DryRunError(
            pipeline.price_judge(work, settings.model) if judged else pipeline.price_samples(work, settings)
        )
    if judged:
        return pipeline.measure_by_judge(work, settings.model, out)
    return pipeline.measure_by_samples(work, settings, out)
