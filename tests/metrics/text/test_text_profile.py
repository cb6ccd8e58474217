from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metrics.text import document
from sightline.metrics.text.document import profiles
from sightline.metrics.text.tokens import word_tokens

# Around eight bytes, where a key turns from the word itself into a hash; beyond 64; and outside ASCII.
HEADS = [
    "a",
    "ab",
    "abcdefg",
    "abcdefgh",
    "abcdefghi",
    "abcdefgh" * 2,
    "x" * 64,
    "x" * 65,
    "x" * 200,
    "é",
    "猫",
    "हिन्दी",
]
WORDS = st.sampled_from(HEADS) | st.builds(str.__add__, st.sampled_from(HEADS), st.text("abz", min_size=1, max_size=3))
TEXTS = st.lists(WORDS, max_size=15).map(" ".join) | st.text(max_size=20)


def words_in_common(a: str, b: str) -> int:
    return len(set(word_tokens(a)) & set(word_tokens(b)))


@given(st.lists(TEXTS, max_size=6))
@settings(deadline=None, max_examples=200)
def test_counts_and_shared_words_are_those_of_the_tokens(texts: list[str]) -> None:
    found = list(profiles(texts))
    assert len(found) == len(texts)
    for text, item in zip(texts, found, strict=True):
        assert sorted(item.counts.tolist()) == sorted(Counter(word_tokens(text)).values())
        assert np.all(item.keys[1:] > item.keys[:-1])
    for a, one in zip(texts, found, strict=True):
        for b, other in zip(texts, found, strict=True):
            here, there = one.shared_with(other)
            assert len(here) == len(there) == words_in_common(a, b)
            assert one.keys[here].tolist() == other.keys[there].tolist()


@pytest.mark.parametrize("size", [1, 8, 30])
def test_chunks_change_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a cat sat", "", "the cat sat on the mat", "猫 a", " ", "electroencephalography"]
    whole = [(item.keys.tolist(), item.counts.tolist()) for item in profiles(texts)]
    monkeypatch.setattr(document, "_CHUNK", size)
    assert [(item.keys.tolist(), item.counts.tolist()) for item in profiles(texts)] == whole


def test_a_hundred_thousand_long_words_have_as_many_keys() -> None:
    words = [f"international{i:07d}" for i in range(100_000)]
    (found,) = profiles([" ".join(words)])
    assert len(found.keys) == len(words)


def test_a_blob_without_spaces_is_one_word() -> None:
    blob = "ab" * 1_000_000
    first, second, third = profiles([blob, blob + "c", f"{blob} x {blob}"])
    assert first.counts.tolist() == [1]
    assert len(first.shared_with(second)[0]) == 0
    assert third.counts.tolist() in ([1, 2], [2, 1])
    assert len(first.shared_with(third)[0]) == 1
