"""A short answer to a question, and what questions have in common."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sightline_world.models.chat.checking import Item, colour_of, describe, kind_of, matching
from sightline_world.models.chat.claims import Exists, Meant, Related, Wanted
from sightline_world.models.chat.forms import without_form
from sightline_world.models.chat.grammar import understand
from sightline_world.models.chat.seeing import Seen
from sightline_world.scene import Thing
from sightline_world.vocabulary import phrase

CANNOT = "I can't tell: I only know the places, lights, things, people and signs of the built-in world."
_SENTENCE = re.compile(r"[^.?!\n]*\?")
_TAG = re.compile(r"(?:is (?:this|that|it) )?(?:true or false|yes or no|true|correct|right)\s*\?", re.IGNORECASE)
YES_NO = re.compile(
    r"^(?:and |so |now |then )?(?:is|are|was|were|does|do|did|can|could|has|have|will|would)\b"
    r"|\byes or no\b|\btrue or false\b"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A short answer, how sure it is, and what led to it; `known` is false where the question is beyond the model."""

    text: str
    sure: float
    why: str
    known: bool = True


def the_question(text: str) -> str:
    """The sentence that asks: the last one with a question mark, else the last paragraph that is about content."""
    text = without_form(text)
    asked = [found[0].strip() for found in _SENTENCE.finditer(text) if found[0].strip(" ?")]
    if asked and _TAG.fullmatch(asked[-1]):
        return " ".join(text.split())
    if asked:
        return asked[-1]
    paragraphs = [part.strip() for part in text.strip().split("\n\n") if part.strip()]
    return paragraphs[-1] if paragraphs else ""


def full_question(text: str) -> str:
    """The question, with the sentence before it where only that names a thing: `Look at the cups. How many?`."""
    text = without_form(text)
    question = the_question(text)
    before = text[: text.find(question)].strip() if question in text else ""
    sentences = [part.strip() for part in re.split(r"(?<=[.!:])\s+|\n", before) if part.strip()]
    if understand(question).wanted or not sentences or not understand(sentences[-1]).wanted:
        return question
    return f"{sentences[-1]} {question}"


def narrowed(wanted: Wanted, meant: Meant, seen: Seen) -> list[Item]:
    """What fits the description and all relations that the text gives it."""
    graph = seen.reading.graph
    region = next((c.region for c in meant.claims if isinstance(c, Exists) and c.wanted == wanted), "")
    found = matching(wanted, graph, region)
    for claim in meant.claims:
        if not isinstance(claim, Related) or wanted not in (claim.subject, claim.object):
            continue
        others = {item.id for item in matching(claim.object if wanted == claim.subject else claim.subject, graph)}
        pairs = [
            (r.subject, r.object) if wanted == claim.subject else (r.object, r.subject)
            for r in graph.relations
            if r.predicate == claim.predicate
        ]
        related = {mine for mine, other in pairs if other in others}
        found = [item for item in found if item.id in related]
    return found


def named(item: Item) -> str:
    """A thing by kind and colour, a person by looks, a sign by its words."""
    return phrase(kind_of(item), colour_of(item) or None) if isinstance(item, Thing) else describe(item)
