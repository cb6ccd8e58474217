"""What must hold for every text, number and date."""

from __future__ import annotations

import unicodedata
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.metrics.answers.dates import find_dates, parse_date, same_date
from sightline.metrics.answers.match import count_right, match_answer, share_of_parts, split_parts
from sightline.metrics.answers.normalization import normalize, same_text
from sightline.metrics.answers.numerals import find_numbers
from sightline.metrics.answers.quantities import parse_quantity, same_quantity
from sightline.metrics.answers.units import units_named
from sightline.types import Answer

PIECES = ["the", "answer is", "答案是", "Paris", "5", "1,234.5", "½", "10⁵", "é", "ß", "İ", "一百", "km", "%", "$", "&"]
signs = st.one_of(
    st.text(max_size=12), st.lists(st.sampled_from([*PIECES, " ", ".", "'", "-", "(", ")", ";"])).map("".join)
)
spaced = st.lists(st.one_of(signs, st.sampled_from(PIECES)), max_size=6).map(" ".join)
fast = settings(deadline=None, max_examples=150)


@fast
@given(spaced)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once


@fast
@given(spaced, spaced)
def test_same_text_is_symmetric(first: str, second: str) -> None:
    assert same_text(first, second) == same_text(second, first)


@fast
@given(spaced)
def test_an_answer_matches_itself(text: str) -> None:
    assume(text.strip())
    assert match_answer(Answer(text), text).matched
    assert share_of_parts(Answer(text), text) == 1.0


@fast
@given(spaced, spaced)
def test_matching_never_raises_and_nothing_never_matches(truth: str, reply: str) -> None:
    assert isinstance(match_answer(Answer(truth), reply).matched, bool)
    assert not match_answer(Answer(truth), "").matched
    assert 0.0 <= share_of_parts(Answer(truth), reply) <= 1.0


@fast
@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12))
def test_case_width_and_frame_do_not_matter(word: str) -> None:
    wide = "".join(chr(ord(sign) + 0xFEE0) for sign in word)
    for form in (word.upper(), wide, f"The answer is {word}.", f"**{word}**", f"「{word}」", f"答案是{word}。"):
        assert normalize(form) == normalize(word), form


@fast
@given(st.integers(-(10**12), 10**12), st.integers(0, 4))
def test_numbers_come_back_from_every_notation(units: int, decimals: int) -> None:
    whole, after = divmod(abs(units), 10**decimals)
    value = Fraction(units, 10**decimals)
    sign, tail = "-" * (units < 0), f"{after:0{decimals}}" if decimals else ""
    for grouping in ("", ",", " ", "'"):
        written = f"{sign}{whole:,}".replace(",", grouping) + ("." + tail if tail else "")
        assert [number.value for number in find_numbers(written)] == [value], written
    european = f"{sign}{whole:,}".replace(",", ".") + ("," + tail if tail else "")
    # "1,234" and "1.234" alone are read the English way: one thousand two hundred and thirty-four, and 1.234.
    if not (decimals == 3 and 0 < whole < 1000) and not (decimals == 0 and 1000 <= whole < 10**6):
        assert [number.value for number in find_numbers(european)] == [value], european


@fast
@given(st.integers(0, 10**12 - 1))
def test_chinese_and_english_words_come_back(number: int) -> None:
    assert [found.value for found in find_numbers(chinese(number))] == [number]
    assert [found.value for found in find_numbers(english_words(number))] == [number]


@fast
@given(st.integers(1, 10**6), st.sampled_from(["km", "kg", "min", "m^2", "GB", "°C", "%", "USD"]))
def test_a_quantity_is_the_same_with_and_without_its_unit_but_not_with_another(number: int, unit: str) -> None:
    truth = parse_quantity(f"{number} {unit}")
    same, bare, other = (parse_quantity(f"{number:,} {name}".strip()) for name in (unit, "", "knots"))
    assert truth is not None and same is not None and bare is not None and other is not None
    assert same_quantity(truth, same) and same_quantity(truth, bare)
    assert not same_quantity(truth, other)


@pytest.mark.parametrize(
    ("value", "unit", "other", "converted"),
    [
        ("1", "km", "m", "1000"),
        ("1", "mile", "km", "1.609344"),
        ("1", "lb", "g", "453.59237"),
        ("1", "hour", "s", "3600"),
        ("2", "years", "months", "24"),
        ("1", "ha", "m²", "10000"),
        ("1", "L", "ml", "1000"),
        ("36", "km/h", "m/s", "10"),
        ("1", "MB", "kilobytes", "1000"),
        ("1", "GiB", "MiB", "1024"),
        ("1", "MB", "Mb", "8"),
        ("-40", "°C", "°F", "-40"),
        ("0", "°C", "K", "273.15"),
        ("212", "°F", "°C", "100"),
        ("1", "斤", "g", "500"),
        ("1", "kWh", "kJ", "3600"),
        ("1", "GHz", "MHz", "1000"),
        ("1", "$", "cents", "100"),
        ("1", "nautical mile", "m", "1852"),
    ],
)
def test_units_convert_both_ways(value: str, unit: str, other: str, converted: str) -> None:
    one, two = parse_quantity(f"{value} {unit}"), parse_quantity(f"{converted} {other}")
    assert one is not None and two is not None
    assert same_quantity(one, two) and same_quantity(two, one)


