"""An offline encyclopaedia and web about the world: a fact base, the pages that state it, search, and fact chains."""

from sightline_world.web.base import make_facts
from sightline_world.web.chains import Chain, Hop, chains, chains_from
from sightline_world.web.facts import Entity, Fact, FactBase
from sightline_world.web.index import Hit, PictureHit
from sightline_world.web.pages import Link, Order, Page
from sightline_world.web.web import WorldWeb, world_web

__all__ = [
    "Chain",
    "Entity",
    "Fact",
    "FactBase",
    "Hit",
    "Hop",
    "Link",
    "Order",
    "Page",
    "PictureHit",
    "WorldWeb",
    "chains",
    "chains_from",
    "make_facts",
    "world_web",
]
