"""Places in addresses: by words and by the names of countries."""

from __future__ import annotations

import pytest

from sightline.retrieval.bm25 import fold
from sightline.retrieval.columns.builder import build_columns
from sightline.retrieval.filters.filter import compile_filter, parse_filter
from sightline.types import Picture


def matches(address: str, wanted: str) -> bool:
    columns = build_columns([(Picture("a", "a", address=address), None, [])])
    by_words = compile_filter(parse_filter(f'address ~ "{wanted}"'), columns)[0]
    assert by_words == compile_filter(parse_filter(f'match_address(address, "{wanted}")'), columns)[0]
    return bool(by_words)


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("Denver, Colorado, United States", "US"),
        ("Denver, Colorado, United States", "U.S.A."),
        ("Denver, Colorado, United States of America", "usa"),
        ("Denver, CO 80202, USA", "United States"),
        ("350 5th Ave, New York, NY 10118, U.S.A.", "US"),
        ("Denver Colorado United States", "united states"),
        ("Camden, London, England", "UK"),
        ("Cardiff, Wales", "Great Britain"),
        ("Leeds LS1 4DY, United Kingdom", "GB"),
        ("10115 Berlin, Germany", "Deutschland"),
        ("10115 Berlin, Deutschland", "Germany"),
        ("Amsterdam, The Netherlands", "Holland"),
        ("Praha, Czech Republic", "Czechia"),
        ("Higashiyama, Kyōto, Japan", "kyoto"),
        ("Higashiyama, Kyōto, Japan", "KYOTO, JAPAN"),
        ("Higashiyama, Kyoto, Kyoto Prefecture, Japan", "Japan, Higashiyama"),
        ("京都市東山区, 日本", "京都"),
        ("日本京都市東山区", "Japan"),
        ("Kyoto, 日本", "Japan"),
        ("São Paulo, Brasil", "sao paulo, brazil"),
        ("Saint-Jean-de-Luz, France", "saint jean de luz"),
        ("Malmö, Sverige", "malmo"),
        ("Tromsø, Norge", "Tromso, Norway"),
        ("Łódź, Polska", "lodz"),
        ("75001 France", "France"),
        ("Paris (France)", "France"),
    ],
)
def test_is_there(address: str, wanted: str) -> None:
    assert matches(address, wanted)


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("Aarhus, Denmark", "US"),
        ("Toys R Us, Leeds, England", "US"),
        ("Albuquerque, New Mexico, United States", "Mexico"),
        ("Sydney, New South Wales, Australia", "UK"),
        ("Belfast, Northern Ireland", "Ireland"),
        ("Port Moresby, Papua New Guinea", "Guinea"),
        ("Juba, South Sudan", "Sudan"),
        ("Lagos, Nigeria", "Niger"),
        ("Kyotango, Japan", "Kyoto"),
        ("Kyoto, Japan", "Kyoto, France"),
        ("Seoul, South Korea", "North Korea"),
        ("Marseille, France", "Mars"),
        ("広島県, 中国地方, 日本", "China"),
        ("タイムズスクエア, ニューヨーク, アメリカ", "Thailand"),
        ("Bank of America Plaza, Toronto, Canada", "USA"),
    ],
)
def test_is_not_there(address: str, wanted: str) -> None:
    assert not matches(address, wanted)


def test_every_name_of_a_country_finds_every_other() -> None:
    names = ["Germany", "Deutschland", "Allemagne", "Alemania", "德国"]
    assert all(matches(f"Berlin, {name}", wanted) for name in names for wanted in names)


def test_a_derived_place_stands_in_for_an_address_that_is_not_there() -> None:
    pictures = [Picture("a", "a", lat=1.0, lon=2.0), Picture("b", "b", lat=1.0, lon=2.0, address="Nice, France")]
    columns = build_columns([(picture, None, []) for picture in pictures], lambda lat, lon: ["Kyoto, Japan"] * len(lat))
    for text, rows in (
        ("address ~ Kyoto", [True, False]),
        ("address ~ France", [False, True]),
        ("place ~ Kyoto", [True, False]),
        ("has(place)", [True, False]),
        ("has(address)", [False, True]),
    ):
        assert compile_filter(parse_filter(text), columns).tolist() == rows


def test_folding() -> None:
    assert fold("STRASSE") == fold("Straße") == "strasse"
    assert fold("Ærøskøbing") == "aeroskobing"
    assert fold("Ｋｙｏｔｏ") == "kyoto"
    assert fold("が") != fold("か")
    assert all(fold(fold(text)) == fold(text) for text in ("İstanbul", "ǅ", "㎏", "Ἀθῆναι", "ﬁ", "𝐀𝐁"))
