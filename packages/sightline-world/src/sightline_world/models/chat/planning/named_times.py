"""Years, months and towns of a request: wanted ("in 2019"), ruled out ("not in 2019"), or a limit ("since 2019")."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sightline_world.models.chat.lexicon import lexicon
from sightline_world.models.chat.planning.tools import Facts

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_SEASONS = {"spring": (3, 4, 5), "summer": (6, 7, 8), "autumn": (9, 10, 11), "fall": (9, 10, 11), "winter": (12, 1, 2)}
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_LETTERS = re.compile(r"[A-Za-z]+")
_IN_TOWN = re.compile(
    r"\b(?:in|at|from|near|around|to|outside(?: of)?|except|but|not|nor|or|and)\s+((?:[A-Z][a-z]{2,}\s?){1,2})"
)
_NOT = re.compile(
    r"[\s,]*(?:\bbut\s+)?(?:\b(?:not|no(?= (?:photos?|pictures?|shots?|ones?)\b)|never|except(?:ing)?|excluding|"
    r"other than|apart from|aside from|without|outside|"
    r"(?:all|any\w*|every\w*)(?: (?:years?|months?|times?|towns?|places?))? but)|n't)"
    r"(?:[\s,]+(?:for|those|the|any|ones?|photos?|pictures?|shots?|images?|that|which|were|was|are|taken|made|shot|from|"
    r"of|in|at|on|during|near|around|to|with|year|month|town))*[\s,]*$",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"[\s,]*(?:from |taken )?\b(before|earlier than|prior to|until|till|up to)(?: the)?(?: year)?\s+$", re.I
)
_AFTER = re.compile(r"[\s,]*(?:from |taken )?\b(after|later than|since)(?: the)?(?: year)?\s+$", re.I)
_RANGE = re.compile(
    r"[\s,]*\b(?:from|between)\s+((?:19|20)\d\d)\s*(?:to|and|until|till|through|[-–])\s*((?:19|20)\d\d)", re.I
)
_AND_ON = re.compile(r"\s+(?:on(?:wards?)?|and later)\b", re.I)
_LIST = re.compile(r"[\s,]*(?:\b(?:or|and|nor)\b[\s,]*)*(?:(?:in|from|of|at)\s+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedTimes:
    """What of time and place a request names; years from `first` to `last`."""

    years: tuple[int, ...] = ()
    months: tuple[int, ...] = ()
    towns: tuple[str, ...] = ()
    not_years: tuple[int, ...] = ()
    not_months: tuple[int, ...] = ()
    not_towns: tuple[str, ...] = ()
    first: int | None = None
    last: int | None = None

    def holds(self, found: Facts) -> bool:
        """Does a picture fit?"""
        return self._fits_time(found) and self._fits_town(found.address.lower())

    def filter(self) -> str:
        """The same as a filter."""
        tests = [
            *_among("time.year", self.years, self.not_years),
            *([] if self.first is None else [f"time.year >= {self.first}"]),
            *([] if self.last is None else [f"time.year <= {self.last}"]),
            *_among("time.month", self.months, self.not_months),
        ]
        named = " or ".join(map(_in_town, self.towns))
        tests += [f"({named})" if len(self.towns) > 1 else named] if named else []
        return " and ".join([*tests, *(f"not {_in_town(town)}" for town in self.not_towns)])

    def has(self, word: str) -> bool:
        """Is a word that no picture shows one of those?"""
        towns = " ".join((*self.towns, *self.not_towns)).lower()
        return word in towns or word in _MONTHS or word in _SEASONS

    def _fits_time(self, found: Facts) -> bool:
        if found.time is None:
            return not (self.years or self.months or self.first or self.last)
        year, month = found.time.year, found.time.month
        return (
            (not self.years or year in self.years)
            and (not self.months or month in self.months)
            and year not in self.not_years
            and month not in self.not_months
            and (self.first or year) <= year <= (self.last or year)
        )

    def _fits_town(self, address: str) -> bool:
        if any(town.lower() in address for town in self.not_towns):
            return False
        return not self.towns or any(town.lower() in address for town in self.towns)


class _Mention(NamedTuple):
    start: int
    end: int
    values: tuple[int | str, ...]


class _Sorted:
    """Mentions of one sort, wanted and ruled out; `spans` are words that say nothing else and may be left out."""

    def __init__(self, text: str, mentions: Iterable[_Mention]) -> None:
        self.wanted: list[int | str] = []
        self.barred: list[int | str] = []
        self.spans: list[tuple[int, int]] = []
        before: tuple[int, bool] | None = None
        for start, end, values in mentions:
            ruled = _NOT.search(text, 0, start)
            goes_on = before is not None and before[1] and _LIST.fullmatch(text, before[0], start) is not None
            is_barred = ruled is not None or goes_on
            (self.barred if is_barred else self.wanted).extend(values)
            if is_barred:
                self.spans.append((before[0] if goes_on and before else ruled.start() if ruled else start, end))
            before = end, is_barred


def named_times(text: str) -> tuple[NamedTimes, str]:
    """What a request names of time and place, and its text without what it rules out or limits."""
    first, last, limits = _limits(text)
    years = _Sorted(text, _outside(limits, (_Mention(m.start(), m.end(), (int(m[0]),)) for m in _YEAR.finditer(text))))
    months, towns = _Sorted(text, _months(text)), _Sorted(text, _towns(text))
    found = NamedTimes(
        years=_numbers(years.wanted),
        months=_numbers(months.wanted),
        towns=_names(towns.wanted),
        not_years=_numbers(years.barred),
        not_months=_numbers(months.barred),
        not_towns=_names(towns.barred),
        first=first,
        last=last,
    )
    for start, end in sorted((*limits, *years.spans, *months.spans, *towns.spans), reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return found, " ".join(text.split())


def _numbers(values: Iterable[int | str]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(map(int, values)))


def _names(values: Iterable[int | str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, values)))


def _limits(text: str) -> tuple[int | None, int | None, list[tuple[int, int]]]:
    """The first and the last year, and where they are told."""
    spans: list[tuple[int, int]] = []
    for found in _RANGE.finditer(text):
        return int(found[1]), int(found[2]), [found.span()]
    first = last = None
    for year in _YEAR.finditer(text):
        before, after = _BEFORE.search(text, 0, year.start()), _AFTER.search(text, 0, year.start())
        on = _AND_ON.match(text, year.end())
        number = int(year[0])
        if before is not None:
            last = number if before[1].lower() in ("until", "till", "up to") else number - 1
            spans.append((before.start(), year.end()))
        elif after is not None:
            first = number if after[1].lower() == "since" else number + 1
            spans.append((after.start(), year.end()))
        elif on is not None:
            first = number
            spans.append((year.start(), on.end()))
    return first, last, spans


def _outside(spans: list[tuple[int, int]], mentions: Iterable[_Mention]) -> Iterable[_Mention]:
    return (each for each in mentions if not any(start <= each.start < end for start, end in spans))


def _months(text: str) -> Iterable[_Mention]:
    before = ""
    for found in _LETTERS.finditer(text):
        word, lower = found[0], found[0].lower()
        # "may" is a month only with a capital letter, or after "in".
        if lower in _MONTHS and (lower not in ("may", "march") or word[0].isupper() or before == "in"):
            yield _Mention(*found.span(), (_MONTHS.index(lower) + 1,))
        if lower in _SEASONS and before in ("in", "that", "last", "the", "this", "one", "of"):
            yield _Mention(*found.span(), _SEASONS[lower])
        before = lower


def _towns(text: str) -> Iterable[_Mention]:
    for found in _IN_TOWN.finditer(text):
        name, cue = found[1].strip(), found[0].split()[0].lower()
        if lexicon().get((name.lower(),)) is not None or name.lower() in (*_MONTHS, *_SEASONS):
            continue
        # "not" or "or" before a capital letter may begin anything; it is a town after one that is ruled out.
        if cue not in ("not", "nor", "or", "and", "but", "except") or _NOT.search(text, 0, found.start(1)):
            yield _Mention(found.start(1), found.start(1) + len(name), (name,))


def _among(field: str, wanted: tuple[int, ...], barred: tuple[int, ...]) -> list[str]:
    tests = [f"{field} in [{', '.join(map(str, wanted))}]"] if wanted else []
    return [*tests, *([f"{field} not in [{', '.join(map(str, barred))}]"] if barred else [])]


def _in_town(town: str) -> str:
    return 'match_address(address, "' + town.replace("\\", "").replace('"', "") + '")'
