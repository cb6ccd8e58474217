"""Settings from the environment: `SIGHTLINE_<SECTION>__<KEY>`, and well-known names such as OPENAI_API_KEY."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from sightline.config.layer import Given, Layer
from sightline.config.schema import PREFIX, KeyPath, Leaf, leaves
from sightline.errors import nearest

# Read elsewhere: the folder that Sightline keeps its knowledge in, the default configuration file, and tokens: of our
# own MCP server, and for somebody else's.
OTHERS = (f"{PREFIX}WORKSPACE", f"{PREFIX}CONFIG", f"{PREFIX}MCP_TOKEN", f"{PREFIX}WEB_TOKEN")


def from_environment(environment: Mapping[str, str]) -> Layer:
    """An empty variable counts as not set; an unknown `SIGHTLINE_` one is worth a warning, not an error."""
    values: dict[KeyPath, Given] = {}
    for leaf in leaves().values():
        for name in (leaf.variable, *leaf.well_known_variables):
            if environment.get(name):
                values[leaf.path] = Given(read(environment[name], leaf), f"environment {name}", name, "environment")
                break
    known = {leaf.variable for leaf in leaves().values()} | set(OTHERS)
    known.update(name for leaf in leaves().values() for name in leaf.well_known_variables if name.startswith(PREFIX))
    strange = sorted(name for name in environment if name.startswith(PREFIX) and name not in known)
    return Layer(values, warnings=tuple(_warning(name, known) for name in strange))


def read(text: str, leaf: Leaf) -> Any:
    """The text as a TOML value where the setting wants one, else as it is."""
    if leaf.secret:
        return text
    value = _toml_value(text)
    return value if isinstance(value, str) or not leaf.is_text else text


def _toml_value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return parsed["value"] if len(parsed) == 1 else text


def _warning(name: str, known: set[str]) -> str:
    words = {other.removeprefix(PREFIX) for other in known}
    word = name.removeprefix(PREFIX)
    # The key may be right where the section is missing or wrong.
    same_key = sorted(other for other in words if other.endswith(f"__{word.rpartition('__')[2]}"))
    near = same_key[0] if same_key else nearest(word, words)
    hint = f"did you mean {PREFIX}{near}?" if near else f"they are named {PREFIX}<SECTION>__<KEY>"
    return f"environment: {name} sets nothing; {hint}"
