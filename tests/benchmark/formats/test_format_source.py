"""Where a benchmark came from, on its card: a public data set is named only where it was fetched itself."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.formats import find_format
from sightline.exchange import import_files

# By format: whose it is, the file of a folder, and a row of it.
FORMATS = {
    "mir": (
        "MIR",
        "all_data_rel.json",
        [{"images": ["a.jpg"], "question": "<image> Which?", "options": ["left", "right"], "conclusion": "B"}],
    ),
    "imagemining": (
        "ImageMining",
        "data.jsonl",
        {"id": 1, "image": "a.jpg", "question": "Who?", "answer": "Ada", "question_en": "Who?", "answer_en": "Ada"},
    ),
    "imagenet-think": (
        "ImageNet-Think",
        "rows.jsonl",
        {"id": "a", "image": "a.jpg", "prompt": "Describe it.", "think_1": "Blue.", "answer_1": "A diver."},
    ),
    "disbench": (
        "DISBench",
        "queries.jsonl",
        {"query_id": "1", "user_id": "ann", "query": "It?", "answer": ["7"]},
    ),
}


@pytest.fixture(params=FORMATS)
def own(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """A format, and a folder of one's own questions in it."""
    _, file, row = FORMATS[request.param]
    folder = tmp_path / "quiz"
    (folder / "metadata").mkdir(parents=True)
    (folder / file).write_bytes(orjson.dumps(row))
    if request.param == "disbench":
        (folder / "metadata/ann.jsonl").write_bytes(orjson.dumps({"photo_id": "7", "metadata": {}}))
    return request.param, folder


def test_own_files_are_in_the_format_of_others_and_not_theirs(
    own: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    format_, folder = own
    whose, file, _ = FORMATS[format_]
    monkeypatch.chdir(folder)
    for path, called in ((folder, "quiz"), (folder / file, file), (".", "quiz"), ("metadata/..", "quiz")):
        import_files(format_, path, tmp_path / "bench")
        assert read_benchmark(tmp_path / "bench").card["source"] == f"{called}, in {whose}'s format"


def test_what_was_fetched_by_its_name_is_named(
    own: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    format_, folder = own
    name = find_format(format_).hub
    assert name is not None
    monkeypatch.setattr("sightline.exchange._download", lambda asked: folder if asked == name else None)
    import_files(format_, name, tmp_path / "bench")
    assert read_benchmark(tmp_path / "bench").card["source"] == name
