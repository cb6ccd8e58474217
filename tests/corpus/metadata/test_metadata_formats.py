"""The same facts out of every file format, before and after decoding, without decoding."""

from __future__ import annotations

import importlib.util
import io
import struct
import zlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageFile, IptcImagePlugin, TiffImagePlugin, features

from corpus.metadata.metadata_samples import (
    camera_exif,
    datasets,
    encode,
    exif_block,
    jpeg,
    opened,
    packet,
    photoshop,
    pixels,
    png_with,
    short,
    text_entry,
)
from sightline.corpus.metadata import MetadataFacts, read_facts

XMP = packet('<dc:title><rdf:Alt><rdf:li xml:lang="x-default">Brücke</rdf:li></rdf:Alt></dc:title>', 'xmp:Rating="3"')


def raw_profile(kind: str, data: bytes) -> tuple[bytes, bytes]:
    digits = data.hex()
    lines = "\n".join(digits[at : at + 72] for at in range(0, len(digits), 72))
    text = f"\n{kind}\n{len(data):8}\n{lines}\n".encode()
    return b"zTXt", f"Raw profile type {kind}".encode() + b"\0\0" + zlib.compress(text)


def gif_with_xmp() -> bytes:
    data = encode("GIF")
    trailer = b"\x01" + bytes(range(255, -1, -1)) + b"\0"
    extension = b"!\xff\x0bXMP DataXMP" + XMP.encode() + trailer
    at = 13 + 3 * 2 ** ((data[10] & 7) + 1)
    return data[:at] + extension + data[at:]


def heif(**options: Any) -> bytes:
    pillow_heif = pytest.importorskip("pillow_heif")
    pillow_heif.register_heif_opener()
    return encode("HEIF", **options)


def avif(**options: Any) -> bytes:
    if not features.check("avif"):
        pytest.skip("this Pillow can't write AVIF")
    return encode("AVIF", **options)


CAMERA: dict[str, Callable[[], bytes]] = {
    "jpeg": lambda: encode("JPEG", exif=camera_exif()),
    "png": lambda: encode("PNG", exif=camera_exif()),
    "png, at its end": lambda: png_with(lambda: (b"eXIf", camera_exif().tobytes()[6:]), after_pixels=True),
    "png, ImageMagick": lambda: png_with(lambda: raw_profile("exif", camera_exif().tobytes()), after_pixels=False),
    "webp": lambda: encode("WEBP", exif=camera_exif()),
    "tiff": lambda: encode("TIFF", exif=camera_exif().tobytes()),
    "big tiff": lambda: encode("TIFF", exif=camera_exif().tobytes(), big_tiff=True),
    "heic": lambda: heif(exif=camera_exif().tobytes()),
    "avif": lambda: avif(exif=camera_exif()),
}
WORDS: dict[str, Callable[[], bytes]] = {
    "jpeg": lambda: jpeg(xmp=XMP),
    "png": lambda: png_with(lambda: (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP.encode()), after_pixels=False),
    "png, at its end": lambda: png_with(
        lambda: (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP.encode()), after_pixels=True
    ),
    "png, compressed, at its end": lambda: png_with(
        lambda: (b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(XMP.encode())), after_pixels=True
    ),
    "png, ImageMagick": lambda: png_with(lambda: raw_profile("xmp", XMP.encode()), after_pixels=False),
    "webp": lambda: encode("WEBP", xmp=XMP.encode()),
    "tiff": lambda: encode("TIFF", tiffinfo={700: XMP.encode()}),
    "gif": gif_with_xmp,
    "heic": lambda: heif(xmp=XMP.encode()),
    "avif": lambda: avif(xmp=XMP.encode()),
}


@pytest.fixture
def no_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Image.Image) -> None:
        raise AssertionError("a pixel was decoded")

    for kind in (Image.Image, ImageFile.ImageFile, TiffImagePlugin.TiffImageFile):
        monkeypatch.setattr(kind, "load", refuse)


@pytest.mark.parametrize("name", CAMERA)
@pytest.mark.parametrize("decoded", [False, True])
def test_exif_of_each_format(name: str, decoded: bool) -> None:
    image = opened(CAMERA[name]())
    if decoded:
        image.load()
    facts = read_facts(image)
    assert facts.device == "Canon EOS 5D"
    assert facts.taken_at is not None and facts.taken_at.isoformat() == "2021-05-03T10:11:12.125000+02:00"
    assert (facts.lon, facts.altitude) == pytest.approx((-2.5, -12.5))
    assert facts.warnings == ()


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("decoded", [False, True])
def test_xmp_of_each_format(name: str, decoded: bool) -> None:
    if decoded and name == "gif":
        pytest.skip("Pillow lets go of a GIF's extensions when it decodes it")
    image = opened(WORDS[name]())
    if decoded:
        image.load()
    facts = read_facts(image)
    assert (facts.title, facts.rating, facts.warnings) == ("Brücke", 3, ())


@pytest.mark.parametrize("make", [*CAMERA.values(), *WORDS.values()])
def test_nothing_is_decoded(make: Callable[[], bytes], request: pytest.FixtureRequest) -> None:
    data = make()
    request.getfixturevalue("no_decoding")
    read_facts(opened(data))


