"""A tiny builder of HTML and SVG in which a plain string can't become markup."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape as escape_html

from sightline.plain_text import one_line

_VOID = frozenset({"br", "col", "img", "meta"})


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def escape(text: str) -> Markup:
    """Markup as it is; anything else with `<>&"'` escaped, on one line and without control characters."""
    return text if isinstance(text, Markup) else Markup(escape_html(one_line(text), quote=True))


def tag(name: str, /, *children: str, **attributes: str | float | bool | None) -> Markup:
    """`<name attributes>children</name>`; `class_` is written `class`, `stroke_width` `stroke-width`.

    An attribute that is None or False is left out, True is written without a value.
    """
    written = "".join(_attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(parts: Iterable[str]) -> Markup:
    """The parts one after the other, each escaped unless it is markup."""
    return Markup("".join(escape(part) for part in parts))


def lines(parts: Iterable[str]) -> Markup:
    """The parts on a line each."""
    return Markup("\n".join(escape(part) for part in parts))


def _attribute(name: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    text = value if isinstance(value, str) else f"{value:g}"
    return f' {name}="{escape(text)}"'
