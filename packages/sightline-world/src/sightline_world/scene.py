"""The built-in world's words, and what is in one of its pictures: as truth, or as a model sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline.class_names import known_as
from sightline.types.corpus import Box

SCENE_PLACES = (
    "beach",
    "forest",
    "lake",
    "snow",
    "garden",
    "street",
    "market",
    "harbour",
    "stadium",
    "kitchen",
    "station",
    "desert",
    "library",
    "playground",
)
SCENE_LIGHTS = ("day", "sunset", "night", "fog", "rain", "snowfall")
SCENE_COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "white", "black", "brown", "grey")
SCENE_SIZES = ("small", "medium", "large")
SCENE_KINDS = (
    # animals
    "dog",
    "cat",
    "horse",
    "cow",
    "sheep",
    "rabbit",
    "duck",
    "bird",
    # vehicles
    "bicycle",
    "car",
    "boat",
    "bus",
    "truck",
    "motorbike",
    "hot-air balloon",
    "plane",
    # things that stand or fly outdoors
    "tree",
    "house",
    "tent",
    "umbrella",
    "bench",
    "snowman",
    "flag",
    "kite",
    "balloon",
    "ball",
    "bucket",
    "sled",
    "mailbox",
    "suitcase",
    "guitar",
    # things on a table
    "mug",
    "apple",
    "cake",
    "bottle",
    "book",
    "teapot",
    "vase",
    "pear",
    "clock",
    "lamp",
    "bowl",
    "camera",
)
HAIR = ("black", "brown", "blond", "red", "grey")
HEADGEAR = ("none", "cap", "hat", "beanie")

Predicate: TypeAlias = Literal["left of", "behind", "on", "holding"]


@dataclass(frozen=True, slots=True)
class Thing:
    """One object: `box` is its visible part (fractions of the upright picture), `hidden` the share of it that is not.

    `name` is a lasting identity ("ana's bicycle") that truth knows and a model does not.
    """

    id: str
    kind: str
    colour: str
    size: str
    box: Box
    hidden: float = 0.0
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """One person: lasting looks (hair, headgear and its colour), today's coat, and who it is where that is known."""

    id: str
    hair: str
    headgear: str
    headgear_colour: str | None
    coat: str
    box: Box
    hidden: float = 0.0
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign and the words on it; `letter_px` is the height of its capital letters in pixels of the picture."""

    id: str
    words: str
    box: Box
    hidden: float = 0.0
    letter_px: float = 0.0


@known_as("Relation")
@dataclass(frozen=True, slots=True)
class Relation:
    """`subject` and `object` are ids of things, figures or signs in the same scene."""

    subject: str
    predicate: Predicate
    object: str


@dataclass(frozen=True, slots=True)
class SceneGraph:
    """All that a picture of the world shows."""

    place: str
    light: str
    things: tuple[Thing, ...] = ()
    figures: tuple[Figure, ...] = ()
    signs: tuple[Sign, ...] = ()
    relations: tuple[Relation, ...] = ()
