"""`sightline import FORMAT PATH --out BENCH`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sightline.cli.options import Common, Switch, pairs
from sightline.english import counted


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
    path:
        A file or folder; for the public benchmarks also their name on the hub.
    out:
        The folder to write: a benchmark, or a run for predictions.
    map_:
        Where a column is called otherwise: field=column (may be repeated).
    benchmark:
        For predictions: the benchmark that they answer.
    pictures:
        Where the pictures are, if not beside the files: a folder; for traces also the benchmark that they were made of.
    name:
        What to call it.
    split:
        Which split, where a format has several.
    option:
        What only this format knows: key=value (may be repeated).
    keep_going:
        Leave out wrong lines and list them all, instead of stopping at the first.
    """
    from sightline.benchmark.folder import read_benchmark
    from sightline.benchmark.formats import FormatOptions
    from sightline.exchange import import_files

    options = FormatOptions(
        columns=pairs(map_, "--map"),
        name=name,
        split=split,
        limit=common.limit,
        seed=common.seed or 0,
        keep_going=keep_going,
        local_only=common.local_only,
        pictures=pictures,
        benchmark=None if benchmark is None else read_benchmark(benchmark),
        extra=pairs(option, "--option"),
    )
    summary = import_files(format_, path, out, options)
    if common.json:
        common.print_json(asdict(summary))
        return
    common.console.print(
        f"  {counted(summary.tasks, 'task')} · {counted(summary.judgments, 'judgment')}"
        f" · {counted(summary.pictures, 'picture')}"
        f" ({summary.missing_pictures:,} missing) → {out}",
        markup=False,
    )
    for label, counts in summary.labels.items():
        listed = ", ".join(f"{value} {count:,}" for value, count in counts.items())
        common.console.print(f"  {label}: {listed}", markup=False, overflow="ellipsis", no_wrap=True)
    common.warn(summary.warnings)
