"""The options of a multiple-choice task, however they were given, and which of them is right.

Scores, steps, difficulty and curricula share this one reading of a truth.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sightline.errors import UserError
from sightline.types import Choice, Option, Task, Truth

Options: TypeAlias = Sequence[Option | str] | Mapping[str, str]

_KEYED = re.compile(r"\s*[(（\[]?(?P<key>[A-Za-z]|\d{1,2}|[IVX]{1,4})[)）\].:：、．]\s*(?P<text>\S.*)", re.DOTALL)
_LETTER = re.compile(r"[A-Za-z]")
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


@dataclass(frozen=True, slots=True)
class KeyedOption:
    """An option's key as the caller wrote it, and its text (empty where the option is a picture or a bare key)."""

    key: str
    text: str


def read_options(options: Options) -> tuple[KeyedOption, ...]:
    """Keys and texts; plain texts get the keys A, B, C, …; "B. text" is taken apart; bare keys stay keys."""
    if isinstance(options, Mapping):
        read = [KeyedOption(key, text) for key, text in options.items()]
    elif all(isinstance(option, str) for option in options):
        read = _from_texts([option for option in options if isinstance(option, str)])
    else:
        keys = _letters(len(options))
        read = [
            KeyedOption(option.key, option.text) if isinstance(option, Option) else KeyedOption(key, option)
            for key, option in zip(keys, options, strict=True)
        ]
    if not read:
        raise UserError(
            "There are no options to choose from.", 'give them as ["A", "B"], as texts, or as {"A": "text"}'
        )
    keys = [unicodedata.normalize("NFKC", option.key).strip() for option in read]
    twice = next((key for key in keys if keys.count(key) > 1 or not key), None)
    if twice is not None:
        raise UserError(f'The option key "{twice}" is empty or given twice.', "give each option a key of its own")
    return tuple(read)


def _from_texts(texts: Sequence[str]) -> list[KeyedOption]:
    keyed = [_KEYED.fullmatch(text) for text in texts]
    found = [(match["key"], match["text"].strip()) for match in keyed if match is not None]
    if len(found) == len(texts) and len({key for key, _ in found}) == len(found):
        return [KeyedOption(key, text) for key, text in found]
    if _are_keys([text.strip() for text in texts]):
        return [KeyedOption(text.strip(), "") for text in texts]
    return [KeyedOption(key, text) for key, text in zip(_letters(len(texts)), texts, strict=True)]


def _are_keys(texts: Sequence[str]) -> bool:
    """Different letters, digits that count up from 0 or 1, or Roman numerals from I."""
    if all(_LETTER.fullmatch(text) for text in texts):
        return len(set(texts)) == len(texts)
    counted = [[str(number) for number in range(start, start + len(texts))] for start in (0, 1)]
    return len(texts) > 1 and list(texts) in [*counted, list(_ROMAN[: len(texts)])]


def _letters(count: int) -> list[str]:
    """A to Z, then AA, AB, …"""
    names = []
    for place in range(count):
        name = ""
        while place >= 0:
            name = chr(ord("A") + place % 26) + name
            place = place // 26 - 1
        names.append(name)
    return names


def right_option(task: Task, truth: Truth) -> str | None:
    """The key of the right option, as the task writes it; None where the truth is none of the options.

    Keys are alike in any case; some data sets give the option's text instead of its key.
    """
    said = truth.option if isinstance(truth, Choice) else None
    if said is None or not task.options:
        return None
    keys = [option.key for option in task.options]
    alike = [key for key in keys if key.strip().casefold() == said.strip().casefold()]
    if alike:
        return said if said in alike else alike[0]
    from sightline.metrics.choices.parse import parse_choice  # Its patterns take time to compile.

    return parse_choice(said, task.options).option
