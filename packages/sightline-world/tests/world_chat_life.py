"""A small life in memory, pictures whose pixels are numbers, and an agent's tools over it: for tests of the chat."""

from __future__ import annotations

import asyncio
import io
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import orjson
from PIL import Image

from sightline.models.protocols import Pixels
from sightline.retrieval.columns.builder import build_columns
from sightline.retrieval.filters.filter import compile_filter, parse_filter
from sightline.retrieval.filters.tree import FilterError
from sightline.types import Box, ChatReply, ChatRequest, ImagePart, Message, Picture, ToolSpec
from sightline_world.models.chat.model import WorldChat
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.verification import check_all, items_of
from sightline_world.models.scene_reader import Reading
from sightline_world.scene import Figure, Predicate, Relation, SceneGraph, Sign, Thing


def thing(kind: str, colour: str, at: float = 0.5, size: str = "medium", name: str = "t0", wide: float = 0.2) -> Thing:
    return Thing(name, kind, colour, size, Box(at - wide / 2, 0.4, at + wide / 2, 0.4 + wide))


def person(
    coat: str, hair: str = "brown", gear: str = "none", gear_colour: str | None = None, name: str = "p0"
) -> Figure:
    return Figure(name, hair, gear, gear_colour, coat, Box(0.7, 0.3, 0.8, 0.8))


def scene(
    place: str,
    light: str,
    things: Sequence[Thing] = (),
    figures: Sequence[Figure] = (),
    signs: Sequence[str] = (),
    relations: Sequence[tuple[str, Predicate, str]] = (),
) -> SceneGraph:
    named = tuple(Thing(f"t{at}", each.kind, each.colour, each.size, each.box) for at, each in enumerate(things))
    people = tuple(
        Figure(f"p{at}", each.hair, each.headgear, each.headgear_colour, each.coat, each.box)
        for at, each in enumerate(figures)
    )
    boards = tuple(Sign(f"s{at}", words, Box(0.1, 0.1, 0.3, 0.2)) for at, words in enumerate(signs))
    return SceneGraph(place, light, named, people, boards, tuple(Relation(*each) for each in relations))


def reading(graph: SceneGraph) -> Reading:
    """What an eye without fault would see."""
    ids = [item.id for item in items_of(graph)]
    return Reading(graph, 0.9, 0.9, dict.fromkeys(ids, 0.9))


class Album:
    """Scenes as pictures whose first pixel says which scene it is, and a reader that looks at that pixel."""

    def __init__(self, scenes: Sequence[SceneGraph]) -> None:
        self.scenes = list(scenes)

    def png(self, number: int) -> bytes:
        pixels = np.zeros((8, 8, 3), np.uint8)
        pixels[:, :, 0], pixels[:, :, 1] = number % 256, number // 256
        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, "PNG")
        return buffer.getvalue()

    def part(self, number: int) -> ImagePart:
        return ImagePart("", self.png(number))

    def read(self, pixels: Pixels) -> Reading:
        return reading(self.scenes[int(pixels[0, 0, 0]) + 256 * int(pixels[0, 0, 1])])

    def model(self) -> WorldChat:
        return WorldChat(self.read)


@dataclass(frozen=True, slots=True)
class Shot:
    id: str
    graph: SceneGraph
    when: datetime
    address: str
    event: str


def _spec(name: str, required: Sequence[str], **fields: str) -> ToolSpec:
    kinds: dict[str, Any] = {
        "text": {"type": "string"},
        "ids": {"type": "array", "items": {"type": "string"}},
        "number": {"type": "integer"},
    }
    properties = {field: kinds[kind] for field, kind in fields.items()}
    return ToolSpec(name, name, {"type": "object", "properties": properties, "required": list(required)})


TOOLS = (
    _spec("ImageSearch", (), text="text", photos="ids", top_k="number", save_as="text", search_within="text"),
    _spec("GetMetadata", ("photos",), photos="ids", fields="ids"),
    _spec("FilterMetadata", ("expression",), expression="text", save_as="text", filter_within="text"),
    _spec("ViewPhotos", ("photos",), photos="ids"),
    _spec("WebSearch", ("query",), query="text", top_k="number"),
)


