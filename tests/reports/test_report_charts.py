"""Drawings: every mark lies where its number says, inside the picture."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.reports.charts import WIDTH, Band, PlotDot, Point, cost_plot, dot_plot
from sightline.types import Estimate

EPSILON = 0.06


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    low, mean, high = sorted(draw(st.lists(st.floats(0, 1), min_size=3, max_size=3)))
    return Estimate(mean, low, high, draw(st.integers(1, 500)), 0, mean)


def at(element: ET.Element, name: str) -> float:
    return float(element.get(name, "nan"))


@settings(deadline=None, max_examples=60)
@given(st.lists(estimates(), min_size=1, max_size=6))
def test_dots_and_intervals_lie_where_their_numbers_say(found: list[Estimate]) -> None:
    svg = dot_plot("ndcg@10", [Band(f"run {n}", [PlotDot(0, f"run {n}", one)]) for n, one in enumerate(found)], "x")
    root = ET.fromstring(svg)
    circles, bars = (
        list(root.iter("circle")),
        [line for line in root.iter("line") if "interval" in line.get("class", "")],
    )
    ticks = [text for text in root.iter("text") if text.get("class") == "tick"]
    assert len(circles) == len(bars) == len(found)
    first, last = ticks[0], ticks[-1]
    low, high = float(first.text or ""), float(last.text or "")
    for circle, bar, one in zip(circles, bars, found, strict=True):
        for place, value in ((at(circle, "cx"), one.mean), (at(bar, "x1"), one.low), (at(bar, "x2"), one.high)):
            share = (value - low) / (high - low)
            expected = at(first, "x") + share * (at(last, "x") - at(first, "x"))
            assert math.isclose(place, expected, abs_tol=EPSILON) and 0 <= place <= WIDTH
        assert at(circle, "cy") == at(bar, "y1") == at(bar, "y2")
    assert len({at(circle, "cy") for circle in circles}) == len(found)


def test_a_drawing_says_its_numbers_in_words() -> None:
    one = Estimate(0.5, 0.25, 0.75, 40, 0, 0.5)
    root = ET.fromstring(
        dot_plot("f1 by light", [Band("day", [PlotDot(0, "a", one), PlotDot(1, "b", one)], "n = 40")], "x")
    )
    described = root.find("desc")
    assert described is not None and described.text == "day, a: 0.500 [0.250, 0.750]; day, b: 0.500 [0.250, 0.750]"
    assert root.get("aria-labelledby") == "x-title x-desc"
    assert "n = 40" in [text.text for text in root.iter("text")]


@pytest.mark.parametrize("prices", [(0.0, 0.02), (0.0001, 0.02), (0.01, 0.011), (0.0, 0.0, 0.5)])
def test_dearer_lies_to_the_right_and_better_higher(prices: tuple[float, ...]) -> None:
    found = [Estimate(0.2 * (n + 1), 0.1, 0.9, 40, 0, 0.5) for n in range(len(prices))]
    points = [Point(0, f"run {n}", usd, one) for n, (usd, one) in enumerate(zip(prices, found, strict=True))]
    root = ET.fromstring(cost_plot("f1 against cost", points, "x"))
    circles = list(root.iter("circle"))
    across = [at(circle, "cx") for circle in circles]
    assert across == sorted(across) and across[0] < across[-1] and across[0] > 0 and across[-1] < WIDTH
    up = [at(circle, "cy") for circle in circles]
    assert up == sorted(up, reverse=True)
    labels = [text for text in root.iter("text") if text.get("class") == "label"]
    heights = sorted(at(label, "y") for label in labels)
    assert all(below - above >= 12 for above, below in pairwise(heights))


@settings(deadline=None, max_examples=30)
@given(st.lists(estimates(), min_size=2, max_size=9))
def test_names_beside_points_do_not_lie_on_each_other(found: list[Estimate]) -> None:
    root = ET.fromstring(cost_plot("f1", [Point(n, f"run {n}", 0.01, one) for n, one in enumerate(found)], "x"))
    heights = sorted(at(text, "y") for text in root.iter("text") if text.get("class") == "label")
    assert all(below - above >= 12 for above, below in pairwise(heights))


def test_too_few_clusters_have_a_dot_and_no_interval() -> None:
    few = Estimate(0.5, 0.1, 0.9, 80, 0, 0.5, method="cluster-bootstrap", reason="too few clusters (3)")
    root = ET.fromstring(dot_plot("f1", [Band("run", [PlotDot(0, "run", few)])], "x"))
    assert len(list(root.iter("circle"))) == 1
    assert not [line for line in root.iter("line") if "interval" in line.get("class", "")]
    assert any("too few clusters (3)" in (each.text or "") for each in root.iter("desc"))
