"""A reader who knows nothing but what the web shows: follows a chain's question by search, links and pictures."""

from __future__ import annotations

import re

from sightline.types import Failure
from sightline_world.draw import ScenePlan, draw
from sightline_world.scene import SceneGraph
from sightline_world.vocabulary import HEADGEAR_WORDS
from sightline_world.web import Chain, WorldWeb
from sightline_world.web.chains import StartKind
from sightline_world.web.properties import PROPERTIES

_LINK = re.compile(r"\[([^\]]+)\]\((https://[^)]+)\)")


def opened(web: WorldWeb, url: str) -> str:
    text = web.open(url)
    assert not isinstance(text, Failure), text
    return text


def seen(web: WorldWeb, url: str) -> SceneGraph:
    drawing = web.picture(url)
    assert not isinstance(drawing, Failure), drawing
    return drawing.graph


def solve(web: WorldWeb, chain: Chain) -> str:
    """The answer, from the start's picture and the properties that the question names; no fact is looked up."""
    url = recognised(web, chain.picture, chain.shows, chain.start.partition("/")[0])
    answer = ""
    for hop in chain.hops:
        kind = hop.fact.subject.partition("/")[0]
        told = PROPERTIES[kind, hop.fact.property]
        if hop.by_picture:
            answer, url = _from_picture(web, url, told.name)
        elif hop.direction == "forward":
            answer, url = _from_box(opened(web, url), told.label)
        else:
            answer, url = _from_list(opened(web, url), told.lists)
    return answer


def recognised(web: WorldWeb, plan: ScenePlan, shows: StartKind, kind: str) -> str:
    """The page of what a picture shows."""
    graph = draw(plan).graph
    if shows == "sign":
        found = [hit.url for hit in web.search(graph.signs[0].words, 10) if f".invalid/{kind}/" in hit.url]
        return found[0]
    figure = graph.figures[0]
    hat = f"{figure.headgear_colour} {HEADGEAR_WORDS[figure.headgear]}"
    needed: tuple[str, ...]
    if shows == "looks":
        query, needed = f"{figure.hair} hair {hat} {figure.coat} coat", (f"{figure.hair} hair", hat, figure.coat)
        pattern = rf"known by {figure.hair} hair, an? {hat} and an? {figure.coat} coat"
    else:
        query, needed = f"players wear {figure.coat} with {hat}", (figure.coat, hat)
        pattern = rf"players wear {figure.coat} with an? {hat}, as no other"
    hits = web.search(query, 60)
    found = [hit.url for hit in hits if re.search(pattern, opened(web, hit.url)) and "almanac" in hit.url]
    assert len(found) == 1, (needed, found)
    return found[0]


def _from_box(text: str, label: str) -> tuple[str, str]:
    line = re.search(rf"^- {re.escape(label)}: (.+)$", text, re.MULTILINE)
    assert line is not None, (label, text)
    link = _LINK.fullmatch(line[1])
    return (link[1], link[2]) if link else (line[1], "")


def _from_list(text: str, heading: str) -> tuple[str, str]:
    listed = re.search(rf"(?:^|[.] ){re.escape(heading)}: ((?:\[[^\]]+\]\([^)]+\)(?:, )?)+)[.]", text, re.MULTILINE)
    assert listed is not None, (heading, text)
    links = _LINK.findall(listed[1])
    assert len(links) == 1, links
    return links[0][0], links[0][1]


def _from_picture(web: WorldWeb, url: str, property_: str) -> tuple[str, str]:
    graph = seen(web, url)
    if property_ == "depicts":
        hit = next(hit for hit in web.search(graph.signs[0].words, 10) if ".invalid/town/" in hit.url)
        return hit.title, hit.url
    colours = {thing.colour for thing in graph.things}
    assert len(colours) == 1, graph.things
    return colours.pop(), ""
