"""What should be in a picture: a plan, before anything has its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from sightline.class_names import known_as
from sightline_world.draw.camera import PLAIN_CAMERA, Camera
from sightline_world.scene import Relation

Pose: TypeAlias = Literal["standing", "walking", "running", "waving", "cheering", "holding"]
POSES: tuple[Pose, ...] = ("standing", "walking", "running", "waving", "cheering", "holding")
SignStyle: TypeAlias = Literal["post", "shop", "banner", "frame"]
SIZE_FACTORS: Mapping[str, float] = MappingProxyType({"small": 1 / 1.5, "medium": 1.0, "large": 1.5})
"""How much larger or smaller than usual a thing is."""


@known_as("Spot")
@dataclass(frozen=True, slots=True)
class Spot:
    """A pinned spot: shares of its zone from the left and from the top, and a number that decides pose and flip."""

    u: float
    v: float
    look: int


@known_as("ThingWish")
@dataclass(frozen=True, slots=True)
class ThingWish:
    """One thing that should be there; several alike are several wishes. `name` is its lasting identity."""

    kind: str
    colour: str
    size: str = "medium"
    name: str | None = None
    spot: Spot | None = None


@known_as("PersonWish")
@dataclass(frozen=True, slots=True)
class PersonWish:
    """Someone with lasting looks, today's coat and a pose; who holds something is drawn `holding`."""

    coat: str
    hair: str = "brown"
    headgear: str = "none"
    headgear_colour: str | None = None
    pose: Pose = "standing"
    name: str | None = None
    spot: Spot | None = None


@known_as("SignWish")
@dataclass(frozen=True, slots=True)
class SignWish:
    """A sign with one or two words of at most nine capital letters each; `size` is that of the letters."""

    words: str
    style: SignStyle = "post"
    size: str = "medium"
    dark: bool = False
    spot: Spot | None = None


@known_as("ScenePlan")
@dataclass(frozen=True, slots=True)
class ScenePlan:
    """All that decides how a picture looks; equal plans give equal pixels.

    Things, people and signs have the ids t0, t1, …, p0, …, s0, … in their order; wished relations speak of these.
    `moment` counts the frames of a burst: the camera shakes, and things of the kind `moving` go on by `step` each time.
    """

    place: str
    light: str
    variant: int = 0
    things: tuple[ThingWish, ...] = ()
    people: tuple[PersonWish, ...] = ()
    signs: tuple[SignWish, ...] = ()
    relations: tuple[Relation, ...] = ()
    size: tuple[int, int] = (320, 240)
    camera: Camera = PLAIN_CAMERA
    seed: str = ""
    moment: int = 0
    moving: str | None = None
    step: float = 0.0
    score: tuple[int, int] | None = None
    candles: int = 5

    def spot(self, name: str) -> Spot | None:
        """The spot to which the wish with that id is pinned."""
        number = int(name[1:])
        if name[0] == "t":
            return self.things[number].spot
        return self.people[number].spot if name[0] == "p" else self.signs[number].spot

    def pinned(self, spots: Mapping[str, Spot]) -> ScenePlan:
        """The same plan with these ids pinned to these spots."""
        return replace(
            self,
            things=tuple(replace(w, spot=spots.get(f"t{number}", w.spot)) for number, w in enumerate(self.things)),
            people=tuple(replace(w, spot=spots.get(f"p{number}", w.spot)) for number, w in enumerate(self.people)),
            signs=tuple(replace(w, spot=spots.get(f"s{number}", w.spot)) for number, w in enumerate(self.signs)),
        )
