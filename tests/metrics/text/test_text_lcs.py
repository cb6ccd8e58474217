from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metrics.text import rouge

TOKENS = st.lists(st.sampled_from("abcdef"), max_size=40)


def by_table(a: list[str], b: list[str]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        previous = row[:]
        for j, y in enumerate(b, 1):
            row[j] = previous[j - 1] + 1 if x == y else max(previous[j], row[j - 1])
    return row[-1]


@given(TOKENS, TOKENS)
@settings(deadline=None, max_examples=300)
def test_equals_the_table(a: list[str], b: list[str]) -> None:
    assert rouge.lcs_length(a, b) == rouge.lcs_length(b, a) == by_table(a, b)


@pytest.mark.parametrize("block", [1, 2, 7, 64])
def test_blocks_equal_the_table(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rouge, "_BLOCK", block)
    rng = random.Random(block)
    for letters in ("ab", "abcd", "abcdefghijklmnopqrstuvwxyz"):
        for _ in range(40):
            a = rng.choices(letters, k=rng.randrange(80))
            b = rng.choices(letters, k=rng.randrange(80))
            assert rouge.lcs_length(a, b) == by_table(a, b)


def test_two_texts_beyond_one_block_stay_small_in_memory() -> None:
    """All words differ but every tenth: one table of masks would take 20,000 × 20,000 bits."""
    a = [f"a{i}" if i % 10 else f"c{i}" for i in range(20_000)]
    b = [f"b{i}" if i % 10 else f"c{i}" for i in range(20_000)]
    assert rouge.lcs_length(a, b) == 2_000
