"""Chains of facts: from a name that a picture shows, over pages and a picture on one of them, to a value."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeAlias

from sightline.agent.web import Web, WebPage
from sightline.mine.nouns import Clue
from sightline.mine.web_pages import PageFact, distinct, picture_urls, same_name, tells
from sightline.types import Failure

HopKind: TypeAlias = Literal["fact", "picture"]
ReadFacts: TypeAlias = Callable[[WebPage], Awaitable[Sequence[PageFact]]]
ReadNames: TypeAlias = Callable[[str, bytes], Awaitable[Sequence[str]]]
"""The names that can be read in a picture, by its address and its bytes."""
_HITS = 8
_MOST_PAGES = 60
"""Pages that are opened for one start before it is given up."""


@dataclass(frozen=True, slots=True)
class Hop:
    """From the page at `url` to `value`: by a fact under `label`, or by a name that the page's picture shows."""

    kind: HopKind
    label: str
    value: str
    url: str


@dataclass(frozen=True, slots=True)
class Chain:
    """Hops from a clue of a picture to an answer; one before the last leads through a picture on a page."""

    clue: Clue
    hops: tuple[Hop, ...]

    @property
    def answer(self) -> str:
        return self.hops[-1].value

    @property
    def names(self) -> tuple[str, ...]:
        """What is passed on the way."""
        return (self.clue.name, *(hop.value for hop in self.hops[:-1]))


@dataclass(slots=True)
class Walk:
    """A search for chains over one web, with what was opened so far."""

    web: Web
    read_facts: ReadFacts
    read_names: ReadNames
    hops: int
    rng: Random
    opened: dict[str, WebPage | None] = field(default_factory=dict)

    async def chain_from(self, clue: Clue) -> Chain | None:
        """A chain of at most so many hops with a visual one in the middle; None where there is none."""
        self.opened.clear()
        page = await self._page_of(clue.name)
        return None if page is None else await self._onward(clue, page, ())

    async def _onward(self, clue: Clue, page: WebPage, way: tuple[Hop, ...]) -> Chain | None:
        """Through a picture of this page, else on to a page that it links to, while there is room for the last hop."""
        if len(way) + 2 > self.hops or len(self.opened) > _MOST_PAGES:
            return None
        chain = await self._through_picture(clue, page, way) if way else None
        if chain is not None:
            return chain
        facts = [fact for fact in await self.read_facts(page) if fact.url is not None]
        self.rng.shuffle(facts)
        for fact in facts:
            if fact.url in self.opened or fact.url is None:
                continue
            target = await self._open(fact.url)
            if target is not None and same_name(target.title, fact.value):
                hop = Hop("fact", fact.label, fact.value, page.url)
                chain = await self._onward(clue, target, (*way, hop))
                if chain is not None:
                    return chain
        return None

    async def _through_picture(self, clue: Clue, page: WebPage, way: tuple[Hop, ...]) -> Chain | None:
        """By the one other name that the page's first picture shows, if the page itself does not tell it."""
        for url in picture_urls(page)[:1]:
            data = await self.web.picture(url)
            names = [] if isinstance(data, Failure) else await self.read_names(url, data)
            passed = [clue.name, page.title, *(hop.value for hop in way)]
            others = [name for name in distinct(names) if not any(same_name(name, known) for known in passed)]
            if len(others) != 1 or tells(page, others[0]):
                continue
            target = await self._page_of(others[0])
            hop = Hop("picture", "", others[0], page.url)
            last = None if target is None else await self._last(target, (*way, hop))
            if last is not None:
                return Chain(clue, (*way, hop, last))
        return None

    async def _last(self, page: WebPage, way: tuple[Hop, ...]) -> Hop | None:
        """A value of this page that no page on the way tells already."""
        before = [opened for url, opened in self.opened.items() if opened is not None and url != page.url]
        passed = {hop.url for hop in way}
        told = "\n".join(opened.text for opened in before if opened.url in passed)
        facts = [fact for fact in await self.read_facts(page) if fact.url is None and fact.value not in told]
        if not facts:
            return None
        fact = self.rng.choice(facts)
        return Hop("fact", fact.label, fact.value, page.url)

    async def _page_of(self, name: str) -> WebPage | None:
        """The page that bears a name; None where there is none, or where several do and it is not clear which."""
        hits = await self.web.search(name, _HITS)
        if isinstance(hits, Failure):
            return None
        urls = {hit.url for hit in hits if same_name(hit.title, name)}
        return await self._open(next(iter(urls))) if len(urls) == 1 else None

    async def _open(self, url: str) -> WebPage | None:
        if url not in self.opened:
            page = await self.web.open(url)
            self.opened[url] = None if isinstance(page, Failure) else page
        return self.opened[url]
