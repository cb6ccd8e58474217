"""XMP, embedded or in a sidecar: our own small reader, because XML from strangers is dangerous.

A document type is refused outright, so no entity is ever declared, expanded or fetched; size and depth are limited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, NoReturn
from xml.parsers import expat

from sightline.corpus.metadata.exif import device_name
from sightline.corpus.metadata.facts import (
    BROKEN_XMP,
    IMPLAUSIBLE_ALTITUDE,
    IMPLAUSIBLE_POSITION,
    IMPLAUSIBLE_TIME,
    MetadataFacts,
    believe,
)
from sightline.corpus.metadata.values import (
    Position,
    altitude,
    keyword_tuple,
    parse_time,
    position,
    read_decimal,
    read_number,
    read_rating,
    split_keywords,
    tidy,
)

MAX_BYTES = 8 << 20
_MAX_DEPTH = 64

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns# "
_DC = "http://purl.org/dc/elements/1.1/ "
_XAP = "http://ns.adobe.com/xap/1.0/ "
_XAP_RIGHTS = "http://ns.adobe.com/xap/1.0/rights/ "
_PHOTOSHOP = "http://ns.adobe.com/photoshop/1.0/ "
_EXIF = "http://ns.adobe.com/exif/1.0/ "
_EXIF_EX = "http://cipa.jp/exif/1.0/ "
_TIFF = "http://ns.adobe.com/tiff/1.0/ "
_AUX = "http://ns.adobe.com/exif/1.0/aux/ "
_CC = "http://creativecommons.org/ns# "
_LANG = "http://www.w3.org/XML/1998/namespace lang"

_WANTED = {
    _DC + "title": "title",
    _PHOTOSHOP + "Headline": "headline",
    _DC + "description": "description",
    _DC + "subject": "subject",
    _DC + "creator": "creator",
    _DC + "rights": "rights",
    _XAP + "Rating": "rating",
    _XAP_RIGHTS + "WebStatement": "web_statement",
    _XAP_RIGHTS + "UsageTerms": "usage_terms",
    _CC + "license": "license",
    _EXIF + "DateTimeOriginal": "taken",
    _PHOTOSHOP + "DateCreated": "created",
    _XAP + "CreateDate": "digitised",
    _EXIF + "GPSLatitude": "lat",
    _EXIF + "GPSLongitude": "lon",
    _EXIF + "GPSAltitude": "altitude",
    _EXIF + "GPSAltitudeRef": "altitude_ref",
    _TIFF + "Make": "make",
    _TIFF + "Model": "model",
    _TIFF + "Orientation": "orientation",
    _EXIF_EX + "LensModel": "lens",
    _AUX + "Lens": "lens",
}


class XmpItem(NamedTuple):
    """One value of a property; `lang` only in a choice of languages, `listed` when it stood in a list."""

    text: str
    lang: str | None = None
    listed: bool = False


class XmpProperties(NamedTuple):
    """The properties that are wanted; `broken` when the document could not be read to its end."""

    values: Mapping[str, list[XmpItem]] = {}
    broken: bool = False

    def text(self, name: str) -> str | None:
        """The value; of a choice of languages the default one, otherwise the first."""
        items = sorted(self.values.get(name, []), key=lambda item: item.lang != "x-default")
        return next((text for item in items if (text := tidy(item.text))), None)

    def texts(self, name: str) -> tuple[str, ...]:
        """Every value; one that did not stand in a list is taken apart at its commas."""
        items = self.values.get(name, [])
        if len(items) == 1 and not items[0].listed:
            return split_keywords(items[0].text, ",")
        return keyword_tuple(item.text for item in items)


class _RefusedError(Exception):
    """The document has what no XMP has."""


@dataclass(slots=True)
class _Collector:
    """What the parser calls; keeps the wanted properties of the top-level descriptions."""

    values: dict[str, list[XmpItem]] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    wanted: str | None = None
    wanted_depth: int = 0
    lang: str | None = None
    pieces: list[str] = field(default_factory=list)
    listed: bool = False
    closed: bool = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        path = self.path
        path.append(name)
        if len(path) > _MAX_DEPTH:
            raise _RefusedError("too deep")
        if self.wanted is not None:
            if name == _RDF + "li":
                self.lang = attributes.get(_LANG)
                self.pieces.clear()
        elif name == _RDF + "Description" and path[-2:-1] == [_RDF + "RDF"]:
            for key, text in attributes.items():
                if key in _WANTED:
                    self._keep(_WANTED[key], XmpItem(text))
        elif name in _WANTED and path[-3:-1] == [_RDF + "RDF", _RDF + "Description"]:
            self.wanted, self.wanted_depth, self.listed = _WANTED[name], len(path), False
            self.pieces.clear()
            if resource := attributes.get(_RDF + "resource"):
                self._keep(self.wanted, XmpItem(resource))

    def end(self, name: str) -> None:
        if self.wanted is not None:
            if name == _RDF + "li":
                self.listed = True
                self._keep(self.wanted, XmpItem("".join(self.pieces), self.lang, listed=True))
            elif len(self.path) == self.wanted_depth:
                if not self.listed and (text := "".join(self.pieces)).strip():
                    self._keep(self.wanted, XmpItem(text))
                self.wanted = None
        self.path.pop()
        self.closed = not self.path

    def text(self, piece: str) -> None:
        if self.wanted is not None:
            self.pieces.append(piece)

    def _keep(self, name: str, item: XmpItem) -> None:
        self.values.setdefault(name, []).append(item)


def parse(data: bytes) -> XmpProperties:
    """The wanted properties of an XMP packet; as many as could be read where it is broken."""
    if b"\0" not in data[:4]:  # In UTF-16 a NUL is half of a character.
        data = data.strip(b"\0 \t\r\n")
    if len(data) > MAX_BYTES:
        return XmpProperties(broken=True)
    collector = _Collector()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = collector.start
    parser.EndElementHandler = collector.end
    parser.CharacterDataHandler = collector.text
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, _RefusedError):
        # Padding and junk after the closing tag do no harm.
        return XmpProperties(collector.values, broken=not collector.closed)
    except (ValueError, LookupError):  # An encoding that does not exist.
        return XmpProperties(broken=True)
    return XmpProperties(collector.values)


def _refuse(*_: object) -> NoReturn:
    raise _RefusedError("document type")


def orientation(properties: XmpProperties) -> int | None:
    """1 to 8, or None."""
    text = properties.text("orientation")
    return int(text) if text is not None and text in tuple("12345678") else None


def facts(properties: XmpProperties) -> MetadataFacts:
    """What XMP says, without the orientation."""
    warnings = [BROKEN_XMP] if properties.broken else []
    text = properties.text
    lat, lon = believe(IMPLAUSIBLE_POSITION, warnings, _place, properties) or (None, None)
    height = None if lat is None else believe(IMPLAUSIBLE_ALTITUDE, warnings, _altitude, properties)
    return MetadataFacts(
        taken_at=_time(properties, warnings),
        lat=lat,
        lon=lon,
        altitude=height,
        device=device_name(text("make"), text("model")),
        lens=text("lens"),
        title=text("title") or text("headline"),
        description=text("description"),
        keywords=properties.texts("subject"),
        rating=read_rating(text("rating") or ""),
        creator="; ".join(keyword_tuple(item.text for item in properties.values.get("creator", []))) or None,
        copyright=text("rights"),
        license=text("license") or text("web_statement") or text("usage_terms"),
        warnings=tuple(warnings),
        source="xmp",
    )


def _time(properties: XmpProperties, warnings: list[str]) -> datetime | None:
    for name in ("taken", "created", "digitised"):
        if text := properties.text(name):
            time = believe(IMPLAUSIBLE_TIME, warnings, parse_time, text)
            if time is not None:
                return time
    return None


def _place(properties: XmpProperties) -> Position | None:
    lat, lon = properties.text("lat"), properties.text("lon")
    if lat is None and lon is None:
        return None
    return position(read_decimal(lat or "", "NS"), read_decimal(lon or "", "EW"))


def _altitude(properties: XmpProperties) -> float | None:
    text = properties.text("altitude")
    if text is None:
        return None
    return altitude(read_number(text), below_sea=read_number(properties.text("altitude_ref") or "0") in (1, 3))
