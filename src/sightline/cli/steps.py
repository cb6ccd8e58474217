"""`sightline steps BENCH --model MODEL --out BENCH2`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import ChatOptions, Common, EngineOption, SamplingOptions, Switch, described_by
from sightline.reason.steps.pipeline import steps as annotate


@described_by(annotate)
def steps(
    benchmark: Path,
    /,
    *,
    out: Path | None = None,
    repairs: Annotated[int, Parameter(validator=Number(gte=0))] = 2,
    tell_answer: Switch = False,
    again: Switch = False,
    reviewed: Path | None = None,
    check: Switch = False,
    engine: EngineOption = "local",
    chat: ChatOptions = ChatOptions(),
    sampling: SamplingOptions = SamplingOptions(),
    common: Common = Common(),
) -> None:
    """Have a model write the five reasoning steps of each question; what passes the checks becomes its reference.

    Parameters
    ----------
    check:
        Only check the steps that the benchmark has; ends with 4 where something is wrong.
    """
    from sightline.reason.steps.pipeline import check_steps

    if check:
        found = check_steps(benchmark, limit=common.limit)
        common.show(found)
        found.raise_if_faulty()
        return
    done = annotate(
        benchmark,
        out,
        model=chat.model,
        repairs=repairs,
        tell_answer=tell_answer,
        again=again,
        reviewed=reviewed,
        **sampling.parameters(common),
        limit=common.limit,
        session=common.session(chat.calls(common), engine),
    )
    common.show(done)
