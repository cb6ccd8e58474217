"""Numbered claims about a picture, each supported, contradicted or unclear by what is seen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from sightline.metrics.text.regions import regions_in, without_boxes
from sightline.types import Box
from sightline_world.models.chat.checking import check_all, items_of
from sightline_world.models.chat.grammar import understand
from sightline_world.models.chat.schema_parts import plain_schema, type_of
from sightline_world.models.reader import Reading

Found: TypeAlias = Literal["supported", "contradicted", "unclear"]
_WORDS: Mapping[Found, tuple[str, ...]] = {
    "supported": ("supported", "true", "yes", "correct", "entailed", "confirmed"),
    "contradicted": ("contradicted", "false", "no", "incorrect", "refuted", "wrong"),
    "unclear": ("unclear", "unknown", "unsure", "neutral", "not enough information", "cannot tell"),
}
_NUMBERED = re.compile(r"^[ \t]*(\d{1,3})[.):][ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
_MOST_UNKNOWN = 2
"""With more words than these that nobody here understands, who can say that a claim holds?"""
_SURE = 0.35
_EDGE = 0.05


def claims_in(text: str) -> dict[int, str]:
    """The claims of a numbered list, by number."""
    return {int(number): claim for number, claim in _NUMBERED.findall(text)}


def verdicts(schema: Mapping[str, Any], text: str, reading: Reading) -> dict[str, Any] | None:
    """A list of verdicts on the claims of the text, if that is what the schema asks for."""
    form = _form(schema)
    claims = claims_in(text)
    if form is None or not claims:
        return None
    field, number, verdict, words = form
    return {field: [{number: each, verdict: words[verify(claim, reading)]} for each, claim in claims.items()]}


def verify(claim: str, reading: Reading) -> Found:
    """What is seen of one claim; of one that names a part of the picture, in that part."""
    for box in regions_in(claim):
        reading = _within(reading, box)
    judged = check_all(understand(without_boxes(claim)), reading)
    if not judged.verdicts or len(judged.unknown) > _MOST_UNKNOWN:
        return "unclear"
    if judged.holds:
        return "supported"
    failing = max(verdict.sure for verdict in judged.verdicts if not verdict.holds)
    return "contradicted" if failing >= _SURE else "unclear"


def _within(reading: Reading, box: Box) -> Reading:
    """Only what has its middle in that part, or close to it."""
    graph = reading.graph
    here = {item.id for item in items_of(graph) if _is_in(item.box, box)}
    return replace(
        reading,
        graph=replace(
            graph,
            things=tuple(thing for thing in graph.things if thing.id in here),
            figures=tuple(figure for figure in graph.figures if figure.id in here),
            signs=tuple(sign for sign in graph.signs if sign.id in here),
        ),
    )


def _is_in(inner: Box, outer: Box) -> bool:
    across, down = (inner.left + inner.right) / 2, (inner.top + inner.bottom) / 2
    return outer.left - _EDGE <= across <= outer.right + _EDGE and outer.top - _EDGE <= down <= outer.bottom + _EDGE


def _form(schema: Mapping[str, Any]) -> tuple[str, str, str, dict[Found, str]] | None:
    """The field of the list, and of its items those of number and verdict, with the words that the verdict may have."""
    properties = plain_schema(schema, schema).get("properties", {})
    lists = [(name, plain_schema(value, schema)) for name, value in properties.items()]
    for field, value in lists:
        if len(lists) != 1 or type_of(value) != "array":
            continue
        fields = plain_schema(value.get("items", {}), schema).get("properties", {})
        plain = {name: plain_schema(each, schema) for name, each in fields.items()}
        number = next((name for name, each in plain.items() if type_of(each) == "integer"), None)
        worded = ((name, _words(each.get("enum", ()))) for name, each in plain.items())
        verdict = next(((name, words) for name, words in worded if words is not None), None)
        if number is not None and verdict is not None and len(plain) == 2:
            return field, number, *verdict
    return None


def _words(enum: Any) -> dict[Found, str] | None:
    """Our three verdicts in the words of an enumeration; None where it has not all of them."""
    found = {ours: next((word for word in enum if word in theirs), None) for ours, theirs in _WORDS.items()}
    said = {ours: word for ours, word in found.items() if word is not None}
    return said if len(said) == len(_WORDS) else None
