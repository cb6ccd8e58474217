"""Tokens from sizes alone: the providers' own examples, and pictures whose size can be seen."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sightline.calls.tokens import (
    USUAL_SIZE,
    _patches,
    picture_size,
    picture_tokens,
    qwen_tokens,
    request_tokens,
    text_tokens,
)
from sightline.types import ChatRequest, ImagePart, Message, ToolSpec


def png(width: int, height: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height)).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("model", "size", "detail", "tokens"),
    [
        ("openai/gpt-4o", (1024, 1024), "high", 765),
        ("openai/gpt-4o", (2048, 4096), "high", 1105),
        ("openai/gpt-4o", (4096, 8192), "low", 85),
        ("openai/gpt-4o-mini", (512, 512), "auto", 8500),
        ("openai/gpt-5", (512, 512), "auto", 210),
        ("openai/gpt-4.1-mini", (1024, 1024), "auto", 1659),
        ("openai/gpt-5-mini", (1024, 1024), "auto", 1659),
        ("openai/gpt-4.1-mini", (1800, 2400), "auto", math.ceil(1452 * 1.62)),
        # Measured by others: gpt-5.5 and gpt-6 by these sizes, Claude and Gemini with some tokens of text beside them.
        ("openai/gpt-5.5", (1024, 1024), "auto", 1229),
        ("openai/gpt-5.5", (1920, 1080), "auto", 2448),
        ("openai/gpt-6", (4032, 3024), "low", math.ceil(16 * 12 * 1.2)),
        ("anthropic/claude-sonnet-4-5", (1024, 1024), "auto", 1369),
        ("anthropic/claude-sonnet-4-5-20250929", (1920, 1080), "auto", 53 * 30),
        ("anthropic/claude-opus-4-8", (1920, 1080), "auto", 2691),
        ("anthropic/claude-opus-4-8", (4032, 3024), "auto", 72 * 54),
        ("bedrock/anthropic.claude-3-haiku-20240307-v1:0", (8000, 8000), "auto", 1600),
        ("gemini/gemini-3.5-flash", (4032, 3024), "auto", 1120),
        ("ollama/gemma3:12b", (4032, 3024), "auto", 256),
        ("mistral/mistral-medium-latest", (1540, 1540), "auto", 55 * 56),
        ("mistral/pixtral-12b", (1024, 1024), "auto", 64 * 65),
        ("vllm/llava-hf/llava-v1.6-mistral-7b-hf", (640, 480), "auto", 2880),
        ("ollama/llava", (640, 480), "auto", 576),
        ("gemini/gemini-2.5-flash", (384, 384), "auto", 258),
        ("gemini/gemini-2.5-flash", (1536, 768), "auto", 516),
        ("vllm/Qwen/Qwen2.5-VL-7B-Instruct", (280, 280), "auto", 100),
        ("vllm/Qwen/Qwen2.5-VL-7B-Instruct", (4000, 3000), "auto", 73 * 55),  # As 2048 × 1536, which is what is sent.
        ("vllm/Qwen/Qwen2.5-VL-7B-Instruct", (10, 10), "auto", 4),
        ("vllm/Qwen/Qwen3-VL-8B-Instruct", (320, 320), "auto", 100),
    ],
)
def test_pictures_by_the_rule_of_their_family(model: str, size: tuple[int, int], detail: str, tokens: int) -> None:
    assert picture_tokens(model, *size, detail) == tokens


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        ((280, 280), 100),
        ((294, 266), 10 * 10),  # 10.5 and 9.5 patches, both rounded to the even number.
        ((4000, 3000), 15_301),
        ((3000, 3000), 11_449),
        ((3584, 3584), 16_384),
        ((9000, 6000), 16_224),
        ((10, 10), 4),
        ((19, 19), 9),  # What its arithmetic makes of two patches and a little.
        ((2000, 10), 29),
    ],
)
def test_a_training_sees_pictures_at_the_size_of_qwens_processor(size: tuple[int, int], tokens: int) -> None:
    """By `smart_resize` of transformers 5 with Qwen2.5-VL's settings: equal for two million sizes by lot."""
    assert qwen_tokens(*size) == tokens


def test_high_detail_of_the_newer_models_is_as_measured() -> None:
    # 2560 × 1440 at its full size, which we would not send: the budget of 2,500 patches is what is measured here.
    rule = _patches(32, 10_000, 1.2, longest=10_000, high=2500)
    assert (rule(2560, 1440, "high"), rule(4032, 3024, "high"), rule(3840, 2160, "auto")) == (2931, 2942, 9792)


MODELS = ["openai/gpt-5", "openai/o4-mini", "openai/gpt-5.6", "anthropic/x", "gemini/x", "mistral/x", "other/x"]


@given(st.sampled_from(MODELS), st.data())
def test_a_picture_always_costs_something_and_never_without_end(model: str, data: st.DataObject) -> None:
    width, height = (data.draw(st.integers(1, 60_000)) for _ in range(2))
    for detail in ("auto", "low", "high"):
        assert 1 <= picture_tokens(model, width, height, detail) < 50_000


def test_texts_of_any_script() -> None:
    assert text_tokens("a" * 400) == 100
    assert text_tokens("狗在海滩上跑" * 10) == 45
    assert text_tokens("") == 0


def test_a_request_is_its_texts_tools_schema_and_pictures(tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    path.write_bytes(png(1024, 1024))
    bare = ChatRequest("openai/gpt-4o", (Message("user", ("x" * 400,)),))
    assert request_tokens(bare).total == 104
    full = ChatRequest(
        "openai/gpt-4o",
        (Message("user", ("x" * 400, ImagePart(str(path)), ImagePart("", png(512, 512), "low"))),),
        tools=(ToolSpec("zoom", "d" * 40, {"type": "object"}),),
        schema={"type": "object"},
    )
    found = request_tokens(full)
    assert found.image == 765 + 85 and 104 + 11 < found.text < 104 + 30


def test_what_is_no_picture_or_far_away_has_no_size(tmp_path: Path) -> None:
    text = tmp_path / "a.jpg"
    text.write_text("no picture")
    assert picture_size(ImagePart(str(text))) is None
    assert picture_size(ImagePart(str(tmp_path / "gone.jpg"))) is None
    assert picture_size(ImagePart("https://x/a.jpg")) is None
    assert picture_size(ImagePart("", b"")) is None
    far = ChatRequest("openai/gpt-4o", (Message("user", (ImagePart("https://x/a.jpg"),)),))
    assert request_tokens(far).image == picture_tokens("openai/gpt-4o", *USUAL_SIZE)
