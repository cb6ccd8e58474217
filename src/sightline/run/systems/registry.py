"""Kinds of systems by name; each is loaded when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points

from sightline.config.suggest import nearest
from sightline.errors import UserError
from sightline.run.systems.base import Kind

GROUP = "sightline.systems"
"""Entry points of this group are a `Kind`."""
# name → the module in this package whose KINDS holds it
_BUILT_IN = {
    "retriever": "retriever",
    "hybrid": "retriever",
    "http": "http",
    "blind": "blind",
    "oracle": "oracle",
    "cut": "cut",
}


def kind_names() -> tuple[str, ...]:
    """Every kind that a SPEC can name."""
    return (*_BUILT_IN, *(point.name for point in entry_points(group=GROUP)))


def is_built_in(name: str) -> bool:
    """Is it one of ours, whose faults are our own?"""
    return name in _BUILT_IN


def find_kind(name: str) -> Kind:
    """The kind of that name."""
    if name in _BUILT_IN:
        module = import_module(f"sightline.run.systems.{_BUILT_IN[name]}")
        kinds: dict[str, Kind] = module.KINDS
        return kinds[name]
    for point in entry_points(group=GROUP, name=name):
        loaded = point.load()
        if not isinstance(loaded, Kind):
            raise UserError(f'the system "{name}" of {point.value} is not a sightline.run.systems.Kind.', "mend it")
        return loaded
    near = nearest(name.lower(), kind_names())
    hint = f'Did you mean "{near}"? ' if near else ""
    raise UserError(f'unknown kind of system "{name}".', f"{hint}Known: {', '.join(kind_names())}")
