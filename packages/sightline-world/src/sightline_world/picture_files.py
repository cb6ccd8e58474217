"""Picture files: pixels encoded in a format, turned as the camera was held, with what is known of them inside.

Metadata is written as cameras, photo programs and Google Takeout write it.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from xml.sax.saxutils import escape

import orjson
from PIL import Image, PngImagePlugin
from PIL.TiffImagePlugin import IFDRational

from sightline.class_names import known_as
from sightline_world.truth import Device

_EXIF_IFD, _GPS_IFD = 0x8769, 0x8825
TURNS: Mapping[int, Image.Transpose] = MappingProxyType(
    {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
)
"""What turns an upright picture into the one that is stored under that EXIF orientation."""


@known_as("Metadata")
@dataclass(frozen=True, slots=True)
class Metadata:
    """What a file can say about the picture in it."""

    taken_at: datetime | None = None
    lat: float | None = None
    lon: float | None = None
    altitude: float | None = None
    device: Device | None = None
    title: str | None = None
    keywords: tuple[str, ...] = ()
    rating: int | None = None


def exif_of(metadata: Metadata, orientation: int) -> Image.Exif:
    """Device, time (with its offset where the camera knows it), position and orientation."""
    tags = Image.Exif()
    tags[0x0112] = orientation
    inner = tags.get_ifd(_EXIF_IFD)
    if metadata.device is not None:
        device = metadata.device
        tags[0x010F], tags[0x0110] = device.make, device.model
        inner[0xA434] = device.lens
        inner[0x829D] = IFDRational(round(device.f_number * 10), 10)
        inner[0x920A] = IFDRational(round(device.focal_mm * 10), 10)
    if metadata.taken_at is not None:
        stamp = metadata.taken_at.strftime("%Y:%m:%d %H:%M:%S")
        tags[0x0132] = inner[0x9003] = inner[0x9004] = stamp
        if metadata.taken_at.tzinfo is not None:
            inner[0x9010] = inner[0x9011] = inner[0x9012] = _offset(metadata.taken_at)
    if metadata.lat is not None and metadata.lon is not None:
        _add_position(tags.get_ifd(_GPS_IFD), metadata.lat, metadata.lon, metadata.altitude)
    return tags


def _offset(when: datetime) -> str:
    """`+02:00`."""
    compact = when.strftime("%z")
    return f"{compact[:3]}:{compact[3:5]}"


def _add_position(gps: dict[int, object], lat: float, lon: float, altitude: float | None) -> None:
    gps[0] = b"\x02\x03\x00\x00"
    gps[1], gps[2] = "N" if lat >= 0 else "S", _degrees(abs(lat))
    gps[3], gps[4] = "E" if lon >= 0 else "W", _degrees(abs(lon))
    if altitude is not None:
        gps[5], gps[6] = b"\x01" if altitude < 0 else b"\x00", IFDRational(round(abs(altitude) * 100), 100)


def _degrees(value: float) -> tuple[IFDRational, IFDRational, IFDRational]:
    """Degrees, minutes and seconds to a ten-thousandth."""
    whole, rest = divmod(round(value * 3600 * 10000), 3600 * 10000)
    minutes, seconds = divmod(rest, 60 * 10000)
    return IFDRational(whole, 1), IFDRational(minutes, 1), IFDRational(seconds, 10000)


def xmp_of(metadata: Metadata, *, facts: bool) -> bytes:
    """Title, keywords and rating; with `facts` also time, position and device, as in a sidecar that stands alone."""
    about = [f' xmp:Rating="{metadata.rating}"'] if metadata.rating is not None else []
    if facts:
        about += _fact_attributes(metadata)
    title = (
        f'<dc:title><rdf:Alt><rdf:li xml:lang="x-default">{escape(metadata.title or "")}</rdf:li></rdf:Alt></dc:title>'
    )
    keywords = "".join(f"<rdf:li>{escape(word)}</rdf:li>" for word in metadata.keywords)
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"'
        ' xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:exif="http://ns.adobe.com/exif/1.0/"'
        ' xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:aux="http://ns.adobe.com/exif/1.0/aux/"'
        f"{''.join(about)}>{title}<dc:subject><rdf:Bag>{keywords}</rdf:Bag></dc:subject>"
        '</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>'
    ).encode()


def _fact_attributes(metadata: Metadata) -> list[str]:
    facts: dict[str, str] = {}
    if metadata.taken_at is not None:
        facts["exif:DateTimeOriginal"] = metadata.taken_at.isoformat()
    if metadata.lat is not None and metadata.lon is not None:
        facts["exif:GPSLatitude"] = _minutes(metadata.lat, "N", "S")
        facts["exif:GPSLongitude"] = _minutes(metadata.lon, "E", "W")
    if metadata.altitude is not None:
        facts["exif:GPSAltitude"] = f"{round(abs(metadata.altitude) * 100)}/100"
        facts["exif:GPSAltitudeRef"] = "1" if metadata.altitude < 0 else "0"
    if metadata.device is not None:
        facts["tiff:Make"], facts["tiff:Model"] = metadata.device.make, metadata.device.model
        facts["aux:Lens"] = metadata.device.lens
    return [f' {name}="{escape(value)}"' for name, value in facts.items()]


def _minutes(value: float, positive: str, negative: str) -> str:
    """XMP's form of a coordinate: `46,21.816000N`."""
    fraction, whole = math.modf(abs(value))
    return f"{int(whole)},{fraction * 60:.6f}{positive if value >= 0 else negative}"


