"""Measuring pictures, and reading what is written in them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from agent_tools import call, gallery, tool
from sightline.agent.state import AgentState
from sightline.agent.tools import measure_tools
from sightline.agent.tools.base import Materials
from sightline.agent.tools.registry import KINDS, made
from sightline.models.photos import ocr
from sightline.types import Box, Json


@pytest.fixture
def materials(tmp_path: Path) -> Materials:
    image = Image.new("RGB", (3000, 1500), (215, 30, 35))
    image.paste((35, 85, 200), (1500, 0, 3000, 1500))
    words = Image.new("RGB", (640, 200), "white")
    ImageDraw.Draw(words).text((40, 60), "HARBOUR 42", fill="black", font_size=72)
    return gallery(tmp_path, a=image, words=words)


def test_sizes_colours_and_distances(materials: Materials) -> None:
    seen = call(tool("Measure", materials), photo="a.png", box=[0, 0, 0.5, 1], points=[[0, 0], [1, 0], [1, 1]])
    assert seen.data == {
        "photo": "a.png",
        "width": 3000,
        "height": 1500,
        "aspect_ratio": 2.0,
        "region": {"width": 1500, "height": 1500, "mean_colour": "#d71e23 (red)"},
        "colours": ["#d71e23 (red)", "#2355c8 (blue)", "#2355c8 (blue)"],
        "distances": [3000.0, 1500.0],
        "ratios_to_first_distance": [0.5],
    }


def test_points_outside_and_too_many_are_refused(materials: Materials) -> None:
    used = tool("Measure", materials)
    assert call(used, photo="a.png", points=[[1.5, 0]]).error
    assert call(used, photo="a.png", points=[[0, 0]] * 21).error
    assert call(used, photo="a.png", points="here").error


@pytest.mark.slow
def test_words_are_read_and_are_not_ours(materials: Materials) -> None:
    pytest.importorskip("rapidocr")
    state = AgentState()
    seen = call(tool("ReadText", materials), state, photo="words.png")
    assert "HARBOUR" in seen.text and seen.untrusted and seen.found == ("words.png",)
    part = call(tool("ReadText", materials), state, photo="words.png", box=[0, 0, 1, 0.2])
    assert part.data["lines"] == [] and "note" in part.text  # type: ignore[index,call-overload]


def test_the_reader_of_the_extra_is_opened_once(materials: Materials, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    class Reader:
        def __init__(self) -> None:
            made.append(self)

        def read(self, pixels: np.ndarray[Any, Any]) -> list[Json]:
            return [{"text": f"{pixels.shape[1]} wide", "confidence": 0.9}]

    monkeypatch.setattr(measure_tools, "find_spec", lambda name: object())
    monkeypatch.setattr(ocr, "WordReader", Reader)
    used = tool("ReadText", materials)
    whole, part = call(used, photo="words.png"), call(used, photo="words.png", box=[0, 0, 0.5, 1])
    assert whole.data["lines"][0]["text"] == "640 wide" and whole.data["reader"] == "ocr"  # type: ignore[index,call-overload]
    assert "320 wide" in part.text and part.untrusted and len(made) == 1


@pytest.fixture
def no_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_tools, "find_spec", lambda name: None if name == "rapidocr" else find_spec(name))


@pytest.mark.world
@pytest.mark.usefixtures("no_ocr")
def test_without_ocr_the_built_in_reader_of_signs_is_asked(
    materials: Materials, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sightline_world.models import scene_reader
    from sightline_world.models.scene_reader import Reading
    from sightline_world.scene import SceneGraph, Sign

    signs = (Sign("s0", "HARBOUR", Box(0, 0, 1, 1)), Sign("s1", "", Box(0, 0, 1, 1)))
    seen = Reading(SceneGraph("harbour", "day", (), (), signs, ()), 1.0, 1.0, {})
    monkeypatch.setattr(scene_reader, "read", lambda pixels: seen)
    told = call(tool("ReadText", materials), photo="words.png")
    assert told.data == {"photo": "words.png", "lines": [{"text": "HARBOUR"}], "reader": "built-in signs"}
    assert told.untrusted


@pytest.mark.world
@pytest.mark.usefixtures("no_ocr")
def test_a_reader_without_its_weights_says_which(materials: Materials, monkeypatch: pytest.MonkeyPatch) -> None:
    from sightline_world.models import scene_reader
    from sightline_world.models.scene_reader import Reading

    def incomplete(pixels: object) -> Reading:
        raise FileNotFoundError(2, "No such file", "/somewhere/weights/signs.onnx")

    monkeypatch.setattr(scene_reader, "read", incomplete)
    told = call(tool("ReadText", materials), photo="words.png")
    assert told.error and "signs.onnx is missing" in told.text and "/somewhere" not in told.text


def test_without_any_reader_the_extra_is_named(materials: Materials, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_tools, "find_spec", lambda name: None)
    assert "sightline[ocr]" in (KINDS["ReadText"].lacks(materials) or "")
    assert list(made(KINDS, ["ReadText", "Crop"], materials)) == ["Crop"]
