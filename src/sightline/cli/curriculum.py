"""`sightline curriculum BENCH --plan PLAN --out DIR [--format FORMAT]`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import Common, Positive, Switch


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
    common: Common = Common(),
) -> None:
    """Compile questions with reasoning steps into training data from easy to hard, and prove that nothing leaks.

    Exit code 4, and nothing written, when a record fails a check.

    Parameters
    ----------
    benchmark:
        A benchmark of choose tasks with reasoning steps; most plans also need the label `difficulty`.
    plan:
        mir, plain, full-chain, shuffled, reverse, anti, self-paced, faded, or a TOML file.
    out:
        The folder to write; of a curriculum that is there already the files are replaced, what else lies there stays.
    format:
        Whose training tool is to read it.
    tokens:
        Repeat or cut records until the whole has so many tokens: plans become comparable.
    limit_tokens:
        The most tokens that a record may have.
    tokenizer:
        A tokenizer.json, its folder, or a name on the hub; without it tokens are estimated.
    picture_tokens:
        Tokens of one picture; Qwen2.5-VL's rule for its size when not given.
    test:
        A benchmark of which no picture, nor nearly one, may be in the training.
    same_bits:
        Hashes of pictures that differ in at most so many of 64 bits are nearly the same, if their tones agree; as
        configured for duplicates (6) when not given.
    drop:
        Leave out records that fail a check instead of refusing.
    pictures:
        Copy the pictures into the folder, link them (hard links), or leave them where they are.
    """
    from sightline.reason.curriculum.compiler import curriculum as compile_curriculum

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
            limit=common.limit,
            seed=common.seed,
            session=common.session(),
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; nothing was written to {out}.") from None
    common.warn(done.warnings)
    common.show(done)
