"""How many tokens a request will take, from the sizes of its texts and pictures alone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

import orjson

from sightline.calls.request_key import file_of
from sightline.types import ChatRequest, ImagePart

Rule: TypeAlias = Callable[[int, int, str], int]
"""(width, height, detail) → tokens."""

BYTES_PER_TOKEN = 4.0
FEWEST_BYTES_PER_TOKEN, MOST_BYTES_PER_TOKEN = 3.0, 5.0
"""Of UTF-8 text: English is about 4, and so is Chinese; code and rare words are denser."""
PICTURE_DOUBT = 0.2
"""Providers resize before they count."""
TOKENS_PER_MESSAGE = 4
_QWEN_SIDE, _QWEN_FEWEST, _QWEN_MOST = 28, 56 * 56, 12_845_056
"""A patch's side, and the pixels of all of them."""
USUAL_SIZE = (1024, 1024)
"""What is assumed of a picture whose size can't be seen, such as one on the web."""


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Input tokens of one request."""

    text: int
    image: int

    @property
    def total(self) -> int:
        return self.text + self.image


def text_tokens(text: str) -> int:
    """Tokens of a text: a quarter of its UTF-8 bytes."""
    return math.ceil(_bytes(text) / BYTES_PER_TOKEN)


def picture_tokens(model: str, width: int, height: int, detail: str = "auto") -> int:
    """Tokens of a picture, by the documented rule of the model's family (docs/engine.md)."""
    return _rule(model)(max(1, width), max(1, height), detail)


def qwen_tokens(width: int, height: int) -> int:
    """Tokens of a picture that Qwen2.5-VL's own processor is given at its full size, as in a training.

    Both sides are rounded to multiples of 28; if that is more than 12,845,056 pixels or fewer than 56 × 56, both are
    first scaled by one factor, and rounded down or up. A square of 28 pixels is a token.
    """
    columns, rows = round(width / _QWEN_SIDE), round(height / _QWEN_SIDE)
    pixels = columns * rows * _QWEN_SIDE**2
    # In the processor's order of operations: another one rounds some sizes differently.
    if pixels > _QWEN_MOST:
        scale = math.sqrt(width * height / _QWEN_MOST)
        columns, rows = (max(1, math.floor(side / scale / _QWEN_SIDE)) for side in (width, height))
    elif pixels < _QWEN_FEWEST:
        scale = math.sqrt(_QWEN_FEWEST / (width * height))
        columns, rows = (math.ceil(side * scale / _QWEN_SIDE) for side in (width, height))
    return columns * rows


