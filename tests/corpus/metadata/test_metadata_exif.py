"""EXIF, as Pillow writes it and as cameras should not have written it."""

from __future__ import annotations

import math
import struct
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

from corpus.metadata.metadata_samples import (
    ASCII,
    BYTE,
    DOUBLE,
    LONG,
    UNDEFINED,
    Entry,
    camera_exif,
    encode,
    exif_block,
    jpeg,
    opened,
    rationals,
    short,
    text_entry,
    utf16_entry,
)
from sightline.corpus.metadata import MetadataFacts, read_facts
from sightline.corpus.metadata.values import last_year

# Pillow itself complains of broken EXIF when it opens a file.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:PIL.TiffImagePlugin")

N, E = text_entry("N"), text_entry("E")
PARIS_LAT, PARIS_LON = rationals((48, 1), (51, 1), (2940, 100)), rationals((2, 1), (17, 1), (4000, 100))


def read(**parts: Any) -> MetadataFacts:
    return read_facts(opened(jpeg(exif=exif_block(**parts))))


def read_time(text: str | bytes, **more: Entry) -> MetadataFacts:
    tags = {"subseconds": 0x9291, "offset": 0x9011}
    return read(inner={0x9003: text_entry(text), **{tags[name]: entry for name, entry in more.items()}})


def read_position(lat: Entry, lon: Entry, lat_ref: Entry | None = N, lon_ref: Entry | None = E) -> MetadataFacts:
    entries = {1: lat_ref, 2: lat, 3: lon_ref, 4: lon}
    return read(gps={tag: entry for tag, entry in entries.items() if entry is not None})


def test_what_a_camera_writes() -> None:
    near: Any = pytest.approx
    facts = read_facts(opened(encode("JPEG", exif=camera_exif())))
    assert facts == MetadataFacts(
        taken_at=datetime(2021, 5, 3, 10, 11, 12, 125_000, timezone(timedelta(hours=2))),
        lat=near(48 + 51 / 60 + 29.4 / 3600),
        lon=near(-2.5),
        altitude=near(-12.5),
        device="Canon EOS 5D",
        lens="EF50mm f/1.8 STM",
        orientation=6,
    )


def test_how_the_camera_was_set() -> None:
    known = {0x829A: rationals((1, 250)), 0x829D: rationals((28, 10)), 0x8827: short(200), 0x920A: rationals((50, 1))}
    said = {"exposure_seconds": 0.004, "aperture": 2.8, "iso": 200, "focal_length_mm": 50}
    assert read(inner=known).extra == said
    broken = {0x829A: rationals((0, 0)), 0x829D: rationals((1, 0)), 0x8827: short(0), 0x920A: text_entry("50 mm")}
    assert read(inner=broken) == MetadataFacts()


def test_no_metadata_is_no_facts_and_no_warning() -> None:
    assert read_facts(opened(encode("JPEG"))) == MetadataFacts()
    assert read_facts(opened(jpeg(exif=b""))) == MetadataFacts()


@pytest.mark.parametrize("order", ["<", ">"])
def test_both_byte_orders(order: str) -> None:
    gps = {1: N, 2: rationals((10, 1), (30, 1), (0, 1), order=order), 3: E, 4: rationals((20, 1), order=order)}
    block = exif_block({0x0112: short(8, order)}, {0x9003: text_entry("2020:02:29 23:59:59")}, gps, order=order)
    facts = read_facts(opened(jpeg(exif=block)))
    assert (facts.lat, facts.lon, facts.orientation) == (10.5, 20.0, 8)
    assert facts.taken_at == datetime(2020, 2, 29, 23, 59, 59)


