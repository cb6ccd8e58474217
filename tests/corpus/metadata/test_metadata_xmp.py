"""XMP: what is read from it, and what is refused."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from corpus.metadata.metadata_samples import RDF, packet
from sightline.corpus.metadata import xmp
from sightline.corpus.metadata.facts import MetadataFacts


def read(body: str = "", attributes: str = "") -> MetadataFacts:
    return xmp.facts(xmp.parse(packet(body, attributes).encode()))


def alternatives(name: str, **texts: str) -> str:
    items = "".join(f'<rdf:li xml:lang="{lang.replace("_", "-")}">{text}</rdf:li>' for lang, text in texts.items())
    return f"<{name}><rdf:Alt>{items}</rdf:Alt></{name}>"


def listed(name: str, kind: str, *texts: str) -> str:
    items = "".join(f"<rdf:li>{text}</rdf:li>" for text in texts)
    return f"<{name}><rdf:{kind}>{items}</rdf:{kind}></{name}>"


def test_everything_at_once() -> None:
    facts = read(
        alternatives("dc:title", de="Brücke", x_default="Bridge")
        + alternatives("dc:description", x_default="A &lt;bridge&gt; &#x6C34;")
        + listed("dc:subject", "Bag", "bridge", " river ", "bridge", "")
        + listed("dc:creator", "Seq", "Jo", "Mo")
        + alternatives("dc:rights", x_default="© Jo")
        + "<xmp:Rating>5</xmp:Rating>"
        + "<xmpRights:WebStatement>https://example.org/licence</xmpRights:WebStatement>",
        'exif:DateTimeOriginal="2021-05-03T10:11:12.25+02:00" exif:GPSLatitude="48,51.5N" exif:GPSLongitude="2,30,0W" '
        'exif:GPSAltitude="125/10" exif:GPSAltitudeRef="1" tiff:Make="NIKON CORPORATION" tiff:Model="NIKON D90" '
        'aux:Lens="35mm f/1.8"',
    )
    near: Any = pytest.approx
    assert facts == MetadataFacts(
        taken_at=datetime(2021, 5, 3, 10, 11, 12, 250_000, timezone(timedelta(hours=2))),
        lat=near(48 + 51.5 / 60),
        lon=-2.5,
        altitude=-12.5,
        device="NIKON D90",
        lens="35mm f/1.8",
        title="Bridge",
        description="A <bridge> 水",
        keywords=("bridge", "river"),
        rating=5,
        creator="Jo; Mo",
        copyright="© Jo",
        license="https://example.org/licence",
        source="xmp",
    )


@pytest.mark.parametrize("form", ["attribute", "element"])
@pytest.mark.parametrize(
    ("text", "rating"),
    [("4", 4), ("4.0", 4), ("-1", -1), ("0", 0), ("6", None), ("3.5", None), ("x", None), ("", None)],
)
def test_rating(form: str, text: str, rating: int | None) -> None:
    facts = read(attributes=f'xmp:Rating="{text}"') if form == "attribute" else read(f"<xmp:Rating>{text}</xmp:Rating>")
    assert facts.rating == rating


def test_without_a_default_language_the_first_is_taken() -> None:
    assert read(alternatives("dc:title", de="Brücke", en="Bridge")).title == "Brücke"
    assert read(alternatives("dc:title", x_default=" ", en="Bridge")).title == "Bridge"


def test_simple_forms_that_some_writers_use() -> None:
    facts = read("<dc:title>Bridge</dc:title><dc:subject>bridge, river</dc:subject><dc:creator>Jo, of Mo</dc:creator>")
    assert (facts.title, facts.keywords, facts.creator) == ("Bridge", ("bridge", "river"), "Jo, of Mo")
    assert read(attributes='dc:description="short"').description == "short"


def test_a_licence_may_be_a_reference() -> None:
    facts = read(
        '<cc:license rdf:resource="https://example.org/by"/>', 'xmpRights:WebStatement="https://example.org/x"'
    )
    assert facts.license == "https://example.org/by"


def test_what_belongs_to_another_picture_is_left_alone() -> None:
    nested = (
        "<xmpMM:Ingredients><rdf:Bag><rdf:li><rdf:Description><dc:title>other</dc:title></rdf:Description></rdf:li>"
        '</rdf:Bag></xmpMM:Ingredients><xmpMM:DerivedFrom><rdf:Description dc:title="other"/></xmpMM:DerivedFrom>'
    )
    assert read(nested).title is None
    assert read(nested + "<dc:title>mine</dc:title>").title == "mine"


def test_several_descriptions_and_any_prefix() -> None:
    text = (
        f'<r:RDF xmlns:r="{RDF}" xmlns:core="http://purl.org/dc/elements/1.1/">'
        '<r:Description core:title="one"/>'
        "<r:Description><core:description>two</core:description></r:Description></r:RDF>"
    )
    facts = xmp.facts(xmp.parse(text.encode()))
    assert (facts.title, facts.description) == ("one", "two")
    other = text.replace("http://purl.org/dc/elements/1.1/", "http://example.org/")
    assert xmp.facts(xmp.parse(other.encode())) == MetadataFacts(source="xmp")


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('exif:DateTimeOriginal="2021-05-03T10:11:12"', datetime(2021, 5, 3, 10, 11, 12)),
        ('photoshop:DateCreated="2021-05-03T10:11Z"', datetime(2021, 5, 3, 10, 11, tzinfo=UTC)),
        ('xmp:CreateDate="2021-05-03"', datetime(2021, 5, 3)),
        ('xmp:CreateDate="2020-01-01" photoshop:DateCreated="2021-05-03"', datetime(2021, 5, 3)),
        ('photoshop:DateCreated="2020-01-01" exif:DateTimeOriginal="2021-05-03"', datetime(2021, 5, 3)),
        ('xmp:CreateDate="2021-05"', None),
        ('xmp:CreateDate="0000-00-00T00:00:00"', None),
    ],
)
def test_times(attributes: str, expected: datetime | None) -> None:
    facts = read(attributes=attributes)
    assert facts.taken_at == expected
    assert facts.warnings == (() if expected else ("implausible time",))


@pytest.mark.parametrize(
    ("lat", "lon", "expected"),
    [
        ("48,51.5N", "2,30E", (48.858333, 2.5)),
        ("33,52,10S", "151,12,30E", (-33.869444, 151.208333)),
        ("-33.8694", "151.2083", (-33.8694, 151.2083)),
        ("33.8694 s", "151.2083e", (-33.8694, 151.2083)),
        ("N48.5", "W 2.5", (48.5, -2.5)),
        ("48° 30' 0\" N", "2° 30' W", (48.5, -2.5)),
        ("1e1", "5e-1", (10.0, 0.5)),
    ],
)
def test_positions(lat: str, lon: str, expected: tuple[float, float]) -> None:
    facts = read(f"<exif:GPSLatitude>{lat}</exif:GPSLatitude><exif:GPSLongitude>{lon}</exif:GPSLongitude>")
    assert (facts.lat, facts.lon) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("lat", "lon"),
    [
        ("48,51.5", "2,30"),
        ("0", "0"),
        ("91N", "2E"),
        ("48N", "2N"),
        ("48N", ""),
        ("nan", "nan"),
        ("48;x", "2"),
        ("1/0", "2"),
    ],
)
def test_positions_that_are_none(lat: str, lon: str) -> None:
    facts = read(attributes=f'exif:GPSLatitude="{lat}" exif:GPSLongitude="{lon}"')
    assert (facts.lat, facts.lon, facts.warnings) == (None, None, ("implausible position",))


def test_orientation() -> None:
    def orientation(attributes: str) -> int | None:
        return xmp.orientation(xmp.parse(packet(attributes=attributes).encode()))

    assert orientation('tiff:Orientation="6"') == 6
    assert orientation('tiff:Orientation="9"') is None
    assert orientation("") is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_encodings(encoding: str) -> None:
    text = packet("<dc:title>Brücke</dc:title>").replace("\ufeff", "")
    facts = xmp.facts(xmp.parse(text.encode(encoding)))
    assert (facts.title, facts.warnings) == ("Brücke", ())


def test_padding_and_junk_after_the_end_do_no_harm() -> None:
    for tail in (b"\0" * 10, b" \n\t", b"\0junk", b"<more/>"):
        properties = xmp.parse(packet("<dc:title>t</dc:title>").encode() + tail)
        assert (properties.text("title"), properties.broken) == ("t", False)


def test_what_comes_before_a_break_is_kept() -> None:
    whole = packet("<dc:title>t</dc:title><dc:description>d</dc:description>").encode()
    facts = xmp.facts(xmp.parse(whole[: whole.index(b"</dc:description>")]))
    assert (facts.title, facts.description, facts.warnings) == ("t", None, ("broken xmp",))


# --- hostile XML


BOMB = "<!DOCTYPE b [" + '<!ENTITY a0 "ha">' + "".join(
    f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)
) + "]>"  # fmt: skip


def test_entities_are_not_expanded() -> None:
    properties = xmp.parse((BOMB + packet("<dc:title>&a11;</dc:title>")).encode())
    assert properties == xmp.XmpProperties({}, broken=True)
    small = '<!DOCTYPE b [<!ENTITY a "expanded">]>' + packet("<dc:title>&a;</dc:title>")
    assert xmp.facts(xmp.parse(small.encode())).title is None


def test_no_file_is_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    text = f'<!DOCTYPE b [<!ENTITY a SYSTEM "{secret.as_uri()}">]>' + packet("<dc:title>&a;</dc:title>")
    facts = xmp.facts(xmp.parse(text.encode()))
    assert (facts.title, facts.warnings) == (None, ("broken xmp",))


def test_nothing_is_asked_over_the_network() -> None:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        for declaration in (
            f'<!DOCTYPE b SYSTEM "{address}/dtd">',
            f'<!DOCTYPE b [<!ENTITY % p SYSTEM "{address}/parameter"> %p;]>',
            f'<!DOCTYPE b [<!ENTITY a SYSTEM "{address}/entity">]>',
        ):
            assert xmp.parse((declaration + packet("<dc:title>&a;</dc:title>")).encode()).broken
        server.shutdown()
    assert asked == []


def test_limits() -> None:
    deep = packet("<a>" * 1000 + "</a>" * 1000)
    assert xmp.parse(deep.encode()).broken
    huge = packet("<dc:title>t</dc:title>" + " " * xmp.MAX_BYTES)
    assert xmp.parse(huge.encode()) == xmp.XmpProperties(broken=True)
    many = read(listed("dc:subject", "Bag", *(f"k{n}" for n in range(5000))))
    assert len(many.keywords) == 1000
    assert len(read(f"<dc:title>{'x' * 100_000}</dc:title>").title or "") == 32_768


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<",
        b"text",
        b"<?xml version='1.0' encoding='nonsense'?><a/>",
        b"<?xml version='1.0' encoding='utf-7'?><a/>",
        b"\xff\xfe",
    ],
)
def test_no_xml_is_broken(data: bytes) -> None:
    assert xmp.parse(data).broken
