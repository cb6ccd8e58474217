"""Annotated pictures as columns, with what planners look up: who shares these facets and tags, who looks the same.

Tags are counted without a loop over pictures: lists of pictures by tag over all of them, rows of bits over some.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.corpus.near_duplicates import chained, connected, near_pairs
from sightline.models.protocols import Vectors
from sightline.types import Annotation

Rows: TypeAlias = NDArray[np.intp]
Counts: TypeAlias = NDArray[np.intp]
Scores: TypeAlias = NDArray[np.float64]

MOST_BITS = 2048
"""A larger vocabulary is kept in lists alone: rows of bits would be mostly zeros."""
_WORD = 64
Codes = NDArray[np.int32]
NOT_KNOWN = frozenset({"", "unknown", "none", "n/a"})
"""Values of a facet that say nothing: they match nothing, and are off from nothing."""
_YES, _NO = "true", "false"


class TagIndex:
    """The tags of each picture; pictures are numbered, in the order in which they were given."""

    def __init__(self, tags_of: Sequence[Iterable[str]]) -> None:
        self.numbers: dict[str, int] = {}
        spellings: dict[str, int] = {}

        def number(tag: str) -> int:
            if tag not in spellings:
                spellings[tag] = self.numbers.setdefault(fold(tag), len(self.numbers))
            return spellings[tag]

        coded = [sorted(set(map(number, tags))) for tags in tags_of]
        self.sizes: Counts = np.fromiter(map(len, coded), dtype=np.intp, count=len(coded))
        self._starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self._tags = np.fromiter(chain.from_iterable(coded), dtype=np.intp, count=int(self._starts[-1]))
        rows = np.repeat(np.arange(len(coded)), self.sizes)
        self._rows = rows[np.argsort(self._tags, kind="stable")]
        self._ends = np.cumsum(np.bincount(self._tags, minlength=len(self.numbers)))
        self._bits = _bits(rows, self._tags, len(coded), len(self.numbers))

    def __len__(self) -> int:
        return len(self.numbers)

    def of(self, rows: Rows) -> Rows:
        """The tags that any of these pictures has."""
        found = [self._tags[self._starts[row] : self._starts[row + 1]] for row in rows]
        return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.intp)

    def pictures(self, tag: int) -> Rows:
        """The pictures that have a tag."""
        return self._rows[self._ends[tag - 1] if tag else 0 : self._ends[tag]]

    def overlap(self, tags: Rows, rows: Rows | None = None) -> Counts:
        """How many of these tags each picture has: of some pictures, or of all."""
        if rows is not None and self._bits is not None:
            wanted = np.zeros(self._bits.shape[1], dtype=np.uint64)
            np.bitwise_or.at(wanted, tags // _WORD, np.uint64(1) << (tags % _WORD).astype(np.uint64))
            words = np.flatnonzero(wanted)
            counts: Counts = np.bitwise_count(self._bits[np.ix_(rows, words)] & wanted[words]).sum(1, dtype=np.intp)
            return counts
        lists = [self.pictures(tag) for tag in tags.tolist()]
        counts = np.bincount(np.concatenate(lists) if lists else np.empty(0, np.intp), minlength=len(self.sizes))
        return counts if rows is None else counts[rows]

    def jaccard(self, tags: Rows, rows: Rows | None = None) -> Scores:
        """Tags in common over tags of either, from 0 to 1; 0 where neither has any."""
        shared = self.overlap(tags, rows)
        either = (self.sizes if rows is None else self.sizes[rows]) + len(tags) - shared
        alike: Scores = shared / np.maximum(either, 1)
        return alike


def fold(tag: str) -> str:
    """A tag as it is compared: `Fire ` is `fire`."""
    return tag.strip().casefold()


def _bits(rows: Rows, tags: Rows, count: int, vocabulary: int) -> NDArray[np.uint64] | None:
    """One row of bits a picture; None where there is no tag, or too many different ones."""
    if not 0 < vocabulary <= MOST_BITS:
        return None
    width = -(-vocabulary // _WORD)
    bits = np.zeros(count * width, dtype=np.uint64)
    np.bitwise_or.at(bits, rows * width + tags // _WORD, np.uint64(1) << (tags % _WORD).astype(np.uint64))
    return bits.reshape(count, width)


@dataclass(frozen=True, slots=True)
class Facet:
    """One facet, or a flag with the values "true" and "false"; code -1 where it is not known."""

    values: tuple[str, ...]
    codes: Codes


@dataclass(frozen=True, slots=True)
class PictureFingerprint:
    """What tells that two pictures are the same, or nearly: the file's hash, the perceptual hash, a known group."""

    sha256: str | None = None
    phash: int | None = None
    group: str | None = None
    "Empty where a scan, which compares colours too, found it to look like no other."


class PictureTable:
    """Pictures by row, in the order of their ids; built once, asked by every query."""

    def __init__(
        self,
        notes: Iterable[Annotation],
        *,
        looks: Mapping[str, PictureFingerprint] | None = None,
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


def _twins(ids: Sequence[str], looks: Mapping[str, PictureFingerprint], bits: int) -> Codes:
    """A number for each set of pictures that look the same; -1 for one that looks like no other."""
    known = [looks.get(id_, PictureFingerprint()) for id_ in ids]
    near = near_pairs(np.array([look.phash or 0 for look in known], dtype=np.uint64), bits)
    scanned = np.array([look.group is not None for look in known], dtype=np.bool_)
    pairs = [near[~scanned[near].all(axis=1)]]
    for shared in ("sha256", "group"):
        same: dict[str, list[int]] = {}
        for row, look in enumerate(known):
            if value := getattr(look, shared):
                same.setdefault(value, []).append(row)
        pairs.append(chained(same.values()))
    groups = np.full(len(ids), -1, dtype=np.int32)
    for number, rows in enumerate(connected(len(ids), np.concatenate(pairs))):
        groups[rows] = number
    return groups