@given(
    make=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20),
    moment=st.datetimes(datetime(1900, 1, 1), datetime(2026, 1, 1)).map(lambda time: time.replace(microsecond=0)),
    lat=st.tuples(st.integers(0, 89), st.integers(0, 59), st.integers(1, 5999)),
    south=st.booleans(),
    orientation=st.integers(1, 8),
)
@settings(max_examples=60, deadline=None)
def test_agrees_with_pillow(
    make: str, moment: datetime, lat: tuple[int, int, int], south: bool, orientation: int
) -> None:
    exif = Image.Exif()
    exif[0x010F], exif[0x0112] = make, orientation
    exif.get_ifd(0x8769)[0x9004] = f"{moment:%Y:%m:%d %H:%M:%S}".rjust(19, "0")
    degrees, minutes, hundredths = lat
    gps = exif.get_ifd(0x8825)
    gps[1], gps[3] = "S" if south else "N", "E"
    gps[2] = gps[4] = (IFDRational(degrees), IFDRational(minutes), IFDRational(hundredths, 100))
    image = opened(encode("JPEG", exif=exif))
    facts, theirs = read_facts(image), image.getexif()
    parts = theirs.get_ifd(0x8825)[2]
    assert facts.device == theirs[0x010F].strip()
    assert facts.taken_at == moment
    assert facts.orientation == theirs[0x0112]
    assert facts.lat == pytest.approx((-1 if south else 1) * float(parts[0] + parts[1] / 60 + parts[2] / 3600))
    assert facts.warnings == ()


# --- times


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2021:05:03 10:11:12", datetime(2021, 5, 3, 10, 11, 12)),
        ("2021-05-03 10:11:12", datetime(2021, 5, 3, 10, 11, 12)),
        ("2021/05/03 10:11:12", datetime(2021, 5, 3, 10, 11, 12)),
        ("2021:05:03 10:11", datetime(2021, 5, 3, 10, 11)),
        ("2021:05:03", datetime(2021, 5, 3)),
        ("2021:5:3 1:2:3", datetime(2021, 5, 3, 1, 2, 3)),
        ("2021:05:03T10:11:12", datetime(2021, 5, 3, 10, 11, 12)),
        ("2021:05:03 10:11:12.5", datetime(2021, 5, 3, 10, 11, 12, 500_000)),
        ("2021:05:03 10:11:12Z", datetime(2021, 5, 3, 10, 11, 12, tzinfo=UTC)),
        ("2021:05:03 10:11:12-03:30", datetime(2021, 5, 3, 10, 11, 12, tzinfo=timezone(-timedelta(hours=3.5)))),
        ("2021:05:03 10:11:12 +0200", datetime(2021, 5, 3, 10, 11, 12, tzinfo=timezone(timedelta(hours=2)))),
        (b"2021:05:03 10:11:12\0\0\0\0", datetime(2021, 5, 3, 10, 11, 12)),
        ("  2021:05:03 10:11:12  ", datetime(2021, 5, 3, 10, 11, 12)),
        ("1826:06:01 08:00:00", datetime(1826, 6, 1, 8)),
    ],
)
def test_times_that_are_believed(text: str | bytes, expected: datetime) -> None:
    facts = read_time(text)
    assert facts.taken_at == expected
    assert facts.taken_at is not None and facts.taken_at.tzinfo == expected.tzinfo
    assert facts.warnings == ()


@pytest.mark.parametrize(
    "text",
    [
        "0000:00:00 00:00:00",
        "    :  :     :  :  ",
        "2021:02:30 10:11:12",
        "2021:13:01 10:11:12",
        "2021:05:03 25:11:12",
        "2021:05:03 10:11:60",
        "1825:05:03 10:11:12",
        f"{last_year() + 1}:05:03 10:11:12",
        "9999:99:99 99:99:99",
        "yesterday",
        "２０２１:05:03 10:11:12",
        b"\xff\xfe\xfd\xfc",
    ],
)
def test_times_that_are_dropped_with_a_warning(text: str | bytes) -> None:
    facts = read_time(text)
    assert facts.taken_at is None
    assert facts.warnings == ("implausible time",)


def test_an_empty_time_is_no_time() -> None:
    assert read_time("") == MetadataFacts()
    assert read_time(b"\0\0\0") == MetadataFacts()


def test_times_in_their_order_of_trust() -> None:
    digitised, changed = text_entry("2020:01:01 00:00:00"), text_entry("2022:01:01 00:00:00")
    original = text_entry("2019:01:01 00:00:00")
    both = {0x9004: digitised}
    assert read(main={0x0132: changed}, inner=both | {0x9003: original}).taken_at == datetime(2019, 1, 1)
    assert read(main={0x0132: changed}, inner=both).taken_at == datetime(2020, 1, 1)
    assert read(main={0x0132: changed}).taken_at == datetime(2022, 1, 1)
    unset = read(main={0x0132: changed}, inner={0x9003: text_entry("0000:00:00 00:00:00")})
    assert (unset.taken_at, unset.warnings) == (datetime(2022, 1, 1), ("implausible time",))


