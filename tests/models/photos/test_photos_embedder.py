"""The embedder on real photographs: words find the right ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from pictures import pixels_in
from sightline.errors import UserError
from sightline.models.embedders.registry import find_embedder
from sightline.models.photos.classifier import square_of
from sightline.models.photos.embedder import Photos
from sightline.models.photos.networks import find_networks
from sightline.models.photos.onnx_session import OnnxNetwork

Photographs = dict[str, NDArray[np.uint8]]


def found(photos: Photos, photographs: Photographs, query: str) -> str:
    scores = photos.pictures(list(photographs.values())) @ photos.texts([query])[0]
    return list(photographs)[int(scores.argmax())]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("a cat", "cat"),
        ("a cat looking at the camera", "cat"),
        ("tabby", "cat"),
        ("a cup of coffee", "coffee"),
        ("espresso", "coffee"),
        ("a rocket", "rocket"),
        ("a rocket launch", "rocket"),
        ("an orange astronaut suit", "astronaut"),
        ("a motorcycle", "motorcycle"),
        ("a man with a camera", "photographer"),
        ("a brick wall", "wall"),
        ("a page of text", "page"),
    ],
)
def test_words_find_the_right_photograph(photos: Photos, photographs: Photographs, query: str, expected: str) -> None:
    assert found(photos, photographs, query) == expected


@pytest.mark.parametrize(("query", "expected"), [("tabby cat", "cat"), ("espresso", "coffee"), ("missile", "rocket")])
def test_without_the_head_names_still_find(photographs: Photographs, photos: Photos, query: str, expected: str) -> None:
    names = Photos(head=False)
    assert names.dim == 384 and names.revision != photos.revision
    assert found(names, photographs, query) == expected


def test_without_the_head_its_weights_are_not_read(
    photos: Photos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.models.photos.networks.HEAD_FILE", tmp_path / "not there")
    assert Photos(head=False).texts(["a cat"]).shape == (1, 384)


def test_vectors_are_of_unit_length(photos: Photos, photographs: Photographs) -> None:
    for vectors in (photos.pictures(list(photographs.values())), photos.texts(["a cat", "two dogs on a beach"])):
        assert vectors.dtype == np.float32 and vectors.shape[1] == photos.dim == 1408
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


def test_a_vector_never_depends_on_its_neighbours(photos: Photos, photographs: Photographs) -> None:
    pictures, texts = list(photographs.values()), ["a cat", "a long text about a cat that sits on a sofa", "dogs"]
    one = Photos(threads=1)
    np.testing.assert_allclose(photos.pictures(pictures)[2], one.pictures(pictures[2:3])[0], atol=1e-6)
    np.testing.assert_allclose(photos.texts(texts)[1], one.texts(texts[1:2])[0], atol=1e-6)


def test_files_give_what_their_pixels_give(
    photos: Photos, photographs: Photographs, photograph_files: dict[str, Path]
) -> None:
    found = photos.pictures([pixels_in(path, photos.side) for path in photograph_files.values()])
    np.testing.assert_allclose(found, photos.pictures(list(photographs.values())), atol=1e-6)


def test_nothing_gives_nothing(photos: Photos) -> None:
    assert photos.pictures([]).shape == (0, photos.dim)
    assert photos.texts([]).shape == (0, photos.dim)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_text(photos: Photos, text: str) -> None:
    with pytest.raises(UserError, match="text 2 of 2 is empty"):
        photos.texts(["a cat", text])
    attempt = photos.attempt_texts(["a cat", text])
    assert attempt.failures[1].kind == "empty" and not attempt.vectors[1].any() and attempt.vectors[0].any()


def test_a_long_text_is_cut_and_counted() -> None:
    photos = Photos()
    text = " ".join(["a brown dog runs along the beach"] * 60)
    attempt = photos.attempt_texts(["a cat", text])
    assert attempt.cut is not None and attempt.cut.tolist() == [False, True] and photos.truncated == 1
    # The first 254 word pieces are read: what comes after changes nothing.
    np.testing.assert_allclose(photos.texts([f"{text} and a cat"])[0], attempt.vectors[1], atol=1e-6)


def test_a_text_of_two_hundred_words_is_read_whole(photos: Photos) -> None:
    attempt = photos.attempt_texts([" ".join(["dog"] * 200)])
    assert attempt.cut is not None and attempt.cut.tolist() == [False]


def test_a_grey_array_is_refused_and_a_grey_file_is_read(photos: Photos, tmp_path: Path) -> None:
    grey = np.zeros((40, 50), np.uint8)
    with pytest.raises(UserError, match="40 × 50 of uint8"):
        photos.pictures([grey])
    attempt = photos.attempt_pictures([np.zeros((40, 50, 3), np.uint8), grey])
    assert list(attempt.failures) == [1] and attempt.failures[1].kind == "bad-picture" and attempt.vectors[0].any()
    Image.fromarray(grey).save(tmp_path / "grey.png")
    assert photos.pictures([pixels_in(tmp_path / "grey.png", photos.side)])[0].any()


def test_found_by_name_with_its_options_checked(photos: Photos) -> None:
    named = find_embedder("photos", head=False)
    assert named.name == "photos" and named.dim == 384
    assert find_embedder().name == "photos"
    with pytest.raises(UserError, match='has no option "hed"') as caught:
        find_embedder("photos", hed=True)
    assert 'Did you mean "head"?' in (caught.value.fix or "")


def test_networks_are_made_once(photos: Photos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = find_networks(with_head=True)
    monkeypatch.setattr("sightline.models.photos.networks._build", lambda *_: pytest.fail("made again"))
    assert find_networks(with_head=True) == made
    assert not list(made.folder.parent.glob(f".{made.folder.name}-*"))


def test_a_cache_that_cant_be_written(photos: Photos, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="can't be written") as caught:
        Photos(cache=tmp_path / "file").texts(["a cat"])
    assert "XDG_CACHE_HOME" in (caught.value.fix or "")


def test_a_damaged_network_says_what_to_delete(photos: Photos, tmp_path: Path) -> None:
    (tmp_path / "pictures.onnx").write_bytes(b"damaged")
    with pytest.raises(UserError, match=r"pictures\.onnx can't be loaded") as caught:
        OnnxNetwork(tmp_path / "pictures.onnx")
    assert f"delete {tmp_path}" in (caught.value.fix or "")


def test_features_are_those_of_the_reference(photos: Photos, flickr8k: Path) -> None:
    stored = np.load(flickr8k / "dev.npz")
    files = stored["files"].tolist()
    network = OnnxNetwork(find_networks(with_head=True).pictures)
    for path in sorted((flickr8k / "sample").glob("*.jpg"))[::6]:
        row, square = files.index(path.name), square_of(pixels_in(path, photos.side))
        outputs = network(square[None])
        expected, pooled = stored["efficientnet_lite2_pooled"][row].astype(np.float32), outputs["pooled"][0]
        assert pooled @ expected / np.linalg.norm(pooled) / np.linalg.norm(expected) > 0.9999
        classes = stored["efficientnet_lite2_top32_class"][row]
        scores = stored["efficientnet_lite2_top32_logit"][row].astype(np.float32)
        np.testing.assert_allclose(outputs["logits"][0][classes], scores, atol=0.02)


def test_texts_are_those_of_the_reference(photos: Photos, flickr8k: Path) -> None:
    with (flickr8k / "dev-captions.jsonl").open() as lines:
        captions = [caption for _ in range(8) for caption in json.loads(next(lines))["captions"]]
    expected = np.load(flickr8k / "dev.npz")["caption_minilm"][: len(captions)].astype(np.float32)
    assert ((Photos(head=False).texts(captions) * expected).sum(axis=1) > 0.9999).all()
