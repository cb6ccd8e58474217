"""Questions about a detail of one picture: small letters, a count of small things, what is on a far head, in a hand."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sightline.english import article
from sightline.types import Json
from sightline_world.draw.carrying import HOLDS
from sightline_world.draw.places import PLACES
from sightline_world.scene import SCENE_COLOURS, Figure, SceneGraph, Thing
from sightline_world.tasks.made import Lot
from sightline_world.tasks.phrases import Templates, pick
from sightline_world.tasks.questions import (
    Question,
    colour_aliases,
    conclusion,
    count_aliases,
    head,
    is_small,
    kind_aliases,
    needs_zoom,
    step,
)
from sightline_world.tasks.traits import area, is_noticed, is_readable
from sightline_world.vocabulary import HEADGEAR_WORDS, noun_of

TEMPLATES: Mapping[str, Templates] = MappingProxyType(
    {
        "read a sign": {
            "training": ("What does the sign say?", "Which words are on the sign?"),
            "held-out": ("Please read out what is written on the sign.",),
        },
        "count": {
            "training": ("How many {things} are in the picture?", "How many {things} can you see?"),
            "held-out": ("Count the {things} here. What number do you get?",),
        },
        "headgear": {
            "training": ("What colour is the {worn} of the person in {coat}?",),
            "held-out": ("Someone here has {coat} on. In which colour is that person's {worn}?",),
        },
        "in the hand": {
            "training": ("What is the person in {coat} holding?",),
            "held-out": ("Look at whoever has {coat} on: what is in that person's hand?",),
        },
    }
)
_EASY = 0.2
"""Up to this difficulty the detail may be large, too."""
_TWO = 0.2
"""Two are by far the most frequent, so that of those questions only this share is asked: else a guess would do."""
_COUNTS = 4
"""How many different counts there are to guess from, about."""


def most_hidden(lot: Lot) -> float:
    """How much of what is asked about may be hidden."""
    return 0.1 + 0.3 * lot.difficulty


def read_sign(lot: Lot, number: int) -> Question | None:
    """Small letters of the only sign."""
    graph = lot.album.shots[number].graph
    largest = 26 - 12 * lot.difficulty
    if len(graph.signs) != 1 or not is_readable(graph.signs[0]) or graph.signs[0].letter_px > largest:
        return None
    sign = graph.signs[0]
    return Question(
        "read a sign",
        number,
        pick(TEMPLATES["read a sign"], lot.family, lot.rng),
        sign.words,
        (),
        (step(lot.album, "text-to-region", "The sign is here.", (number, sign.box)), conclusion(sign.words)),
        chance=0.0,
        about={},
        zoom=needs_zoom(sign),
    )


def count(lot: Lot, number: int) -> Question | None:
    """Several small things of a kind, all of them plain to see."""
    graph = lot.album.shots[number].graph
    for kind in lot.rng.sample(kinds := sorted({thing.kind for thing in graph.things}), len(kinds)):
        these = [thing for thing in graph.things if thing.kind == kind]
        if len(these) < 2 or kind in PLACES[graph.place].scenery_kinds:
            continue
        if not all(is_noticed(thing) and thing.hidden <= most_hidden(lot) for thing in these):
            continue
        zoom = any(is_small(thing.box) for thing in these)
        if (not zoom and lot.difficulty > _EASY) or (len(these) == 2 and lot.rng.random() > _TWO):
            continue
        answer = str(len(these))
        text = pick(TEMPLATES["count"], lot.family, lot.rng).format(things=noun_of(kind, 2))
        regions = [(number, thing.box) for thing in these]
        return Question(
            "count",
            number,
            text,
            answer,
            count_aliases(len(these)),
            (step(lot.album, "text-to-region", f"Each {kind} is in one of these.", *regions), conclusion(answer)),
            chance=1 / _COUNTS,
            about={"kind": kind},
            zoom=zoom,
        )
    return None


def headgear(lot: Lot, number: int) -> Question | None:
    """The colour of what a person far away has on, told by the coat."""
    graph = lot.album.shots[number].graph
    most = 0.08 - 0.05 * lot.difficulty
    for figure in told_by_coat(graph, most_hidden(lot)):
        if figure.headgear == "none" or figure.headgear_colour is None or area(figure.box) > most:
            continue
        worn, colour = HEADGEAR_WORDS[figure.headgear], figure.headgear_colour
        text = pick(TEMPLATES["headgear"], lot.family, lot.rng).format(worn=worn, coat=coat_of(figure))
        steps = (
            step(lot.album, "text-to-region", f"The person in {coat_of(figure)} is here.", (number, figure.box)),
            step(lot.album, "text-to-region", f"The {worn} is at the top.", (number, head(figure))),
            conclusion(colour),
        )
        zoom = is_small(head(figure))
        return Question(
            "headgear",
            number,
            text,
            colour,
            colour_aliases(colour),
            steps,
            1 / len(SCENE_COLOURS),
            {"coat": figure.coat},
            zoom=zoom,
        )
    return None


def in_the_hand(lot: Lot, number: int) -> Question | None:
    """What a person holds, told by the coat."""
    graph = lot.album.shots[number].graph
    things = {thing.id: thing for thing in graph.things if is_noticed(thing)}
    for figure in told_by_coat(graph, most_hidden(lot)):
        held = held_by(figure, graph)
        if len(held) != 1 or held[0].id not in things or held[0].hidden > most_hidden(lot):
            continue
        thing = held[0]
        zoom = is_small(thing.box)
        if not zoom and lot.difficulty > _EASY:
            continue
        text = pick(TEMPLATES["in the hand"], lot.family, lot.rng).format(coat=coat_of(figure))
        steps = (
            step(lot.album, "text-to-region", f"The person in {coat_of(figure)} is here.", (number, figure.box)),
            step(lot.album, "region-to-region", "This is in the hand.", (number, figure.box), (number, thing.box)),
            conclusion(thing.kind),
        )
        aliases = kind_aliases(thing.kind, thing.colour)
        chance = 1 / len(HOLDS)
        about: dict[str, Json] = {"coat": figure.coat}
        return Question("in the hand", number, text, thing.kind, aliases, steps, chance, about, zoom=zoom)
    return None


def held_by(figure: Figure, graph: SceneGraph) -> list[Thing]:
    """The things in a person's hands."""
    held = {each.object for each in graph.relations if each.predicate == "holding" and each.subject == figure.id}
    return [thing for thing in graph.things if thing.id in held]


def told_by_coat(graph: SceneGraph, hidden: float = 0.3) -> list[Figure]:
    """People who are plain to see and the only ones with a coat of that colour."""
    coats = [figure.coat for figure in graph.figures]
    return [
        figure
        for figure in graph.figures
        if coats.count(figure.coat) == 1 and is_noticed(figure) and figure.hidden <= hidden
    ]


def coat_of(figure: Figure) -> str:
    """ "an orange coat"."""
    return f"{article(figure.coat)} {figure.coat} coat"
