"""An embedder from two functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import sightline
from make_tools import COLOURS, draw
from runs.run_world import coloured
from sightline import FunctionEmbedder, UserError
from sightline.models.embedders.base import attempt_pictures

NAMES = tuple(COLOURS)


def means(batch: list[Any]) -> list[Any]:
    return [picture.mean(axis=(0, 1)) for picture in batch]


def words(batch: list[str]) -> list[Any]:
    return [next((COLOURS[name] for name in NAMES if name in text), (1, 1, 1)) for text in batch]


async def means_later(batch: list[Any]) -> list[Any]:
    return means(batch)


@pytest.mark.parametrize("pictures", [means, means_later])
def test_it_searches_pictures(pictures: Any, tmp_path: Path) -> None:
    folder = draw(tmp_path / "pictures", *NAMES)
    embedder = FunctionEmbedder("mean", pictures=pictures, texts=words)
    try:
        found = sightline.search(f"something {NAMES[1]}", folder, embedder=embedder, workspace=tmp_path / "ws", k=1)
    finally:
        embedder.close()
    assert NAMES[1] in found.hits[0].picture.id


def test_vectors_are_of_unit_length_and_dim_is_found_out() -> None:
    embedder = FunctionEmbedder("mean", pictures=means, texts=words)
    assert embedder.dim == 3
    rows = embedder.texts(["red", "nothing"])
    assert rows.dtype == np.float32 and np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert FunctionEmbedder("mean", pictures=means, dim=7).dim == 7


def test_its_revision_is_that_of_its_code() -> None:
    same = [FunctionEmbedder("mean", pictures=means, texts=words).revision for _ in range(2)]
    assert same[0] == same[1] != FunctionEmbedder("mean", pictures=means, texts=lambda batch: words(batch[:])).revision
    assert FunctionEmbedder("mean", pictures=means, revision="v2").revision == "v2"


def test_a_picture_that_fails_fails_alone() -> None:
    def picky(batch: list[Any]) -> list[Any]:
        if any(picture.max() == 0 for picture in batch):
            raise ValueError("too dark")
        return means(batch)

    light, dark = np.full((4, 4, 3), 200, np.uint8), np.zeros((4, 4, 3), np.uint8)
    found = attempt_pictures(FunctionEmbedder("picky", pictures=picky), [light, dark, light])
    assert set(found.failures) == {1} and found.failures[1].kind == "crashed"
    assert "too dark" in found.failures[1].message and "in picky" in found.failures[1].message
    assert np.allclose(found.vectors[0], found.vectors[2]) and not found.vectors[1].any()


def test_a_function_that_never_worked_is_an_error() -> None:
    def broken(batch: list[Any]) -> list[Any]:
        raise ZeroDivisionError("oops")

    with pytest.raises(UserError, match=r"embedder broken failed: ZeroDivisionError: oops(.|\n)*in broken"):
        FunctionEmbedder("broken", pictures=broken).pictures([np.zeros((4, 4, 3), np.uint8)] * 2)
    with pytest.raises(UserError, match="embedder broken failed"):
        _ = FunctionEmbedder("broken", pictures=broken).dim


@pytest.mark.parametrize("said", [[1.0, 2.0], [[1.0, 2.0]], [[1.0, 2.0, 3.0, 4.0]] * 2])
def test_a_wrong_shape_is_refused(said: Any) -> None:
    embedder = FunctionEmbedder("odd", pictures=means, texts=lambda batch: said, dim=3)
    with pytest.raises(UserError, match=r"returned an array of .* for 2 inputs; \(2, 3\) was expected"):
        embedder.texts(["a", "b"])


def test_pictures_alone_and_no_function() -> None:
    with pytest.raises(UserError, match="embeds pictures only"):
        FunctionEmbedder("mean", pictures=means).texts(["a"])
    with pytest.raises(UserError, match=r"pictures must be of the type Callable.*, not 'clip'"):
        FunctionEmbedder("mean", pictures="clip")  # type: ignore[arg-type]


def test_it_is_evaluated_on_a_benchmark(tmp_path: Path) -> None:
    bench = coloured(tmp_path / "bench", tasks=6)
    done = sightline.run(bench, FunctionEmbedder("mean", pictures=means, texts=words), workspace=tmp_path / "ws")
    assert done.run.system == "retriever:embedder=mean" and not done.failures and done.attempts == 6
    assert sightline.score(bench, done.run, ["success@2"]).overall["success@2"].mean > 0.5


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0])
def test_an_embedder_whose_vectors_all_have_no_direction_is_an_error(value: float, tmp_path: Path) -> None:
    def broken(batch: list[Any]) -> Any:
        return np.full((len(batch), 3), value)

    folder, space = draw(tmp_path / "pictures", *NAMES), tmp_path / "ws"
    pictureless = FunctionEmbedder("broken", pictures=broken, texts=words)
    wordless = FunctionEmbedder("wordless", pictures=means, texts=broken)
    for _ in range(2):
        with pytest.raises(UserError, match=f"broken gave no usable vector for any of {len(NAMES)} pictures"):
            sightline.search("red", folder, embedder=pictureless, workspace=space)
    with pytest.raises(UserError, match="wordless gave no usable vector for any of 2 texts"):
        sightline.embed(["a", "b"], embedder=wordless, workspace=space)


def test_a_new_picture_without_a_direction_is_left_out_and_the_others_are_found(tmp_path: Path) -> None:
    folder, embedder = draw(tmp_path / "pictures", *NAMES), FunctionEmbedder("mean", pictures=means, texts=words)
    sightline.search(NAMES[0], folder, embedder=embedder, workspace=tmp_path / "ws")
    Image.new("RGB", (32, 32)).save(folder / "black.png")
    found = sightline.search(NAMES[0], folder, embedder=embedder, workspace=tmp_path / "ws")
    assert len(found) == len(NAMES) and found.left_out == {"empty": 1}
