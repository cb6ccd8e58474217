"""Sightline's own filter language: what it selects, and what it says of mistakes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sightline.errors import UserError
from sightline.retrieval.columns.builder import build_columns
from sightline.retrieval.columns.kinds import PictureColumns
from sightline.retrieval.filters.filter import compile_filter, parse_filter
from sightline.retrieval.filters.tree import FilterError
from sightline.types import Annotation, Group, Picture, Rights

TOKYO = timezone(timedelta(hours=9))


@pytest.fixture(scope="module")
def columns() -> PictureColumns:
    kyoto = Picture(
        "2019/kyoto.jpg",
        "file:///kyoto.jpg",
        taken_at=datetime(2019, 6, 30, 23, 30, tzinfo=TOKYO),
        lat=35.01,
        lon=135.77,
        altitude=56.0,
        address="Higashiyama, Kyoto, Japan",
        device="Canon EOS 80D",
        mime="image/jpeg",
        rights=Rights("CC BY 4.0"),
        extra={"iso": 800, "Lens Model": "50mm", "people": ["Ana", "Bo"], "exif": {"flash": False}, "owner": "ana"},
    )
    said = Annotation(
        kyoto.id,
        summary="A temple at night",
        facets={"setting": "city"},
        flags={"blurry": True},
        tags=("night", "temple"),
    )
    beach = Picture(
        "2020/beach.jpg", "file:///beach.jpg", taken_at=datetime(2020, 2, 29, 12), lat=43.48, lon=-1.56, width=4000
    )
    bare = Picture("scan.png", "file:///scan.png", mime="image/png")
    groups = [Group("event/ana/2019-06-30", "event", ()), Group("burst/x", "burst", (), hidden=True)]
    return build_columns(
        [(kyoto, said, groups), (beach, Annotation("b", flags={"blurry": False}), []), (bare, None, [])]
    )


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('time >= 2019-06 and (address ~ "Kyoto" or near(35.01,135.77,5km)) and not tag:night', []),
        ("time = 2019-06", [0]),
        ("time > 2019-06", [1]),
        ("time < 2019-06", []),
        ("time <= 2019-06", [0]),
        ("time = 2019-06-30T14:30Z", [0]),
        ("time = 2019-06-30T23:30", [0]),
        ("time = 2019-06-30T14:30", []),
        ("time = 2020-02-29T12:00+05:00", [1]),
        ("time between 2019 and 2020-01", [0]),
        ("time in [2018, 2020-02]", [1]),
        ("time not in [2018, 2020-02]", [0, 2]),
        ("year = 2019 || month = february", [0, 1]),
        ("weekday = sun && hour >= 23", [0]),
        ("WEEKDAY:sat", [1]),
        ("day=29", [1]),
        ("lat > 40", [1]),
        ("lat>=-90 and lon<0", [1]),
        ("near(35, 135.8, 10 km)", [0]),
        ("near(35, 135.8, 2mi)", [0]),
        ("near(35, 135.8, 300m)", []),
        ("box(30, 130, 40, 140)", [0]),
        ("box(30, 130, 45, -1)", [0, 1]),
        ("altitude < 0.1km", [0]),
        ("device ~ canon", [0]),
        ("device ~ cano", []),
        ('device ~ "cano*"', [0]),
        ("device = canon*", [0]),
        ("tag in [sea, Night]", [0]),
        ("tag ~ templ*", [0]),
        ("setting:city", [0]),
        ("facet:city", [0]),
        ("facet.setting = city", [0]),
        ("blurry", [0]),
        ("!blurry", [1, 2]),
        ("blurry = false", [1]),
        ("flag:blurry", [0]),
        ("owner:ana", [0]),
        ("event:ana/2019-06-30", [0]),
        ("event = event/ana/2019-06-30", [0]),
        ("group:event/ana/*", [0]),
        ("has(burst)", []),
        ("id = 2019/*", [0]),
        ("file:*.png", [2]),
        ("name = beach.jpg", [1]),
        ("mime = image/jpeg", [0]),
        ("mime != image/jpeg", [1, 2]),
        ("width >= 4000", [1]),
        ('licence ~ "cc by"', [0]),
        ("summary ~ temple", [0]),
        ("iso > 400", [0]),
        ('`Lens Model` = "50MM"', [0]),
        ("people:bo", [0]),
        ("exif.flash = no", [0]),
        ("extra.iso = 800", [0]),
        ("has(lat)", [0, 1]),
        ("not has(time)", [2]),
        ("address", [0]),
        ("true", [0, 1, 2]),
        ("false or not false", [0, 1, 2]),
        ("tag in []", []),
    ],
)
def test_selects(columns: PictureColumns, text: str, rows: list[int]) -> None:
    assert compile_filter(parse_filter(text), columns).nonzero()[0].tolist() == rows


def test_what_is_not_known_satisfies_no_comparison_and_every_negation(columns: PictureColumns) -> None:
    for text in ("time > 2020", "time <= 2020", "lat > 0", "lat <= 0", "address ~ Kyoto", "address = *", "iso = 1"):
        assert not compile_filter(parse_filter(text), columns)[2]
        assert compile_filter(parse_filter(f"not ({text})"), columns)[2]


def test_a_removed_picture_is_never_selected() -> None:
    columns = build_columns([None, (Picture("a", "a"), None, [])])
    assert compile_filter(parse_filter("not has(time)"), columns).tolist() == [False, True]


def test_precedence_and_brackets() -> None:
    assert parse_filter("a or b and not c") == parse_filter("a or (b and (not c))")
    assert parse_filter("a or b and c") != parse_filter("(a or b) and c")
    assert parse_filter("a && b || !c") == parse_filter("A and b or not c".lower())


def test_quotes_and_escapes() -> None:
    assert parse_filter(r'tag = "a \"b\" \\"').to_text() == r'tag = "a \"b\" \\"'
    assert parse_filter("tag = 'a'") == parse_filter('tag = "a"') == parse_filter("tag:a") == parse_filter("tag == a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tiem > 2020", 'unknown field "tiem" at character 1.\n  Did you mean "time"? Fields: time, year,'),
        ("has(adress)", 'unknown field "adress" at character 5.\n  Did you mean "address"?'),
        ("time > 2020 and isso = 3", 'unknown field "isso" at character 17.\n  Did you mean "iso"?'),
        ("time = 2019-02-30", '"2019-02-30" does not exist (day is out of range for month) at character 8.'),
        ("time = 2019-13", '"2019-13" does not exist (month must be in 1..12) at character 8.'),
        ("time > soon", '"soon" is not a time at character 8.\n  write 2019, 2019-06,'),
        ("time > 2019-06-01T10:00+99:00", '"+99:00" is not an offset from UTC at character 8.'),
        ('tag = "night', 'a string that begins with " does not end; it begins at character 7.'),
        ("(lat > 3", 'expected ")" for the "(" at character 1, found the end at character 9.'),
        ("lat > 3)", '")" closes nothing at character 8.'),
        ("lat > many", 'lat is a number, "many" is not at character 7.'),
        ("lat = 91", "lat goes from -90 to 90, not 91, at character 7."),
        ("month = 13", "month goes from 1 to 12, not 13, at character 9."),
        ("lat ~ 3", 'lat can\'t be compared by "~" at character 5.'),
        ("time ~ 2019", 'time can\'t be compared by "~" at character 6.'),
        ("device > Canon", 'device can\'t be compared by ">" at character 8.'),
        ("blurry = maybe", 'blurry is true or false, "maybe" is neither at character 10.'),
        ('tag ~ ""', "no words to look for at character 7."),
        ("tag = ", "expected a value, found the end at character 7."),
        ("tag = a b", 'expected "and" or "or", found "b" at character 9.\n  text of several words goes in quotes'),
        ("and tag:a", 'expected a field, found "and" at character 1.'),
        ('"a" = tag2 and', "at character"),
        ("tag in [a b]", 'expected "," or "]" in a list, found "b" at character 11.'),
        ("tag in a", 'expected "(" or "[" after "in", found "a" at character 8.'),
        ("near(35, 5km)", 'expected "," and a radius, found ")" at character 13.'),
        ("near(95, 5, 5km)", "lat goes from -90 to 90, not 95, at character 6."),
        ("near(35, 5, 5parsec)", '"5parsec" is not a distance at character 13.\n  write it like 5km, 800m or 3mi'),
        ("near(35, 5, 30000km)", 'a radius of "30000km" can\'t be on Earth at character 13.'),
        ("box(5, 1, 3, 2)", "the south of a box is north of its north at character 5."),
        ("box(5, 1, 3)", 'expected "," in box(south, west, north, east), found ")" at character 12.'),
        ("a & b & ~", '"&" can\'t stand at character 3.'),
        ("", "an empty filter at character 1."),
        ("a " * 6000, "a filter has more than 10000 characters"),
        ("(" * 100 + "tag:a" + ")" * 100, "nested more than 60 deep"),
        ("not " * 100 + "tag:a", "nested more than 60 deep"),
        ("tag in [" + "a," * 1001 + "a]", "a list has more than 1000 values"),
    ],
)
def test_mistakes(columns: PictureColumns, text: str, message: str) -> None:
    with pytest.raises(FilterError) as caught:
        compile_filter(parse_filter(text), columns)
    assert message in str(caught.value)
    assert isinstance(caught.value, UserError)


def test_values_that_can_not_be_are_refused_before_there_is_a_corpus() -> None:
    for text in ("time = 2019-02-30", "lat = 99", "time.month = 13", "year ~ 2019"):
        with pytest.raises(FilterError):
            parse_filter(text)


def test_a_limit_beyond_the_range_is_no_mistake(columns: PictureColumns) -> None:
    assert compile_filter(parse_filter("hour < 24 and month >= 0"), columns).tolist() == [True, True, False]


def test_many_wildcards_take_no_time() -> None:
    columns = build_columns([(Picture("a" * 3000, "a"), None, [])])
    assert not compile_filter(parse_filter(f'id = "{"*a" * 30}*b"'), columns).any()


def test_time_without_an_offset_is_taken_in_the_zone_that_is_asked_for() -> None:
    naive = Picture("naive", "a", taken_at=datetime(2019, 6, 1, 12))
    utc = Picture("utc", "a", taken_at=datetime(2019, 6, 1, 12, tzinfo=UTC))
    columns = build_columns([(naive, None, []), (utc, None, [])])
    assert compile_filter(parse_filter("time = 2019-06-01T12:00+09:00"), columns).tolist() == [True, False]
    assert compile_filter(parse_filter("time = 2019-06-01T21:00+09:00"), columns).tolist() == [False, True]
    assert compile_filter(parse_filter("time = 2019-06-01T12:00"), columns).tolist() == [True, True]


@pytest.mark.parametrize("depth", [61, 100, 199])
def test_brackets_too_deep_are_refused_and_not_read_as_python(depth: int) -> None:
    with pytest.raises(FilterError, match="nested more than 60 deep"):
        parse_filter("(" * depth + "true" + ")" * depth)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time between 2020 and 2019", "nothing lies between 2020 and 2019"),
        ("hour between 22 and 4", "nothing lies between 22 and 4"),
        ("month = 6.5", "month is a whole number"),
        ("year in [2019, 2019.5]", "year is a whole number"),
    ],
)
def test_what_can_find_nothing_is_refused(text: str, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        parse_filter(text)


@pytest.mark.parametrize("text", ["time between 2019 and 2019-06", "month < 6.5", "hour between 4 and 4"])
def test_what_can_find_something_is_not(text: str) -> None:
    parse_filter(text)
