"""Pictures with metadata, made in memory: by Pillow where it can, byte by byte where it refuses to."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Mapping
from typing import Any

from PIL import Image, PngImagePlugin
from PIL.TiffImagePlugin import IFDRational

ASCII, BYTE, SHORT, LONG, RATIONAL, UNDEFINED, SRATIONAL, DOUBLE = 2, 1, 3, 4, 5, 7, 10, 12
Entry = tuple[int, int, bytes]
"""Type, count, bytes."""

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XMP_NAMESPACES = " ".join(
    f'xmlns:{prefix}="{address}"'
    for prefix, address in {
        "rdf": RDF,
        "dc": "http://purl.org/dc/elements/1.1/",
        "xmp": "http://ns.adobe.com/xap/1.0/",
        "xmpRights": "http://ns.adobe.com/xap/1.0/rights/",
        "photoshop": "http://ns.adobe.com/photoshop/1.0/",
        "exif": "http://ns.adobe.com/exif/1.0/",
        "tiff": "http://ns.adobe.com/tiff/1.0/",
        "aux": "http://ns.adobe.com/exif/1.0/aux/",
        "cc": "http://creativecommons.org/ns#",
        "xmpMM": "http://ns.adobe.com/xap/1.0/mm/",
    }.items()
)


def pixels(width: int = 24, height: int = 16) -> Image.Image:
    return Image.radial_gradient("L").resize((width, height)).convert("RGB")


def encode(format_: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    pixels().save(buffer, format_, **options)
    return buffer.getvalue()


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def camera_exif() -> Image.Exif:
    """What a usual camera writes, by Pillow."""
    exif = Image.Exif()
    exif[0x010F], exif[0x0110], exif[0x0112] = "Canon", "Canon EOS 5D", 6
    exif[0x0132] = "2022:01:01 00:00:00"
    inner = exif.get_ifd(0x8769)
    inner[0x9003], inner[0x9011], inner[0x9291] = "2021:05:03 10:11:12", "+02:00", "125"
    inner[0xA434] = "EF50mm f/1.8 STM"
    inner[0x927C] = bytes(500)
    gps = exif.get_ifd(0x8825)
    gps[1], gps[2] = "N", (IFDRational(48), IFDRational(51), IFDRational(2940, 100))
    gps[3], gps[4] = "W", (IFDRational(2), IFDRational(30), IFDRational(0))
    gps[5], gps[6] = b"\x01", IFDRational(125, 10)
    return exif


def text_entry(text: str | bytes) -> Entry:
    raw = (text if isinstance(text, bytes) else text.encode()) + b"\0"
    return ASCII, len(raw), raw


def utf16_entry(text: str) -> Entry:
    raw = (text + "\0").encode("utf-16-le")
    return BYTE, len(raw), raw


def rationals(*pairs: tuple[int, int], order: str = "<", signed: bool = False) -> Entry:
    numbers = [number for pair in pairs for number in pair]
    raw = struct.pack(f"{order}{len(numbers)}{'i' if signed else 'I'}", *numbers)
    return SRATIONAL if signed else RATIONAL, len(pairs), raw


def short(value: int, order: str = "<") -> Entry:
    return SHORT, 1, struct.pack(order + "H", value)


def exif_block(
    main: Mapping[int, Entry] | None = None,
    inner: Mapping[int, Entry] | None = None,
    gps: Mapping[int, Entry] | None = None,
    *,
    order: str = "<",
    big: bool = False,
) -> bytes:
    """EXIF data with exactly these entries, right or wrong; `big` makes it BigTIFF."""
    word = "Q" if big else "I"
    head = {"<": b"II", ">": b"MM"}[order] + struct.pack(order + "H", 43 if big else 42)
    head += struct.pack(order + "HHQ", 8, 0, 16) if big else struct.pack(order + "I", 8)
    directories = {0: dict(main or {})}
    directories |= {key: dict(entries) for key, entries in ((0x8769, inner), (0x8825, gps)) if entries is not None}
    size = {key: _size(entries, big) for key, entries in directories.items()}
    pointers = [key for key in size if key]
    size[0] += len(pointers) * (20 if big else 12)
    at = len(head)
    start = {}
    for key in size:
        start[key] = at
        at += size[key]
    for key in pointers:
        directories[0][key] = (16 if big else LONG, 1, struct.pack(order + word, start[key]))
    return head + b"".join(_directory(directories[key], start[key], order, big) for key in size)


def _size(entries: Mapping[int, Entry], big: bool) -> int:
    step, inline = (20, 8) if big else (12, 4)
    return 2 * inline + step * len(entries) + sum(len(raw) for _, _, raw in entries.values() if len(raw) > inline)


def _directory(entries: Mapping[int, Entry], start: int, order: str, big: bool) -> bytes:
    step, inline, word = (20, 8, "Q") if big else (12, 4, "I")
    table = struct.pack(order + ("Q" if big else "H"), len(entries)).ljust(inline, b"\0")
    if not big:
        table = table[:2]
    beyond = start + 2 * inline + step * len(entries)
    heap = b""
    for tag, (kind, count, raw) in sorted(entries.items()):
        value = raw.ljust(inline, b"\0")
        if len(raw) > inline:
            value = struct.pack(order + word, beyond + len(heap))
            heap += raw
        table += struct.pack(f"{order}HH{word}", tag, kind, count) + value
    return table.ljust(2 * inline + step * len(entries), b"\0") + heap


def jpeg(*, exif: bytes | None = None, xmp: str | bytes | None = None, iptc: bytes | None = None) -> bytes:
    """A JPEG file with these blocks, put in by hand so that nothing is checked."""
    body = encode("JPEG")
    segments = b""
    if exif is not None:
        segments += _segment(0xE1, b"Exif\0\0" + exif)
    if xmp is not None:
        packet = xmp.encode() if isinstance(xmp, str) else xmp
        segments += _segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + packet)
    if iptc is not None:
        segments += _segment(0xED, b"Photoshop 3.0\0" + photoshop(iptc))
    return body[:2] + segments + body[2:]


def _segment(marker: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def photoshop(iptc: bytes, name: bytes = b"") -> bytes:
    """Image resources: one that is skipped, then the IPTC block."""
    label = bytes([len(name)]) + name
    label += b"\0" * (len(label) % 2)
    other = b"8BIM" + struct.pack(">H", 0x0425) + b"\0\0" + struct.pack(">I", 3) + b"abc\0"
    return (
        other
        + b"8BIM"
        + struct.pack(">H", 0x0404)
        + label
        + struct.pack(">I", len(iptc))
        + iptc
        + b"\0" * (len(iptc) % 2)
    )


def datasets(*items: tuple[int, int, bytes]) -> bytes:
    """An IPTC block of (record, dataset, value)."""
    return b"".join(struct.pack(">BBBH", 0x1C, record, number, len(value)) + value for record, number, value in items)


def packet(body: str = "", attributes: str = "") -> str:
    """An XMP packet with one top-level description."""
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
        f'<rdf:RDF {XMP_NAMESPACES}><rdf:Description rdf:about="" {attributes}>{body}</rdf:Description></rdf:RDF>'
        f'</x:xmpmeta>{" " * 100}<?xpacket end="w"?>'
    )


def png_with(chunk: Callable[[], tuple[bytes, bytes]], *, after_pixels: bool) -> bytes:
    """A PNG file with one more chunk, before or after its pixels."""
    data = encode("PNG")
    kind, content = chunk()
    buffer = io.BytesIO()
    PngImagePlugin.putchunk(buffer, kind, content)
    at = data.index(b"IEND") - 4 if after_pixels else data.index(b"IDAT") - 4
    return data[:at] + buffer.getvalue() + data[at:]
