"""What can be put on what, and what can be held: with the measures that it takes to draw that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sightline_world.draw.kinds import KINDS
from sightline_world.draw.places import Habitat


@dataclass(frozen=True, slots=True)
class Support:
    """A surface: how far below the thing's top it lies (share of the height), and which share of the width is flat."""

    surface: float
    room: float


@dataclass(frozen=True, slots=True)
class Hold:
    """How something is held: its height then, where the hand grips it (0 at its top), whether it hangs down."""

    metres: float
    grip: float
    hangs: bool = False


SUPPORTS: Mapping[str, Support] = MappingProxyType(
    {
        "bench": Support(0.52, 0.8),
        "sled": Support(0.45, 0.7),
        "suitcase": Support(0.14, 0.6),
        "car": Support(0.05, 0.3),
        "truck": Support(0.04, 0.5),
        "bus": Support(0.03, 0.8),
        "mailbox": Support(0.02, 0.5),
    }
)

HOLDS: Mapping[str, Hold] = MappingProxyType(
    {
        "balloon": Hold(1.15, 1.0),
        "umbrella": Hold(1.35, 0.86),
        "flag": Hold(1.5, 0.84),
        "kite": Hold(1.1, 0.98),
        "ball": Hold(0.42, 0.55),
        "guitar": Hold(1.0, 0.60),
        "book": Hold(0.42, 0.62),
        "camera": Hold(0.34, 0.60),
        "mug": Hold(0.30, 0.60),
        "bottle": Hold(0.48, 0.55),
        "apple": Hold(0.24, 0.60),
        "cake": Hold(0.45, 0.95),
        "suitcase": Hold(0.62, 0.05, hangs=True),
        "bucket": Hold(0.48, 0.05, hangs=True),
    }
)

RIDERS = ("cat", "bird", "book", "mug", "bottle", "camera", "bucket", "ball", "teapot", "clock", "lamp", "cake", "bowl")
"""Kinds that may lie or sit on something."""

_PERCH = {"bird": 0.42, "ball": 0.42}


def carried_metres(kind: str, habitat: Habitat) -> float:
    """How high something is that lies on a thing of the ground; on a table it is as it always is there."""
    own = KINDS[kind]
    if habitat in own.habitats and habitat != "sky":
        return own.metres_in(habitat)
    return _PERCH.get(kind) or min(0.65, max(0.32, 2.2 * own.metres))
