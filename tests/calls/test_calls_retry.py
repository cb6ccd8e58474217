"""When a failed attempt is tried again, and after how long."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.calls.retry import RetryPolicy
from sightline.types import Failure


@given(st.integers(1, 2000), st.integers(0, 99), st.one_of(st.none(), st.floats(0, 100)))
def test_pauses_have_full_jitter_and_honour_the_server(number: int, seed: int, asked: float | None) -> None:
    retry = RetryPolicy(random=random.Random(seed))
    pause = retry.pause(number, asked) - (asked or 0.0)
    assert -1e-9 <= pause <= min(60.0, 0.5 * 2.0 ** min(number - 1, 60)) + 1e-9


def test_pauses_grow() -> None:
    retry = RetryPolicy(random=random.Random(0))
    means = [sum(retry.pause(number) for _ in range(300)) / 300 for number in range(1, 6)]
    assert all(after > 1.5 * before for before, after in pairwise(means))


@pytest.mark.parametrize(
    ("failure", "attempts"),
    [
        (Failure("server-error", "", retryable=True), 6),
        (Failure("wrong-schema", "", retryable=True), 1),
        (Failure("rate-limited", "", retryable=True), 20),
        (Failure("content-filter", ""), 1),
        (Failure("auth", ""), 1),
    ],
)
def test_so_many_attempts_and_no_more(failure: Failure, attempts: int) -> None:
    retry = RetryPolicy()
    overload = failure.kind == "rate-limited"
    made = 1
    while retry.again(failure, failed=0 if overload else made, refused=made if overload else 0):
        made += 1
    assert made == attempts
