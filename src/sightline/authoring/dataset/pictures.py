"""Pictures as they are published: cleaned copies, without what their files know about place, time, camera and people.

Pixels stay as they are.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zlib
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image

from sightline.authoring.dataset.selection import PublishSelection, subset_benchmark
from sightline.corpus import metadata
from sightline.corpus.pixels import MIMES, RefusedError, decode, identify, load_rgb, upright
from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.io.temporary_files import folder_beside
from sightline.models.pictures import open_one
from sightline.types import Benchmark, Picture

_SUFFIXES = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp"}
_TELLING_CHUNKS = frozenset({b"eXIf", b"tEXt", b"iTXt", b"zTXt", b"tIME"})
_NOTES = {0xE0: b"JFIF", 0xE2: b"ICC_PROFILE", 0xEE: b"Adobe"}
_NOTE_SIZES = {0xE0: 18, 0xEE: 16}
"""Bytes of JFIF without a thumbnail, and of Adobe, with their markers."""
_TELLING_SIGNS = (b"Exif\0\0", b"http://ns.adobe.com/", b"Photoshop 3.0")
_QUALITY = 95
_GLANCE = (64, 64)
"""Decoded no larger than this where the format can, to see that the picture is whole."""
_TAKEN_DOWN = "taken down"


@dataclass(frozen=True, slots=True)
class CleanPicture:
    """A picture that says nothing but itself."""

    data: bytes
    mime: str
    suffix: str
    width: int
    height: int


def scrub(data: bytes) -> CleanPicture:
    """The picture without its metadata; raises `RefusedError` for what is not a picture."""
    image = open_one(data)
    turn = metadata.read_facts(image).orientation
    width, height = image.size
    format_ = identify(data) or ""
    if format_ == "JPEG":
        clean = b"".join(_jpeg(data, turn))
    elif format_ == "PNG":
        clean = b"".join(_png(data, turn))
    elif format_ == "WEBP":
        clean = _webp(data, turn)
    else:
        return _drawn_again(image, data, turn, "JPEG" if format_ in ("HEIF", "AVIF", "RAW") else "PNG")
    decode(open_one(clean), clean, _GLANCE)
    return CleanPicture(clean, MIMES[format_], _SUFFIXES[format_], *((height, width) if turn >= 5 else (width, height)))


def _orientation(turn: int) -> bytes:
    """A TIFF block that tells how the picture is turned, and nothing else."""
    return struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, 0x0112, 3, 1, turn, 0, 0)


def _jpeg(data: bytes, turn: int) -> Iterator[bytes]:
    """Segments without applications' notes and comments; colour profile and colour transform stay."""
    yield data[:2]
    if turn != 1:
        block = b"Exif\0\0" + _orientation(turn)
        yield b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            raise RefusedError("unreadable", "a JPEG marker is not where it should be")
        marker = data[at + 1]
        if marker == 0xFF:  # Filling.
            at += 1
        elif marker == 0xD9:
            break
        elif marker == 0x01 or 0xD0 <= marker <= 0xD7:
            at += 2
        else:
            end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
            if marker == 0xDA:
                end = _end_of_scan(data, end)
            if _draws(marker, data[at + 4 : at + 16]):
                yield _bounded(marker, data[at:end])
            at = end
    yield b"\xff\xd9"


def _draws(marker: int, head: bytes) -> bool:
    """Is a segment needed to draw the picture: frames, tables, scans, and the three notes that are about colour?"""
    if marker in _NOTES:
        return head.startswith(_NOTES[marker])
    return 0xC0 <= marker <= 0xCF or marker in (0xDA, 0xDB, 0xDD)


def _bounded(marker: int, segment: bytes) -> bytes:
    """A note cut to the size that its kind has: a wrong length would take the next segment, which may tell, with it."""
    most = _NOTE_SIZES.get(marker, len(segment))
    if len(segment) > most:
        segment = segment[:2] + struct.pack(">H", most - 2) + segment[4:most]
        if marker == 0xE0:  # JFIF's last two bytes say how large its thumbnail is, which is gone.
            segment = segment[:-2] + b"\0\0"
    if any(sign in segment for sign in _TELLING_SIGNS):
        raise RefusedError("unreadable", "a JPEG segment holds another one")
    return segment


def _end_of_scan(data: bytes, at: int) -> int:
    """Where the next marker after entropy-coded data stands."""
    while True:
        at = data.find(b"\xff", at)
        if at < 0 or at + 1 >= len(data):
            return len(data)
        if data[at + 1] != 0 and not 0xD0 <= data[at + 1] <= 0xD7 and data[at + 1] != 0xFF:
            return at
        at += 1 if data[at + 1] == 0xFF else 2


