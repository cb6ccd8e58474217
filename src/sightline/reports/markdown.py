"""A page of blocks as Markdown for a README: the same tables, no drawings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from sightline.markup import escape
from sightline.plain_text import one_line
from sightline.reports.blocks import (
    Block,
    Cell,
    Chapter,
    ChartsBlock,
    FactsBlock,
    FileLink,
    Fold,
    Legend,
    NotesBlock,
    Paragraph,
    PicturesBlock,
    ReportPage,
    TableBlock,
)

# Whatever could begin emphasis, code, a link, HTML, a table cell, a heading or (on some sites) a formula.
_SPECIAL = re.compile(r"([\\`*_\[\]|~#$!])")
_LIST_START = re.compile(r"^([-+=]+|\d+[.)])(?=\s|$)")


def to_markdown(page: ReportPage) -> str:
    """The whole document."""
    chapters = (line for chapter in page.chapters for line in _chapter(chapter))
    parts = [f"# {plain(page.title)}", plain(page.subtitle), *chapters, plain(page.footer)]
    return "\n\n".join(parts) + "\n"


def plain(text: str) -> str:
    """Any text so that Markdown shows it as it is."""
    line = one_line(text).strip().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LIST_START.sub(lambda start: f"{start[0][:-1]}\\{start[0][-1]}", _SPECIAL.sub(r"\\\1", line))


def _chapter(chapter: Chapter) -> Iterator[str]:
    yield f"## {plain(chapter.title)}"
    for part in chapter.parts:
        if part.title:
            yield f"### {plain(part.title)}"
        yield from _blocks(part.blocks)


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case TableBlock():
                yield f"{plain(block.caption)}:"
                yield table_lines(block)
            case Paragraph(text):
                yield plain(text)
            case FactsBlock(pairs):
                yield "\n".join(f"- **{plain(name)}**: {plain(value)}" for name, value in pairs)
            case NotesBlock(items, warning):
                yield "\n".join(f"- {'**Warning**: ' if warning else ''}{plain(item)}" for item in items)
            case PicturesBlock(items):
                yield "\n".join(f"- {plain('; '.join(filter(None, (x.name, x.mark, *x.lines))))}" for x in items)
            case FileLink(text, name):
                yield f"{plain(text)}: [{plain(name)}](<{quote(name)}>)"
            case Fold(summary, inner):
                # A line that begins with HTML is HTML to its end: no backslash is read in it.
                yield f"<details><summary>{escape(summary)}</summary>"
                yield from _blocks(inner)
                yield "</details>"
            case ChartsBlock() | Legend():
                continue


def table_lines(table: TableBlock) -> str:
    """The table alone."""
    ruler = ("---:" if column in table.numeric else "---" for column in range(len(table.head)))
    rows = (map(_cell, row) for row in table.rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in (map(plain, table.head), ruler, *rows))


def _cell(given: str | Cell) -> str:
    if isinstance(given, str):
        return plain(given)
    return " ".join(filter(None, (plain(given.text), plain(given.detail), plain(given.mark))))
