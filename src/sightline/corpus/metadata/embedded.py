"""Where each file format keeps its metadata; nothing here decodes a pixel."""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, NamedTuple

from PIL import Image, ImageFile

from sightline.corpus.metadata import exif, iptc
from sightline.corpus.metadata.exif import MAX_VALUE, ReadAt, bytes_reader, open_tiff

_MAX_CHUNKS = 100_000
_XMP_KEYWORD = b"XML:com.adobe.xmp\0"
_GIF_XMP = b"XMP DataXMP"


class EmbeddedMetadata(NamedTuple):
    """The metadata inside a picture's file, not yet understood."""

    exif: exif.Tags
    xmp: bytes | None
    iptc: bytes | None


def embedded_metadata(image: Image.Image) -> EmbeddedMetadata:
    """The EXIF tags, and the XMP and IPTC blocks, of an opened image; decoded or not."""
    if image.format == "TIFF":
        return _of_tiff(image)
    info = image.info
    photoshop = info.get("photoshop")
    blocks = _Blocks(
        _bytes(info.get("exif")),
        _bytes(info.get("xmp")),
        _bytes(photoshop.get(0x0404)) if isinstance(photoshop, dict) else None,
    )
    if image.format == "PNG":
        blocks = _first(blocks, _png_profiles(image))
        blocks = _first(blocks, _png_tail(image))
    elif image.format == "GIF":
        blocks = _first(blocks, _Blocks(xmp=_gif_xmp(image)))
    return EmbeddedMetadata(exif.read_block(blocks.exif or b""), blocks.xmp, blocks.iptc)


class _Blocks(NamedTuple):
    exif: bytes | None = None
    xmp: bytes | None = None
    iptc: bytes | None = None


def _first(found: _Blocks, other: _Blocks) -> _Blocks:
    return _Blocks(found.exif or other.exif, found.xmp or other.xmp, found.iptc or other.iptc)


def _bytes(value: object) -> bytes | None:
    """Pillow's `info` also holds what a PNG file chose to call `exif`: any text."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    return value if isinstance(value, bytes) else None


@contextmanager
def _file(image: Image.Image) -> Iterator[IO[bytes] | None]:
    """The image's open file, left where it was; None where there is none any more."""
    file = image.fp if isinstance(image, ImageFile.ImageFile) else None
    if file is None or getattr(file, "closed", False):
        yield None
        return
    before = file.tell()
    try:
        yield file
    finally:
        file.seek(before)


def _file_reader(file: IO[bytes]) -> ReadAt:
    def read(offset: int, size: int) -> bytes:
        try:
            file.seek(offset)
            return file.read(size)
        except (OSError, ValueError, OverflowError):  # An offset that no file has.
            return b""

    return read


def _of_tiff(image: Image.Image) -> EmbeddedMetadata:
    with _file(image) as file:
        if file is None:
            tags = _decoded_tiff(image)
        else:
            tiff = open_tiff(_file_reader(file))
            tags = exif.Tags(broken=True) if tiff is None else exif.read_tags(tiff)
    xmp, direct, photoshop = (tags.main.get(tag) for tag in (exif.XMP, exif.IPTC, exif.PHOTOSHOP))
    block = direct if isinstance(direct, bytes) else None
    if block is None and isinstance(photoshop, bytes):
        block = iptc.find_in_photoshop(photoshop)
    # Pillow turns a TIFF upright by itself when it decodes it, and has already swapped its sides.
    main = {tag: value for tag, value in tags.main.items() if tag != exif.ORIENTATION}
    return EmbeddedMetadata(tags._replace(main=main), xmp if isinstance(xmp, bytes) else None, block)


def _decoded_tiff(image: Image.Image) -> exif.Tags:
    """Decoding closed the file, but Pillow kept its tags: written out again, they can be read as usual."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kept = image.getexif()
            start = 16 if kept.bigtiff else 8  # Pillow's header says 8 in either case.
            data = kept.tobytes(start).removeprefix(b"Exif\0\0")
    except (ArithmeticError, AttributeError, LookupError, OSError, SyntaxError, TypeError, ValueError, struct.error):
        return exif.Tags(broken=True)
    tiff = open_tiff(bytes_reader(data))
    return exif.Tags(broken=True) if tiff is None else exif.read_tags(replace(tiff, first=start))


def _png_profiles(image: Image.Image) -> _Blocks:
    """ImageMagick's way: a whole block in hexadecimal digits inside a text chunk."""
    blocks = _Blocks()
    for key, value in image.info.items():
        if isinstance(key, str) and key.startswith("Raw profile type ") and isinstance(value, str):
            blocks = _first(blocks, _profile(key.removeprefix("Raw profile type ").lower(), value))
    return blocks


def _profile(kind: str, text: str) -> _Blocks:
    try:
        data = bytes.fromhex("".join(text.split("\n")[3:]))
    except ValueError:
        return _Blocks()
    if kind == "xmp":
        return _Blocks(xmp=data)
    if kind == "iptc":
        return _Blocks(iptc=iptc.find_in_photoshop(data))
    return _Blocks(exif=data) if kind in ("exif", "app1") and data.startswith(b"Exif\0\0") else _Blocks()


def _png_tail(image: Image.Image) -> _Blocks:
    """The chunks after the pixels, which Pillow sees only when it decodes, and where ExifTool writes."""
    blocks = _Blocks()
    with _file(image) as file:
        for kind, data in () if file is None else _png_chunks(file):
            if kind == b"eXIf":
                blocks = _first(blocks, _Blocks(exif=data))
            elif data.startswith(_XMP_KEYWORD):
                blocks = _first(blocks, _Blocks(xmp=_international_text(data)))
    return blocks


def _png_chunks(file: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    after_pixels = False
    file.seek(8)
    for _ in range(_MAX_CHUNKS):
        head = file.read(8)
        if len(head) < 8 or head[4:] == b"IEND":
            return
        size, kind = int.from_bytes(head[:4], "big"), head[4:]
        after_pixels |= kind == b"IDAT"
        if after_pixels and kind in (b"eXIf", b"iTXt") and size <= MAX_VALUE:
            yield kind, file.read(size)
            size = 0
        file.seek(size + 4, 1)


def _international_text(data: bytes) -> bytes | None:
    """The value of an `iTXt` chunk: keyword, compression flag and method, language, translation, text."""
    flags, parts = data[len(_XMP_KEYWORD) :][:2], data[len(_XMP_KEYWORD) + 2 :].split(b"\0", 2)
    if len(parts) < 3:
        return None
    if not flags[0]:
        return parts[2]
    try:
        return zlib.decompressobj().decompress(parts[2], MAX_VALUE)
    except zlib.error:
        return None


def _gif_xmp(image: Image.Image) -> bytes | None:
    """XMP stands in a GIF as plain text, followed by 258 bytes that lead any reader out of it."""
    extension = image.info.get("extension")
    if not (isinstance(extension, tuple) and extension[0] == _GIF_XMP):
        return None
    with _file(image) as file:
        if file is None:
            return None
        file.seek(extension[1])
        data = file.read(MAX_VALUE)
    packet, end, _ = data.partition(b"\x01\xff\xfe\xfd")
    return packet if end else None
