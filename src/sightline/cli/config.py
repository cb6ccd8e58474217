"""`sightline config show`: the effective configuration and where each value came from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cyclopts import App

from sightline.cli.options import Common

if TYPE_CHECKING:
    from rich.table import Table

    from sightline.config import Loaded

_LONGEST = 72

app = App(name="config", help="The effective configuration and where each value came from.")


@app.command
def show(*, common: Common = Common()) -> None:
    """Every setting, its value and where it came from; secrets print as `***`.

    For a benchmaker file it also lists what has no counterpart, and why.
    """
    loaded = common.load()
    if common.json:
        common.print_json(loaded.to_json())
    else:
        common.console.print(f"file: {loaded.path or 'none'}", markup=False)
        common.console.print(_settings(loaded))
        if loaded.unmapped:
            common.console.print("", _without_counterpart(loaded), sep="\n")
    common.warn(loaded.warnings)


def _settings(loaded: Loaded) -> Table:
    from rich.text import Text

    values = loaded.config.model_dump(mode="json")
    table = _table("setting", "value", "from")
    table.columns[0].no_wrap = True
    for name, source in loaded.sources.items():
        style = "dim" if source == "default" else ""
        cells = (name, _brief(_at(values, name)), _origin(loaded, name, source))
        table.add_row(*(Text(cell, style, overflow="fold") for cell in cells))
    return table


def _without_counterpart(loaded: Loaded) -> Table:
    table = _table("benchmaker key with no counterpart", "why")
    for item in loaded.unmapped:
        table.add_row(item.key, item.reason)
    return table


def _table(*columns: str) -> Table:
    from rich.table import Table

    return Table(*columns, box=None, pad_edge=False, header_style="bold")


def _origin(loaded: Loaded, name: str, source: str) -> str:
    """The file stands above the table; beside a value stands the key that benchmaker has for it."""
    if not source.startswith("file "):
        return source.removeprefix("environment ")
    return ", ".join(key for key, ours in loaded.mapped.items() if name in ours) or "file"


def _at(values: dict[str, Any], name: str) -> Any:
    found: Any = values
    for part in name.split("."):
        found = found[part]
    return found


def _brief(value: Any) -> str:
    """On one line; a long prompt or list is cut, with its size."""
    if value is None:
        return "not set"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    unit = "characters" if isinstance(value, str) else "items"
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}… ({len(value)} {unit})"
