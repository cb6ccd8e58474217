"""The memory graph in the app: events with their pictures, and of anything chosen what it is joined to, and why."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from search_tools import Colours
from sightline.mining.graph import Edge, EventNode, MemoryGraph, Node, Person, Photo, structure, write_graph
from sightline.mining.graph_page import ROWS, arcs_of, curves, links_of
from sightline.mining.records import Clue
from sightline.web.server import open_app
from web_samples import client, make_graph

BENCH = "a bench <script>"


def graph_of(days: int) -> MemoryGraph:
    """An event with one picture on each of so many days."""
    photos = {f"p{day}": Photo(f"p{day}", "ana", f"e{day}", f"2020-01-01T{day % 24:02}:00:00") for day in range(days)}
    return MemoryGraph(photos, {one.event: EventNode(one.event, "ana", (one.id,)) for one in photos.values()})


@pytest.fixture
def app(copied: Path) -> TestClient:
    make_graph(copied, BENCH)
    return client(open_app(None, (copied,), port=8377, embedder=Colours()))


def chosen(page: str) -> str:
    return page.split('<aside id="chosen"')[1].split("</aside>")[0]


def test_it_stands_in_the_app_with_its_pictures(app: TestClient) -> None:
    assert "/graph/mined" in app.get("/").text
    page = app.get("/graph/mined").text
    assert 'class="bar"' in page and "Save page" in page and page.count("<h1>") == 1
    assert "6</b> pictures" in page and "2</b> events" in page and "1</b> person named" in page
    assert "A row is an event" in page and "Nothing is chosen" in page
    assert len(re.findall(r'<a class="tile "[^>]*photo=[^>]*><img src="/thumb/[0-9a-f]{64}', page)) == 6
    assert page.count('<path d="M') == 1  # Two events, joined once, however often the same was seen.
    assert "1 May 2024, Biarritz" in page and "joined with 1 event" in page
    assert app.get("/graph/other").status_code == 404


def test_of_a_picture_it_says_what_joins_it_and_why(app: TestClient, copied: Path) -> None:
    first, *_, last = make_graph(copied, BENCH)
    page = app.get("/graph/mined", params={"photo": first}).text
    panel = chosen(page)
    assert "We sat there." in panel and "a bench &lt;script&gt;" in panel and "<script" not in panel
    assert "looks the same: the same crack in the wood" in panel
    assert f'alt="{last}"' in panel and f'alt="{first}"' in panel
    assert 'class="tile on"' in page and page.count('class="tile right"') == 1


def test_of_an_event_it_says_with_which_others_it_is_joined(app: TestClient) -> None:
    panel = chosen(app.get("/graph/mined", params={"event": "e1"}).text)
    assert "Joined with" in panel and "The same in other events" in panel and panel.count("with=e2") == 1
    both = app.get("/graph/mined", params={"event": "e1", "with": "e2"}).text
    assert "The same in both" in chosen(both) and both.count('<li class="on">') == 2


def test_of_a_person_it_shows_the_pictures(app: TestClient) -> None:
    panel = chosen(app.get("/graph/mined", params={"person": "ana#1"}).text)
    assert "Bo" in panel and panel.count('<a class="tile') == 2


def test_what_there_is_not_chooses_nothing(app: TestClient) -> None:
    assert "Nothing is chosen" in app.get("/graph/mined", params={"photo": "../../etc/passwd"}).text


def test_a_saved_graph_leads_nowhere(app: TestClient) -> None:
    page = app.get("/graph/mined?event=e1&export=1").text
    assert "href=" not in page and page.count("data:image/jpeg") > 6


def test_a_graph_that_cant_be_read_names_the_line(app: TestClient, copied: Path) -> None:
    path = copied / "mined" / "graph.jsonl"
    path.write_text(path.read_text() + '{"is": "photo", "id": 3}\n')
    reply = app.get("/graph/mined")
    assert reply.status_code == 400 and "line" in reply.text and str(copied) not in reply.text


def test_a_long_history_is_told_in_parts(app: TestClient, copied: Path) -> None:
    write_graph(graph_of(ROWS + 5), copied / "mined" / "graph.jsonl")
    first, rest = (app.get("/graph/mined", params={"offset": offset}).text for offset in (0, ROWS))
    assert first.count('class="photos"') == ROWS and rest.count('class="photos"') == 5


def test_each_pair_of_events_has_one_arc_that_ends_at_its_rows() -> None:
    graph = graph_of(3)
    clues = {f"c{day}": Clue(f"c{day}", f"p{day}", "object", "kite", "red kite", "a kite", "", 1.0) for day in range(3)}
    pairs = (("c0", "p2"), ("c2", "p0"), ("c0", "p0"), ("c1", "p2"))
    edges = tuple(Edge("association", Node("clue", clue), Node("photo", photo), "reference") for clue, photo in pairs)
    graph = replace(graph, clues=clues, edges=(*structure(graph.events, clues, {}), *edges))
    arcs = arcs_of(graph, links_of(graph), list(graph.events.values()))
    assert [(arc.first, arc.second, len(arc.links)) for arc in arcs] == [(0, 2, 2), (1, 2, 1)]
    drawn = list(curves(arcs, 10, 50))
    assert [path.split(" ")[0] for _, path, _ in drawn] == ["M50,5", "M50,15"]
    assert all(path.endswith("50,25") for _, path, _ in drawn) and drawn[0][2] > drawn[1][2]
    assert arcs_of(graph, links_of(graph), list(graph.events.values())[:1]) == []


def test_people_of_the_owner_that_is_shown(copied: Path) -> None:
    both = graph_of(2)
    stranger = Photo("q", "cy", "f", "2021-01-01T00:00:00")
    graph = replace(
        both,
        photos={**both.photos, "q": stranger},
        events={**both.events, "f": EventNode("f", "cy", ("q",))},
        people={"cy#1": Person("cy#1", "cy", "Di", ("q",))},
    )
    write_graph(graph, copied / "mined" / "graph.jsonl")
    opened = client(open_app(None, (copied,), port=8377, embedder=Colours()))
    assert "Di" not in opened.get("/graph/mined").text and "Di" in opened.get("/graph/mined?owner=cy").text
