"""Windows, orders and counts over a corpus, against plain Python over the same pictures."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.corpus.view import open_corpus
from sightline.web.corpus_view import CorpusView
from sightline.web.picture_choice import FACETS, PictureChoice
from web_samples import make_large

_COUNT = 700


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_large(tmp_path_factory.mktemp("some"), _COUNT)


@settings(deadline=None, max_examples=40)
@given(
    order=st.sampled_from(["newest", "oldest", "name"]),
    owner=st.sampled_from([None, "owner1", "nobody"]),
    year=st.sampled_from([None, "2005", "?"]),
    name=st.sampled_from([None, "01", "JPG", "%"]),
    offset=st.integers(0, _COUNT + 10),
    limit=st.integers(1, 90),
)
def test_any_window_is_a_slice_of_all(
    workspace: Path, order: str, owner: str | None, year: str | None, name: str | None, offset: int, limit: int
) -> None:
    choice = PictureChoice(order=order, owner=owner, year=year, name=name)
    view = CorpusView(workspace)
    wanted = [
        picture
        for picture in open_corpus(workspace).pictures.values()
        if (owner is None or picture.extra["owner"] == owner)
        and (year is None or (str(picture.taken_at.year) if picture.taken_at else "?") == year)
        and (name is None or name.lower() in picture.id.lower())
    ]
    ids = [picture.id for picture in wanted]  # Ids follow time here.
    ids = ids[::-1] if order == "newest" else ids
    assert view.count(choice) == len(ids)
    assert [tile.id for tile in view.window(choice, offset, limit)] == ids[offset : offset + limit]


def test_facets_count_what_is_left(workspace: Path) -> None:
    view = CorpusView(workspace)
    pictures = [one for one in open_corpus(workspace).pictures.values() if one.extra["owner"] == "owner2"]
    found = view.facets(PictureChoice(owner="owner2"))
    assert dict(found["device"]) == Counter(picture.device for picture in pictures)
    assert found["owner"] == [("owner2", len(pictures))]
    assert "place" not in found and "license" not in found  # Nobody knows any.
    assert set(found) <= set(FACETS)


def test_a_change_of_the_corpus_is_seen(tmp_path: Path) -> None:
    view = CorpusView(make_large(tmp_path, 100))
    assert view.count(PictureChoice()) == view.total() == 100
    view.store.database.execute("UPDATE files SET state = 'deleted' WHERE id <= 10")
    assert view.count(PictureChoice()) == view.total() == 90
    assert "0000003.jpg" not in {tile.id for tile in view.window(PictureChoice(), 0, 200)}


def test_what_was_counted_at_the_start_is_not_counted_again(tmp_path: Path) -> None:
    view = CorpusView(make_large(tmp_path, 100))
    first = threading.Thread(target=view.warm)
    first.start()
    first.join()
    assert view.store.roots()  # A connection of another thread, and SQLite's own files come with it.
    assert view.facets(PictureChoice())["owner"] and view.count(PictureChoice()) == 100
    assert view._counted.cache_info().misses == view._ordered.cache_info().misses == 1


def test_neighbours_in_time(workspace: Path) -> None:
    view = CorpusView(workspace)
    before, after = view.beside(PictureChoice(), "0000005.jpg")
    assert before is not None and after is not None and (before.id, after.id) == ("0000006.jpg", "0000004.jpg")
    assert view.beside(PictureChoice(), f"{_COUNT - 1:07}.jpg")[0] is None
    assert view.beside(PictureChoice(), "none") == (None, None)


def test_spots_hold_every_picture_of_their_box(workspace: Path) -> None:
    view = CorpusView(workspace)
    box = (-100.0, -30.0, 20.0, 40.0)
    inside = [
        one
        for one in open_corpus(workspace).pictures.values()
        if one.lon is not None and one.lat is not None and -100 <= one.lon <= 20 and -30 <= one.lat <= 40
    ]
    spots = view.spots(box, 7.0)
    assert sum(spot.count for spot in spots) == len(inside)
    assert all(box[0] <= spot.lon <= box[2] and box[1] <= spot.lat <= box[3] for spot in spots)


@pytest.mark.parametrize("text", ["", "1,2,3", "a,b,c,d", "5,5,1,9", "nan,0,1,1"])
def test_a_box_that_is_none_does_not_limit(text: str) -> None:
    assert PictureChoice.read({"box": text, "order": "sideways"}) == PictureChoice()


def test_an_address_is_read_back(workspace: Path) -> None:
    choice = PictureChoice.read({"owner": "owner1", "box": "-10,0,10,20", "order": "name", "other": "x"})
    assert choice.chosen() == {"owner": "owner1", "box": "-10,0,10,20"}
    assert PictureChoice.read({**choice.chosen(), "order": "name"}) == choice
