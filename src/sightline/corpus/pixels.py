"""Pictures are hostile: what a file really is, and its pixels, opened with limits and named refusals."""

from __future__ import annotations

import io
import mimetypes
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.corpus.near_duplicates import SIDE
from sightline.corpus.raw import has_raw, is_raw, open_raw

MIMES = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "WEBP": "image/webp",
    "GIF": "image/gif",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
    "HEIF": "image/heic",
    "AVIF": "image/avif",
    "RAW": "image/x-raw",
}
MAX_FILE_BYTES = 256 << 20
"""What is sent or shown is never larger."""
MAX_PIXELS = 180_000_000
"""More pixels than this is a decompression bomb."""
OPTIONAL = {"heif": "HEIC", "raw": "RAW", "video": "videos"}
_OBJECT = re.compile(r"<[^<>]* at 0x[0-9a-f]+>")
"""How Python names an object in a message, which says nothing to a person."""
_AVIF_BRANDS = {b"avif", b"avis"}
_HEIF_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
_BMP_HEADERS = {size.to_bytes(4, "little") for size in (12, 16, 40, 52, 56, 64, 108, 124)}
_TURNS = {  # EXIF orientation → what to do with rows and columns of an array to see it upright
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.swapaxes(0, 1),
    6: lambda a: a[::-1].swapaxes(0, 1),
    7: lambda a: a[::-1, ::-1].swapaxes(0, 1),
    8: lambda a: a[:, ::-1].swapaxes(0, 1),
}


# Pillow's limit and Python's warning filters belong to all threads of a process: one at a time sets them.
_LIMITING = threading.Lock()


