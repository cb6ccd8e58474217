"""Indexes that were damaged, are being built, are of something else or of what has changed since."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from search_tools import RGB, Colours, group, paint, painted, said
from sightline.benchmark.folder import write_benchmark
from sightline.calls.session import CallOptions, Session
from sightline.errors import StoppedError, UserError
from sightline.indexing import index
from sightline.io.locks import locked
from sightline.metrics.scope import Scopes
from sightline.models.photos.ocr import WordReader
from sightline.retrieval.index.build import Parts, build_index
from sightline.retrieval.index.content import Content
from sightline.retrieval.index.manifest import find_manifest, index_folder, index_names
from sightline.retrieval.search import search
from sightline.retrieval.searcher import Searcher
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
    write_benchmark(benchmark, folder, force=True)
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
    with pytest.raises(UserError, match="nan is not a number"):
        search("red", workspace=workspace, embedder=Colours(), method=Method(threshold=float("nan")))


@pytest.mark.parametrize("backend", ["exact", "exact:quantised", "faiss:least=2,nlist=2"])
@pytest.mark.parametrize("kind", ["f32", "i8", "bounds", "npy", "faiss", "slots.sqlite"])
def test_damage_that_keeps_the_size_never_gives_wrong_answers(
    backend: str, kind: str, folder: Path, workspace: Path
) -> None:
    pytest.importorskip("faiss" if backend.startswith("faiss") else "numkong")
    built = index(folder, workspace=workspace, embedder=Colours(), backend=backend)
    wanted = search("red", workspace=workspace, embedder=Colours()).hits
    found = [path for path in built.folder.rglob(f"*{kind}") if path.stat().st_size]
    if not found:
        pytest.skip(f"{backend} keeps no such file")
    for path in found:
        data = bytearray(path.read_bytes())
        for at in range(len(data) // 2, len(data)):
            data[at] ^= 0x55
        path.write_bytes(data)
    if kind in ("f32", "slots.sqlite"):
        with pytest.raises(UserError, match="damaged") as refused:
            search("red", workspace=workspace, embedder=Colours())
        assert "sightline index --name default --rebuild" in str(refused.value.fix)
    else:  # What only makes searches fast is done without.
        assert search("red", workspace=workspace, embedder=Colours()).hits == wanted
    embedder = Colours()
    index(folder, workspace=workspace, embedder=embedder)
    assert embedder.pictures_seen == 0
    assert search("red", workspace=workspace, embedder=Colours()).hits == wanted
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        assert searcher.pictures is not None
        assert searcher.pictures.index.exact == (not backend.startswith("faiss"))


def broken(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "header":
        data[:100] = bytes(100)
    elif how == "pages":
        data[4096:] = bytes(byte ^ 0x55 for byte in data[4096:])
    else:
        at = data.rindex(b'"taken_at"')
        data[at + 2] ^= 1
    path.write_bytes(data)


def test_an_empty_table_is_no_index_of_nothing(folder: Path, workspace: Path) -> None:
    built = index(folder, workspace=workspace, embedder=Colours())
    for path in (built.folder / "index.sqlite", *built.folder.glob("*/slots.sqlite")):
        kept = path.read_bytes()
        path.write_bytes(b"")
        with pytest.raises(UserError, match="is damaged") as refused:
            search("red", workspace=workspace, embedder=Colours())
        assert "--rebuild" in str(refused.value.fix)
        path.write_bytes(kept)
        assert search("red", workspace=workspace, embedder=Colours()).ids[0] == "red.png"


def test_a_table_that_is_gone_is_no_index_of_nothing(folder: Path, workspace: Path) -> None:
    built = index(folder, workspace=workspace, embedder=Colours())
    wanted = search("red", workspace=workspace, embedder=Colours()).hits
    for path in built.folder.glob("index.sqlite*"):
        path.unlink()
    with pytest.raises(UserError, match="is not there any more") as refused:
        search("red", workspace=workspace, embedder=Colours())
    assert "--rebuild" in str(refused.value.fix)
    embedder = Colours()
    index(name="default", workspace=workspace, embedder=embedder, rebuild=True)
    assert embedder.pictures_seen == 0
    assert search("red", workspace=workspace, embedder=Colours()).hits == wanted


@pytest.mark.parametrize("how", ["header", "pages", "a letter"])
def test_a_damaged_table_is_noticed_and_rebuilt(how: str, folder: Path, workspace: Path, tmp_path: Path) -> None:
    told = tmp_path / "annotations.jsonl"
    told.write_text(json.dumps({"picture": "lime.png", "summary": "a garden wall"}))
    words = Method(vectors=False, words=True)
    built = index(folder, workspace=workspace, embedder=Colours(), annotations=told)
    wanted = search("red", workspace=workspace, embedder=Colours()).hits
    broken(built.folder / "index.sqlite", how)
    with pytest.raises(UserError, match=r"index\.sqlite is damaged") as refused:
        search("red", workspace=workspace, embedder=Colours())
    assert "sightline index --name default --rebuild" in str(refused.value.fix)
    if how != "a letter":
        with pytest.raises(UserError, match="damaged"):
            index(folder, workspace=workspace, embedder=Colours())
    embedder = Colours()
    anew = index(name="default", workspace=workspace, embedder=embedder, rebuild=True)
    assert embedder.pictures_seen == 0 and anew.changes.added == 8
    assert search("red", workspace=workspace, embedder=Colours()).hits == wanted
    garden = search("garden", workspace=workspace, method=words).ids
    assert garden == (("lime.png",) if how == "a letter" else ())  # What was said is carried over if it can be read.
    assert not list(built.folder.glob("before*"))


@pytest.mark.parametrize("step", ["take_in", "carry_over", "save_columns"])
def test_a_rebuild_that_was_stopped_goes_on(
    step: str, folder: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "annotations.jsonl"
    told.write_text(json.dumps({"picture": "lime.png", "summary": "a garden wall"}))
    index(folder, name="mine", workspace=workspace, embedder=Colours(), annotations=told)

    def stop(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(f"sightline.retrieval.index.build.{step}", stop)
        index(name="mine", workspace=workspace, embedder=Colours(), rebuild=True)
    embedder = Colours()
    found = search("red", index="mine", workspace=workspace, embedder=embedder)
    assert found.ids[0] == "red.png" and found.searched == 8 and embedder.pictures_seen == 0
    words = Method(vectors=False, words=True)
    assert search("garden", index="mine", workspace=workspace, method=words).ids == ("lime.png",)


def test_a_damaged_manifest_says_so(folder: Path, workspace: Path) -> None:
    built = index(folder, workspace=workspace, embedder=Colours())
    for content in ('{"name": "def', '{"name": "default"}'):
        (built.folder / "manifest.json").write_text(content)
        with pytest.raises(UserError, match=r"manifest\.json is damaged") as refused:
            search("red", workspace=workspace, embedder=Colours())
        assert "--rebuild" in str(refused.value.fix)
        index(name="default", workspace=workspace, embedder=Colours(), rebuild=True)
        assert search("red", workspace=workspace, embedder=Colours()).searched == 8


def test_an_index_of_a_benchmark_is_rebuilt_of_it(workspace: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "a", "red", "blue")
    name = index(folder, workspace=workspace, embedder=Colours(), parts=Parts(captions=True)).name
    anew = index(name=name, workspace=workspace, embedder=Colours(), rebuild=True)
    assert (anew.pictures, anew.manifest.source, anew.manifest.captions) == (2, "benchmark walls 1", True)
    build_index(Session(workspace), "run-x", content=Content(painted(tmp_path / "p", red="red")), embedder=Colours())
    with pytest.raises(UserError, match="was made for a run"):
        index(name="run-x", workspace=workspace, embedder=Colours(), rebuild=True)


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
    build_index(Session(workspace), content=Content(pictures), embedder=Colours(), parts=Parts(words_in_pictures=True))
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
    build_index(Session(workspace), content=Content(pictures, groups), embedder=Colours())
    known = {picture.id: picture for picture in pictures}
    allowed = Scopes(Corpus("c", known, groups)).pictures(scope)
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        found = searcher.search(SearchQuery("red", scope=scope, k=20)).ids
    assert allowed is not None and set(found) == allowed & known.keys()


def test_a_filtered_answer_of_an_approximate_index_is_exact(workspace: Path, tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    pictures = painted(tmp_path / "p", **{name: name for name in RGB})
    content = Content(pictures)
    build_index(Session(workspace), content=content, embedder=Colours(), backend="faiss:least=2,nlist=2,nprobe=1")
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        assert not searcher.search(SearchQuery("red")).exact
        assert searcher.search(SearchQuery("red", where="time >= 2020-01-02")).exact


def test_an_approximate_index_is_tried_with_pictures_captions_and_phrases(workspace: Path, tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    names = list(RGB)
    pairs = {f"{a}-{b}": (a, b) for a in names for b in names if a != b}
    told = [said(f"{name}.png", f"a wall, {a} and {b}") for name, (a, b) in pairs.items()]
    content = Content(painted(tmp_path / "p", **pairs), (), told)
    built = build_index(
        Session(workspace), content=content, embedder=Colours(), backend="faiss:least=20,nlist=4,recall=1"
    )
    assert set(built.manifest.recalls) == {"pictures", "captions", "phrases"}
    assert all(0.9 < share <= 1 for share in built.manifest.recalls.values())
    assert "approximate: recall@10 1.000 for pictures, " in str(built) and built.to_json()["recalls"]
    again = build_index(Session(workspace), content=content, embedder=Colours())
    assert again.manifest.recalls == built.manifest.recalls
    assert build_index(Session(workspace), content=content, embedder=Colours(), backend="exact").manifest.recalls == {}


def test_an_embedder_without_texts_is_tried_with_pictures_alone(workspace: Path, tmp_path: Path) -> None:
    pytest.importorskip("faiss")

    class Mute(Colours):
        def texts(self, batch: object) -> NoReturn:
            raise NotImplementedError("pictures only")

    content = Content(painted(tmp_path / "p", **{name: name for name in RGB}))
    built = build_index(Session(workspace), content=content, embedder=Mute(), backend="faiss:least=2,nlist=2")
    assert set(built.manifest.recalls) == {"pictures"}


def test_a_tag_is_shown_once(workspace: Path, tmp_path: Path) -> None:
    (picture,) = painted(tmp_path / "p", red="red")
    twice = replace(picture, extra={"keywords": ["wall", "wall"]})
    content = Content([twice], (), [said("red.png", None, "wall", "warm")])
    build_index(Session(workspace), content=content, embedder=Colours())
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
    build_index(Session(workspace), content=Content(pictures), embedder=Colours())
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
    build_index(Session(workspace), content=Content(pictures), embedder=Colours())
    with Searcher.open(embedder=Colours(), session=Session(workspace, calls=CallOptions(budget=Empty()))) as searcher:
        plain = searcher.search(SearchQuery("red")).ids
        found = searcher.search(SearchQuery("red"), Method(rerank=graded(tmp_path / "s.jsonl", 3)))
    assert found.ids == plain and isinstance(found.stopped, StoppedError) and "budget" in found.notes[0]
