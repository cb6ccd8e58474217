"""Captions of pages' pictures: what one searches pictures by, never what only the picture tells."""

from __future__ import annotations

from sightline_world.vocabulary import HEADGEAR_WORDS, KIND_NOUNS
from sightline_world.web.facts import Entity


def caption_of(entity: Entity) -> str:
    """One line under the picture."""
    if entity.looks is not None:
        looks = entity.looks
        hat = f"{looks.headgear_colour} {HEADGEAR_WORDS[looks.headgear]}"
        return f"{entity.name}, {entity.note}: {looks.hair} hair, {hat}, {looks.coat} coat"
    if entity.colours is not None:
        kit = entity.colours
        hat = f"{kit.headgear_colour} {HEADGEAR_WORDS[kit.headgear]}"
        return f"Players of {entity.name} in {kit.shirt} with {hat}"
    if entity.kind == "town":
        return f"A mailbox beside the town sign of {entity.name}"
    if entity.kind == "region":
        return f"Flags of {entity.name}"
    if entity.kind == "painting":
        return f"The painting {entity.name}"
    nouns = entity.shape if entity.kind == "product" else KIND_NOUNS[entity.shape].plural
    return f"{entity.name}: {nouns}"
