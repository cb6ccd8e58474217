"""What is wrong with a value, in the words of the place that it was given in; a secret is never shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sightline.config.layer import Given
from sightline.config.schema import KeyPath, dotted, leaves
from sightline.config.services import Price
from sightline.errors import UserError, nearest

_EXPECTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "path_type": "a path",
    "tuple_type": 'a list, such as ["a", "b"]',
    "dict_type": "a table",
    "model_type": "a table",
}
_LONGEST = 60


def explain(error: ValidationError, given: Mapping[KeyPath, Given]) -> list[UserError]:
    """One error for each value that can't be used."""
    return [_explain(detail, given) for detail in error.errors(include_url=False)]


def _explain(detail: ErrorDetails, given: Mapping[KeyPath, Given]) -> UserError:
    location = tuple(str(part) for part in detail["loc"])
    path = next((location[:end] for end in range(len(location), 0, -1) if location[:end] in given), None)
    if path is None:  # A rule about several keys of one table.
        return _broken_rule(detail, location, given)
    item, leaf = given[path], leaves()[path]
    name = item.name + "".join(f"[{part}]" for part in location[len(path) :])
    if detail["type"] == "extra_forbidden":
        return _unknown(detail, name, item)
    shown = "***" if leaf.secret else _show(detail["input"])
    about = f"{leaf.dotted}: {leaf.field.description}"
    return UserError(f'{item.place}: "{name}" is {shown}; expected {_expected(detail)}.', about)


def _expected(detail: ErrorDetails) -> str:
    return _EXPECTED.get(detail["type"], detail["msg"].removeprefix("Input should be ").removeprefix("Value error, "))


def _broken_rule(detail: ErrorDetails, table: KeyPath, given: Mapping[KeyPath, Given]) -> UserError:
    places = dict.fromkeys(item.place for path, item in given.items() if path[: len(table)] == table)
    return UserError(f"{', '.join(places)}: [{dotted(table)}] {detail['msg'].removeprefix('Value error, ')}.")


def _unknown(detail: ErrorDetails, name: str, item: Given) -> UserError:
    """A key that only pydantic could find: those of `[prices.models.NAME]`, where any name may stand."""
    near = nearest(str(detail["loc"][-1]), Price.model_fields)
    fix = f'Did you mean "{near}"?' if near else f"Known: {', '.join(Price.model_fields)}."
    return UserError(f'{item.place}: unknown key "{name}".', fix)


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
