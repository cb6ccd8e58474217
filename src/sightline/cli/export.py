"""`sightline export FORMAT SOURCE --out PATH`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sightline.cli.options import Common, pairs


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
    source:
        A workspace, a benchmark or a run.
    out:
        The file or folder to write; it appears whole or not at all.
    map_:
        How to call a column: field=column (may be repeated).
    benchmark:
        For runs in formats that also need the questions: the benchmark that the run answers.
    option:
        What only this format knows: key=value (may be repeated).
    """
    from sightline.exchange import export_files

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
