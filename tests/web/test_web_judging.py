"""Judging what systems returned: what is shown, what is kept, when it is settled, and by a person in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import sightline
from pictures import random_picture
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.review_decisions import read_reviews
from sightline.runs.folder import write_run
from sightline.types import Benchmark, Corpus, Picture, Run, Task
from sightline.web.server import open_app
from web_samples import client, forgery_token, serving

TASKS = 40
AT = "/judge/bench?runs=good%2Cpoor"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """40 queries without labels; one system has the right picture first, the other has it nowhere."""
    root = tmp_path / "shelf"
    names = [f"p{number}.png" for number in range(TASKS)]
    (root / "pictures").mkdir(parents=True)
    for number, name in enumerate(names):
        random_picture(number, (32, 24)).save(root / "pictures" / name)
    pictures = {name: Picture(name, (root / "pictures" / name).as_uri()) for name in names}
    tasks = {f"q{number}": Task(f"q{number}", "rank", (f"find number {number}",)) for number in range(TASKS)}
    bench = write_benchmark(Benchmark("bench", Corpus("bench", pictures), tasks, {}), root / "bench")
    for system, shift in (("good", 0), ("poor", 1)):
        ranked = {
            f"q{number}": [names[(number + shift + step) % TASKS] for step in (0, 7, 13)] for number in range(TASKS)
        }
        write_run(Run.from_rankings(ranked, benchmark=bench, system=system), root / "runs" / system)
    return root


@pytest.fixture
def app(shelf: Path) -> TestClient:
    found = client(open_app(None, (shelf,)))
    found.cookies.set("sightline-person", "ana")
    return found


def hidden(page: str) -> dict[str, str]:
    """The fields of the form that decides."""
    form = (
        page.split('id="decide"')[1].split("</form>")[0]
        if 'id="decide"' in page
        else page.split("What is decided on")[1]
    )
    return dict(re.findall(r'name="([^"]+)" value="([^"]*)"', form.split("<button")[0]))


def right(fields: dict[str, str]) -> bool:
    return fields["picture"] == f"p{fields['task'].removeprefix('q')}.png"


def decide(app: TestClient, page: str, decision: str, **more: str) -> str:
    reply = app.post("/judge/bench", data={**hidden(page), "csrf": forgery_token(page), "decision": decision, **more})
    assert reply.status_code == 200, reply.text
    return str(reply.text)


def test_a_person_judges_until_it_is_settled_and_every_decision_is_kept(app: TestClient, shelf: Path) -> None:
    page = app.get(AT).text
    assert "nothing is known yet" in page and "find number" in page and "In 30 minutes" in page
    assert ".png</" not in page, "what a judge sees has no file name"
    made = 0
    while "Settled after" not in page:
        page = decide(app, page, "3" if right(hidden(page)) else "0")
        made += 1
        assert made < 2 * TASKS
    assert "good is better than poor" in page
    kept = read_reviews(shelf / "bench")
    assert [one.person for one in kept] == ["ana"] * made
    found = sightline.assess(shelf / "bench", [shelf / "runs" / "good", shelf / "runs" / "poor"])
    assert (found.settled, found.spent) == (True, made), "the page and Python see the same"


def test_what_is_measured_and_failures_are_told_without_a_click(app: TestClient, shelf: Path) -> None:
    assert "a difference is larger in nDCG@10" in app.get("/judge/bench").text
    made = read_benchmark(shelf / "bench")
    some = {f"q{number}": [f"p{number}.png"] for number in range(TASKS - 4)}
    write_run(Run.from_rankings(some, benchmark=made, system="failing"), shelf / "runs" / "failing")
    page = app.get("/judge/bench?runs=failing%2Cpoor").text
    assert "failing failed on 4 queries" in page.split("<details>")[0]


def test_what_was_decided_can_be_taken_back(app: TestClient, shelf: Path) -> None:
    page = app.get(AT).text
    first = hidden(page)
    page = decide(app, page, "2")
    assert hidden(page)["picture"] != first["picture"] and ">Undo" in page.replace("</kbd> ", ">")
    reply = app.post("/judge/bench/undo", data={**hidden(page), "csrf": forgery_token(page)})
    again = hidden(reply.text)
    assert (again["task"], again["picture"]) == (first["task"], first["picture"])
    assert "0 decisions" in reply.text


def test_several_pictures_of_one_query_are_marked_at_once(app: TestClient, shelf: Path) -> None:
    page = app.get(f"{AT}&grid=1").text
    shown = re.findall(r'name="shown-(\d+)" value="([^"]+)"', page)
    assert len(shown) > 1
    fields = {**hidden(page), **{f"shown-{at}": name for at, name in shown}, "fits-0": "1"}
    fields = {name: value for name, value in fields.items() if name == "fits-0" or not name.startswith("fits-")}
    assert app.post("/judge/bench", data={**fields, "csrf": forgery_token(page)}).status_code == 200
    said = {one.picture: one.decision for one in read_reviews(shelf / "bench")}
    assert said == {name: "3" if at == "0" else "0" for at, name in shown}


def test_which_runs_are_judged_is_asked_first(app: TestClient, shelf: Path) -> None:
    page = app.get("/judge/bench").text
    assert "Which systems?" in page and 'name="run-good"' in page and 'name="run-poor"' in page
    assert "find number" in app.get("/judge/bench?run-good=1&run-poor=1").text
    assert "Which systems?" in app.get("/judge/bench?runs=good,elsewhere").text
    assert "Judge systems" in app.get("/bench/bench").text
    assert 'name="within" value="0.02"' in app.get("/judge/bench?run-good=1&run-poor=1&within=0.02").text


def test_runs_that_a_benchmark_keeps_are_found_in_its_folder(shelf: Path) -> None:
    (shelf / "runs").rename(shelf / "bench" / "runs")
    app = client(open_app(None, (shelf / "bench",)))
    page = app.get("/judge/bench").text
    assert 'name="run-good"' in page and 'name="run-poor"' in page


def test_guidelines_of_the_benchmark_are_shown(app: TestClient, shelf: Path) -> None:
    (shelf / "bench" / "guidelines.md").write_text("Count <b>only</b> what is in focus.")
    assert "Count &lt;b&gt;only&lt;/b&gt; what is in focus." in app.get(AT).text
    secret = shelf.parent / "secret"
    secret.write_text("not for judges")
    (shelf / "bench" / "guidelines.md").unlink()
    (shelf / "bench" / "guidelines.md").symlink_to(secret)
    assert "not for judges" not in app.get(AT).text


@pytest.mark.parametrize(
    ("change", "status"),
    [({"decision": "9"}, 400), ({"picture": "../x"}, 400), ({"runs": "good"}, 400), ({"of": "other"}, 409)],
)
def test_a_form_that_was_not_ours_is_refused_and_nothing_is_kept(
    app: TestClient, shelf: Path, change: dict[str, str], status: int
) -> None:
    page = app.get(AT).text
    fields = {**hidden(page), "csrf": forgery_token(page), "decision": "1", **change}
    assert app.post("/judge/bench", data=fields).status_code == status
    assert read_reviews(shelf / "bench") == ()


def test_two_people_under_one_name_are_told_and_a_closed_browser_loses_nothing(app: TestClient, shelf: Path) -> None:
    other = client(open_app(None, (shelf,)))
    other.cookies.set("sightline-person", "ana")
    page, same = app.get(AT).text, other.get(AT).text
    assert hidden(page)["picture"] == hidden(same)["picture"]
    assert "choose another name" not in decide(app, page, "3")
    told = decide(other, same, "0")
    assert "ana had graded that picture already" in told and "1 decision<" in told
    fields = {"csrf": forgery_token(told), "back": "bench", "judge": AT.split("?")[1], "person": "eva"}
    renamed = other.post("/review", data=fields).text
    assert "as eva" in renamed and "choose another name" not in renamed
    assert "1 decision<" in client(open_app(None, (shelf,))).get(AT).text, "a browser that comes later sees the same"


def test_nobody_judges_without_a_name(shelf: Path) -> None:
    stranger = client(open_app(None, (shelf,)))
    page = stranger.get(AT).text
    assert "Who are you?" in page and "Does the picture fit?" not in page
    fields = {"csrf": forgery_token(page), "back": "bench", "judge": f"{AT.split('?')[1]}&path=x", "person": "eva"}
    assert "Does the picture fit?" in stranger.post("/review", data=fields).text


def test_by_keys_in_a_browser_also_on_a_phone(shelf: Path, browser: Any) -> None:
    with serving(shelf) as app:
        for size in ({"width": 1280, "height": 800}, {"width": 390, "height": 844}):
            context = browser.new_context(viewport=size)
            page = context.new_page()
            wrong: list[str] = []
            page.on("pageerror", lambda error, wrong=wrong: wrong.append(str(error)))
            page.goto(f"{app.address}/judge/bench")
            page.click("text=Begin")
            page.fill("input[name=person]", "ben")
            page.click("text=That is me")
            before = page.locator("img[alt='The picture to judge']").get_attribute("src")
            with page.expect_navigation():
                page.keyboard.press("3")
            assert page.locator("img[alt='The picture to judge']").get_attribute("src") != before
            with page.expect_navigation():
                page.keyboard.press("u")
            assert page.locator("img[alt='The picture to judge']").get_attribute("src") == before
            with page.expect_navigation():
                page.keyboard.press("g")
            page.keyboard.press("1")
            assert page.locator(".mark input:checked").count() == 1
            with page.expect_navigation():
                page.keyboard.press("Enter")
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
            assert wrong == []
            context.close()
    assert {one.person for one in read_reviews(shelf / "bench")} == {"ben"}
