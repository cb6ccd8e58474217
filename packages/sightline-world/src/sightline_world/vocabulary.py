"""How the world's scenes are put into words, and understood: nouns, their plurals and other names, phrases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sightline.english import article, number_word
from sightline_world.data import read_data

_DATA = read_data("vocabulary.toml")
PLACE_PHRASES: Mapping[str, tuple[str, ...]] = MappingProxyType(_DATA["places"])
LIGHT_PHRASES: Mapping[str, tuple[str, ...]] = MappingProxyType(_DATA["lights"])
HEADGEAR_WORDS: Mapping[str, str] = MappingProxyType(_DATA["headgear"])


@dataclass(frozen=True, slots=True)
class Noun:
    """A kind's plural, other names that people use for it, and where its colour is (`%s with %s icing`)."""

    plural: str
    others: tuple[str, ...] = ()
    coloured: str = "%(colour)s %(noun)s"


_NOUNS = {kind: Noun(**noun) for kind, noun in _DATA["nouns"].items()}
PERSON_NOUN, SIGN_NOUN = _NOUNS.pop("person"), _NOUNS.pop("sign")
KIND_NOUNS: Mapping[str, Noun] = MappingProxyType(_NOUNS)


def noun_of(kind: str, count: int = 1, other: int | None = None) -> str:
    """The word for so many of a kind; `other` picks one of its other names, which are said in the singular only."""
    noun = PERSON_NOUN if kind == "person" else SIGN_NOUN if kind == "sign" else KIND_NOUNS[kind]
    if count != 1:
        return noun.plural
    return kind if other is None or not noun.others else noun.others[other % len(noun.others)]


def phrase(kind: str, colour: str | None = None, count: int = 1, *, size: str | None = None, word: str = "") -> str:
    """ "a red boat", "two people in blue", "a large tree with orange leaves"; `word` replaces the noun."""
    noun = PERSON_NOUN if kind == "person" else SIGN_NOUN if kind == "sign" else KIND_NOUNS[kind]
    words = word or noun_of(kind, count)
    if colour is not None:
        words = noun.coloured % {"colour": colour, "noun": words}
    if size is not None and size != "medium":
        words = f"{size} {words}"
    return f"{article(words)} {words}" if count == 1 else f"{number_word(count)} {words}"