def test_each_time_has_its_own_offset() -> None:
    facts = read(inner={0x9003: text_entry("2021:05:03 10:11:12"), 0x9010: text_entry("+02:00")})
    assert facts.taken_at == datetime(2021, 5, 3, 10, 11, 12)  # 0x9010 belongs to the time of the last change.


@pytest.mark.parametrize(
    ("offset", "hours"),
    [
        ("+02:00", 2),
        ("-0330", -3.5),
        ("+9", 9),
        ("Z", 0),
        ("   :  ", None),
        ("+99:00", None),
        ("-12:39", None),
        ("+14:00", 14),
        ("+14:15", None),
        ("+05:45", 5.75),
        ("Europe/Paris", None),
    ],
)
def test_offsets(offset: str, hours: float | None) -> None:
    taken = read_time("2021:05:03 10:11:12", offset=text_entry(offset)).taken_at
    assert taken is not None
    assert taken.utcoffset() == (None if hours is None else timedelta(hours=hours))


@pytest.mark.parametrize(
    ("digits", "microseconds"),
    [("5", 500_000), ("05", 50_000), ("123456789", 123_456), ("12 ", 120_000), ("  ", 0), ("x1", 0), ("²", 0)],
)
def test_fractions_of_a_second(digits: str, microseconds: int) -> None:
    taken = read_time("2021:05:03 10:11:12", subseconds=text_entry(digits)).taken_at
    assert taken is not None and taken.microsecond == microseconds


# --- positions


@pytest.mark.parametrize(
    ("lat", "lon", "expected"),
    [
        (PARIS_LAT, PARIS_LON, (48.8581667, 2.2944444)),
        (rationals((48_858_167, 1_000_000)), rationals((2_294_444, 1_000_000)), (48.858167, 2.294444)),
        (rationals((48, 1), (51_490, 1000)), rationals((2, 1), (17_667, 1000)), (48.8581667, 2.2944500)),
        (rationals((48, 1), (51, 1), (0, 0)), rationals((2, 1), (17, 1), (0, 0)), (48.85, 2.2833333)),
        (text_entry("48.8581667"), text_entry("2.2944444"), (48.8581667, 2.2944444)),
        (text_entry("48,51,29.4"), text_entry("2/1,17/1,4000/100"), (48.8581667, 2.2944444)),
        ((DOUBLE, 1, struct.pack("<d", 48.5)), (DOUBLE, 1, struct.pack("<d", 2.5)), (48.5, 2.5)),
        (rationals((0, 1)), rationals((2, 1)), (0.0, 2.0)),
    ],
)
def test_positions_that_are_believed(lat: Entry, lon: Entry, expected: tuple[float, float]) -> None:
    facts = read_position(lat, lon)
    assert (facts.lat, facts.lon) == pytest.approx(expected, abs=1e-6)
    assert facts.warnings == ()


@pytest.mark.parametrize(
    ("lat_ref", "lon_ref", "signs"),
    [("S", "W", (-1, -1)), ("n", "e", (1, 1)), ("s", "w", (-1, -1)), ("South", "E ", (-1, 1))],
)
def test_hemispheres(lat_ref: str, lon_ref: str, signs: tuple[int, int]) -> None:
    facts = read_position(PARIS_LAT, PARIS_LON, text_entry(lat_ref), text_entry(lon_ref))
    assert facts.lat is not None and facts.lon is not None
    assert (math.copysign(1, facts.lat), math.copysign(1, facts.lon)) == signs


def test_a_sign_that_agrees_with_the_letter_is_counted_once() -> None:
    facts = read_position(rationals((-33, 1), signed=True), PARIS_LON, text_entry("S"))
    assert facts.lat == -33.0