def takeout(name: str, metadata: Metadata) -> bytes:
    """The JSON file that Google Takeout puts beside a picture; its time is always UTC."""
    lat, lon, altitude = (value or 0.0 for value in (metadata.lat, metadata.lon, metadata.altitude))
    place = {"latitude": lat, "longitude": lon, "altitude": altitude, "latitudeSpan": 0.0, "longitudeSpan": 0.0}
    record: dict[str, object] = {"title": name, "description": metadata.title or "", "geoData": place}
    if metadata.taken_at is not None:
        seconds = int(metadata.taken_at.timestamp())
        formatted = datetime.fromtimestamp(seconds, UTC).strftime("%d %b %Y, %H:%M:%S UTC")
        record["photoTakenTime"] = {"timestamp": str(seconds), "formatted": formatted}
    return orjson.dumps(record, option=orjson.OPT_INDENT_2)


def encode(
    upright: Image.Image,
    metadata: Metadata,
    *,
    file_format: str = "JPEG",
    orientation: int = 1,
    exif: bool = True,
    xmp: bool = False,
    quality: int = 86,
) -> bytes:
    """The bytes of a file with the metadata that belongs inside it; GIF and BMP have no room for any."""
    turn = TURNS.get(orientation)
    stored = upright if turn is None else upright.transpose(turn)
    options: dict[str, Any] = {"exif": exif_of(metadata, orientation)} if exif else {}
    packet = xmp_of(metadata, facts=False) if xmp else None
    buffer = io.BytesIO()
    match file_format:
        case "PNG":
            text = PngImagePlugin.PngInfo()
            if packet is not None:
                text.add_itxt("XML:com.adobe.xmp", packet.decode())
            stored.save(buffer, "PNG", pnginfo=text, compress_level=4, **options)
        case "GIF":
            stored.quantize(128, method=Image.Quantize.FASTOCTREE).save(buffer, "GIF")
        case "TIFF":
            tags = exif_of(metadata, orientation)
            if packet is not None:
                tags[0x02BC] = packet
            # As bytes: from an Exif object Pillow takes over only the outer directory.
            stored.save(buffer, "TIFF", exif=tags.tobytes())
        case "BMP":
            stored.save(buffer, "BMP")
        case _:
            if packet is not None:
                options["xmp"] = packet
            stored.save(buffer, file_format, quality=quality, **options)
    return buffer.getvalue()
