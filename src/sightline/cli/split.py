"""`sightline split BENCH --out DIR`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import Common
from sightline.english import counted
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.reason.splits import SplitSummary


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
    benchmark:
        The folder of the benchmark.
    out:
        A folder that gets one benchmark for each part, and split.json; a split into the same parts is replaced.
    parts:
        Names and shares, which sum to 1 or are whole numbers.
    by:
        Labels that each part is to have in the same shares, such as subtask,difficulty (which is so when not given).
    bits:
        Hashes that differ in at most so many of 64 bits are near-duplicates if tones agree; as configured by default.
    """
    from sightline.reason.splits import is_unfinished, split_benchmark

    common.ignores_limit()
    try:
        done = split_benchmark(
            benchmark,
            out,
            shares=_shares(parts),
            by=None if by is None else tuple(name.strip() for name in by.split(",") if name.strip()),
            seed=common.seed or 0,
            bits=bits,
            config=common.settings(),
        )
    except KeyboardInterrupt:
        left = f"the split in {out} is unfinished" if is_unfinished(out) else f"nothing was written to {out}"
        raise KeyboardInterrupt(f"stopped; {left}: run it again, from the beginning.") from None
    if common.json:
        common.print_json(done.to_json())
    else:
        common.console.print(to_text(done), markup=False, soft_wrap=True)


def _shares(text: str) -> dict[str, float]:
    found = {}
    for pair in text.split(","):
        name, _, share = pair.partition("=")
        try:
            found[name.strip()] = float(share)
        except ValueError:
            raise UserError(f'--parts "{pair}" is not of the form name=share.', "for example train=0.8") from None
    return found


def to_text(done: SplitSummary) -> str:
    """The parts, what keeps tasks together, and the balance of the labels."""
    names = list(done.parts)
    lines = [
        f"  {', '.join(f'{part} {count:,}' for part, count in done.parts.items())}",
        f"  {counted(done.groups, 'group')} that share pictures or near-duplicates ({counted(done.near, 'pair')}), "
        f"the largest of {counted(done.largest, 'task')}",
        f"  pictures in two parts: {done.across:,} of {done.pictures:,}"
        + (f"; {done.unread:,} could not be read, and are told apart by their ids" if done.unread else ""),
    ]
    for label, values in done.by_label.items():
        width = max(map(len, (label, *values)))
        lines.append(f"  {label:<{width}}  " + "  ".join(f"{name:>6}" for name in names))
        for value, counts in values.items():
            lines.append(f"  {value:<{width}}  " + "  ".join(f"{counts[name]:>{max(6, len(name))},}" for name in names))
    return "\n".join([*lines, f"  → {done.folder}"])
