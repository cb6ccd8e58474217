"""Hops in words: as a noun phrase, as a question, as a step."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from sightline_world.vocabulary import KIND_NOUNS
from sightline_world.web.facts import Fact, FactBase
from sightline_world.web.properties import PROPERTIES

Direction: TypeAlias = Literal["forward", "back"]
START_PHRASES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("sign", "town"): "the town named on the sign",
        ("sign", "team"): "the team named on the sign",
        ("colours", "team"): "the team whose players are in the picture",
        ("looks", "person"): "the person in the picture",
    }
)
"""What a question calls its start, by what the picture shows of it and its kind."""
START_STEPS: Mapping[str, str] = MappingProxyType(
    {
        "sign": "The sign says {sign}: this is {name}.",
        "colours": "The colours are those of {name}.",
        "looks": "By the looks this is {name}.",
    }
)


def phrase(base: FactBase, fact: Fact, direction: Direction, *, asks: bool = False) -> str:
    """Where a fact leads from `{x}`: "the mayor of {x}", or as a question "Who is the mayor of {x}?"."""
    subject = base.entities[fact.subject]
    told = PROPERTIES[subject.kind, fact.property]
    if direction == "back":
        return told.back_ask if asks else told.back
    return (told.ask if asks else told.phrase).replace("{shape}", _shape(subject.kind, subject.shape))


def _shape(kind: str, shape: str) -> str:
    return KIND_NOUNS[shape].plural if shape in KIND_NOUNS and kind != "product" else shape


def sentence(text: str) -> str:
    """The text with a capital letter at its start."""
    return text[0].upper() + text[1:]