class RefusedError(Exception):
    """This file gives no picture; `reason` is one of the five that a scan counts."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class MissingDecoderError(RefusedError):
    """The picture may be fine, but the decoder for its format, the extra of that name, is not installed."""

    def __init__(self, extra: str) -> None:
        super().__init__(
            {"raw": "RAW", "video": "video"}.get(extra, "unreadable"),
            f"{'a video' if extra == 'video' else OPTIONAL[extra]} needs pip install 'sightline[{extra}]'",
        )
        self.extra = extra


def identify(head: bytes) -> str | None:
    """The format that the first bytes promise, whatever the file is called; most RAW files look like TIFF in 64."""
    if is_raw(head):
        return "RAW"
    if head.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[:6] in (b"GIF87a", b"GIF89a"):
        return "GIF"
    if head[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return "TIFF"
    if head[4:8] == b"ftyp":
        brands = {head[8:12]} | {head[at : at + 4] for at in range(16, min(len(head), 64) - 3, 4)}
        if brands & _AVIF_BRANDS:
            return "AVIF"
        return "HEIF" if brands & _HEIF_BRANDS else None
    # Two letters are little evidence; the size of the second header is one of a few.
    return "BMP" if head.startswith(b"BM") and head[14:18] in _BMP_HEADERS else None


def has_heif() -> bool:
    """Is the extra that reads HEIC installed?"""
    return find_spec("pillow_heif") is not None


def has_video() -> bool:
    """Is the extra that reads films installed?"""
    return find_spec("av") is not None


def missing_decoders() -> tuple[str, ...]:
    """The extras that would read more formats, and are not installed."""
    there = {"heif": has_heif(), "raw": has_raw(), "video": has_video()}
    return tuple(extra for extra, is_there in there.items() if not is_there)


def _learn_heif() -> None:
    if not has_heif():
        raise MissingDecoderError("heif")
    import pillow_heif

    pillow_heif.register_heif_opener()


def read_file(path: Path) -> bytes:
    """The bytes of a picture's file; `RefusedError` for one that is too large or can't be read."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise RefusedError("bomb", f"the file is over {MAX_FILE_BYTES:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise RefusedError("unreadable", error.strerror or str(error)) from None


def open_picture(data: bytes, max_pixels: int) -> Image.Image:
    """A Pillow image, not yet decoded, of one of our formats and within the limit; otherwise `RefusedError`."""
    if not data:
        raise RefusedError("empty", "the file has no bytes")
    format_ = identify(data)
    if format_ is None:
        raise RefusedError("not a picture", "its content is none of the formats that are read")
    if format_ == "HEIF":
        _learn_heif()
    if format_ == "RAW" and not has_raw():
        raise MissingDecoderError("raw")
    with _named_refusals(format_, data), _bomb_limit(max_pixels):
        image = open_raw(data) if format_ == "RAW" else Image.open(io.BytesIO(data), formats=(format_,))
        if image.width * image.height > max_pixels:
            raise RefusedError("bomb", f"{image.width} × {image.height} is over the limit of {max_pixels:,} pixels")
        return image


def load_small(image: Image.Image, data: bytes, max_pixels: int) -> NDArray[np.uint8]:
    """Decode the first frame, scaled while decoding where the format can, to a 32 × 32 × 3 thumbnail, as stored."""
    with _named_refusals(image.format or "", data), _bomb_limit(max_pixels):
        image.draft(None, (2 * SIDE, 2 * SIDE))
        image.load()
        return np.asarray(_thumbnail(image))


def load_rgb(image: Image.Image, data: bytes, size: tuple[int, int]) -> Image.Image:
    """The first frame as eight-bit RGB, as stored; decoded by `decode`."""
    with _named_refusals(image.format or "", data):
        decode(image, data, size)
        return as_rgb(image)


def decode(image: Image.Image, data: bytes, size: tuple[int, int]) -> None:
    """Decode the first frame, a JPEG scaled while decoding but not below `size`; otherwise `RefusedError`.

    Sets nothing that is shared, so that threads can decode side by side.
    """
    with _named_refusals(image.format or "", data):
        image.draft(None, size)
        image.load()


def upright(array: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    """The array turned and mirrored as its EXIF orientation asks."""
    turn = _TURNS.get(orientation)
    return array if turn is None else turn(array)


def notes_on(image: Image.Image, data: bytes, suffix: str) -> list[str]:
    """Names of what is unusual about a picture that is nevertheless taken in."""
    format_ = identify(data) or ""
    with _named_refusals(format_, data):
        several = format_ != "JPEG" and getattr(image, "is_animated", False)
    expected = mimetypes.guess_type(f"x{suffix.lower()}", strict=False)[0]
    found = {
        "animated": several and format_ != "TIFF",
        "several pages": several and format_ == "TIFF",
        "cmyk": image.mode == "CMYK",
        "16-bit": image.mode.startswith(("I", "F")) or _is_16_bit_png(format_, data),
        "palette transparency": image.mode == "P" and "transparency" in image.info,
        "tiny": min(image.size) < 8,
        "huge side": max(image.size) > 16_384,
        "wrong extension": expected is not None and format_ != "RAW" and not _agree(expected, format_),
    }
    return [name for name, true in found.items() if true]


def _agree(expected: str, format_: str) -> bool:
    heif = {"image/heic", "image/heif", "image/avif"}
    mime = MIMES.get(format_)
    return expected == mime or {expected, mime} <= heif


def _is_16_bit_png(format_: str, data: bytes) -> bool:
    return format_ == "PNG" and data[24:25] == b"\x10"


def _thumbnail(image: Image.Image) -> Image.Image:
    if image.mode in ("RGB", "L", "CMYK", "YCbCr", "LAB"):  # Shrink first: the conversion is then free.
        return image.resize((SIDE, SIDE), Image.Resampling.BOX).convert("RGB")
    return as_rgb(image).resize((SIDE, SIDE), Image.Resampling.BOX)


def as_rgb(image: Image.Image) -> Image.Image:
    """Eight bits, three channels; what is transparent becomes white."""
    if image.mode.startswith(("I", "F")):
        values = np.asarray(image, dtype=np.float32)
        top = 65535.0 if image.mode.startswith("I") else max(float(values.max(initial=0.0)), 1.0)
        return Image.fromarray((values.clip(0, top) * (255.0 / top)).astype(np.uint8)).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        layers = image.convert("RGBA")
        white = Image.new("RGBA", layers.size, "white")
        return Image.alpha_composite(white, layers).convert("RGB")
    return image.convert("RGB")


@contextmanager
def _bomb_limit(max_pixels: int) -> Iterator[None]:
    """Pillow's own checks (inside frames and tiles) at our limit; threads take turns."""
    with _LIMITING:
        before, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, max_pixels
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                yield
        finally:
            Image.MAX_IMAGE_PIXELS = before


@contextmanager
def _named_refusals(format_: str, data: bytes) -> Iterator[None]:
    """Whatever a decoder throws at us becomes one of the named reasons."""
    try:
        yield
    except RefusedError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise RefusedError("bomb", f"more than {Image.MAX_IMAGE_PIXELS:,} pixels in a frame") from error
    except MemoryError:
        raise RefusedError("bomb", "not enough memory to decode it") from None
    except Exception as error:  # Decoders raise anything on hostile bytes; the reason is named, never lost.
        raise _broken(format_, data, error) from None


def _broken(format_: str, data: bytes, error: Exception) -> RefusedError:
    if _ends_early(format_, data) or "truncated" in str(error):
        return RefusedError("truncated", "the file ends before the picture does")
    first = error.args[0] if error.args else error  # Of rawpy's errors it is bytes.
    text = first.decode("utf-8", "replace") if isinstance(first, bytes) else str(error)
    said = _OBJECT.sub("", text).strip(" .")
    return RefusedError("unreadable", f"it can't be decoded{said and f': {said}'}"[:200])


def _ends_early(format_: str, data: bytes) -> bool:
    tail = data[-1024:]
    if format_ in ("JPEG", "MPO"):
        return b"\xff\xd9" not in tail
    if format_ == "PNG":
        return b"IEND" not in tail
    if format_ == "GIF":
        return b";" not in tail[-16:]
    if format_ == "WEBP":
        return int.from_bytes(data[4:8], "little") + 8 > len(data)
    if format_ == "BMP":
        return int.from_bytes(data[2:6], "little") > len(data)
    return False
