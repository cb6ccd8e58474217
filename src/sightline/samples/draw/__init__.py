"""Pictures drawn in code: places, lights, and things in them whose truth is known."""

from sightline.samples.draw.catalogue import KINDS, PLACES
from sightline.samples.draw.compose import Drawing, Plan, Wish, draw
from sightline.samples.draw.palette import COLOURS, LIGHTS
from sightline.samples.draw.pen import Note

__all__ = ["COLOURS", "KINDS", "LIGHTS", "PLACES", "Drawing", "Note", "Plan", "Wish", "draw"]
