"""Words for what is in a picture."""

from __future__ import annotations

from collections.abc import Iterable

from sightline.world.draw import KINDS, PLACES, Wish

LIGHT_PHRASES = {"day": "in daylight", "sunset": "at sunset", "night": "at night", "fog": "in fog"}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def number_word(count: int) -> str:
    """`3` → "three"; beyond nine, digits."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"


def phrase(kind: str, colour: str, count: int = 1) -> str:
    """ "a red boat", "two people in blue"."""
    if kind == "snowman":
        colour = ""
    noun = kind if count == 1 else KINDS[kind].plural
    if kind == "person":
        words = f"{noun} in {colour}"
    elif kind == "cake":
        words = f"{noun} with {colour} icing"
    elif kind == "tree":
        words = f"{noun} with {colour} leaves"
    else:
        words = f"{colour} {noun}".strip()
    return f"{article(words)} {words}" if count == 1 else f"{number_word(count)} {words}"


def listed(items: Iterable[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    words = list(items)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def caption(place: str, light: str, wishes: Iterable[Wish]) -> str:
    """One sentence that says what a picture shows."""
    things = listed(phrase(wish.kind, wish.colour, wish.count) for wish in wishes)
    return f"{things[0].upper()}{things[1:]} {PLACES[place].phrase} {LIGHT_PHRASES[light]}."
