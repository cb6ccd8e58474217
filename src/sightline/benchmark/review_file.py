"""`reviews.jsonl` as it grows: every decision is on the disk before anybody is told that it is saved."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.benchmark.files import REVIEWS
from sightline.benchmark.problems import stop
from sightline.benchmark.table import TableSource
from sightline.errors import UserError
from sightline.io.append_only_file import AppendOnlyFile
from sightline.types import Review

_PATIENCE = 50


def read_reviews(folder: Path) -> tuple[Review, ...]:
    """All lines, withdrawn ones and withdrawals too; a half last line counts as not written."""
    source = TableSource(folder, stop, growing=True)
    return tuple(review for _, review in source.rows(REVIEWS))


def append_review(folder: Path, review: Review) -> None:
    """Keep one decision."""
    with writing_reviews(folder / REVIEWS.name) as file:
        file.append(REVIEWS.line(review))


@contextmanager
def writing_reviews(path: Path) -> Iterator[AppendOnlyFile]:
    """The file, for us alone; on the disk when the block ends."""
    try:
        file = _opened(path)
        try:
            yield file
        finally:
            file.close()
    except OSError as error:
        raise UserError(
            f"{path} can't be written: {error.strerror}. The decision was not saved.",
            "let this account write there and make room, or review a copy of the benchmark",
        ) from error


def _opened(path: Path) -> AppendOnlyFile:
    """Another process may be writing its own line at this moment."""
    for _ in range(_PATIENCE):
        try:
            return AppendOnlyFile(path)
        except UserError:
            time.sleep(0.02)
    return AppendOnlyFile(path)
