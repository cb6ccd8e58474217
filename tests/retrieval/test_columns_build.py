"""Columns: from pictures to arrays, to disk and back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from filter_trees import records
from sightline.errors import UserError
from sightline.retrieval.columns.builder import build_columns
from sightline.retrieval.columns.files import load_columns, save_columns
from sightline.retrieval.columns.kinds import FlagColumn, LabelColumn, NumberColumn, PictureColumns, TextColumn
from sightline.types import Annotation, Group, Picture


def with_extra(*extras: dict[str, Any]) -> PictureColumns:
    return build_columns([(Picture(str(row), "x", extra=extra), None, []) for row, extra in enumerate(extras)])


def test_times_on_the_wall_and_in_utc() -> None:
    moment = datetime(2019, 6, 1, 12)
    pictures = [
        Picture("a", "a", taken_at=moment),
        Picture("b", "b", taken_at=moment.replace(tzinfo=UTC)),
        Picture("c", "c"),
    ]
    times = build_columns([(picture, None, []) for picture in pictures]).times
    seconds = moment.replace(tzinfo=UTC).timestamp()
    np.testing.assert_array_equal(times.wall, [seconds, seconds, np.nan])
    np.testing.assert_array_equal(times.utc, [np.nan, seconds, np.nan])


def test_extra_columns_take_the_narrowest_kind() -> None:
    columns = with_extra(
        {
            "iso": 100,
            "raw": True,
            "lens": "50mm",
            "people": ["Ana"],
            "mixed": 1,
            "exif": {"gps": {"fix": 3}},
            "none": None,
        },
        {"iso": 2.5, "raw": False, "lens": "", "people": "Bo", "mixed": "one", "huge": (1 << 53) + 1},
    )
    found = columns.by_name
    assert isinstance(found["iso"], NumberColumn) and found["iso"].values.tolist() == [100, 2.5]
    assert isinstance(found["raw"], FlagColumn) and found["raw"].values.tolist() == [1, 0]
    assert isinstance(found["lens"], TextColumn) and found["lens"].known().tolist() == [True, False]
    assert isinstance(found["people"], LabelColumn) and [found["people"][0], found["people"][1]] == [("Ana",), ("Bo",)]
    assert isinstance(found["mixed"], TextColumn) and [found["mixed"][0], found["mixed"][1]] == ["1", "one"]
    assert isinstance(found["exif.gps.fix"], NumberColumn)
    assert isinstance(found["huge"], TextColumn)
    assert found["huge"][1] == "9007199254740993"
    assert with_extra({"x": float("nan")}, {"x": 1}).by_name["x"].known().tolist() == [False, True]
    assert "none" not in found


def test_a_taken_name_is_reached_through_its_home() -> None:
    picture = Picture("a", "a", lat=1.0, extra={"lat": 9, "Setting": 3, "year": 5})
    columns = build_columns([(picture, Annotation("a", facets={"setting": "beach", "tag": "x"}), [])])
    assert columns.numbers("lat").values.tolist() == [1.0]
    assert isinstance(columns.by_name["setting"], TextColumn)
    assert {"extra.lat", "extra.setting", "extra.year", "facet.tag"} <= columns.by_name.keys()


def test_groups() -> None:
    groups = [
        Group("owner/ana", "owner", (), hidden=True),
        Group("event/ana/1", "event", ()),
        Group("burst/x", "burst", (), hidden=True),
    ]
    columns = build_columns(
        [(Picture("a", "a"), None, groups), (Picture("b", "b", extra={"owner": "bo"}), None, groups)]
    )
    assert [columns.texts("owner")[row] for row in (0, 1)] == ["ana", "bo"]
    assert columns.labels("event")[0] == ("ana/1",)
    assert columns.labels("group")[0] == ("event/ana/1",)
    assert columns.labels("burst")[0] == ()


def test_keywords_are_tags() -> None:
    columns = build_columns([(Picture("a", "a", extra={"keywords": ["Sea"]}), Annotation("a", tags=("night",)), [])])
    assert columns.labels("tag")[0] == ("Sea", "night")
    assert columns.by_name["keywords"].known().tolist() == [True]


def test_exactly_one_value_of_a_vocabulary() -> None:
    owners = build_columns(
        [(Picture(name, "x", extra={"owner": name}), None, []) for name in ("ana", "Ana", "bo")]
    ).texts("owner")
    assert owners.where(owners.vocabulary.one("Ana")).tolist() == [False, True, False]
    assert not owners.where(owners.vocabulary.one("nobody")).any()


def test_removed_and_empty() -> None:
    assert len(build_columns([])) == 0
    columns = build_columns([None, (Picture("a", "a"), None, []), None])
    assert columns.present.tolist() == [False, True, False]
    assert columns.texts("id")[1] == "a"
    assert columns.texts("id")[0] is None


@settings(max_examples=60, deadline=None)
@given(rows=records)
def test_disk_and_back(rows: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("columns")
    columns = build_columns(rows)
    save_columns(columns, folder)
    first = (folder / "columns.bin").read_bytes()
    loaded = load_columns(folder)
    assert list(loaded.by_name) == list(columns.by_name)
    np.testing.assert_array_equal(loaded.present, columns.present)
    save_columns(loaded, folder)
    assert (folder / "columns.bin").read_bytes() == first
    for name, column in columns.by_name.items():
        if isinstance(column, TextColumn | LabelColumn):
            again = loaded.by_name[name]
            assert isinstance(again, type(column))
            assert [column[row] for row in range(len(rows))] == [again[row] for row in range(len(rows))]


def test_same_pictures_same_bytes(tmp_path: Path) -> None:
    for name, tags in (("one", {"b", "a", "c"}), ("two", {"c", "a", "b"})):
        (tmp_path / name).mkdir()
        save_columns(
            build_columns([(Picture("a", "a"), Annotation("a", tags=tuple(sorted(tags))), [])]), tmp_path / name
        )
    assert (tmp_path / "one/columns.bin").read_bytes() == (tmp_path / "two/columns.bin").read_bytes()


def test_files_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be read"):
        load_columns(tmp_path)
    path = tmp_path / "columns.bin"
    path.write_bytes(b"something else entirely")
    with pytest.raises(UserError, match="is not a file of columns"):
        load_columns(tmp_path)
    save_columns(with_extra({"iso": 1}, {}), tmp_path)
    whole = path.read_bytes()
    for size in (0, 5, 12, 200, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(UserError, match="build the index again"):
            load_columns(tmp_path)
    path.write_bytes(whole.replace(b'"schema":2', b'"schema":9'))
    with pytest.raises(UserError, match="another version"):
        load_columns(tmp_path)


@pytest.mark.parametrize("step", [16, pytest.param(1, marks=pytest.mark.slow)])
def test_damage_that_keeps_the_size_is_noticed(tmp_path: Path, step: int) -> None:
    columns = with_extra({"iso": 100, "lens": "wide"}, {"iso": 200, "lens": "long"})
    save_columns(columns, tmp_path)
    path = tmp_path / "columns.bin"
    whole = path.read_bytes()
    header = int.from_bytes(whole[8:16], "little") + 24
    used = {at for at in range(len(whole)) if at < header or whole[at]}  # Beyond the header, zeros may be padding.
    for at in sorted(used)[::step]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        with pytest.raises(UserError, match="build the index again"):
            load_columns(tmp_path)
