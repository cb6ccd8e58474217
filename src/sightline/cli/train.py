"""`sightline train DIR --model MODEL --out OUT [--lora RANK] [--stages …] [--resume] [--eval BENCH …]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import Common, Positive, Switch, described_by
from sightline.reason.training import train as train_model

Above = Annotated[float, Parameter(validator=Number(gt=0))]


@described_by(train_model)
def train(
    folder: Path,
    /,
    *,
    model: str,
    out: Path,
    lora: Positive | None = None,
    stages: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    resume: Switch = False,
    eval: Annotated[list[Path] | None, Parameter(consume_multiple=True, negative="")] = None,  # noqa: A002
    rate: Above = 2e-5,
    tokens: Positive = 8_192,
    together: Positive = 1,
    answer_tokens: Positive = 512,
    mix: Switch = False,
    keep_every: Positive = 200,
    log_every: Positive = 10,
    full_precision: Switch = False,
    compile: Switch = False,  # noqa: A002
    common: Common = Common(),
) -> None:
    """Train a vision-language model by the stages of a curriculum; what it says is learnt, what it reads is not.

    `--limit` takes only so many records of each stage, from its beginning.

    Several GPUs: `accelerate launch -m sightline.reason.train …`, which takes the same options.

    Parameters
    ----------
    eval:
        Questions to ask after each stage: benchmarks, curricula (the last stage that gives no steps), or files of
        records with answers.
    """
    from sightline.reason.train.__main__ import tell

    try:
        done = train_model(
            folder,
            out,
            model=model,
            lora=lora,
            stages=stages or (),
            resume=resume,
            evals=eval or (),
            rate=rate,
            tokens=tokens,
            together=together,
            answer_tokens=answer_tokens,
            mix=mix,
            keep_every=keep_every,
            log_every=log_every,
            full_precision=full_precision,
            compile=compile,
            limit=common.limit,
            seed=common.seed,
            progress=tell,
            session=common.session(),
        )
    except KeyboardInterrupt as stopped:
        sys.stderr.write(f"{stopped or 'stopped before the training began.'}\n")
        raise SystemExit(130) from None
    common.show(done)
