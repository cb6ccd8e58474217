"""Tools over a history: what they find, what they keep, and what they never show."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_tools import ana, call, history, index_of, materials_of, tool
from search_tools import Colours
from sightline.agent.state import AgentState
from sightline.agent.tools.base import Materials
from sightline.agent.tools.registry import KINDS, STANDARD
from sightline.retrieval.searcher import Searcher
from sightline.retrieval.vector_stores.base import DamagedError
from sightline.types import Picture

HISTORY = ("ImageSearch", "GetMetadata", "FilterMetadata", "SimilarTo", "Combine", "Count", "Timeline", "Map")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_of(tmp_path_factory.mktemp("history"))


@pytest.fixture
def materials(workspace: Path) -> Iterator[Materials]:
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        yield materials_of(searcher)


@pytest.fixture
def plain(tmp_path: Path) -> Materials:
    """The same pictures without an index."""
    return Materials({picture.id: picture for picture in history(tmp_path)})


def ids(observation: Any) -> list[str]:
    data = observation.data
    return [row["photo_id"] for row in data["results"]] if "results" in data else data["photos"]


def test_every_tool_has_a_schema_that_allows_nothing_else(materials: Materials) -> None:
    assert set(STANDARD) <= set(KINDS)
    for name, kind in KINDS.items():
        made = kind.make(materials)
        if made is not None:
            schema: Any = made.spec.parameters
            assert made.spec.name == name and schema["additionalProperties"] is False
            assert set(schema["required"]) <= set(schema["properties"])


def test_a_damaged_index_stops_the_work_and_is_not_told_to_the_model(tmp_path: Path) -> None:
    """A model would answer without the search, and nobody would know why."""
    workspace = index_of(tmp_path)
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        path, materials = searcher.folder / "index.sqlite", materials_of(searcher)
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE rows SET picture = replace(picture, 'jpg', 'jpc')")
        with pytest.raises(DamagedError, match=r"index\.sqlite is damaged: a picture's row is not what was written"):
            call(tool("ImageSearch", materials), AgentState(), text="red")
        with pytest.raises(DamagedError, match=r"index\.sqlite is damaged"), searcher.reading_table():
            searcher.table.pictures(searcher.table.rows().tolist())


def test_without_material_a_tool_is_not_offered() -> None:
    offered = {name for name, kind in KINDS.items() if kind.make(Materials()) is not None}
    assert offered == {"Calculate"}


@pytest.mark.world
def test_words_find_pictures_best_first(materials: Materials) -> None:
    from sightline_world.models.chat.planning.tools import ids_in

    found = call(tool("ImageSearch", materials), text="blue", top_k=2)
    assert ids(found)[0] == "blue.png" and len(ids(found)) == 2
    assert found.found == tuple(ids(found)) and ids_in(found.text) == ids(found)
    data: Any = found.data
    scores = [row["score"] for row in data["results"]]
    assert scores == sorted(scores, reverse=True)


def test_photos_are_cues_and_not_limits(materials: Materials) -> None:
    assert ids(call(tool("ImageSearch", materials), photos=["red.png"], top_k=1)) == ["red.png"]
    region = call(tool("ImageSearch", materials), photos=["blue.png#0,0,0.5,0.5"], top_k=1)
    assert ids(region) == ["blue.png"]
    assert call(tool("ImageSearch", materials)).error


def test_a_made_picture_is_a_cue_too(materials: Materials) -> None:
    state = AgentState()
    call(tool("Rotate", materials), state, photo="lime.png", degrees=90)
    assert ids(call(tool("ImageSearch", materials), state, photos=["lime.png~rotate-90"], top_k=1)) == ["lime.png"]
    part = "lime.png~rotate-90#0,0,0.5,0.5"
    assert ids(call(tool("ImageSearch", materials), state, photos=[part], top_k=1)) == ["lime.png"]


def test_similar_ones_without_itself(materials: Materials) -> None:
    found = ids(call(tool("SimilarTo", materials), photo="red.png", top_k=3))
    assert len(found) == 3 and "red.png" not in found


def test_subsets_are_kept_and_searched_within(materials: Materials) -> None:
    state = AgentState()
    japan = call(tool("FilterMetadata", materials), state, expression='address ~ "Japan"', save_as="japan")
    assert japan.data == {"count": 2, "photos": ["red.png", "blue.png"], "saved_as": "japan"}
    assert state.subsets["japan"] == ("red.png", "blue.png")
    within = call(tool("ImageSearch", materials), state, text="lime", search_within="japan")
    assert set(ids(within)) == {"red.png", "blue.png"}
    later = call(tool("FilterMetadata", materials), state, expression="time >= 2020-01-02", filter_within="japan")
    assert ids(later) == ["blue.png"]
    assert call(tool("Count", materials), state, within="japan").data == {"count": 2}
    unknown = call(tool("ImageSearch", materials), state, text="red", search_within="jpan")
    assert unknown.error and "Subsets: japan" in unknown.text


def test_an_empty_subset_is_not_everything(materials: Materials) -> None:
    state = AgentState()
    call(tool("FilterMetadata", materials), state, expression="year = 1999", save_as="none")
    assert ids(call(tool("ImageSearch", materials), state, text="red", search_within="none")) == []
    assert call(tool("Count", materials), state, within="none").data == {"count": 0}
    nobody = AgentState(allowed=frozenset())
    assert ids(call(tool("ImageSearch", materials), nobody, text="red")) == []
    assert call(tool("Count", materials), nobody).data == {"count": 0}


def test_python_expressions_are_understood_and_never_run(materials: Materials) -> None:
    used = tool("FilterMetadata", materials)
    assert ids(call(used, expression='match_address(address, "France") and time.year == 2020')) == [
        "lime.png",
        "magenta.png",
    ]
    for hostile in ("__import__('os').system('true')", "().__class__", "open('/etc/passwd')", "1e9**1e9", "(" * 5000):
        assert call(used, expression=hostile).error


@pytest.mark.parametrize("with_index", [True, False])
def test_what_another_owner_has_is_as_unknown_as_what_does_not_exist(
    materials: Materials, plain: Materials, with_index: bool
) -> None:
    used, state = materials if with_index else plain, ana()
    theirs, nothing = "lime.png", "nothing.png"
    for name in ("ViewPhotos", "GetMetadata"):
        first, second = (call(tool(name, used), state, photos=[each]) for each in (theirs, nothing))
        # What is said after it only compares the name with pictures that may be seen.
        told, same = (each.text.partition(" here.")[0] for each in (first, second))
        assert told.replace(theirs, nothing) == same and theirs not in state.viewed
    for name in ("Crop", "Zoom", "ReadText", "Measure"):
        assert call(tool(name, used), state, photo=theirs, **({"box": [0, 0, 1, 1]} if name == "Crop" else {})).error
    assert call(tool("FilterMetadata", used), state, expression="true").data["count"] == 3  # type: ignore[index,call-overload]
    assert call(tool("Count", used), state).data == {"count": 3}
    state.subsets["sly"] = (theirs, "red.png")
    assert ids(call(tool("FilterMetadata", used), state, expression="true", filter_within="sly")) == ["red.png"]
    if with_index:
        assert set(ids(call(tool("ImageSearch", used), state, text="lime"))) == {"red.png", "blue.png", "magenta.png"}
        assert ids(call(tool("ImageSearch", used), state, text="lime", search_within="sly")) == ["red.png"]
        assert call(tool("ImageSearch", used), state, photos=[theirs]).error
        assert call(tool("SimilarTo", used), state, photo=theirs).error


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "red.png/../red.png", "", "\x00"]
)
def test_paths_are_no_ids(materials: Materials, path: str) -> None:
    for name in ("ViewPhotos", "GetMetadata", "ImageSearch"):
        seen = call(tool(name, materials), photos=[path])
        assert not seen.pictures and not seen.found


@pytest.mark.world
def test_metadata_are_told_as_asked(materials: Materials) -> None:
    from sightline_world.models.chat.planning.tools import facts_in

    used = tool("GetMetadata", materials)
    told = call(used, photos=["red.png", "cyan.png", "nothing.png"])
    assert told.data == {
        "photos": [
            {"photo_id": "red.png", "time": "2020-01-01T12:00:00", "address": "Gion, Kyoto, Japan"},
            {"photo_id": "cyan.png", "time": "2020-01-06T12:00:00", "address": None},
        ],
        "unknown": ["nothing.png"],
    }
    facts = facts_in(told.text)
    assert facts["red.png"].town == "Kyoto" and facts["cyan.png"].address == ""
    assert "address" not in call(used, photos=["red.png"], fields=["time"]).text
    assert "Fields: time" in call(used, photos=["red.png"], fields=["secrets"]).text
    assert call(used, photos=[f"{n}.png" for n in range(101)]).error


def test_sets_are_combined_in_order(materials: Materials) -> None:
    state = AgentState()
    state.subsets |= {"a": ("red.png", "lime.png", "blue.png"), "b": ("blue.png", "cyan.png")}
    used = tool("Combine", materials)

    def combined(operation: str, **more: Any) -> list[str]:
        return ids(call(used, state, operation=operation, subsets=["a", "b"], **more))

    assert combined("union") == ["red.png", "lime.png", "blue.png", "cyan.png"]
    assert combined("intersect") == ["blue.png"]
    assert combined("minus", save_as="rest") == ["red.png", "lime.png"] and state.subsets["rest"] == (
        "red.png",
        "lime.png",
    )
    assert combined("minus", photos=["lime.png", "nothing.png"]) == ["red.png"]
    assert call(used, state, operation="xor", subsets=["a"]).error
    assert call(used, state, operation="union").error
    assert call(used, state, operation="union", subsets=["c"]).error


def test_a_subset_that_cant_be_saved_is_said(materials: Materials) -> None:
    state = AgentState(subsets_on=False)
    told = call(tool("FilterMetadata", materials), state, expression="true", save_as="all")
    assert "not_saved" in told.text and not state.subsets


def test_overviews_count_everything(materials: Materials) -> None:
    line = call(tool("Timeline", materials), by="month").data
    assert line["photos_in"] == {"2020-01": 6} and line["first"] == "2020-01-01T12:00:00"  # type: ignore[index,call-overload]
    assert call(tool("Timeline", materials), ana()).data["count"] == 3  # type: ignore[index,call-overload]
    places = call(tool("Map", materials)).data
    assert places["photos_in"]["Kyoto, Japan"] == 2 and places["without_place"] == 1  # type: ignore[index,call-overload]
    countries = call(tool("Map", materials), by="country").data["photos_in"]  # type: ignore[index,call-overload]
    assert countries == {"Japan": 2, "France": 2, "United States": 1}


def test_long_lists_are_cut_and_kept_whole_in_the_subset(tmp_path: Path) -> None:
    many = {f"{n}.png": Picture(f"{n}.png", f"{n}.png") for n in range(1000)}
    state = AgentState()
    told = call(tool("FilterMetadata", Materials(many)), state, expression="true", save_as="all")
    assert told.data["count"] == 1000 and len(ids(told)) == 400 and len(state.subsets["all"]) == 1000  # type: ignore[index,call-overload]


def test_people_are_offered_only_where_metadata_name_them(plain: Materials) -> None:
    assert KINDS["People"].make(plain) is None
    named = {
        id_: replace(picture, extra={"people": ["Ana", "Ben"] if id_ == "red.png" else ["Ana"]})
        for id_, picture in plain.pictures.items()
    }
    used = tool("People", Materials(named))
    assert call(used).data == {"people": {"Ana": 6, "Ben": 1}}
    assert ids(call(used, name="ben")) == ["red.png"]
    assert "Names: Ana, Ben" in call(used, name="Zoe").text


@pytest.mark.world
def test_mistakes_read_as_errors_to_whoever_parses_them(materials: Materials) -> None:
    from sightline_world.models.chat.planning.tools import is_error

    for name in HISTORY:
        wrong = call(tool(name, materials), nonsense=1)
        assert wrong.error and is_error(wrong.text)
