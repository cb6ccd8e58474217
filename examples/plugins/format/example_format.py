"""`sightline import captions-csv FILE.csv --out BENCH`: columns `file` and `caption`, a query for each caption."""

import csv
from pathlib import Path

from sightline import Benchmark
from sightline.benchmark.formats import Format, FormatOptions
from sightline.benchmark.formats.base import Imported


def read(path: Path, options: FormatOptions) -> Imported:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    pictures = sorted({row["file"] for row in rows})
    judgments = [{"query_id": row["caption"], "picture": row["file"]} for row in rows]
    name, root = options.name or path.stem, options.pictures or path.parent
    return Imported(Benchmark.from_tables(pictures, None, judgments, name=name, root=root))


FORMAT = Format("captions-csv", "a CSV file of pictures and captions", read)
