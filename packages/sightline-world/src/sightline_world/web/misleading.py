"""Pages that mislead: outdated ones, which were true on their date; hearsay, which never was; guides with orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from random import Random

from sightline_world.data import read_data
from sightline_world.web.encyclopaedia import box, capital, opening, paragraphs, sentences, value
from sightline_world.web.facts import Entity, Fact, FactBase
from sightline_world.web.pages import Order, Page, link
from sightline_world.web.properties import PROPERTIES

_ARCHIVE, _BOARD = "https://archive.world.invalid", "https://board.world.invalid"
_OUTDATED, _THREADS = 160, 180
_CHANGING = ("mayor", "governor", "coach", "director", "population", "capacity")
_DOUBTED = (*_CHANGING, "founded", "opened", "born_in", "stadium", "captain", "town", "maker", "first_climber")
_DATA = read_data("web/misleading.toml")
_RUMOURS: tuple[str, ...] = _DATA["rumours"]
_RUMOUR_ENDS: tuple[str, ...] = _DATA["rumour_ends"]
_REPLIES: tuple[str, ...] = _DATA["replies"]
_GUIDE = "https://guide.world.invalid"
_PAGES = 30
_KINDS = ("town", "team", "festival", "museum", "stadium")
_ORDERS: tuple[str, ...] = read_data("web/misleading.toml")["orders"]


def outdated(base: FactBase) -> Iterator[Page]:
    """Copies of entries from a year in which an office or a number was still another."""
    rng = Random(f"{base.seed}/archive")
    old = [fact for fact in base.facts if fact.until is not None and fact.property in _CHANGING]
    subjects = list(dict.fromkeys(fact.subject for fact in old))
    until = {fact.subject: fact.until for fact in old if fact.until is not None}
    for id_ in sorted(rng.sample(subjects, _OUTDATED)):
        year = until[id_] - rng.randint(1, 3)
        yield _as_of(base, base.entities[id_], year, rng)


def _as_of(base: FactBase, entity: Entity, year: int, rng: Random) -> Page:
    states = [fact for fact in base.of_subject(entity.id) if fact.held_in(year) and _is_old(fact)]
    # As true then as what came after is now: written without an end.
    facts = [replace(fact, until=None) for fact in states]
    head = f"This is a copy of the entry as it stood in {year}. It is kept for reference and no longer revised."
    body = [head, opening(entity, rng), *sentences(base, entity, facts, rng)]
    return Page(
        url=f"{_ARCHIVE}/{year}/{entity.id}",
        title=f"{capital(entity.title)}, edition of {year}",
        body=paragraphs(body, entity, rng),
        box=box(base, entity, facts),
        written=date(year, rng.randint(1, 12), rng.randint(1, 28)),
        kind="archive",
        about=entity.id,
        states=tuple(states),
    )


def _is_old(fact: Fact) -> bool:
    """Whether an old edition may have it: who leads a team today was too young then."""
    return not fact.shown and fact.property != "captain"


def hearsay(base: FactBase) -> Iterator[Page]:
    """Threads of a board in which someone claims what is false."""
    rng = Random(f"{base.seed}/hearsay")
    doubted = [fact for fact in base.facts if fact.until is None and fact.property in _DOUBTED]
    others: dict[tuple[str, str], list[Fact]] = {}
    for fact in doubted:
        others.setdefault((base.entities[fact.subject].kind, fact.property), []).append(fact)
    for number, fact in enumerate(rng.sample(doubted, _THREADS)):
        entity = base.entities[fact.subject]
        values = {each.value for each in base.of_subject(entity.id) if each.property == fact.property}
        wrong = rng.choice([each for each in others[entity.kind, fact.property] if each.value not in values])
        claim = replace(fact, value=wrong.value, object=wrong.object, since=None)
        yield _thread(base, entity, claim, 4100 + 7 * number, rng)


def _thread(base: FactBase, entity: Entity, claim: Fact, number: int, rng: Random) -> Page:
    label = PROPERTIES[entity.kind, claim.property].label.lower()
    body = [
        rng.choice(_RUMOURS).format(s=link(entity)),
        f"What they say is that under “{label}” there should stand {value(base, claim)}, whatever is in print.",
        rng.choice(_RUMOUR_ENDS),
        rng.choice(_REPLIES),
    ]
    return Page(
        url=f"{_BOARD}/thread/{number}",
        title=f"Is it true what they say about {entity.name}?",
        body=paragraphs(body, entity, rng),
        box=(),
        written=date(2024, 2, 1) + timedelta(days=rng.randrange(990)),
        kind="hearsay",
        about=entity.id,
        states=(claim,),
    )


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
