"""A JSON schema → a value that fits it, with what is known in each field and how sure that is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sightline.models.json_schema import schema_errors
from sightline_world.models.chat.descriptions import STYLES, groups
from sightline_world.models.chat.enum_values import HARDLY, Known, choose, from_vocabulary, texts_for
from sightline_world.models.chat.field_values import Situation, flag_for, looks_for, number_for, text_for, topic_of
from sightline_world.models.chat.lexicon import SIGN
from sightline_world.models.chat.schemas import (
    DEEPEST,
    Schema,
    alternatives,
    bounds,
    fit_number,
    fit_text,
    plain_schema,
    type_of,
)
from sightline_world.models.chat.verification import Item, colour_of, items_of, kind_of, scaled
from sightline_world.scene import Figure

UNKNOWN = "unknown"
_FROM_NOUGHT = re.compile(
    r"\b(?:0|zero)-(?:based|indexed)\b|\b(?:count|number|start|index)(?:s|ed|ing)? (?:at|from|with) (?:0|zero)\b",
    re.IGNORECASE,
)


def fill(schema: Mapping[str, Any], here: Situation) -> Known:
    """A value for the whole schema."""
    if here.focus is None and here.seen:
        here = here.about(here.seen[0])
    return _Filler(schema).fill(schema, "", here, 0)


class _Filler:
    """Walks a schema; `name` is the field that a value is for."""

    def __init__(self, root: Schema) -> None:
        self._root = root

    def fill(self, schema: Any, name: str, here: Situation, depth: int) -> Known:
        schema = plain_schema(schema, self._root)
        if "const" in schema:
            return Known(schema["const"], 0.9)
        if schema.get("enum"):
            return choose(list(schema["enum"]), name, here)
        options = alternatives(schema)
        if options:
            return self._best(options, name, here, depth)
        match type_of(schema):
            case "object":
                return self._object(schema, here, depth)
            case "array":
                return self._array(schema, name, here, depth)
            case "boolean":
                return Known(*flag_for(name, here))
            case "integer" | "number":
                return _number(schema, name, here)
            case "null":
                return Known(None, HARDLY + 0.01)  # Nothing is better than a word for nothing.
            case _:
                return _text(schema, name, here)

    def _best(self, options: Sequence[Schema], name: str, here: Situation, depth: int) -> Known:
        """The alternative of which most is known; null where nothing is."""
        if depth > DEEPEST:
            simple = [
                option for option in options if type_of(plain_schema(option, self._root)) not in ("object", "array")
            ]
            options = simple or options
        tried = [self.fill(option, name, here, depth + 1) for option in options]
        return max(tried, key=lambda known: known.sure)

    def _object(self, schema: Schema, here: Situation, depth: int) -> Known:
        fields = schema.get("properties") or {}
        if depth > DEEPEST:
            fields = {name: part for name, part in fields.items() if name in schema.get("required", ())}
        here = _focused(fields, here, self._root)
        known: dict[str, Known] = {}
        for name, part in fields.items():
            if topic_of(name) != "confidence":
                known[name] = self.fill(part, name, here, depth + 1)
        for name, part in fields.items():
            if name not in known:
                known[name] = self._confidence(part, known, here, depth)
        sure = sum(each.sure for each in known.values()) / len(known) if known else HARDLY
        return Known({name: known[name].value for name in fields}, sure)

    def _confidence(self, schema: Any, known: Mapping[str, Known], here: Situation, depth: int) -> Known:
        """How sure the other fields are: each by its name, or all together."""
        schema = plain_schema(schema, self._root)
        fields = schema.get("properties")
        if fields:
            values = {name: self._sure(part, known.get(name), known) for name, part in fields.items()}
            return Known({name: value.value for name, value in values.items()}, 0.9)
        others = schema.get("additionalProperties")
        if type_of(schema) == "object":
            part = others if isinstance(others, Mapping) else {"type": "number", "minimum": 0, "maximum": 1}
            wanted = {} if others is False else {name: self._sure(part, each, known) for name, each in known.items()}
            return Known({name: value.value for name, value in wanted.items()}, 0.9)
        if type_of(schema) in ("number", "integer") and not schema.get("enum"):
            judged = here.grade
            sure = Known(0.0, judged.sure) if judged is not None else None
            return self._sure(schema, sure, known)
        return self.fill(schema, "confidence", here, depth + 1)

    def _sure(self, schema: Any, one: Known | None, known: Mapping[str, Known]) -> Known:
        schema = plain_schema(schema, self._root)
        if type_of(schema) not in ("number", "integer") or schema.get("enum"):
            return self.fill(schema, "confidence", Situation(), DEEPEST)
        mean = sum(each.sure for each in known.values()) / len(known) if known else HARDLY
        value = mean if one is None else one.sure
        high = bounds(schema, whole=False)[1]
        value = value * high if 1 < high <= 100 else value
        return Known(fit_number(round(value, 3), schema, whole=type_of(schema) == "integer"), 0.9)

    # --- lists -----------------------------------------------------------------------------------------------------

    def _array(self, schema: Schema, name: str, here: Situation, depth: int) -> Known:
        least, most = int(schema.get("minItems", 0)), int(schema.get("maxItems", 10_000))
        first = schema.get("prefixItems") or ()
        items = plain_schema(schema.get("items", {}), self._root)
        found = [self.fill(part, name, here, depth + 1) for part in first]
        if depth <= DEEPEST and schema.get("items") is not False:
            found += self._items(items, name, here, depth, least)
        found = _distinct(found) if schema.get("uniqueItems") else found
        while len(found) < least and schema.get("items") is not False:
            one = Known(self.fill(items, name, here, depth + 1).value, HARDLY)
            found.append(self._another(one, found, items) if schema.get("uniqueItems") else one)
        found = found[:most]
        sure = sum(each.sure for each in found) / len(found) if found else 0.4
        return Known([each.value for each in found], sure)

    def _another(self, one: Known, found: Sequence[Known], items: Schema) -> Known:
        """One more item, different from the others where the schema lets it be."""
        taken = [each.value for each in found]
        number = len(taken)
        tries = [one.value, *(items.get("enum") or ()), f"{UNKNOWN} {number}", number, number + 0.5, True, False, None]
        fitting = (value for value in tries if value not in taken and not schema_errors(value, {**self._root, **items}))
        return Known(next(fitting, one.value), HARDLY)

    def _items(self, items: Schema, name: str, here: Situation, depth: int, least: int) -> list[Known]:
        if items.get("enum"):
            return from_vocabulary(list(items["enum"]), name, here, least)
        kind = "choice" if alternatives(items) or "const" in items else type_of(items)
        if kind == "object":
            return [self.fill(items, name, each, depth + 1) for each in _situations(items, name, here, self._root)]
        if kind == "string":
            return [Known(fit_text(text, items), 0.7) for text in texts_for(name, here)]
        if kind in ("number", "integer") and topic_of(name) == "grade" and here.query:
            return [_number(items, name, here.about(seen)) for seen in here.seen]
        if kind in ("number", "integer") and topic_of(name) == "box" and here.item is not None:
            box = here.item.box
            corners = (box.left, box.top, box.right, box.bottom)
            return [Known(fit_number(corner, items, whole=kind == "integer"), 0.7) for corner in corners]
        return []


def _focused(fields: Mapping[str, Any], here: Situation, root: Schema) -> Situation:
    """An object that must bear the id of one picture is about that picture."""
    for name, part in fields.items():
        if topic_of(name) == "id" and here.seen:
            plain = plain_schema(part, root)
            allowed = [plain["const"]] if "const" in plain else plain.get("enum") or ()
            found = [here.labels[label] for label in map(str, allowed) if label in here.labels]
            if len(found) == 1:
                return here.about(found[0])
    return here


def _situations(items: Schema, name: str, here: Situation, root: Schema) -> list[Situation]:
    """What each object of a list is about: a picture, a query, or a thing in the picture."""
    fields = items.get("properties") or {}
    topics = {topic_of(field) for field in fields}
    if "id" in topics and here.seen and (topics & {"grade", "relevant"} or len(here.seen) > 1 or here.focus is None):
        return [here.about(seen) for seen in here.seen]
    if "query" in topics or topic_of(name) == "query":
        return [replace(here, style=style) for style in STYLES]
    if here.focus is None:
        return []
    graph = here.focus.reading.graph
    match topic_of(name):
        case "people":
            return [replace(here, item=figure) for figure in graph.figures]
        case "words":
            return [replace(here, item=sign) for sign in graph.signs]
        case _:
            pass
    if "count" in topics and "box" not in topics:
        items_here = list(items_of(graph))
        grouped = [(_first(items_here, kind, colour), count) for kind, colour, count in groups(graph)]
        return [replace(here, item=item, count=count) for item, count in grouped]
    return [replace(here, item=item) for item in items_of(graph) if kind_of(item) != SIGN]


def _first(items: Sequence[Item], kind: str, colour: str) -> Item:
    return next(item for item in items if kind_of(item) == kind and colour_of(item) == colour)


# --- single values ---------------------------------------------------------------------------------------------------


def _text(schema: Schema, name: str, here: Situation) -> Known:
    looks = looks_for(name, here.item) if isinstance(here.item, Figure) else None
    found = (looks, 0.7) if looks is not None else text_for(name, here)
    text, sure = found if found is not None else (UNKNOWN, HARDLY)
    return Known(fit_text(text, schema), sure)


def _number(schema: Schema, name: str, here: Situation) -> Known:
    whole = type_of(schema) == "integer"
    low, high = bounds(schema, whole=whole)
    if topic_of(name) in ("grade", "relevant") and here.grade is not None:
        top = high if high < float("inf") else 3.0
        bottom = low if low > float("-inf") else 0.0
        if whole or top - bottom > 1:
            return Known(
                fit_number(scaled(here.grade.grade, round(bottom), round(top)), schema, whole=whole), here.grade.sure
            )
        return Known(fit_number(bottom + here.grade.grade / 3 * (top - bottom), schema, whole=False), here.grade.sure)
    number = here.number if topic_of(name) == "id" and here.item is None else None
    if number is not None:
        return Known(fit_number(number - _counts_from_nought(here, high), schema, whole=whole), 0.95)
    found = number_for(name, here)
    value, sure = found if found is not None else (0.0, HARDLY)
    if topic_of(name) == "confidence" and 1 < high <= 100:
        value *= high
    return Known(fit_number(value, schema, whole=whole), sure)


def _counts_from_nought(here: Situation, high: float) -> bool:
    """Whether pictures that are not numbered 0 … n-1 already are to be: the text or the schema's bound says so."""
    if here.seen[0].label == "0":
        return False
    return high == len(here.seen) - 1 or _FROM_NOUGHT.search(here.text) is not None


def _distinct(found: Sequence[Known]) -> list[Known]:
    kept: list[Known] = []
    for each in found:
        if all(each.value != other.value for other in kept):
            kept.append(each)
    return kept
