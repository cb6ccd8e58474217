"""Hugging Face image folders: rows and files, labels and splits, and what the real `datasets` makes of ours."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from benchmark.formats.format_tools import benchmark_in, exporting, importing, picture_bytes, put, without_places
from sightline.benchmark.formats import FormatOptions
from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.types import Benchmark, Corpus, Picture, Relevance, Rights


def jsonl(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def captioned(tmp_path: Path) -> Path:
    """Two pictures with captions, one of them in a folder, as the documentation of the format shows it."""
    folder = tmp_path / "dogs"
    put(folder / "a.png", picture_bytes("red"))
    put(folder / "more" / "b.png", picture_bytes("blue"))
    rows = (
        {"file_name": "a.png", "text": "a red field", "width": 24, "license": "CC0-1.0", "mood": "calm"},
        {"file_name": "more/b.png", "text": "a blue field", "width": 24, "license": None, "mood": "sad"},
    )
    put(folder / "metadata.jsonl", jsonl(*rows))
    return folder


# --- in ----------------------------------------------------------------------------------------------------


def test_captions_become_tasks_that_look_for_their_picture(captioned: Path) -> None:
    found = benchmark_in("imagefolder", captioned)
    assert found.name == "dogs"
    assert {name: task.text for name, task in found.tasks.items()} == {
        "a.png": "a red field",
        "more/b.png": "a blue field",
    }
    assert found.truth["more/b.png"] == Relevance({"more/b.png": 1})
    assert all(task.kind == "rank" for task in found.tasks.values())


def test_what_is_known_of_a_picture_goes_to_its_fields(captioned: Path) -> None:
    picture = benchmark_in("imagefolder", captioned).corpus.pictures["a.png"]
    assert (picture.width, picture.rights, picture.extra) == (24, Rights(license="CC0-1.0"), {"mood": "calm"})
    assert picture_path(picture.uri, Path()) == captioned / "a.png"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_metadata_may_be_a_table(captioned: Path, kind: str) -> None:
    (captioned / "metadata.jsonl").unlink()
    if kind == "csv":
        rows = 'file_name,text,width,lat,mood\na.png,"a red, ""plain""\nfield",24,46.5,calm\nmore/b.png,blue,24,,\n'
        put(captioned / "metadata.csv", rows)
        text = 'a red, "plain"\nfield'
    else:
        pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        table = pa.table(
            {"file_name": ["a.png", "more/b.png"], "text": ["red", "blue"], "width": [24, 24], "lat": [46.5, None]}
        )
        pq.write_table(table, captioned / "metadata.parquet")
        text = "red"
    found = benchmark_in("imagefolder", captioned)
    assert found.tasks["a.png"].text == text
    assert (found.corpus.pictures["a.png"].width, found.corpus.pictures["a.png"].lat) == (24, 46.5)
    assert found.corpus.pictures["more/b.png"].lat is None


def test_a_list_of_captions_gives_several_tasks(captioned: Path) -> None:
    put(captioned / "metadata.jsonl", jsonl({"file_name": "a.png", "captions": ["red", " ", "a red field"]}))
    found = benchmark_in("imagefolder", captioned)
    assert {name: task.text for name, task in found.tasks.items()} == {"a.png": "red", "a.png#2": "a red field"}
    assert set(found.corpus.pictures) == {"a.png", "more/b.png"}


def test_another_column_can_hold_the_captions(captioned: Path) -> None:
    found = benchmark_in("imagefolder", captioned, FormatOptions(columns={"text": "mood"}))
    assert found.tasks["a.png"].text == "calm"
    assert found.corpus.pictures["a.png"].extra == {"text": "a red field"}


def test_without_captions_there_are_pictures_only_with_folders_as_labels_and_splits(tmp_path: Path) -> None:
    for name in ("train/cat/1.png", "train/dog/2.png", "test/cat/3.jpg", "test/cat/.hidden.png", "test/notes.txt"):
        put(tmp_path / "pets" / name, picture_bytes())
    found = benchmark_in("imagefolder", tmp_path / "pets")
    assert found.tasks == {} and found.truth == {}
    assert {name: dict(picture.extra) for name, picture in found.corpus.pictures.items()} == {
        "test/cat/3.jpg": {"label": "cat", "split": "test"},
        "train/cat/1.png": {"label": "cat", "split": "train"},
        "train/dog/2.png": {"label": "dog", "split": "train"},
    }
    assert set(benchmark_in("imagefolder", tmp_path / "pets", FormatOptions(split="test")).corpus.pictures) == {
        "test/cat/3.jpg"
    }
    with pytest.raises(UserError, match='no split "dev"') as caught:
        importing("imagefolder", tmp_path / "pets", FormatOptions(split="dev"))
    assert "test, train" in str(caught.value.fix)


def test_metadata_in_a_split_is_seen_from_its_own_folder(tmp_path: Path) -> None:
    put(tmp_path / "d" / "val" / "x" / "1.png", picture_bytes())
    put(tmp_path / "d" / "val" / "metadata.jsonl", jsonl({"file_name": "x/1.png", "text": "one"}))
    found = benchmark_in("imagefolder", tmp_path / "d")
    assert found.tasks["val/x/1.png"].labels == {"split": ("validation",)}


def test_pictures_need_not_be_there_and_rows_neither(captioned: Path) -> None:
    (captioned / "a.png").unlink()
    put(captioned / "extra.webp", b"x")
    imported = importing("imagefolder", captioned)
    assert isinstance(imported.content, Benchmark)
    assert set(imported.content.corpus.pictures) == {"a.png", "more/b.png", "extra.webp"}
    assert imported.warnings == ('1 picture has no row in the metadata: "extra.webp"; taken in without',)


def test_names_are_composed_and_files_are_found_as_they_are(tmp_path: Path) -> None:
    name = unicodedata.normalize("NFD", "café.png")
    put(tmp_path / "d" / name, picture_bytes())
    (picture,) = benchmark_in("imagefolder", tmp_path / "d").corpus.pictures.values()
    assert picture.id == unicodedata.normalize("NFC", name)
    place = picture_path(picture.uri, Path())
    assert place is not None and place.is_file()


def test_a_caption_of_several_pictures_is_pointed_out(captioned: Path) -> None:
    rows = [{"file_name": name, "text": text} for name, text in (("a.png", "A field"), ("more/b.png", "a field "))]
    put(captioned / "metadata.jsonl", jsonl(*rows))
    (warning,) = importing("imagefolder", captioned).warnings
    assert warning.startswith("1 caption is said of several pictures")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "no file"}, "metadata.jsonl, line 2, file_name: expected text, but it is not there"),
        ({"file_name": "../secret.png"}, "line 2, file_name: expected a path inside the folder"),
        ({"file_name": "/etc/passwd"}, "line 2, file_name: expected a path inside the folder"),
        ({"file_name": "file:///etc/passwd"}, "line 2, file_name: expected a path inside the folder"),
        ({"file_name": "a.png"}, 'line 2, id: "a.png" is there twice'),
        ({"file_name": "more/b.png", "text": 7}, "line 2, text: expected text or a list of texts, got 7"),
        ({"file_name": "b.png", "uri": "", "groups": [], "extra": "{"}, "line 2, extra: expected a JSON object"),
        ([1], "line 2: expected an object"),
    ],
)
def test_a_wrong_row_is_refused_or_left_out(captioned: Path, row: object, message: str) -> None:
    put(captioned / "metadata.jsonl", jsonl({"file_name": "a.png", "text": "red"}, row, {"file_name": "c.png"}))
    with pytest.raises(ProblemsError) as caught:
        importing("imagefolder", captioned)
    assert message in str(caught.value)
    imported = importing("imagefolder", captioned, FormatOptions(keep_going=True))
    assert isinstance(imported.content, Benchmark)
    assert len(imported.problems) == 1 and "c.png" in imported.content.corpus.pictures


def test_metadata_of_two_kinds_and_no_folder_are_refused(captioned: Path) -> None:
    with pytest.raises(UserError, match="not a folder"):
        importing("imagefolder", captioned / "a.png")
    put(captioned / "more" / "metadata.csv", "file_name\nb.png\n")
    with pytest.raises(UserError, match=r"several kinds: \.csv, \.jsonl"):
        importing("imagefolder", captioned)


# --- out and back ------------------------------------------------------------------------------------------


def test_a_benchmark_comes_back_with_its_tasks(sampled: Benchmark, tmp_path: Path) -> None:
    folder = exporting("imagefolder", sampled, tmp_path / "out")
    found = benchmark_in("imagefolder", folder)
    assert without_places(found) == without_places(sampled)
    place = picture_path(next(iter(found.corpus.pictures.values())).uri, Path())
    assert place is not None and place.parent == folder and place.is_file()
    with pytest.raises(UserError, match="tasks over all its pictures"):
        importing("imagefolder", folder, FormatOptions(split="test"))


def test_the_limit_is_on_tasks(sampled: Benchmark, tmp_path: Path) -> None:
    folder = exporting("imagefolder", sampled, tmp_path / "out", FormatOptions(limit=3))
    found = benchmark_in("imagefolder", folder)
    assert list(found.tasks) == list(found.truth) == list(sampled.tasks)[:3]
    assert len(found.corpus.pictures) == len(sampled.corpus.pictures)


def test_a_corpus_is_written_too(sampled: Benchmark, tmp_path: Path) -> None:
    folder = exporting("imagefolder", sampled.corpus, tmp_path / "out")
    found = benchmark_in("imagefolder", folder)
    assert without_places(found).corpus.pictures == without_places(sampled).corpus.pictures
    assert found.tasks == {}


def test_nothing_is_written_without_the_pictures_or_over_other_things(sampled: Benchmark, tmp_path: Path) -> None:
    away = Benchmark("away", Corpus("away", {"x": Picture("x", "https://example.org/x.jpg")}), {}, {})
    with pytest.raises(UserError, match='1 picture is not here: "x"'):
        exporting("imagefolder", away, tmp_path / "away")
    assert list(tmp_path.iterdir()) == []
    kept = put(tmp_path / "mine" / "metadata.jsonl", "")
    with pytest.raises(UserError, match="is not empty"):
        exporting("imagefolder", sampled, tmp_path / "mine")
    assert list((tmp_path / "mine").iterdir()) == [kept]


@pytest.mark.slow
def test_the_real_loader_reads_ours(sampled: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets", reason="the interop extra has the real loader")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    folder = exporting("imagefolder", sampled, tmp_path / "out")
    loaded = datasets.load_dataset(
        "imagefolder", data_dir=str(folder), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert loaded["id"][:] == list(sampled.corpus.pictures)
    first = sampled.corpus.pictures[loaded[0]["id"]]
    assert loaded[0]["image"].size in ((first.width, first.height), (first.height, first.width))
    texts = {task.text for task in sampled.tasks.values() if task.kind == "rank" and not task.pictures}
    assert {text for row in loaded["text"] for text in row} == texts
