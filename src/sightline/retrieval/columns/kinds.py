"""The kinds of column; each has one entry for each row of an index, and says which rows have a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, overload

import numpy as np
import orjson
from numpy.typing import NDArray

from sightline.class_names import known_as
from sightline.retrieval.bm25 import fold

Mask: TypeAlias = NDArray[np.bool_]


class Vocabulary(Sequence[str]):
    """The different values of a column, in order; read from JSON bytes when they are first needed."""

    def __init__(self, values: Sequence[str] | NDArray[np.uint8]) -> None:
        self._source = values

    @cached_property
    def values(self) -> Sequence[str]:
        source = self._source
        if not isinstance(source, np.ndarray):
            return source
        values: list[str] = orjson.loads(source.tobytes())
        return values

    @cached_property
    def folded(self) -> Sequence[str]:
        """The values without case and accents."""
        return [fold(value) for value in self.values]

    @cached_property
    def codes(self) -> Mapping[str, int]:
        return {value: code for code, value in enumerate(self.values)}

    def test(self, passes: Callable[[str], bool]) -> Mask:
        """Which values pass, tested without case and accents; one entry more, False, is for code -1."""
        return np.fromiter((*map(passes, self.folded), False), np.bool_, len(self) + 1)

    def one(self, value: str) -> Mask:
        """The same for exactly this value."""
        hits = np.zeros(len(self) + 1, np.bool_)
        code = self.codes.get(value)
        if code is not None:
            hits[code] = True
        return hits

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        return self.values[at]


@known_as("Numbers")
@dataclass(frozen=True, slots=True, eq=False)
class NumberColumn:
    """A number for each row; NaN where there is none."""

    values: NDArray[np.float64]

    def known(self) -> Mask:
        return ~np.isnan(self.values)


@known_as("Times")
@dataclass(frozen=True, slots=True, eq=False)
class TimeColumn:
    """Seconds since 1970: as the clock on the wall showed, and in UTC where the offset is known; NaN elsewhere."""

    wall: NDArray[np.float64]
    utc: NDArray[np.float64]

    def known(self) -> Mask:
        return ~np.isnan(self.wall)


@known_as("Flags")
@dataclass(frozen=True, slots=True, eq=False)
class FlagColumn:
    """1 for yes, 0 for no, -1 where nobody said."""

    values: NDArray[np.int8]

    def known(self) -> Mask:
        return self.values >= 0


@known_as("Texts")
@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """A text for each row, as its place in the vocabulary; -1 where there is none."""

    codes: NDArray[np.int32]
    vocabulary: Vocabulary

    def known(self) -> Mask:
        return self.codes >= 0

    def where(self, hits: Mask) -> Mask:
        """Rows whose value is hit (see `Vocabulary.test`)."""
        return hits[self.codes]

    def __getitem__(self, row: int) -> str | None:
        code = int(self.codes[row])
        return None if code < 0 else self.vocabulary[code]


@known_as("Labels")
@dataclass(frozen=True, slots=True, eq=False)
class LabelColumn:
    """Any number of texts for each row, as pairs of a row and a place in the vocabulary, in order of row."""

    length: int
    rows: NDArray[np.int32]
    codes: NDArray[np.int32]
    vocabulary: Vocabulary

    def known(self) -> Mask:
        mask = np.zeros(self.length, np.bool_)
        mask[self.rows] = True
        return mask

    def where(self, hits: Mask) -> Mask:
        """Rows with at least one value that is hit."""
        mask = np.zeros(self.length, np.bool_)
        mask[self.rows[hits[self.codes]]] = True
        return mask

    def __getitem__(self, row: int) -> tuple[str, ...]:
        first, last = np.searchsorted(self.rows, (row, row + 1))
        return tuple(self.vocabulary[int(code)] for code in self.codes[first:last])


Column: TypeAlias = NumberColumn | TimeColumn | FlagColumn | TextColumn | LabelColumn


@dataclass(frozen=True, slots=True, eq=False)
class PictureColumns:
    """Columns by name (lower case); `present` is False for the row of a picture that was removed."""

    present: Mask
    by_name: Mapping[str, Column]

    def __len__(self) -> int:
        return len(self.present)

    def numbers(self, name: str) -> NumberColumn:
        """A column that is always there and holds numbers: lat, lon, altitude, width or height."""
        column = self.by_name[name]
        assert isinstance(column, NumberColumn)
        return column

    def texts(self, name: str) -> TextColumn:
        """A column that is always there and holds text: id, address, owner …"""
        column = self.by_name[name]
        assert isinstance(column, TextColumn)
        return column

    def labels(self, name: str) -> LabelColumn:
        """A column that is always there and holds labels: tag, group, event …"""
        column = self.by_name[name]
        assert isinstance(column, LabelColumn)
        return column

    @property
    def times(self) -> TimeColumn:
        column = self.by_name["time"]
        assert isinstance(column, TimeColumn)
        return column
