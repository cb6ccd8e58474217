"""Strings of unknown origin on one line of a page or a terminal, and rows of them as a table of plain text."""

from __future__ import annotations

import math
import re
import shutil
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest

_SPACES = re.compile(r"\s+")
# Characters that reorder the text around them; the words themselves need none.
_BIDI_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_WORD_ENDS = re.compile(r"(?<=[:,=/ ])")
_NARROWEST = 16


def one_line(text: str) -> str:
    """The text on one line, without what could act on a page or a terminal: control characters become `�`."""
    return "".join(_harmless(letter) for letter in _SPACES.sub(" ", text))


def _harmless(letter: str) -> str:
    if letter in _BIDI_CONTROLS or unicodedata.category(letter) in ("Cc", "Cs"):
        return "\ufffd"
    return letter


def printable(name: str) -> str:
    """A name as a terminal can show it: what would move its cursor or change its colors is written out."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name)


def signed(value: float, places: int = 3) -> str:
    """A difference with its sign, to so many decimals, or to the first that tells it from zero: `-0.04`, `+0.0003`."""
    size = abs(value)
    while size > 1e-9 and round(size, places) == 0:
        places += 1
    return f"{value:+z.{places}f}"


def dollars(usd: float) -> str:
    """An amount as people read it: to the cent from a dollar on, below that with two digits that count."""
    if usd == 0 or usd >= 0.995:
        return f"${usd:,.2f}"
    return f"${usd:.{max(2, 1 - math.floor(math.log10(usd)))}f}"


def cut(text: str, longest: int) -> str:
    """A text, or as many of its letters as fit before an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def short(text: str, limit: int) -> str:
    """One line of at most `limit` columns; wide letters (Chinese, Japanese, …) count as two."""
    line = one_line(text).strip()
    if columns(line) <= limit:
        return line
    kept = ""
    for letter in line:
        if columns(kept + letter) > limit - 1:
            break
        kept += letter
    return kept.rstrip() + "…"


def columns(text: str) -> int:
    """How wide a text is, in letters of a typewriter."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def text_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = (), flexible: int | None = None
) -> str:
    """Aligned columns under their names, indented by two; columns in `right` align right.

    Where the terminal is too narrow, the `flexible` column is broken at the ends of its words.
    """
    cells = [[one_line(cell) for cell in row] for row in (head, *rows)]
    widths = [max(columns(row[at]) for row in cells) for at in range(len(head))]
    lines = [[[cell] for cell in row] for row in cells]
    if flexible is not None:
        others = sum(width + 2 for at, width in enumerate(widths) if at != flexible)
        room = max(_NARROWEST, shutil.get_terminal_size().columns - others - 2)
        for row in lines:
            row[flexible] = broken(row[flexible][0], room).split("\n")
        widths[flexible] = max(columns(line) for row in lines for line in row[flexible])
    return "\n".join(_line(parts, widths, right) for row in lines for parts in zip_longest(*row, fillvalue=""))


def _line(parts: Iterable[str], widths: Sequence[int], right: Collection[int]) -> str:
    padded = []
    for at, (part, width) in enumerate(zip(parts, widths, strict=True)):
        space = " " * (width - columns(part))
        padded.append(space + part if at in right else part + space)
    return f"  {'  '.join(padded)}".rstrip()


def broken(cell: str, width: int) -> str:
    """A long name on lines of at most so many columns, where one of its words ends."""
    lines = [""]
    for piece in _WORD_ENDS.split(cell):
        if lines[-1] and columns(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)
