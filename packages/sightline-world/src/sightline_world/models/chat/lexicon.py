"""English words → what they mean in the built-in world; from its own words, and from what people say instead.

A text becomes terms: the longest phrases that the lexicon knows, and words that stand on signs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol, TypeAlias

from sightline.english import number_word
from sightline_world.data import read_data
from sightline_world.scene import HAIR, SCENE_COLOURS, SCENE_KINDS, SCENE_LIGHTS, SCENE_PLACES
from sightline_world.vocabulary import (
    HEADGEAR_WORDS,
    KIND_NOUNS,
    LIGHT_PHRASES,
    PERSON_NOUN,
    PLACE_PHRASES,
    SIGN_NOUN,
    Noun,
)

Sort: TypeAlias = Literal[
    "kind", "colour", "size", "place", "light", "number", "bound", "hair", "hair noun", "headgear", "coat", "part",
    "predicate", "region", "not", "and", "or", "article", "link", "break", "same", "says", "words", "stop", "unknown",
]  # fmt: skip
PERSON, SIGN = "person", "sign"
INDOORS = ("kitchen", "library")
ANIMALS, VEHICLES = SCENE_KINDS[:8], SCENE_KINDS[8:16]
_DATA = read_data("models/chat/lexicon.toml")
_SETS: Mapping[str, tuple[str, ...]] = {
    "animals": ANIMALS,
    "vehicles": VEHICLES,
    "things": SCENE_KINDS,
    "indoors": INDOORS,
    "outdoors": tuple(place for place in SCENE_PLACES if place not in INDOORS),
}
"""Values that have a name of their own in the data."""
_QUOTED = r'"[^"\n]{1,60}"|“[^”\n]{1,60}”|«[^»\n]{1,60}»|(?<!\w)\'[^\'\n]{2,40}\'(?!\w)|‘[^’\n]{1,60}’'
_TOKEN = re.compile(rf"{_QUOTED}|\w+|[.,;:!?&/]")
_ACRONYMS: frozenset[str] = frozenset(_DATA["acronyms"])
HAIR_OF_COLOUR: Mapping[str, tuple[str, ...]] = {colour: (colour,) for colour in SCENE_COLOURS if colour in HAIR} | {
    "yellow": ("blond",),
    "orange": ("red",),
    "white": ("grey",),
}
"""What hair somebody means who says a colour."""
_LONGEST = 5
_PUNCTUATION = frozenset(".;:!?")
_MOST_SIGN_WORDS = 2
_LEADS = frozenset(("of", "for", "to", "named", "called", "saying", "with"))
_BEFORE_WORDS = frozenset(
    ("the", "word", "words", "name", "text", "a", "an", "that", "it", "is", "are", "on", "to", "be")
)
_NOT_WRITTEN = frozenset(("on", "in", "at", "where", "which", "what"))


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a word or phrase stands for: any one of `values`."""

    sort: Sort
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """Words of a text and their meaning; `at` is the place of the first of them among the text's tokens."""

    sort: Sort
    values: tuple[str, ...]
    text: str
    at: int = 0


