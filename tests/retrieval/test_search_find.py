"""Searching a folder, with a small embedder that knows two colours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from shutil import copy

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import sightline
from sightline.errors import UserError
from sightline.pictures import scan
from sightline.retrieval.search import search


class Colours:
    """Red and blue are two directions; counts what it is asked."""

    name, revision, dim, side = "colours", "1", 3, 16

    def __init__(self) -> None:
        self.pictures_seen = self.texts_seen = 0

    def pictures(self, batch: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        self.pictures_seen += len(batch)
        return _unit(np.stack([pixels.mean(axis=(0, 1)) for pixels in batch]))

    def texts(self, batch: Sequence[str]) -> NDArray[np.float32]:
        self.texts_seen += len(batch)
        return _unit(np.array([["red" in text, "green" in text, "blue" in text] for text in batch]))


def _unit(rows: NDArray[np.generic]) -> NDArray[np.float32]:
    values = rows.astype(np.float32) + 1e-3
    return np.asarray(values / np.linalg.norm(values, axis=1, keepdims=True), np.float32)


def paint(path: Path, colour: str, size: tuple[int, int] = (32, 24)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    exif = Image.Exif()
    exif[271] = "Maker"
    exif.get_ifd(34665)[36867] = "2021:08:03 18:12:00"
    Image.new("RGB", size, colour).save(path, exif=exif)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    paint(tmp_path / "pictures" / "a" / "red.jpg", "red")
    paint(tmp_path / "pictures" / "a" / "blue.jpg", "blue")
    paint(tmp_path / "pictures" / "b" / "lime.jpg", "lime")
    return tmp_path / "pictures"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "ws"


def ids(found: object) -> list[str]:
    return [hit.picture.id for hit in found.hits]  # type: ignore[attr-defined]


def test_best_first(folder: Path, workspace: Path) -> None:
    found = search("something blue", folder, workspace=workspace, embedder=Colours(), k=2)
    assert ids(found)[0] == "a/blue.jpg" and len(found.hits) == 2
    assert found.hits[0].score > 0.99 > found.hits[1].score
    assert found.hits[0].picture.taken_at == datetime(2021, 8, 3, 18, 12)
    assert (found.searched, found.embedded, found.left_out) == (3, 3, {})


def test_the_second_time_nothing_is_embedded(folder: Path, workspace: Path) -> None:
    first, second = Colours(), Colours()
    search("red", folder, workspace=workspace, embedder=first)
    again = search("red", folder, workspace=workspace, embedder=second)
    assert (first.pictures_seen, first.texts_seen) == (3, 1)
    assert (second.pictures_seen, second.texts_seen) == (0, 0)
    assert ids(again)[0] == "a/red.jpg" and again.embedded == 0


def test_only_what_is_new_is_embedded(folder: Path, workspace: Path) -> None:
    search("red", folder, workspace=workspace, embedder=Colours())
    paint(folder / "c" / "crimson.jpg", "crimson")
    (folder / "a" / "red.jpg").unlink()
    embedder = Colours()
    found = search("red", folder, workspace=workspace, embedder=embedder)
    assert embedder.pictures_seen == 1 and ids(found)[0] == "c/crimson.jpg" and "a/red.jpg" not in ids(found)


def test_a_part_of_what_the_workspace_knows(folder: Path, workspace: Path) -> None:
    search("red", folder, workspace=workspace, embedder=Colours())
    part = search("red", folder / "a", workspace=workspace, embedder=Colours())
    everything = search("red", workspace=workspace, embedder=Colours())
    assert set(ids(part)) == {"a/red.jpg", "a/blue.jpg"} and len(everything.hits) == 3


def test_another_revision_is_another_space(folder: Path, workspace: Path) -> None:
    search("red", folder, workspace=workspace, embedder=Colours())
    newer = Colours()
    newer.revision = "2"
    search("red", folder, workspace=workspace, embedder=newer)
    assert newer.pictures_seen == 3


def test_a_corpus_that_was_scanned_before(folder: Path, workspace: Path) -> None:
    scan(folder, workspace=workspace)
    assert ids(search("green", workspace=workspace, embedder=Colours()))[0] == "b/lime.jpg"


def test_files_that_call_themselves_pictures_and_are_none_are_counted(folder: Path, workspace: Path) -> None:
    (folder / "page.jpg").write_text("<html>")
    (folder / "cut.jpg").write_bytes((folder / "a" / "red.jpg").read_bytes()[:300])
    (folder / "notes.txt").write_text("not meant as a picture")
    for _ in range(2):
        found = search("red", folder, embedder=Colours(), workspace=workspace)
        assert found.left_out == {"not a picture": 1, "truncated": 1}


def test_an_empty_folder(tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "empty").mkdir()
    found = search("red", tmp_path / "empty", workspace=workspace, embedder=Colours())
    assert found.hits == () and found.searched == 0


def test_as_json_and_as_a_table(folder: Path, workspace: Path) -> None:
    found = sightline.search("red", folder, workspace=workspace, embedder=Colours(), k=1)
    (hit,) = found.to_json()["hits"]
    assert hit["id"] == "a/red.jpg" and hit["taken_at"] == "2021-08-03T18:12:00" and hit["uri"].endswith("/a/red.jpg")
    pytest.importorskip("pandas")
    assert found.to_pandas()["id"].tolist() == ["a/red.jpg"]


@pytest.mark.parametrize(
    ("query", "k", "message"), [("", 10, "the query is empty"), (" \n", 10, "is empty"), ("red", 0, "-k 0")]
)
def test_queries_that_ask_for_nothing(folder: Path, workspace: Path, query: str, k: int, message: str) -> None:
    with pytest.raises(UserError, match=message):
        search(query, folder, workspace=workspace, embedder=Colours(), k=k)


def test_places_that_cant_be_searched(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(UserError, match="there is no folder"):
        search("red", tmp_path / "none", workspace=tmp_path / "ws", embedder=Colours())
    with pytest.raises(UserError, match="holds no corpus to search") as caught:
        search("red", workspace=tmp_path / "ws", embedder=Colours())
    assert "--in DIR" in (caught.value.fix or "")
    with pytest.raises(UserError, match="inside the pictures' folder"):
        search("red", folder, workspace=folder / "ws", embedder=Colours())
    assert not (tmp_path / "ws").exists() and not (folder / "ws").exists()


def test_the_same_content_at_several_places_is_one_hit(folder: Path, workspace: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    (backup / "old").mkdir(parents=True)
    for name in ("one.jpg", "old/two.jpg"):
        copy(folder / "a" / "red.jpg", backup / name)
    copy(folder / "a" / "red.jpg", folder / "red again.jpg")
    first = search("red", folder, workspace=workspace, embedder=Colours(), k=10)
    assert sorted(ids(first)) == ["a/blue.jpg", "a/red.jpg", "b/lime.jpg"] and first.searched == 3
    assert [Path(address).name for address in first.hits[0].also_at] == ["red%20again.jpg"]
    assert "a/red.jpg (+1 copy)" in str(first)
    there = search("red", backup, workspace=workspace, embedder=Colours(), k=10)
    assert ids(there) == ["old/two.jpg"] and there.searched == 1, "found in the folder that was asked for"
    everywhere = search("red", workspace=workspace, embedder=Colours(), k=10)
    assert everywhere.searched == 3 and len(everywhere.hits) == 3
    assert len(everywhere.hits[0].also_at) == 3 == len(everywhere.to_json()["hits"][0]["also_at"])
    narrowed = search("red", workspace=workspace, embedder=Colours(), where='file:"red again.jpg"', k=10)
    assert ids(narrowed) == ["red again.jpg"] and len(narrowed.hits[0].also_at) == 3


def test_pictures_that_only_look_alike_are_hits_of_their_own(folder: Path, workspace: Path) -> None:
    paint(folder / "a" / "red too.jpg", "red", (64, 48))
    found = search("red", folder, workspace=workspace, embedder=Colours(), k=2)
    assert {hit.picture.id for hit in found.hits} == {"a/red.jpg", "a/red too.jpg"} and found.hits[0].also_at == ()
