"""What pages say: in words for people, once, and true; and what they leave out."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import orjson
import pytest
from starlette.testclient import TestClient

from search_tools import Colours
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.reports.scored_run import compare_runs, read_scored
from sightline.reports.text import day
from sightline.types import Candidate, Group, Json, PictureSet
from sightline.types.task_table import Tasks
from sightline.web.agent_steps import arguments_of
from sightline.web.pages.compare import _differences
from sightline.web.pages.map import _EDGE, _graticule
from sightline.web.server import open_app, reached_as
from web_samples import client, make_large


@pytest.fixture(scope="module")
def app(life: Path) -> Iterator[TestClient]:
    with client(open_app(None, (life,), port=8377, embedder=Colours())) as opened:
        yield opened


def opened(root: Path) -> TestClient:
    return client(open_app(None, (root,), port=8377, embedder=Colours()))


# -- overview


def test_the_overview_says_what_each_thing_is(app: TestClient) -> None:
    page = app.get("/").text
    assert "samples" in page and re.search(r"\d+ tasks, version 1, in benchmark", page)
    assert re.search(r"sample-strong on samples: ndcg@10 0\.\d{3}", page) and "by a and b" in page


def test_the_overview_tells_what_cant_be_read_from_what_was_not_scored(copied: Path) -> None:
    (copied / "benchmark" / "benchmark.json").write_text("{")
    (copied / "runs" / "sample-weak" / "scores.json").unlink()
    page = opened(copied).get("/").text
    assert "can&#39;t be read" in page and page.count("not scored yet") == 1


def test_one_is_one(tmp_path: Path) -> None:
    page = client(open_app(make_large(tmp_path, 1), port=8377)).get("/").text
    assert "1</b> picture<" in page


# -- the corpus


def test_groups_have_names_for_people(app: TestClient, life: Path) -> None:
    page = app.get("/timeline").text
    title = re.search(r"<h3><a [^>]*group=event%2F[^>]*>([^<]*)</a>", page)
    assert title is not None and re.fullmatch(r"\d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d", title[1])
    groups = app.get("/groups?kind=duplicate").text
    assert "Copies of " in groups and ">duplicate/" not in groups
    one = re.search(r"group=(event%2F[^&\"]*)", page)
    assert one is not None and f"Group: <bdi>{title[1]}</bdi>" in app.get(f"/search?group={one[1]}").text


def test_limits_of_the_grid_are_said_in_words(app: TestClient) -> None:
    page = app.get("/search?box=-1.5,-20,2,30&device=%3F").text
    assert "Map: <bdi>20.00° S to 30.00° N, 1.50° W to 2.00° E</bdi>" in page and "Camera: <bdi>unknown</bdi>" in page


def test_without_a_corpus_it_is_said_in_a_sentence(life: Path) -> None:
    said = client(open_app(None, (life / "benchmark",), port=8377)).get("/search").text
    assert "There are no pictures here yet. Add a folder under Jobs, or with sightline scan DIR." in said


def test_coordinates_lead_to_the_map(app: TestClient) -> None:
    ids = [row[1] for row in app.get("/api/pictures?limit=60").json()]
    pages = (app.get("/picture", params={"id": id_}).text for id_ in ids)
    found = next(link for page in pages if (link := re.search(r'<dd dir="auto"><a href="(/map\?box=[^"]*)"', page)))
    assert "0 pictures with coordinates" not in app.get(found[1].replace("&amp;", "&")).text


def test_a_picture_with_coordinates_says_where_that_is(app: TestClient) -> None:
    ids = [row[1] for row in app.get("/api/pictures?limit=60").json()]
    pages = [app.get("/picture", params={"id": id_}).text for id_ in ids]
    told = [page for page in pages if '<dt>Place</dt><dd dir="auto">near ' in page]
    assert len(told) > 10 and all("<dt>Coordinates</dt>" in page for page in told)


def test_names_of_the_graticule_do_not_lie_over_each_other() -> None:
    lines = [line for line in _graticule((-180.0, -90.0, 180.0, 90.0)) if _EDGE < line.at < 100 - _EDGE]
    assert {line.label for line in lines if not line.is_down} == {"60°S", "30°S", "0°", "30°N", "60°N"}
    assert "180°W" not in {line.label for line in lines}


# -- search


def test_a_filter_alone_shows_its_pictures(app: TestClient) -> None:
    page = app.get("/search", params={"where": "owner:ana", "similar": "all"}).text
    assert "26 of 60" in page and page.count('<a class="tile') == 26
    assert "Nothing matches" in app.get("/search", params={"where": "owner:nobody"}).text
    assert app.get("/search", params={"where": "tiem > 2"}).text.count("Did you mean") == 1


def test_a_picture_to_look_like_is_none_by_its_path(app: TestClient) -> None:
    said = app.get("/search", params={"like": "/etc/passwd"}).text
    assert "drop one here" in said and "path of a file" not in said


# -- benchmarks


def mined(copied: Path, extra: dict[str, Json]) -> str:
    """One select task as mining leaves it, with two pictures beside the set."""
    folder = copied / "benchmark"
    held = read_benchmark(folder)
    task = next(task for task in held.tasks.values() if task.kind == "select")
    truth = held.truth[task.id]
    assert isinstance(truth, PictureSet)
    others = [one for one in held.corpus.pictures if one not in truth.pictures][:2]
    pool = [Candidate(task.id, one, "hard", 0.5) for one in others]
    event: Json = {
        "from": "2024-05-01T10:00:00",
        "to": "2024-05-01T12:30:00",
        "where": "Biarritz, France",
        "anchor": True,
        "meant": True,
        "pictures": [*others, *truth.pictures],
    }
    far: Json = {"from": "2020-01-01T00:00:00", "meant": True, "pictures": [*others]}
    origin: Json = {
        "anchor": {"text": "a white bench", "pictures": [*others]},
        "link": None,
        "target": {"text": "a dog", "pictures": list(truth.pictures)},
        "events": [event, far],
        **extra,
    }
    asked = replace(task, extra={"mined": origin})
    small = replace(held, tasks=Tasks({task.id: asked}), truth={task.id: truth}, candidates=tuple(pool), judgments=())
    write_benchmark(small, folder)
    return task.id


def test_a_mined_request_shows_where_it_comes_from(copied: Path) -> None:
    task = mined(copied, {})
    page = opened(copied).get("/bench/benchmark/task", params={"id": task}).text
    assert "Singled out by: <b>a white bench</b>" in page and "Wanted: <b>a dog</b>" in page and "Leads on" not in page
    assert "1 May 2024, 10:00 to 12:30, Biarritz, France" in page and "singled out by the words, and meant" in page
    assert "1 more occasion where it is looked for" in page


@pytest.mark.parametrize("extra", [{"events": "?", "anchor": 3}, {"events": [1, {}], "target": {"text": 5}}])
def test_what_others_wrote_into_a_mined_request_does_no_harm(copied: Path, extra: dict[str, Json]) -> None:
    task = mined(copied, extra)
    assert opened(copied).get("/bench/benchmark/task", params={"id": task}).status_code == 200


def test_beside_a_set_is_not_relevant_and_not_unjudged(copied: Path) -> None:
    task = mined(copied, {})
    page = opened(copied).get("/bench/benchmark/task", params={"id": task}).text
    assert page.count("<b>0</b></a>") == 2 and "<b>?</b></a>" not in page
    assert page.count('title="not relevant"') == 2 and 'title="not judged"' not in page


def test_the_query_is_the_headline_of_its_page(app: TestClient) -> None:
    page = app.get("/bench/benchmark/task?id=rank-01").text
    headline = re.search(r"<h1[^>]*>\s*(.*?)\s*</h1>", page, re.DOTALL)
    assert headline is not None and "rank-01" not in headline[1] and len(headline[1]) > 5
    assert "<b>0</b></a>" in page  # Grade 0 is a label.


# -- runs


def test_a_run_without_scores_is_told_how_to_get_them(copied: Path) -> None:
    (copied / "runs" / "sample-weak" / "scores.json").unlink()
    page = opened(copied).get("/runs").text
    assert "<b>sample-weak</b> not scored yet: sightline score BENCH demo/runs/sample-weak" in page


def test_only_runs_on_the_same_benchmark_are_offered_to_compare_with(copied: Path) -> None:
    path = copied / "runs" / "sample-weak" / "run.json"
    path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | {"benchmark": "another"}))
    page = opened(copied).get("/runs/sample-strong").text
    assert "<option>sample-middling</option>" in page and "<option>sample-weak</option>" not in page


def test_metrics_of_tasks_that_neither_did_are_not_compared(life: Path) -> None:
    runs = [read_scored(life / "runs" / name) for name in ("sample-weak", "sample-strong")]
    pairs = compare_runs(runs).comparison
    assert pairs is not None
    lazy = [
        replace(
            run,
            scores=replace(
                run.scores,
                tasks=tuple(
                    replace(row, status="missing") if row.kind == "answer" else row for row in run.scores.tasks
                ),
            ),
        )
        for run in runs
    ]
    all_metrics, left = (
        {getattr(row[0], "text", row[0]) for row in _differences(held, pairs.pairs).rows} for held in (runs, lazy)
    )
    of_answers = {metric for run in runs for row in run.scores.tasks if row.kind == "answer" for metric in row.values}
    others = {metric for run in runs for row in run.scores.tasks if row.kind != "answer" for metric in row.values}
    assert all_metrics - left == of_answers - others != set()


def test_arguments_of_a_call_are_told_shortly() -> None:
    photos = [f"p{number}" for number in range(22)]
    told = dict(arguments_of(orjson.dumps({"photos": photos, "two": ["a", "b"], "k": 3, "text": "x"}).decode()))
    assert told == {"photos": "22 of them", "two": "a, b", "k": "3", "text": "x"}
    assert arguments_of("{") == (("", "{"),) and arguments_of("[1]") == (("", "[1]"),) and arguments_of("") == ()


def test_a_subset_shrinks_from_all_pictures_on(app: TestClient) -> None:
    page = app.get("/runs/sample-strong/replay?task=rank-01").text
    assert [float(share) for share in re.findall(r'class="part" width="([\d.]+)"', page)] == [15.0, 6.7]  # 9, 4 of 60


# -- saved pages, addresses


def test_saved_pages_have_names_of_their_own_and_no_dead_links(app: TestClient) -> None:
    names = [
        app.get(path).headers["content-disposition"]
        for path in (
            "/bench/benchmark/task?id=rank-01&export=1",
            "/bench/benchmark/task?id=rank-02&export=1",
            "/compare?a=sample-weak&b=sample-strong&export=1",
            "/?export=1",
        )
    ]
    assert [re.findall('"(.*)"', name)[0] for name in names] == [
        "bench-benchmark-task-rank-01.html",
        "bench-benchmark-task-rank-02.html",
        "compare-sample-weak-sample-strong.html",
        "sightline.html",
    ]
    saved = app.get("/search?owner=ana&export=1").text
    assert 'href="?' not in saved and "×" not in saved.split("<main")[1]


def test_what_is_not_there_is_no_page_to_save(app: TestClient) -> None:
    reply = app.get("/nowhere?export=1")
    assert reply.status_code == 404 and "content-disposition" not in reply.headers


def test_the_address_is_one_that_others_can_open() -> None:
    assert reached_as("127.0.0.1") == "127.0.0.1" and reached_as("::1") == "[::1]"
    assert reached_as("0.0.0.0") not in ("", "0.0.0.0")


def test_days_are_said_in_words() -> None:
    assert day("2024-06-10T09:00:00+02:00") == "10 June 2024" and day("some time") == "some time"


def test_benchmarks_of_one_name_are_told_apart(copied: Path) -> None:
    shutil.copytree(copied / "benchmark", copied / "later" / "benchmark")
    app = opened(copied)
    for path in ("/", "/bench", "/review"):
        page = app.get(path).text
        assert "in benchmark" in page and "in later-benchmark" in page
    assert "in benchmark" in app.get("/runs").text


def test_who_reviews_a_mined_request_sees_the_occasion_but_not_the_answer(copied: Path) -> None:
    task = mined(copied, {})
    folder = copied / "benchmark"
    held = read_benchmark(folder)
    truth = held.truth[task]
    assert isinstance(truth, PictureSet)
    wanted, other = truth.pictures[0], held.candidates[0].picture
    event = Group("event/x", "event", (wanted, other), hidden=True)
    at = {id_: replace(held.corpus.pictures[id_], taken_at=datetime(2024, 5, 1, 10, 30)) for id_ in (wanted, other)}
    corpus = replace(held.corpus, pictures={**held.corpus.pictures, **at}, groups=(event,))
    write_benchmark(replace(held, corpus=corpus), folder)
    app = opened(copied)
    app.cookies.set("sightline-person", "ana")
    page = app.get("/review/benchmark", params={"task": task, "picture": other}).text
    assert re.search(r"<h3>1 May 2024, 10:30[^<]* <small>2 pictures</small>", page)
    assert "All that is known of the picture" in page
    assert "Singled out by: <b>a white bench</b>" in page and "Wanted" not in page and 'class="tile right"' not in page
