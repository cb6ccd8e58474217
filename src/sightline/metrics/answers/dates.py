"""Dates as people write them, compared at the precision of the truth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from sightline.metrics.answers.normalization import fold
from sightline.metrics.answers.numerals import find_numbers

_MONTH_WORDS = (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
)
_MONTH_NUMBER = {name: number for names in _MONTH_WORDS for number, name in enumerate(names.split(), start=1)}
_MONTH_NUMBER["sept"] = 9
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTH_NUMBER, key=len, reverse=True))})\b\.?"
_DAY = r"(?<![\d.])(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?!\d)"
_YEAR = r"(?<![\w.])(?P<year>[12]\d{3})(?![\d%]|[.,:]\d|'?s\b)"
_GAP = r"\s*,?\s*"
_WEEKDAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun)\b\.?,?\s*"
_CLOCK = r"(?:t|\s+(?:at\s+)?)\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\s*(?:am|pm|z)?(?:[+-]\d{2}:?\d{2})?"
_NUMERALS = "〇零一二三四五六七八九十"

_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        rf"(?<![\d/.-])(?P<year>[12]\d{{3}})(?P<sep>[-/.])(?P<month_number>0?[1-9]|1[0-2])(?P=sep)"
        rf"(?P<day>0?[1-9]|[12]\d|3[01])(?:{_CLOCK})?(?![\d/.-]\d|\d)",
        r"(?<![\d/.-])(?P<first>\d{1,2})(?P<sep>[-/.])(?P<second>\d{1,2})(?P=sep)(?P<any_year>\d{4}|\d{2})(?![\d/.-]?\d)",
        r"(?P<year>(?<=公元)\d{1,3}|(?<!\d)[12]\d{3})\s*年\s*(?:(?P<month_number>1[0-2]|0?[1-9])\s*月(?:份)?\s*"
        r"(?:(?P<day>3[01]|[12]\d|0?[1-9])\s*[日号])?)?",
        r"(?<![\d年])(?P<month_number>1[0-2]|0?[1-9])\s*月\s*(?P<day>3[01]|[12]\d|0?[1-9])\s*[日号]",
        rf"{_DAY}\s*(?:of\s+)?[\s-]*\b{_MONTH}(?:{_GAP}|-)(?:of\s+)?{_YEAR}",
        rf"\b{_MONTH}\s*{_DAY}{_GAP}{_YEAR}",
        rf"\b{_MONTH}{_GAP}(?:of\s+)?{_YEAR}",
        rf"{_YEAR}{_GAP}\b{_MONTH}(?:\s*{_DAY})?",
        rf"{_DAY}\s*(?:of\s+)?\b{_MONTH}",
        rf"\b{_MONTH}\s*{_DAY}",
        r"(?<![\d/.-])(?P<year>[12]\d{3})-(?P<month_number>0[1-9]|1[0-2])(?![\d-])",
        r"(?<![\d/.])(?P<month_number>0?[1-9]|1[0-2])/(?P<year>[12]\d{3})(?![\d/])",
        r"(?<![\w.,])(?P<year>\d{1,4})\s*(?P<bc>b\.?c\.?(?:e\.?)?)(?![a-z])",
        r"\ba\.?d\.?\s*(?P<year>\d{1,4})(?!\d)|(?<![\w.,])(?P<ce>\d{1,4})\s*(?:a\.?d\.?|c\.?e\.?)(?![a-z])",
        rf"{_YEAR}(?![A-Za-z]|\s*[-/]\s*\d)(?<!-\d{{4}})",
    )
)
_AROUND = re.compile(
    rf"(?:on|in|the|year|dated?|taken|since|{_WEEKDAY}|[\s,.:()]|{_CLOCK}|于|在|公元|星期.|周.)*", re.IGNORECASE
)
_RANGE_BEFORE = re.compile(r"\d\s*(?:-|to)\s*$")


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date known as far as it was written; years before the common era are negative."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date in a text, in every way that it can be read: two for 03/05/2021, none for 30 February or a range."""

    readings: tuple[PartialDate, ...]
    start: int
    end: int


def find_dates(text: str) -> tuple[DateMention, ...]:
    """Every date of a text, in order; where forms overlap, the one tried first (the fuller one) wins."""
    text = _arabic_years(fold(text))
    found: list[DateMention] = []
    for form in _FORMS:
        for match in form.finditer(text):
            start, end = match.span()
            if any(start < other.end and other.start < end for other in found):
                continue
            ranged = _RANGE_BEFORE.search(text, max(0, start - 8), start)
            readings = () if ranged else tuple(filter(_exists, _readings(match)))
            found.append(DateMention(readings, start, end))
    return tuple(sorted(found, key=lambda mention: mention.start))


@lru_cache(maxsize=1024)
def parse_date(text: str) -> DateMention | None:
    """The date that the whole text is, if it is one."""
    found = find_dates(text)
    folded = _arabic_years(fold(text))
    if len(found) != 1 or not found[0].readings:
        return None
    around = folded[: found[0].start], folded[found[0].end :]
    return found[0] if all(_AROUND.fullmatch(piece) for piece in around) else None


def same_date(truth: DateMention, said: DateMention) -> bool:
    """Whether some reading of what was said agrees with some reading of the truth in all that the truth gives."""
    return any(_agrees(true, reading) for true in truth.readings for reading in said.readings)


def _agrees(truth: PartialDate, said: PartialDate) -> bool:
    pairs = ((truth.year, said.year), (truth.month, said.month), (truth.day, said.day))
    return all(true is None or true == other for true, other in pairs)


def _readings(found: re.Match[str]) -> Iterator[PartialDate]:
    parts = {name: text for name, text in found.groupdict().items() if text}
    if "first" in parts:
        first, second = int(parts["first"]), int(parts["second"])
        for either in _years(parts["any_year"]):
            yield PartialDate(either, second, first)
            if first != second:
                yield PartialDate(either, first, second)
        return
    year = int(parts.get("year") or parts.get("ce") or 0) * (-1 if "bc" in parts else 1)
    month = int(parts.get("month_number") or 0) or _MONTH_NUMBER.get(parts.get("month", "").lower(), 0)
    yield PartialDate(year or None, month or None, int(parts.get("day") or 0) or None)


def _years(written: str) -> tuple[int, ...]:
    """Two digits may be of this century or of the last."""
    return (int(written),) if len(written) == 4 else (2000 + int(written), 1900 + int(written))


def _exists(reading: PartialDate) -> bool:
    if reading.year == 0:
        return False
    try:
        # A leap year stands in for a year that is not given or that `date` can't hold.
        date(
            reading.year if reading.day and reading.year and reading.year > 0 else 2000,
            reading.month or 1,
            reading.day or 1,
        )
    except ValueError:
        return False
    return True


def _arabic_years(text: str) -> str:
    """二〇二一年五月三日 → 2021年5月3日, 公元前221年 → 221 BC."""
    text = re.sub(rf"[{_NUMERALS}]+(?=[年月日号])", _digits, text)
    return re.sub(r"(?:公元)?前\s*(\d{1,4})\s*年", r"\1 BC", text)


def _digits(found: re.Match[str]) -> str:
    numbers = find_numbers(found[0])
    return str(numbers[0].value) if len(numbers) == 1 else found[0]
