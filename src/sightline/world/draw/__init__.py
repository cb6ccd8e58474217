"""Pictures drawn in code: places, lights, and things in them whose truth is known."""

from sightline.world.draw.catalogue import KINDS, PLACES
from sightline.world.draw.compose import Drawing, Plan, Wish, draw
from sightline.world.draw.palette import COLOURS, LIGHTS
from sightline.world.draw.pen import Note

__all__ = ["COLOURS", "KINDS", "LIGHTS", "PLACES", "Drawing", "Note", "Plan", "Wish", "draw"]
