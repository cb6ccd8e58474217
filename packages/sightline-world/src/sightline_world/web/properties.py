"""All properties, by kind of subject and name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sightline_world.web.about_culture import CULTURE
from sightline_world.web.about_people import PEOPLE
from sightline_world.web.about_places import PLACES
from sightline_world.web.about_sport import SPORT
from sightline_world.web.about_trade import TRADE
from sightline_world.web.property import Property

PROPERTIES: Mapping[tuple[str, str], Property] = MappingProxyType(
    {(each.kind, each.name): each for each in (*PLACES, *PEOPLE, *SPORT, *CULTURE, *TRADE)}
)
"""In the order in which a page tells them."""