@pytest.mark.parametrize(
    ("lat", "lon", "lat_ref", "lon_ref"),
    [
        (PARIS_LAT, PARIS_LON, None, E),
        (PARIS_LAT, PARIS_LON, N, None),
        (PARIS_LAT, PARIS_LON, text_entry(" "), E),
        (PARIS_LAT, PARIS_LON, text_entry("E"), text_entry("N")),
        (rationals((0, 0), (0, 0), (0, 0)), rationals((0, 0), (0, 0), (0, 0)), N, E),
        (rationals((48, 0)), PARIS_LON, N, E),
        (rationals((48, 1), (51, 0)), PARIS_LON, N, E),
        (rationals((91, 1)), PARIS_LON, N, E),
        (rationals((90, 1), (1, 1)), PARIS_LON, N, E),
        (PARIS_LAT, rationals((181, 1)), N, E),
        (rationals((48, 1), (61, 1)), PARIS_LON, N, E),
        (rationals((48, 1), (1, 1), (61, 1)), PARIS_LON, N, E),
        (rationals((48, 1), (1, 1), (1, 1), (1, 1)), PARIS_LON, N, E),
        (rationals((0, 1)), rationals((0, 1)), N, E),
        (rationals((-33, 1), signed=True), PARIS_LON, N, E),
        (text_entry("NaN"), PARIS_LON, N, E),
        (text_entry("nowhere"), PARIS_LON, N, E),
        ((DOUBLE, 1, struct.pack("<d", math.nan)), PARIS_LON, N, E),
        ((DOUBLE, 1, struct.pack("<d", math.inf)), PARIS_LON, N, E),
    ],
)
def test_positions_that_are_dropped_with_a_warning(
    lat: Entry, lon: Entry, lat_ref: Entry | None, lon_ref: Entry | None
) -> None:
    facts = read_position(lat, lon, lat_ref, lon_ref)
    assert (facts.lat, facts.lon) == (None, None)
    assert facts.warnings == ("implausible position",)


def test_half_a_position_is_none() -> None:
    assert read(gps={1: N, 2: PARIS_LAT}).warnings == ("implausible position",)
    assert read(gps={1: N, 3: E}) == MetadataFacts()


@pytest.mark.parametrize(
    ("reference", "metres", "expected"),
    [
        ((BYTE, 1, b"\0"), rationals((350, 10)), 35.0),
        ((BYTE, 1, b"\1"), rationals((350, 10)), -35.0),
        ((BYTE, 1, b"\3"), rationals((350, 10)), -35.0),
        (text_entry("1"), rationals((350, 10)), -35.0),
        (None, rationals((350, 10)), 35.0),
        ((BYTE, 1, b"\1"), rationals((-350, 10), signed=True), -35.0),
        ((BYTE, 1, b"\0"), rationals((-350, 10), signed=True), -35.0),
        ((BYTE, 1, b"\0"), text_entry("35.0"), 35.0),
    ],
)
def test_altitude(reference: Entry | None, metres: Entry, expected: float) -> None:
    gps = {1: N, 2: PARIS_LAT, 3: E, 4: PARIS_LON, 6: metres} | ({5: reference} if reference else {})
    facts = read(gps=gps)
    assert (facts.altitude, facts.warnings) == (expected, ())


@pytest.mark.parametrize(
    "metres", [rationals((1, 0)), rationals((0, 0)), rationals((4_000_000_000, 1)), text_entry("high")]
)
def test_an_altitude_that_can_not_be_leaves_the_position(metres: Entry) -> None:
    facts = read(gps={1: N, 2: PARIS_LAT, 3: E, 4: PARIS_LON, 6: metres})
    assert facts.altitude is None and facts.lat is not None
    assert facts.warnings == ("implausible altitude",)


def test_an_altitude_without_a_place_is_left_out() -> None:
    assert read(gps={6: rationals((350, 10))}) == MetadataFacts()


# --- the rest


