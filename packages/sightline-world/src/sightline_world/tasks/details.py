"""Questions about a detail of one picture: small letters, a count of small things, what is on a far head, in a hand.

With what all makers of `answer` share: a question about a picture, its answer, and the steps that lead to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sightline.english import article, number_word
from sightline.types import Box, Json, PictureRef, Step, StepKind
from sightline_world.data import read_data
from sightline_world.draw.kinds import HOLDS
from sightline_world.draw.places import PLACES
from sightline_world.scene import SCENE_COLOURS, Figure, SceneGraph, Sign, Thing
from sightline_world.tasks.album import TaskAlbum, area, is_noticed, is_readable
from sightline_world.tasks.phrases import Templates, pick
from sightline_world.tasks.task import Lot
from sightline_world.truth import ShotTruth
from sightline_world.vocabulary import HEADGEAR_WORDS, KIND_NOUNS, noun_of

_SMALL_AREA = 0.02
"""What covers less of the picture is a small detail."""
_GLANCE_PX, _LETTER_PX = 320, 5.0
"""Letters lower than 5 px where the picture is seen at 320 px can't be read there, but in the file (docs/world-tasks:
14 % against 90 %, from 5 px on 93 %). Small things and people are seen as well at 320 px as in a part of the file, so
no question about them needs a closer look.
"""
_HEAD = 0.3
"""Share of a person's height that has hair and headgear in it."""
TEMPLATES: Mapping[str, Templates] = read_data("tasks/templates.toml")["details"]
_EASY = 0.2
"""Up to this difficulty the detail may be large, too."""
_TWO = 0.2
"""Two are by far the most frequent, so that of those questions only this share is asked: else a guess would do."""
_COUNTS = 4
"""How many different counts there are to guess from, about."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one picture; `chance` is how often a guess without it is right.

    `about` says for a machine what the words speak of, so that the answer can be derived again.
    `zoom`, `search` and `web` say what can't be done without: a closer look, other pictures, the offline web.
    """

    template: str
    picture: int
    text: str
    answer: str
    aliases: tuple[str, ...]
    steps: tuple[Step, ...]
    chance: float
    about: Mapping[str, Json]
    hops: int = 0
    zoom: bool = False
    search: bool = False
    web: bool = False


def step(album: TaskAlbum, kind: StepKind, text: str, *regions: tuple[int, Box | None]) -> Step:
    """A step that speaks of regions of pictures, given by their numbers."""
    return Step(kind, text, tuple(PictureRef(album.shots[number].id, box) for number, box in regions))


def conclusion(answer: str) -> Step:
    return Step("conclusion", answer)


def is_small(box: Box) -> bool:
    """Whether it is a small detail."""
    return area(box) < _SMALL_AREA


def needs_zoom(shot: ShotTruth, sign: Sign) -> bool:
    """Whether one has to look closer to read it, decided by an ablation."""
    return sign.letter_px * _GLANCE_PX / max(shot.width, shot.height) < _LETTER_PX


def head(figure: Figure) -> Box:
    """Where a person's headgear is."""
    box = figure.box
    return Box(box.left, box.top, box.right, round(box.top + _HEAD * (box.bottom - box.top), 4))


def colour_aliases(colour: str) -> tuple[str, ...]:
    return ("gray",) if colour == "grey" else ()


def count_aliases(count: int) -> tuple[str, ...]:
    return (number_word(count),)


def kind_aliases(kind: str, colour: str) -> tuple[str, ...]:
    """Other names of a thing, and the thing with its colour."""
    return (*KIND_NOUNS[kind].others, f"{colour} {kind}", *(f"{colour} {other}" for other in KIND_NOUNS[kind].others))


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
        zoom=needs_zoom(lot.album.shots[number], sign),
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
        small = any(is_small(thing.box) for thing in these)
        if (not small and lot.difficulty > _EASY) or (len(these) == 2 and lot.rng.random() > _TWO):
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
        return Question(
            "headgear",
            number,
            text,
            colour,
            colour_aliases(colour),
            steps,
            1 / len(SCENE_COLOURS),
            {"coat": figure.coat},
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
        if not is_small(thing.box) and lot.difficulty > _EASY:
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
        return Question("in the hand", number, text, thing.kind, aliases, steps, chance, about)
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
