"""Properties of the encyclopaedia's entities: how each is said in a page, asked for, and followed to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sightline_world.data import read_data
from sightline_world.web.facts import EntityKind


@dataclass(frozen=True, slots=True)
class Property:
    """One property of the entities of a kind; every entity has at most one value that is true now.

    `says` are sentences about a subject `{s}` with value `{v}` (and `{since}`); `phrase` and `ask` lead from `{x}` to
    the value, as a noun phrase and as a question. `back` and `back_ask` lead the other way, from the value to the
    subject. `lists` opens the list of subjects on the page of the object `{o}`. `was` tells of an earlier value.
    """

    kind: EntityKind
    name: str
    label: str
    says: tuple[str, ...]
    phrase: str
    ask: str
    back: str = ""
    back_ask: str = ""
    lists: str = ""
    was: str = ""


_ALL = tuple(Property(**each) for each in read_data("web/properties.toml")["property"])
PROPERTIES: Mapping[tuple[str, str], Property] = MappingProxyType({(each.kind, each.name): each for each in _ALL})
"""By kind of subject and name, in the order in which a page tells them."""
