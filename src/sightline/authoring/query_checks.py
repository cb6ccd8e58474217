"""What may be wrong with the words of a query: a duplicate, a file's name, or not true of its own seed.

Words are compared folded and stemmed, without those that say nothing.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from sightline.authoring.plan_table import NOT_KNOWN
from sightline.config.settings import QueryStyle
from sightline.metrics.text.porter import stem
from sightline.types import Annotation, Failure

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_QUESTION = re.compile(r"^(?:has|is|are|with|contains|shows)[ _-]+", re.IGNORECASE)
_VAGUE_VALUES = NOT_KNOWN | {"other", "others", "not applicable", "mixed"}
_COLOURS = "colours"
"""A column that `builtin/photos` measures: colours that cover a good part of a picture, the widest first."""
ALIKE = 0.9
"""Two queries that share this much of their words (Jaccard) ask for the same."""
_FILE_NAME = re.compile(
    r"\b[\w-]+\.(?:jpe?g|png|webp|gif|bmp|tiff?|heic|avif)\b|\b(?:IMG|DSC|DSCN|PXL|MVIMG)[-_]?\d{3,}", re.IGNORECASE
)
_TOLD: Mapping[QueryStyle, float] = {"keyword": 0.5, "sentence": 0.5, "question": 0.5, "vague": 0.25}
"""Of a query's words, so many must be in what was said of its seeds."""
_LONG = 12


@cache
def english() -> Mapping[str, Mapping[str, str]]:
    """`english_words.toml`: lists of words, and how moments are said."""
    return tomllib.loads(Path(__file__).with_name("english_words.toml").read_text("utf-8"))


@cache
def word_list(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(english()["lists"][name].split())


def normalised(text: str) -> str:
    """Case, accents of width, punctuation and spacing taken out: equal ones are the same query."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def content(text: str) -> frozenset[str]:
    """Stems of the words that say something."""
    return frozenset(stem(word) for word in normalised(text).split() if word not in word_list("empty"))


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


class KnownQueries:
    """The queries so far, to tell whether another asks for the same."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._with: dict[str, list[str]] = {}

    def add(self, id_: str, text: str) -> None:
        """Remember a query."""
        self._texts.setdefault(normalised(text), id_)
        self._words[id_] = content(text)
        for word in self._words[id_]:
            self._with.setdefault(word, []).append(id_)

    def same_as(self, text: str) -> str | None:
        """The id of a query that asks for the same, if there is one."""
        known = self._texts.get(normalised(text))
        if known is not None:
            return known
        words = content(text)
        rivals = dict.fromkeys(id_ for word in words for id_ in self._with.get(word, ()))
        shared = {id_: len(words & self._words[id_]) / len(words | self._words[id_]) for id_ in rivals}
        return next((id_ for id_, share in shared.items() if share >= ALIKE), None)


def leak(text: str, seeds: Iterable[str]) -> str | None:
    """The part of a seed's id or file name that the text gives away, if any."""
    found = _FILE_NAME.search(text)
    if found is not None:
        return found[0]
    folded = text.casefold()
    for seed in seeds:
        path = PurePosixPath(seed)
        for name in (seed, path.name, path.stem):
            if _looks_like_a_name(name) and re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", folded):
                return name
    return None


def is_answerable(text: str, style: QueryStyle, notes: Sequence[Annotation]) -> bool:
    """Does what was said of the seeds bear the query out?"""
    words = content(text)
    return bool(words) and len(words & said_of(notes)) >= _TOLD[style] * len(words)


def wrong_with(
    text: str, style: QueryStyle, seeds: Sequence[str], notes: Sequence[Annotation], asked: KnownQueries
) -> Failure | None:
    """The first thing that is wrong with a query, in words that a model can act on."""
    if not text.strip():
        return Failure("empty", "the query is empty")
    told = leak(text, seeds)
    if told is not None:
        return Failure("leak", f'"{told}" is the name of a file: describe the picture and do not name it')
    if not is_answerable(text, style, notes):
        return Failure("unanswerable", "too few of its words are true of the picture: keep to what the picture shows")
    same = asked.same_as(text)
    if same is not None:
        return Failure("duplicate", f"{same} asks for the same: ask for something else that the picture shows")
    return None


def _looks_like_a_name(name: str) -> bool:
    """`dog` may be a file's name and is a word; `dog_17` is no word."""
    return bool(re.search(r"[\d_/.]", name)) or (len(name) >= _LONG and " " not in name)
