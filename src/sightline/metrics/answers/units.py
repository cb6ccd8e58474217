"""Units of measure (`units.toml`): names in English and Chinese, what they measure, and how they convert."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

# Measure words: they count things and add no meaning to the number.
COUNTERS = frozenset("个只条张人位名辆座层次件种头匹棵朵本台架艘颗枚根支把双对套间家所幅块片栋幢")


@dataclass(frozen=True, slots=True)
class AnswerUnit:
    """`value × factor + offset` is the value in the base unit of the dimension; a scale ("k") has no dimension."""

    name: str
    dimension: str
    factor: Fraction
    offset: Fraction = Fraction(0)


def units_named(name: str, *, own_case: bool = False) -> tuple[AnswerUnit, ...]:
    """What a unit's name may mean, the likeliest first; empty if it is not known (in its own case, if so asked)."""
    exact, any_case = _names()
    key = re.sub(r"[\s.-]+", "-", re.sub(r"\s*/\s*", "/", name.strip())).strip("-")
    return exact.get(key) or (() if own_case else any_case.get(key.casefold(), ()))


def unit_after(text: str, start: int) -> tuple[str, int] | None:
    """The longest unit name that begins at `start` (after spaces or a hyphen), and where it ends."""
    found = _pattern().match(text, start)
    return None if found is None else (found["unit"], found.end())


def unit_before(text: str, end: int) -> tuple[str, int] | None:
    """The currency written before a number that begins at `end`, and where it starts."""
    found = _currency_pattern().search(text, max(0, end - 8), end)
    return None if found is None else (found["unit"], found.start())


@cache
def _names() -> tuple[dict[str, tuple[AnswerUnit, ...]], dict[str, tuple[AnswerUnit, ...]]]:
    table = tomllib.loads(Path(__file__).with_name("units.toml").read_text("utf-8"))
    exact: dict[str, list[AnswerUnit]] = {}
    for dimension, lines in table["units"].items():
        for line in lines:
            size, *names = line.split()
            factor, _, offset = size.partition("|")
            unit = AnswerUnit(names[0], dimension, Fraction(factor), Fraction(offset or 0))
            for name in names:
                exact.setdefault(name, []).append(unit)
    for name, meanings in table["other_meanings"].items():
        exact[name] += [exact[meaning][0] for meaning in meanings]
    any_case: dict[str, list[AnswerUnit]] = {}
    for name, units in exact.items():
        any_case.setdefault(name.casefold(), []).extend(units)
    return _frozen(exact), _frozen(any_case)


def _frozen(names: dict[str, list[AnswerUnit]]) -> dict[str, tuple[AnswerUnit, ...]]:
    return {name: tuple(units) for name, units in names.items()}


@cache
def _pattern() -> re.Pattern[str]:
    exact, _ = _names()
    names = sorted(exact, key=len, reverse=True)
    latin = "|".join(_spelled(name) for name in names if name[-1].isascii() and name[-1].isalnum())
    signs = "|".join(_spelled(name) for name in names if not (name[-1].isascii() and name[-1].isalnum()))
    return re.compile(rf"[ -]?(?P<unit>(?:{latin})(?![A-Za-z0-9^])|(?:{signs}))\.?", re.IGNORECASE)


@cache
def _currency_pattern() -> re.Pattern[str]:
    names = [
        name
        for name, units in _names()[0].items()
        if len(units[0].dimension) == 3 and (name.isupper() or not name[-1].isalnum())
    ]
    return re.compile(
        rf"(?:(?<![A-Za-z])(?P<unit>{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))}))[ ]?$"
    )


def _spelled(name: str) -> str:
    return re.escape(name).replace(r"\-", r"[\s.-]+").replace("/", r"\s*/\s*")