def test_units_that_share_a_name_keep_their_meanings() -> None:
    assert [unit.dimension for unit in units_named("m")] == ["length", "scale"]
    assert units_named("Mb") != units_named("MB")
    assert units_named("KM") == units_named("km")
    assert units_named("furlong") == ()


@fast
@given(st.dates(date(1000, 1, 1), date(2999, 12, 31)))
def test_dates_come_back_from_every_form(day: date) -> None:
    truth = parse_date(day.isoformat())
    month = day.strftime("%B")
    assert truth is not None
    forms = [
        f"{day.day} {month} {day.year:04}",
        f"{month} {day.day}, {day.year:04}",
        f"{month[:3]}. {day.day} {day.year:04}",
        f"the {day.day}th of {month}, {day.year:04}",
        f"{day.year:04}/{day.month}/{day.day}",
        f"{day.year:04}年{day.month}月{day.day}日",
        f"{day.day:02}.{day.month:02}.{day.year:04}",
        f"{day.month}/{day.day}/{day.year:04}",
        f"It was taken on {day.strftime('%A')}, {day.day} {month} {day.year:04}.",
    ]
    for form in forms:
        found = find_dates(form)
        assert len(found) == 1 and same_date(truth, found[0]), form
    for part in (f"{month} {day.year:04}", f"{day.year:04}"):
        wider = parse_date(part)
        assert wider is not None and same_date(wider, truth) and not same_date(truth, wider)


@fast
@given(st.lists(st.text("abcdefgh", min_size=3, max_size=8), min_size=2, max_size=6))
def test_lists_match_in_any_order_unless_numbered(items: list[str]) -> None:
    shuffled = items[::-1]
    assert share_of_parts(Answer("; ".join(items)), ", ".join(shuffled)) == 1.0
    numbered = " ".join(f"{place}. {item}" for place, item in enumerate(items, start=1))
    assert split_parts(numbered).items == tuple(items)
    right = sum(one == other for one, other in zip(items, shuffled, strict=True))
    assert share_of_parts(Answer(numbered), "; ".join(shuffled)) == right / len(items)


def test_a_part_counts_once_and_extra_parts_cost() -> None:
    assert count_right(split_parts("red; red"), ["red"], lambda one, other: one == other) == 1
    assert share_of_parts(Answer("red; blue"), "red; red") == 0.5
    assert share_of_parts(Answer("red; blue"), "red; blue; green; black") == 0.5
    assert share_of_parts(Answer("red; blue; green"), "red") == pytest.approx(1 / 3)
    # A greedy pairing would give "3 km" to the first part and leave the second without.
    assert share_of_parts(Answer("3; 3 km"), "3 km; 3") == 1.0


def test_a_tolerance_includes_its_ends_and_must_be_a_share() -> None:
    truth = Answer("10", tolerance=0.3)
    assert match_answer(truth, "13").matched and match_answer(truth, "7").matched
    assert not match_answer(truth, "13.01").matched
    assert match_answer(Answer("10", tolerance=0), "10").matched
    for wrong in (-0.1, float("nan"), float("inf")):
        with pytest.raises(UserError, match="tolerance"):
            match_answer(Answer("10", tolerance=wrong), "11")


def test_superscripts_and_fractions_do_not_run_into_digits() -> None:
    assert normalize("10⁵") != normalize("105")
    assert normalize("2½") != normalize("21/2")
    assert unicodedata.normalize("NFKC", "2½") == "21⁄2"


def chinese(number: int) -> str:
    """The number in Chinese numerals, as it is written in full."""
    if number == 0:
        return "零"
    groups = [(number // 10**8 % 10**4, "亿"), (number // 10**4 % 10**4, "万"), (number % 10**4, "")]
    text = ""
    for value, unit in groups:
        if value and text and value < 1000 and not text.endswith("零"):
            text += "零"
        text += _below_ten_thousand(value) + unit if value else ("零" if text and not text.endswith("零") else "")
    return text.rstrip("零")


def _below_ten_thousand(value: int) -> str:
    text = ""
    for size, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = value // size % 10
        if digit:
            text += "零一二三四五六七八九"[digit] + unit
        elif text and not text.endswith("零"):
            text += "零"
    return text.rstrip("零")


ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety"


def english_words(number: int) -> str:
    """The number in English words."""
    for size, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            joint = " and " if size == 100 else " "
            return f"{english_words(number // size)} {name}" + (joint + english_words(rest) if rest else "")
    if number < 20:
        return ONES.split()[number]
    return TENS.split()[number // 10] + (f"-{ONES.split()[number % 10]}" if number % 10 else "")
