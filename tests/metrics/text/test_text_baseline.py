from __future__ import annotations

import numpy as np
import pytest

from metrics.text.text_functions import jaccard
from sightline.errors import UserError
from sightline.metrics.text.pairs import matched_references, random_pair_baseline


def text(words: int, letter: str) -> str:
    return " ".join(f"{letter}{i}" for i in range(words))


REFERENCES = [[text(3, "a"), text(50, "a")], [text(4, "b")], [text(48, "c")], [text(20, "d"), text(52, "d")]]


def test_the_nearest_in_length_of_another_item_stands_in() -> None:
    (draw,) = matched_references(REFERENCES, seed=0)
    assert draw == [
        [text(4, "b"), text(48, "c")],
        [text(3, "a")],
        [text(50, "a")],
        [text(4, "b"), text(50, "a")],
    ]


def test_several_draws_go_outwards_and_never_repeat() -> None:
    first, second = matched_references(REFERENCES, seed=0, pairs=2)
    assert first[2] == [text(50, "a")]
    assert second[2] == [text(52, "d")]
    for draws in (first, second):
        for own, others in zip(REFERENCES, draws, strict=True):
            assert len(own) == len(others) and not set(own) & set(others)


def test_among_equals_the_seed_decides() -> None:
    equal = [[f"word{i} same"] for i in range(20)]
    assert matched_references(equal, seed=1) == matched_references(equal, seed=1)
    assert matched_references(equal, seed=1) != matched_references(equal, seed=2)


def test_scores_are_those_of_the_stand_ins() -> None:
    predictions = [text(5, "a"), text(5, "b"), text(5, "c"), text(5, "d")]
    draws = matched_references(REFERENCES, seed=3, pairs=2)
    expected = np.mean([[jaccard(p, r) for p, r in zip(predictions, draw, strict=True)] for draw in draws], axis=0)
    found = random_pair_baseline("jaccard", predictions, REFERENCES, seed=3, pairs=2)
    assert found == pytest.approx(expected)


def test_unrelated_texts_score_below_related_ones() -> None:
    rng = np.random.default_rng(0)
    common = [f"w{i}" for i in range(30)]
    own = [[" ".join([*rng.choice(common, 20), f"topic{i}", f"thing{i}"])] for i in range(40)]
    predictions = [texts[0] for texts in own]
    baseline = random_pair_baseline("rouge-1", predictions, own, seed=0)
    assert baseline.shape == (40,)
    assert 0 < baseline.mean() < 0.9


@pytest.mark.parametrize("pairs", [0, 2])
def test_too_few_items_are_refused(pairs: int) -> None:
    with pytest.raises(UserError, match="random pairs"):
        matched_references([["a"], ["b"]], seed=0, pairs=pairs)


def test_one_item_has_no_baseline() -> None:
    with pytest.raises(UserError, match="more items"):
        random_pair_baseline("jaccard", ["a"], [["a", "b"]], seed=0)
