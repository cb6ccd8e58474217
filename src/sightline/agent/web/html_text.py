"""HTML to the text that a reader sees: no scripts, no styles, nothing that is hidden.

Tags and text are read in one pass: the standard library's parser takes minutes for 100 kB of unclosed tags.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from sightline.agent.web.base import WebPage

_NAME = re.compile(r"[A-Za-z][^\s/>]{0,60}")
_BETWEEN = re.compile(r"[\s/]*")
# Each part begins where the last one ended, and a quote that is never closed takes all the rest: no text is read twice.
_ATTRIBUTE = re.compile(r"""([^\s/>][^\s/>=]*)(?:\s*=\s*("[^"]*"?|'[^']*'?|[^\s>"'][^\s>]*)?)?""")
_RAW = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE) for name in ("script", "style", "title", "textarea")}
# Python refuses to read numbers of thousands of digits.
_HUGE_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{9,};?")
_KEPT = 2000
MOST_BYTES = 3 << 20
MOST_TEXT = 200_000
_LONGEST_URL = 2048
_DROPPED = frozenset(
    """script style noscript template svg math iframe object embed canvas audio video button select textarea
    nav""".split()  # noqa: SIM905
)
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())  # noqa: SIM905
_BLOCKS = frozenset(
    """p div section article main header footer aside h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table tr blockquote pre
    figure figcaption br hr body details summary form""".split()  # noqa: SIM905
)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([A-Za-z0-9_-]{2,40})", re.IGNORECASE)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag by its name in lower case; `closes` for `</p>`."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    closes: bool = False


def tokens(text: str) -> Iterator[Tag | str]:
    """Tags and the text between them, references resolved; comments and declarations are left out.

    What is inside scripts, styles and titles is text. A tag or comment that never ends takes the rest with it.
    """
    at = 0
    while at < len(text):
        opening = text.find("<", at)
        if opening < 0:
            opening = len(text)
        if opening > at:
            yield unescaped(text[at:opening])
        at = opening
        if at >= len(text):
            return
        if text.startswith(("<!", "<?"), at):
            at = _after_declaration(text, at)
            continue
        closes = text.startswith("</", at)
        name = _NAME.match(text, at + 1 + closes)
        if name is None:
            yield "<"
            at += 1
            continue
        attributes, at = _attributes(text, name.end())
        if at > len(text):
            return
        tag = Tag(name[0].lower(), attributes, closes)
        yield tag
        if not closes and tag.name in _RAW:
            end = _RAW[tag.name].search(text, at)
            if end is None:
                return
            yield unescaped(text[at : end.start()])
            at = end.start()


def unescaped(text: str) -> str:
    """Text with its references resolved."""
    return html.unescape(_HUGE_REFERENCE.sub("�", text)) if "&" in text else text


def _after_declaration(text: str, at: int) -> int:
    mark = "-->" if text.startswith("<!--", at) else ">"
    end = text.find(mark, at + 2)
    return len(text) if end < 0 else end + len(mark)


def _attributes(text: str, at: int) -> tuple[dict[str, str], int]:
    """Attributes up to the end of the tag, the first of each name; where it never ends, a place beyond the text."""
    found: dict[str, str] = {}
    while True:
        between = _BETWEEN.match(text, at)
        assert between is not None
        at = between.end()
        if at >= len(text):
            return found, len(text) + 1
        if text[at] == ">":
            return found, at + 1
        part = _ATTRIBUTE.match(text, at)
        assert part is not None
        value = part[2] or ""
        if value[:1] in ("'", '"'):
            value = value[1:].removesuffix(value[0])
        if len(found) < _KEPT:
            found.setdefault(part[1][:60].lower(), unescaped(value[:_KEPT]))
        at = part.end()


