"""Sightline's own search as a system: the right pictures, within scope, indexed once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from models_server import respond_json, serving_in_thread
from runs.run_world import coloured
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.errors import UserError
from sightline.models.embedders.onnx_clip import OnnxClip
from sightline.retrieval.searcher import Searcher
from sightline.retrieval.vector_stores.base import VectorStoreGoneError
from sightline.runs.folder import read_run
from sightline.runs.runner import run
from sightline.runs.systems import retriever
from sightline.types import Failure, Picture, PictureSet, Prediction, Ranking
from tiny_clip import write_tiny_clip

pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark in `colours`, an embedder in `clip`."""
    folder = tmp_path_factory.mktemp("retriever")
    coloured(folder / "colours")
    write_tiny_clip(folder / "clip")
    return folder


def said(folder: Path) -> dict[str, Prediction]:
    return {attempt.task_id: attempt.prediction for attempt in read_run(folder).attempts}


def ids(prediction: Prediction) -> tuple[str, ...]:
    assert isinstance(prediction, Ranking), prediction
    return prediction.pictures


def test_it_finds_within_the_scope_of_the_task(place: Path, tmp_path: Path) -> None:
    done = run(place / "colours", f"retriever:embedder=onnx:{place}/clip", tmp_path / "run", workspace=place / "ws")
    found = said(tmp_path / "run")
    assert set(ids(found["red"])[:2]) == {"ana/red.png", "ben/red.png"} and len(ids(found["red"])) == 12
    assert ids(found["blue of ben"])[0] == "ben/blue.png"
    assert all(picture.startswith("ben/") for picture in ids(found["blue of ben"]))
    assert ids(found["at the party"]) == ("ana/blue.png", "ana/red.png")
    assert isinstance(found["of a stranger"], Failure) and found["of a stranger"].kind == "refused"
    assert "say" not in found and done.left_out == {"choose": 3, "answer": 1}
    kept = read_run(tmp_path / "run")
    assert kept.parameters["embedder"] == "onnx:clip" and kept.parameters["embedder_revision"]
    assert kept.parameters["backend"] == "exact" and kept.parameters["pictures"] == 12
    assert all(entry.usd == 0.0 for entry in kept.ledger)


def test_a_picture_in_the_prompt_is_looked_for_and_is_no_answer(place: Path, tmp_path: Path) -> None:
    spec = f"retriever:embedder=onnx:{place}/clip"
    run(place / "colours", spec, tmp_path / "run", workspace=place / "ws")
    found = said(tmp_path / "run")
    assert ids(found["like it"])[0] == "ben/green.png" and "ana/green.png" not in ids(found["like it"])
    assert len(ids(found["like it"])) == 11
    run(place / "colours", f"{spec},own", tmp_path / "own", workspace=place / "ws")
    assert "ana/green.png" in ids(said(tmp_path / "own")["like it"])
    assert ids(found["both"]) != ids(found["red"])


def test_the_index_is_built_once_and_its_time_is_a_stage_of_its_own(place: Path, tmp_path: Path) -> None:
    spec = f"retriever:embedder=onnx:{place}/clip"
    first = run(place / "colours", spec, tmp_path / "a", workspace=tmp_path / "ws")
    again = run(place / "colours", f"{spec},k=3", tmp_path / "b", workspace=tmp_path / "ws")
    other = run(place / "colours", f"{spec},backend=exact:quantised", tmp_path / "c", workspace=tmp_path / "ws")
    assert first.latency.index is not None and first.latency.index_is_whole
    assert again.latency.index is None
    assert other.latency.index is not None and not other.latency.index_is_whole
    assert said(tmp_path / "c") == said(tmp_path / "a")


