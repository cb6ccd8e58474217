"""Facts → the pages of the encyclopaedia, and some of them in German, which say the same as the English ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from random import Random

from sightline.english import article
from sightline_world.data import read_data
from sightline_world.vocabulary import HEADGEAR_WORDS, KIND_NOUNS
from sightline_world.web.facts import SITE, Entity, Fact, FactBase
from sightline_world.web.pages import Page, PagePicture, link, unlinked
from sightline_world.web.properties import PROPERTIES

FEWEST_WORDS = 60
_DATA = read_data("web/openings.toml")
_CLOSINGS: Mapping[str, tuple[str, ...]] = {
    kind: group["sentences"] for group in _DATA["closings"] for kind in group["kinds"]
}
"""By kind of entity; they come before those that fit any page."""
_ORDER = {key: number for number, key in enumerate(PROPERTIES)}
_FIRST_DAY, _DAYS = date(2026, 1, 5), 290
_PAGES = 120
_KINDS = ("town", "team", "mountain")
_GERMAN = read_data("web/german.toml")
_OPENINGS: Mapping[str, str] = _GERMAN["openings"]
_SAYS: Mapping[tuple[str, str], tuple[str, str]] = {
    (kind, name): said for kind, told in _GERMAN["says"].items() for name, said in told.items()
}
"""Label and sentence."""
_GERMAN_CLOSINGS: tuple[str, ...] = _GERMAN["closings"]


def caption_of(entity: Entity) -> str:
    """One line under the picture."""
    if entity.looks is not None:
        looks = entity.looks
        hat = f"{looks.headgear_colour} {HEADGEAR_WORDS[looks.headgear]}"
        return f"{entity.name}, {entity.note}: {looks.hair} hair, {hat}, {looks.coat} coat"
    if entity.colours is not None:
        kit = entity.colours
        hat = f"{kit.headgear_colour} {HEADGEAR_WORDS[kit.headgear]}"
        return f"Players of {entity.name} in {kit.shirt} with {hat}"
    if entity.kind == "town":
        return f"A mailbox beside the town sign of {entity.name}"
    if entity.kind == "region":
        return f"Flags of {entity.name}"
    if entity.kind == "painting":
        return f"The painting {entity.name}"
    nouns = entity.shape if entity.kind == "product" else KIND_NOUNS[entity.shape].plural
    return f"{entity.name}: {nouns}"


def entry(base: FactBase, entity: Entity) -> Page:
    """The encyclopaedia's page about an entity: all that is true of it now, and what was before."""
    rng = Random(f"{base.seed}/page/{entity.id}")
    told = [fact for fact in _in_order(base, entity) if not fact.shown]
    listed = dict(lists(base, entity))
    body = [
        opening(entity, rng),
        *sentences(base, entity, told, rng),
        *looks_of(entity),
        *(f"{title}: {', '.join(_subject_link(base, fact) for fact in facts)}." for title, facts in listed.items()),
    ]
    plan = base.pictures.get(entity.id)
    return Page(
        url=entity.url,
        title=capital(entity.title),
        body=paragraphs(body, entity, rng),
        box=box(base, entity, told),
        written=_FIRST_DAY + timedelta(days=rng.randrange(_DAYS)),
        kind="entry",
        about=entity.id,
        states=(*told, *(fact for facts in listed.values() for fact in facts)),
        picture=None if plan is None else PagePicture(plan, caption_of(entity)),
    )


def _in_order(base: FactBase, entity: Entity) -> list[Fact]:
    """Facts in the order of the properties, what is true now before what was."""
    facts = base.of_subject(entity.id)
    return sorted(facts, key=lambda fact: (_ORDER[entity.kind, fact.property], fact.until is not None))


def opening(entity: Entity, rng: Random) -> str:
    """What it is."""
    nouns = KIND_NOUNS[entity.shape].plural if entity.shape in KIND_NOUNS else ""
    sentence = rng.choice(_DATA["openings"][entity.kind])
    what = f"{article(entity.note)} {entity.note}"
    return capital(sentence.format(s=entity.name, what=what, shape=nouns, setting=_DATA["settings"].get(entity.shape)))


