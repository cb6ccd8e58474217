"""Every format in a line, for `sightline formats`: our own are listed in a table, so that none of them is loaded."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from sightline import plugins


@dataclass(frozen=True, slots=True)
class FormatLine:
    """A format as it is listed."""

    name: str
    reads: bool
    writes: bool
    summary: str


def format_lines() -> list[FormatLine]:
    """All formats in order, those of installed packages last."""
    with Path(__file__).with_name("formats.csv").open(encoding="utf-8", newline="") as file:
        ours = {row["name"]: row for row in csv.DictReader(file)}
    return [
        FormatLine(name, row["import"] == "yes", row["export"] == "yes", row["summary"])
        if (row := ours.get(name)) is not None
        else _of_package(name)
        for name in plugins.names("formats")
    ]


def _of_package(name: str) -> FormatLine:
    from sightline.benchmark.formats import find_format

    found = find_format(name)
    return FormatLine(found.name, found.read is not None, found.write is not None, found.summary)
