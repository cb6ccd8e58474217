from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from sightline.errors import UserError
from sightline.metrics.statistics.distributions import (
    check_fraction,
    incomplete_beta,
    noncentral_t_cdf,
    normal_cdf,
    normal_quantile,
    student_cdf,
    student_quantile,
    student_tail,
)


@given(st.floats(-60, 700), st.integers(1, 3000))
@settings(max_examples=80, deadline=None)
def test_student_cdf_is_scipys(t: float, df: int) -> None:
    # Below 1e-8, scipy says 0.5 and not 0.5 + t / π and the like.
    assert student_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), abs=1e-10 if abs(t) > 1e-7 else 1e-7)


@pytest.mark.parametrize("df", [1, 2, 3, 10, 29, 500, 1_000_000])
@pytest.mark.parametrize("p", [0.001, 0.025, 0.4, 0.5, 0.9, 0.975, 0.9995])
def test_student_quantile_is_scipys(df: int, p: float) -> None:
    assert student_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-8 if df < 1_000_000 else 1e-5, abs=1e-9)


@given(st.floats(0, 500), st.floats(0.3, 5000))
@settings(max_examples=150, deadline=None)
def test_student_tail_takes_broken_degrees_of_freedom_and_stays_exact_where_it_is_tiny(t: float, df: float) -> None:
    assert student_tail(t, df) == pytest.approx(stats.t.sf(t, df), rel=1e-9, abs=1e-290)
    assert student_tail(t, df) + student_cdf(t, df) == pytest.approx(1, abs=1e-14)


@given(st.floats(0.0005, 0.9995), st.floats(0.5, 5000))
@settings(max_examples=80, deadline=None)
def test_student_quantile_takes_broken_degrees_of_freedom(p: float, df: float) -> None:
    assert student_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-7, abs=1e-8)


@given(st.floats(0, 1), st.floats(0.1, 300), st.floats(0.1, 300))
@settings(max_examples=150, deadline=None)
def test_incomplete_beta_is_scipys(x: float, a: float, b: float) -> None:
    assert incomplete_beta(x, 1 - x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("df", [1, 2, 5, 30, 1000, 100_000])
@pytest.mark.parametrize("t", [-2.0, 0.0, 1.96, 4.0, 12.7])
@pytest.mark.parametrize("shift", [0.0, 0.5, 2.8, 8.0])
def test_noncentral_t_is_scipys(df: int, t: float, shift: float) -> None:
    assert noncentral_t_cdf(t, df, shift) == pytest.approx(stats.nct.cdf(t, df, shift), abs=1e-9)


def test_normal_takes_infinity() -> None:
    assert normal_cdf(float("inf")) == 1.0
    assert normal_cdf(float("-inf")) == 0.0
    assert normal_quantile(0.975) == pytest.approx(1.959963985)


@pytest.mark.parametrize("value", [0.0, 1.0, -0.5, 95.0, float("nan")])
def test_a_fraction_outside_is_refused_by_name(value: float) -> None:
    with pytest.raises(UserError, match="level"):
        check_fraction("level", value)
