"""Words of a picture and of a query, for the word index: BM25 over fields, by SQLite's FTS5.

A query becomes quoted words, so that nothing in it is ever read as FTS5's own syntax. `fold` gives text as it is
compared: without case and accents.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from sightline.types import Annotation, Json, Picture

_ACCENTS = re.compile("[\u0300-\u036f]")
# Letters that Unicode does not take apart into a plain letter and an accent.
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
TOKENIZER = "porter unicode61 remove_diacritics 2"
MOST_WORDS = 64
"""Words of a query that are looked for."""
_WORD = re.compile(r"\w+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
# Scripts without spaces: each sign is a word of its own.
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
_FUNCTION_WORDS = frozenset(
    """a an the this that these those some and or as there it its their of in on at to by for from with near into
    onto over under through is are was were be been being has have his her who which while""".split()  # noqa: SIM905
)
WEIGHTS = (1.0, 1.5, 1.0, 0.7, 0.8, 0.7)
"""How much a word counts in each of `FIELDS`."""


def fold(text: str) -> str:
    """Without case, accents (of European scripts) and compatibility forms: `Kyōto` and `KYOTO` are `kyoto`."""
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold())).translate(_PLAIN)
    # Some compatibility forms become capitals only once they are taken apart.
    return unicodedata.normalize("NFC", bare.casefold())


@dataclass(frozen=True, slots=True)
class WordFields:
    """The searchable words of one picture, field by field; a query's text is in none of them."""

    caption: str = ""
    tags: str = ""
    facets: str = ""
    seen: str = ""
    place: str = ""
    name: str = ""


FIELDS = tuple(field.name for field in fields(WordFields))


def words_of(picture: Picture, said: Annotation | None, seen: str = "") -> WordFields:
    """What can be searched for by words; `seen` are words read in the picture."""
    extra = picture.extra
    captions = [*_texts(extra.get("title")), *_texts(extra.get("description")), *_texts(extra.get("caption"))]
    tags, facets = [*_texts(extra.get("keywords"))], ""
    if said is not None:
        captions = [said.summary or "", *captions]
        tags += said.tags
        facets = " ".join((*said.facets.values(), *(name for name, is_so in said.flags.items() if is_so)))
        seen = " ".join((*_texts(said.extra.get("words")), seen))
    return WordFields(
        caption=spaced(" ".join(captions)),
        tags=spaced(" ".join(tags)),
        facets=spaced(facets.replace("_", " ")),
        seen=spaced(seen),
        place=spaced(picture.address or ""),
        name=spaced(name_words(picture.id)),
    )


def name_words(id_: str) -> str:
    """`2021/BeachParty_03.JPG` → the name, and its parts: split at separators, capitals and digits."""
    stem = re.sub(r"\.\w{1,5}$", "", id_)
    whole = " ".join(_WORD.findall(stem.replace("_", " ")))
    parts = _CAMEL.sub(" ", whole)
    return whole if parts == whole else f"{whole} {parts}"


def spaced(text: str) -> str:
    """Text in which each sign of a script without spaces stands alone."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text)


def query_words(text: str) -> list[str]:
    """The words of a query, each once; those that say nothing (the, of) only where there are no others."""
    found = list(dict.fromkeys(word.lower() for word in _WORD.findall(spaced(text).replace("_", " "))))
    telling = [word for word in found if word not in _FUNCTION_WORDS]
    return (telling or found)[:MOST_WORDS]


def match_expression(words: Sequence[str], join: Literal["OR", "AND"] = "OR") -> str:
    """FTS5: any of the words, or all; each is quoted, and holds nothing but letters and digits."""
    return f" {join} ".join(f'"{word}"' for word in words)


def _texts(value: Json) -> Iterator[str]:
    """`"a"`, `["a", "b"]` or `[{"text": "a", …}]`."""
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, dict):
            item = item.get("text")
        if isinstance(item, str):
            yield item
