"""Batches: every example once, within the limit, like lengths together, the same for the same seed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.reason.train.examples import ROUND
from sightline.reason.train.loop import steps_of

_LENGTHS = st.lists(st.integers(1, 900), max_size=300).map(lambda found: np.array(found, np.int64))


@settings(deadline=None, max_examples=60)
@given(_LENGTHS, st.integers(64, 8192), st.integers(1, 4), st.booleans())
def test_every_example_is_there_once_and_batches_fit(
    lengths: np.ndarray, tokens: int, together: int, mixed: bool
) -> None:
    steps = steps_of(lengths, tokens=tokens, together=together, chance=(1, 2, 3), mixed=mixed)
    batches = [rows for step in steps for rows in step.batches]
    assert sorted(row for rows in batches for row in rows) == list(range(len(lengths)))
    assert all(1 <= len(step.batches) <= together for step in steps)
    for rows in batches:
        padded = len(rows) * -(-int(lengths[list(rows)].max()) // ROUND) * ROUND
        assert padded <= tokens or len(rows) == 1
    if not mixed:
        assert [row for rows in batches for row in rows] == list(range(len(lengths)))


def test_the_seed_decides_the_order() -> None:
    lengths = np.random.default_rng(0).integers(20, 600, 5000)
    first, again, other = (steps_of(lengths, tokens=4096, chance=chance) for chance in ((0, 0), (0, 0), (0, 1)))
    assert first == again
    assert first != other


def test_little_is_padding() -> None:
    lengths = np.random.default_rng(0).integers(20, 600, 5000)
    batches = [rows for step in steps_of(lengths, tokens=16_384, chance=(0,)) for rows in step.batches]
    padded = sum(len(rows) * -(-int(lengths[list(rows)].max()) // ROUND) * ROUND for rows in batches)
    assert lengths.sum() / padded > 0.85
