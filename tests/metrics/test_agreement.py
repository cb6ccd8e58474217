"""Kappa and alpha against scikit-learn and the krippendorff package, and their edge cases."""

from __future__ import annotations

import math
from typing import Literal

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from sightline.errors import UserError
from sightline.metrics.agreement import (
    agreement_report,
    cohen_kappa,
    krippendorff_alpha,
    percent_agreement,
    percentile_interval,
)

labels = st.integers(0, 4)
pairs = st.lists(st.tuples(labels, labels), min_size=1, max_size=40)


def matrices(values: st.SearchStrategy[float]) -> st.SearchStrategy[list[list[float | None]]]:
    return st.integers(1, 12).flatmap(
        lambda width: st.lists(
            st.lists(st.one_of(st.none(), values), min_size=width, max_size=width), min_size=1, max_size=5
        )
    )


@settings(deadline=None, max_examples=150)
@given(pairs, st.booleans())
def test_kappa_is_scikit_learns(drawn: list[tuple[int, int]], quadratic: bool) -> None:
    first, second = zip(*drawn, strict=True)
    mine = cohen_kappa(first, second, quadratic=quadratic)
    if len(set(first) | set(second)) == 1:
        assert mine is None
    else:
        weights = "quadratic" if quadratic else None
        assert mine == pytest.approx(cohen_kappa_score(first, second, weights=weights), abs=1e-9)


@settings(deadline=None, max_examples=150)
@given(
    matrices(st.integers(1, 5).map(float)),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_is_the_reference_packages(
    ratings: list[list[float | None]], level: Literal["nominal", "ordinal", "interval"]
) -> None:
    mine = krippendorff_alpha(ratings, level)
    data = np.array([[math.nan if value is None else value for value in row] for row in ratings])
    pairable = data[:, (~np.isnan(data)).sum(axis=0) >= 2]
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        assert mine is None
        return
    theirs = krippendorff.alpha(reliability_data=pairable, level_of_measurement=level)
    assert mine == pytest.approx(theirs, abs=1e-9)


def test_a_table_worked_by_hand() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: p_o = 0.7, p_e = 0.5, κ = 0.4.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert percent_agreement(first, second) == pytest.approx(0.7)
    assert cohen_kappa(first, second) == pytest.approx(0.4)


def test_perfect_agreement_is_one_and_reversed_is_negative() -> None:
    assert cohen_kappa([1, 2, 3], [1, 2, 3]) == 1.0
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]]) == 1.0
    reversed_kappa = cohen_kappa([0, 1], [1, 0])
    assert reversed_kappa == -1.0


@pytest.mark.parametrize(("first", "second"), [([], []), ([None], [1]), ([1, 1], [1, 1]), ([math.nan], [1])])
def test_what_is_not_defined_is_none(first: list[float | None], second: list[float | None]) -> None:
    assert cohen_kappa(first, second) is None
    assert krippendorff_alpha([first, second]) is None


def test_no_raters_no_alpha() -> None:
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([[1, 2, 3]]) is None


def test_missing_labels_do_not_count() -> None:
    assert percent_agreement([True, None, False], [True, True, True]) == 0.5
    assert cohen_kappa([1, None, 2, 2], [1, 2, None, 2]) == cohen_kappa([1, 2], [1, 2])


def test_wrong_input_says_what_is_wrong() -> None:
    with pytest.raises(UserError, match="2 and 1 labels"):
        percent_agreement([1, 2], [1])
    with pytest.raises(UserError, match="differ in length"):
        krippendorff_alpha([[1, 2], [1]])
    with pytest.raises(UserError, match="order"):
        cohen_kappa([1, "a"], ["a", 1], quadratic=True)
    with pytest.raises(UserError, match="needs numbers"):
        krippendorff_alpha([["a", "b"], ["b", "a"]], "interval")
    assert cohen_kappa([1, "a"], ["a", 1]) is not None


def test_report_has_points_intervals_and_the_table() -> None:
    judge = [True, True, False, False, True, None, True, False] * 5
    human = [True, True, False, True, True, True, None, False] * 5
    report = agreement_report(judge, human)
    assert (report.n, report.left_out) == (30, 10)
    assert report.agreement.value == pytest.approx(25 / 30)
    for measured in (report.agreement, report.kappa, report.alpha):
        assert measured.value is not None and measured.low is not None and measured.high is not None
        assert measured.low < measured.value < measured.high
    assert report.table == {(True, True): 15, (False, False): 10, (False, True): 5}
    assert report == agreement_report(judge, human)


def test_report_of_one_label_has_agreement_but_no_kappa() -> None:
    report = agreement_report([True, True], [True, True])
    assert report.agreement.value == 1.0
    assert report.kappa.value is None and report.kappa.low is None


def test_interval_is_none_where_the_measure_mostly_is_not_defined() -> None:
    assert percentile_interval([(1, 1)], lambda pairs: None) is None
    assert percentile_interval([], lambda pairs: 1.0) is None
