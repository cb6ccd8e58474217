"""The page of pictures: facets as SQL and as a filter, folding, kept searches, and what leaves as an album."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from search_tools import Colours
from sightline.calls.session import Session
from sightline.corpus.store import CorpusStore
from sightline.pictures import scan
from sightline.retrieval.index.build import build_index
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
    assert corpus.looks().folded(last, is_ranked=True).tolist() == last.tolist()


@pytest.fixture
def with_film(copied: Path) -> Path:
    """Two albums; and three pictures that stand for the frames of a film, the second of them its poster."""
    ids = sorted(path.relative_to(copied / "pictures").as_posix() for path in (copied / "pictures").rglob("*.jpg"))[:3]
    table = copied / "albums.csv"
    table.write_text("".join(["image_id,album\n", *(f"{id_},{'Rome' if id_ < ids[2] else 'Oslo'}\n" for id_ in ids)]))
    scan(copied / "pictures", workspace=copied / "workspace", metadata=table)
    with CorpusStore(copied / "workspace") as store:
        database = store.database
        database.execute("DELETE FROM members WHERE group_id LIKE 'duplicate/%' OR group_id LIKE 'burst/%'")
        database.execute("INSERT INTO groups VALUES ('film/clip.mp4', 'film', 0)")
        rows = [("film/clip.mp4", at, id_) for at, id_ in enumerate(ids)]
        database.executemany("INSERT INTO members (group_id, position, picture) VALUES (?, ?, ?)", rows)
        store.set_columns(ids[1], {"extra": '{"poster":true}', "license": None, "attribution": None})
    return copied


def test_albums_and_films_are_groups_of_the_overview(with_film: Path) -> None:
    app = client(open_app(None, (with_film,), port=8377, embedder=Colours()))
    assert "<b>2</b> albums" in app.get("/").text and "<b>1</b> film<" in app.get("/").text
    assert "clip.mp4" in app.get("/groups", params={"kind": "film"}).text
    chosen = PictureChoice.read({"album": "Rome"})
    desk = open_app(None, (with_film,), port=1, embedder=Colours())
    assert [value for value, _ in desk.pictures.facets(PictureQuery())["album"]] == ["Rome", "Oslo", "?"]
    by_filter = PictureQuery.read({"where": chosen.as_filter(), "similar": "all"})
    build_index(Session(with_film / "workspace"), embedder=Colours())
    corpus = desk.library.corpus
    assert corpus is not None and len(desk.pictures.find(by_filter).files) == 2 == corpus.count(chosen)


def test_a_film_is_shown_as_its_poster_and_found_by_its_best_frame(with_film: Path) -> None:
    desk = open_app(None, (with_film,), port=1, embedder=Colours())
    corpus = desk.library.corpus
    assert corpus is not None
    frames = corpus.files(PictureChoice(group="film/clip.mp4", order="name"))
    shown = desk.pictures.find(PictureQuery())
    assert shown.folded == 2 and set(shown.files) & set(frames) == {frames[1]}
    assert corpus.looks().folded(frames, is_ranked=True).tolist() == [frames[0]]
    assert corpus.looks().folded(frames[[0, 2]], is_ranked=False).tolist() == [frames[0]], (
        "the poster is not among them"
    )


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
