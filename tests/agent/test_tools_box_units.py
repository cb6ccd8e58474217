"""Boxes and points in the unit that a model's family speaks: the same regions, and no wrong advice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import models_server as wire
import sightline
from agent_bench import small_bench
from agent_tools import call, gallery, opened, tool
from sightline.agent.replay import replay_task
from sightline.agent.state import AgentState
from sightline.agent.tools.base import Materials, Tool
from sightline.agent.tools.box_units import BoxUnit, box_unit, in_unit
from sightline.benchmark.folder import read_benchmark
from sightline.calls.session import Session
from sightline.runs.folder import read_run
from sightline.types import Box

PIXELS = (800, 400)


@pytest.fixture
def materials(tmp_path: Path) -> Materials:
    picture = Image.new("RGB", PIXELS, "red")
    picture.paste("blue", (400, 0, 800, 400))
    return gallery(tmp_path, a=picture)


def offered(name: str, unit: BoxUnit, materials: Materials) -> Tool:
    return in_unit({name: tool(name, materials)}, unit, "vllm/m", materials)[name]


@pytest.mark.parametrize(
    ("model", "unit"),
    [
        ("vllm/Qwen/Qwen3-VL-32B-Instruct", "thousandths"),
        ("openrouter/qwen/qwen2.5-vl-72b-instruct", "pixels"),
        ("vllm/qwen2_5-vl", "fractions"),
        ("vllm/Qwen2-VL-7B", "thousandths"),
        ("openrouter/z-ai/glm-4.6v", "thousandths"),
        ("vllm/glm-4.1v-9b-thinking", "thousandths"),
        ("vllm/glm-4.6", "fractions"),
        ("vllm/InternVL3_5-8B", "thousandths"),
        ("gemini/gemini-3-pro", "thousandths"),
        ("openai/gpt-5-mini", "fractions"),
        ("anthropic/claude-opus-4.5", "fractions"),
    ],
)
def test_the_unit_of_a_family(model: str, unit: BoxUnit) -> None:
    assert box_unit(model) == unit


def test_fractions_leave_tools_as_they_are(materials: Materials) -> None:
    crop = tool("Crop", materials)
    assert in_unit({"Crop": crop}, "fractions", "vllm/m", materials) == {"Crop": crop}


def test_thousandths_are_the_same_regions(materials: Materials) -> None:
    crop, zoom = offered("Crop", "thousandths", materials), offered("Zoom", "thousandths", materials)
    assert all("thousandths" in str(each.spec.parameters) for each in (crop, zoom))
    assert "fractions" not in str(zoom.spec.parameters)
    cut = call(crop, photo="a.png", box=[500, 0, 1000, 500])
    assert cut.pictures[0].region == Box(0.5, 0, 1, 0.5) and opened(cut).size == (400, 200)
    assert call(zoom, photo="a.png", point=[750, 500], factor=2).pictures[0].region == Box(0.5, 0.25, 1, 0.75)
    marked = offered("Mark", "thousandths", materials)
    assert not call(marked, photo="a.png", boxes=[[0, 0, 500, 500]], points=[[750, 500]]).error


def test_pixels_are_those_of_the_picture_as_it_was_shown(materials: Materials) -> None:
    state = AgentState()
    view, crop = offered("ViewPhotos", "pixels", materials), offered("Crop", "pixels", materials)
    assert "view it first" in call(crop, state, photo="a.png", box=[400, 0, 800, 200]).text
    assert "a.png is 800 × 400 pixels" in call(view, state, photos=["a.png"]).text
    cut = call(crop, state, photo="a.png", box=[400, 0, 800, 200])
    assert cut.pictures[0].region == Box(0.5, 0, 1, 0.5) and "is 400 × 200 pixels" in cut.text
    part = call(crop, state, photo=cut.pictures[0].name, box=[0, 0, 200, 100])
    assert part.pictures[0].region == Box(0.5, 0, 0.75, 0.25)


def test_a_large_or_turned_picture_is_told_as_it_is_sent(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # A quarter turn clockwise.
    materials = gallery(tmp_path, a=Image.new("RGB", (10, 10)))
    Image.new("RGB", (4096, 2048)).save(tmp_path / "a.png", exif=exif)
    assert "is 1024 × 2048 pixels" in call(offered("ViewPhotos", "pixels", materials), photos=["a.png"]).text


@pytest.mark.parametrize(
    ("unit", "box", "advice", "wrong"),
    [
        ("fractions", [100, 100, 900, 900], "thousandths by 1000", "looks like pixels"),
        ("thousandths", [0, 0, 1200, 900], "at most 1000", "divide"),
        ("pixels", [0, 0, 900, 300], "at most 800 × 400", "divide"),
        ("thousandths", "everything", "must be 4 numbers", "fractions"),
    ],
)
def test_a_box_in_another_unit_gets_no_wrong_advice(
    unit: BoxUnit, box: Any, advice: str, wrong: str, materials: Materials
) -> None:
    state = AgentState()
    call(offered("ViewPhotos", unit, materials), state, photos=["a.png"])
    said = call(offered("Crop", unit, materials), state, photo="a.png", box=box)
    assert said.error and advice in said.text and wrong not in said.text


@pytest.mark.parametrize(
    ("spec", "words", "noted"),
    [
        ("", "thousandths", "thousandths"),
        (",boxes=fractions", "as fractions", None),  # As runs of before, which can so go on.
        (",boxes=pixels", "in pixels", "pixels"),
    ],
)
def test_a_run_offers_tools_in_the_unit_of_the_model(tmp_path: Path, spec: str, words: str, noted: str | None) -> None:
    small_bench(tmp_path / "bench")
    with wire.serving_in_thread(lambda _: wire.respond_json(wire.chat("The final answer is: A."))) as server:
        model = f"vllm/qwen3-vl@{server.base_url}"
        made = f"agent:model={model},tools=Crop{spec}"
        sightline.run(tmp_path / "bench", made, tmp_path / "run", session=Session(tmp_path / "ws"))
    assert words in str(server.requests[0].json["tools"])
    assert read_run(tmp_path / "run").parameters["boxes"] == noted
    task = next(iter(read_benchmark(tmp_path / "bench").tasks))
    assert replay_task(tmp_path / "run", task, benchmark=tmp_path / "bench", workspace=tmp_path / "ws").same
