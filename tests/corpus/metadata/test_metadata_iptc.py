"""IPTC blocks, written byte by byte."""

from __future__ import annotations

import struct
from datetime import datetime, timedelta, timezone

import pytest

from corpus.metadata.metadata_samples import datasets, jpeg, opened, photoshop
from sightline.corpus.metadata import MetadataFacts, iptc, read_facts


def read(*items: tuple[int, bytes]) -> MetadataFacts:
    return iptc.facts(iptc.parse(datasets(*((2, number, value) for number, value in items))))


def test_everything_at_once_in_a_jpeg() -> None:
    block = datasets(
        (1, 90, b"\x1b%G"),
        (2, 5, "Brücke".encode()),
        (2, 25, b"bridge"),
        (2, 25, b"river"),
        (2, 25, b"bridge"),
        (2, 55, b"20210503"),
        (2, 60, b"101112+0200"),
        (2, 80, b"Jo"),
        (2, 80, b"Mo"),
        (2, 116, "© Jo".encode()),
        (2, 120, b"A bridge.\nAnd a river."),
    )
    assert read_facts(opened(jpeg(iptc=block))) == MetadataFacts(
        taken_at=datetime(2021, 5, 3, 10, 11, 12, tzinfo=timezone(timedelta(hours=2))),
        title="Brücke",
        description="A bridge.\nAnd a river.",
        keywords=("bridge", "river"),
        creator="Jo; Mo",
        copyright="© Jo",
    )


@pytest.mark.parametrize("raw", ["Brücke".encode(), "Brücke".encode("latin-1")])
def test_text_without_the_utf8_flag(raw: bytes) -> None:
    assert read((5, raw)).title == "Brücke"


def test_a_false_utf8_flag() -> None:
    block = datasets((1, 90, b"\x1b%G"), (2, 5, "Brücke".encode("latin-1")))
    assert iptc.facts(iptc.parse(block)).title == "Brücke"


def test_a_headline_stands_in_for_a_title() -> None:
    assert read((105, b"Headline")).title == "Headline"
    assert read((105, b"Headline"), (5, b"Title")).title == "Title"


@pytest.mark.parametrize(
    ("date", "clock", "expected"),
    [
        (b"20210503", b"", datetime(2021, 5, 3)),
        (b"20210503", b"101112", datetime(2021, 5, 3, 10, 11, 12)),
        (b"20210503", b"1011", datetime(2021, 5, 3)),
        (b"2021-05-03", b"10:11:12-10:11", datetime(2021, 5, 3, 10, 11, 12)),
        (b"2021:05:03", b"", None),
        (b"00000000", b"", None),
        (b"20210000", b"", None),
        (b"20210503", b"996112", None),
    ],
)
def test_times(date: bytes, clock: bytes, expected: datetime | None) -> None:
    facts = read((55, date), (60, clock))
    assert facts.taken_at == expected
    assert facts.warnings == (() if expected else ("implausible time",))


def test_long_values() -> None:
    text = b"x" * 20_000
    block = struct.pack(">BBBHI", 0x1C, 2, 120, 0x8004, len(text)) + text + datasets((2, 5, b"t"))
    facts = iptc.facts(iptc.parse(block))
    assert (facts.description, facts.title) == (text.decode(), "t")


@pytest.mark.parametrize(
    "block",
    [
        datasets((2, 5, b"Title"))[:-1],
        datasets((2, 5, b"Title")) + b"junk",
        b"\x1c\x02\x05\xff\xff",
        struct.pack(">BBBHI", 0x1C, 2, 120, 0x8004, 0xFFFFFFFF) + b"x",
        b"no iptc",
    ],
)
def test_broken_blocks(block: bytes) -> None:
    assert iptc.facts(iptc.parse(block)).warnings == ("broken iptc",)
    assert read_facts(opened(jpeg(iptc=block))).warnings == ("broken iptc",)


def test_padding_is_no_damage() -> None:
    assert iptc.facts(iptc.parse(datasets((2, 5, b"Title")) + bytes(7))) == MetadataFacts(title="Title")


@pytest.mark.parametrize("name", [b"", b"a", b"ab"])
@pytest.mark.parametrize("value", [b"Titl", b"Title"])
def test_among_photoshops_resources(name: bytes, value: bytes) -> None:
    block = datasets((2, 5, value))
    assert iptc.find_in_photoshop(photoshop(block, name)) == block
    assert iptc.find_in_photoshop(b"8BIM") is None
    assert iptc.find_in_photoshop(b"") is None
