"""Kinds of systems by name; each is loaded when it is first asked for."""

from __future__ import annotations

from sightline import plugins
from sightline.runs.systems.base import Kind, Options


def kind_names() -> tuple[str, ...]:
    """Every kind that a SPEC can name."""
    return plugins.names("systems")


def sees_truth(kind: Kind, options: Options) -> bool:
    """Is it the oracle, or fitted on other tasks? Only ours may be: nothing from elsewhere ever gets the truth."""
    if not is_built_in(kind.name) or find_kind(kind.name) is not kind:
        return False
    fitted = kind.name == "blind" and getattr(options, "by", None) in ("majority", "learned")
    return fitted or kind.name in ("oracle", "cut")


def is_built_in(name: str) -> bool:
    """Is it one of ours, whose faults are our own?"""
    return plugins.is_built_in("systems", name)


def find_kind(name: str) -> Kind:
    """The kind of that name."""
    plugin = plugins.find("systems", name)
    if plugin is None:
        raise plugins.unknown("systems", name, f'unknown kind of system "{name}".')
    kind: Kind = plugin.load(Kind)
    return kind
