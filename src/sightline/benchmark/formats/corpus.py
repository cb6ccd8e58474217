"""The corpus itself as a table: JSON lines, CSV or Parquet, one row per picture (columns in docs/workspace.md)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from sightline.benchmark.formats.base import Content, Format, FormatOptions
from sightline.corpus.export import export_corpus
from sightline.types import Corpus


def _write(content: Content, path: Path, options: FormatOptions, *, format_: str) -> None:
    assert isinstance(content, Corpus)
    export_corpus(content, format_, path, options.limit)


FORMATS = {
    name: Format(name, f"the pictures of a corpus, as {what}", write=partial(_write, format_=name), writes=(Corpus,))
    for name, what in (("corpus-jsonl", "JSON lines"), ("corpus-csv", "CSV"), ("corpus-parquet", "Parquet parts"))
}