@pytest.mark.parametrize("make", [*CAMERA.values(), *WORDS.values()])
def test_the_picture_can_still_be_decoded(make: Callable[[], bytes], tmp_path: Path) -> None:
    path = tmp_path / "picture"
    path.write_bytes(make())
    with Image.open(path) as image, Image.open(path) as untouched:
        read_facts(image)
        assert image.tobytes() == untouched.tobytes()


@pytest.mark.parametrize("name", ["jpeg", "png", "webp", "avif"])
def test_orientation_that_is_left_to_the_caller(name: str) -> None:
    image = opened(CAMERA[name]())
    assert read_facts(image).orientation == 6
    assert image.size == (24, 16)


@pytest.mark.parametrize("name", ["tiff", "big tiff", "heic"])
def test_orientation_that_pillow_sees_to(name: str) -> None:
    image = opened(CAMERA[name]())
    assert read_facts(image).orientation == 1
    assert image.size == (16, 24)
    image.load()
    assert image.size == (16, 24)
    assert read_facts(image).orientation == 1


@pytest.mark.parametrize("decoded", [False, True])
def test_compressed_tiff(decoded: bool) -> None:
    image = opened(encode("TIFF", tiffinfo={271: "Canon", 306: "2021:05:03 10:11:12"}, compression="tiff_lzw"))
    if decoded:
        image.load()
    facts = read_facts(image)
    assert (facts.device, facts.taken_at, facts.warnings) == ("Canon", datetime(2021, 5, 3, 10, 11, 12), ())


def test_iptc_of_tiff() -> None:
    block = datasets((2, 5, b"Title"), (2, 25, b"one"))
    direct = opened(encode("TIFF", tiffinfo={33723: block}))
    inside = opened(encode("TIFF", tiffinfo={34377: photoshop(block)}))
    assert read_facts(direct).title == read_facts(inside).title == "Title"


def test_iptc_of_png() -> None:
    data = png_with(lambda: raw_profile("iptc", photoshop(datasets((2, 5, b"Title")))), after_pixels=False)
    assert read_facts(opened(data)).title == "Title"


def test_big_endian_tiff_in_big_form() -> None:
    block = exif_block(
        {0x010F: text_entry("Maker of note")}, {0x9003: text_entry("2021:05:03 10:11:12")}, order=">", big=True
    )
    image = opened(encode("TIFF"))
    assert isinstance(image, ImageFile.ImageFile)
    image.fp = io.BytesIO(block)
    facts = read_facts(image)
    assert (facts.device, facts.taken_at) == ("Maker of note", datetime(2021, 5, 3, 10, 11, 12))


@pytest.mark.parametrize("format_", ["BMP", "GIF", "PNG", "WEBP", "TIFF"])
def test_no_metadata(format_: str) -> None:
    assert read_facts(opened(encode(format_))) == MetadataFacts()


def test_an_image_made_in_memory() -> None:
    assert read_facts(pixels()) == MetadataFacts()
    copy = opened(jpeg(exif=exif_block({0x0112: short(3)}))).convert("L")
    assert read_facts(copy).orientation == 3


@pytest.mark.parametrize(
    "key", [b"exif", b"xmp", b"photoshop", b"extension", b"Raw profile type exif", b"Raw profile type iptc"]
)
def test_a_png_may_call_its_text_anything(key: bytes) -> None:
    facts = read_facts(opened(png_with(lambda: (b"tEXt", key + b"\0some text"), after_pixels=False)))
    assert facts.title is None


def test_png_chunks_that_lie_about_their_size() -> None:
    data = encode("PNG")
    lie = struct.pack(">I4s", 0xFFFFFFF0, b"iTXt") + b"XML:com.adobe.xmp\0"
    at = data.index(b"IEND") - 4
    for broken in (data[:at] + lie, data[:at] + lie + data[at:], data[:at]):
        assert read_facts(opened(broken)) == MetadataFacts()


@pytest.mark.parametrize(
    "tail", [b"XML:com.adobe.xmp\0", b"XML:com.adobe.xmp\0\0\0", b"XML:com.adobe.xmp\0\1\0\0\0not zlib"]
)
def test_broken_text_chunks(tail: bytes) -> None:
    assert read_facts(opened(png_with(lambda: (b"iTXt", tail), after_pixels=True))) == MetadataFacts()


def test_a_real_photograph() -> None:
    package = importlib.util.find_spec("sklearn")
    if package is None or package.origin is None:
        pytest.skip("scikit-learn, which brings a photograph, is not installed")
    with Image.open(Path(package.origin).parent / "datasets" / "images" / "flower.jpg") as image:
        facts = read_facts(image)
        theirs = IptcImagePlugin.getiptcinfo(image)
    assert theirs is not None and theirs[2, 116] == b"http://www.vultilion.de"
    assert facts.copyright == "http://www.vultilion.de"
    assert facts.taken_at == datetime(2011, 8, 15, 18, 24, 59)
    assert facts.warnings == ()
