"""`sightline difficulty BENCH --model MODEL --out BENCH2`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import ChatOptions, Common, EngineOption, Positive, Switch


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
    from sightline.reason.difficulty.measure import difficulty as measure

    done = measure(
        benchmark,
        out,
        model=chat.model,
        by=by,
        samples=samples,
        easy=easy,
        preset=preset,
        max_tokens=max_tokens,
        all_samples=all_samples,
        run=run,
        easy_turns=easy_turns,
        limit=common.limit,
        session=common.session(chat.calls(common), engine),
    )
    common.warn(done.notes)
    common.show(done)
