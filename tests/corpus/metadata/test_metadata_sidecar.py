"""Files beside a picture: by name, and by what they say."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.metadata.metadata_samples import packet
from sightline.corpus.metadata import MetadataFacts, read_sidecar, sidecar

LONG = "Screenshot_20220207_102421_com.snapchat.android.jpg"  # 51 characters.


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        ("IMG_1.jpg", "IMG_1.jpg.xmp"),
        ("IMG_1.jpg", "IMG_1.xmp"),
        ("IMG_1.JPG", "IMG_1.XMP"),
        ("IMG_1.jpg", "IMG_1.jpg.json"),
        ("IMG_1.jpg", "IMG_1.jpg.supplemental-metadata.json"),
        ("IMG_1.jpg", "IMG_1.jpg.supplemental-met.json"),
        ("IMG_1.jpg", "IMG_1.jpg.supplement.json"),
        ("IMG_1.jpg", "IMG_1.jpg.s.json"),
        ("IMG_1.jpg", "IMG_1.jpg..json"),
        ("Screenshot_2017-07-05-10-05-26.png", "Screenshot_2017-07-05-10-05-26.png.supplementa.json"),
        ("D7157814-D2D5-4A62-AFCE-9CF465CB7D66.jpeg", "D7157814-D2D5-4A62-AFCE-9CF465CB7D66.jpeg.supp.json"),
        (LONG, "Screenshot_20220207_102421_com.snapchat.androi.json"),
        ("Urlaub in Knaufspesch in der Schneifel (38).JPG", "Urlaub in Knaufspesch in der Schneifel (38).JP.json"),
        ("IMG_1(1).jpg", "IMG_1.jpg(1).json"),
        ("IMG_1(12).jpg", "IMG_1.jpg.supplemental-metadata(12).json"),
        ("IMG_1(1).jpg", "IMG_1.jpg.supplemental-met(1).json"),
        ("IMG_1(1).jpg", "IMG_1(1).jpg.json"),
        (LONG.replace(".jpg", "(2).jpg"), "Screenshot_20220207_102421_com.snapchat.androi(2).json"),
        ("IMG_1-edited.jpg", "IMG_1.jpg.json"),
        ("IMG_1-edited.jpg", "IMG_1.HEIC.supplemental-metadata.json"),
        ("IMG_1-bearbeitet.jpg", "IMG_1.jpg.supplemental-metadata.json"),
        ("IMG_1-modifi\u00e9.jpg", "IMG_1.jpg.json"),
        ("IMG_1-modifie\u0301.jpg", "IMG_1.jpg.json"),
        ("IMG_1-編集済み.jpg", "IMG_1.jpg.json"),
        ("IMG_1-edited(1).jpg", "IMG_1.jpg(1).json"),
        ("IMG_1-edited.jpg", "IMG_1-edited.jpg.json"),
        ("no extension", "no extension.json"),
        ("no extension", "no extension.xmp"),
        (".hidden.jpg", ".hidden.jpg.json"),
        ("水.jpg", "水.jpg.xmp"),
    ],
)
def test_found(picture: str, expected: str) -> None:
    assert sidecar.find_sidecars(picture, {picture, expected}) == (expected,)


@pytest.mark.parametrize(
    ("picture", "other"),
    [
        ("IMG_1.jpg", "IMG_10.jpg.json"),
        ("IMG_1.jpg", "IMG_1.jpg(1).json"),
        ("IMG_1.jpg", "IMG_1.json"),
        ("IMG_1.jpg", "img_1.xmp"),
        ("IMG_1(1).jpg", "IMG_1.jpg.json"),
        ("IMG_1-edited.jpg", "IMG_1-edited2.jpg.json"),
        ("edited.jpg", ".jpg.json"),
        ("IMG_1.jpg", "IMG_1.jpg.supplemental-metadata.jsonl"),
    ],
)
def test_not_found(picture: str, other: str) -> None:
    assert sidecar.find_sidecars(picture, {other}) == ()


def test_both_kinds_and_only_one_record() -> None:
    names = {"a.jpg.xmp", "a.xmp", "a.jpg.json", "a.jpg.supplemental-metadata.json"}
    assert sidecar.find_sidecars("a.jpg", names) == ("a.jpg.xmp", "a.xmp", "a.jpg.json")


def test_a_duplicates_own_record_wins() -> None:
    assert sidecar.find_sidecars("a(1).jpg", {"a.jpg(1).json", "a(1).jpg.json"}) == ("a(1).jpg.json",)


@pytest.mark.parametrize(
    "name",
    [
        "a.xmp",
        "a.jpg.XMP",
        "a.jpg.json",
        "a.JPEG.json",
        "a.heic.supplemental-metadata.json",
        "a.jpg.supplemental-met(3).json",
        "a.jpg(1).json",
        "a.jpg..json",
        "Screenshot_20220207_102421_com.snapchat.androi.json",
        "Screenshot_20220207_102421_com.snapchat.androi(2).json",
    ],
)
def test_is_a_sidecar(name: str) -> None:
    assert sidecar.is_sidecar(name)


@pytest.mark.parametrize(
    "name",
    [
        "a.jpg",
        "a.json",
        "metadata.json",
        "a.jpg.supplemental-metadata.txt",
        "a.jpg.other.json",
        "xmp",
        "",
        "b" * 60 + ".json",
    ],
)
def test_is_no_sidecar(name: str) -> None:
    assert not sidecar.is_sidecar(name)


@given(
    stem=st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=60),
    extension=st.sampled_from(["jpg", "JPG", "heic", "png", "tiff"]),
)
@settings(max_examples=100, deadline=None)
def test_what_takeout_writes_is_found_and_known(stem: str, extension: str) -> None:
    picture = f"{stem}.{extension}"
    for record in ((picture + ".supplemental-metadata")[:46] + ".json", picture[:46] + ".json"):
        assert record in sidecar.find_sidecars(picture, {record})
        assert sidecar.is_sidecar(record)


# --- content


RECORD = {
    "title": "IMG_1.jpg",
    "description": "At the bridge",
    "imageViews": "3",
    "creationTime": {"timestamp": "1700000000", "formatted": "…"},
    "photoTakenTime": {"timestamp": "1620029472", "formatted": "3 May 2021, 08:11:12 UTC"},
    "geoData": {"latitude": 48.5, "longitude": 2.5, "altitude": 35.0, "latitudeSpan": 0.0, "longitudeSpan": 0.0},
    "geoDataExif": {"latitude": 0.0, "longitude": 0.0, "altitude": 0.0, "latitudeSpan": 0.0, "longitudeSpan": 0.0},
    "people": [{"name": "Jo"}, {"name": "Mo"}, {"name": "Jo"}, {}],
    "favorited": True,
    "url": "https://photos.google.com/photo/x",
    "googlePhotosOrigin": {"mobileUpload": {"deviceType": "ANDROID_PHONE"}},
}


def read(tmp_path: Path, content: bytes | str | dict[str, object]) -> MetadataFacts:
    path = tmp_path / "beside"
    if isinstance(content, dict):
        content = orjson.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_sidecar(path)


def test_takeout(tmp_path: Path) -> None:
    assert read(tmp_path, RECORD) == MetadataFacts(
        taken_at=datetime(2021, 5, 3, 8, 11, 12, tzinfo=UTC),
        lat=48.5,
        lon=2.5,
        altitude=35.0,
        description="At the bridge",
        extra={
            "original_name": "IMG_1.jpg",
            "people": ["Jo", "Mo"],
            "favorite": True,
            "url": "https://photos.google.com/photo/x",
        },
        source="takeout",
    )


def test_takeout_prefers_the_cameras_position(tmp_path: Path) -> None:
    facts = read(tmp_path, RECORD | {"geoDataExif": {"latitude": -1.5, "longitude": 3.5, "altitude": 0.0}})
    assert (facts.lat, facts.lon, facts.altitude) == (-1.5, 3.5, None)


def test_takeout_without_a_position_says_nothing(tmp_path: Path) -> None:
    facts = read(tmp_path, RECORD | {"geoData": {"latitude": 0.0, "longitude": 0.0, "altitude": 0.0}, "people": None})
    assert (facts.lat, facts.lon, facts.altitude, facts.warnings) == (None, None, None, ())


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        ({"photoTakenTime": {"timestamp": "0"}}, "implausible time"),
        ({"photoTakenTime": {"timestamp": "soon"}}, "implausible time"),
        ({"photoTakenTime": {"timestamp": "9" * 30}}, "implausible time"),
        ({"photoTakenTime": {"timestamp": 1.5}}, "implausible time"),
        ({"geoData": {"latitude": 95.0, "longitude": 2.5, "altitude": 0.0}}, "implausible position"),
        ({"geoData": {"latitude": 45.0, "longitude": 2.5, "altitude": 1e9}}, "implausible altitude"),
    ],
)
def test_takeout_with_values_that_can_not_be(tmp_path: Path, changes: dict[str, object], warning: str) -> None:
    assert read(tmp_path, RECORD | changes).warnings == (warning,)


def test_takeout_before_1970(tmp_path: Path) -> None:
    taken = read(tmp_path, RECORD | {"photoTakenTime": {"timestamp": "-86400"}}).taken_at
    assert taken == datetime(1969, 12, 31, tzinfo=UTC)


def test_xmp(tmp_path: Path) -> None:
    facts = read(tmp_path, "\ufeff" + packet("<dc:title>Bridge</dc:title>").replace("\ufeff", ""))
    assert facts == MetadataFacts(title="Bridge", source="xmp")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b'{"a": 1}', b"[1]", b"null", b"<x:xmpmeta", b"\x00\xff", b'{"title": "\\ud800"}', b"{" * 100_000],
)
def test_broken_sidecars(tmp_path: Path, content: bytes) -> None:
    facts = read(tmp_path, content)
    assert facts.warnings == ("broken sidecar",)
    assert facts == MetadataFacts(warnings=facts.warnings, source=facts.source)


def test_what_is_no_readable_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.json").write_bytes(b"{" + b" " * sidecar.MAX_BYTES + b"}")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("absent", "pipe", ".", "large.json", "loop"):
        assert read_sidecar(tmp_path / name).warnings == ("broken sidecar",)
