"""English counts and lists, as messages and reports word them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def number_word(count: int) -> str:
    """`3` → "three"; beyond twelve, digits."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def article(noun: str) -> str:
    """`an` before a vowel, else `a`."""
    return "an" if noun[0] in "aeiou" else "a"


def counted(number: int, one: str, several: str | None = None) -> str:
    """`1 task`, `2,000 tasks`."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def some(items: Iterable[str], most: int) -> str:
    """The first of them: "a, b", "a, b and 3 more"."""
    words = list(items)
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return f"{', '.join(words[:most])}{more}"


def listed(items: Iterable[str], last: str = "and") -> str:
    """ "a", "a and b", "a, b and c"; nothing for nothing."""
    words = list(items)
    return "".join(words) if len(words) < 2 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def sentence(words: str, names: Collection[str] = ()) -> str:
    """With a capital letter, unless it begins with one of the names, or with what is no word (a path, an option)."""
    first = words.partition(" ")[0]
    return words[:1].upper() + words[1:] if first.isalpha() and first not in names else words
