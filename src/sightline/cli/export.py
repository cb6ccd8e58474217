"""`sightline export FORMAT SOURCE --out PATH`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sightline.cli.options import Common, described_by, pairs
from sightline.exchange import export_files


@described_by(export_files)
def export(
    format_: Annotated[str, Parameter(name="FORMAT")],
    source: Path,
    /,
    *,
    out: Path,
    map_: Annotated[list[str], Parameter(name="--map", negative="")] | None = None,
    benchmark: Path | None = None,
    option: Annotated[list[str], Parameter(name="--option", negative="")] | None = None,
    common: Common = Common(),
) -> None:
    """Write a corpus, a benchmark or a run in another tool's format.

    Parameters
    ----------
    format_:
        One of the formats in `sightline formats`.
    map_:
        How to call a column: field=column (may be repeated).
    option:
        What only this format knows: key=value (may be repeated).
    """
    written = export_files(
        format_,
        source,
        out,
        columns=pairs(map_, "--map"),
        benchmark=benchmark,
        options=pairs(option, "--option"),
        limit=common.limit,
        seed=common.seed,
    )
    common.show(written)
