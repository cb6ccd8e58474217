"""Kinds of systems by name; each is loaded when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points

from sightline.config.suggest import nearest
from sightline.errors import UserError
from sightline.run.systems.base import Kind, Options

GROUP = "sightline.systems"
"""Entry points of this group are a `Kind`."""
# name → the module whose KINDS holds it; agents live in a room above this one, which is why they are only named here
_BUILT_IN = {
    "retriever": "sightline.run.systems.retriever",
    "hybrid": "sightline.run.systems.retriever",
    "http": "sightline.run.systems.http",
    "blind": "sightline.run.systems.blind",
    "oracle": "sightline.run.systems.oracle",
    "cut": "sightline.run.systems.cut",
    "chat": "sightline.agent.system_chat",
    "agent": "sightline.agent.system",
    "vote": "sightline.agent.system_vote",
}


def kind_names() -> tuple[str, ...]:
    """Every kind that a SPEC can name."""
    return (*_BUILT_IN, *(point.name for point in entry_points(group=GROUP)))


def sees_truth(kind: Kind, options: Options) -> bool:
    """Is it the oracle, or fitted on other tasks? Only ours may be: nothing from elsewhere ever gets the truth."""
    if not is_built_in(kind.name) or find_kind(kind.name) is not kind:
        return False
    return kind.name in ("oracle", "cut") or (kind.name == "blind" and getattr(options, "by", None) == "majority")


def is_built_in(name: str) -> bool:
    """Is it one of ours, whose faults are our own?"""
    return name in _BUILT_IN


def find_kind(name: str) -> Kind:
    """The kind of that name."""
    if name in _BUILT_IN:
        kinds: dict[str, Kind] = import_module(_BUILT_IN[name]).KINDS
        return kinds[name]
    for point in entry_points(group=GROUP, name=name):
        loaded = point.load()
        if not isinstance(loaded, Kind):
            raise UserError(f'the system "{name}" of {point.value} is not a sightline.run.systems.Kind.', "mend it")
        return loaded
    near = nearest(name.lower(), kind_names())
    hint = f'Did you mean "{near}"? ' if near else ""
    raise UserError(f'unknown kind of system "{name}".', f"{hint}Known: {', '.join(kind_names())}")
