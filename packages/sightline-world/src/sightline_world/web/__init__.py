"""An offline encyclopaedia and web about the world: a fact base, the pages that state it, search, and fact chains."""

from sightline_world.web.chains import Chain, Hop, chains, chains_from
from sightline_world.web.fact_base import make_facts
from sightline_world.web.facts import Entity, Fact, FactBase
from sightline_world.web.index import PageHit, PictureHit
from sightline_world.web.offline_web import WorldWeb, world_web
from sightline_world.web.pages import Order, Page, PageLink

__all__ = [
    "Chain",
    "Entity",
    "Fact",
    "FactBase",
    "Hop",
    "Order",
    "Page",
    "PageHit",
    "PageLink",
    "PictureHit",
    "WorldWeb",
    "chains",
    "chains_from",
    "make_facts",
    "world_web",
]
