"""No bytes of metadata make the reader raise, or say what can't be."""

from __future__ import annotations

import io
from datetime import datetime
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from corpus.metadata.metadata_samples import camera_exif, datasets, encode, opened, packet, photoshop, pixels
from sightline.corpus.metadata import MetadataFacts, iptc, read_facts, read_sidecar, xmp
from sightline.corpus.metadata.values import MAX_KEYWORDS, MAX_TEXT, last_year

pytestmark = pytest.mark.filterwarnings("ignore")

EXIF = camera_exif().tobytes()
XMP = packet(
    "<dc:title><rdf:Alt><rdf:li xml:lang='x-default'>Title</rdf:li></rdf:Alt></dc:title>"
    "<dc:subject><rdf:Bag><rdf:li>one</rdf:li><rdf:li>two</rdf:li></rdf:Bag></dc:subject>",
    'xmp:Rating="4" exif:GPSLatitude="48,51.5N" exif:GPSLongitude="2,17.6E" xmp:CreateDate="2021-05-03T10:11:12Z"',
).encode()
IPTC = datasets((1, 90, b"\x1b%G"), (2, 5, b"Title"), (2, 25, b"one"), (2, 55, b"20210503"), (2, 60, b"101112+0200"))
TAKEOUT = orjson.dumps(
    {
        "title": "a.jpg",
        "photoTakenTime": {"timestamp": "1620029472"},
        "geoData": {"latitude": 1.5, "longitude": 2.5, "altitude": 3.5},
        "people": [{"name": "Jo"}],
    }
)
FORMATS = {
    "TIFF": encode("TIFF", exif=EXIF),
    "PNG": encode("PNG", exif=EXIF),
    "JPEG": encode("JPEG", exif=EXIF, xmp=XMP),
    "GIF": encode("GIF"),
    "WEBP": encode("WEBP", exif=EXIF, xmp=XMP),
}
FUZZ = settings(max_examples=250, deadline=None)


def mutated(data: bytes) -> st.SearchStrategy[bytes]:
    """The data with some bytes changed, some left out or repeated, and perhaps cut short."""
    byte = st.tuples(st.integers(0, len(data) - 1), st.integers(0, 255))
    cut = st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))

    def change(changes: list[tuple[int, int]], splice: tuple[int, int] | None, end: int) -> bytes:
        out = bytearray(data)
        for at, value in changes:
            out[at] = value
        if splice:
            out = out[: splice[0]] + out[splice[1] :]
        return bytes(out[:end])

    return st.builds(
        change, st.lists(byte, max_size=12), st.none() | cut, st.just(2 * len(data)) | st.integers(0, len(data))
    )


def check(facts: MetadataFacts) -> None:
    assert facts.orientation in range(1, 9)
    assert (facts.lat is None) == (facts.lon is None)
    if facts.lat is not None and facts.lon is not None:
        assert -90 <= facts.lat <= 90 and -180 <= facts.lon <= 180 and (facts.lat, facts.lon) != (0, 0)
    if facts.altitude is not None:
        assert facts.lat is not None and -12_000 <= facts.altitude <= 100_000
    if facts.taken_at is not None:
        assert 1826 <= facts.taken_at.year <= last_year()
        assert datetime.fromisoformat(facts.taken_at.isoformat()) == facts.taken_at
    assert facts.rating is None or -1 <= facts.rating <= 5
    assert len(facts.keywords) <= MAX_KEYWORDS
    words = (facts.title, facts.description, facts.device, facts.lens, facts.creator, facts.copyright, *facts.keywords)
    assert all(word is None or (word.strip() == word != "" and "\0" not in word) for word in words)
    assert all(len(word) <= 2 * MAX_TEXT + 1 for word in words if word)
    orjson.dumps(facts, default=dict)  # Broken Unicode would be refused.


@given(mutated(EXIF) | st.binary(max_size=200).map(lambda tail: b"Exif\0\0II*\0\x08\0\0\0" + tail))
@FUZZ
def test_exif(block: bytes) -> None:
    image = pixels()
    image.info["exif"] = block
    check(read_facts(image))


@given(mutated(XMP) | st.binary(max_size=200))
@FUZZ
def test_xmp(block: bytes) -> None:
    check(xmp.facts(xmp.parse(block)))


@given(mutated(IPTC) | st.binary(max_size=200))
@FUZZ
def test_iptc(block: bytes) -> None:
    check(iptc.facts(iptc.parse(block)))


@given(mutated(photoshop(IPTC, b"name")))
@FUZZ
def test_photoshop(block: bytes) -> None:
    found = iptc.find_in_photoshop(block)
    assert found is None or found in block


@given(mutated(TAKEOUT) | mutated(XMP) | st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_sidecars(tmp_path_factory: pytest.TempPathFactory, block: bytes) -> None:
    path = Path(tmp_path_factory.getbasetemp(), "fuzzed.json")
    path.write_bytes(block)
    check(read_sidecar(path))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=3))
@FUZZ
def test_takeout_with_any_values(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    path = Path(tmp_path_factory.getbasetemp(), "values.json")
    names = ("title", "description", "people", "url", "favorited", "geoData", "photoTakenTime")
    record = dict.fromkeys(names, value) | {
        "photoTakenTime": {"timestamp": value},
        "geoDataExif": {"latitude": value, "longitude": value, "altitude": value},
    }
    try:
        path.write_bytes(orjson.dumps(record))
    except orjson.JSONEncodeError:  # An integer of more than 64 bits.
        return
    check(read_sidecar(path))


@pytest.mark.parametrize("format_", FORMATS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_whole_files(format_: str, data: st.DataObject) -> None:
    """What Pillow opens at all, before and after it is decoded."""
    content = data.draw(mutated(FORMATS[format_]))
    try:
        image = Image.open(io.BytesIO(content), formats=[format_])
    except Exception:  # Whatever Pillow makes of it is not under test.
        return
    check(read_facts(image))
    try:
        image.load()
    except Exception:
        return
    check(read_facts(image))


def test_the_samples_are_whole() -> None:
    assert opened(FORMATS["TIFF"]).getexif()[0x010F] == "Canon"
    assert read_facts(opened(FORMATS["JPEG"])).title == xmp.facts(xmp.parse(XMP)).title == "Title"
    assert iptc.facts(iptc.parse(IPTC)).taken_at is not None
