"""Building an index and bringing it up to date: only what changed, whatever happens in between."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pictures import random_picture
from search_tools import RGB, Colours, group, paint, painted, said
from sightline.calls.session import Session
from sightline.corpus.store import CorpusStore
from sightline.errors import StoppedError, UserError
from sightline.models.embedders.base import EmbeddingAttempt, as_attempt
from sightline.pictures import scan
from sightline.retrieval.index import build as build_module
from sightline.retrieval.index import content
from sightline.retrieval.index import vectors as vectors_module
from sightline.retrieval.index.build import BuiltIndex, Parts, build_index
from sightline.retrieval.index.content import Content
from sightline.retrieval.index.manifest import IndexManifest, index_names, read_manifest, vectors_folder
from sightline.retrieval.index.table import IndexTable
from sightline.retrieval.searcher import Searcher
from sightline.retrieval.vector_stores.base import VectorStoreGoneError
from sightline.retrieval.vector_stores.registry import open_vector_store
from sightline.types import Failure, Method, Picture, SearchQuery


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "ws"


@pytest.fixture
def pictures(tmp_path: Path) -> list[Picture]:
    return painted(tmp_path / "pictures", **{f"{name}-one": name for name in RGB})


def built(workspace: Path, pictures: list[Picture], embedder: Colours | None = None, **more: Any) -> BuiltIndex:
    parts = more.pop("parts", None)
    content = Content(pictures, **more)
    return build_index(Session(workspace), content=content, embedder=embedder or Colours(), parts=parts)


def state(workspace: Path) -> dict[str, tuple[int, list[float]]]:
    """The row and the vector of each picture."""
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        assert searcher.pictures is not None
        held = searcher.pictures.index.rows()
        ids = [searcher.columns.texts("id")[int(row)] for row in held]
        found = zip(ids, held.tolist(), searcher.pictures.index.get(held).tolist(), strict=True)
        return {str(id_): (row, vector) for id_, row, vector in found}


def test_what_building_says(workspace: Path, pictures: list[Picture]) -> None:
    done = built(workspace, pictures)
    shown = done.to_json()
    assert (shown["pictures"], shown["added"], shown["embedded"], shown["left_out"]) == (8, 8, 8, {})
    assert (shown["embedder"], shown["backend"], shown["dim"]) == ("colours", "exact", 3)
    assert index_names(workspace) == ["default"] and not done.is_unchanged


def test_the_second_time_nothing_is_done(workspace: Path, pictures: list[Picture]) -> None:
    built(workspace, pictures)
    again, embedder = Colours(), Colours()
    done = built(workspace, pictures, again)
    assert done.is_unchanged and again.pictures_seen == 0
    other = build_index(Session(workspace), "other", content=Content(pictures), embedder=embedder)
    assert other.embedded.put == 8 and embedder.pictures_seen == 0


def test_only_what_changed_is_embedded_and_rows_stay(workspace: Path, pictures: list[Picture], tmp_path: Path) -> None:
    built(workspace, pictures)
    before = state(workspace)
    paint(tmp_path / "pictures" / "red-one.png", "blue", size=(40, 40))
    new = painted(tmp_path / "pictures", fresh=("lime", "red"))
    embedder = Colours()
    done = built(workspace, [*pictures[:6], *new], embedder)
    assert embedder.pictures_seen == 2
    assert (done.changes.added, done.changes.changed, done.changes.removed) == (1, 1, 2)
    after = state(workspace)
    assert after["fresh.png"][0] == 8 and after.keys() == {*(each.id for each in pictures[:6]), "fresh.png"}
    assert all(after[id_] == before[id_] for id_ in after if id_ not in ("fresh.png", "red-one.png"))
    assert after["red-one.png"][0] == before["red-one.png"][0] and after["red-one.png"][1][2] > 0.9
    # A picture that comes back gets a row of its own.
    built(workspace, pictures)
    assert min(state(workspace)[each.id][0] for each in pictures[6:]) > 8


def test_metadata_alone_embeds_nothing(workspace: Path, pictures: list[Picture]) -> None:
    built(workspace, pictures)
    embedder = Colours()
    moved = [replace(each, address="Kyoto") for each in pictures]
    done = built(workspace, moved, embedder)
    assert done.changes.changed == 8 and done.embedded.put == 0 and embedder.pictures_seen == 0
    with Searcher.open(workspace, embedder=embedder) as searcher:
        assert len(searcher.search(SearchQuery("red", where='address ~ "kyoto"')).hits) == 8


def test_a_picture_belongs_to_the_index_once(workspace: Path, pictures: list[Picture]) -> None:
    done = built(workspace, [*pictures, *pictures])
    assert done.pictures == 8 and len(state(workspace)) == 8


def test_pictures_that_give_no_vector(workspace: Path, pictures: list[Picture], tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\nand no more")
    bad = [Picture("gone.png", str(tmp_path / "gone.png")), Picture("web.png", "https://example.org/x.png")]
    done = built(workspace, [*pictures, *bad, Picture("broken.png", str(broken))])
    assert sum(done.left_out.values()) == 3 and done.left_out["missing"] == done.left_out["not on this machine"] == 1
    assert len(state(workspace)) == 8 and done.manifest.left_out == done.left_out
    paint(tmp_path / "gone.png", "cyan")
    assert built(workspace, [*pictures, *bad]).left_out == {"not on this machine": 1}
    assert "gone.png" in state(workspace)


def test_relative_addresses_begin_at_the_base(workspace: Path, pictures: list[Picture], tmp_path: Path) -> None:
    relative = [replace(each, uri=f"pictures/{each.id}") for each in pictures]
    done = built(workspace, relative, base=tmp_path)
    assert done.embedded.made == 8
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        assert searcher.search(SearchQuery("red", k=1)).hits[0].picture.uri.startswith("file:///")


def test_another_embedder_or_back_end(workspace: Path, pictures: list[Picture]) -> None:
    first = built(workspace, pictures)
    newer = Colours()
    newer.revision = "2"
    second = built(workspace, pictures, newer)
    assert newer.pictures_seen == 8 and second.manifest.tag != first.manifest.tag
    assert sum(path.is_dir() for path in second.folder.iterdir()) == 1
    quantised = build_index(Session(workspace), content=Content(pictures), embedder=newer, backend="exact:quantised")
    assert quantised.embedded.put == 8 and newer.pictures_seen == 8 and quantised.manifest.backend == "exact:quantised"
    kept = build_index(Session(workspace), content=Content(pictures), embedder=newer)
    assert kept.is_unchanged and kept.manifest.backend == "exact:quantised"


def test_the_embedder_of_an_index_is_not_exchanged_in_silence(workspace: Path, pictures: list[Picture]) -> None:
    built(workspace, pictures)
    newer = Colours()
    newer.revision = "2"
    with (
        Searcher.open(workspace, embedder=newer) as searcher,
        pytest.raises(UserError, match=r"was built by colours \(1\), and the embedder now is colours \(2\)") as caught,
    ):
        searcher.search(SearchQuery("red"))
    assert "sightline index --name default" in (caught.value.fix or "")


def test_annotations_stay_until_others_come(workspace: Path, pictures: list[Picture]) -> None:
    first = built(workspace, pictures, annotations=[said(pictures[0].id, "a fire engine", "vehicle"), said("nobody")])
    assert first.changes.unmatched == 1
    words = Method(vectors=False, words=True)

    def found(text: str) -> tuple[str, ...]:
        with Searcher.open(workspace, embedder=Colours()) as searcher:
            return searcher.search(SearchQuery(text), words).ids

    assert found("engine") == (pictures[0].id,)
    built(workspace, pictures)
    assert found("engine") == (pictures[0].id,)
    third = built(workspace, pictures, annotations=[said(pictures[1].id, "a meadow")])
    assert third.changes.changed == 2 and found("engine") == () and found("meadow") == (pictures[1].id,)


def test_captions_come_change_and_go(workspace: Path, pictures: list[Picture]) -> None:
    parts = Parts(captions=True)
    first = built(workspace, pictures, parts=parts, annotations=[said(each.id, "cyan") for each in pictures])
    assert first.embedded.captions == 8
    changed = [said(pictures[0].id, "red"), said(pictures[1].id, "cyan"), said(pictures[2].id)]
    embedder = Colours()
    second = built(workspace, pictures, embedder, annotations=changed)
    assert second.manifest.captions and second.embedded.captions == 1 and embedder.texts_seen == 1
    with Searcher.open(workspace, embedder=embedder) as searcher:
        assert searcher.captions is not None and searcher.captions.index.rows().tolist() == [0, 1]


def test_words_and_metadata_without_vectors(workspace: Path, pictures: list[Picture]) -> None:
    done = build_index(Session(workspace), content=Content(pictures), embedder="nobody", parts=Parts(vectors=False))
    assert done.manifest.embedder is None and done.pictures == 8
    with Searcher.open(workspace) as searcher:
        assert searcher.search(SearchQuery("red"), Method(vectors=False, words=True)).ids == ("red-one.png",)
        with pytest.raises(UserError, match="holds no vectors"):
            searcher.search(SearchQuery("red"))
    later = built(workspace, pictures)
    assert later.embedded.put == 8 and later.changes.added == 0
    # Without vectors those that are there stay what they were.
    without = build_index(Session(workspace), content=Content(pictures), parts=Parts(vectors=False), backend="lance")
    assert without.manifest == later.manifest.model_copy(update={"seconds": without.manifest.seconds})


def test_an_index_that_is_not_there(workspace: Path, pictures: list[Picture]) -> None:
    built(workspace, pictures)
    with pytest.raises(UserError, match='has no index "defualt"') as caught:
        Searcher.open(workspace, "defualt")
    assert 'Did you mean "default"?' in (caught.value.fix or "")
    with pytest.raises(UserError, match="can't be the name"):
        Searcher.open(workspace, "../x")


def test_a_scanned_workspace(workspace: Path, pictures: list[Picture], tmp_path: Path) -> None:
    scan(tmp_path / "pictures", workspace=workspace)
    done = build_index(Session(workspace), embedder=Colours())
    assert (done.pictures, done.embedded.made, done.manifest.source) == (8, 8, "workspace")
    assert build_index(Session(workspace), embedder=Colours()).manifest.state == done.manifest.state
    with pytest.raises(UserError, match="holds no corpus"):
        build_index(Session(tmp_path / "other"), embedder=Colours())


def test_hidden_groups_are_known_to_nobody(workspace: Path, pictures: list[Picture]) -> None:
    ids = [each.id for each in pictures]
    groups = [group("event/a", "event", *ids[:2]), group("event/b", "event", *ids[2:4], hidden=True)]
    built(workspace, pictures, groups=groups)
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        vocabulary = searcher.columns.labels("group").vocabulary
        assert list(vocabulary) == ["event/a"]


def test_a_server_that_goes_away_in_the_middle(
    workspace: Path, pictures: list[Picture], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing:
        def __init__(self, inner: object) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> object:
            return getattr(self.inner, name)

        def put(self, batches: object) -> None:
            raise VectorStoreGoneError("postgres", "connection refused")

    monkeypatch.setattr(vectors_module, "open_vector_store", lambda *a, **o: Failing(open_vector_store(*a, **o)))
    with pytest.raises(VectorStoreGoneError, match="the postgres server went away"):
        built(workspace, pictures)
    assert index_names(workspace) == []
    monkeypatch.undo()
    embedder = Colours()
    done = built(workspace, pictures, embedder)
    assert done.embedded.put == 8 and embedder.pictures_seen == 0 and len(state(workspace)) == 8


class Stopping(Colours):
    """Stops as an embedder does whose budget is used up."""

    def attempt_pictures(self, batch: Sequence[np.ndarray]) -> EmbeddingAttempt:
        if self.pictures_seen < 4:
            return as_attempt(self.pictures(batch))
        failures = dict.fromkeys(range(len(batch)), Failure("not embedded", "no money"))
        return EmbeddingAttempt(
            np.zeros((len(batch), 3), np.float32), failures, stopped=StoppedError("the budget is used up.")
        )


def test_stopped_by_a_budget_what_was_made_is_kept(workspace: Path, pictures: list[Picture]) -> None:
    with pytest.raises(StoppedError, match="budget"):
        built(workspace, pictures, Stopping())
    assert len(state(workspace)) == 4
    embedder = Colours()
    done = built(workspace, pictures, embedder)
    assert embedder.pictures_seen == 4 and done.left_out == {} and len(state(workspace)) == 8


def test_words_in_pictures_are_read_once(
    workspace: Path, pictures: list[Picture], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Reader:
        def __init__(self) -> None:
            self.read_so_far = 0

        def read(self, pixels: np.ndarray) -> list[dict[str, object]]:
            self.read_so_far += 1
            return [{"text": "STOP", "confidence": 0.9}] if pixels[0, 0, 0] > 200 and pixels[0, 0, 1] < 50 else []

    reader, words = Reader(), Method(vectors=False, words=True)
    monkeypatch.setattr("sightline.models.photos.ocr.WordReader", lambda: reader)
    parts = Parts(vectors=False, words_in_pictures=True)
    assert built(workspace, pictures, parts=parts).words_read == reader.read_so_far == 8
    built(workspace, [replace(each, address="Kyoto") for each in pictures], parts=parts)
    assert reader.read_so_far == 8
    with Searcher.open(workspace) as searcher:
        assert set(searcher.search(SearchQuery("stop"), words).ids) == {"red-one.png", "magenta-one.png"}
        assert len(searcher.search(SearchQuery("kyoto"), words).ids) == 8


# --- kill -9 -------------------------------------------------------------------------------------------------

_STEPS: list[tuple[object, str]] = [
    (Colours, "pictures"),
    (Colours, "texts"),
    (IndexTable, "set_keys"),
    (IndexTable, "set_done"),
    (IndexTable, "set_captions"),
    (IndexTable, "index_words"),
    (vectors_module.VectorStep, "_put"),
    (build_module, "save_columns"),
    (IndexManifest, "write"),
]


def _dying(work: Callable[[], object], at: int) -> None:
    """Do the work, and die by SIGKILL around the n-th of its steps: before odd ones, after even ones."""
    count = 0

    def wrapped(step: Callable[..., object]) -> Callable[..., object]:
        def run(*arguments: object, **options: Any) -> object:
            nonlocal count
            count += 1
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)
            result = step(*arguments, **options)
            count += 1
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return run

    for home, name in _STEPS:
        setattr(home, name, wrapped(getattr(home, name)))
    work()


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on(workspace: Path, pictures: list[Picture], tmp_path: Path) -> None:
    first = pictures[:5]
    captions = [said(each.id, each.id.partition("-")[0]) for each in pictures]
    parts = Parts(captions=True)
    built(workspace, first, parts=parts, annotations=captions)
    before = tmp_path / "before"
    shutil.copytree(workspace, before)
    paint(tmp_path / "pictures" / "red-one.png", "blue", size=(40, 40))
    wanted_pictures = pictures[:1] + pictures[2:]

    def update() -> BuiltIndex:
        return built(workspace, wanted_pictures, parts=parts, annotations=captions)

    update()
    wanted, deaths = state(workspace), 0
    fork = multiprocessing.get_context("fork")
    for at in range(1, 200, 3):
        shutil.rmtree(workspace)
        shutil.copytree(before, workspace)
        process = fork.Process(target=_dying, args=(update, at))
        process.start()
        process.join(60)
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        deaths += 1
        with Searcher.open(workspace, embedder=Colours()) as searcher:  # It answers meanwhile, from what is there.
            for method in (None, Method(words=True, captions=True, threshold=0.1), Method(vectors=False, words=True)):
                found = searcher.search(SearchQuery("red blue yellow", k=99), method)
                assert found.hits and set(found.ids) <= {each.id for each in pictures}
        update()
        assert state(workspace) == wanted
        manifest = read_manifest(workspace / "indexes" / "default")
        assert manifest is not None and manifest.pictures == 7
    assert deaths >= 8


def test_vectors_that_a_back_end_lost_are_put_again(workspace: Path, pictures: list[Picture]) -> None:
    done = built(workspace, pictures)
    assert done.manifest.tag is not None
    backend = open_vector_store("exact", vectors_folder(done.folder, done.manifest.tag), 3, create=False)
    backend.remove(np.array([1, 2]))
    backend.put([(np.array([77]), np.array([[1, 0, 0]], np.float32))])
    backend.close()
    assert built(workspace, pictures).embedded.put == 2
    assert [row for row, _ in state(workspace).values()] == list(range(8))


@pytest.mark.parametrize(
    ("backend", "package"), [("faiss", "faiss"), ("lance", "lancedb"), ("qdrant:local", "qdrant_client")]
)
def test_other_back_ends(workspace: Path, pictures: list[Picture], backend: str, package: str) -> None:
    pytest.importorskip(package)
    annotations = [said(each.id, each.id.partition("-")[0]) for each in pictures]
    content = Content(pictures, annotations=annotations)
    build_index(Session(workspace), content=content, embedder=Colours(), backend=backend, parts=Parts(captions=True))
    done = built(workspace, pictures[1:])
    assert done.manifest.backend == backend and done.changes.removed == 1 and done.embedded.put == 0
    with Searcher.open(workspace, embedder=Colours()) as searcher:
        found = searcher.search(SearchQuery("blue", k=3, where="time > 2020-01-02"), Method(captions=True, words=True))
        assert found.ids[0] == "blue-one.png" and found.hits[0].parts.keys() == {"picture", "caption", "words"}
        assert len(searcher.search(SearchQuery("red", k=99)).hits) == 7


def test_a_real_server(workspace: Path, pictures: list[Picture], tmp_path: Path, postgres_spec: str) -> None:
    first = build_index(Session(workspace), content=Content(pictures), embedder=Colours(), backend=postgres_spec)
    assert first.manifest.tag is not None and "postgres:" in first.manifest.backend
    older = tmp_path / "older"
    shutil.copytree(vectors_folder(first.folder, first.manifest.tag), older)
    newer = Colours()
    newer.revision = "2"
    build_index(Session(workspace), content=Content(pictures), embedder=newer, backend=postgres_spec)
    with Searcher.open(workspace, embedder=newer, backend=postgres_spec) as searcher:
        found = searcher.search(SearchQuery("blue", k=2, where="time > 2020-01-02"))
        assert found.ids[0] == "blue-one.png" and found.backend == first.manifest.backend
    left = open_vector_store(postgres_spec, older, 3, create=False)
    assert len(left) == 0  # What the older revision had put there is gone from the server.
    left.close()


def test_the_state_of_a_corpus_is_hashed_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    before = content._hashed

    def counted(store: CorpusStore) -> str:
        hashed.append(before(store))
        return hashed[-1]

    monkeypatch.setattr(content, "_hashed", counted)
    photos, place = tmp_path / "photos", tmp_path / "ws"
    photos.mkdir()
    random_picture(1).save(photos / "a.jpg")
    scan(photos, workspace=place)

    def state() -> str:
        with CorpusStore(place) as store:
            return content.corpus_state(store)

    first = state()
    assert state() == first and len(hashed) == 2, "what was written a moment ago may be written again"
    for name in ("corpus.sqlite", "corpus.sqlite-wal"):
        if (place / name).exists():
            os.utime(place / name, (1_700_000_000, 1_700_000_000))
    assert state() == state() == first and len(hashed) == 3
    random_picture(2).save(photos / "b.jpg")
    scan(photos, workspace=place)
    assert state() != first
    shutil.rmtree(photos)
    assert state() not in (first, hashed[-2]), "a folder that is gone"