def html_text(data: bytes, url: str, charset: str | None = None) -> WebPage:
    """A page as Markdown-like text; addresses of links and pictures are made absolute."""
    reader = _Reader(url)
    for token in tokens(decoded(data[:MOST_BYTES], charset)):
        reader.take(token)
    title = " ".join("".join(reader.title).split())[:300]
    return WebPage(url, title or title_of(url), reader.text())


def title_of(url: str) -> str:
    """What stands for a title where a page has none: the last part of its address."""
    parts = urlsplit(url)
    return parts.path.rstrip("/").rpartition("/")[2] or parts.hostname or url


def decoded(data: bytes, charset: str | None) -> str:
    """Text by the character set that the server names, else the page itself, else UTF-8."""
    found = _META_CHARSET.search(data[:4096])
    for name in (charset, found[1].decode("ascii") if found else None):
        try:
            if name:
                return data.decode(name, "replace")
        except (LookupError, UnicodeError, ValueError):  # Python knows character sets that are none of text.
            continue
    return data.decode("utf-8", "replace")


class _Reader:
    """Puts a page's text together; `_skipped` are the open elements inside one that is not shown."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._parts: list[str] = []
        self._size = 0
        self._skipped: list[str] = []
        self._link: tuple[int, str] | None = None
        self.title: list[str] = []
        self._in_title = False

    def text(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self._parts).split("\n"))
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()[:MOST_TEXT]

    def take(self, token: Tag | str) -> None:
        if isinstance(token, str):
            self._words(token)
        elif token.name == "title":
            self._in_title = not token.closes
        elif self._skipped:
            if token.name == self._skipped[-1]:
                self._skipped.pop() if token.closes else self._skipped.append(token.name)
        elif token.closes:
            self._end(token.name)
        elif token.name in _DROPPED or _is_hidden(token.attributes):
            if token.name not in _VOID:
                self._skipped.append(token.name)
        else:
            self._begin(token)

    def _words(self, text: str) -> None:
        if self._in_title:
            if not self.title:
                self.title.append(text)
        elif not self._skipped:
            # A newline in the source is a space to the reader.
            self._add(_SPACES.sub(" ", text))

    def _begin(self, tag: Tag) -> None:
        if tag.name in _BLOCKS:
            self._add("\n- " if tag.name == "li" else "\n")
        if tag.name in ("h1", "h2", "h3"):
            self._add("#" * int(tag.name[1]) + " ")
        elif tag.name in ("td", "th"):
            self._add(" | ")
        elif tag.name == "a":
            # Links don't nest: one that was not closed is only its words.
            self._link = len(self._parts), self._absolute(tag.attributes.get("href", ""))
        elif tag.name == "img":
            self._picture(tag.attributes)

    def _end(self, name: str) -> None:
        if name == "a" and self._link is not None:
            first, address = self._link
            self._link = None
            words = "".join(self._parts[first:]).strip()
            if address and words and "\n" not in words and "[" not in words:
                self._parts[first:] = [f"[{words}]({address})"]
        if name in _BLOCKS:
            self._add("\n")

    def _picture(self, given: dict[str, str]) -> None:
        address = self._absolute(given.get("src", ""))
        if address:
            words = re.sub(r"[\s\[\]]+", " ", given.get("alt", "")).strip()[:300]
            self._add(f"\n![{words}]({address})\n")

    def _add(self, text: str) -> None:
        if self._size < 2 * MOST_TEXT:
            self._parts.append(text)
            self._size += len(text)

    def _absolute(self, address: str) -> str:
        try:
            found = urljoin(self._url, address.strip())
        except ValueError:
            return ""
        fit = found.startswith(("http://", "https://")) and len(found) <= _LONGEST_URL
        return found if address and fit and not re.search(r"[\s)]", found) else ""


def _is_hidden(given: dict[str, str]) -> bool:
    """What a person does not see is not told either: orders to machines are often written there."""
    style = given.get("style", "").lower()
    return "hidden" in given or given.get("aria-hidden") == "true" or _HIDDEN_STYLE.search(style) is not None
