"""Which pictures are the same to the eye: by bytes, or by their looks after small changes.

A picture is looked at in nine ways: whole, mirrored, and trimmed a little on all sides or on one. Two pictures look the
same if the whole of one is near a view of the other in perceptual hash and has the same tones but for brightness,
contrast and colourfulness. How well that works is measured in docs/difficulty.md.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.config import Config
from sightline.corpus.near_duplicates import SIDE, near_pairs, perceptual_hash
from sightline.corpus.pixels import RefusedError, load_rgb, open_picture, upright
from sightline.engine.progress import progress
from sightline.english import counted, some
from sightline.errors import READ_AGAIN, UserError
from sightline.io.files import picture_path
from sightline.types import Picture

Floats = NDArray[np.float32]
_log = logging.getLogger(__name__)

_FEW = 256
"""Below so many pictures, starting processes takes longer than the work."""
_WIDE = 4 * SIDE
_GRID = 8
# Left, top, right and bottom edges, as shares of the picture.
_TRIMS = (
    *((share, share, 1 - share, 1 - share) for share in (0.03, 0.05, 0.07)),
    (0.05, 0.0, 1.0, 1.0),
    (0.0, 0.05, 1.0, 1.0),
    (0.0, 0.0, 0.95, 1.0),
    (0.0, 0.0, 1.0, 0.95),
)
_LUMINANCE = np.array([0.299, 0.587, 0.114], dtype=np.float32)
_FLATTEST, _STRONGEST = 0.4, 1.05
"""The contrast of the flatter of two pictures, as a share of the other's."""
_TONE, _COLOUR = 24.0, 20.0
"""How far one cell may be off, in levels, when brightness, contrast and colourfulness were made equal."""
_SAME_TONE, _COARSE_COLOUR = 8.0, 10.0
"""The same where tones are hardly off: then colours need agree over squares of four cells only, as in small files."""
_FLAT, _GREY = 1.0, 3.0
"""Variance of tones, and mean colourfulness, up to which a picture is of one tone, or grey."""


class LookView(NamedTuple):
    """One way to look at a picture: its perceptual hash, and the mean colours of an 8 × 8 grid."""

    phash: int
    tones: bytes


@dataclass(frozen=True, slots=True)
class PictureLook:
    """What two pictures are compared by; the first view is the whole."""

    sha256: bytes
    views: tuple[LookView, ...]


@dataclass(frozen=True, slots=True)
class LookPair:
    """Two pictures that look the same."""

    first: str
    second: str
    same_bytes: bool


class LookJob(NamedTuple):
    """A picture to look at."""

    key: int
    path: bytes
    max_pixels: int


def looks_of(pictures: Mapping[str, Picture], base: Path, config: Config) -> dict[str, PictureLook]:
    """The looks of the pictures that are on this machine; files that are no pictures are named and left out.

    A file that the disk does not give is refused: what is said without it would be another answer.
    """
    names: list[str] = []
    jobs: list[LookJob] = []
    for name, picture in pictures.items():
        path = picture_path(picture.uri, base)
        if path is not None and path.is_file():
            jobs.append(LookJob(len(names), os.fsencode(path), config.scan.max_pixels))
            names.append(name)
    found: dict[str, PictureLook] = {}
    left: list[str] = []
    with progress("look", len(jobs)) as advance:
        done: Iterable[tuple[Any, Any]] = ((job, look_at(job)) for job in jobs)
        if len(jobs) >= _FEW:
            from sightline.engine.worker_pool import cores, map_in_processes  # Most are fewer.

            done = map_in_processes(look_at, jobs, workers=cores())
        for job, look in done:
            advance(1)
            if isinstance(look, UserError):
                raise look
            if isinstance(look, PictureLook):
                found[names[job.key]] = look
            else:
                left.append(names[job.key])
    if left:
        _log.warning("%s left out (no picture that can be read): %s", counted(len(left), "file"), some(left, 3))
    return {name: found[name] for name in names if name in found}  # Processes finish in no fixed order.


def look_at(job: LookJob) -> PictureLook | UserError | None:
    """The look of one file; None for what is no picture, and an error for what the disk does not give."""
    from sightline.corpus import metadata  # Where no picture is here, nothing reads any.

    try:
        data = Path(os.fsdecode(job.path)).read_bytes()
    except OSError as error:
        return UserError(f"{os.fsdecode(job.path)} can't be read: {error.strerror or error}.", READ_AGAIN)
    try:
        image = open_picture(data, job.max_pixels)
        turned = metadata.read_facts(image).orientation
        pixels = np.asarray(load_rgb(image, data, (_WIDE, _WIDE)).resize((_WIDE, _WIDE), Image.Resampling.BOX))
    except (OSError, RefusedError):
        return None
    return PictureLook(
        hashlib.sha256(data).digest(), views_of(Image.fromarray(np.ascontiguousarray(upright(pixels, turned))))
    )


def views_of(image: Image.Image) -> tuple[LookView, ...]:
    """All views of a picture, the whole first."""
    whole = np.asarray(_thumbnail(image, (0.0, 0.0, 1.0, 1.0)))
    trimmed = (np.asarray(_thumbnail(image, trim)) for trim in _TRIMS)
    return tuple(LookView(perceptual_hash(each), _tones(each)) for each in (whole, whole[:, ::-1], *trimmed))


