"""Buckets keep rates, and headers are read as servers write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.calls.rate_limit import Allowance, TokenBucket, parse_seconds, read_allowances


def take_all(bucket: TokenBucket, amounts: list[float], gaps: list[float]) -> list[float]:
    """Take each as soon as it is allowed; when each was taken."""
    now, times = 0.0, []
    for amount, gap in zip(amounts, gaps, strict=True):
        now += gap
        now += bucket.wait(amount, now)
        assert bucket.wait(amount, now) == pytest.approx(0.0, abs=1e-6)
        bucket.take(amount, now)
        times.append(now)
    return times


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 600), st.lists(st.floats(0, 3), min_size=1, max_size=400))
def test_no_minute_has_more_than_allowed(per_minute: int, gaps: list[float]) -> None:
    times = take_all(TokenBucket.per_minute(per_minute, 0.0), [1.0] * len(gaps), gaps)
    for first, start in enumerate(times):
        inside = sum(1 for time in times[first:] if time < start + 60 - 1e-6)
        assert inside <= per_minute


@pytest.mark.parametrize("per_minute", [1, 7, 60, 600, 3000])
def test_nearly_all_that_is_allowed_is_used(per_minute: int) -> None:
    count = 10 * per_minute
    last = take_all(TokenBucket.per_minute(per_minute, 0.0), [1.0] * count, [0.0] * count)[-1]
    assert last <= 600 * 61 / 60 + 1


def test_an_amount_larger_than_the_bucket_is_paid_off_before_the_next() -> None:
    bucket = TokenBucket.per_minute(6100, 0.0)
    times = take_all(bucket, [1000.0, 1.0, 1000.0], [0.0] * 3)
    assert times == pytest.approx([0.0, 9.01, 10.01], abs=0.02)


def test_what_was_not_used_is_given_back() -> None:
    bucket = TokenBucket.per_minute(6100, 0.0)
    bucket.take(100, 0.0)
    assert bucket.wait(50, 0.0) > 0
    bucket.give_back(60)
    assert bucket.wait(50, 0.0) == 0
    bucket.give_back(1e9)
    assert bucket.wait(101, 0.0) == 0 and bucket.wait(100, 0.0) == 0
    bucket.take(100, 0.0)
    assert bucket.wait(1, 0.0) > 0, "no more than the bucket holds can be given back"


def test_a_server_that_says_what_is_left_is_followed() -> None:
    bucket = TokenBucket(1.0, 500, 0.0, level=2)
    bucket.learn(limit=500, remaining=2, reset_seconds=60, now=0.0)
    bucket.take(1, 0.0)
    bucket.take(1, 0.0)
    assert bucket.wait(1, 0.0) == pytest.approx(60 / 498)
    bucket.learn(limit=500, remaining=0, reset_seconds=30, now=0.0)
    assert bucket.wait(1, 0.0) == pytest.approx(30 / 500)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("6m0s", 360.0),
        ("1h2m3.5s", 3723.5),
        ("120ms", 0.12),
        ("12", 12.0),
        ("0.25", 0.25),
        ("2m59.56s", 179.56),
        ("2026-11-15T10:00:30Z", 30.0),
        ("2026-11-15T09:00:00+00:00", 0.0),
        ("", None),
        ("soon", None),
        ("-3", None),
        ("nan", None),
        ("6 m", None),
    ],
)
def test_times_are_read_as_servers_write_them(text: str, expected: float | None) -> None:
    found = parse_seconds(text, datetime(2026, 11, 15, 10, tzinfo=UTC))
    assert found == (None if expected is None else pytest.approx(expected))


def test_limits_are_read_from_openai_and_anthropic_headers() -> None:
    openai = {
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-limit-tokens": "200000",
        "x-ratelimit-remaining-tokens": "150000",
        "x-ratelimit-reset-tokens": "15s",
    }
    assert read_allowances(openai) == [Allowance("requests", 500, 499, 0.12), Allowance("tokens", 200000, 150000, 15)]
    anthropic = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-11-15T10:00:12Z",
    }
    now = datetime(2026, 11, 15, 10, tzinfo=UTC)
    assert read_allowances(anthropic, now) == [Allowance("requests", 50, 0, 12)]


def test_half_of_a_limit_is_no_limit() -> None:
    assert read_allowances({"x-ratelimit-remaining-requests": "3"}) == []
    assert read_allowances({"content-type": "application/json"}) == []
