"""What the makers of `answer` share: a question about a picture, its answer, and the steps that lead to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sightline.english import number_word
from sightline.types import Box, Json, PictureRef, Step, StepKind
from sightline_world.scene import Figure, Sign
from sightline_world.tasks.album import Album
from sightline_world.tasks.traits import area
from sightline_world.vocabulary import KIND_NOUNS

ZOOM_AREA, ZOOM_PX = 0.02, 14.0
"""A detail needs a closer look when it covers less of the picture, or when letters are lower in pixels, than this."""
_HEAD = 0.3
"""Share of a person's height that has hair and headgear in it."""


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


def step(album: Album, kind: StepKind, text: str, *regions: tuple[int, Box | None]) -> Step:
    """A step that speaks of regions of pictures, given by their numbers."""
    return Step(kind, text, tuple(PictureRef(album.shots[number].id, box) for number, box in regions))


def conclusion(answer: str) -> Step:
    return Step("conclusion", answer)


def is_small(box: Box) -> bool:
    """Whether one has to look closer."""
    return area(box) < ZOOM_AREA


def needs_zoom(sign: Sign) -> bool:
    """Whether one has to look closer to read it."""
    return sign.letter_px < ZOOM_PX or is_small(sign.box)


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