@dataclass(slots=True)
class Agent:
    """Tools over a life, and the loop that drives a model with them; `fails` are tools that only ever fail."""

    shots: Sequence[Shot]
    tools: Sequence[ToolSpec] = TOOLS
    fails: frozenset[str] = frozenset()
    plain_text: bool = False
    forget_after: int | None = None
    turns: int = 30
    subsets: dict[str, list[str]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    viewed: set[str] = field(default_factory=set)
    looked: int = 0

    def run(self, question: str) -> ChatReply:
        """Ask until there is an answer."""
        album = Album([shot.graph for shot in self.shots])
        model = album.model()
        start = [
            Message("system", ("Use the tools. End with: The final answer is: [id1, id2].",)),
            Message("user", (question,)),
        ]
        messages = list(start)
        for turn in range(self.turns):
            got = asyncio.run(model.reply(ChatRequest(model.name, tuple(messages), tuple(self.tools))))
            assert isinstance(got, ChatReply), got
            if not got.tool_calls:
                return got
            messages.append(Message("assistant", (got.text,), got.tool_calls))
            for call in got.tool_calls:
                self.calls.append(call.name)
                content = self._use(call.name, orjson.loads(call.arguments), album)
                messages.append(Message("tool", content, tool_call_id=call.id))
            if self.forget_after is not None and (turn + 1) % self.forget_after == 0:
                memory = asyncio.run(
                    model.reply(
                        ChatRequest(model.name, (*messages, Message("user", ("Compress the conversation so far.",))))
                    )
                )
                assert isinstance(memory, ChatReply)
                messages = [*start, Message("user", (f"Memory of the work so far:\n{memory.text}",))]
        raise AssertionError("no answer within the turns")

    def answer(self, question: str) -> set[str]:
        """The ids of the final answer."""
        found = re.search(r"The final answer is: \[(.*)\]\.", self.run(question).text)
        assert found is not None
        return {each.strip() for each in found[1].split(",") if each.strip()}

    def _use(self, name: str, arguments: Mapping[str, Any], album: Album) -> tuple[str | ImagePart, ...]:
        if name in self.fails:
            return ('{"error": "the tool is out of order"}',)
        by_id = {shot.id: number for number, shot in enumerate(self.shots)}
        match name:
            case "ImageSearch":
                return (self._search(arguments),)
            case "GetMetadata":
                shots = [self.shots[by_id[each]] for each in arguments["photos"] if each in by_id]
                return (self._metadata(shots),)
            case "FilterMetadata":
                return (self._filter(arguments),)
            case "ViewPhotos":
                self.viewed |= set(arguments["photos"])
                self.looked += len(arguments["photos"])
                parts: list[str | ImagePart] = []
                for each in arguments["photos"][:20]:
                    parts += [f"photo_id: {each}", album.part(by_id[each])]
                return tuple(parts)
            case _:
                return ("[]",)

    def _search(self, arguments: Mapping[str, Any]) -> str:
        """Ranks by how much of the words holds, with a little noise: good, and not perfect."""
        meant = understand(arguments.get("text", ""))
        within = self.subsets.get(arguments.get("search_within", ""))
        rated = [
            (check_all(meant, reading(shot.graph)).share + zlib.crc32(shot.id.encode()) % 100 / 1000, shot.id)
            for shot in self.shots
            if within is None or shot.id in within
        ]
        best = sorted(rated, reverse=True)[: arguments.get("top_k", 20)]
        if self.plain_text:
            return "\n".join(f"{at}. {name} (score {score:.3f})" for at, (score, name) in enumerate(best, 1))
        return orjson.dumps({"results": [[name, score] for score, name in best]}).decode()

    def _metadata(self, shots: Sequence[Shot]) -> str:
        if self.plain_text:
            return "\n".join(f"{shot.id}: {shot.when.isoformat()}, {shot.address}" for shot in shots)
        return orjson.dumps(
            {shot.id: {"time": shot.when.isoformat(), "address": shot.address} for shot in shots}
        ).decode()

    def _filter(self, arguments: Mapping[str, Any]) -> str:
        pictures = [Picture(shot.id, "x", taken_at=shot.when, address=shot.address) for shot in self.shots]
        try:
            wanted = parse_filter(arguments["expression"])
        except FilterError as error:
            return orjson.dumps({"error": str(error)}).decode()
        mask = compile_filter(wanted, build_columns([(picture, None, []) for picture in pictures]))
        found = [picture.id for picture, kept in zip(pictures, mask, strict=True) if kept]
        if "save_as" in arguments:
            self.subsets[arguments["save_as"]] = found
        if self.plain_text:
            return f"{len(found)} photos match: {', '.join(found)}"
        return orjson.dumps({"count": len(found), "photos": found}).decode()


def small_life() -> list[Shot]:
    """Ten outings over three years; things come back, look-alikes too."""
    home, coast, hills = "4 Mill Lane, Oakham, England", "9 Sea Road, Marwick, Scotland", "2 High Street, Tolby, Wales"
    mara = person("yellow", "red", "beanie", "blue")
    mara_later = person("green", "red", "beanie", "blue")
    outings: list[tuple[str, datetime, str, list[SceneGraph]]] = [
        ("coast trip", datetime(2021, 6, 5, 9), coast, [
            scene("beach", "day", [thing("kite", "red")], [person("blue", "black", "cap", "white")]),
            scene("beach", "day", [thing("dog", "brown"), thing("bucket", "yellow")]),
            scene("harbour", "sunset", [thing("boat", "white"), thing("boat", "green")], signs=["MARWICK"]),
            scene("harbour", "sunset", [thing("boat", "white")]),
        ]),
        ("market day", datetime(2021, 9, 11, 10), home, [
            scene("market", "day", [thing("guitar", "purple")]),
            scene("market", "day", [thing("apple", "green"), thing("apple", "green"), thing("apple", "green")]),
            scene("street", "rain", [thing("bus", "yellow")], signs=["HONEY"]),
            scene("market", "rain", [thing("dog", "brown")], [person("red", "grey")]),
        ]),
        ("lake trip", datetime(2022, 7, 2, 9), hills, [
            scene("lake", "day", [thing("tent", "orange")], [mara]),
            scene("lake", "fog", [thing("duck", "white"), thing("duck", "white")]),
            scene("forest", "day", [thing("tent", "orange"), thing("rabbit", "grey")]),
            scene("lake", "night", [thing("tent", "orange")]),
        ]),
        ("birthday", datetime(2022, 8, 20, 15), home, [
            scene("kitchen", "day", [thing("cake", "pink"), thing("balloon", "red")]),
            scene("garden", "day", [thing("guitar", "purple")], [mara_later], relations=[("p0", "holding", "t0")]),
            scene("garden", "sunset", [thing("bench", "brown"), thing("cat", "black")], relations=[("t1", "on", "t0")]),
        ]),
        ("second coast trip", datetime(2022, 9, 10, 9), coast, [
            scene("beach", "day", [thing("kite", "blue")]),
            scene("beach", "rain", [thing("dog", "brown")]),
            scene("harbour", "day", [thing("boat", "red")], signs=["MARWICK"]),
        ]),
        ("match", datetime(2023, 3, 4, 14), home, [
            scene("stadium", "day", [thing("ball", "white")], [person("blue"), person("blue")]),
            scene("stadium", "night", [thing("flag", "blue"), thing("flag", "blue")]),
            scene("street", "night", [thing("car", "red")], [mara_later]),
        ]),
        ("snow day", datetime(2023, 12, 9, 11), home, [
            scene("snow", "snowfall", [thing("snowman", "white"), thing("sled", "red")]),
            scene("snow", "day", [thing("dog", "brown"), thing("sled", "red")]),
            scene("kitchen", "night", [thing("mug", "blue"), thing("book", "green")]),
        ]),
    ]  # fmt: skip
    shots = []
    for event, start, address, scenes in outings:
        for number, graph in enumerate(scenes):
            when = start + timedelta(minutes=50 * number)
            shots.append(Shot(f"{start:%y%m%d}_{number}.jpg", graph, when, address, event))
    return shots
