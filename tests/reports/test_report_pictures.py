"""Small pictures on a page: as HTML, and by name in Markdown."""

from __future__ import annotations

from sightline.markup import Markup
from sightline.reports.blocks import CaptionedPicture, Chapter, PagePart, PicturesBlock, ReportPage
from sightline.reports.html import to_html
from sightline.reports.markdown import to_markdown

SHOWN = [
    CaptionedPicture(Markup("data:image/jpeg;base64,AAAA"), '<b>"a".jpg', ["cat 0.75", "grey · sharp"], "seen here"),
    CaptionedPicture(None, "b.jpg"),
]
PAGE = ReportPage("Pictures", "two", [Chapter("All", "all", [PagePart("", [PicturesBlock(SHOWN)])])], "end")


def test_pictures_are_shown_with_what_is_said_of_them() -> None:
    page = to_html(PAGE)
    assert '<img src="data:image/jpeg;base64,AAAA" alt="&lt;b&gt;&quot;a&quot;.jpg" loading="lazy">' in page
    assert "<b>seen here</b>" in page and '<small dir="auto">cat 0.75</small>' in page
    assert page.count("<img") == 1 and "can&#x27;t be read" in page


def test_markdown_names_them() -> None:
    lines = to_markdown(PAGE).splitlines()
    assert '- &lt;b&gt;"a".jpg; seen here; cat 0.75; grey · sharp' in lines and "- b.jpg" in lines
