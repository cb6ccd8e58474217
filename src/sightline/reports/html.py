"""A page of blocks as HTML: one file, no script, nothing loaded from anywhere."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from sightline.markup import Markup, join, lines, tag
from sightline.reports.blocks import (
    Block,
    CaptionedPicture,
    Cell,
    Chapter,
    ChartsBlock,
    FactsBlock,
    FileLink,
    Fold,
    Legend,
    NotesBlock,
    PagePart,
    Paragraph,
    PicturesBlock,
    ReportPage,
    TableBlock,
)
from sightline.reports.charts import marker


def page_style() -> str:
    """The style sheet of a page."""
    return Path(__file__).with_name("page.css").read_text("utf-8")


def to_html(page: ReportPage) -> str:
    """The whole document."""
    head = (
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", page.title),
        tag("style", Markup("\n"), Markup(page_style())),
    )
    body = (
        tag("header", tag("h1", page.title), tag("p", page.subtitle, class_="quiet")),
        *([_contents(page.chapters)] if len(page.chapters) > 2 else []),
        tag("main", Markup("\n"), lines(_chapter(chapter) for chapter in page.chapters)),
        tag("footer", tag("p", page.footer, class_="quiet")),
    )
    document = tag("html", tag("head", lines(head)), Markup("\n"), tag("body", lines(body)), lang="en")
    return f"<!doctype html>\n{document}\n"


def to_fragment(blocks: Iterable[Block]) -> Markup:
    """Blocks alone, for a page that is made elsewhere."""
    return lines(map(_block, blocks))


def _contents(chapters: Iterable[Chapter]) -> Markup:
    items = (tag("li", tag("a", chapter.title, href=f"#{chapter.id}")) for chapter in chapters)
    return tag("nav", tag("ul", *items), aria_label="Contents")


def _chapter(chapter: Chapter) -> Markup:
    heading = tag("h2", chapter.title, id=f"{chapter.id}-heading")
    parts = lines(_part(part) for part in chapter.parts)
    return tag("section", heading, Markup("\n"), parts, id=chapter.id, aria_labelledby=f"{chapter.id}-heading")


def _part(part: PagePart) -> Markup:
    heading = [tag("h3", part.title)] if part.title else []
    return lines([*heading, *map(_block, part.blocks)])


def _block(block: Block) -> Markup:
    match block:
        case TableBlock():
            return _table(block)
        case Paragraph(text):
            return tag("p", text)
        case FactsBlock(pairs):
            return tag("dl", lines(tag("div", tag("dt", name), tag("dd", value, dir="auto")) for name, value in pairs))
        case NotesBlock(items, warning):
            return tag("ul", lines(tag("li", item) for item in items), class_="warning" if warning else "notes")
        case ChartsBlock(drawings):
            return tag("div", lines(tag("figure", drawing) for drawing in drawings), class_="charts")
        case PicturesBlock(items):
            return tag("ul", Markup("\n"), lines(map(_shown, items)), class_="pictures")
        case Legend(names):
            return tag("ul", *(_legend_item(series, name) for series, name in enumerate(names)), class_="legend")
        case FileLink(text, name):
            return tag("p", f"{text}: ", tag("a", name, href=quote(name)))
        case Fold(summary, blocks):
            return tag("details", tag("summary", summary), Markup("\n"), lines(map(_block, blocks)))


def _shown(shown: CaptionedPicture) -> Markup:
    if shown.source is None:
        picture = tag("span", "can't be read", class_="quiet")
    else:
        picture = tag("img", src=shown.source, alt=shown.name, loading="lazy")
    said = [tag("small", line, dir="auto") for line in shown.lines]
    name = tag("span", tag("bdi", shown.name), *([Markup(" "), tag("b", shown.mark)] if shown.mark else []))
    return tag("li", tag("div", picture), name, *said)


def _legend_item(series: int, name: str) -> Markup:
    swatch = tag("svg", marker(series, 7, 7), width=14, height=14, viewBox="0 0 14 14", aria_hidden="true")
    return tag("li", swatch, " ", tag("bdi", name))


def _table(table: TableBlock) -> Markup:
    head = (
        tag("th", name, scope="col", class_="number" if column in table.numeric else None)
        for column, name in enumerate(table.head)
    )
    body = lines(
        tag("tr", join(_cell(cell, column, column in table.numeric) for column, cell in enumerate(row)))
        for row in table.rows
    )
    whole = tag(
        "table",
        tag("caption", tag("span", table.caption)),
        Markup("\n"),
        tag("thead", tag("tr", *head)),
        Markup("\n"),
        tag("tbody", Markup("\n"), body),
    )
    # Wide tables scroll in a box of their own, which a keyboard can reach.
    return tag("div", whole, class_="scroll", tabindex=0, role="region", aria_label=table.caption)


def _cell(given: str | Cell, column: int, number: bool) -> Markup:
    cell = Cell(given) if isinstance(given, str) else given
    content = [tag("span", cell.text), *([Markup(" "), tag("b", cell.mark)] if cell.mark else [])]
    if cell.detail:
        content += [tag("br"), tag("small", cell.detail)]
    style = " ".join(filter(None, ("number" if number else "", cell.tone))) or None
    if column == 0:
        return tag("th", *content, scope="row", class_=style, dir="auto")
    return tag("td", *content, class_=style, dir=None if number else "auto")
