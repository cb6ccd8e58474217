"""`sightline leaderboard DIR`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.cli.options import Common

if TYPE_CHECKING:
    from rich.table import Table

    from sightline.reports.leaderboard import BenchmarkBoard


def leaderboard(
    directory: Path, /, *, metric: str | None = None, out: Path | None = None, common: Common = Common()
) -> None:
    """Rank all runs below a folder, by benchmark; writes leaderboard.md, .csv and .json.

    Parameters
    ----------
    directory:
        A folder that holds the folders of runs, at any depth.
    metric:
        What to rank by; the first metric of the benchmark when not given.
    out:
        Where to write the three files; the folder itself when not given.
    """
    from sightline.reports.leaderboard import board_title
    from sightline.reports.leaderboard import leaderboard as rank_runs

    found = rank_runs(directory, metric, out=out)
    if common.json:
        common.print_json({**found.to_dict(), "files": [str(path) for path in found.files]})
        return
    for board in found.boards:
        _print_line(board_title(board), common)
        common.console.print(_table(board, common.console.width))
        for note in board.notes:
            _print_line(f"note: {note}", common, indent=" ")
    for run in found.left_out:
        _print_line(f"not ranked: {run.folder}: {run.reason}", common, indent=" ")
    _print_line(", ".join(map(str, found.files)), common, indent=" ")


def _print_line(text: str, common: Common, indent: str = "") -> None:
    """Names come from files: nothing in them may act on the terminal."""
    from sightline.plain_text import one_line

    common.console.print(indent + one_line(text), markup=False, soft_wrap=True)


def _broken(name: str, width: int) -> str:
    """A system's name on lines of at most so many letters, broken where one of its words ends."""
    lines = [""]
    for piece in re.split(r"(?<=[:,=/ ])", name):
        if lines[-1] and len(lines[-1]) + len(piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _table(board: BenchmarkBoard, width: int) -> Table:
    from rich.table import Table as RichTable
    from rich.text import Text

    from sightline.plain_text import one_line
    from sightline.reports.leaderboard import board_table

    made = board_table(board)
    rows = [[one_line(str(cell)) for cell in row] for row in made.rows]
    widths = [max(len(row[column]) for row in (made.head, *rows)) for column in range(len(made.head))]
    others = sum(wide + 2 for name, wide in zip(made.head, widths, strict=True) if name != "system")
    table = RichTable(box=None, header_style="bold", padding=(0, 1))
    for column, name in enumerate(made.head):
        right = column in made.numeric
        table.add_column(Text(name), justify="right" if right else "left", overflow="fold", no_wrap=name != "system")
    for row in rows:
        cells = zip(made.head, row, strict=True)
        table.add_row(*(Text(_broken(cell, width - others - 2) if name == "system" else cell) for name, cell in cells))
    return table
