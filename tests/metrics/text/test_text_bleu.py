from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.text.text_functions import bleu

WORDS = ["The", "the", "cat", "sat", "on", "a", "mat.", "3.5", "1-2", "(yes)", "&amp;", "猫", "\n", "it's"]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
TEXTS = SENTENCES | st.text(max_size=20)


@given(TEXTS, TEXTS)
@settings(deadline=None, max_examples=300)
def test_one_reference_equals_sacrebleu(prediction: str, reference: str) -> None:
    expected = sacrebleu.sentence_bleu(prediction, [reference], smooth_method="exp", tokenize="13a").score / 100
    assert bleu(prediction, [reference]) == pytest.approx(expected, abs=1e-9)


def test_mean_and_max() -> None:
    whole = "a b c d e"
    assert bleu(whole, [whole, "z"]) == pytest.approx(0.5)
    assert bleu(whole, [whole, "z"], "max") == pytest.approx(1.0)


@pytest.mark.parametrize(("prediction", "reference"), [("", ""), ("", "a"), ("a", ""), ("a", "b")])
def test_edges(prediction: str, reference: str) -> None:
    assert bleu(prediction, [reference]) == 0.0
