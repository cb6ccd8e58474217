from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.metrics.text.ngram_metrics import bleu, corpus_bleu

WORDS = ["The", "the", "cat", "sat", "on", "a", "mat.", "3.5", "1-2", "(yes)", "&amp;", "猫", "\n", "it's"]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
TEXTS = SENTENCES | st.text(max_size=20)


@given(TEXTS, TEXTS)
@settings(deadline=None, max_examples=300)
def test_one_reference_equals_sacrebleu(prediction: str, reference: str) -> None:
    expected = sacrebleu.sentence_bleu(prediction, [reference], smooth_method="exp", tokenize="13a").score / 100
    assert bleu(prediction, [reference]) == pytest.approx(expected, abs=1e-9)


@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3))
@settings(deadline=None, max_examples=150)
def test_joint_references_equal_sacrebleu(prediction: str, references: list[str]) -> None:
    expected = sacrebleu.sentence_bleu(prediction, references).score / 100
    assert corpus_bleu([prediction], [references], effective_order=True) == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.tuples(SENTENCES, SENTENCES, SENTENCES), min_size=1, max_size=5))
@settings(deadline=None, max_examples=150)
def test_corpus_equals_sacrebleu(rows: list[tuple[str, str, str]]) -> None:
    predictions, first, second = zip(*rows, strict=True)
    expected = sacrebleu.corpus_bleu(list(predictions), [list(first), list(second)]).score / 100
    assert corpus_bleu(predictions, zip(first, second, strict=True)) == pytest.approx(expected, abs=1e-9)


def test_mean_and_max() -> None:
    whole = "a b c d e"
    assert bleu(whole, [whole, "z"]) == pytest.approx(0.5)
    assert bleu(whole, [whole, "z"], "max") == pytest.approx(1.0)


@pytest.mark.parametrize(("prediction", "reference"), [("", ""), ("", "a"), ("a", ""), ("a", "b")])
def test_edges(prediction: str, reference: str) -> None:
    assert bleu(prediction, [reference]) == 0.0


def test_an_empty_corpus_is_refused() -> None:
    with pytest.raises(UserError, match="no prediction"):
        corpus_bleu([], [])
