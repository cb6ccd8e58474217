"""Quantities: numbers with a unit, as powers of a few base units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

Dimension: TypeAlias = tuple[int, int, int, int]
"""Powers of metre, kilogram, second and byte."""
PLAIN: Dimension = (0, 0, 0, 0)
LENGTH: Dimension = (1, 0, 0, 0)
MASS: Dimension = (0, 1, 0, 0)
TIME: Dimension = (0, 0, 1, 0)
DATA: Dimension = (0, 0, 0, 1)
DAY = 86_400
YEAR = 365.2425 * DAY
"""The mean year of the Gregorian calendar."""


@dataclass(frozen=True, slots=True)
class Unit:
    """How many base units it is, of what dimension; `months` of the calendar, where it is one of its spans."""

    name: str
    factor: float
    dimension: Dimension
    months: int = 0


def _units(dimension: Dimension, *given: tuple[str, float]) -> Iterable[tuple[str, Unit]]:
    for names, factor in given:
        first, *others = names.split()
        unit = Unit(first, factor, dimension)
        yield from ((name, unit) for name in (first, *others))


UNITS: Mapping[str, Unit] = MappingProxyType(
    dict(
        (
            *_units(
                LENGTH,
                ("m metre metres meter meters", 1),
                ("mm millimetre millimetres millimeter millimeters", 0.001),
                ("cm centimetre centimetres centimeter centimeters", 0.01),
                ("km kilometre kilometres kilometer kilometers", 1000),
                ("inch inches", 0.0254),
                ("ft foot feet", 0.3048),
                ("yd yard yards", 0.9144),
                ("mi mile miles", 1609.344),
                ("nmi", 1852),
            ),
            *_units(
                MASS,
                ("kg kilogram kilograms", 1),
                ("g gram grams", 0.001),
                ("mg", 1e-6),
                ("t tonne tonnes", 1000),
                ("lb lbs pound pounds", 0.45359237),
                ("oz ounce ounces", 0.028349523125),
            ),
            *_units(
                TIME,
                ("s sec second seconds", 1),
                ("ms", 0.001),
                ("min minute minutes", 60),
                ("h hr hour hours", 3600),
                ("days day d", DAY),
                ("weeks week", 7 * DAY),
            ),
            *_units((2, 0, 0, 0), ("ha hectare hectares", 10_000), ("acre acres", 4046.8564224)),
            *_units(
                (3, 0, 0, 0),
                ("l litre litres liter liters", 0.001),
                ("ml", 1e-6),
                ("gal gallon gallons", 0.003785411784),
            ),
            *_units((1, 0, -1, 0), ("kmh kph", 1 / 3.6), ("mph", 0.44704), ("knot knots", 1852 / 3600)),
            *_units(
                DATA,
                ("B byte bytes", 1),
                ("kB", 1e3),
                ("MB", 1e6),
                ("GB", 1e9),
                ("TB", 1e12),
                ("KiB", 1 << 10),
                ("MiB", 1 << 20),
                ("GiB", 1 << 30),
            ),
            *((name, Unit("months", YEAR / 12, TIME, 1)) for name in ("month", "months")),
            *((name, Unit("years", YEAR, TIME, 12)) for name in ("year", "years", "yr", "yrs")),
        )
    )
)
_BASE = ("m", "kg", "s", "B")


def base_name(dimension: Dimension) -> str:
    """`m/s`, `m^2`; nothing for a plain number."""
    above = [_power(name, power) for name, power in zip(_BASE, dimension, strict=True) if power > 0]
    below = [_power(name, -power) for name, power in zip(_BASE, dimension, strict=True) if power < 0]
    return "/".join((" ".join(above) or ("1" if below else ""), *below))


def _power(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"