def _png(data: bytes, turn: int) -> Iterator[bytes]:
    yield data[:8]
    at = 8
    while at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        kind = data[at + 4 : at + 8]
        if kind not in _TELLING_CHUNKS:
            yield data[at:end]
        if kind == b"IHDR" and turn != 1:
            body = b"eXIf" + _orientation(turn)
            yield struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
        if kind == b"IEND":
            return
        at = end


def _webp(data: bytes, turn: int) -> bytes:
    chunks: list[bytes] = []
    at = 12
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        end = at + 8 + size + size % 2
        kind, body = data[at : at + 4], data[at:end]
        if kind == b"VP8X":  # Bits 3 and 2 promise EXIF and XMP.
            flags = (body[8] & ~0b1100) | (0b1000 if turn != 1 else 0)
            body = body[:8] + bytes([flags]) + body[9:]
        if kind not in (b"EXIF", b"XMP "):
            chunks.append(body)
        at = end
    if turn != 1:
        block = _orientation(turn)
        chunks.append(b"EXIF" + struct.pack("<I", len(block)) + block)
    content = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(content)) + content


def _drawn_again(image: Image.Image, data: bytes, turn: int, format_: str) -> CleanPicture:
    pixels = upright(np.asarray(load_rgb(image, data, image.size)), turn)
    out = io.BytesIO()
    again = Image.fromarray(np.ascontiguousarray(pixels))
    again.save(out, format_, **({"quality": _QUALITY} if format_ == "JPEG" else {"optimize": True}))
    return CleanPicture(out.getvalue(), MIMES[format_], _SUFFIXES[format_], again.width, again.height)


@dataclass(frozen=True, slots=True)
class PreparedDataset:
    """What is published; its pictures lie in a folder that goes away when the block ends."""

    chosen: PublishSelection
    benchmark: Benchmark
    pictures: Path


@contextmanager
def prepare_pictures(
    chosen: PublishSelection, folder: Path, out: Path, *, keep_metadata: bool = False, taken_down: Collection[str] = ()
) -> Iterator[PreparedDataset]:
    """Clean every picture into a folder beside `out`; one that can't be read, or was taken down, stays here."""
    with folder_beside(out.resolve()) as target, ThreadPoolExecutor() as pool:
        pictures = chosen.benchmark.corpus.pictures

        def clean(picture: Picture) -> Picture | str:
            return _cleaned(picture, folder, target, keep_metadata, taken_down)

        made = dict(zip(pictures, pool.map(clean, pictures.values()), strict=True))
        refused = {id_: why for id_, why in made.items() if isinstance(why, str)}
        kept = {id_: picture for id_, picture in made.items() if isinstance(picture, Picture)}
        rest = subset_benchmark(chosen.benchmark, kept)
        if not rest.benchmark.tasks:
            raise UserError(
                "no task is left without the pictures that can't be read or were taken down.",
                "see what is wrong with them: sightline scan",
            )
        again = replace(
            chosen,
            benchmark=rest.benchmark,
            left_out={**chosen.left_out, **refused},
            lost_tasks={**chosen.lost_tasks, **rest.lost_tasks},
        )
        corpus = replace(rest.benchmark.corpus, pictures=kept)
        # What an annotation cost concerns nobody outside.
        notes = tuple(replace(note, cost_usd=None) for note in rest.benchmark.annotations)
        if not keep_metadata:
            notes = tuple(replace(note, extra={}) for note in notes)
        yield PreparedDataset(again, replace(rest.benchmark, corpus=corpus, annotations=notes), target)


def _cleaned(picture: Picture, folder: Path, target: Path, keep: bool, taken_down: Collection[str]) -> Picture | str:
    """The picture as it is published, its file named by its content; or why it stays here."""
    path = picture_path(picture.uri, folder)
    assert path is not None  # `choose` keeps only what is here.
    try:
        data = path.read_bytes()
        clean = _as_it_is(data) if keep else scrub(data)
    except OSError as error:
        return f"its file can't be read: {error.strerror}"
    except RefusedError as refused:
        return refused.reason
    digest = hashlib.sha256(clean.data).hexdigest()
    if {digest, hashlib.sha256(data).hexdigest()} & set(taken_down):
        return _TAKEN_DOWN
    name = f"{digest}{clean.suffix}"
    (target / name).write_bytes(clean.data)
    found = replace(
        picture,
        uri=name,
        sha256=digest,
        width=clean.width,
        height=clean.height,
        mime=clean.mime,
    )
    if keep:
        return found
    return replace(found, taken_at=None, lat=None, lon=None, altitude=None, address=None, device=None, extra={})


def _as_it_is(data: bytes) -> CleanPicture:
    """The file byte for byte, with the facts of its cleaned copy."""
    facts = scrub(data)
    suffix = {"JPEG": ".jpg", "TIFF": ".tif", "HEIF": ".heic"}.get(format_ := identify(data) or "", "")
    return replace(facts, data=data, suffix=suffix or f".{format_.lower()}")