def sentences(base: FactBase, entity: Entity, facts: Sequence[Fact], rng: Random) -> Iterator[str]:
    """Each fact as a sentence."""
    for fact in facts:
        told = PROPERTIES[entity.kind, fact.property]
        words = told.was if fact.until is not None else rng.choice(told.says)
        yield capital(words.format(s=entity.short, v=value(base, fact), since=fact.since, until=fact.until))


def value(base: FactBase, fact: Fact) -> str:
    """The value, as a link where it has a page."""
    return fact.value if fact.object is None else link(base.entities[fact.object])


def box(base: FactBase, entity: Entity, facts: Sequence[Fact]) -> tuple[tuple[str, str], ...]:
    """The info box: what is true now, in a few words."""
    return tuple(
        (PROPERTIES[entity.kind, fact.property].label, value(base, fact)) for fact in facts if fact.until is None
    )


def lists(base: FactBase, entity: Entity) -> Iterator[tuple[str, tuple[Fact, ...]]]:
    """Headings with the facts that lead to this entity, where a property wants its subjects listed."""
    found: dict[str, list[Fact]] = defaultdict(list)
    for fact in base.to_object(entity.id):
        heading = PROPERTIES[base.entities[fact.subject].kind, fact.property].lists
        if heading and not fact.shown:
            found[heading if fact.until is None else f"Formerly {heading.lower()}"].append(fact)
    for heading, facts in found.items():
        yield heading, tuple(facts)


def _subject_link(base: FactBase, fact: Fact) -> str:
    """The fact's subject, and the years in which it held if it does no longer."""
    years = "" if fact.until is None else f" ({fact.since}–{fact.until})"
    return link(base.entities[fact.subject]) + years


def looks_of(entity: Entity) -> Iterator[str]:
    """What someone looks like, or what a team wears: what tells them from all others."""
    if entity.looks is not None:
        looks = entity.looks
        hat, coat = f"{looks.headgear_colour} {HEADGEAR_WORDS[looks.headgear]}", f"{looks.coat} coat"
        marks = f"{looks.hair} hair, {article(hat)} {hat} and {article(coat)} {coat}"
        yield f"{entity.short} is easily known by {marks}."
    if entity.colours is not None:
        kit = entity.colours
        hat = f"{kit.headgear_colour} {HEADGEAR_WORDS[kit.headgear]}"
        yield f"Its players wear {kit.shirt} with {article(hat)} {hat}, as no other team does."


def paragraphs(body: Sequence[str], entity: Entity, rng: Random) -> str:
    """Two paragraphs, with closing words where the page would be too short."""
    said = list(body)
    own = _CLOSINGS.get(entity.kind, ())
    any_page = _DATA["any_closings"]
    spare = [*rng.sample(own, len(own)), *rng.sample(any_page, len(any_page))]
    while count_words(said) < FEWEST_WORDS:
        said.append(spare.pop(0))
    half = (len(said) + 1) // 2
    return f"{' '.join(said[:half])}\n\n{' '.join(said[half:])}"


def count_words(said: Sequence[str]) -> int:
    """Words without links."""
    return len(unlinked(" ".join(said)).split())


def capital(sentence: str) -> str:
    """The sentence with a capital letter, also where it begins with a link."""
    at = next(number for number, letter in enumerate(sentence) if letter.isalnum())
    return sentence[:at] + sentence[at].upper() + sentence[at + 1 :]


def translations(base: FactBase) -> Iterator[Page]:
    """German pages about some towns, teams and mountains."""
    rng = Random(f"{base.seed}/german")
    entities = [entity for entity in base.entities.values() if entity.kind in _KINDS]
    for entity in rng.sample(entities, _PAGES):
        yield _page(base, entity, rng)


def _page(base: FactBase, entity: Entity, rng: Random) -> Page:
    told = [fact for fact in base.of_subject(entity.id) if fact.until is None and (entity.kind, fact.property) in _SAYS]
    said = [_OPENINGS[entity.kind].format(s=entity.name), *(_sentence(base, entity, fact) for fact in told)]
    for closing in rng.sample(_GERMAN_CLOSINGS, len(_GERMAN_CLOSINGS)):
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
