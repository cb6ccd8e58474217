"""Texts with their numbers: the lines of a file or what is at hand, embedded page by page."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from sightline.engine import Advance
from sightline.errors import StoppedError
from sightline.io import PathLike, read_lines
from sightline.models.embedders.listing import LeftOut
from sightline.models.embedders.session import PAGE, Content, Session
from sightline.models.embedders.stream import embed_new_texts

Numbered: TypeAlias = tuple[int, str | LeftOut]
"""A text's number from 1, and the text or why it is none."""
_KEY_BYTES = 32


def read_texts(path: PathLike) -> Iterator[Numbered]:
    """One text a line; a blank line and one that is no UTF-8 are left out, and the numbers of the others stay."""
    last = 0
    for number, line in read_lines(path):
        for blank in range(last + 1, number):
            yield blank, _empty(blank)
        last = number
        try:
            yield number, line.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            yield number, LeftOut(str(number), "not UTF-8", "the line is in another encoding")


def number_texts(texts: Iterable[str]) -> Iterator[Numbered]:
    """Texts at hand; a blank one is left out."""
    for number, text in enumerate(texts, 1):
        yield number, text if text.strip() else _empty(number)


def _empty(number: int) -> LeftOut:
    return LeftOut(str(number), "empty", "there is no text in it")


@dataclass(slots=True)
class TextRun:
    """What became of the texts of one run: some forty bytes for each."""

    session: Session
    left_out: list[LeftOut] = field(default_factory=list)
    made: int = 0
    cut: int | None = 0
    stopped: StoppedError | None = None
    "By what the work was stopped, if it was; nothing more is taken then."
    _numbers: array[int] = field(default_factory=lambda: array("q"))
    _keys: bytearray = field(default_factory=bytearray)

    def take(self, page: list[Numbered], advance: Advance) -> None:
        """Embed a page of texts."""
        self.left_out += [text for _, text in page if isinstance(text, LeftOut)]
        texts = [(number, text) for number, text in page if isinstance(text, str)]
        embedder, cache = self.session.embedder, self.session.cache
        keys, made, self.stopped = embed_new_texts([text for _, text in texts], embedder, cache, advance)
        for (number, _), key in zip(texts, keys, strict=True):
            failure = made.get(key)
            if failure is not None:
                self.left_out.append(LeftOut(str(number), failure.kind, failure.message))
                continue
            self._numbers.append(number)
            self._keys += key
        self.made += sum(failure is None for failure in made.values())
        cut = cache.count_cut(list(dict.fromkeys(keys)), embedder)
        self.cut = None if cut is None or self.cut is None else self.cut + cut

    @property
    def content(self) -> Content:
        """All that was embedded."""
        longest = len(str(self._numbers[-1])) if self._numbers else 0
        return Content(self._pages, len(self._numbers), longest)

    def _pages(self) -> Iterator[list[tuple[str, bytes]]]:
        for start in range(0, len(self._numbers), PAGE):
            numbers = self._numbers[start : start + PAGE]
            yield [(str(number), self._key(start + at)) for at, number in enumerate(numbers)]

    def _key(self, at: int) -> bytes:
        return bytes(self._keys[at * _KEY_BYTES : (at + 1) * _KEY_BYTES])
