"""Which pictures are the same to the eye: by bytes, and by perceptual hash and colours, as a scan finds duplicates."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.bench import picture_path
from sightline.config import Config
from sightline.corpus.duplicates import near_pairs
from sightline.corpus.looks import same_colours
from sightline.corpus.read import Job, Reading, read_file
from sightline.engine import cores, map_in_processes, progress
from sightline.types import Picture

_FEW = 256
"""Below so many pictures, starting processes takes longer than the work."""


@dataclass(frozen=True, slots=True)
class Look:
    """What two pictures are compared by."""

    sha256: bytes
    phash: int
    colours: bytes


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pictures that look the same."""

    first: str
    second: str
    same_bytes: bool


def looks_of(pictures: Mapping[str, Picture], base: Path, config: Config) -> dict[str, Look]:
    """The looks of the pictures that can be read on this machine."""
    names: list[str] = []
    jobs: list[Job] = []
    for name, picture in pictures.items():
        path = picture_path(picture.uri, base)
        if path is not None and path.is_file():
            jobs.append(Job(len(names), os.fsencode(path), (), config.scan.max_pixels))
            names.append(name)
    found: dict[str, Look] = {}
    with progress("look", len(jobs)) as advance:
        few = len(jobs) < _FEW
        done = (
            ((job, read_file(job)) for job in jobs)
            if few
            else map_in_processes("sightline.corpus.read:read_file", jobs, workers=cores())
        )
        for job, reading in done:
            advance(1)
            if isinstance(reading, Reading):
                found[names[job.key]] = Look(reading.sha256, reading.phash, reading.colours)
    return {name: found[name] for name in names if name in found}  # Processes finish in no fixed order.


def same_looks(looks: Mapping[str, Look], bits: int) -> list[Pair]:
    """Pairs with the same bytes, and pairs whose hashes differ in at most `bits` bits and that have the same colours.

    Of several with the same bytes, each is paired with the first, which stands for all of them in the other pairs.
    """
    first: dict[bytes, str] = {}
    pairs = [
        Pair(first[look.sha256], name, True)
        for name, look in looks.items()
        if first.setdefault(look.sha256, name) != name
    ]
    names = list(first.values())
    if not names:
        return pairs
    prints = np.stack([np.frombuffer(looks[name].colours, np.uint8) for name in names])
    colours = prints.reshape(len(names), -1, 3).astype(np.float32)
    by_hash: defaultdict[int, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        if looks[name].phash:  # One flat colour is near nothing.
            by_hash[looks[name].phash].append(place)
    distinct = np.array(sorted(by_hash), dtype=np.uint64)
    meetings = [(one, one) for one, places in by_hash.items() if len(places) > 1]
    meetings += [(int(one), int(other)) for one, other in distinct[near_pairs(distinct, bits)]]
    for one, other in meetings:
        found = _same_colours(colours, by_hash[one], by_hash[other])
        pairs += [Pair(names[a], names[b], False) for a, b in found if one != other or a < b]
    return pairs


def _same_colours(colours: NDArray[np.float32], ours: list[int], theirs: list[int]) -> Iterator[tuple[int, int]]:
    for place in ours:
        alike = same_colours(colours[[place] * len(theirs)], colours[theirs])
        yield from ((place, theirs[at]) for at in np.flatnonzero(alike).tolist())
