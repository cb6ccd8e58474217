from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.text.text_functions import chrf

SENTENCES = st.lists(st.sampled_from(["The", "cat", "cats", "sat", "on", "猫", "\u00a0", "!"]), max_size=10).map(
    " ".join
)
TEXTS = SENTENCES | st.text(max_size=20)


@given(TEXTS, TEXTS)
@settings(deadline=None, max_examples=300)
def test_equals_sacrebleu(prediction: str, reference: str) -> None:
    expected = sacrebleu.sentence_chrf(prediction, [reference]).score / 100
    assert chrf(prediction, [reference]) == pytest.approx(expected, abs=1e-9)


@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3))
@settings(deadline=None, max_examples=100)
def test_max_equals_sacrebleu_with_several_references(prediction: str, references: list[str]) -> None:
    expected = sacrebleu.sentence_chrf(prediction, references).score / 100
    assert chrf(prediction, references, "max") == pytest.approx(expected, abs=1e-9)


def test_edges() -> None:
    assert chrf("", [""]) == chrf("", ["a"]) == chrf("a", [""]) == chrf(" ", ["a"]) == 0.0
    assert chrf("a b", ["ab"]) == 1.0
    assert chrf("ab", ["ab", "xy"]) == 0.5
