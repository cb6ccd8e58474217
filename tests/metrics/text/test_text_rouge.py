from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from metrics.text.text_functions import rouge_1, rouge_l
from sightline.metrics.context import Context
from sightline.metrics.text.similarity import text_metric
from sightline.types import Trace, Traces

SCORER = RougeScorer(["rouge1", "rougeL"], use_stemmer=False)
SENTENCES = st.lists(
    st.sampled_from(["The", "the", "cat", "sat", "on", "a", "mat.", "42", "--", "é"]), max_size=15
).map(" ".join)
TEXTS = SENTENCES | st.text(max_size=30)


@given(TEXTS, TEXTS)
@settings(deadline=None, max_examples=300)
def test_equals_rouge_score(prediction: str, reference: str) -> None:
    expected = SCORER.score(reference, prediction)
    for ours, name in ((rouge_1, "rouge1"), (rouge_l, "rougeL")):
        assert ours(prediction, [reference]) == pytest.approx(expected[name].fmeasure, abs=1e-12)


@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=4))
@settings(deadline=None, max_examples=100)
def test_max_over_references_equals_rouge_score(prediction: str, references: list[str]) -> None:
    expected = SCORER.score_multi(references, prediction)
    assert rouge_1(prediction, references, "max") == pytest.approx(expected["rouge1"].fmeasure, abs=1e-12)
    assert rouge_l(prediction, references, "max") == pytest.approx(expected["rougeL"].fmeasure, abs=1e-12)


def test_mean_over_references() -> None:
    assert rouge_l("a b", ["a b", "c d"]) == 0.5
    assert rouge_1("a b", ["a b", "c d"]) == 0.5


@pytest.mark.parametrize(("prediction", "reference"), [("", ""), ("?", "?"), ("", "a"), ("a", "")])
def test_without_tokens_it_is_zero(prediction: str, reference: str) -> None:
    assert rouge_1(prediction, [reference]) == rouge_l(prediction, [reference]) == 0.0


def test_order_matters_to_l_only() -> None:
    assert rouge_1("a b c", ["c b a"]) == 1.0
    assert rouge_l("a b c", ["c b a"]) == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", ["rouge-1", "rouge-l"])
def test_chinese_needs_our_words(name: str) -> None:
    truth, same = Traces((Trace("", "一只猫"),)), Trace("", "一只猫")
    assert text_metric(name)(truth, same, Context()) == 0.0
    assert text_metric(f"{name}(tokens=words)")(truth, same, Context()) == 1.0
