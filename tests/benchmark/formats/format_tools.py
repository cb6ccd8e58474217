"""What the tests of formats share: pictures of a few bytes, and a format called as the commands call it."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from PIL import Image

from sightline.benchmark.formats import Content, FormatOptions, Imported, find_format
from sightline.types import Benchmark, Run


def picture_bytes(colour: str = "red", format_: str = "PNG") -> bytes:
    """A small picture of one colour."""
    buffer = io.BytesIO()
    Image.new("RGB", (24, 16), colour).save(buffer, format_)
    return buffer.getvalue()


def put(path: Path, content: bytes | str) -> Path:
    """Write a file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def importing(name: str, path: Path, options: FormatOptions | None = None) -> Imported:
    """Read with a format."""
    read = find_format(name).read
    assert read is not None
    return read(path, options or FormatOptions())


def benchmark_in(name: str, path: Path, options: FormatOptions | None = None) -> Benchmark:
    """The benchmark that a format reads, with nothing to complain of."""
    imported = importing(name, path, options)
    assert imported.problems == ()
    assert isinstance(imported.content, Benchmark)
    return imported.content


def run_in(name: str, path: Path, options: FormatOptions | None = None) -> Run:
    """The run that a format reads, with nothing to complain of."""
    imported = importing(name, path, options)
    assert imported.problems == ()
    assert isinstance(imported.content, Run)
    return imported.content


def exporting(name: str, content: Content, path: Path, options: FormatOptions | None = None) -> Path:
    """Write with a format."""
    write = find_format(name).write
    assert write is not None
    write(content, path, options or FormatOptions())
    return path


def without_places(benchmark: Benchmark) -> Benchmark:
    """The benchmark without its name, metrics, card and the places of its pictures."""
    pictures = {name: replace(picture, uri="") for name, picture in benchmark.corpus.pictures.items()}
    corpus = replace(benchmark.corpus, name="", pictures=pictures)
    return replace(benchmark, name="", version="", metrics=(), card={}, checksum=None, corpus=corpus)