def request_tokens(request: ChatRequest, side: int | None = None) -> TokenEstimate:
    """Input tokens of a request: texts, tools, schema and pictures (sent with shorter sides of at most `side`)."""
    size = image = 0
    for message in request.messages:
        for part in message.content:
            if isinstance(part, str):
                size += _bytes(part)
            else:
                width, height = _within(picture_size(part) or USUAL_SIZE, side)
                image += picture_tokens(request.model, width, height, part.detail)
        for call in message.tool_calls:
            size += _bytes(call.name) + _bytes(call.arguments)
    for tool in request.tools:
        size += _bytes(tool.name) + _bytes(tool.description) + len(orjson.dumps(dict(tool.parameters)))
    if request.schema is not None:
        size += len(orjson.dumps(dict(request.schema)))
    return TokenEstimate(math.ceil(size / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * len(request.messages), image)


def _within(size: tuple[int, int], side: int | None) -> tuple[int, int]:
    scale = 1.0 if side is None else min(1.0, side / max(1, min(size)))
    return math.ceil(size[0] * scale), math.ceil(size[1] * scale)


def picture_size(part: ImagePart) -> tuple[int, int] | None:
    """Width and height, read from the picture's first bytes; None when they can't be had without a call."""
    try:
        if part.data is not None:
            return _size_of(BytesIO(part.data))
        path = file_of(part)
        return None if path is None else _size_of_file(path, path.stat().st_mtime_ns)
    except (OSError, ValueError):  # Pillow raises nothing else for what is not a picture.
        return None


def has_unreadable_pictures(request: ChatRequest) -> bool:
    """Is there a picture at hand, or one that should be, that can't be read?"""
    return any(
        isinstance(part, ImagePart) and (part.data is not None or file_of(part) is not None) and not picture_size(part)
        for message in request.messages
        for part in message.content
    )


@lru_cache(maxsize=16384)
def _size_of_file(path: Path, _mtime_ns: int) -> tuple[int, int] | None:
    return _size_of(path)


def _size_of(source: BytesIO | Path) -> tuple[int, int] | None:
    from PIL import Image

    try:
        with Image.open(source) as image:
            return image.size
    except Image.DecompressionBombError:
        return None


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


# --- pictures, family by family --------------------------------------------------------------------------------
# Looked up on 2026-11-15 in stored copies of the providers' pages and in public measurements; docs/models.md says
# which is which. What we send is never larger than models/wire_settings.py allows, so neither is what is counted.


def _tiles(base: int, tile: int) -> Rule:
    """OpenAI's tiles: into 2048 × 2048, the shorter side to 768, then 512-pixel tiles; low detail is the base alone."""

    def rule(width: int, height: int, detail: str) -> int:
        if detail == "low":
            return base
        scale = min(1.0, 2048 / max(width, height))
        scale *= min(1.0, 768 / (min(width, height) * scale))
        return base + tile * math.ceil(width * scale / 512) * math.ceil(height * scale / 512)

    return rule


def _patches(side: int, most: int, factor: float = 1.0, *, longest: int = 2048, high: int | None = None) -> Rule:
    """Square patches of `side` pixels, no more than `most` (`high`, for that detail), times the model's factor."""

    def rule(width: int, height: int, detail: str) -> int:
        limit = min(longest, 512) if detail == "low" else longest
        scale = min(1.0, limit / max(width, height))
        budget = high if detail == "high" and high is not None else most
        return math.ceil(_grid(width * scale / side, height * scale / side, budget) * factor)

    return rule


def _grid(columns: float, rows: float, most: int) -> int:
    """Patches that cover so many columns and rows, made smaller in both until they are at most so many."""
    found = math.ceil(columns) * math.ceil(rows)
    if found <= most:
        return found
    scale = math.sqrt(most / (columns * rows))
    columns, rows = columns * scale, rows * scale
    # To whole patches in the direction that loses more, so that the last row or column is not counted as another.
    scale = min(max(1, math.floor(columns)) / columns, max(1, math.floor(rows)) / rows)
    return min(most, math.ceil(round(columns * scale, 6)) * math.ceil(round(rows * scale, 6)))


def _lines(side: int, longest: int) -> Rule:
    """Mistral's patches: one token for each, and one at the end of each line of them."""

    def rule(width: int, height: int, detail: str) -> int:
        scale = min(1.0, longest / max(width, height))
        return math.ceil(height * scale / side) * (math.ceil(width * scale / side) + 1)

    return rule


def _qwen_sent(width: int, height: int, detail: str) -> int:
    """Qwen2.5-VL's rule for what is left of a picture when it is sent."""
    scale = min(1.0, (512 if detail == "low" else 2048) / max(width, height))
    return qwen_tokens(max(1, round(width * scale)), max(1, round(height * scale)))


def _always(tokens: int) -> Rule:
    return lambda width, height, detail: tokens


def _gemini_2(width: int, height: int, detail: str) -> int:
    """258 for a small picture, else for each 768-pixel tile."""
    if max(width, height) <= 384:
        return 258
    scale = min(1.0, 3072 / max(width, height))
    return 258 * math.ceil(width * scale / 768) * math.ceil(height * scale / 768)


def _area(width: int, height: int, detail: str) -> int:
    """For families whose rule is not known: in proportion to the area."""
    scale = min(1.0, 2048 / max(width, height))
    return min(4096, math.ceil(width * height * scale * scale / 750))


_RULES: tuple[tuple[re.Pattern[str], Rule], ...] = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        (r"gpt-4o-mini", _tiles(2833, 5667)),
        (r"gpt-(4\.1|5(\.\d+)?)-mini", _patches(32, 1536, 1.62)),
        (r"gpt-(4\.1|5(\.\d+)?)-nano", _patches(32, 1536, 2.46)),
        (r"o4-mini", _patches(32, 1536, 1.72)),
        (r"gpt-(5\.[2-9]|[6-9])", _patches(32, 10_000, 1.2, high=2500)),
        (r"gpt-5", _tiles(70, 140)),
        (r"\bo[13]\b", _tiles(75, 150)),
        (r"gpt-4|chatgpt", _tiles(85, 170)),
        (r"claude-(3|[a-z]+-(3|4(-[0-6])?(-?\d{8}|[@:].*|-v\d.*|)$))", _patches(28, 1600, longest=1568)),
        (r"claude|anthropic", _patches(28, 4784, longest=2000)),
        (r"gemini-[12]|gemini-(flash|pro)", _gemini_2),
        (r"gemini", _always(1120)),
        (r"gemma", _always(256)),
        (r"qwen3", _patches(32, 16384)),
        (r"qwen.*vl", _qwen_sent),
        (r"llava.*(1\.6|next|onevision)", _always(2880)),
        (r"llava", _always(576)),
        (r"pixtral", _lines(16, 1024)),
        (r"mistral|magistral|ministral", _lines(28, 1540)),
    )
)


@lru_cache(maxsize=256)
def _rule(model: str) -> Rule:
    name = model.lower()
    return next((rule for pattern, rule in _RULES if pattern.search(name)), _area)
