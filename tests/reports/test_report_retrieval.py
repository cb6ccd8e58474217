"""Latency and recall curves on the page, from runs of real systems."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from runs.run_world import coloured
from sightline.reports.charts import Curve, curve_plot
from sightline.reports.report import report
from sightline.runs.runner import run
from sightline.scoring import score
from sightline.types import Estimate


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    benchmark = coloured(folder / "colours")
    for system in ("blind", "blind:by=random", "hybrid:vectors=false"):
        out = folder / "runs" / system.replace(":", "-")
        run(benchmark, system, out, workspace=folder / "ws")
        score(benchmark, out)
    written = report([benchmark, *sorted((folder / "runs").iterdir())], folder / "page.md")
    return Path(written).read_text()


def test_percentiles_stand_with_their_n_and_the_time_of_building(page: str) -> None:
    part = page.partition("Latency")[2].partition("\n## ")[0]
    head = next(line for line in part.splitlines() if "p50" in line)
    assert all(name in head for name in ("p90", "p99", "index built in", "n"))
    line = next(line for line in part.splitlines() if line.startswith("| hybrid"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[-1] == "4"  # Six tasks: one has no words, one an owner whom nobody knows.
    assert cells[-2].split()[0].replace(".", "").isdigit()
    assert "fewer than 100 answers" in part


def test_recall_is_told_for_each_kind_of_task(page: str) -> None:
    part = page.partition("Recall against cut-off")[2]
    assert "Recall of rank tasks" in part and "Recall of select tasks" in part and "@10" in part


def test_every_point_of_a_curve_lies_where_its_number_says() -> None:
    points = {k: Estimate(value, value - 0.1, value + 0.1, 9, 0, value) for k, value in ((2, 0.1), (5, 0.5), (10, 0.9))}
    svg = ET.fromstring(curve_plot("Recall", [Curve(0, "a", points), Curve(1, "b", {2: points[2]})], "results", "x"))
    line = svg.find(".//polyline")
    assert line is not None
    places = [tuple(map(float, pair.split(","))) for pair in str(line.get("points")).split()]
    ticks = {text.text: text for text in svg.iter("text") if text.get("class") == "tick"}
    low, high = float(str(ticks["0"].get("y"))) - 4, float(str(ticks["1"].get("y"))) - 4
    for (_, y), value in zip(places, (0.1, 0.5, 0.9), strict=True):
        assert y == pytest.approx(low + value * (high - low), abs=0.1)
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    described = svg.find("desc")
    assert described is not None and "b at 2: 0.100" in str(described.text)
