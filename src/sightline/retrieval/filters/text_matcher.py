"""Tests on text: words, whole values with wildcards, and addresses. All take folded text.

A country is found under any of the names by which it is asked for, or by which addresses mention it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

from sightline.retrieval.bm25 import fold
from sightline.retrieval.filters.tree import FilterError, Value

_WORDS = re.compile(r"\w+")

_COUNTRIES = Path(__file__).with_name("countries.txt")
Test: TypeAlias = Callable[[str], bool]
# Scripts that put no space between words: there a name may stand anywhere.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SEPARATORS = re.compile(r"[,;/\n()|、，・]| - ")
_NUMBERED = re.compile(r"\S*\d\S*")


def key_of(name: str) -> str:
    """A name as it is looked up: `U.S.A.` and `usa` are the same, `The Netherlands` and `Netherlands` too."""
    folded = fold(name)
    # Most names are one word.
    return folded if folded.isalpha() else " ".join(_WORDS.findall(folded.replace(".", ""))).removeprefix("the ")


def same_country(name: str) -> frozenset[str] | None:
    """The keys of all names of the country that is called so, and of its parts; None if no country is."""
    return _names().get(key_of(name))


@cache
def _names() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _COUNTRIES.read_text("utf-8").splitlines()[1:]:
        whole, _, parts = line.partition("+")
        usual, _, others = whole.partition(":")
        names = [key_of(name) for name in (usual, *others.split(",")) if name.strip()]
        everything = frozenset((*names, *(key_of(part) for part in parts.split(",") if part.strip())))
        found |= dict.fromkeys(names, everything)
    return found


def any_whole_value(values: Sequence[Value]) -> Test:
    """The whole text is one of the values, in which `*` is any text and `?` any character."""
    wanted = {fold(value.text) for value in values}
    patterns = [_pattern(text) for text in sorted(wanted) if "*" in text or "?" in text]
    if not patterns:
        return wanted.__contains__
    return lambda text: text in wanted or any(pattern.fullmatch(text) for pattern in patterns)


def _pattern(wanted: str) -> re.Pattern[str]:
    first, *others = (".".join(map(re.escape, piece.split("?"))) for piece in wanted.split("*"))
    if not others:
        return re.compile(first, re.DOTALL)
    # Atomic groups: a piece is taken where it first stands, so that many wildcards cost no more than one.
    middle = "".join(f"(?>.*?{piece})" for piece in others[:-1])
    return re.compile(f"{first}{middle}.*{others[-1]}", re.DOTALL)


def words(value: Value) -> Test:
    """All parts of the value (separated by commas) stand in the text as whole words; `*` at an end leaves it open."""
    return _all([_phrase(part) for part in _parts(value)])


def address(value: Value) -> Test:
    """As `words`, except that a country is found under any of its names, and not inside another name (New Mexico)."""
    return _all([_country(part) or _phrase(part) for part in _parts(value)])


def _parts(value: Value) -> list[str]:
    parts = [part for part in map(str.strip, value.text.split(",")) if part]
    if not parts:
        raise FilterError("no words to look for", value.at, "use has(field) to ask whether there is anything")
    return parts


def _all(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda text: all(test(text) for test in tests)


def _phrase(part: str) -> Test:
    wanted = fold(part)
    tokens = _WORDS.findall(wanted)
    if not tokens:
        return lambda text: wanted in text
    matcher = re.compile(
        _edge(tokens[0][0], wanted.startswith("*"), "(?<!{})")
        + r"[\W_]+".join(map(re.escape, tokens))
        + _edge(tokens[-1][-1], wanted.endswith("*"), "(?!{})")
    )
    # Most texts hold not even the first word, and looking for that is much faster.
    first = tokens[0]
    return lambda text: first in text and matcher.search(text) is not None


def _edge(character: str, is_open: bool, form: str) -> str:
    return "" if is_open or _UNSPACED.match(character) else form.format(r"[^\W_]")


def _country(part: str) -> Test | None:
    names = same_country(part)
    if names is None:
        return None
    mentioned = re.compile("|".join(map(_mention, sorted(names))))
    anywhere = _phrase(part)
    unspaced = tuple(name for name in names if _UNSPACED.match(name))

    def test(text: str) -> bool:
        # Most addresses do not mention it at all, and that is quickly seen.
        if mentioned.search(text) is None:
            return False
        pieces = _SEPARATORS.split(text)
        if len(pieces) == 1 and (anywhere(text) or text.startswith(unspaced)):
            return True
        return any(mentioned.search(piece) and key_of(_NUMBERED.sub("", piece)) in names for piece in pieces)

    return test


def _mention(name: str) -> str:
    """A pattern for all that `key_of` turns into a text with this name in it."""
    return r"[\W_]+".join(r"\.*".join(map(re.escape, word)) for word in name.split())
