"""Rows of judgments as a similarity stage reads and writes them: every column kept, two added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sightline.config.settings import ColumnSettings
from sightline.io import LineError, read_jsonl

_DEFAULTS = ColumnSettings()
CLIP_SCORE = "clip_score"
"""benchmaker's column, which holds logits."""
LOGIT = "_logit"
"""What follows the name of the similarity column in that of its logit."""


class JudgedRows:
    """The rows of a file of judgments, ours or benchmaker's, with the columns by their configured or usual names."""

    def __init__(self, path: Path, names: ColumnSettings) -> None:
        self.path, self._names = path, names

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, row in read_jsonl(self.path):
            if not isinstance(row, dict):
                raise LineError(self.path, number, "expected one JSON object")
            yield number, row

    def text(self, number: int, row: Mapping[str, Any], setting: str) -> str:
        """A column that must hold text; a `LineError` says what is missing."""
        for name in (str(getattr(self._names, setting)), str(getattr(_DEFAULTS, setting))):
            value = row.get(name)
            if isinstance(value, str) and value.strip():
                return value
        raise LineError(self.path, number, f'expected text in "{getattr(self._names, setting)}"')

    def similarity(self, row: Mapping[str, Any]) -> float | None:
        """The similarity that the row has already."""
        value = row.get(self._column(row))
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def scored(self, row: Mapping[str, Any], cosine: float | None, scale: float) -> dict[str, Any]:
        """The row with its similarity; None where there is none. benchmaker's own column gets what it had: a logit."""
        name = self._column(row)
        similarity = None if cosine is None else round(cosine, 6)
        logit = None if cosine is None else round(cosine * scale, 4)
        return {**row, name: logit} if name == CLIP_SCORE else {**row, name: similarity, f"{name}{LOGIT}": logit}

    def _column(self, row: Mapping[str, Any]) -> str:
        known = (self._names.similarity, _DEFAULTS.similarity, CLIP_SCORE)
        return next((name for name in known if name in row), self._names.similarity)
