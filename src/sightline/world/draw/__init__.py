"""Pictures drawn in code: places, lights, and things in them whose truth is known."""

from sightline.world.draw.camera import Camera, jpeg
from sightline.world.draw.compose import Drawing, draw, pin
from sightline.world.draw.kinds import KINDS
from sightline.world.draw.palette import COLOURS, LIGHTS
from sightline.world.draw.pen import Note
from sightline.world.draw.places import PLACES
from sightline.world.draw.plan import PersonWish, ScenePlan, SignWish, Spot, ThingWish

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
