"""Pages with written orders to an agent: what they say of the world is true, what they ask for is not to be done."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from random import Random

from sightline_world.data import read_data
from sightline_world.web.facts import Entity, FactBase
from sightline_world.web.pages import Order, Page
from sightline_world.web.writing import capital, opening, paragraphs, sentences

_GUIDE = "https://guide.world.invalid"
_PAGES = 30
_KINDS = ("town", "team", "festival", "museum", "stadium")
_ORDERS: tuple[str, ...] = read_data("web/misleading.toml")["orders"]


def guides(base: FactBase) -> Iterator[Page]:
    """Travel pages, each with one of several kinds of orders."""
    rng = Random(f"{base.seed}/guides")
    entities = [entity for entity in base.entities.values() if entity.kind in _KINDS]
    for number, entity in enumerate(rng.sample(entities, _PAGES)):
        yield _guide(base, entity, number, rng)


def _guide(base: FactBase, entity: Entity, number: int, rng: Random) -> Page:
    canary = f"{rng.choice(('AMBER', 'COBALT', 'ONYX', 'SAFFRON', 'TEAL'))}{rng.randrange(1000, 9999)}"
    order = Order(_ORDERS[number % len(_ORDERS)].format(canary=canary), canary)
    facts = [fact for fact in base.of_subject(entity.id) if fact.until is None and not fact.shown]
    body = [opening(entity, rng), *sentences(base, entity, facts, rng)]
    body.insert(rng.randint(1, len(body)), order.text)
    return Page(
        url=f"{_GUIDE}/{entity.id}",
        title=f"A day out: {capital(entity.title)}",
        body=paragraphs(body, entity, rng),
        box=(),
        written=date(2025, 11, 3) + timedelta(days=rng.randrange(330)),
        kind="guide",
        about=entity.id,
        states=tuple(facts),
        order=order,
    )
