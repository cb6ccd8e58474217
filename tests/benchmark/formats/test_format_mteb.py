"""mteb: our folder read by the real `datasets` and run by the real `mteb`, and theirs read by us."""

from __future__ import annotations

import importlib.util
import json
import logging
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.formats.retrieval_samples import PICTURES, other_tasks, rank_benchmark
from sightline.benchmark.formats import FormatOptions, find_format
from sightline.benchmark.formats.mteb_dataset import class_name
from sightline.benchmark.formats.parquet import IMAGE, write_parts
from sightline.benchmark.formats.pictures import file_name
from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.io.files import picture_path, sha256_of
from sightline.metrics.evaluation import evaluate
from sightline.types import Benchmark, Group, PictureRef, PictureSet, Ranking, Relevance, Run, Scope, Task
from sightline.types.task_table import Tasks

pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")

MTEB = find_format("mteb")
NO_OPTIONS = FormatOptions()


def write(benchmark: Benchmark, folder: Path, **extra: str) -> Path:
    assert MTEB.write is not None
    MTEB.write(benchmark, folder, FormatOptions(extra=extra))
    return folder


def read(folder: Path, options: FormatOptions = NO_OPTIONS) -> Any:
    assert MTEB.read is not None
    return MTEB.read(folder, options)


def write_jsonl(path: Path, *rows: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def hand_made(folder: Path, prefix: str = "") -> Path:
    write_jsonl(folder / f"{prefix}corpus" / "test.jsonl", {"_id": "d1", "title": "", "text": "one"}, {"_id": "d2"})
    write_jsonl(folder / f"{prefix}queries" / "test.jsonl", {"_id": "q1", "text": "what", "instruction": "Be brief."})
    row = {"query-id": "q1", "corpus-id": "d1", "score": 1}
    write_jsonl(folder / (f"{prefix}qrels" if prefix else "default") / "test.jsonl", row)
    return folder


# --- round trip --------------------------------------------------------------------------------------------


def test_what_the_format_holds_comes_back(tmp_path: Path) -> None:
    made = rank_benchmark(tmp_path / "pictures")
    imported = read(write(made, tmp_path / "out"), FormatOptions(extra={"extract": str(tmp_path / "extracted")}))
    found = imported.content
    assert imported.problems == () and imported.warnings == ()
    assert {name: task.prompt for name, task in found.tasks.items()} == {
        name: task.prompt for name, task in made.tasks.items()
    }
    assert found.truth == made.truth
    assert list(found.corpus.pictures) == list(PICTURES)
    for name, picture in found.corpus.pictures.items():
        original = picture_path(made.corpus.pictures[name].uri, tmp_path)
        extracted = picture_path(picture.uri, tmp_path)
        assert original is not None and extracted is not None
        assert extracted.is_relative_to(tmp_path / "extracted")
        assert picture.sha256 == sha256_of(extracted) == sha256_of(original)


def test_pictures_stay_inside_unless_asked_for(tmp_path: Path) -> None:
    made = rank_benchmark(tmp_path / "pictures")
    imported = read(write(made, tmp_path / "out"))
    assert imported.warnings == ("5 pictures are inside the table; add --option extract=DIR to have them as files",)


def test_extracted_pictures_stay_in_their_folder(tmp_path: Path) -> None:
    jpeg = b"\xff\xd8\xff\xe0"
    assert file_name("../../x", None, jpeg) == "%2E%2E/%2E%2E/x.jpg"
    assert file_name("/etc/passwd", "0.PNG", jpeg) == "etc/passwd.png"
    assert file_name("a:b\n?.jpg", None, jpeg) == "a%3Ab%0A%3F.jpg"
    folder = tmp_path / "in"
    rows = [{"id": name, "image": {"bytes": content, "path": None}} for name, content in (("a", jpeg), ("a.jpg", b"2"))]
    write_parts(folder / "corpus", "test", {"id": "string", "image": IMAGE}, rows)
    hand_made(folder)
    (folder / "corpus" / "test.jsonl").unlink()
    row = {"query-id": "q1", "corpus-id": "a", "score": 1}
    write_jsonl(folder / "default" / "test.jsonl", row)
    found = read(folder, FormatOptions(extra={"extract": str(tmp_path / "out")})).content
    places = [picture_path(picture.uri, tmp_path) for picture in found.corpus.pictures.values()]
    assert [place.read_bytes() for place in places if place is not None] == [jpeg, b"2"]


def test_what_else_is_in_the_folder_stays(tmp_path: Path) -> None:
    folder = write(rank_benchmark(tmp_path, files=False), tmp_path / "out")
    (folder / "results.json").write_text("{}")
    write(rank_benchmark(tmp_path, files=False), folder)
    assert (folder / "results.json").is_file()


def test_scopes_become_top_ranked(tmp_path: Path) -> None:
    made = rank_benchmark(tmp_path / "pictures")
    tasks = dict(made.tasks)
    tasks["q2"] = replace(tasks["q2"], scope=Scope(pictures=("plain.jpg", 'quo"te\t.jpg')))
    found = read(write(replace(made, tasks=Tasks(tasks)), tmp_path / "out")).content
    assert set(found.tasks["q2"].scope.pictures) == {"plain.jpg", 'quo"te\t.jpg'}
    assert set(found.tasks["q 1"].scope.pictures) == set(PICTURES)


def test_one_scope_for_all_is_the_corpus(tmp_path: Path) -> None:
    made = rank_benchmark(tmp_path / "pictures")
    searched = PICTURES[:4]
    corpus = replace(made.corpus, groups=(Group("part", "dataset", searched),))
    tasks = {name: replace(task, scope=Scope(groups=("part",))) for name, task in made.tasks.items()}
    folder = write(replace(made, corpus=corpus, tasks=Tasks(tasks)), tmp_path / "out")
    assert not (folder / "top_ranked").exists()
    assert tuple(read(folder).content.corpus.pictures) == searched


def test_queries_with_pictures(tmp_path: Path) -> None:
    made = rank_benchmark(tmp_path / "pictures")
    tasks = {"q2": Task("q2", "rank", ("like this, but red", PictureRef("unjudged.jpg")))}
    shown = replace(made, tasks=Tasks(tasks), truth={"q2": made.truth["q2"]})
    folder = write(shown, tmp_path / "out")
    assert 'category="it2i"' in (folder / "mteb_task.py").read_text()
    found = read(folder).content
    assert found.tasks == tasks
    assert found.corpus.groups == ()


def test_a_query_picture_outside_the_corpus_can_not_be_an_answer(tmp_path: Path) -> None:
    made = rank_benchmark(tmp_path / "pictures")
    corpus = replace(made.corpus, groups=(Group("part", "dataset", PICTURES[:4]),))
    asked = Task("q2", "rank", (PictureRef("unjudged.jpg"),), scope=Scope(groups=("part",)))
    folder = write(
        replace(made, corpus=corpus, tasks=Tasks({"q2": asked}), truth={"q2": made.truth["q2"]}), tmp_path / "out"
    )
    assert 'category="i2i"' in (folder / "mteb_task.py").read_text()
    found = read(folder).content
    assert found.tasks["q2"].scope == Scope(groups=("corpus",))
    assert found.corpus.groups == (Group("corpus", "dataset", PICTURES[:4]),)
    (ref,) = found.tasks["q2"].pictures
    assert ref.id not in PICTURES[:4] and ref.id in found.corpus.pictures


def test_mixed_categories_are_refused_until_one_is_chosen(tmp_path: Path) -> None:
    made = rank_benchmark(tmp_path / "pictures")
    tasks = {**made.tasks, "q2": Task("q2", "rank", (PictureRef("plain.jpg"),))}
    mixed = replace(made, tasks=Tasks(tasks))
    with pytest.raises(UserError, match="several categories: t2i 2, i2i 1"):
        write(mixed, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert set(read(write(mixed, tmp_path / "out", category="t2i")).content.tasks) == {"q 1", "q%3"}


def test_missing_pictures_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made = rank_benchmark(tmp_path / "nowhere", files=False)
    with caplog.at_level(logging.WARNING):
        folder = write(made, tmp_path / "out")
    assert "5 pictures are not here" in caplog.text
    asked = {"q2": Task("q2", "rank", (PictureRef("plain.jpg"),))}
    with pytest.raises(UserError, match=r'"q2" shows .*, which is not here'):
        write(replace(made, tasks=Tasks(asked)), tmp_path / "other")
    assert not (tmp_path / "other").exists()
    imported = read(folder)
    assert imported.warnings == () and set(imported.content.corpus.pictures) == set(PICTURES)


def test_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no task that looks for pictures"):
        write(other_tasks(rank_benchmark(tmp_path, files=False)), tmp_path / "out")
    with pytest.raises(UserError, match='no option "categry"'):
        write(rank_benchmark(tmp_path, files=False), tmp_path / "out", categry="t2i")
    assert not (tmp_path / "out").exists()


def test_names_of_tasks() -> None:
    assert class_name("fire bench 2") == "FireBench2Retrieval"
    assert class_name("2 fast") == "Benchmark2FastRetrieval"
    assert class_name("猫") == "BenchmarkRetrieval"
    assert class_name('x"); import os #') == "XImportOsRetrieval"


def test_a_hostile_card_stays_text(tmp_path: Path) -> None:
    made = replace(
        rank_benchmark(tmp_path, files=False), name='a"\n---\nx: 1', card={"description": '"""); raise SystemExit("""'}
    )
    folder = write(made, tmp_path / "out")
    compile((folder / "mteb_task.py").read_text(), "mteb_task.py", "exec")
    assert set(read(folder).content.tasks) == set(made.tasks)


# --- their folders -----------------------------------------------------------------------------------------


def test_a_default_configuration_holds_the_judgments(tmp_path: Path) -> None:
    found = read(hand_made(tmp_path / "data set")).content
    assert found.name == "data set"
    assert found.tasks["q1"].prompt == ("what Be brief.",)
    assert found.truth["q1"] == Relevance({"d1": 1})
    assert found.corpus.pictures["d1"].extra == {"text": "one"}


def test_subsets_by_prefix(tmp_path: Path) -> None:
    folder = hand_made(tmp_path, "en-")
    assert set(read(folder).content.tasks) == {"q1"}
    hand_made(folder, "de-")
    with pytest.raises(UserError, match="several subsets") as raised:
        read(folder)
    assert raised.value.fix == "choose with --option subset=: de, en"
    assert set(read(folder, FormatOptions(extra={"subset": "de"})).content.tasks) == {"q1"}


def test_the_card_says_where_the_files_are(tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="the card's head is YAML")
    write_jsonl(tmp_path / "docs.jsonl", {"id": "d1"})
    write_jsonl(tmp_path / "asked" / "a.jsonl", {"id": "q1", "text": "what"})
    write_jsonl(tmp_path / "dev.jsonl", {"query-id": "q1", "corpus-id": "d1", "score": 0})
    write_jsonl(tmp_path / "test.jsonl", {"query-id": "q1", "corpus-id": "d1", "score": 1})
    head = (
        "---\nconfigs:\n- config_name: corpus\n  data_files: docs.jsonl\n"
        "- config_name: queries\n  data_files: ['asked/*']\n"
        "- config_name: qrels\n  data_files:\n"
        "  - {split: dev, path: dev.jsonl}\n  - {split: test, path: [test.jsonl]}\n---\n"
    )
    (tmp_path / "README.md").write_text(head)
    assert read(tmp_path).content.truth["q1"] == Relevance({"d1": 1})
    assert read(tmp_path, FormatOptions(split="dev")).content.truth["q1"] == Relevance({"d1": 0})
    with pytest.raises(UserError, match='qrels has no split "train"'):
        read(tmp_path, FormatOptions(split="train"))


def test_wrong_rows_name_file_line_and_field(tmp_path: Path) -> None:
    folder = hand_made(tmp_path)
    write_jsonl(folder / "default" / "test.jsonl", {"query-id": "q1", "corpus-id": "d1", "score": "high"}, {"score": 1})
    with pytest.raises(ProblemsError, match=r"test\.jsonl, line 1, score: expected a whole number, got 'high'"):
        read(folder)
    imported = read(folder, FormatOptions(keep_going=True))
    assert [(problem.line, problem.field) for problem in imported.problems] == [(1, "score"), (2, "query-id")]


def test_what_is_not_an_mteb_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no Parquet or JSONL files"):
        read(tmp_path)
    write_jsonl(tmp_path / "corpus" / "test.jsonl", {"id": "d1"})
    with pytest.raises(UserError, match="no configuration query or queries"):
        read(tmp_path)


# --- predictions -------------------------------------------------------------------------------------------


def test_predictions_become_a_run(tmp_path: Path) -> None:
    path = tmp_path / "Small_predictions.json"
    scores = {"q1": {"d1": 0.5, "d2": 0.75, "d3": 0.5}}
    path.write_text(json.dumps({"mteb_model_meta": {"model_name": "org/model"}, "default": {"test": scores}}))
    run = read(path).content
    assert isinstance(run, Run) and run.system == "org/model"
    assert run.attempts[0].prediction == Ranking(("d2", "d3", "d1"), (0.75, 0.5, 0.5))
    path.write_text(json.dumps({"default": {"test": {"q1": {"d1": "x"}}}}))
    with pytest.raises(ProblemsError, match=r"q1\.d1: expected a number, got 'x'"):
        read(path)
    path.write_text(json.dumps({"en": {"test": {}}, "de": {"test": {}}}))
    with pytest.raises(UserError, match="several subsets"):
        read(path)


# --- the real libraries ------------------------------------------------------------------------------------


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "hf" / "datasets"))
    monkeypatch.setenv("MTEB_CACHE", str(tmp_path / "mteb"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.mark.slow
@pytest.mark.usefixtures("offline")
def test_the_real_datasets_library_reads_it(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the real loader is not installed")
    made = rank_benchmark(tmp_path / "pictures")
    folder = write(made, tmp_path / "out")
    cache = str(tmp_path / "cache")
    assert datasets.get_dataset_config_names(str(folder)) == ["corpus", "queries", "qrels"]
    corpus = datasets.load_dataset(str(folder), "corpus", split="test", cache_dir=cache)
    assert corpus["id"][:] == list(PICTURES)
    assert isinstance(corpus.features["image"], datasets.Image)
    assert corpus[0]["image"].size == (48, 32)
    queries = datasets.load_dataset(str(folder), "queries", split="test", cache_dir=cache)
    assert dict(zip(queries["id"], queries["text"], strict=True)) == {t.id: t.text for t in made.tasks.values()}
    qrels = datasets.load_dataset(str(folder), "qrels", split="test", cache_dir=cache)
    assert len(qrels) == 7 and qrels.features["score"].dtype == "int32"


def random_encoder(mteb: Any) -> Any:
    """An encoder whose vectors depend on the input's content alone, so that every run gives the same scores."""
    meta = mteb.get_model_meta("mteb/baseline-random-encoder")

    class Encoder(mteb.models.abs_encoder.AbsEncoder):  # type: ignore[misc]
        mteb_model_meta = meta

        def encode(self, inputs: Any, **_: Any) -> Any:
            vectors = []
            for batch in inputs:
                parts = zip(*(batch[key] for key in ("text", "image") if key in batch), strict=True)
                for part in parts:
                    content = b"".join(p.encode() if isinstance(p, str) else p.tobytes() for p in part)
                    vectors.append(np.random.default_rng(zlib.crc32(content)).normal(size=16))
            return np.array(vectors, np.float32)

    return Encoder()


@pytest.mark.world
@pytest.mark.slow
@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("scoped", [False, True])
def test_the_real_mteb_runs_it_and_agrees_on_ndcg(tmp_path: Path, scoped: bool) -> None:
    mteb = pytest.importorskip("mteb", reason="the real mteb is not installed")
    from sightline_world.samples.benchmark import sample_benchmark
    from sightline_world.samples.files import write_samples

    made = sample_benchmark(write_samples(tmp_path / "pictures", pictures=40))
    kinds = ("rank", "select") if scoped else ("rank",)
    tasks = {
        name: task
        for name, task in made.tasks.items()
        if task.kind in kinds and made.truth[name] != PictureSet(())  # Nothing to find, so nothing judged.
    }
    made = replace(made, tasks=Tasks(tasks))
    folder = write(made, tmp_path / "out")
    assert (folder / "top_ranked").exists() == scoped
    spec = importlib.util.spec_from_file_location(f"mteb_task_{scoped}", folder / "mteb_task.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    result = mteb.evaluate(
        random_encoder(mteb),
        module.SamplesRetrieval(),
        cache=None,
        prediction_folder=tmp_path / "predictions",
        encode_kwargs={"show_progress_bar": False},
    )
    theirs = result.task_results[0].scores["test"][0]
    run = read(tmp_path / "predictions" / "SamplesRetrieval_predictions.json").content
    assert {attempt.task_id for attempt in run.attempts} == set(made.tasks)
    again = read(folder).content
    ours = evaluate(again, run, ["ndcg@10", "map@10", "recall@5"]).overall
    assert 0 < ours["ndcg@10"].mean < 1
    # mteb rounds to five places.
    assert ours["ndcg@10"].mean == pytest.approx(theirs["ndcg_at_10"], abs=6e-6)
    assert ours["map@10"].mean == pytest.approx(theirs["map_at_10"], abs=6e-6)
    assert ours["recall@5"].mean == pytest.approx(theirs["recall_at_5"], abs=6e-6)
