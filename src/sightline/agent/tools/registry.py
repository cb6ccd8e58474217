"""Our tools by name; `sightline.agent.toolset` chooses among them and makes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sightline.agent.tools import finding, measuring, overviews, surfing, viewing
from sightline.agent.tools.base import Need, ToolKind
from sightline.types import TaskKind

_FIND: frozenset[TaskKind] = frozenset(("rank", "select"))
_LOOK: frozenset[TaskKind] = frozenset(("answer", "choose", "describe"))
_ALL = _FIND | _LOOK
STANDARD = ("ImageSearch", "GetMetadata", "FilterMetadata", "ViewPhotos", "WebSearch")
"""ImageSeeker's five tools."""
_INDEX = Need(lambda materials: materials.searcher is not None, "there is no index to search")
_PICTURES = Need(lambda materials: materials.searcher is not None or bool(materials.pictures), "there are no pictures")
_WEB = Need(lambda materials: materials.web is not None, "there is no web: web=…")
_NAMES = Need(overviews.names_people, "no picture's metadata names people")
_READER = Need(measuring.can_read_words, "no reader of words is installed: pip install 'sightline[ocr]'")
KINDS: Mapping[str, ToolKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            ToolKind("ImageSearch", "find photos by words, by photos, or both", finding.image_search, _ALL, (_INDEX,)),
            ToolKind("GetMetadata", "when and where photos were taken", overviews.get_metadata, _ALL, (_PICTURES,)),
            ToolKind("FilterMetadata", "select photos by a condition", finding.filter_metadata, _FIND, (_PICTURES,)),
            ToolKind("ViewPhotos", "look at photos", viewing.view_photos, _ALL),
            ToolKind("SimilarTo", "photos that look like one", finding.similar_to, _FIND, (_INDEX,)),
            ToolKind("Combine", "set operations on named subsets", finding.combine, _FIND, (_PICTURES,)),
            ToolKind("Count", "count photos by a condition", finding.count, _FIND, (_PICTURES,)),
            ToolKind("Timeline", "an overview by time", overviews.timeline, _FIND, (_PICTURES,)),
            ToolKind("Map", "an overview by place", overviews.map_, _FIND, (_PICTURES,)),
            ToolKind("People", "who is named in the photos' metadata", overviews.people, _FIND, (_NAMES,)),
            ToolKind("Crop", "cut out a region", viewing.crop, _LOOK),
            ToolKind("Zoom", "magnify a region", viewing.zoom, _ALL),
            ToolKind("Rotate", "turn a picture", viewing.rotate, _LOOK),
            ToolKind("Enhance", "contrast, brightness, sharpness, colour", viewing.enhance, _LOOK),
            ToolKind("Mark", "draw boxes and points", viewing.mark, _LOOK),
            ToolKind("Compare", "pictures side by side", viewing.compare, _ALL),
            ToolKind("Measure", "sizes, distances, colours", measuring.measure, _LOOK),
            ToolKind("ReadText", "words written in a picture", measuring.read_text, _ALL, (_READER,)),
            ToolKind("Calculate", "arithmetic, units, dates", measuring.calculator, _ALL),
            ToolKind("WebSearch", "search the web", surfing.web_search, _ALL, (_WEB,)),
            ToolKind("WebImageSearch", "search the web for pictures", surfing.web_image_search, _LOOK, (_WEB,)),
            ToolKind("OpenPage", "open a page of the web", surfing.open_page, _ALL, (_WEB,)),
        )
    }
)
