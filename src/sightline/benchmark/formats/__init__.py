"""Every format that a benchmark or a run comes from or goes to; each is loaded when it is first asked for.

To add one, write a module with a `Format`, and name it in `plugins.py` and, for `sightline formats`, in `formats.csv`.
"""

from __future__ import annotations

from sightline import plugins
from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported

__all__ = ["Complaints", "Content", "Format", "FormatOptions", "Imported", "find_format", "format_names"]


def format_names() -> tuple[str, ...]:
    """Every known format: the built-in ones, and those that other packages add by entry point."""
    return plugins.names("formats")


def find_format(name: str) -> Format:
    """The format of that name."""
    plugin = plugins.find("formats", name)
    if plugin is None:
        raise plugins.unknown("formats", name, f'unknown format "{name}".')
    found: Format = plugin.load(Format)
    return found
