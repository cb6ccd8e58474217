"""A strict look at a page: do its tags balance, and what does it say?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "meta", "col"}


@dataclass
class Table:
    """A table as a reader sees it."""

    caption: str = ""
    head: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    def row(self, *names: str) -> dict[str, str]:
        """The only row that begins with these cells, by column."""
        found = [row for row in self.rows if row[: len(names)] == list(names)]
        assert len(found) == 1, (names, len(found))
        return dict(zip(self.head, found[0], strict=True))


class Page(HTMLParser):
    """Tags, ids, tables and visible text of a page; a tag that is not closed in order is an error."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[Table] = []
        self.words: list[str] = []
        self._cell: list[str] | None = None
        assert html.startswith("<!doctype html>\n")
        self.feed(html)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), (tag, attrs)
        self.tags.append((tag, dict(attrs)))
        if tag == "br" and self._cell is not None:
            self._cell.append(" ")
        if tag in VOID:
            return
        self.open.append(tag)
        if tag == "table":
            self.tables.append(Table())
        elif tag == "tr" and "tbody" in self.open:
            self.tables[-1].rows.append([])
        elif tag in ("td", "th", "caption"):
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()
        if self._cell is None or tag not in ("td", "th", "caption"):
            return
        text = "".join(self._cell).strip()
        self._cell = None
        if tag == "caption":
            self.tables[-1].caption = text
        else:
            (self.tables[-1].rows[-1] if "tbody" in self.open else self.tables[-1].head).append(text)

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.words.append(data)
        if self._cell is not None:
            self._cell.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every such tag."""
        return [attributes for name, attributes in self.tags if name == tag]

    def table(self, caption: str) -> Table:
        """The only table whose caption begins so."""
        found = [table for table in self.tables if table.caption.startswith(caption)]
        assert len(found) == 1, (caption, [table.caption for table in self.tables])
        return found[0]
