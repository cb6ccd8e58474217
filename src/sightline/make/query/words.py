"""Words of queries and annotations, as they are compared: folded, stemmed, without what says nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator

from sightline.make.plan.table import NOT_KNOWN
from sightline.score.text.porter import stem
from sightline.types import Annotation

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_QUESTION = re.compile(r"^(?:has|is|are|with|contains|shows)[ _-]+", re.IGNORECASE)
_VAGUE_VALUES = NOT_KNOWN | {"other", "others", "not applicable", "mixed"}
_COLOURS = "colours"
"""A column that `builtin/photos` measures: colours that cover a good part of a picture, the widest first."""
_GRAMMAR = """a an and any are at by can do for from have has i in into is it its me my near no not of on one or our
some that the their them there these they this those to was we were what when where which who with you your"""
_ASKING = """about find give image images kind like look looking mostly photo photograph photographs photos picture
pictures please scene scenes search see seen show showing shown shows something somewhere someone taken want"""
_EMPTY = frozenset((*_GRAMMAR.split(), *_ASKING.split()))
"""Words that say nothing of a picture: those of grammar, and those that queries are made with."""


def normalised(text: str) -> str:
    """Case, accents of width, punctuation and spacing taken out: equal ones are the same query."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def content(text: str) -> frozenset[str]:
    """Stems of the words that say something."""
    return frozenset(stem(word) for word in normalised(text).split() if word not in _EMPTY)


def phrases(note: Annotation, core: Collection[str] = ()) -> list[str]:
    """What an annotation says, piece by piece: values of core facets, tags, other values, true flags, colours."""
    pieces = [value for name, value in note.facets.items() if name in core]
    pieces += [*note.tags, *(value for name, value in note.facets.items() if name not in core)]
    pieces += [_QUESTION.sub("", flag) for flag, holds in note.flags.items() if holds]
    colours = note.extra.get(_COLOURS)
    pieces += [f"{colour} tones" for colour in colours] if isinstance(colours, list) else []
    plain = (piece.replace("_", " ").strip() for piece in pieces)
    return list(dict.fromkeys(piece for piece in plain if piece.casefold() not in _VAGUE_VALUES))


def said_of(notes: Iterable[Annotation]) -> frozenset[str]:
    """Stems of all that annotations say."""
    return frozenset(word for note in notes for text in _texts(note) for word in content(text))


def _texts(note: Annotation) -> Iterator[str]:
    yield note.summary or ""
    yield from phrases(note)
