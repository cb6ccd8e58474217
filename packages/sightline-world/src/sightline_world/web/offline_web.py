"""The web: pages, and the few things that a reader can do with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from types import MappingProxyType

from PIL import Image

from sightline.types import Failure
from sightline_world.draw import Drawing, draw
from sightline_world.truth import SyntheticHistory
from sightline_world.web.encyclopaedia import entry, translations
from sightline_world.web.fact_base import make_facts
from sightline_world.web.facts import Fact, FactBase
from sightline_world.web.index import Likeness, PageHit, PageIndex, PictureHit
from sightline_world.web.misleading import guides, hearsay, outdated
from sightline_world.web.pages import Page, picture_url


class WorldWeb:
    """All pages of one world. `search`, `open`, `search_pictures` and `picture` are for the system under test;
    `facts`, `pages` and `stating` are the truth."""

    def __init__(self, facts: FactBase) -> None:
        self.facts = facts
        made = (
            *(entry(facts, entity) for entity in facts.entities.values()),
            *outdated(facts),
            *hearsay(facts),
            *translations(facts),
            *guides(facts),
        )
        self.pages: Mapping[str, Page] = MappingProxyType({page.url: page for page in made})
        self._pictured = [page for page in made if page.picture is not None]
        self._words = PageIndex(facts, made)
        self._all = made

    def search(self, query: str, top_k: int = 10) -> list[PageHit]:
        """Pages by words, the best first; the same query always gives the same answer."""
        return self._words.find(query, top_k)

    def open(self, url: str) -> str | Failure:
        """The page as Markdown: title, site and date, info box, text with links, and the picture's address."""
        page = self.pages.get(url.rstrip("/"))
        return _no_page(url) if page is None else page.markdown

    def search_pictures(self, query: str | Image.Image, top_k: int = 10) -> list[PictureHit]:
        """Pictures on pages, by the words of their captions or by likeness to a picture."""
        if isinstance(query, str):
            return [_hit(self._all[number]) for number in self._words.find_captions(query, top_k)]
        return [_hit(self._pictured[number], apart) for number, apart in self._likeness.nearest(query, top_k)]

    def picture(self, url: str) -> Drawing | Failure:
        """The picture on a page, by its own address or by that of the page; its `graph` is truth."""
        page = self.pages.get(url.rstrip("/").removesuffix("/picture.jpg"))
        if page is None or page.picture is None:
            return _no_page(url) if page is None else Failure("no-picture", f"There is no picture on {url}.")
        return draw(page.picture.plan)

    def stating(self, fact: Fact) -> tuple[str, ...]:
        """The pages of the whole web whose text states a fact, or whose picture shows it."""
        return self._stating.get(fact, ())

    @cached_property
    def _stating(self) -> dict[Fact, tuple[str, ...]]:
        found: dict[Fact, tuple[str, ...]] = {}
        for page in self._all:
            for fact in page.states:
                found[fact] = (*found.get(fact, ()), page.url)
        for fact in self.facts.facts:
            if fact.shown:
                found[fact] = (self.facts.entities[fact.subject].url,)
        return found

    @cached_property
    def _likeness(self) -> Likeness:
        return Likeness([page.picture.plan for page in self._pictured if page.picture is not None])


def world_web(seed: int, lives: Sequence[SyntheticHistory] = ()) -> WorldWeb:
    """The web of a world's seed; with its lives, their teams have pages too. Made once for the same arguments."""
    return _web_of(seed, tuple(lives))


@lru_cache(maxsize=4)
def _web_of(seed: int, lives: tuple[SyntheticHistory, ...]) -> WorldWeb:
    return WorldWeb(make_facts(seed, lives))


def _no_page(url: str) -> Failure:
    return Failure("not-found", f"There is no page at {url}.")


def _hit(page: Page, distance: float = 0.0) -> PictureHit:
    assert page.picture is not None
    return PictureHit(picture_url(page.url), page.url, page.picture.caption, distance)
