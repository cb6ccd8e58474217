"""Films (extra `video`): key frames where the scene changes, kept as JPEG files in the workspace.

A film is hostile until shown otherwise: it is opened as one of a few containers and never as a list of other addresses,
frames are held to the limit on pixels before they are decoded, and only so many of them are looked at.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.corpus.metadata.facts import MetadataFacts
from sightline.corpus.metadata.sidecar import FILMS
from sightline.corpus.metadata.values import plausible, position
from sightline.corpus.near_duplicates import SIDE, colour_print, perceptual_hash
from sightline.corpus.pixels import RefusedError
from sightline.io.files import whole_folder

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

FOLDER = "films"
FRAME = "frame"
"""The `reader` of the files that are frames; the path of each lies below that of its film."""
_CONTAINERS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,asf"
_LOOKED_AT, _SHORTEST, _MOST_PACKETS = 240, 1.0, 20_000
"""Key frames of a film that are decoded at most, the seconds between two of them at least, and the packets at most."""
_BITS, _COLOURS = 16, 20.0
"""Hashes that differ in more bits of 64 than this, or colours that differ more on average, are another scene."""
_LONGEST_SIDE, _QUALITY = 1920, 90
_ISO_6709 = re.compile(r"([+-]\d+(?:\.\d+)?)([+-]\d+(?:\.\d+)?)")
_MAKERS = "com.apple.quicktime."


def is_film_name(name: str) -> bool:
    """Does the extension say that it is a film?"""
    return name.rpartition(".")[2].lower() in FILMS


class FilmLimits(NamedTuple):
    """How many pictures are made of a film at most, and how many minutes of it are looked at."""

    pictures: int
    minutes: float
    workspace: Path


@dataclass(frozen=True, slots=True)
class FilmFrame:
    """A key frame: when it is seen, its JPEG file, and what duplicates are found by."""

    seconds: float
    data: bytes
    size: tuple[int, int]
    look: NDArray[np.uint8]
    entropy: float
    change: float = math.inf

    @property
    def name(self) -> str:
        return f"{self.seconds:09.3f}s.jpg"

    @property
    def sha256(self) -> bytes:
        return hashlib.sha256(self.data).digest()

    def changed_from(self, other: FilmFrame) -> float:
        """How far it is from another frame; from 1 on it is another scene."""
        bits = (perceptual_hash(self.look) ^ perceptual_hash(other.look)).bit_count()
        colours = [np.frombuffer(colour_print(each.look), np.uint8).astype(np.float32) for each in (self, other)]
        return max(bits / _BITS, float(np.abs(colours[0] - colours[1]).mean()) / _COLOURS)


@dataclass(frozen=True, slots=True)
class Film:
    """The key frames of a film in order of time, and what its container says."""

    frames: tuple[FilmFrame, ...]
    seconds: float | None
    facts: MetadataFacts
    is_cut: bool
    "Is it longer than what was looked at?"

    @property
    def poster(self) -> FilmFrame:
        """The frame that stands for the film in a list: the one with the most to see."""
        return max(self.frames, key=lambda frame: frame.entropy)


def frames_folder(workspace: Path, film: bytes) -> Path:
    """Where the frames of a film are kept: its absolute path, below a folder of the workspace."""
    path = Path(os.fsdecode(film))
    return workspace.absolute() / FOLDER / path.relative_to(path.anchor)


def read_film(path: bytes, limits: FilmLimits, max_pixels: int) -> Film:
    """The film's key frames, written to the workspace; `RefusedError` for what is not a film, or has none to see."""
    import av

    try:
        with Path(os.fsdecode(path)).open("rb") as file:
            options = {"format_whitelist": _CONTAINERS, "protocol_whitelist": ""}
            with av.open(file, options=options, metadata_errors="replace") as container:
                film = _film(container, limits, max_pixels)
    except (av.FFmpegError, OSError, ValueError, MemoryError) as error:
        empty = not Path(os.fsdecode(path)).stat().st_size
        why = getattr(error, "strerror", None) or error
        raise RefusedError("empty" if empty else "unreadable", f"it can't be read as a film: {why}"[:200]) from None
    folder = frames_folder(limits.workspace, path)
    with whole_folder(folder, marker="", force=True) as fresh:
        for frame in film.frames:
            (fresh / frame.name).write_bytes(frame.data)
    return film


