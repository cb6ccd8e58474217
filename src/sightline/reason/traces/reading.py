"""Traces read back from their folder, as a stream."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sightline.bench.formats.parquet import read_table
from sightline.io import PathLike, read_jsonl
from sightline.reason.traces.folder import DATA, read_header
from sightline.types import Trace, Traces


class ReadRow(NamedTuple):
    """A row of the data set: its references are the traces that were kept, in the order of the teachers."""

    id: str
    picture: str
    prompt: str
    traces: Traces


def read_traces(folder: PathLike) -> Iterator[ReadRow]:
    """The rows of a folder that `sightline think` made, finished or not, in order."""
    place = Path(folder).expanduser()
    teachers = len(read_header(place)["teachers"])
    for shard in sorted((place / DATA).glob("train-*")):
        for record in records_of(shard):
            references = tuple(
                Trace(record[f"think_{number}"], record[f"answer_{number}"], record[f"model_{number}"])
                for number in range(1, teachers + 1)
                if record[f"answer_{number}"] is not None
            )
            yield ReadRow(record["id"], record["picture"], record["prompt"], Traces(references))


def records_of(shard: Path) -> Iterator[dict[str, Any]]:
    """The rows of a shard as they were written; `checks` of a Parquet file is JSON text."""
    if shard.suffix == ".parquet":
        yield from read_table(shard)
    else:
        yield from (record for _, record in read_jsonl(shard))