def test_a_query_of_an_earlier_run_is_embedded_again_so_that_times_compare(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[str] = []
    real = OnnxClip.attempt_texts

    def texts(self: OnnxClip, batch: Sequence[str]) -> object:
        embedded.extend(batch)
        return real(self, batch)

    monkeypatch.setattr(OnnxClip, "attempt_texts", texts)
    spec = f"retriever:embedder=onnx:{place}/clip"
    for name in "ab":
        run(place / "colours", spec, tmp_path / name, workspace=tmp_path / "ws", limit=1)
        assert embedded.count("a picture of red") == 1
        embedded.clear()
    assert said(tmp_path / "a") == said(tmp_path / "b")


def test_hybrid_finds_by_words_of_the_benchmark_and_can_do_without_each_part(place: Path, tmp_path: Path) -> None:
    base = f"hybrid:embedder=onnx:{place}/clip"
    specs = {
        "words": "hybrid:vectors=false",
        "silent": "hybrid:vectors=false,annotations=false",
        "rrf": f"{base},fusion=rrf",
        "captions": f"{base},captions,picture_weight=0.5",
    }
    for name, spec in specs.items():
        run(place / "colours", spec, tmp_path / name, workspace=place / "ws", limit=2)
    assert set(ids(said(tmp_path / "words")["red"])) == {"ana/red.png", "ben/red.png"}
    assert ids(said(tmp_path / "words")["blue of ben"]) == ("ben/blue.png",)
    # The names of the files say it too; nothing else does without annotations.
    assert set(ids(said(tmp_path / "silent")["red"])) == {"ana/red.png", "ben/red.png"}
    for name in ("rrf", "captions"):
        assert set(ids(said(tmp_path / name)["red"])[:2]) == {"ana/red.png", "ben/red.png"}
    assert read_run(tmp_path / "words").parameters["embedder"] is None
    assert read_run(tmp_path / "captions").parameters["captions"] is True


def test_select_tasks_can_be_answered_with_the_first_few(place: Path, tmp_path: Path) -> None:
    spec = f"retriever:embedder=onnx:{place}/clip,select=1,k=4"
    run(place / "colours", spec, tmp_path / "run", workspace=place / "ws")
    found = said(tmp_path / "run")
    assert found["at the party"] == PictureSet(("ana/blue.png",))
    assert len(ids(found["red"])) == 4


def test_a_prompt_in_another_language(place: Path, tmp_path: Path) -> None:
    spec = f"retriever:embedder=onnx:{place}/clip,language=fr"
    done = run(place / "colours", spec, tmp_path / "run", workspace=place / "ws")
    assert done.failures["no-translation"] == 5
    assert isinstance(said(tmp_path / "run")["like it"], Ranking)


def test_a_picture_that_can_not_be_read_is_said_and_does_not_stop_it(place: Path, tmp_path: Path) -> None:
    folder = coloured(tmp_path / "colours")
    (folder / "ana" / "red.png").write_bytes(b"no picture")
    done = run(folder, f"retriever:embedder=onnx:{place}/clip", tmp_path / "run", workspace=tmp_path / "ws", limit=1)
    assert ids(said(tmp_path / "run")["red"])[0] == "ben/red.png"
    assert done.notes and "1" in done.notes[0]


def test_a_benchmark_without_its_pictures_is_refused_before_the_first_task(place: Path, tmp_path: Path) -> None:
    folder = coloured(tmp_path / "colours")
    for file in folder.rglob("*.png"):
        file.unlink()
    spec = f"embedder=onnx:{place}/clip"
    with pytest.raises(UserError, match=r"none of the 12 pictures .* 12 missing"):
        run(folder, f"retriever:{spec}", tmp_path / "run", workspace=tmp_path / "ws")
    assert not (tmp_path / "run").exists()
    done = run(folder, f"hybrid:{spec}", tmp_path / "words", workspace=tmp_path / "ws", limit=1)
    assert set(ids(said(tmp_path / "words")["red"])) == {"ana/red.png", "ben/red.png"} and "12 missing" in done.notes[0]


def test_a_re_ranker_changes_the_order_and_its_calls_are_in_the_ledger(place: Path, tmp_path: Path) -> None:
    def line(count: int) -> str:
        grades = [{"picture": number, "grade": number} for number in range(1, count + 1)]
        match, text = f"each of the {count} ", json.dumps({"grades": grades})
        return json.dumps({"match": match, "text": text})

    script = tmp_path / "script.jsonl"
    script.write_text("\n".join((line(3), json.dumps({"match": "each of the 2 ", "failure": "refused"}))))
    base = f"embedder=onnx:{place}/clip,depth=3"
    run(place / "colours", f"retriever:{base}", tmp_path / "plain", workspace=tmp_path / "ws")
    spec = f"hybrid:{base},words=false,rerank=scripted/{script}"
    done = run(place / "colours", spec, tmp_path / "run", workspace=tmp_path / "ws")
    plain, found = said(tmp_path / "plain"), said(tmp_path / "run")
    assert ids(found["red"])[:3] == ids(plain["red"])[2::-1] and ids(found["red"])[3:] == ids(plain["red"])[3:]
    assert ids(found["like it"]) == ids(plain["like it"])  # Nothing to grade against without words.
    assert isinstance(found["at the party"], Failure)  # The call failed: a plain ranking is no answer of a re-ranker.
    calls = [entry for entry in done.run.ledger if entry.stage == "rerank"]
    assert {entry.task_id: entry.ok for entry in calls} == {
        "red": True,
        "blue of ben": True,
        "both": True,
        "at the party": False,
    }
    assert all(entry.tokens_in > 0 for entry in calls if entry.ok)


def test_a_back_end_that_goes_away_stops_the_run_which_then_goes_on(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retriever, "_ASKED_AGAIN", (0.0, 0.0))
    real, calls = Searcher.search, []

    def flaky(self: Searcher, query: object, *rest: object) -> object:
        calls.append(query)
        if len(calls) == 2 or len(calls) > 4:  # Once for a moment, then for good.
            raise VectorStoreGoneError("test", "gone")
        return real(self, query, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Searcher, "search", flaky)
    spec = f"retriever:embedder=onnx:{place}/clip"
    with pytest.raises(VectorStoreGoneError):
        run(place / "colours", spec, tmp_path / "run", workspace=place / "ws")
    assert len(read_run(tmp_path / "run").attempts) == 3
    monkeypatch.setattr(Searcher, "search", real)
    assert run(place / "colours", spec, tmp_path / "run", workspace=place / "ws").attempts == 6


def test_a_picture_belongs_to_the_index_once_and_no_query_is_in_it(place: Path, tmp_path: Path) -> None:
    run(place / "colours", "hybrid:vectors=false", tmp_path / "run", workspace=tmp_path / "ws")
    (index,) = (tmp_path / "ws" / "indexes").iterdir()
    with Searcher.open(tmp_path / "ws", index.name) as searcher:
        assert len(searcher) == 12
    asked = read_benchmark(place / "colours").tasks["which"].text
    assert all(asked.encode() not in file.read_bytes() for file in index.rglob("*") if file.is_file())
    assert b"secret party" not in b"".join(file.read_bytes() for file in index.rglob("*") if file.is_file())


def test_addresses_of_pictures_may_be_relative_to_the_benchmark(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    read = read_benchmark(place / "colours")
    assert isinstance(read.corpus.pictures["ana/red.png"], Picture)
    assert read.corpus.pictures["ana/red.png"].uri == "ana/red.png"
    spec = f"retriever:embedder=onnx:{place}/clip"
    assert run(place / "colours", spec, "run", workspace="ws", limit=2).answered == 2


def test_an_embedder_that_gives_no_vector_is_named_before_the_pictures(place: Path, tmp_path: Path) -> None:
    with serving_in_thread(lambda _: respond_json({"data": []})) as server, pytest.raises(UserError) as caught:
        run(place / "colours", f"retriever:embedder=vllm/e@{server.base_url}", tmp_path / "run", workspace=tmp_path)
    assert 'pictures of "colours" has a vector: 12 wrong-schema.' in caught.value.message
    assert str(caught.value.fix).startswith("check the embedder")


def test_captions_of_a_benchmark_that_has_none_are_told_of(place: Path, tmp_path: Path) -> None:
    told = "no picture has a caption: captions=true changes nothing"
    spec = f"hybrid:embedder=onnx:{place}/clip,captions"
    assert told not in run(place / "colours", spec, tmp_path / "with", workspace=place / "ws").notes
    coloured(tmp_path / "colours")
    write_benchmark(replace(read_benchmark(tmp_path / "colours"), annotations=()), tmp_path / "colours", force=True)
    assert told in run(tmp_path / "colours", spec, tmp_path / "without", workspace=tmp_path / "ws").notes


def test_a_hybrid_without_words_to_search_says_so(place: Path, tmp_path: Path) -> None:
    told = "no picture has words that describe it: words=true searches file names alone"
    spec = f"hybrid:embedder=onnx:{place}/clip"
    assert told not in run(place / "colours", spec, tmp_path / "with", workspace=place / "ws").notes
    coloured(tmp_path / "colours")
    read = read_benchmark(tmp_path / "colours")
    silent = {id_: replace(one, address=None, extra={}) for id_, one in read.corpus.pictures.items()}
    corpus = replace(read.corpus, pictures=silent)
    write_benchmark(replace(read, annotations=(), corpus=corpus), tmp_path / "colours", force=True)
    assert told in run(tmp_path / "colours", spec, tmp_path / "without", workspace=tmp_path / "ws").notes
    vectors = f"retriever:embedder=onnx:{place}/clip"
    assert told not in run(tmp_path / "colours", vectors, tmp_path / "vectors", workspace=tmp_path / "ws").notes
