"""Tokens from sizes alone: the providers' own examples, and pictures whose size can be seen."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sightline.engine.tokens import USUAL_SIZE, picture_size, picture_tokens, request_tokens, text_tokens
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
        ("anthropic/claude-sonnet-4-5", (1000, 1000), "auto", 1334),
        ("anthropic/claude-sonnet-4-5", (8000, 8000), "auto", 1600),
        ("gemini/gemini-2.5-flash", (384, 384), "auto", 258),
        ("gemini/gemini-2.5-flash", (1536, 768), "auto", 516),
        ("vllm/Qwen/Qwen2.5-VL-7B-Instruct", (280, 280), "auto", 100),
        ("vllm/Qwen/Qwen3-VL-8B-Instruct", (320, 320), "auto", 100),
    ],
)
def test_pictures_by_the_rule_of_their_family(model: str, size: tuple[int, int], detail: str, tokens: int) -> None:
    assert picture_tokens(model, *size, detail) == tokens


@given(st.sampled_from(["openai/gpt-5", "openai/o4-mini", "anthropic/x", "gemini/x", "other/x"]), st.data())
def test_a_picture_always_costs_something_and_never_without_end(model: str, data: st.DataObject) -> None:
    width, height = (data.draw(st.integers(1, 60_000)) for _ in range(2))
    for detail in ("auto", "low"):
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
