"""Pictures drawn in code: places, lights, and things in them whose truth is known."""

from sightline_world.draw.camera import Camera, jpeg
from sightline_world.draw.compose import Drawing, draw, pin
from sightline_world.draw.kinds import KINDS
from sightline_world.draw.palette import COLOURS, LIGHTS
from sightline_world.draw.pen import Note
from sightline_world.draw.places import PLACES
from sightline_world.draw.plan import PersonWish, ScenePlan, SignWish, Spot, ThingWish

__all__ = [
    "COLOURS",
    "KINDS",
    "LIGHTS",
    "PLACES",
    "Camera",
    "Drawing",
    "Note",
    "PersonWish",
    "ScenePlan",
    "SignWish",
    "Spot",
    "ThingWish",
    "draw",
    "jpeg",
    "pin",
]
