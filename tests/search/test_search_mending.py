"""Indexes that were damaged, are being built, are of something else or of what has changed since."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from search_tools import RGB, Colours, group, paint, painted, said
from sightline import bench
from sightline.errors import StoppedError, UserError
from sightline.indexing import index
from sightline.models.asking import Asking
from sightline.models.photos.words import WordReader
from sightline.score.scope import Scopes
from sightline.search.find import search
from sightline.search.index import Content, Parts, build_index, index_names
from sightline.search.index.lock import locked
from sightline.search.index.manifest import find_manifest, index_folder
from sightline.search.searcher import Searcher
from sightline.types import Benchmark, Corpus, Method, Picture, Relevance, Scope, SearchQuery, Task


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "ws"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in RGB:
        paint(tmp_path / "pictures" / name, name)
    return tmp_path / "pictures"


def made(folder: Path, *names: str) -> Path:
    pictures = {picture.id: replace(picture, uri=picture.id) for picture in painted(folder, **{n: n for n in names})}
    tasks = {"t": Task("t", "rank", ("red",))}
    benchmark = Benchmark("walls", Corpus("walls", pictures), tasks, {"t": Relevance({"red.png": 1})})
    bench.write(benchmark, folder, force=True)
    return folder


# --- damage --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["columns.bin", "columns-header", "vectors-0.f32", "slots.sqlite"])
def test_what_was_damaged_is_made_anew_without_embedding(damage: str, folder: Path, workspace: Path) -> None:
    before = index(folder, workspace=workspace, embedder=Colours())
    wanted = search("red", workspace=workspace, embedder=Colours()).ids
    if damage == "columns-header":
        path = before.folder / "columns.bin"
        data = bytearray(path.read_bytes())
        data[20:24] = b"\xff{{{"
        path.write_bytes(data)
    else:
        (path,) = before.folder.rglob(damage)
        size = path.stat().st_size
        path.with_name("slots.sqlite-wal").unlink(missing_ok=True)
        path.write_bytes(b"\0" * 4096 if damage == "slots.sqlite" else path.read_bytes()[: size // 2])
    with pytest.raises(UserError, match="sightline index"):
        search("red", workspace=workspace, embedder=Colours())
    embedder = Colours()
    index(folder, workspace=workspace, embedder=embedder)
    assert embedder.pictures_seen == 0
    assert search("red", workspace=workspace, embedder=Colours()).ids == wanted


def test_a_damaged_threshold_is_calibrated_anew(folder: Path, workspace: Path) -> None:
    built = index(folder, workspace=workspace, embedder=Colours())
    auto = Method(threshold="auto")
    first = search("red", workspace=workspace, embedder=Colours(), method=auto).threshold
    kept = built.folder / "threshold.npz"
    kept.write_bytes(kept.read_bytes()[:50])
    assert search("red", workspace=workspace, embedder=Colours(), method=auto).threshold == first
    with pytest.raises(UserError, match="nan is no number"):
        search("red", workspace=workspace, embedder=Colours(), method=Method(threshold=float("nan")))


# --- two at once ---------------------------------------------------------------------------------------------


def test_a_search_during_an_update_answers_from_what_is_there(folder: Path, workspace: Path) -> None:
    index(folder, workspace=workspace, embedder=Colours())
    paint(folder / "new", "red", "blue")
    embedder = Colours()
    with locked(index_folder(workspace, "default"), wait=False) as is_ours:
        assert is_ours
        found = search("red", folder, workspace=workspace, embedder=embedder)
    assert found.searched == 8 and embedder.pictures_seen == 0 and "another process" in found.notes[0]
    assert search("red", folder, workspace=workspace, embedder=embedder).searched == 9


# --- of something else, of something older -------------------------------------------------------------------


def test_an_index_of_something_else_is_not_taken_over(folder: Path, workspace: Path, tmp_path: Path) -> None:
    index(folder, name="walls", workspace=workspace, embedder=Colours())
    first, second = made(tmp_path / "a", "red", "blue"), made(tmp_path / "b", "lime")
    with pytest.raises(UserError, match="this workspace's pictures") as refused:
        index(first, name="walls", workspace=workspace, embedder=Colours())
    assert "--name" in str(refused.value.fix)
    names = {index(each, workspace=workspace, embedder=Colours()).name for each in (first, second, first)}
    assert len(names) == 2 and {*names, "walls"} == set(index_names(workspace))
    assert find_manifest(workspace, "walls").pictures == 8
    with pytest.raises(UserError, match="is of benchmark walls"):
        taken = index(first, workspace=workspace, embedder=Colours()).name
        index(second, name=taken, workspace=workspace, embedder=Colours())


def test_a_benchmark_that_changed_is_noticed(workspace: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "a", "red", "blue")
    index(folder, workspace=workspace, embedder=Colours())
    assert search("red", index="walls", workspace=workspace, embedder=Colours()).notes == ()
    made(folder, "red", "blue", "lime")
    (note,) = search("red", index="walls", workspace=workspace, embedder=Colours()).notes
    assert f"sightline index {folder} --name walls" in note
    index(folder, workspace=workspace, embedder=Colours())
    assert search("red", index="walls", workspace=workspace, embedder=Colours()).notes == ()


# --- words, scopes, exactness --------------------------------------------------------------------------------


def test_words_belong_to_the_picture_they_were_read_in(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = painted(tmp_path / "pictures", one="red", two="lime")
    size = max(Path(picture.uri).stat().st_size for picture in pictures)
    for picture in pictures:  # As after unpacking: the same size, the same second.
        path = Path(picture.uri)
        path.write_bytes(path.read_bytes().ljust(size, b"\0"))
        os.utime(path, (1e9, 1e9))
    seen = iter(("harbour", "museum"))
    monkeypatch.setattr(WordReader, "__init__", lambda self: None)
    monkeypatch.setattr(WordReader, "read", lambda self, pixels: [{"text": next(seen)}])
    build_index(workspace, content=Content(pictures), embedder=Colours(), parts=Parts(words_in_pictures=True))
    with Searcher.open(workspace) as searcher:
        for word, id_ in (("harbour", "one.png"), ("museum", "two.png")):
            assert searcher.search(SearchQuery(word), Method(vectors=False, words=True)).ids == (id_,)


@pytest.mark.parametrize(
    "scope",
    [
        Scope(groups=("g",), pictures=("lime.png",)),
        Scope("o", ("g",), ("lime.png",)),
        Scope("o"),
        Scope(pictures=("lime.png", "gone.png")),
        Scope(nowhere=True),
    ],
)
def test_a_scope_means_the_same_in_search_and_in_scoring(scope: Scope, workspace: Path, tmp_path: Path) -> None:
    pictures = [replace(one, extra={}) for one in painted(tmp_path / "p", **{name: name for name in RGB})]
    groups = (group("g", "event", "red.png", "blue.png"), group("o", "owner", "red.png", "lime.png", "cyan.png"))
    build_index(workspace, content=Content(pictures, groups), embedder=Colours())
    known = {picture.id: picture for picture in pictures}
    allowed = Scopes(Corpus("c", known, groups)).pictures(scope)
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        found = searcher.search(SearchQuery("red", scope=scope, k=20)).ids
    assert allowed is not None and set(found) == allowed & known.keys()


def test_a_filtered_answer_of_an_approximate_index_is_exact(workspace: Path, tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    pictures = painted(tmp_path / "p", **{name: name for name in RGB})
    content = Content(pictures)
    build_index(workspace, content=content, embedder=Colours(), backend="faiss:least=2,nlist=2,nprobe=1")
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        assert not searcher.search(SearchQuery("red")).exact
        assert searcher.search(SearchQuery("red", where="time >= 2020-01-02")).exact


def test_a_tag_is_shown_once(workspace: Path, tmp_path: Path) -> None:
    (picture,) = painted(tmp_path / "p", red="red")
    twice = replace(picture, extra={"keywords": ["wall", "wall"]})
    content = Content([twice], (), [said("red.png", None, "wall", "warm")])
    build_index(workspace, content=content, embedder=Colours())
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        assert sorted(searcher.search(SearchQuery("red")).hits[0].tags) == ["wall", "warm"]


# --- re-ranking ----------------------------------------------------------------------------------------------


def graded(path: Path, *counts: int) -> str:
    lines = []
    for count in counts:
        grades = {"grades": [{"picture": number, "grade": number} for number in range(1, count + 1)]}
        lines.append(json.dumps({"match": f"each of the {count} ", "text": json.dumps(grades)}))
    path.write_text("\n".join(lines))
    return f"scripted/{path}"


def test_a_file_that_is_gone_does_not_fail_the_others(workspace: Path, tmp_path: Path) -> None:
    pictures: list[Picture] = painted(tmp_path / "p", **{name: name for name in ("red", "orange", "yellow", "lime")})
    build_index(workspace, content=Content(pictures), embedder=Colours())
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        plain = searcher.search(SearchQuery("red")).ids
        Path(pictures[1].uri).unlink()
        found = searcher.search(SearchQuery("red"), Method(rerank=graded(tmp_path / "s.jsonl", 3)))
    at = plain.index("orange.png")
    others = [id_ for id_ in plain if id_ != "orange.png"][::-1]
    assert found.ids == (*others[:at], "orange.png", *others[at:])
    assert found.failures == 0 and "can't see" in found.notes[0]


def test_a_budget_leaves_the_old_order_of_a_search(workspace: Path, tmp_path: Path) -> None:
    class Empty:
        async def reserve(self, usd: float, about: str = "") -> None:
            raise StoppedError("the budget is used up.")

        def settle(self, usd: float, spent: float | None, about: str = "") -> None:
            """Nothing was spent."""

    pictures = painted(tmp_path / "p", **{name: name for name in ("red", "orange", "lime")})
    build_index(workspace, content=Content(pictures), embedder=Colours())
    with Searcher.open(workspace, embedder=Colours(), asking=Asking(budget=Empty())) as searcher:
        plain = searcher.search(SearchQuery("red")).ids
        found = searcher.search(SearchQuery("red"), Method(rerank=graded(tmp_path / "s.jsonl", 3)))
    assert found.ids == plain and isinstance(found.stopped, StoppedError) and "budget" in found.notes[0]
