"""`sightline import FORMAT PATH --out BENCH`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sightline.cli.options import Common, Switch, described_by, pairs
from sightline.exchange import import_files


@described_by(import_files)
def import_(
    format_: Annotated[str, Parameter(name="FORMAT")],
    path: str,
    /,
    *,
    out: Path,
    map_: Annotated[list[str], Parameter(name="--map", negative="")] | None = None,
    benchmark: Path | None = None,
    pictures: Path | None = None,
    name: str | None = None,
    split: str | None = None,
    option: Annotated[list[str], Parameter(name="--option", negative="")] | None = None,
    keep_going: Switch = False,
    common: Common = Common(),
) -> None:
    """Read files of another tool into a benchmark or a run.

    Parameters
    ----------
    format_:
        One of the formats in `sightline formats`.
    map_:
        Where a column is called otherwise: field=column (may be repeated).
    pictures:
        Where the pictures are, if not beside the files: a folder; for traces also the benchmark that they were made of.
    option:
        What only this format knows: key=value (may be repeated).
    """
    from sightline.calls.session import Session

    summary = import_files(
        format_,
        path,
        out,
        columns=pairs(map_, "--map"),
        benchmark=benchmark,
        pictures=pictures,
        name=name,
        split=split,
        options=pairs(option, "--option"),
        keep_going=keep_going,
        limit=common.limit,
        seed=common.seed,
        session=Session(common.workspace_path, local_only=common.local_only),
    )
    common.show(summary)
    if not common.json:
        common.warn(summary.warnings)
