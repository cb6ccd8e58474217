"""The built-in tools by name, and which of all tools an agent gets: by name, or those that suit the kind of task."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from sightline import plugins
from sightline.agent.tools import measure_tools, overview_tools, search_tools, view_tools, web_tools
from sightline.agent.tools.base import Materials, Need, Tool, ToolKind
from sightline.errors import UserError, did_you_mean
from sightline.types import TaskKind

_FIND: frozenset[TaskKind] = frozenset(("rank", "select"))
_LOOK: frozenset[TaskKind] = frozenset(("answer", "choose", "describe"))
_ALL = _FIND | _LOOK
STANDARD = ("ImageSearch", "GetMetadata", "FilterMetadata", "ViewPhotos", "WebSearch")
"""ImageSeeker's five tools."""
_INDEX = Need(lambda materials: materials.searcher is not None, "there is no index to search")
_PICTURES = Need(lambda materials: materials.searcher is not None or bool(materials.pictures), "there are no pictures")
_WEB = Need(lambda materials: materials.web is not None, "there is no web: web=…")
_NAMES = Need(overview_tools.names_people, "no picture's metadata names people")
_READER = Need(measure_tools.can_read_words, "no reader of words is installed: pip install 'sightline[ocr]'")
KINDS: Mapping[str, ToolKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            ToolKind(
                "ImageSearch", "find photos by words, by photos, or both", search_tools.image_search, _ALL, (_INDEX,)
            ),
            ToolKind(
                "GetMetadata", "when and where photos were taken", overview_tools.get_metadata, _ALL, (_PICTURES,)
            ),
            ToolKind(
                "FilterMetadata", "select photos by a condition", search_tools.filter_metadata, _FIND, (_PICTURES,)
            ),
            ToolKind("ViewPhotos", "look at photos", view_tools.view_photos, _ALL),
            ToolKind("SimilarTo", "photos that look like one", search_tools.similar_to, _FIND, (_INDEX,)),
            ToolKind("Combine", "set operations on named subsets", search_tools.combine, _FIND, (_PICTURES,)),
            ToolKind("Count", "count photos by a condition", search_tools.count, _FIND, (_PICTURES,)),
            ToolKind("Timeline", "an overview by time", overview_tools.timeline, _FIND, (_PICTURES,)),
            ToolKind("Map", "an overview by place", overview_tools.map_, _FIND, (_PICTURES,)),
            ToolKind("People", "who is named in the photos' metadata", overview_tools.people, _FIND, (_NAMES,)),
            ToolKind("Crop", "cut out a region", view_tools.crop, _LOOK),
            ToolKind("Zoom", "magnify a region", view_tools.zoom, _ALL),
            ToolKind("Rotate", "turn a picture", view_tools.rotate, _LOOK),
            ToolKind("Enhance", "contrast, brightness, sharpness, colour", view_tools.enhance, _LOOK),
            ToolKind("Mark", "draw boxes and points", view_tools.mark, _LOOK),
            ToolKind("Compare", "pictures side by side", view_tools.compare, _ALL),
            ToolKind("Measure", "sizes, distances, colours", measure_tools.measure, _LOOK),
            ToolKind("ReadText", "words written in a picture", measure_tools.read_text, _ALL, (_READER,)),
            ToolKind("Calculate", "arithmetic, units, dates", measure_tools.calculator, _ALL),
            ToolKind("WebSearch", "search the web", web_tools.web_search, _ALL, (_WEB,)),
            ToolKind("WebImageSearch", "search the web for pictures", web_tools.web_image_search, _LOOK, (_WEB,)),
            ToolKind("OpenPage", "open a page of the web", web_tools.open_page, _ALL, (_WEB,)),
        )
    }
)


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
            raise UserError(f'there is no tool "{name}".', did_you_mean(name, kinds, f"Tools: {', '.join(kinds)}"))
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
