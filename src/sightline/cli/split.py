"""`sightline split BENCH --out DIR`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import Common, described_by
from sightline.reason.splits import split as split_benchmark


@described_by(split_benchmark)
def split(
    benchmark: Path,
    /,
    *,
    out: Path,
    parts: str = "train=0.8,dev=0.1,test=0.1",
    by: str | None = None,
    bits: Annotated[int, Parameter(validator=Number(gte=0, lte=16))] | None = None,
    common: Common = Common(),
) -> None:
    """Split a benchmark into parts that share no picture, nor a near-duplicate of one.

    Parameters
    ----------
    parts:
        Names and shares, which sum to 1 or are whole numbers.
    by:
        Labels that each part is to have in the same shares, such as subtask,difficulty (which is so when not given).
    """
    from sightline.reason.splits import is_unfinished

    common.ignores_limit()
    try:
        done = split_benchmark(
            benchmark, out, parts=parts, by=by, bits=bits, seed=common.seed, session=common.session()
        )
    except KeyboardInterrupt:
        left = f"the split in {out} is unfinished" if is_unfinished(out) else f"nothing was written to {out}"
        raise KeyboardInterrupt(f"stopped; {left}: run it again, from the beginning.") from None
    common.show(done)
