"""What is known of a pass rate, when sampling may stop, and in which bucket a question falls."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.reason.difficulty.pass_rate import BucketRule, credible_interval, probability_of_at_least

counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, st.floats(0.01, 0.99))
@settings(deadline=None, max_examples=60)
def test_the_posterior_is_that_of_a_uniform_prior(seen: tuple[int, int], rate: float) -> None:
    beta = pytest.importorskip("scipy.stats").beta
    passes, n = seen
    exact = beta(passes + 1, n - passes + 1)
    assert probability_of_at_least(rate, passes, n) == pytest.approx(exact.sf(rate), abs=1e-9)
    assert credible_interval(passes, n) == pytest.approx(exact.ppf([0.025, 0.975]), abs=1e-7)


def test_the_ends_of_the_scale() -> None:
    assert probability_of_at_least(0.0, 0, 10) == 1.0 and probability_of_at_least(1.0, 10, 10) == 0.0
    assert probability_of_at_least(0.7, 4_000, 5_000) > 0.999999  # No overflow.
    assert credible_interval(0, 0) == pytest.approx((0.025, 0.975), abs=1e-6)


@pytest.mark.parametrize(
    ("passes", "n", "bucket"), [(7, 10, "easy"), (6, 10, "hard"), (21, 30, "easy"), (0, 3, "hard")]
)
def test_buckets_go_by_the_raw_rate(passes: int, n: int, bucket: str) -> None:
    assert BucketRule().bucket(passes, n) == bucket


def test_when_ten_samples_may_stop_early() -> None:
    """At 0.7 a question can be clearly hard after three samples, and never clearly easy before the tenth."""
    rule = BucketRule()
    clear = [(passes, n) for n in range(10) for passes in range(n + 1) if rule.is_clear(passes, n)]
    assert min(clear) == (0, 3) and (1, 6) in clear and (1, 5) not in clear
    assert all(rule.bucket(passes, n) == "hard" for passes, n in clear)
    assert not any(rule.is_clear(n, n) for n in range(10))
    assert not any(BucketRule(early=False).is_clear(passes, n) for passes, n in clear)


@given(st.integers(1, 40), st.floats(0.05, 0.95), st.integers(1, 6))
@settings(deadline=None, max_examples=60)
def test_a_clear_posterior_agrees_with_the_raw_rate(samples: int, easy: float, least: int) -> None:
    """Else a question would stop as one and be filed as the other."""
    rule = BucketRule(samples, easy, least)
    for n in range(least, samples):
        for passes in range(n + 1):
            if rule.is_clear(passes, n):
                sure_easy = probability_of_at_least(easy, passes, n) > 0.5
                assert rule.bucket(passes, n) == ("easy" if sure_easy else "hard")


@given(st.integers(1, 16), st.floats(0.2, 0.9))
@settings(deadline=None, max_examples=40)
def test_no_sample_is_asked_that_could_not_have_been_needed(samples: int, easy: float) -> None:
    rule = BucketRule(samples, easy)
    for n, passes in product(range(samples), range(samples)):
        if passes > n or rule.is_clear(passes, n):
            continue
        count = rule.more(passes, n)
        assert 1 <= count <= samples - n
        for fewer in range(1, count):  # Whatever they say, it is not clear before.
            assert not any(rule.is_clear(passes + right, n + fewer) for right in range(fewer + 1))


def agreement(rate: float, rule: BucketRule) -> tuple[float, float]:
    """Exactly: how often an early stop files a question as all samples would have, and how many it asks."""
    same = asked = 0.0
    for draws in product((0, 1), repeat=rule.samples):
        chance = math.prod(rate if draw else 1 - rate for draw in draws)
        n = next(n for n in range(rule.samples + 1) if rule.is_clear(sum(draws[:n]), n))
        asked += chance * n
        same += chance * (rule.bucket(sum(draws[:n]), n) == rule.bucket(sum(draws), rule.samples))
    return same, asked


@pytest.mark.parametrize(
    ("rate", "least", "most"), [(0.1, 0.9999, 4.5), (0.5, 0.99, 9.0), (0.7, 0.97, 9.9), (0.95, 0.99, 10.0)]
)
def test_an_early_stop_hardly_changes_a_bucket(rate: float, least: float, most: float) -> None:
    """docs/difficulty.md tells these numbers."""
    same, asked = agreement(rate, BucketRule())
    assert same >= least and asked <= most


@pytest.mark.parametrize("wrong", [{"easy": 0.0}, {"easy": 1.0}, {"samples": 0}])
def test_rules_that_tell_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UserError):
        BucketRule(**wrong)  # type: ignore[arg-type]
