"""One file → all that a scan wants to know of it; this runs in the worker processes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sightline.corpus import metadata
from sightline.corpus.film import Film, FilmFrame, FilmLimits, is_film_name, moment, read_film
from sightline.corpus.near_duplicates import colour_print, perceptual_hash
from sightline.corpus.parts import is_motion_photo
from sightline.corpus.pixels import (
    MIMES,
    MissingDecoderError,
    RefusedError,
    has_video,
    identify,
    load_small,
    notes_on,
    open_picture,
    upright,
)
from sightline.types import Json

VERSION = "3"
"""Raised when reading learns something new, so that the next scan reads every file again."""
FILM = "film 1"
"""How the `reader` of a film begins; it is made again when its limits change."""
BEFORE_RAW = "1"
"""The version that knew no RAW files: what it took for TIFF, or for no picture, is read again, and nothing else."""


@dataclass(frozen=True, slots=True)
class ReadJob:
    """A file to read: where it is, its sidecars beside it, and its hash at the last scan if only its date changed."""

    key: int
    path: bytes
    sidecars: tuple[bytes, ...]
    max_pixels: int
    known_sha256: bytes | None = None
    film: FilmLimits | None = None


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """No picture, and why; `reader` says under which circumstances it is worth another look."""

    reason: str
    detail: str
    reader: str = VERSION


@dataclass(frozen=True, slots=True)
class UnchangedFile:
    """The bytes are those of the last scan."""


@dataclass(frozen=True, slots=True)
class PictureReading:
    """A picture, read."""

    sha256: bytes
    phash: int
    colours: bytes
    width: int
    height: int
    mime: str
    facts: metadata.MetadataFacts
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilmReading:
    """The pictures of a film, each with the name that its file has in the film's folder."""

    frames: tuple[tuple[str, PictureReading], ...]
    reader: str


def current_readers(max_pixels: int, film: FilmLimits, missing: Iterable[str]) -> tuple[str, ...]:
    """The values of `reader` that need no second look today, as these extras are missing."""
    return (VERSION, _bomb_reader(max_pixels), _film_reader(max_pixels, film), *map(_reader_without, missing))


def _film_reader(max_pixels: int, limits: FilmLimits) -> str:
    return f"{FILM} max_pixels={max_pixels} pictures={limits.pictures} minutes={limits.minutes:g}"


def _bomb_reader(max_pixels: int) -> str:
    return f"{VERSION} max_pixels={max_pixels}"


def _reader_without(extra: str) -> str:
    return f"{VERSION} without {extra}"


def read_file(job: ReadJob) -> PictureReading | FilmReading | RefusedFile | UnchangedFile:
    """Read one file; never raises for what the file contains."""
    try:
        if job.film is not None and _is_film(job.path):
            return _read_film(job, job.film)
        data = Path(os.fsdecode(job.path)).read_bytes()
    except OSError as error:
        return RefusedFile("unreadable", error.strerror or str(error), reader="")
    sha256 = hashlib.sha256(data).digest()
    if sha256 == job.known_sha256:
        return UnchangedFile()
    try:
        return _read_picture(job, data, sha256)
    except MissingDecoderError as error:
        return RefusedFile(error.reason, error.detail, _reader_without(error.extra))
    except RefusedError as error:
        reader = _bomb_reader(job.max_pixels) if error.reason == "bomb" else VERSION
        return RefusedFile(error.reason, error.detail, reader)


def _parts(beside: list[Path], data: bytes) -> dict[str, Json]:
    """What else belongs to the picture: files beside it, and a film inside it."""
    names: list[Json] = [path.name for path in beside if not metadata.sidecar.is_sidecar(path.name)]
    found: dict[str, Json] = {"parts": names} if names else {}
    return {**found, "motion_photo": True} if is_motion_photo(data) else found


def _read_picture(job: ReadJob, data: bytes, sha256: bytes) -> PictureReading:
    image = open_picture(data, job.max_pixels)
    width, height = image.size
    suffix = Path(os.fsdecode(job.path)).suffix
    notes = notes_on(image, data, suffix)
    facts = metadata.read_facts(image)
    beside = [Path(os.fsdecode(path)) for path in job.sidecars]
    facts = _with_sidecars(facts, beside)
    facts = replace(facts, extra={**facts.extra, **_parts(beside, data)})
    thumbnail = load_small(image, data, job.max_pixels)
    if facts.orientation != 1:
        notes.append("rotated")
        thumbnail = upright(thumbnail, facts.orientation)
    if facts.orientation >= 5:
        width, height = height, width
    return PictureReading(
        sha256=sha256,
        phash=perceptual_hash(thumbnail),
        colours=colour_print(thumbnail),
        width=width,
        height=height,
        mime=MIMES[identify(data) or ""],
        facts=facts,
        warnings=(*notes, *facts.warnings),
    )


def _is_film(path: bytes) -> bool:
    """A picture that calls itself a film is a picture all the same."""
    name = os.fsdecode(path)
    if not is_film_name(name):
        return False
    with Path(name).open("rb") as file:
        return identify(file.read(64)) is None


def _read_film(job: ReadJob, limits: FilmLimits) -> FilmReading | RefusedFile:
    reader = _film_reader(job.max_pixels, limits)
    try:
        if not limits.pictures:
            raise RefusedError("not a picture", "scan.film_pictures is 0")
        if not has_video():
            raise MissingDecoderError("video")
        film = read_film(job.path, limits, job.max_pixels)
    except MissingDecoderError as error:
        return RefusedFile(error.reason, error.detail, _reader_without(error.extra))
    except RefusedError as error:
        return RefusedFile(error.reason, error.detail, reader)
    facts = _with_sidecars(film.facts, [Path(os.fsdecode(path)) for path in job.sidecars])
    return FilmReading(tuple((frame.name, _frame_reading(film, frame, facts)) for frame in film.frames), reader)


def _with_sidecars(facts: metadata.MetadataFacts, beside: list[Path]) -> metadata.MetadataFacts:
    said = [metadata.read_sidecar(path) for path in beside if metadata.sidecar.is_sidecar(path.name)]
    return metadata.merge_facts(facts, said) if said else facts


def _frame_reading(film: Film, frame: FilmFrame, facts: metadata.MetadataFacts) -> PictureReading:
    said: dict[str, Json] = {"film_time": round(frame.seconds, 3), "poster": frame is film.poster}
    if film.seconds is not None:
        said["film_seconds"] = round(film.seconds, 3)
    return PictureReading(
        sha256=frame.sha256,
        phash=perceptual_hash(frame.look),
        colours=colour_print(frame.look),
        width=frame.size[0],
        height=frame.size[1],
        mime=MIMES["JPEG"],
        facts=replace(facts, taken_at=moment(facts.taken_at, frame.seconds), extra={**facts.extra, **said}),
        warnings=("long film",) if film.is_cut else (),
    )
