"""Writing what was made: whole files, and tables as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sightline.errors import explained
from sightline.io.files import write_whole


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write each file whole or not at all; its folder is made where it is missing."""
    for path, data in files.items():
        with explained(f"{path.parent} can't be made", "choose another place"):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)


def csv_bytes(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """A table with a column for every key of any row, in the order in which they are met."""
    text = io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row)
    writer = csv.DictWriter(text, fieldnames=list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8", "replace")
