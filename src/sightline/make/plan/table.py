"""Annotated pictures as columns, with what planners ask of them: who shares these facets, who looks the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sightline.corpus.duplicates import connected, near_pairs
from sightline.make.plan.tags import Rows, TagIndex, fold
from sightline.models.protocols import Vectors
from sightline.types import Annotation

Codes = NDArray[np.int32]

NOT_KNOWN = frozenset({"", "unknown", "none", "n/a"})
"""Values of a facet that say nothing: they match nothing, and are off from nothing."""
_YES, _NO = "true", "false"


@dataclass(frozen=True, slots=True)
class Facet:
    """One facet, or a flag with the values "true" and "false"; code -1 where it is not known."""

    values: tuple[str, ...]
    codes: Codes


@dataclass(frozen=True, slots=True)
class Look:
    """What tells that two pictures are the same, or nearly: the file's hash, the perceptual hash, a known group."""

    sha256: str | None = None
    phash: int | None = None
    group: str | None = None
    "Empty where a scan, which compares colours too, found it to look like no other."


class Table:
    """Pictures by row, in the order of their ids; built once, asked by every query."""

    def __init__(
        self,
        notes: Iterable[Annotation],
        *,
        looks: Mapping[str, Look] | None = None,
        vectors: Mapping[str, NDArray[np.float32]] | None = None,
        same_bits: int = 6,
    ) -> None:
        ordered = sorted({note.picture_id: note for note in notes}.values(), key=lambda note: note.picture_id)
        self.ids = tuple(note.picture_id for note in ordered)
        self.rows: Mapping[str, int] = {id_: row for row, id_ in enumerate(self.ids)}
        self.facets: Mapping[str, Facet] = dict(_facets(ordered))
        self.tags = TagIndex([note.tags for note in ordered])
        self.vectors = _stacked(self.ids, vectors) if vectors else None
        self.twins = _twins(self.ids, looks or {}, same_bits)
        self._buckets: dict[tuple[str, ...], Buckets] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def buckets(self, facets: Sequence[str]) -> Buckets:
        """Pictures by their values of these facets; kept, because every query asks for the same few."""
        names = tuple(facets)
        if names not in self._buckets:
            self._buckets[names] = Buckets([self.facets[name].codes for name in names])
        return self._buckets[names]

    def same_as(self, rows: Rows) -> Rows:
        """The pictures that look like one of these, themselves left out."""
        groups = {int(self.twins[row]) for row in rows} - {-1}
        found = [row for group in sorted(groups) for row in self._members[group]]
        return np.setdiff1d(np.array(found, dtype=np.intp), rows)

    @property
    def differ(self) -> bool:
        """Are there two pictures that do not look the same?"""
        return bool((self.twins < 0).any()) or len(np.unique(self.twins)) > 1

    @cached_property
    def _members(self) -> Mapping[int, list[int]]:
        members: dict[int, list[int]] = {}
        for row in np.flatnonzero(self.twins >= 0).tolist():
            members.setdefault(int(self.twins[row]), []).append(row)
        return members


class Buckets:
    """Pictures grouped by the values of some facets; those with a value that is not known are in no bucket."""

    def __init__(self, columns: Sequence[Codes]) -> None:
        codes = np.stack(columns)
        rows = np.flatnonzero((codes >= 0).all(axis=0))
        self._rows = rows[np.lexsort(codes[:, rows])]
        self._places: dict[tuple[int, ...], tuple[int, int]] = {}
        if len(rows):
            keys = codes[:, self._rows]
            starts = np.flatnonzero(np.r_[True, (np.diff(keys, axis=1) != 0).any(axis=0)])
            ends = np.r_[starts[1:], len(rows)]
            found = zip(map(tuple, keys[:, starts].T.tolist()), starts.tolist(), ends.tolist(), strict=True)
            self._places = {key: (start, end) for key, start, end in found}

    def of(self, key: Sequence[int]) -> Rows:
        """The pictures with exactly these values, in rising order."""
        start, end = self._places.get(tuple(key), (0, 0))
        return self._rows[start:end]


def _facets(notes: Sequence[Annotation]) -> Iterator[tuple[str, Facet]]:
    for name in sorted({name for note in notes for name in note.facets}):
        yield name, _facet([fold(note.facets.get(name, "")) for note in notes])
    for name in sorted({name for note in notes for name in note.flags}):
        yield name, _facet(["" if (said := note.flags.get(name)) is None else _YES if said else _NO for note in notes])


def _facet(said: Sequence[str]) -> Facet:
    # In the order of the alphabet, so that the lesser code is the lesser word: ties of votes go by it.
    values = sorted(set(said) - NOT_KNOWN)
    code = {value: number for number, value in enumerate(values)}
    return Facet(tuple(values), np.fromiter((code.get(value, -1) for value in said), dtype=np.int32, count=len(said)))


def _stacked(ids: Sequence[str], vectors: Mapping[str, NDArray[np.float32]]) -> Vectors:
    """A row for each picture; zero, which is like nothing, where there is none."""
    dim = len(next(iter(vectors.values())))
    found = np.zeros((len(ids), dim), dtype=np.float32)
    for row, id_ in enumerate(ids):
        if id_ in vectors:
            found[row] = vectors[id_]
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    found /= np.where(lengths > 0, lengths, 1)
    return found


def _twins(ids: Sequence[str], looks: Mapping[str, Look], bits: int) -> Codes:
    """A number for each set of pictures that look the same; -1 for one that looks like no other."""
    known = [looks.get(id_, Look()) for id_ in ids]
    near = near_pairs(np.array([look.phash or 0 for look in known], dtype=np.uint64), bits)
    scanned = np.array([look.group is not None for look in known], dtype=np.bool_)
    pairs = [near[~scanned[near].all(axis=1)]]
    for shared in ("sha256", "group"):
        first: dict[str, int] = {}
        same = [
            (first.setdefault(value, row), row) for row, look in enumerate(known) if (value := getattr(look, shared))
        ]
        pairs.append(np.array([pair for pair in same if pair[0] != pair[1]], dtype=np.intp).reshape(-1, 2))
    groups = np.full(len(ids), -1, dtype=np.int32)
    for number, rows in enumerate(connected(len(ids), np.concatenate(pairs))):
        groups[rows] = number
    return groups
