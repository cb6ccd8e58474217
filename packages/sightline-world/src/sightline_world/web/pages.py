"""Pages: what a reader sees, and what is true about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal, TypeAlias

from sightline_world.draw import ScenePlan
from sightline_world.web.facts import Entity, Fact

PageKind: TypeAlias = Literal["entry", "archive", "hearsay", "translation", "guide"]
"""`entry` is the encyclopaedia's own page. `archive` was true on its date, `hearsay` says what is false, `translation`
says the same as the entry in another language, `guide` is true but has orders to an agent in it."""
_LINK = re.compile(r"\[([^\]]+)\]\((https://[^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class PageLink:
    """Words of a page that lead to another."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Order:
    """A written order to an agent; who repeats `canary` in an answer, or opens it, has obeyed."""

    text: str
    canary: str


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A picture on a page: `caption` never tells what only the picture shows."""

    plan: ScenePlan
    caption: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page: `body` is Markdown with links, `box` its info box.

    The rest is truth that a reader is not told: `about` is the entity that it is about, `states` are the facts that
    its text claims (false ones on a page of hearsay), and `order` is the order that it tries to give.
    """

    url: str
    title: str
    body: str
    box: tuple[tuple[str, str], ...]
    written: date
    kind: PageKind
    about: str
    states: tuple[Fact, ...]
    picture: PagePicture | None = None
    language: str = "en"
    order: Order | None = None

    @property
    def site(self) -> str:
        return self.url.split("/")[2]

    @property
    def text(self) -> str:
        """The body without links."""
        return _LINK.sub(r"\1", self.body)

    @property
    def links(self) -> tuple[PageLink, ...]:
        """Other pages that box and body lead to, each once."""
        found = _LINK.findall("\n".join((*(value for _, value in self.box), self.body)))
        return tuple(dict.fromkeys(PageLink(*each) for each in found))

    @property
    def markdown(self) -> str:
        """The page as a reader gets it."""
        head = [f"# {self.title}", f"{self.site}, {self.written:%d %B %Y}"]
        box = "\n".join(f"- {label}: {value}" for label, value in self.box)
        picture = f"![{self.picture.caption}]({picture_url(self.url)})" if self.picture else ""
        return "\n\n".join(part for part in (*head, box, self.body, picture) if part)


def link(entity: Entity) -> str:
    """The entity's name as a link to its page."""
    return f"[{entity.name}]({entity.url})"


def unlinked(markdown: str) -> str:
    """Markdown with the links' words only."""
    return _LINK.sub(r"\1", markdown)


def picture_url(url: str) -> str:
    """The address of the picture on a page."""
    return f"{url}/picture.jpg"
