"""What is known of a picture, from wherever it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline.benchmark.folder import write_benchmark
from sightline.errors import UserError
from sightline.reason.traces.questions import open_source, read_names
from sightline.reason.traces.records import PictureKnowledge, Teacher, TracePicture, numbered_teachers
from sightline.types import Annotation, Benchmark, Corpus, Json, Picture


def known(tmp_path: Path, extra: dict[str, Json], names: dict[str, tuple[str, ...]] | None = None) -> TracePicture:
    picture = Picture("a/n01440764_3.jpg", "a/3.jpg", extra=extra)
    said = (Annotation(picture.id, summary="a fish in a net"),)
    write_benchmark(Benchmark("b", Corpus("b", {picture.id: picture}), {}, {}, annotations=said), tmp_path / "b")
    (subject,) = open_source(tmp_path / "b", tmp_path / "ws", names=names).subjects()
    return subject


def test_from_a_benchmark(tmp_path: Path) -> None:
    subject = known(tmp_path, {})
    assert subject.known == PictureKnowledge((), "a fish in a net") and subject.synset == "n01440764"
    assert subject.uri == str(tmp_path / "b" / "a" / "3.jpg")


def test_names_of_a_synset_win_over_labels(tmp_path: Path) -> None:
    names: dict[str, tuple[str, ...]] = {"n01440764": ("tench", "Tinca tinca")}
    assert known(tmp_path, {"label": "fish"}, names).known.labels == ("tench", "Tinca tinca")


@pytest.mark.parametrize(
    ("extra", "wanted"),
    [
        ({"label": "cat, house cat", "caption": "a cat"}, PictureKnowledge(("cat", "house cat"), "a cat")),
        ({"labels": ["dog"], "category": "dog"}, PictureKnowledge(("dog",), "a fish in a net")),
        ({"facts": ["a red ball", 3]}, PictureKnowledge((), "a fish in a net", ("a red ball",))),
    ],
)
def test_from_metadata(tmp_path: Path, extra: dict[str, Json], wanted: PictureKnowledge) -> None:
    assert known(tmp_path, extra).known == wanted


def test_names_files(tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text("n1 tench, Tinca tinca\n\nn2\tgoldfish\n")
    (tmp_path / "n.json").write_text('{"n1": "tench, Tinca tinca", "n2": ["goldfish"]}')
    assert read_names(tmp_path / "n.txt") == read_names(tmp_path / "n.json")
    (tmp_path / "bad.txt").write_text("n1 tench\nn2\n")
    with pytest.raises(UserError, match="line 2"):
        read_names(tmp_path / "bad.txt")


def test_teachers() -> None:
    parsed = Teacher.parse("vllm/glm@http://box:8000/v1")
    assert parsed == Teacher("vllm/glm", "http://box:8000/v1") and Teacher.parse("openai/a@b").name == "openai/a@b"
    assert [one.sample for one in numbered_teachers((parsed, Teacher("vllm/glm"), parsed))] == [0, 0, 1]
