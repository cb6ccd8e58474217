"""`sightline curriculum BENCH --plan PLAN --out DIR [--format FORMAT]`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import Common, Positive, Switch, described_by
from sightline.reason.curriculum.compiler import curriculum as compile_curriculum


@described_by(compile_curriculum)
def curriculum(
    benchmark: Path,
    /,
    *,
    plan: str,
    out: Path,
    format: Literal["sightline", "ms-swift", "llama-factory", "trl", "llava", "sharegpt"] = "sightline",  # noqa: A002
    tokens: Positive | None = None,
    limit_tokens: Positive | None = None,
    tokenizer: str | None = None,
    picture_tokens: Positive | None = None,
    test: Path | None = None,
    same_bits: Annotated[int, Parameter(validator=Number(gte=0, lte=16))] | None = None,
    drop: Switch = False,
    pictures: Literal["copy", "link", "leave"] = "copy",
    leak_reader: str = "ngram",
    common: Common = Common(),
) -> None:
    """Compile questions with reasoning steps into training data from easy to hard, and measure what leaks.

    Exit code 4, and nothing written, when a record fails a check.
    """
    try:
        done = compile_curriculum(
            benchmark,
            plan,
            out,
            format=format,
            tokens=tokens,
            limit_tokens=limit_tokens,
            tokenizer=tokenizer,
            picture_tokens=picture_tokens,
            test=test,
            same_bits=same_bits,
            drop=drop,
            pictures=pictures,
            leak_reader=leak_reader,
            limit=common.limit,
            seed=common.seed,
            session=common.session(),
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; nothing was written to {out}.") from None
    common.warn(done.warnings)
    common.show(done)
