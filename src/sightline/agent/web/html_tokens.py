"""HTML → tags and text in one pass. The standard library's parser takes minutes for 100 kB of unclosed tags."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_NAME = re.compile(r"[A-Za-z][^\s/>]{0,60}")
_BETWEEN = re.compile(r"[\s/]*")
# Each part begins where the last one ended, and a quote that is never closed takes all the rest: no text is read twice.
_ATTRIBUTE = re.compile(r"""([^\s/>][^\s/>=]*)(?:\s*=\s*("[^"]*"?|'[^']*'?|[^\s>"'][^\s>]*)?)?""")
_RAW = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE) for name in ("script", "style", "title", "textarea")}
# Python refuses to read numbers of thousands of digits.
_HUGE_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{9,};?")
_KEPT = 2000


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
