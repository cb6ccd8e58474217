"""Generated filters and pictures for them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import strategies as st

from sightline.retrieval.filters.tree import (
    And,
    Bare,
    Compare,
    FieldName,
    GeoBox,
    HasValue,
    Near,
    NearPlace,
    Node,
    Not,
    Or,
    Value,
)
from sightline.types import Annotation, Group, Picture

TIMES = ["2019", "2019-06", "2019-06-01", "2019-06-01T12", "2019-06-01T12:30", "2019-12-31T23:59:59", "2020-02-29"]
ZONED = ["2019-06-01T12:30Z", "2019-06-01T12:30+09:00", "2019-05-31T22:00:00-05:30"]
WORDS = ["Kyoto", "kyōto", "Japan", "US", "night", "sea", "Kyo*", "*o*", "k?oto", "a b", "Mexico", "É", "0"]
ADDRESSES = [
    "Higashiyama, Kyōto, Japan",
    "Aarhus, Denmark",
    "Denver, Colorado, United States",
    "Albuquerque, New Mexico, USA",
    "kyoto",
    "Guadalajara, México",
    "京都市, 日本",
    "US",
]
TEXT_FIELDS = ["address", "device", "id", "file", "setting"]
NUMBER_FIELDS = ["lat", "lon", "width", "iso"]
CLOCK_FIELDS = ["year", "month", "day", "weekday", "hour", "minute"]


def _compare(fields: list[str], operators: list[str], values: st.SearchStrategy[str]) -> st.SearchStrategy[Node]:
    one = st.builds(
        lambda field, operator, value: Compare(FieldName(field), operator, (Value(value),)),
        st.sampled_from(fields),
        st.sampled_from(operators),
        values,
    )
    several = st.builds(
        lambda field, many: Compare(FieldName(field), "in", tuple(map(Value, many))),
        st.sampled_from(fields),
        st.lists(values, max_size=3),
    )
    return one | several


def _rank(text: str) -> tuple[float, str]:
    """Numbers by their value; times, which begin with the year, by their letters."""
    try:
        return float(text), text
    except ValueError:
        return float(text[:4]), text


def _between(fields: list[str], values: st.SearchStrategy[str]) -> st.SearchStrategy[Node]:
    pair = st.tuples(values, values).map(lambda two: tuple(map(Value, sorted(two, key=_rank))))
    return st.builds(lambda field, two: Compare(FieldName(field), "between", two), st.sampled_from(fields), pair)


_ORDER = ["=", "<", "<=", ">", ">="]
_numbers = st.sampled_from(["0", "1", "6", "12", "35", "100", "2019", "-10.5"])
_clock = st.sampled_from(["1", "5", "6", "7"])
_lat, _lon = st.floats(-90, 90), st.floats(-180, 180)

leaves: st.SearchStrategy[Node] = st.one_of(
    _compare(["time"], _ORDER, st.sampled_from(TIMES + ZONED)),
    _between(["time"], st.sampled_from(TIMES)),
    _compare(["width", "iso"], _ORDER, _numbers),
    _between(NUMBER_FIELDS, _numbers),
    _compare(CLOCK_FIELDS, _ORDER, _clock),
    _compare(TEXT_FIELDS, ["=", "~"], st.sampled_from(WORDS + ADDRESSES)),
    _compare(["tag", "event", "group"], ["=", "~"], st.sampled_from([*WORDS, "e1", "event/e1"])),
    _compare(["blurry"], ["="], st.sampled_from(["true", "no", "1"])),
    st.sampled_from(["blurry", "address", "time", "tag"]).map(lambda name: Bare(FieldName(name))),
    st.sampled_from(["time", "lat", "address", "tag", "blurry", "iso", "place"]).map(
        lambda name: HasValue(FieldName(name))
    ),
    st.builds(Near, _lat, _lon, st.floats(0, 20_000)),
    st.builds(lambda a, b, west, east: GeoBox(min(a, b), west, max(a, b), east), _lat, _lat, _lon, _lon),
)
trees: st.SearchStrategy[Node] = st.recursive(
    leaves,
    lambda inner: (
        inner.map(Not)
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: And(tuple(parts)))
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts)))
        | st.sampled_from([And(()), Or(())])
    ),
    max_leaves=6,
)

_any_text = st.text(max_size=12)
odd_trees: st.SearchStrategy[Node] = st.recursive(
    st.builds(
        lambda field, operator, value: Compare(FieldName(field), operator, (Value(value),)),
        _any_text.filter(
            lambda name: name.strip().lower() not in ("time", "lat", "lon", *CLOCK_FIELDS, *NUMBER_FIELDS)
        ),
        st.sampled_from(["=", "~"]),
        _any_text,
    )
    | _any_text.map(lambda name: HasValue(FieldName(name)))
    | _any_text.map(lambda name: Bare(FieldName(name)))
    | st.builds(NearPlace, _any_text.map(Value), st.floats(0, 20_000)),
    lambda inner: inner.map(Not) | st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
    max_leaves=5,
)

ZONES = [None, UTC, timezone(timedelta(hours=9)), timezone(timedelta(hours=-5.5))]
MOMENTS = [
    datetime(2019, 6, 1),
    datetime(2019, 6, 1, 3, 30),
    datetime(2019, 6, 1, 12, 30),
    datetime(2019, 6, 1, 21, 30, 59),
    datetime(2019, 5, 31, 22),
    datetime(2019, 12, 31, 23, 59, 59, 999_999),
]
_moments = st.builds(
    lambda moment, zone: moment.replace(tzinfo=zone),
    st.datetimes(datetime(2018, 1, 1), datetime(2021, 1, 1)) | st.sampled_from(MOMENTS),
    st.sampled_from(ZONES),
)


def _record(
    number: int, picture: dict[str, object], tags: list[str], facet: str, blurry: bool | None, event: int
) -> object:
    id_ = f"f{number % 3}/Kyoto {number}.jpg"
    said = Annotation(
        id_,
        tags=tuple(tags),
        facets={"setting": facet} if facet else {},
        flags={} if blurry is None else {"blurry": blurry},
    )
    groups = [Group(f"event/e{event}", "event", (), hidden=event == 2)] if event else []
    extra = {"iso": 100} if number % 2 else {}
    return Picture(id_, f"file:///{id_}", extra=extra, **picture), said, groups  # type: ignore[arg-type]


def every_kind() -> list[object]:
    """Pictures with every address, and with every moment in every zone."""
    moments = [moment.replace(tzinfo=zone) for moment in MOMENTS for zone in ZONES]
    facts: list[dict[str, object]] = [{"address": address, "lat": 35.0, "lon": 135.77} for address in ADDRESSES]
    facts += [{"taken_at": moment, "width": 100} for moment in moments]
    return [
        _record(number, each, [["night"], ["sea", "Kyoto"], []][number % 3], ["", "sea"][number % 2], None, number % 4)
        for number, each in enumerate(facts)
    ]


_pictures = st.fixed_dictionaries(
    {},
    optional={
        "taken_at": _moments,
        "address": st.sampled_from(ADDRESSES),
        "device": st.sampled_from(["Canon US", "ÉOS"]),
        "width": st.sampled_from([0, 1, 100, 4000]),
        "lat": st.sampled_from([35.0, -10.5, 43.48]),
        "lon": st.sampled_from([135.77, 179.9, -1.5]),
    },
)
records = st.lists(
    st.none()
    | st.builds(
        _record,
        st.integers(0, 20),
        _pictures,
        st.lists(st.sampled_from(["night", "sea", "Kyoto"]), max_size=2),
        st.sampled_from(["", "sea", "a b"]),
        st.sampled_from([None, True, False]),
        st.integers(0, 3),
    ),
    max_size=8,
)
