"""Searches in the `with` block of a session: embedder and index are opened once, and closed with it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from search_tools import Colours, paint
from sightline import Session
from sightline.models.embedders import session as embedding
from sightline.retrieval import search as searching
from sightline.retrieval.searcher import Searcher
from sightline.types import Method


class Watched(Colours):
    """Says that it was closed."""

    closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """What searches opened: embedders and indexes."""
    found: dict[str, list[Any]] = {"embedders": [], "indexes": []}

    def find(*_: object, **__: object) -> Watched:
        found["embedders"].append(Watched())
        return found["embedders"][-1]  # type: ignore[no-any-return]

    class Counted(Searcher):
        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(*given, **options)
            found["indexes"].append(self)

    monkeypatch.setattr(embedding, "find_embedder", find)
    monkeypatch.setattr(searching, "Searcher", Counted)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for colour in ("red", "blue"):
        paint(tmp_path / "pictures" / f"{colour}.png", colour)
    return tmp_path / "pictures"


def best(session: Session, words: str, folder: Path, **more: Any) -> str:
    return session.search(words, folder, **more).hits[0].picture.id


def test_inside_the_block_they_are_opened_once(folder: Path, tmp_path: Path, opened: dict[str, list[Any]]) -> None:
    with Session(tmp_path / "ws") as session:
        found = [best(session, colour, folder) for colour in ("red", "blue", "red")]
        assert found == ["red.png", "blue.png", "red.png"]
        assert len(opened["embedders"]) == len(opened["indexes"]) == 1
        assert not opened["embedders"][0].closed
    assert opened["embedders"][0].closed
    best(session, "red", folder)  # After the block each search opens its own again.
    best(session, "red", folder)
    assert len(opened["embedders"]) == 3 and all(one.closed for one in opened["embedders"])


def test_a_picture_that_came_is_found(folder: Path, tmp_path: Path, opened: dict[str, list[Any]]) -> None:
    with Session(tmp_path / "ws") as session:
        assert best(session, "lime", folder) != "lime.png"
        paint(folder / "lime.png", "lime")
        assert best(session, "lime", folder) == "lime.png"
        assert best(session, "lime", folder, workspace=tmp_path / "other") == "lime.png"  # Not kept: another place.
    assert len(opened["embedders"]) == 2 and len(opened["indexes"]) == 3


def test_words_need_no_embedder(folder: Path, tmp_path: Path, opened: dict[str, list[Any]]) -> None:
    words = Method(vectors=False, words=True)
    with Session(tmp_path / "ws") as session:
        assert best(session, "blue", folder, method=words) == "blue.png"
        assert opened["embedders"] == []
        assert best(session, "red", folder) == "red.png" and best(session, "blue", folder, method=words) == "blue.png"
    assert len(opened["embedders"]) == 1 and len(opened["indexes"]) == 3


def test_what_is_open_does_not_go_to_another_process(tmp_path: Path) -> None:
    with Session(tmp_path / "ws", budget="5usd", seed=7, engine="ray") as session:
        there = pickle.loads(pickle.dumps(session.with_calls(budget=None)))
    assert (there.workspace, there.seed, there.engine) == (tmp_path / "ws", 7, "ray")
    assert there.calls == session.with_calls(budget=None).calls and there.config_path == session.config_path
