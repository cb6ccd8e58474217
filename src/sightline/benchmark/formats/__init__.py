"""Every format that a benchmark or a run comes from or goes to; each is loaded when it is first asked for.

To add one, write a module with a `Format`, and name it in `plugins.py` and, for `sightline formats`, in `formats.csv`.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from sightline import plugins
from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported

__all__ = [
    "Complaints",
    "Content",
    "Format",
    "FormatOptions",
    "Imported",
    "find_format",
    "format_lines",
    "format_names",
]


def format_names() -> tuple[str, ...]:
    """Every known format: the built-in ones, and those that other packages add by entry point."""
    return plugins.names("formats")


def find_format(name: str) -> Format:
    """The format of that name."""
    plugin = plugins.find("formats", name)
    if plugin is None:
        raise plugins.unknown("formats", name, f'unknown format "{name}".')
    found: Format = plugin.load(Format)
    return found


@dataclass(frozen=True, slots=True)
class FormatLine:
    """A format as it is listed."""

    name: str
    reads: bool
    writes: bool
    summary: str


def format_lines() -> list[FormatLine]:
    """All formats in order, those of installed packages last; ours are listed in a table, so that none is loaded."""
    with Path(__file__).with_name("formats.csv").open(encoding="utf-8", newline="") as file:
        ours = {row["name"]: row for row in csv.DictReader(file)}
    return [
        FormatLine(name, row["import"] == "yes", row["export"] == "yes", row["summary"])
        if (row := ours.get(name)) is not None
        else _of_package(name)
        for name in plugins.names("formats")
    ]


def _of_package(name: str) -> FormatLine:
    found = find_format(name)
    return FormatLine(found.name, found.read is not None, found.write is not None, found.summary)
