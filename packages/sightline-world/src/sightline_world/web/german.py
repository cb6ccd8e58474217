"""The second language: some entries in German, which say the same as the English ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from random import Random
from types import MappingProxyType

from sightline_world.web.facts import SITE, Entity, Fact, FactBase
from sightline_world.web.pages import Page
from sightline_world.web.writing import FEWEST_WORDS, count_words, value

_PAGES = 120
_KINDS = ("town", "team", "mountain")
_OPENINGS = {
    "town": "{s} ist eine Stadt, der dieser kurze Eintrag gilt.",
    "team": "{s} ist eine Fußballmannschaft mit treuen Anhängern.",
    "mountain": "{s} ist ein Berg, den man an klaren Tagen schon von Weitem sieht.",
}
# Label and sentence; articles are avoided, since invented names have no gender.
_SAYS: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType(
    {
        ("town", "region"): ("Region", "Die Stadt gehört zur Region {v}."),
        ("town", "mayor"): ("Bürgermeisteramt", "Das Bürgermeisteramt hat seit {since} {v} inne."),
        ("town", "population"): ("Einwohner", "Bei der Zählung von {since} hatte {s} {v} Einwohner."),
        ("town", "founded"): ("Gründung", "Gegründet wurde {s} im Jahr {v}."),
        ("town", "altitude"): ("Höhe", "Der Marktplatz liegt {v} über dem Meer."),
        ("town", "twin"): ("Partnerstadt", "Die Partnerstadt heißt {v}."),
        ("town", "station"): ("Bahnhof", "Der Bahnhof wurde {v} eröffnet."),
        ("team", "town"): ("Heimatstadt", "Zu Hause ist die Mannschaft in {v}."),
        ("team", "stadium"): ("Stadion", "Gespielt wird im Stadion {v}."),
        ("team", "coach"): ("Trainer", "Das Training leitet seit {since} {v}."),
        ("team", "captain"): ("Spielführung", "Auf dem Platz führt {v} die Mannschaft an."),
        ("team", "founded"): ("Gründung", "Den Verein gibt es seit {v}."),
        ("team", "rival"): ("Rivale", "Kein Spiel zählt mehr als das gegen {v}."),
        ("mountain", "region"): ("Region", "Der Berg steht in der Region {v}."),
        ("mountain", "height"): ("Höhe", "Der Gipfel liegt {v} über dem Meer."),
        ("mountain", "first_climber"): ("Erstbesteigung", "Zuerst stand {v} auf dem Gipfel."),
        ("mountain", "first_climbed"): ("Jahr der Erstbesteigung", "Das war im Jahr {v}."),
    }
)
_CLOSINGS = (
    "Der Eintrag wurde für diese Ausgabe durchgesehen und wird laufend ergänzt.",
    "Mehr dazu steht in den Lesesälen der größeren Bibliotheken.",
    "Wer mehr weiß, wird gebeten, der Redaktion zu schreiben, die jeden Brief prüft.",
    "Im Frühling kommen Schulklassen, im Herbst kommen Fotografen.",
    "Wie alle Einträge ist auch dieser mit Absicht kurz und führt zu anderen weiter.",
    "Ältere Bücher schreiben den Namen anders, doch das ist nicht mehr üblich.",
)


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
