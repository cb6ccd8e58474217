"""Numbered steps inside one text: "1. Look … 2. Search …"."""

from __future__ import annotations

import re
from collections.abc import Sequence

_AT_LINE_START = r"(?m)^[ \t]*[(（]?{n}(?:[.．、)）]|(?=[:：]))(?!\d)[:：]?"
_ANYWHERE = r"(?:(?<=\s)|(?<=[。；;])|^)[(（]?{n}[.．、)）](?!\d)"


def split_steps(text: str) -> list[str]:
    """The steps numbered 1, 2, 3, … without their numbers; a text that is not numbered is one step.

    Numbers at the start of lines count where there are at least two of them, else numbers between words. What
    stands before the first number belongs to the first step.
    """
    places = _places(text, _AT_LINE_START)
    if len(places) < 2:
        places = _places(text, _ANYWHERE)
    if not places:
        return [text.strip()] if text.strip() else []
    ends = [start for start, _ in places[1:]] + [len(text)]
    steps = [text[after:end].strip() for (_, after), end in zip(places, ends, strict=True)]
    before = text[: places[0][0]].strip()
    if before:
        steps[0] = f"{before} {steps[0]}"
    return steps


def join_steps(steps: Sequence[str]) -> str:
    """The steps as one numbered text."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(steps, 1))


def _places(text: str, pattern: str) -> list[tuple[int, int]]:
    """Where 1, 2, 3, … stand, in this order: start and end of each number."""
    places: list[tuple[int, int]] = []
    at = 0
    while found := re.compile(pattern.replace("{n}", str(len(places) + 1))).search(text, at):
        places.append(found.span())
        at = found.end()
    return places
