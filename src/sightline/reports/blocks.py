"""What a page is made of, before it is HTML or Markdown: all strings are plain and of unknown origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline.markup import Markup

Tone: TypeAlias = Literal["", "bad", "quiet"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A table's cell: a text, what stands small under it, and a mark beside it (tie letters)."""

    text: str
    detail: str = ""
    mark: str = ""
    tone: Tone = ""


Row: TypeAlias = "Sequence[str | Cell]"


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A caption, a line of column names and rows; the first cell of a row names it. `numeric` columns align right."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Row]
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class FactsBlock:
    """Names and what belongs to them."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class NotesBlock:
    """A list of sentences; `warning` ones catch the eye."""

    items: Sequence[str]
    warning: bool = False


@dataclass(frozen=True, slots=True)
class ChartsBlock:
    """Drawings side by side; every number in them is also in a table."""

    drawings: Sequence[Markup]


@dataclass(frozen=True, slots=True)
class CaptionedPicture:
    """A small picture (a data URL; None: it could not be read), its name, and lines about it; `mark` stands out."""

    source: Markup | None
    name: str
    lines: Sequence[str] = ()
    mark: str = ""


@dataclass(frozen=True, slots=True)
class PicturesBlock:
    """Small pictures side by side."""

    items: Sequence[CaptionedPicture]


@dataclass(frozen=True, slots=True)
class Legend:
    """Which colour and shape stands for which run."""

    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class FileLink:
    """A file beside the page, with what it holds."""

    text: str
    name: str


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that are closed until asked for."""

    summary: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class PagePart:
    """Blocks under a heading."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Chapter:
    """Parts under a heading that can be linked to."""

    title: str
    id: str
    parts: Sequence[PagePart]


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A title, a line under it, chapters, and a line at the end."""

    title: str
    subtitle: str
    chapters: Sequence[Chapter]
    footer: str


Block: TypeAlias = (
    TableBlock | Paragraph | FactsBlock | NotesBlock | ChartsBlock | PicturesBlock | Legend | FileLink | Fold
)


def numeric(first: int, last: int) -> frozenset[int]:
    """The columns from `first` up to and without `last`."""
    return frozenset(range(first, last))
