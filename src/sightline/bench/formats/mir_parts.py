"""The parts of a MIR record that come in several forms: options, conclusion, steps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from sightline.bench.formats.rows import WrongFieldError
from sightline.types import Option, StepKind

IMAGE = "<image>"
"""Where a picture stands in a text."""

MAPPING, LIST = "mapping", "list"
"""Ways of writing options; a third is what stands before each, such as `{key}. `."""

STEPS: tuple[tuple[StepKind, str], ...] = (
    ("think", "reasoning"),
    ("summary", "summary"),
    ("caption", "caption"),
    ("text-to-region", "text2img"),
    ("region-to-region", "img2img"),
    ("conclusion", "conclusion"),
)
"""Kinds of step and the keys that they are under."""


@dataclass(frozen=True, slots=True)
class Written:
    """Options by key, and how they were written."""

    options: tuple[tuple[str, str], ...]
    style: str


def read_options(given: Any, field: str) -> Written:
    """Options from a list or a mapping; `"A. text"` loses its letter where every option has its own."""
    if isinstance(given, Mapping) and given and all(given):
        return Written(tuple((str(key), _text(text, f"{field}.{key}")) for key, text in given.items()), MAPPING)
    if not isinstance(given, list) or not 0 < len(given) <= len(ascii_uppercase):
        expected = f"expected a list of up to {len(ascii_uppercase)} options, or a mapping of them by key"
        raise WrongFieldError(field, f"{expected}, got {given!r:.60}")
    texts = [_text(text, f"{field}.{place}") for place, text in enumerate(given)]
    style = _before(texts)
    cut = 0 if style is None else len(style.format(key="A"))
    return Written(tuple((key, text[cut:]) for key, text in zip(ascii_uppercase, texts, strict=False)), style or LIST)


def write_options(options: Mapping[str, str], style: str) -> dict[str, str] | list[str]:
    """Options as they were written; where letters don't count up from A, only a mapping can hold them."""
    if style == MAPPING or list(options) != list(ascii_uppercase[: len(options)]):
        return dict(options)
    return [text if style == LIST else style.format(key=key) + text for key, text in options.items()]


def conclusion_key(said: str, options: tuple[Option, ...]) -> str | None:
    """The key of the option that a conclusion names: by its key, its text, or in a sentence."""
    wanted = said.strip().casefold()
    by_key = [option.key for option in options if option.key.casefold() == wanted]
    by_text = [option.key for option in options if option.text.strip().casefold() == wanted]
    if len(by_key or by_text) == 1:
        return (by_key or by_text)[0]
    from sightline.score import parse_choice  # Here, because hardly any conclusion needs it.

    return parse_choice(said, options).option


def joined(texts: Sequence[str]) -> str | None:
    """Several steps of a kind as one text."""
    return "\n".join(texts) if texts else None


def _before(texts: Sequence[str]) -> str | None:
    """What stands before each option, such as `({key}) `; None if the options have no letters."""
    found = re.match(r"([(\[]?)A([.:：、)\]]+\s*)", texts[0])
    if found is None or "{" in found[0] or "}" in found[0]:
        return None
    style = f"{found[1]}{{key}}{found[2]}"
    fits = all(text.startswith(style.format(key=key)) for key, text in zip(ascii_uppercase, texts, strict=False))
    return style if fits else None


def _text(value: Any, field: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise WrongFieldError(field, f"expected text, got {value!r:.60}")
    return str(value)