@pytest.mark.parametrize(
    ("make", "model", "device"),
    [
        ("Canon", "Canon EOS 5D", "Canon EOS 5D"),
        ("NIKON CORPORATION", "NIKON D90", "NIKON D90"),
        ("Apple", "iPhone 12", "Apple iPhone 12"),
        ("samsung\0\0", "SM-G991B   ", "samsung SM-G991B"),
        ("HUAWEI", "", "HUAWEI"),
        ("", "E-M10", "E-M10"),
        (" ", "\0", None),
        ("Leica", "LEICA Q2", "LEICA Q2"),
    ],
)
def test_device(make: str, model: str, device: str | None) -> None:
    assert read(main={0x010F: text_entry(make), 0x0110: text_entry(model)}).device == device


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (short(1), 1),
        (short(3), 3),
        (short(8), 8),
        (short(0), 1),
        (short(9), 1),
        (short(65_535), 1),
        ((LONG, 1, struct.pack("<I", 6)), 6),
        ((BYTE, 1, b"\6"), 6),
        (text_entry("6"), 1),
        (rationals((6, 1)), 6),
        (rationals((0, 0)), 1),
    ],
)
def test_orientation(entry: Entry, expected: int) -> None:
    facts = read(main={0x0112: entry})
    assert facts.orientation == expected
    assert type(facts.orientation) is int


def test_words_in_exif() -> None:
    facts = read(
        main={
            0x010E: text_entry("A bridge"),
            0x013B: text_entry("Jo Müller".encode("latin-1")),
            0x8298: text_entry(b" \0The editor"),
            0x4746: short(4),
            0x9C9B: utf16_entry("Brücke"),
            0x9C9C: utf16_entry("not used"),
            0x9C9E: utf16_entry("bridge; river ;;bridge;水"),
        }
    )
    assert facts == MetadataFacts(
        title="Brücke",
        description="A bridge",
        keywords=("bridge", "river", "水"),
        rating=4,
        creator="Jo Müller",
        copyright="The editor",
    )


def test_windows_words_where_exif_has_none() -> None:
    facts = read(
        main={0x010E: text_entry("OLYMPUS DIGITAL CAMERA"), 0x9C9C: utf16_entry("Mine"), 0x9C9D: utf16_entry("Jo")}
    )
    assert (facts.description, facts.creator) == ("Mine", "Jo")


@pytest.mark.parametrize("rating", [short(6), short(65_535), text_entry("x"), rationals((7, 2))])
def test_ratings_that_are_none(rating: Entry) -> None:
    assert read(main={0x4746: rating}) == MetadataFacts()


def test_control_characters_are_taken_out_of_text() -> None:
    assert read(main={0x010E: text_entry("a\x07b\x1b[31m\nc\t\x7f")}).description == "ab[31m\nc"


# --- broken data


WHOLE = exif_block(
    {0x0112: short(6), 0x010F: text_entry("Make of some length")}, {0x9003: text_entry("2021:05:03 10:11:12")}
)


@pytest.mark.parametrize(
    "block",
    [
        b"II",
        b"not exif at all",
        b"II*\0\xff\xff\xff\xff",
        b"MM\0*\0\0\0\x08\xff\xff",
        WHOLE[:-5],
        WHOLE[:20],
        exif_block({0x8769: (LONG, 1, b"\xff\xff\xff\x7f")}),
        exif_block({0x8769: (LONG, 1, b"\0\0\0\0")}),
        exif_block({0x8825: (UNDEFINED, 4, b"abcd")}),
        exif_block({0x010F: (ASCII, 4_000_000_000, b"\0\0\0\0")}),
        exif_block({0x010F: (99, 1, b"abcd")}),
    ],
)
def test_broken_exif_is_named(block: bytes) -> None:
    assert "broken exif" in read_facts(opened(jpeg(exif=block))).warnings


def test_what_can_be_read_of_broken_exif_is_kept() -> None:
    facts = read_facts(opened(jpeg(exif=WHOLE[:-5])))
    assert (facts.orientation, facts.device, facts.taken_at) == (6, "Make of some length", None)


def test_the_marker_may_be_there_twice() -> None:
    facts = read_facts(opened(jpeg(exif=b"Exif\0\0" + WHOLE)))
    assert (facts.orientation, facts.warnings) == (6, ())


def test_a_directory_that_points_to_itself_ends() -> None:
    facts = read(main={0x8769: (LONG, 1, struct.pack("<I", 8)), 0x0112: short(3)})
    assert facts.orientation == 3
