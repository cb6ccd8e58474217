"""A test's pictures are kept out of the training: the same file, or the same to the eye."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from reason.curriculum_tools import compiled, paint, question, written
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.config import Config
from sightline.errors import FoundError, UserError
from sightline.io.files import sha256_of
from sightline.reason.curriculum.contamination import SharedPictures, find_shared_pictures
from sightline.types import Picture


def twins(train: Path, test: Path) -> SharedPictures:
    return find_shared_pictures(train, test, 6, Config())


def in_test(folder: Path, sources: Sequence[Path]) -> Path:
    """A test benchmark over copies of these pictures."""
    task = question("t0")
    written(folder, [task])
    found = read_benchmark(folder)
    pictures = {ref.id: Picture(ref.id, str(source)) for ref, source in zip(task.pictures, sources, strict=True)}
    write_benchmark(replace(found, corpus=replace(found.corpus, pictures=pictures)), folder)
    return folder


def with_checksums(folder: Path) -> Path:
    """A benchmark that states the checksums of its files."""
    found = read_benchmark(folder)
    pictures = {
        name: replace(picture, sha256=sha256_of(folder / picture.uri))
        for name, picture in found.corpus.pictures.items()
    }
    write_benchmark(replace(found, corpus=replace(found.corpus, pictures=pictures)), folder)
    return folder


def test_pictures_of_the_test_are_found_as_files_and_by_their_looks(good: Path, tmp_path: Path) -> None:
    smaller = tmp_path / "smaller.jpg"
    Image.open(good / "pictures/q3/2.png").resize((48, 36)).save(smaller, quality=60)
    test = in_test(tmp_path / "t", [good / "pictures/q2/1.png", smaller])
    found, pictures, by_checksum = twins(good, test)
    assert {name: twin.same_file for name, twin in found.items()} == {"q2/1.png": True, "q3/2.png": False}
    assert (pictures, by_checksum) == (2, 0)
    with pytest.raises(FoundError) as refused:
        compiled(good, tmp_path, "plain", test=test)
    assert "2 of 10 records" in str(refused.value)
    assert '"q2/1.png" is "t0/1.png" of the test' in str(refused.value)
    assert '"q3/2.png" looks like "t0/2.png" of the test' in str(refused.value)


def test_every_copy_of_a_test_picture_is_found(good: Path, tmp_path: Path) -> None:
    """Also where several training pictures have the very same hash."""
    copy = tmp_path / "copy.jpg"
    Image.open(good / "pictures/q3/2.png").resize((48, 36)).save(copy, quality=60)
    for name in ("q4/1.png", "q5/1.png"):
        Image.open(good / "pictures/q3/2.png").resize((128, 96)).save(good / "pictures" / name)
    other = paint(tmp_path / "other.png", seed=1)
    found = twins(good, in_test(tmp_path / "t", [copy, other])).found
    assert set(found) == {"q3/2.png", "q4/1.png", "q5/1.png"}
    assert not any(twin.same_file for twin in found.values())


def test_other_colours_are_another_picture(good: Path, tmp_path: Path) -> None:
    image = Image.open(good / "pictures/q3/2.png")
    red, green, blue = image.split()
    Image.merge("RGB", (red.point(lambda v: 255 - v), green, blue)).save(tmp_path / "a.png")
    found = twins(good, in_test(tmp_path / "t", [tmp_path / "a.png", paint(tmp_path / "b.png", seed=2)]))
    assert found.found == {}


def test_a_test_that_can_not_be_compared_proves_nothing(good: Path, tmp_path: Path) -> None:
    test = in_test(tmp_path / "t", [tmp_path / "gone.png", paint(tmp_path / "b.png", seed=3)])
    for drop in (False, True):
        with pytest.raises(
            FoundError, match=r'1 of the 2 pictures of .* such as "t0/1\.png" at .*gone\.png'
        ) as refused:
            compiled(good, tmp_path, "plain", test=test, drop=drop)
        assert refused.value.exit_code == 4
    found = read_benchmark(test)
    write_benchmark(replace(found, corpus=replace(found.corpus, pictures={})), test)
    with pytest.raises(FoundError, match=r"2 of the 2 pictures .* which is not in its pictures"):
        compiled(good, tmp_path, "plain", test=test)
    assert not (tmp_path / "out").exists()


def test_a_test_without_its_files_is_known_by_its_checksums(good: Path, tmp_path: Path) -> None:
    with_checksums(good)
    copied = tmp_path / "copied"
    shutil.copytree(good, copied, ignore=shutil.ignore_patterns("pictures"))
    with pytest.raises(FoundError, match=r'10 of 10 records .*\n.*"q0/1\.png" is "q0/1\.png" of the test'):
        compiled(good, tmp_path, "plain", test=copied)
    other = written(tmp_path / "t", [question("t0")])
    paint(other / "pictures/t0/1.png", seed=77)
    paint(other / "pictures/t0/2.png", seed=78)
    with_checksums(other)
    (other / "pictures/t0/1.png").unlink()
    done = compiled(good, tmp_path, "plain", test=other)
    assert (done.proof["test_pictures"], done.proof["test_pictures_by_checksum_alone"]) == (2, 1)
    said = "10 hold (2 pictures of it compared, 1 of them by checksum alone: only the same file)"
    assert f"no picture of the test, or nearly one: {said}" in done.proof_lines
    assert said in (tmp_path / "out/README.md").read_text()


def test_checksums_are_held_against_the_files_of_the_training(good: Path, tmp_path: Path) -> None:
    """Also where the training states none."""
    test = with_checksums(in_test(tmp_path / "t", [good / "pictures/q2/1.png", good / "pictures/q3/1.png"]))
    found = read_benchmark(test)
    moved = {name: replace(one, uri="https://example.org/1.png") for name, one in found.corpus.pictures.items()}
    write_benchmark(replace(found, corpus=replace(found.corpus, pictures=moved)), test)
    assert twins(good, test) == ({"q2/1.png": ("t0/1.png", True), "q3/1.png": ("t0/2.png", True)}, 2, 2)


def test_an_empty_test_is_refused(good: Path, tmp_path: Path) -> None:
    test = written(tmp_path / "t", [])
    with pytest.raises(UserError, match="t tests nothing: it has no tasks"):
        compiled(good, tmp_path, "plain", test=test)
    written(tmp_path / "w", [question("t0", prompt=("What is it?",))])
    with pytest.raises(UserError, match="w tests nothing: none of its tasks is about a picture"):
        compiled(good, tmp_path, "plain", test=tmp_path / "w")
    assert not (tmp_path / "out").exists()
