"""The built-in world's words, and what is in one of its pictures: as truth, or as a model sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline.class_names import known_as
from sightline.types.corpus import Box
from sightline_world.data import read_data

_WORDS = read_data("scene.toml")
SCENE_PLACES: tuple[str, ...] = _WORDS["places"]
SCENE_LIGHTS: tuple[str, ...] = _WORDS["lights"]
SCENE_COLOURS: tuple[str, ...] = _WORDS["colours"]
SCENE_SIZES: tuple[str, ...] = _WORDS["sizes"]
SCENE_KINDS: tuple[str, ...] = tuple(kind for group in _WORDS["kinds"].values() for kind in group)
HAIR: tuple[str, ...] = _WORDS["hair"]
HEADGEAR: tuple[str, ...] = _WORDS["headgear"]

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
