"""Words for numbers, axes, and the sums of a ledger."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.english import counted, listed
from sightline.plain_text import dollars, signed
from sightline.reports.charts import linear, logarithmic
from sightline.reports.scored_run import spending
from sightline.reports.text import estimate, p_value, score, seconds
from sightline.types import Estimate, LedgerEntry


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        (0.0, "$0.00"),
        (1234.5, "$1,234.50"),
        (0.5, "$0.50"),
        (0.0123, "$0.012"),
        (0.000093, "$0.000093"),
        (0.1, "$0.10"),
    ],
)
def test_money(usd: float, said: str) -> None:
    assert dollars(usd) == said


@pytest.mark.parametrize(
    ("duration", "said"),
    [(0.0004, "0.4 ms"), (0.006, "6.0 ms"), (0.64, "640 ms"), (2.14, "2.1 s"), (90, "1.5 min"), (7200, "2.0 h")],
)
def test_seconds(duration: float, said: str) -> None:
    assert seconds(duration) == said


def test_scores_and_p_values() -> None:
    assert score(-0.0001) == "0.000" and signed(-0.0001) == "-0.0001" and signed(-0.25) == "-0.250"
    assert p_value(0.0005) == "< 0.001" and p_value(0.03125) == "0.031"
    assert counted(1, "task") == "1 task" and counted(2000, "task") == "2,000 tasks"
    assert listed(["a"]) == "a" and listed(["a", "b", "c"]) == "a, b and c"


def test_an_estimate_of_nothing_is_a_dash_and_one_without_spread_has_no_interval() -> None:
    assert estimate(Estimate(0, 0, 0, 0, 0, None, method="none")) == "–"
    assert estimate(Estimate(0.5, 0.5, 0.5, 1, 0, 0.5, method="none")) == "0.500 no interval"
    assert estimate(Estimate(0.5, 0.25, 0.75, 12, 0, 0.5)) == "0.500 [0.250, 0.750]"
    assert estimate(Estimate(0.5, 0.25, 0.75, 5, 0, 0.5)) == "0.500 no interval"  # Too few tasks to carry one.


def test_an_estimate_that_carries_no_interval_says_why() -> None:
    assert estimate(Estimate(0.0, 0.0, 0.793, 1, 0, 0.0, method="wilson")) == "0.000 no interval"
    few = Estimate(0.5, 0.1, 0.9, 80, 0, 0.5, method="cluster-bootstrap", reason="too few clusters (3)")
    assert estimate(few) == "0.500 too few clusters (3)"


@settings(deadline=None, max_examples=200)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_a_linear_axis_holds_its_values_with_few_ticks(values: list[float]) -> None:
    scale = linear(values, 100, 300)
    assert 2 <= len(scale.ticks) <= 6
    assert all(99.9 <= scale.at(value) <= 300.1 for value in values)
    assert scale.at(scale.ticks[0]) == 100 and scale.at(scale.ticks[-1]) == 300


@settings(deadline=None, max_examples=200)
@given(st.lists(st.floats(1e-9, 1e6), min_size=1, max_size=8))
def test_a_logarithmic_axis_holds_its_values(values: list[float]) -> None:
    scale = logarithmic(values, 0, 100)
    assert scale.ticks and all(0 <= scale.at(tick) <= 100 for tick in scale.ticks)
    assert all(0 < scale.at(value) < 100 for value in values)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_scores_that_agree_get_an_axis_between_0_and_1(value: float) -> None:
    scale = linear([value, value], 0, 100)
    assert 0 <= scale.low <= value <= scale.high <= 1


def call(task: str | None, usd: float | None = 0.5, seconds: float | None = 1.0, *, ok: bool = True) -> LedgerEntry:
    return LedgerEntry("run", "model", task, tokens_in=10, tokens_reasoning=3, usd=usd, seconds=seconds, ok=ok)


def test_a_ledger_is_added_up() -> None:
    found = spending([call("a"), call("a", seconds=3.0), call("b", ok=False), call(None, seconds=99)], {"a": 2, "b": 1})
    assert (found.calls, found.failed, found.priced, found.usd) == (4, 1, 4, 2.0)
    assert found.usd_per_task == 1.0 and found.usd_text == "$2.00"
    assert found.tokens["in"] == 40 and found.tokens["reasoning"] == 12
    # Task a took 4 s in two attempts, task b 1 s.
    assert (found.timed, found.p50) == (2, 1.5)
    assert found.p95 is not None and math.isclose(found.p95, 1.95)


def test_unknown_money_is_not_zero() -> None:
    none = spending([], {"a": 1})
    assert none.usd is None and none.usd_text == "not recorded" and none.usd_per_task is None
    unknown = spending([call("a", usd=None)], {"a": 1})
    assert unknown.usd is None and unknown.usd_text == "unknown"
    partly = spending([call("a", usd=None), call("a")], {"a": 1})
    assert partly.usd is None and partly.usd_text == "≥ $0.50" and partly.usd_per_task_text == "–"
    free = spending([call("a", usd=0.0)], {"a": 1})
    assert free.usd == 0.0 and free.usd_text == "$0.00"


def test_a_task_with_a_call_of_unknown_length_has_no_time() -> None:
    found = spending([call("a"), call("a", seconds=None), call("b", seconds=2.0)], {"a": 1, "b": 1, "c": 1})
    assert (found.timed, found.p50, found.tasks) == (1, 2.0, 3)
