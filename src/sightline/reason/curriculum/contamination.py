"""Which pictures of the training are also in a test, as the same file or as good as the same picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from sightline.benchmark.copy_detection import PictureLook, looks_of, same_looks
from sightline.benchmark.files import PICTURES
from sightline.benchmark.folder import open_benchmark, read_benchmark
from sightline.benchmark.problems import stop
from sightline.config import Config
from sightline.errors import FoundError, UserError
from sightline.reason.splits import pictures_of
from sightline.types import Picture


class SharedPicture(NamedTuple):
    """The test picture that a training picture equals, or nearly."""

    test: str
    same_file: bool


class SharedPictures(NamedTuple):
    """Training pictures that are in the test too, by name; and how many pictures of the test they were held against.

    `by_checksum` of those could not be read: only the very same file is found by the checksum that the test states.
    """

    found: Mapping[str, SharedPicture]
    pictures: int
    by_checksum: int


NOTHING_SHARED = SharedPictures({}, 0, 0)


def find_shared_pictures(train: Path, test: Path, bits: int, config: Config) -> SharedPictures:
    """Hold all pictures of a benchmark against those that the tasks of another show or are about.

    A picture of the test that can neither be read nor has a checksum proves nothing, and is refused.
    """
    rows = open_benchmark(train, stop).source.rows(PICTURES)
    ours = {row.id: row for _, row in rows}
    theirs = _tested(test)
    our_looks, their_looks = looks_of(ours, train, config), looks_of(_known(theirs), test, config)
    unread = {name: picture for name, picture in theirs.items() if name not in their_looks}
    _refuse_unknown(test, unread, len(theirs))
    found = _twins(our_looks, their_looks, bits) | _same_checksums(ours, our_looks, _known(unread))
    return SharedPictures(found, len(theirs), len(unread))


def _tested(test: Path) -> dict[str, Picture | None]:
    """The pictures that a test is about; None for those that it does not describe."""
    tested = read_benchmark(test)
    used = sorted({name for task in tested.tasks.values() for name in pictures_of(task, tested.truth.get(task.id))})
    if not used:
        why = "none of its tasks is about a picture" if tested.tasks else "it has no tasks"
        raise UserError(f"{test} tests nothing: {why}.", "give a test that has some, or leave out --test")
    return {name: tested.corpus.pictures.get(name) for name in used}


def _known(pictures: Mapping[str, Picture | None]) -> dict[str, Picture]:
    return {name: picture for name, picture in pictures.items() if picture is not None}


def _refuse_unknown(test: Path, unread: Mapping[str, Picture | None], pictures: int) -> None:
    unknown = [name for name, picture in unread.items() if picture is None or not picture.sha256]
    if unknown:
        picture = unread[unknown[0]]
        where = "which is not in its pictures" if picture is None else f"at {picture.uri}"
        raise FoundError(
            f"{len(unknown):,} of the {pictures:,} pictures of {test} can't be read and have no checksum, "
            f'such as "{unknown[0]}" {where}: nothing can be held against them.',
            "bring them to where its pictures.jsonl says, and give the test again; nothing was written",
        )


def _same_checksums(
    ours: Mapping[str, Picture], looks: Mapping[str, PictureLook], theirs: Mapping[str, Picture]
) -> dict[str, SharedPicture]:
    """By what is stated of pictures of the test that could not be read."""
    stated = {picture.sha256: name for name, picture in theirs.items()}
    found = {}
    for name, picture in ours.items():
        own = (looks[name].sha256.hex() if name in looks else None, picture.sha256)
        if (same := next((one for one in own if one in stated), None)) is not None:
            found[name] = SharedPicture(stated[same], same_file=True)
    return found


def _twins(ours: Mapping[str, PictureLook], theirs: Mapping[str, PictureLook], bits: int) -> dict[str, SharedPicture]:
    # The test's pictures come first, so that each of ours with the same bytes is paired with one of them.
    marked = {f"test {name}": look for name, look in theirs.items()} | {
        f"ours {name}": look for name, look in ours.items()
    }
    pairs = same_looks(marked, bits)
    found: dict[str, SharedPicture] = {}
    for pair in pairs:
        (first, one), (second, other) = pair.first.split(" ", 1), pair.second.split(" ", 1)
        if first != second:
            mine, twin = (other, one) if first == "test" else (one, other)
            if pair.same_bytes or mine not in found:
                found[mine] = SharedPicture(twin, pair.same_bytes)
    # Of several of ours with the same bytes, only the first was compared with others by its looks.
    for pair in pairs:
        if pair.same_bytes and pair.first.startswith("ours ") and (one := pair.first[5:]) in found:
            found[pair.second[5:]] = found[one]
    return found
