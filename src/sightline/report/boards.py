"""A leaderboard as files: Markdown to show, CSV to sort, JSON to read by machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sightline.english import counted
from sightline.io import PathLike, dump
from sightline.report.blocks import Row, Table, numeric
from sightline.report.leaderboard import Board, Leaderboard, Place
from sightline.report.markdown import plain, table_lines
from sightline.report.output import csv_bytes, write_files
from sightline.report.words import DASH, estimate, seconds


def write_leaderboard(found: Leaderboard, out: PathLike | None = None) -> Leaderboard:
    """Write `leaderboard.md`, `.csv` and `.json` into a folder (the one that was searched, unless given)."""
    folder = found.folder if out is None else Path(out).expanduser()
    contents = {
        "md": to_markdown(found).encode(),
        "csv": csv_bytes(found.records()),
        "json": dump(found.to_dict(), indent=True),
    }
    files = {folder / f"leaderboard.{suffix}": data for suffix, data in contents.items()}
    write_files(files)
    return replace(found, files=tuple(files))


def to_markdown(found: Leaderboard) -> str:
    """The boards one below the other, and what is on none."""
    parts = ["# Leaderboard"]
    for board in found.boards:
        table = board_table(board)
        parts += [f"## {plain(board_title(board))}", table_lines(table), f"{plain(table.caption)}."]
        parts += ["\n".join(f"- {plain(note)}" for note in board.notes)] if board.notes else []
    if found.left_out:
        listed = (f"- **{plain(run.folder)}**: {plain(run.reason)}" for run in found.left_out)
        parts += ["## Not ranked", "\n".join(listed)]
    return "\n\n".join(parts) + "\n"


def board_title(board: Board) -> str:
    """The benchmark, its version and how many tasks count."""
    tasks = counted(max(place.estimate.n for place in board.places), "task")
    return f"{board.benchmark} ({(board.checksum or 'no checksum')[:12]}), {board.metric} over {tasks}"


def board_table(board: Board) -> Table:
    """A row for each run, best first."""
    head = ("rank", "system", board.metric, "failures", "cost", "p50", "date")
    caption = f"Mean with its {board.level:.0%} interval; systems that share a letter can't be told apart"
    return Table(caption, head, [_row(place) for place in board.places], numeric(3, 6))


def _row(place: Place) -> Row:
    found, spent = place.estimate, place.spending
    return (
        place.rank,
        place.name,
        f"{estimate(found)} {place.letters}".strip(),
        f"{found.failures:,}/{found.n:,}",
        spent.usd_text,
        DASH if spent.p50 is None else seconds(spent.p50),
        place.date.date().isoformat(),
    )
