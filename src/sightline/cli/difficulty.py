"""`sightline difficulty BENCH --model MODEL --out BENCH2`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import ChatOptions, Common, EngineOption, Positive, Switch, described_by
from sightline.reason.difficulty.measure import difficulty as measure


@described_by(measure)
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
    """Say of each question whether it is easy or hard, and keep it on the task. Run it again to go on."""
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