def plain(text: str) -> str:
    """Lower case without accents, contractions opened, hyphens and underscores as spaces."""
    text = unicodedata.normalize("NFKD", text.replace("’", "'")).encode("ascii", "ignore").decode()
    text = re.sub(r"n't\b", " not", text)
    text = re.sub(r"'s\b|'(?=\w)", " ", text)
    return text.lower()


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a text as it was written, and in lower case; `quoted` holds what stood in quotation marks."""

    text: str
    word: str
    quoted: bool = False

    @property
    def is_shouted(self) -> bool:
        """In capitals, as words on signs are."""
        return len(self.text) > 1 and self.text.isalpha() and self.text.isupper() and self.text not in _ACRONYMS

    @property
    def is_capital(self) -> bool:
        return len(self.text) > 2 and self.text[0].isupper() and self.text[1:].islower()


def tokens(text: str) -> list[Token]:
    """Words, stops and quoted pieces of a text."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"n['’]t\b", " not", text)
    text = re.sub(r"['’]s\b", " ", text)
    text = re.sub(r"(?<=\w)[-‐-–_](?=\w)", " ", text)
    found = []
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if piece[0] in "\"“«'‘":
            found.append(Token(piece[1:-1].strip(), plain(piece[1:-1]).strip(), quoted=True))
        else:
            found.append(Token(piece, plain(piece)))
    return found


@cache
def lexicon() -> Mapping[tuple[str, ...], Meaning]:
    """Phrases, as tuples of words, and their meanings; earlier entries win over later ones."""
    table: dict[tuple[str, ...], Meaning] = {}

    def add(phrases: Iterable[str], sort: Sort, *values: str) -> None:
        for phrase in phrases:
            words = tuple(re.findall(r"[a-z]+|\d+|[.;:&/]", plain(phrase).replace("-", " ")))
            if words:
                table.setdefault(words, Meaning(sort, values))

    for kind, noun in KIND_NOUNS.items():
        add(_names(kind, noun), "kind", kind)
    add([*_names(PERSON, PERSON_NOUN), *_DATA["people"]], "kind", PERSON)
    add([*_names(SIGN, SIGN_NOUN), *_DATA["signs"]], "kind", SIGN)
    _add_entries(add, "kinds", "kind")
    _add_entries(add, "groups", "kind")
    _add_attributes(add)
    _add_whole(add)
    _add_frames(add)
    return table


class _Add(Protocol):
    def __call__(self, phrases: Iterable[str], sort: Sort, *values: str) -> None: ...


def _add_entries(add: _Add, section: str, sort: Sort, *more: str) -> None:
    """The entries of a section of the data, each with all of its phrases."""
    for entry in _DATA[section]:
        values = entry["means"]
        add(entry["phrases"], sort, *_SETS.get(values[0], values), *more)


def _add_attributes(add: _Add) -> None:
    for colour in SCENE_COLOURS:
        add([colour, f"{colour} coloured", f"{colour} colored"], "colour", colour)
    _add_entries(add, "colours", "colour")
    _add_entries(add, "sizes", "size")
    _add_entries(add, "hair", "hair")
    for gear, word in HEADGEAR_WORDS.items():
        add([gear, word, f"{word}s"], "headgear", gear)
    _add_entries(add, "headgear", "headgear")


def _add_whole(add: _Add) -> None:
    for place in SCENE_PLACES:
        add(PLACE_PHRASES[place], "place", place)
    for light in SCENE_LIGHTS:
        add(LIGHT_PHRASES[light], "light", light)
    _add_entries(add, "lights", "light")
    for place in SCENE_PLACES:
        add([place], "place", place)
    add(["snowy"], "place", "snow")
    _add_entries(add, "places", "place")


def _add_frames(add: _Add) -> None:
    _add_entries(add, "predicates", "predicate")
    _add_entries(add, "regions", "region")
    _add_entries(add, "bounds", "bound")
    _add_entries(add, "numbers", "number")
    _add_entries(add, "at_least", "number", ">=")
    for count in range(1, 13):
        add([number_word(count)], "number", str(count))
    add(_DATA["says"], "says")
    for sort, words in _DATA["function"].items():
        add(words, sort)
    add(_DATA["stop"], "stop")


def _names(kind: str, noun: Noun) -> list[str]:
    return [kind, noun.plural, *noun.others, *map(_plural, noun.others)]


def _plural(noun: str) -> str:
    if noun.endswith("man"):
        return f"{noun[:-2]}en"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def scan(text: str) -> list[Term]:
    """Terms in the order of the text; what means nothing here is of the sort `unknown`."""
    return list(_Scanner(tokens(text)).terms())


class _Scanner:
    """One pass over the tokens."""

    def __init__(self, found: Sequence[Token]) -> None:
        self._tokens = found
        letters = [token for token in found if token.text.isalpha()]
        # A text that shouts from end to end says nothing by its capitals.
        self._shouts = sum(token.is_shouted for token in letters) * 2 > len(letters) + 1

    def terms(self) -> Iterator[Term]:
        at = 0
        while at < len(self._tokens):
            term, length = self._term(at)
            yield term
            at += length
            if term.sort == "says":
                words, length = self._said(at)
                if words:
                    yield Term("words", (words,), words, at)
                    at += length

    def _term(self, at: int) -> tuple[Term, int]:
        token = self._tokens[at]
        if token.quoted or (token.is_shouted and not self._shouts):
            return self._written(at)
        if token.text in _PUNCTUATION or token.text == ",":
            return Term("stop" if token.text == "," else "break", (), token.text, at), 1
        for length in range(min(_LONGEST, len(self._tokens) - at), 0, -1):
            words = tuple(each.word for each in self._tokens[at : at + length])
            meaning = lexicon().get(words)
            if meaning is not None:
                return Term(meaning.sort, meaning.values, " ".join(words), at), length
        if token.word.isdigit():
            counts = len(token.word) < 4
            return Term("number" if counts else "stop", (token.word.lstrip("0") or "0",), token.word, at), 1
        if token.is_capital and self._by_a_sign(at):
            return Term("words", (token.word,), token.word, at), 1
        return Term("unknown", (), token.word, at), 1

    def _written(self, at: int) -> tuple[Term, int]:
        """Quoted words, or a run of words in capitals."""
        if self._tokens[at].quoted:
            return Term("words", (self._tokens[at].word,), self._tokens[at].text, at), 1
        end = at
        while end < len(self._tokens) and end < at + _MOST_SIGN_WORDS and self._tokens[end].is_shouted:
            end += 1
        words = " ".join(token.word for token in self._tokens[at:end])
        return Term("words", (words,), words, at), end - at

    def _by_a_sign(self, at: int) -> bool:
        """`the Lornwick sign`, `the sign of Lornwick`: a name beside a sign stands on it."""
        after = self._tokens[at + 1].word if at + 1 < len(self._tokens) else ""
        before = [token.word for token in self._tokens[max(0, at - 3) : at]]
        meaning = lexicon().get((after,))
        if at > 0 and meaning is not None and meaning.values == (SIGN,):
            return True
        return bool(before) and before[-1] in _LEADS and any(_is_sign(word) for word in before[:-1])

    def _said(self, at: int) -> tuple[str, int]:
        """What follows "says": a quotation, or one or two words up to the next preposition."""
        start = at
        while at < len(self._tokens) and (self._tokens[at].word in _BEFORE_WORDS or self._tokens[at].text in ":,"):
            at += 1
        if at >= len(self._tokens):
            return "", 0
        first = self._tokens[at]
        if first.quoted or first.is_shouted:
            term, length = self._written(at)
            return term.values[0], at + length - start
        if not first.word.isalpha() or first.word in _NOT_WRITTEN or _is_sign(first.word):
            return "", 0
        words = [first.word]
        if at + 1 < len(self._tokens) and self._goes_on(self._tokens[at + 1]):
            words.append(self._tokens[at + 1].word)
        return " ".join(words), at + len(words) - start

    def _goes_on(self, token: Token) -> bool:
        if not token.word.isalpha() or token.quoted:
            return False
        meaning = lexicon().get((token.word,))
        return meaning is None or meaning.sort in ("kind", "place", "colour")


def _is_sign(word: str) -> bool:
    meaning = lexicon().get((word,))
    return meaning is not None and meaning.values == (SIGN,)
