"""Which tools an agent gets: by name, or those that suit the kind of task."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache

from sightline import plugins
from sightline.agent.tools.base import Materials, Tool, ToolKind
from sightline.errors import UserError, nearest
from sightline.types import TaskKind

_NOTHING_TO_WORK_ON = "what it works on is not there"


@cache
def known_tools() -> Mapping[str, ToolKind]:
    """Every tool by name: ours, and those of other packages."""
    return plugins.load_all("tools", ToolKind)


def chosen_names(
    kinds: Mapping[str, ToolKind], wanted: Sequence[str], without: Sequence[str], tasks: Collection[TaskKind]
) -> tuple[str, ...]:
    """The tools to offer for these kinds of task; a name that nobody knows is refused with what was probably meant."""
    for name in (*wanted, *without):
        if name not in kinds:
            if plugins.find("tools", name) is not None:
                plugins.load("tools", name, ToolKind)  # Says why it is not among them.
            near = nearest(name, kinds)
            hint = f'Did you mean "{near}"? ' if near else ""
            raise UserError(f'there is no tool "{name}".', f"{hint}Tools: {', '.join(kinds)}")
    offered = wanted or [name for name, kind in kinds.items() if not kind.tasks.isdisjoint(tasks)]
    return tuple(name for name in dict.fromkeys(offered) if name not in without)


def made(kinds: Mapping[str, ToolKind], names: Iterable[str], materials: Materials) -> dict[str, Tool]:
    """The tools that can be made from what there is."""
    tools = {name: kinds[name].make(materials) for name in names if kinds[name].lacks(materials) is None}
    return {name: tool for name, tool in tools.items() if tool is not None}


def left_out(
    kinds: Mapping[str, ToolKind], names: Iterable[str], tools: Collection[str], materials: Materials
) -> dict[str, str]:
    """Why each of the names that is not among the tools could not be made."""
    return {name: kinds[name].lacks(materials) or _NOTHING_TO_WORK_ON for name in names if name not in tools}


def refuse_missing(wanted: Iterable[str], missing: Mapping[str, str]) -> None:
    """A tool that was asked for by name and can't be made is no small matter."""
    lacking = [f"{name} ({missing[name]})" for name in wanted if name in missing]
    if lacking:
        raise UserError(f"can't be used here: {', '.join(lacking)}.", "give what is missing, or leave the tool out")
