from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.tokenize import tokenize as reference_rouge
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from sightline.metrics.text.tokens import _unicode_tokens, bleu_tokens, rouge_tokens, word_tokens

ANY_TEXT = st.text(max_size=60)
ASCII_TEXT = st.text(st.characters(max_codepoint=127), max_size=60)
MARKUP = st.lists(
    st.sampled_from(
        ["3.14", "U.S.", "a-", "-\n", "\n", "&amp;", "&quot;", "<skipped>", "1-2", ",", ".", " ", "x", "("]
    ),
    max_size=20,
).map("".join)


@given(ANY_TEXT)
@settings(deadline=None, max_examples=200)
def test_rouge_tokens_are_those_of_rouge_score(text: str) -> None:
    assert rouge_tokens(text) == reference_rouge(text, None)


@given(ANY_TEXT | MARKUP)
@settings(deadline=None, max_examples=300)
def test_bleu_tokens_are_those_of_sacrebleu(text: str) -> None:
    assert bleu_tokens(text) == Tokenizer13a()(text.rstrip()).split()


@given(ASCII_TEXT)
@settings(deadline=None, max_examples=200)
def test_the_ascii_shortcut_changes_nothing(text: str) -> None:
    assert word_tokens(text) == _unicode_tokens(text) == rouge_tokens(text)


@given(ANY_TEXT)
@settings(deadline=None, max_examples=200)
def test_tokens_of_tokens_are_the_same(text: str) -> None:
    tokens = word_tokens(text)
    assert all(tokens) and not any(char.isspace() for token in tokens for char in token)
    assert word_tokens(" ".join(tokens)) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" ?! ", []),
        ("Don't STOP, snake_case 3.5", ["don", "t", "stop", "snake", "case", "3", "5"]),
        ("一只猫 sits", ["一", "只", "猫", "sits"]),
        ("カメラとcat", ["カ", "メ", "ラ", "と", "cat"]),
        ("ＡＢＣ１２", ["abc12"]),
        ("ｶﾞ", ["ガ"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("cafe\u0301 café", ["café", "café"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("ΟΔΟΣ οδος", ["οδοσ", "οδοσ"]),
        ("co\u00adoperate", ["cooperate"]),
        ("two\u200bwords", ["two", "words"]),
        ("I ❤️ 1️⃣ ´ it", ["i", "1", "it"]),
        ("葛\U000e0100城", ["葛", "城"]),
    ],
)
def test_words(text: str, tokens: list[str]) -> None:
    assert word_tokens(text) == tokens