def _thumbnail(image: Image.Image, edges: tuple[float, float, float, float]) -> Image.Image:
    width, height = image.size
    box = (edges[0] * width, edges[1] * height, edges[2] * width, edges[3] * height)
    return image.resize((SIDE, SIDE), Image.Resampling.BOX, box=box)


def _tones(thumbnail: NDArray[np.uint8]) -> bytes:
    cell = SIDE // _GRID
    means: NDArray[np.float64] = thumbnail.reshape(_GRID, cell, _GRID, cell, 3).mean(axis=(1, 3))
    return means.astype(np.uint8).tobytes()


def same_looks(looks: Mapping[str, PictureLook], bits: int) -> list[LookPair]:
    """Pairs with the same bytes, and pairs of which the whole of one is near a view of the other, and alike in tones.

    Near are hashes that differ in at most `bits` bits. Of several pictures with the same bytes, each is paired with the
    first, which stands for all of them in the other pairs.
    """
    first: dict[bytes, str] = {}
    pairs = [
        LookPair(first[look.sha256], name, True)
        for name, look in looks.items()
        if first.setdefault(look.sha256, name) != name
    ]
    names = list(first.values())
    found = {
        (min(one, other), max(one, other)) for one, other in _meetings([looks[name].views for name in names], bits)
    }
    return pairs + [LookPair(names[one], names[other], False) for one, other in sorted(found)]


def _meetings(pictures: list[tuple[LookView, ...]], bits: int) -> Iterator[tuple[int, int]]:
    """The places of pictures that look the same, each pair perhaps more than once."""
    by_hash: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for place, views in enumerate(pictures):
        for number, view in enumerate(views):
            if view.phash:  # One flat colour is near nothing.
                by_hash[view.phash].append((place, number))
    distinct = np.array(sorted(by_hash), dtype=np.uint64)
    near = [(one, one) for one in by_hash]
    near += [(int(one), int(other)) for one, other in distinct[near_pairs(distinct, bits)]] if len(distinct) else []
    for one, other in near:
        for ours, theirs in ((one, other), (other, one)) if one != other else ((one, one),):
            wholes = [place for place, number in by_hash[ours] if number == 0]
            for place in wholes:
                others = [(other, number) for other, number in by_hash[theirs] if other != place]
                yield from ((place, met) for met in _alike_of(pictures, place, others))


def _alike_of(pictures: list[tuple[LookView, ...]], place: int, others: list[tuple[int, int]]) -> Iterator[int]:
    if not others:
        return
    ours = _cells([pictures[place][0].tones])
    theirs = _cells([pictures[other][number].tones for other, number in others])
    for at in np.flatnonzero(alike(np.repeat(ours, len(others), axis=0), theirs)).tolist():
        yield others[at][0]


def _cells(tones: list[bytes]) -> Floats:
    return np.frombuffer(b"".join(tones), np.uint8).reshape(len(tones), -1, 3).astype(np.float32)


def alike(first: Floats, second: Floats) -> NDArray[np.bool_]:
    """Of tones (pair × cell × colour): the same but for brightness, contrast and colourfulness.

    The tones of the flatter picture are those of the other times one factor, and shifted; its colours are the other's
    times one factor, unless one of the two is grey. One cell that is off is enough to tell them apart.
    """
    lights = np.stack([first @ _LUMINANCE, second @ _LUMINANCE])
    colours = np.stack([first, second]) - lights[..., None]
    means = lights.mean(axis=2)
    lights = lights - means[..., None]
    spread = (lights**2).mean(axis=2)
    strong, rows = np.argmax(spread, axis=0), np.arange(len(first))
    strong_light, weak_light = lights[strong, rows], lights[1 - strong, rows]
    factor = (strong_light * weak_light).mean(axis=1) / np.maximum(spread.max(axis=0), _FLAT)
    off = np.abs(weak_light - factor[:, None] * strong_light).max(axis=1)
    flat = (spread.max(axis=0) < _FLAT) & (np.abs(means[0] - means[1]) <= _TONE)
    strong_colour, weak_colour = colours[strong, rows], colours[1 - strong, rows]
    fine = (off <= _TONE) & (_colours_off(strong_colour, weak_colour) <= _COLOUR)
    close = (off <= _SAME_TONE) & (_colours_off(_coarse(strong_colour), _coarse(weak_colour)) <= _COARSE_COLOUR)
    found: NDArray[np.bool_] = (fine | close) & (flat | ((factor >= _FLATTEST) & (factor <= _STRONGEST)))
    return found


def _coarse(colours: Floats) -> Floats:
    """Over squares of four cells."""
    pairs, half = len(colours), _GRID // 2
    means: Floats = colours.reshape(pairs, half, 2, half, 2, 3).mean(axis=(2, 4)).reshape(pairs, half * half, 3)
    return means


def _colours_off(strong: Floats, weak: Floats) -> Floats:
    """How far the colours of the worst cell are off; 0 where one of the two is grey."""
    factor = (strong * weak).sum(axis=(1, 2)) / np.maximum((strong**2).sum(axis=(1, 2)), 1e-6)
    off: Floats = np.abs(weak - np.clip(factor, 0.0, 1.6)[:, None, None] * strong).max(axis=(1, 2))
    grey = np.minimum(np.abs(strong).mean(axis=(1, 2)), np.abs(weak).mean(axis=(1, 2))) < _GREY
    return np.where(grey, np.float32(0.0), off)
