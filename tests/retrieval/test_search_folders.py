"""`search` and `index` as a person uses them: on folders, workspaces and benchmarks, with the mistakes people make."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import sightline
from search_tools import RGB, Colours, paint, painted, said
from sightline.benchmark.folder import write_benchmark
from sightline.corpus.store import CorpusStore
from sightline.errors import UserError
from sightline.indexing import index, read_annotations
from sightline.models.embedders.registry import find_embedder
from sightline.pictures import scan
from sightline.retrieval.filters.tree import FilterError
from sightline.retrieval.index.build import Parts
from sightline.retrieval.index.manifest import index_names
from sightline.retrieval.search import search
from sightline.retrieval.searcher import Searcher
from sightline.types import Benchmark, Corpus, Method, Relevance, Scope, SearchQuery, Task

WORDS = Method(vectors=False, words=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in RGB:
        paint(tmp_path / "pictures" / name, name)
    return tmp_path / "pictures"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "ws"


def test_what_was_done_is_said(folder: Path, workspace: Path) -> None:
    first = search("red", folder, workspace=workspace, embedder=Colours())
    assert first.notes == ('the index "default" was built: 8 pictures, 8 embedded now',)
    assert search("red", folder, workspace=workspace, embedder=Colours()).notes == ()
    paint(folder / "new", "red", "blue")
    (folder / "lime.png").unlink()
    third = search("red", folder, workspace=workspace, embedder=Colours())
    assert third.notes == ('the index "default" was brought up to date: 1 added, 1 removed; 1 embedded now',)


def test_a_corpus_that_is_newer_than_its_index(folder: Path, workspace: Path) -> None:
    search("red", folder, workspace=workspace, embedder=Colours())
    paint(folder / "new", "red", "blue")
    scan(folder, workspace=workspace)
    found = search("red", workspace=workspace, embedder=Colours())
    assert found.searched == 9 and "1 added" in found.notes[0]


@pytest.mark.parametrize("left", ["nothing", "an empty folder"])
def test_a_root_that_is_gone_leaves_the_index_and_comes_back(
    left: str, folder: Path, workspace: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    drive, aside = tmp_path / "drive", tmp_path / "aside"
    paint(drive / "wall", "red", "blue")
    index(folder, workspace=workspace, embedder=Colours())
    assert index(drive, workspace=workspace, embedder=Colours()).pictures == 9
    drive.rename(aside)
    if left == "an empty folder":
        drive.mkdir()
    # A search notices by itself, and says so.
    found = search("red blue", workspace=workspace, embedder=Colours(), k=20)
    assert "wall.png" not in found.ids and found.searched == 8 and "1 removed" in found.notes[0]
    assert f"{drive} is not there" in caplog.text
    assert search("red blue", workspace=workspace, embedder=Colours()).notes == ()
    built = index(workspace=workspace, embedder=Colours())
    assert built.pictures == 8 and built.is_unchanged
    if left == "an empty folder":
        drive.rmdir()
    aside.rename(drive)
    embedder = Colours()
    assert index(workspace=workspace, embedder=embedder).changes.added == 1
    assert embedder.pictures_seen == 0
    assert search("red blue", workspace=workspace, embedder=Colours()).ids[0] == "wall.png"


def test_index_takes_out_what_a_deleted_root_held(folder: Path, workspace: Path, tmp_path: Path) -> None:
    paint(tmp_path / "drive" / "wall", "red", "blue")
    index(folder, workspace=workspace, embedder=Colours())
    index(tmp_path / "drive", workspace=workspace, embedder=Colours())
    shutil.rmtree(tmp_path / "drive")
    assert index(workspace=workspace, embedder=Colours()).changes.removed == 1
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        assert "wall.png" not in searcher.search(SearchQuery("red blue", k=20)).ids


def test_words_need_no_embedder(folder: Path, workspace: Path) -> None:
    found = search("red", folder, workspace=workspace, embedder="nobody/at-all", method=WORDS)
    assert found.ids == ("red.png",) and found.embedder is None and found.embedded == 0


def test_another_embedder_has_an_index_of_its_own(folder: Path, workspace: Path) -> None:
    search("red", folder, workspace=workspace, embedder=Colours())
    other = Colours()
    other.name = "other/colours:x"
    search("red", folder, workspace=workspace, embedder=other)
    assert index_names(workspace) == ["default", "other-colours-x"]
    back = Colours()
    assert search("red", folder, workspace=workspace, embedder=back).notes == () and back.pictures_seen == 0


def test_an_index_by_name_is_not_made_anew_unasked(folder: Path, workspace: Path) -> None:
    index(folder, name="mine", workspace=workspace, embedder=Colours())
    newer = Colours()
    newer.revision = "2"
    with pytest.raises(UserError, match=r'"mine" was built by colours \(1\)') as caught:
        search("red", workspace=workspace, index="mine", embedder=newer)
    assert "sightline index --name mine --embedder colours" in (caught.value.fix or "")
    assert search("red", workspace=workspace, index="mine", embedder=Colours()).index == "mine"
    index(name="mine", workspace=workspace, embedder=newer)
    assert search("red", workspace=workspace, index="mine", embedder=newer).revision == "2"


def test_cues_are_ids_or_files(folder: Path, workspace: Path, tmp_path: Path) -> None:
    def found(*like: str) -> str:
        return search(like=like, folder=folder, workspace=workspace, embedder=Colours(), k=1).ids[0]

    assert found("blue.png") == "blue.png"
    outside = paint(tmp_path / "outside.png", "yellow", "cyan")
    assert found(f"{outside}#0,0,0.5,1") == "yellow.png" and found(f"{outside}#0.5,0,1,1") == "cyan.png"
    with pytest.raises(UserError, match='no picture "nothing'):
        found("nothing.png")


def test_all_of_a_query_at_once(folder: Path, workspace: Path) -> None:
    query = SearchQuery("red", k=2, where="width = 32")
    assert sightline.search(query, folder, workspace=workspace, embedder=Colours()).ids[0] == "red.png"
    with pytest.raises(UserError, match='there is no owner "ana"'):
        search(replace(query, scope=Scope("ana")), workspace=workspace, embedder=Colours())
    with pytest.raises(UserError, match='there is no owner "bob"'):
        search("red", owner="bob", workspace=workspace, embedder=Colours())


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("tiem > 2020", 'unknown field "tiem" at character 1'),
        ("time > 2019-02-30", "does not exist"),
        ("time >", "at character"),
        ("(time > 2019", "at character"),
        ("__import__('os')", "at character"),
    ],
)
def test_filters_with_a_slip(folder: Path, workspace: Path, where: str, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        search("red", folder, where=where, workspace=workspace, embedder=Colours())


def test_a_slip_is_told_before_the_work(folder: Path, workspace: Path) -> None:
    embedder = Colours()
    with pytest.raises(FilterError):
        search("red", folder, where="time > 2019-02-30", workspace=workspace, embedder=embedder)
    assert embedder.pictures_seen == 0 and not workspace.exists()


def test_an_index_that_is_not_there(folder: Path, workspace: Path) -> None:
    search("red", folder, workspace=workspace, embedder=Colours())
    with pytest.raises(UserError, match='has no index "defalt"') as caught:
        search("red", workspace=workspace, index="defalt", embedder=Colours())
    assert 'Did you mean "default"?' in (caught.value.fix or "")


# --- benchmarks ----------------------------------------------------------------------------------------------


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    pictures = painted(tmp_path / "bench" / "pictures", red="red", blue="blue", lime="lime")
    relative = {each.id: replace(each, uri=f"pictures/{each.id}") for each in pictures}
    tasks = {f"t{at}": Task(f"t{at}", "rank", (f"zebra question {at}",)) for at in range(3)}
    truth = {id_: Relevance(dict.fromkeys(relative, 1)) for id_ in tasks}
    made = Benchmark(
        "Colours, all", Corpus("c", relative), tasks, truth, annotations=(said("red.png", "a fire engine", "vehicle"),)
    )
    write_benchmark(made, tmp_path / "bench", force=True)
    return tmp_path / "bench"


def test_a_benchmark(benchmark: Path, workspace: Path) -> None:
    built = index(benchmark, workspace=workspace, embedder=Colours(), parts=Parts(captions=True))
    assert (built.name, built.pictures, built.embedded.made, built.embedded.captions) == ("Colours-all", 3, 3, 1)
    assert index(benchmark, workspace=workspace, embedder=Colours()).is_unchanged
    with Searcher.open(workspace, "Colours-all", embedder=Colours()) as searcher:
        assert searcher.search(SearchQuery("engine"), WORDS).ids == ("red.png",)
        assert searcher.search(SearchQuery("blue", k=1)).ids == ("blue.png",)
        # A picture is there once whatever number of tasks judge it, and nothing of a task can be searched.
        assert len(searcher) == 3 and searcher.search(SearchQuery("zebra question"), WORDS).hits == ()


def test_a_benchmark_is_searched_without_a_corpus(benchmark: Path, workspace: Path) -> None:
    index(benchmark, workspace=workspace, embedder=Colours())
    found = search("blue", index="Colours-all", workspace=workspace, embedder=Colours(), owner="bob")
    assert found.ids == ("blue.png",) and found.notes == () and not (workspace / "corpus.sqlite").exists()
    with pytest.raises(UserError, match="holds no corpus to search"):
        search("blue", workspace=workspace, embedder=Colours())


def test_annotations_of_a_file(folder: Path, workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "annotations.jsonl"
    file.write_text('{"picture": "red.png", "summary": "a fire engine"}\n{"picture": "x.png", "tags": ["none"]}\n')
    built = index(folder, workspace=workspace, embedder=Colours(), annotations=file)
    assert built.changes.unmatched == 1
    assert search("engines", workspace=workspace, method=WORDS).ids == ("red.png",)
    file.write_text('{"picture": "red.png"}\n{"picture": "x", "sumary": "oops"}\n')
    with pytest.raises(UserError, match="line 2"):
        list(read_annotations(file))
    with pytest.raises(UserError, match="there is no file"):
        index(folder, workspace=workspace, embedder=Colours(), annotations=tmp_path / "none.jsonl")


def test_no_folder_and_no_corpus(tmp_path: Path, workspace: Path) -> None:
    with pytest.raises(UserError, match="holds no corpus"):
        index(workspace=workspace, embedder=Colours())
    with pytest.raises(UserError, match="there is no folder"):
        index(tmp_path / "none", workspace=workspace, embedder=Colours())
    with pytest.raises(UserError, match="unknown embedder"):
        find_embedder("coloors")


@pytest.mark.parametrize("named", [None, "default"])
def test_vectors_are_not_looked_for_in_another_back_end(named: str | None, folder: Path, workspace: Path) -> None:
    pytest.importorskip("lancedb")
    index(folder, workspace=workspace, embedder=Colours(), backend="lance")
    embedder = Colours()
    with pytest.raises(UserError, match='the index "default" keeps its vectors in lance, not in exact') as refused:
        search("red", workspace=workspace, embedder=embedder, backend="exact", index=named)
    assert "sightline index --name default --backend exact" in str(refused.value.fix)
    with pytest.raises(UserError, match="keeps its vectors in lance"):
        Searcher.open(workspace, backend="faiss:nprobe=2")
    assert search("red", workspace=workspace, embedder=embedder, backend="lance").ids[0] == "red.png"
    index(workspace=workspace, name="default", embedder=embedder, backend="exact")
    assert search("red", workspace=workspace, embedder=embedder, backend="exact").ids[0] == "red.png"
    assert embedder.pictures_seen == 0


def test_a_folder_that_never_held_a_picture_is_told_of_once(
    folder: Path, workspace: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    search("red", folder, workspace=workspace, embedder=Colours())
    (tmp_path / "empty").mkdir()
    index(tmp_path / "empty", workspace=workspace, embedder=Colours())
    assert f"{tmp_path / 'empty'} holds no pictures." in caplog.text
    caplog.clear()
    paint(folder / "new", "red", "blue")
    assert search("red", folder, workspace=workspace, embedder=Colours()).searched == 9
    assert "empty" not in caplog.text
    paint(tmp_path / "empty" / "later", "lime")
    assert search("red", tmp_path / "empty", workspace=workspace, embedder=Colours()).searched == 1


def test_that_a_first_scan_is_under_way_is_said(folder: Path, workspace: Path) -> None:
    scan(folder, workspace=workspace, limit=1)
    with CorpusStore(workspace) as store:
        store.database.execute("UPDATE roots SET scanned_at = NULL")  # As it is until the end of the first scan.
    notes = search("red", workspace=workspace, embedder=Colours()).notes
    assert f"the first scan of {folder} is not finished" in notes[0]
    assert notes[1] == 'the index "default" was built: 1 picture, 1 embedded now'
    assert "is not finished" in search("red", workspace=workspace, embedder=Colours()).notes[0]
    assert not any(
        "not finished" in note for note in search("red", folder, workspace=workspace, embedder=Colours()).notes
    )
