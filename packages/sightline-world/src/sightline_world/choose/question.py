"""What a maker of questions gives: pictures with their truth, words between them, options, and what to say of them.

Orders of pictures as options: all four by lot, and only then the one that the pictures will be drawn for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from random import Random
from typing import TypeAlias

from PIL import Image

from sightline.types import Box
from sightline_world.scene import Figure, SceneGraph, Thing

Size: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class DrawnShot:
    """One picture: its pixels, all that they were drawn from, what they show in words and, of a scene, exactly."""

    image: Image.Image
    recipe: object
    caption: str
    graph: SceneGraph | None = None

    def box(self, name: str) -> Box:
        """Where the thing or person with that id is in a scene."""
        return next(item.box for item in shown_in(self.graph) if item.id == name)


def shown_in(graph: SceneGraph | None) -> list[Thing | Figure]:
    """The things and the people of a scene."""
    return [] if graph is None else [*graph.things, *graph.figures]


Piece: TypeAlias = str | DrawnShot
Region: TypeAlias = tuple[DrawnShot, Box | None]


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence and the regions of pictures that it speaks of."""

    text: str
    regions: tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A question with four options, of which only `right` is true; `numbered` options stay in their order.

    The other four say how one gets there: what is asked, which regions matter, how they compare, what follows.
    """

    prompt: tuple[Piece, ...]
    options: tuple[Piece, ...]
    right: int
    summary: str
    regions: Remark
    compared: Remark
    conclusion: str
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class QuestionBrief:
    """What a maker goes by: two lots, how hard (0 to 1), and the size of the pictures.

    `rng` decides all that can be read: the question, the options, and which of them is right. `lot` decides the rest.
    Where a draft fails, only `lot` is drawn anew: otherwise answers that are hard to draw would be right less often,
    and words alone would tell.
    """

    rng: Random
    lot: Random
    difficulty: float
    size: Size

    @property
    def unread(self) -> QuestionBrief:
        """For a part of the question of which nothing can be read."""
        return replace(self, rng=self.lot)

    def between(self, easy: float, hard: float) -> float:
        """A measure that goes from one value to another as it gets harder."""
        return easy + (hard - easy) * self.difficulty

    def count(self, easy: int, hard: int) -> int:
        """A whole number that does so."""
        return round(self.between(easy, hard))


Maker: TypeAlias = Callable[[QuestionBrief], ChoiceQuestion]


class NoLuckError(Exception):
    """A draft shows less than it should (something is hidden, two options look alike): another lot may do better."""


def require(holds: bool) -> None:
    """Give up a draft of which this does not hold."""
    if not holds:
        raise NoLuckError


def numbered(noun: str, shots: Sequence[DrawnShot]) -> list[Piece]:
    """ "Picture 1: " and the picture, "Picture 2: " and so on."""
    return [piece for number, shot in enumerate(shots, 1) for piece in (f"{noun} {number}: ", shot, "\n")]


def upper(words: str) -> str:
    """The words as the beginning of a sentence."""
    return words[0].upper() + words[1:]


def whole(shots: Iterable[DrawnShot]) -> tuple[Region, ...]:
    """The pictures as a whole, as regions."""
    return tuple((shot, None) for shot in shots)


def picture_options(count: int = 4) -> tuple[str, ...]:
    """ "picture 1" and so on, for a choice among the pictures of the prompt."""
    return tuple(f"picture {number}" for number in range(1, count + 1))


def order_options(wanted: QuestionBrief, count: int) -> tuple[list[tuple[int, ...]], int]:
    """Four orders of so many pictures and the right one: the harder, the more they have in common.

    Which of the four is right is drawn after them, so that no likeness among them gives it away.
    """
    rng = wanted.rng
    everything = list(permutations(range(count)))
    base = rng.choice(everything)
    pool = sorted(everything, key=lambda order: (_differing(order, base), rng.random()))
    keep = max(6, round(len(pool) * wanted.between(1.0, 0.25)))
    orders = rng.sample(pool[:keep], 4)
    return orders, rng.randrange(4)


def _differing(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(x != y for x, y in zip(a, b, strict=True))


def said_order(order: Sequence[int]) -> str:
    """ "3, 1, 2", counted from 1."""
    return ", ".join(str(place + 1) for place in order)
