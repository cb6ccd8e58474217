"""The second language: some entries in German, which say the same as the English ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from random import Random

from sightline_world.data import read_data
from sightline_world.web.facts import SITE, Entity, Fact, FactBase
from sightline_world.web.pages import Page
from sightline_world.web.writing import FEWEST_WORDS, count_words, value

_PAGES = 120
_KINDS = ("town", "team", "mountain")
_DATA = read_data("web/german.toml")
_OPENINGS: Mapping[str, str] = _DATA["openings"]
_SAYS: Mapping[tuple[str, str], tuple[str, str]] = {
    (kind, name): said for kind, told in _DATA["says"].items() for name, said in told.items()
}
"""Label and sentence."""
_CLOSINGS: tuple[str, ...] = _DATA["closings"]


def translations(base: FactBase) -> Iterator[Page]:
    """German pages about some towns, teams and mountains."""
    rng = Random(f"{base.seed}/german")
    entities = [entity for entity in base.entities.values() if entity.kind in _KINDS]
    for entity in rng.sample(entities, _PAGES):
        yield _page(base, entity, rng)


def _page(base: FactBase, entity: Entity, rng: Random) -> Page:
    told = [fact for fact in base.of_subject(entity.id) if fact.until is None and (entity.kind, fact.property) in _SAYS]
    said = [_OPENINGS[entity.kind].format(s=entity.name), *(_sentence(base, entity, fact) for fact in told)]
    for closing in rng.sample(_CLOSINGS, len(_CLOSINGS)):
        if count_words(said) >= FEWEST_WORDS:
            break
        said.append(closing)
    return Page(
        url=f"{SITE}/de/{entity.id}",
        title=f"{entity.title} (deutsch)",
        body=" ".join(said),
        box=tuple((_SAYS[entity.kind, fact.property][0], _value(base, fact)) for fact in told),
        written=date(2026, 1, 5) + timedelta(days=rng.randrange(290)),
        kind="translation",
        about=entity.id,
        states=tuple(told),
        language="de",
    )


def _sentence(base: FactBase, entity: Entity, fact: Fact) -> str:
    return _SAYS[entity.kind, fact.property][1].format(s=entity.name, v=_value(base, fact), since=fact.since)


def _value(base: FactBase, fact: Fact) -> str:
    """As in English, but with a dot between thousands."""
    return value(base, fact) if fact.object else fact.value.replace(",", ".")
