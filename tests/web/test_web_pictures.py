"""The page of pictures: facets as SQL and as a filter, folding, kept searches, and what leaves as an album."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from search_tools import Colours
from sightline.web.found_pictures import PictureQuery
from sightline.web.kept_searches import FILE_NAME, KeptSearches
from sightline.web.picture_choice import PictureChoice
from sightline.web.server import open_app
from web_samples import client, forgery_token


@pytest.fixture
def app(copied: Path) -> TestClient:
    return client(open_app(None, (copied,), port=8377, embedder=Colours()))


@pytest.mark.parametrize(
    "query",
    [
        {"owner": "ana"},
        {"year": "2023"},
        {"month": "2024-03"},
        {"tag": "person"},
        {"rating": "3"},
        {"type": "image/tiff"},
        {"device": "?"},
        {"name": "BURST"},
        {"box": "-10,30,30,60"},
        {"year": "2024", "owner": "ben"},
    ],
)
def test_facets_mean_the_same_as_their_filter(life: Path, query: dict[str, str]) -> None:
    desk = open_app(None, (life,), port=1, embedder=Colours())
    choice = PictureChoice.read(query)
    by_facets = desk.pictures.find(PictureQuery(choice=choice, is_folded=False)).files
    by_filter = desk.pictures.find(PictureQuery.read({"where": choice.as_filter(), "similar": "all"})).files
    assert sorted(by_facets) == sorted(by_filter) and 0 < len(by_facets) < 60


def test_no_facet_has_a_single_value(life: Path) -> None:
    desk = open_app(None, (life,), port=1, embedder=Colours())
    assert {"year", "place", "device"} <= set(desk.pictures.facets(PictureQuery()))
    left = desk.pictures.facets(PictureQuery.read({"owner": "ana", "year": "2024"}))
    assert "owner" not in left and "year" not in left
    assert all(sum(value != "?" for value, _ in values) > 1 for values in left.values())


def test_of_similar_pictures_the_first_that_is_shown_stands_for_all(life: Path) -> None:
    desk = open_app(None, (life,), port=1, embedder=Colours())
    corpus = desk.library.corpus
    assert corpus is not None
    every = desk.pictures.find(PictureQuery(is_folded=False)).files
    folded = desk.pictures.find(PictureQuery())
    assert len(folded.files) + folded.folded == len(every) == 60
    stacks = corpus.looks().stacks
    held = [int(stacks[file]) for file in folded.files if stacks[file]]
    assert len(held) == len(set(held)) > 0 and set(held) == set(stacks[every]) - {0}
    last = every[np.flatnonzero(stacks[every])[-1:]]  # By itself it is shown, though it is not the first of its stack.
    assert corpus.looks().folded(last).tolist() == last.tolist()


def test_searches_are_kept_and_saved(tmp_path: Path) -> None:
    kept = KeptSearches(tmp_path)
    for number in range(20):
        kept.keep(f"text=dog+{number}&offset=3", is_saved=False)
    kept.keep("?text=dog+19", is_saved=False)
    kept.keep("order=oldest", is_saved=False)  # Asks for nothing.
    assert [one.title for one in kept.recent()][:2] == ["dog 19", "dog 18"] and len(kept.recent()) == 12
    kept.keep("year=2020&text=cat", is_saved=True)
    assert kept.is_saved("text=cat&year=2020") and KeptSearches(tmp_path).saved()[0].title == "cat · 2020"
    kept.forget("text=cat&year=2020")
    assert kept.is_saved("text=cat&year=2020") is False and kept.is_saved("order=oldest") is None
    (tmp_path / FILE_NAME).write_bytes(b'{"saved": 3, "recent": [1, "text=<b>"]}')
    assert [one.title for one in kept.recent()] == ["<b>"] and kept.saved() == []


def test_selected_pictures_leave_as_an_album(app: TestClient, life: Path, tmp_path: Path) -> None:
    ids = [row[1] for row in app.get("/api/pictures?limit=3").json()]
    fields = {"csrf": forgery_token(app.get("/search").text), "ids": "\n".join(ids)}
    target = tmp_path / "album"
    told = app.post("/api/album", data=fields | {"folder": str(target), "keyword": "best"}).json()["told"]
    assert "3 copies" in told and sorted(path.name for path in target.glob("*.xmp"))
    assert app.post("/api/contact-sheet", data=fields).content.startswith(b"%PDF")
    for wrong, said in (
        ({"folder": str(life / "pictures" / "in")}, "inside the pictures"),
        ({"folder": ""}, "needs a folder"),
        ({"folder": str(tmp_path / "x"), "ids": "no such picture"}, "No picture is selected"),
    ):
        reply = app.post("/api/album", data=fields | wrong)
        assert reply.status_code == 400 and said in reply.json()["error"]
    assert app.post("/api/album", data={"ids": ids[0], "folder": str(tmp_path / "y")}).status_code == 403


def test_all_pixels_are_sent_and_not_kept(app: TestClient, copied: Path) -> None:
    key = app.get("/api/pictures?limit=1").json()[0][0]
    assert app.get(f"/thumb/{key}?size=0").headers["content-type"] == "image/jpeg"
    assert not list((copied / "workspace" / "thumbs").rglob(f"{key}-0.jpg"))
