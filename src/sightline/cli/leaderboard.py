"""`sightline leaderboard DIR`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sightline.cli.common import Common

if TYPE_CHECKING:
    from rich.table import Table

    from sightline.report.leaderboard import Board


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
    from sightline.report.boards import board_title
    from sightline.verbs import leaderboard as rank_runs

    found = rank_runs(directory, metric, out=out)
    if common.json:
        common.print_json({**found.to_dict(), "files": [str(path) for path in found.files]})
        return
    for board in found.boards:
        _print_line(board_title(board), common)
        common.console.print(_table(board))
        for note in board.notes:
            _print_line(f"note: {note}", common, indent=" ")
    for run in found.left_out:
        _print_line(f"not ranked: {run.folder}: {run.reason}", common, indent=" ")
    _print_line(", ".join(map(str, found.files)), common, indent=" ")


def _print_line(text: str, common: Common, indent: str = "") -> None:
    """Names come from files: nothing in them may act on the terminal."""
    from sightline.report.words import one_line

    common.console.print(indent + one_line(text), markup=False, soft_wrap=True)


def _table(board: Board) -> Table:
    from rich.table import Table as RichTable
    from rich.text import Text

    from sightline.report.boards import board_table
    from sightline.report.words import one_line

    made = board_table(board)
    table = RichTable(box=None, header_style="bold", padding=(0, 1))
    for column, name in enumerate(made.head):
        right = column in made.numeric
        table.add_column(Text(name), justify="right" if right else "left", overflow="fold", no_wrap=name != "system")
    for row in made.rows:
        table.add_row(*(Text(one_line(str(cell))) for cell in row))
    return table