def _film(container: InputContainer, limits: FilmLimits, max_pixels: int) -> Film:
    streams = [each for each in container.streams.video if not each.disposition & each.disposition.attached_pic]
    if not streams:
        raise RefusedError("unreadable", "it has sound, and no pictures")
    stream = streams[0]
    if stream.width * stream.height > max_pixels:
        raise RefusedError("bomb", f"its frames have more than {max_pixels:,} pixels")
    stream.codec_context.skip_frame = "NONKEY"
    stream.codec_context.options = {"max_pixels": str(max_pixels)}
    stream.thread_type = "NONE"
    seconds = container.duration / 1e6 if container.duration and container.duration > 0 else None
    last = min(seconds or math.inf, limits.minutes * 60)
    found = _scenes(_key_frames(container, stream, seconds, last), limits.pictures)
    if not found:
        raise RefusedError("unreadable", "no picture in it can be decoded")
    facts = _facts({**stream.metadata, **container.metadata})
    return Film(tuple(found), seconds, facts, seconds is not None and seconds > last)


def _key_frames(
    container: InputContainer, stream: VideoStream, seconds: float | None, last: float
) -> Iterator[tuple[float, VideoFrame]]:
    """So many key frames, spread over the film where its length is known, else its first ones."""
    import av

    step = max(_SHORTEST, last / _LOOKED_AT) if seconds else _SHORTEST
    before = -math.inf
    for number in range(_LOOKED_AT):
        at = number * step
        if at >= last:
            return
        try:
            if seconds:
                container.seek(int(at * 1e6), backward=True)
            frame = next(_far_enough(container, stream, -math.inf if seconds else before + step), None)
        except av.FFmpegError:  # The rest of it is damaged, or it has no index; what was found stays.
            return
        if frame is None:
            return
        if frame.time > before:
            before = frame.time
            yield frame.time, frame


def _far_enough(container: InputContainer, stream: VideoStream, least: float) -> Iterator[Any]:
    for packets, packet in enumerate(container.demux(stream)):
        if packets > _MOST_PACKETS:
            return
        for frame in packet.decode() if packet.is_keyframe or packet.dts is None else ():
            if frame.time is not None and frame.time >= least:
                yield frame


def _scenes(frames: Iterator[tuple[float, VideoFrame]], most: int) -> list[FilmFrame]:
    """The frames that begin another scene; of too many, those that change most."""
    found: list[FilmFrame] = []
    for seconds, decoded in frames:
        frame = _frame(seconds, decoded)
        change = frame.changed_from(found[-1]) if found else math.inf
        if change >= 1:
            found.append(replace(frame, change=change))
    kept = sorted(found, key=lambda frame: -frame.change)[:most]
    return sorted(kept, key=lambda frame: frame.seconds)


def _frame(seconds: float, decoded: VideoFrame) -> FilmFrame:
    image: Image.Image = decoded.to_image()
    if decoded.rotation:
        image = image.rotate(decoded.rotation, expand=True)
    image.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE), Image.Resampling.BICUBIC)
    made = io.BytesIO()
    image.save(made, "JPEG", quality=_QUALITY)
    look = np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BOX))
    return FilmFrame(seconds, made.getvalue(), image.size, look, image.entropy())


def _facts(said: Mapping[str, str]) -> MetadataFacts:
    """When, where and with what it was taken: phones say the local time and the place in Apple's fields, too."""
    where = _ISO_6709.match(said.get(f"{_MAKERS}location.ISO6709") or said.get("location") or "")
    device = " ".join(filter(None, (said.get(f"{_MAKERS}{part}", "").strip() for part in ("make", "model"))))
    lat = lon = None
    try:
        lat, lon = position(float(where[1]), float(where[2])) if where else (None, None)
    except ValueError:  # Includes `ImplausibleError`.
        lat = lon = None
    taken = _time(said.get(f"{_MAKERS}creationdate") or said.get("creation_time"))
    return MetadataFacts(taken_at=taken, lat=lat, lon=lon, device=device or None)


def _time(text: str | None) -> datetime | None:
    try:
        return None if text is None else plausible(datetime.fromisoformat(text))
    except ValueError:
        return None


def moment(taken: datetime | None, seconds: float) -> datetime | None:
    """When a frame was taken."""
    return None if taken is None else taken + timedelta(seconds=seconds)
