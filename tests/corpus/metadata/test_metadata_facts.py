"""Which source wins."""

from __future__ import annotations

from datetime import UTC, datetime

from corpus.metadata.metadata_samples import (
    datasets,
    exif_block,
    jpeg,
    opened,
    packet,
    rationals,
    short,
    text_entry,
    utf16_entry,
)
from sightline.corpus.metadata import MetadataFacts, merge_facts, read_facts

XMP = packet(
    "<dc:title>xmp</dc:title><dc:subject><rdf:Bag><rdf:li>xmp</rdf:li></rdf:Bag></dc:subject>",
    'xmp:Rating="2" exif:DateTimeOriginal="2020-01-01T00:00:00" exif:GPSLatitude="10N" exif:GPSLongitude="20E" '
    'exif:GPSAltitude="7" tiff:Model="xmp" tiff:Orientation="3"',
)
IPTC = datasets((2, 5, b"iptc"), (2, 120, b"iptc"), (2, 25, b"iptc"), (2, 55, b"20190101"))
EXIF = exif_block(
    {
        0x010E: text_entry("exif"),
        0x0110: text_entry("exif"),
        0x0112: short(6),
        0x013B: text_entry("exif"),
        0x4746: short(1),
        0x9C9B: utf16_entry("exif"),
        0x9C9E: utf16_entry("exif"),
    },
    {0x9003: text_entry("2021:01:01 00:00:00")},
    {1: text_entry("N"), 2: rationals((1, 1)), 3: text_entry("E"), 4: rationals((2, 1))},
)


def test_exif_measures_and_xmp_speaks() -> None:
    assert read_facts(opened(jpeg(exif=EXIF, xmp=XMP, iptc=IPTC))) == MetadataFacts(
        taken_at=datetime(2021, 1, 1),
        lat=1.0,
        lon=2.0,
        altitude=None,  # A position is taken whole: XMP's altitude is that of another place.
        device="exif",
        orientation=6,
        title="xmp",
        description="iptc",
        keywords=("xmp",),
        rating=2,
        creator="exif",
    )


def test_without_exif() -> None:
    facts = read_facts(opened(jpeg(xmp=XMP, iptc=IPTC)))
    assert (facts.taken_at, facts.lat, facts.lon, facts.altitude) == (datetime(2020, 1, 1), 10.0, 20.0, 7.0)
    assert (facts.device, facts.orientation) == ("xmp", 3)


def test_with_iptc_alone() -> None:
    facts = read_facts(opened(jpeg(iptc=IPTC)))
    assert (facts.taken_at, facts.title, facts.keywords) == (datetime(2019, 1, 1), "iptc", ("iptc",))


def test_exif_without_an_orientation_leaves_it_to_xmp() -> None:
    assert read_facts(opened(jpeg(exif=exif_block({0x010F: text_entry("m")}), xmp=XMP))).orientation == 3
    assert read_facts(opened(jpeg(exif=exif_block({0x0112: short(1)}), xmp=XMP))).orientation == 1
    assert read_facts(opened(jpeg(exif=exif_block({0x0112: short(99)}), xmp=XMP))).orientation == 1


def test_warnings_of_all_sources_are_kept() -> None:
    facts = read_facts(opened(jpeg(exif=b"bad", xmp="<", iptc=b"bad")))
    assert facts.warnings == ("broken exif", "broken xmp", "broken iptc")


PICTURE = MetadataFacts(
    taken_at=datetime(2021, 1, 1),
    lat=1.0,
    lon=2.0,
    device="camera",
    orientation=6,
    title="picture",
    keywords=("b", "a"),
    rating=1,
    warnings=("implausible altitude",),
)
BESIDE = MetadataFacts(
    taken_at=datetime(2020, 1, 1),
    lat=10.0,
    lon=20.0,
    altitude=30.0,
    orientation=3,
    title="xmp",
    keywords=("a", "c"),
    rating=5,
    source="xmp",
    warnings=("implausible time",),
)
TAKEOUT = MetadataFacts(
    taken_at=datetime(2019, 1, 1, tzinfo=UTC),
    lat=11.0,
    lon=21.0,
    description="takeout",
    extra={"people": ["Jo"], "url": "u"},
    source="takeout",
)


def test_sidecars_speak_and_the_picture_measures() -> None:
    for sidecars in ([BESIDE, TAKEOUT], [TAKEOUT, BESIDE]):
        assert merge_facts(PICTURE, sidecars) == MetadataFacts(
            taken_at=datetime(2021, 1, 1),
            lat=1.0,
            lon=2.0,
            device="camera",
            orientation=6,
            title="xmp",
            description="takeout",
            keywords=("a", "c", "b"),
            rating=5,
            extra={"people": ["Jo"], "url": "u"},
            warnings=("implausible altitude",),
        )


def test_a_warning_about_what_was_known_already_is_left_out() -> None:
    assert merge_facts(PICTURE, [BESIDE]).warnings == ("implausible altitude",)
    doubtful = MetadataFacts(warnings=("implausible position",), source="takeout")
    assert merge_facts(PICTURE, [doubtful]).warnings == ("implausible altitude",)
    assert merge_facts(MetadataFacts(), [doubtful]).warnings == ("implausible position",)


def test_warnings_are_kept_once() -> None:
    wrong = MetadataFacts(warnings=("broken sidecar", "implausible time"))
    assert merge_facts(wrong, [wrong, wrong]).warnings == ("broken sidecar", "implausible time")


def test_sidecars_fill_what_the_picture_lacks() -> None:
    merged = merge_facts(MetadataFacts(), [TAKEOUT, BESIDE])
    assert (merged.taken_at, merged.lat, merged.lon, merged.altitude) == (datetime(2020, 1, 1), 10.0, 20.0, 30.0)
    assert merged.orientation == 1
    assert merge_facts(MetadataFacts(), [TAKEOUT]).taken_at == datetime(2019, 1, 1, tzinfo=UTC)


def test_a_rating_of_none_left_by_an_editor_wins() -> None:
    assert merge_facts(PICTURE, [MetadataFacts(rating=0, source="xmp")]).rating == 0


def test_no_sidecars() -> None:
    assert merge_facts(PICTURE, []) is PICTURE
