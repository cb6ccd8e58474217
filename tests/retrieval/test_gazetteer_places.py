"""Places by name, and names of places, without a network."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from sightline.errors import MissingExtraError, UserError
from sightline.retrieval import gazetteer
from sightline.retrieval.columns.builder import build_columns
from sightline.retrieval.filters.filter import compile_filter, parse_filter
from sightline.retrieval.gazetteer import find_place, name_places, nearest_place
from sightline.types import Picture

ANGLET = (43.49, -1.51)


@pytest.fixture
def cities() -> None:
    pytest.importorskip("reverse_geocode", exc_type=ImportError)


@pytest.mark.usefixtures("cities")
class TestWithCities:
    @pytest.mark.parametrize(
        ("text", "label"),
        [
            ("Biarritz", "Biarritz, Nouvelle-Aquitaine, France"),
            ("Paris", "Paris, Île-de-France, France"),
            ("paris, texas", "Paris, Texas, United States"),
            ("Paris, TX", "Paris, Texas, United States"),
            ("Paris, US", "Paris, Texas, United States"),
            ("Paris, Canada", "Paris, Ontario, Canada"),
            ("Portland, ME", "Portland, Maine, United States"),
            ("München", "Munich, Bavaria, Germany"),
            ("京都", "Kyoto, Kyoto, Japan"),
            ("Wien, Österreich", "Vienna, Vienna, Austria"),
            ("saint louis, US", "St. Louis, Missouri, United States"),
        ],
    )
    def test_by_name(self, text: str, label: str) -> None:
        assert find_place(text).label == label

    def test_a_name_of_several_places_says_which_was_taken(self) -> None:
        note = find_place("Paris").note
        assert note.startswith(
            '"Paris" is taken as Paris, Île-de-France, France (the most people); also: Paris, Texas,'
        )
        assert note.endswith("more")
        assert parse_filter('near("Paris", 5km) and near("Biarritz", 5km)').notes() == (note,)
        assert find_place("Paris, Texas").note == ""

    def test_unknown_names(self) -> None:
        with pytest.raises(UserError, match=r'no place called "Biaritz" is known\.\n  Did you mean Biarritz'):
            find_place("Biaritz")
        with pytest.raises(UserError, match="There is Biarritz, Nouvelle-Aquitaine, France"):
            find_place("Biarritz, Germany")
        for text in ("", ",", "zzqqzzqq", "京"):
            with pytest.raises(UserError, match="no place called"):
                find_place(text)

    def test_near_a_place(self) -> None:
        pictures = [
            Picture("a", "a", lat=ANGLET[0], lon=ANGLET[1]),
            Picture("b", "b", lat=48.85, lon=2.35),
            Picture("c", "c"),
        ]
        columns = build_columns([(picture, None, []) for picture in pictures])
        assert compile_filter(parse_filter('near("Biarritz", 50km)'), columns).tolist() == [True, False, False]
        assert compile_filter(parse_filter("near(Paris, 2 km)"), columns).tolist() == [False, True, False]

    def test_nearest(self) -> None:
        assert nearest_place(*ANGLET) == "Anglet, Nouvelle-Aquitaine, France"
        assert nearest_place(-48.9, -123.4) is None  # the point of the ocean that is farthest from land

    def test_the_nearest_of_all_also_over_the_date_line_and_at_the_pole(self) -> None:
        rng = np.random.default_rng(7)
        lat = np.concatenate([np.degrees(np.arcsin(rng.uniform(-1, 1, 40))), [-16.8, -16.8, 89.9]])
        lon = np.concatenate([rng.uniform(-180, 180, 40), [179.99, -179.99, 0.0]])
        cities = gazetteer._cities()
        points = gazetteer._on_sphere(lat, lon)
        best = (points @ gazetteer._on_sphere(cities._lat, cities._lon).T).argmax(axis=1)
        assert name_places(lat, lon, within_km=20_000) == [cities.place(int(row)).label for row in best]

    def test_pictures_with_coordinates_alone_are_found_by_address(self) -> None:
        pictures = [
            Picture("a", "a", lat=ANGLET[0], lon=ANGLET[1]),
            Picture("b", "b", lat=35.02, lon=135.75),
            Picture("c", "c"),
        ]
        columns = build_columns([(picture, None, []) for picture in pictures], name_places)
        assert compile_filter(parse_filter('address ~ "Nouvelle-Aquitaine"'), columns).tolist() == [True, False, False]
        assert compile_filter(parse_filter("address ~ 日本"), columns).tolist() == [False, True, False]
        assert columns.texts("place")[2] is None


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gazetteer, "find_spec", lambda name: None)
    gazetteer._cities.cache_clear()
    find_place.cache_clear()
    columns = build_columns([(Picture("a", "a", lat=1.0, lon=2.0), None, [])])
    with pytest.raises(MissingExtraError, match=r"sightline\[places\]"):
        compile_filter(parse_filter('near("Biarritz", 50km)'), columns)
    assert compile_filter(parse_filter("near(1, 2, 5km)"), columns).tolist() == [True]


def test_filters_import_nothing_heavy() -> None:
    code = (
        "import sys, sightline.retrieval.filters.filter, sightline.retrieval.gazetteer; print('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
