"""Which pictures of the training are also in a test, as the same file or as good as the same picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from sightline import bench
from sightline.bench.files import PICTURES
from sightline.bench.folder import open_benchmark
from sightline.bench.problems import stop
from sightline.config import Config
from sightline.reason.looks import Look, looks_of, same_looks
from sightline.reason.splits import pictures_of


class Twin(NamedTuple):
    """The test picture that a training picture equals, or nearly."""

    test: str
    same_file: bool


class Twins(NamedTuple):
    """Training pictures that are in the test too, by name; and how many pictures could not be read to compare them."""

    found: Mapping[str, Twin]
    unreadable: int


NO_TWINS = Twins({}, 0)


def find_twins(train: Path, test: Path, bits: int, config: Config) -> Twins:
    """Hold all pictures of a benchmark against those that the tasks of another show or are about."""
    rows = open_benchmark(train, stop).source.rows(PICTURES)
    ours = {row.id: row for _, row in rows}
    tested = bench.read(test)
    used = {name for task in tested.tasks.values() for name in pictures_of(task, tested.truth.get(task.id))}
    theirs = {name: picture for name, picture in tested.corpus.pictures.items() if name in used}
    our_looks, their_looks = looks_of(ours, train, config), looks_of(theirs, test, config)
    unreadable = len(ours) - len(our_looks) + len(theirs) - len(their_looks)
    return Twins(_twins(our_looks, their_looks, bits), unreadable)


def _twins(ours: Mapping[str, Look], theirs: Mapping[str, Look], bits: int) -> dict[str, Twin]:
    # The test's pictures come first, so that each of ours with the same bytes is paired with one of them.
    marked = {f"test {name}": look for name, look in theirs.items()} | {
        f"ours {name}": look for name, look in ours.items()
    }
    pairs = same_looks(marked, bits)
    found: dict[str, Twin] = {}
    for pair in pairs:
        (first, one), (second, other) = pair.first.split(" ", 1), pair.second.split(" ", 1)
        if first != second:
            mine, twin = (other, one) if first == "test" else (one, other)
            if pair.same_bytes or mine not in found:
                found[mine] = Twin(twin, pair.same_bytes)
    # Of several of ours with the same bytes, only the first was compared with others by its looks.
    for pair in pairs:
        if pair.same_bytes and pair.first.startswith("ours ") and (one := pair.first[5:]) in found:
            found[pair.second[5:]] = found[one]
    return found
