"""How two views become one vector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.models.photos.joint_vectors import JOINING, Joiner, class_names, class_texts, softmax, unit

RNG = np.random.default_rng(0)


def rows(count: int, width: int) -> np.ndarray:
    return unit(RNG.normal(size=(count, width)).astype(np.float32))


@pytest.fixture(scope="module")
def joiner() -> Joiner:
    return Joiner(rows(len(class_texts()), 384))


def test_a_thousand_classes_with_names() -> None:
    names = class_names()
    assert len(names) == 1000 and all(names)
    assert names[281][0] == "tabby" and names[967][0] == "espresso" and names[0] == ("tench", "Tinca tinca")


def test_texts_of_a_class() -> None:
    tench = [entry.text for entry in class_texts() if entry.number == 0]
    assert tench == ["tench", "a photo of a tench", "Tinca tinca", "a photo of a Tinca tinca", "tench, Tinca tinca"]


@given(st.floats(-1, 1))
def test_the_weight_rises_with_likeness(likeness: float) -> None:
    weight = JOINING.weight(np.array([likeness, likeness + 0.01], np.float32))
    assert JOINING.sentence - 1e-6 <= weight[0] <= weight[1] <= JOINING.name + 1e-6


def test_products_are_weighted_sums_of_both_views(joiner: Joiner) -> None:
    logits, head = RNG.normal(size=(6, 1000)).astype(np.float32), rows(6, 1024)
    words, text_head = rows(3, 384), rows(3, 1024)
    pictures, texts = joiner.pictures(logits, head), joiner.texts(words, text_head)
    np.testing.assert_allclose(np.linalg.norm(pictures, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(texts, axis=1), 1, rtol=1e-5)
    names = joiner.pictures(logits, None)
    # Words drawn at random are near no class: the weight is that of a sentence.
    expected = (1 - JOINING.sentence) * text_head @ head.T + JOINING.sentence * words @ names.T
    found = texts @ pictures.T
    np.testing.assert_allclose(found / found[:, :1], expected / expected[:, :1], rtol=1e-3)


def test_a_name_is_searched_by_name(joiner: Joiner) -> None:
    vectors = joiner._texts[:1]
    text = joiner.texts(vectors, rows(1, 1024))[0]
    part = float(np.linalg.norm(text[1024:])) / float(np.linalg.norm(text[:1024]))
    assert part == pytest.approx(JOINING.name / (1 - JOINING.name), rel=1e-4)


def test_softmax_of_large_scores() -> None:
    found = softmax(np.array([[1e4, 0.0], [0.0, 0.0]], np.float32))
    np.testing.assert_allclose(found, [[1.0, 0.0], [0.5, 0.5]])
