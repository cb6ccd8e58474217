"""Search by picture on a web of one's own, and the same run years later: offline, from the run alone."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson
import pytest
from aiohttp import web

import models_server as wire
import sightline
from agent_bench import small_bench
from agent_stand_ins import call, calls, png, says
from app_in_thread import app_in_thread
from search_tools import Colours, paint
from sightline.agent.replay import replay_task
from sightline.agent.trajectory import read_trajectory
from sightline.agent.web import WebPage, WebPicture, open_web
from sightline.benchmark.folder import write_benchmark
from sightline.runs.folder import read_run
from sightline.types import Failure, Text

EXAMPLE = Path(__file__).parents[2] / "examples" / "picture_index.py"


class PictureIndex:
    """An index of one page with a picture; notes what it was asked, and what was sent to it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.sent: list[bytes] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        if request.path == "/picture":
            return web.Response(body=png(5), content_type="image/png")
        if request.path == "/page":
            return web.json_response({"url": request.query["url"], "title": "Boats", "text": "It is the Marigold."})
        self.sent.append(await request.read())
        row = {"url": "https://boats.test/1.png", "page": "https://boats.test/", "caption": "a boat"}
        return web.json_response({"results": [row]})


def searching(received: wire.Received) -> wire.Answer:
    """Searches by the task's picture, reads the page, and answers with what stands there."""
    said = [message for message in received.json["messages"] if message["role"] == "tool"]
    if not said:
        return calls(call("WebImageSearch", {"photo": "ana/0.png", "show": 1}))
    if len(said) == 1:
        return calls(call("OpenPage", {"url": "https://boats.test/"}))
    told = orjson.dumps(said[-1]["content"]).decode()
    return says(f"The final answer is: {'the Marigold' if 'Marigold' in told else 'unknown'}.")


def other(received: wire.Received) -> wire.Answer:
    """Asks the web something new."""
    if not any(message["role"] == "tool" for message in received.json["messages"]):
        return calls(call("WebSearch", {"query": "boats"}))
    return says("The final answer is: a boat.")


@pytest.fixture
def index() -> Iterator[tuple[PictureIndex, str]]:
    held, app = PictureIndex(), web.Application()
    app.router.add_route("*", "/{tail:.*}", held.answer)
    with app_in_thread(app) as url:
        yield held, url


def one_question(folder: Path) -> None:
    made = small_bench(folder / "bench")
    tasks, truth = {"say": made.tasks["say"]}, {"say": made.truth["say"]}
    write_benchmark(replace(made, tasks=tasks, truth=truth), folder / "bench", force=True)


def run(folder: Path, model: Any, web_: str, out: str, **more: Any) -> Any:
    options = "".join(f",{name}={value}" for name, value in more.items())
    with wire.serving_in_thread(model) as server:
        spec = f"agent:model=vllm/stub,base_url={server.base_url},without=ImageSearch+SimilarTo,web={web_}{options}"
        sightline.run(folder / "bench", spec, folder / out, workspace=folder / f"ws-{out}")
    (attempt,) = read_run(folder / out).attempts
    return attempt.prediction


def test_a_search_by_picture_is_repeated_from_the_run_alone(tmp_path: Path, index: tuple[PictureIndex, str]) -> None:
    held, url = index
    one_question(tmp_path)
    assert run(tmp_path, searching, f"index:{url}", "first", share_pictures="true") == Text("the Marigold")
    assert held.asked == ["/pictures", "/picture", "/page"]
    assert held.sent[0].startswith(b"\xff\xd8") and b"Exif" not in held.sent[0]
    shutil.rmtree(tmp_path / "ws-first")
    shutil.move(tmp_path / "first", tmp_path / "kept")
    assert run(tmp_path, searching, f"frozen:{tmp_path / 'kept'}", "again") == Text("the Marigold")
    assert len(held.asked) == 3
    assert replay_task(tmp_path / "kept", "say", benchmark=tmp_path / "bench", workspace=tmp_path / "ws").same


def test_without_consent_the_picture_stays(tmp_path: Path, index: tuple[PictureIndex, str]) -> None:
    held, url = index
    one_question(tmp_path)
    run(tmp_path, searching, f"index:{url}", "first", share_metadata="true")
    assert not held.sent
    (first, _) = [use for step in read_trajectory(tmp_path / "first", "say").turns for use in step.uses]
    assert first.error and "not sent to the web" in first.observation


def test_what_a_frozen_web_does_not_hold_is_a_failure(tmp_path: Path, index: tuple[PictureIndex, str]) -> None:
    one_question(tmp_path)
    run(tmp_path, searching, f"index:{index[1]}", "first", share_pictures="true")
    missed = run(tmp_path, other, f"frozen:{tmp_path / 'first'}", "other")
    assert isinstance(missed, Failure) and missed.kind == "not-frozen" and "1 request" in missed.message


@pytest.fixture
def example() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("picture_index", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["picture_index"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["picture_index"]


def test_the_example_serves_a_folder_of_saved_pages(tmp_path: Path, example: ModuleType) -> None:
    for name in ("red", "blue"):
        paint(tmp_path / "pages" / "a folder" / f"{name} boat.png", name)
        html = f'<title>{name} boats</title><p>All about {name}.</p><img src="{name} boat.png" alt="one {name} boat">'
        (tmp_path / "pages" / "a folder" / f"{name}.html").write_text(html.replace(" boat.png", "%20boat.png"))
    paint(tmp_path / "pages" / "private.png", "red")

    async def ask(url: str) -> list[Any]:
        held = open_web(f"index:{url}", local_only=True)
        try:
            pages, worded = await held.search("about red", 5), await held.search_pictures("blue", 1)
            assert not isinstance(pages, Failure)
            alike = await held.search_pictures((tmp_path / "pages" / "private.png").read_bytes(), 1)
            assert not isinstance(alike, Failure)
            page, data = await held.open(pages[0].url), await held.picture(alike[0].url)
            return [pages, worded, alike, page, data, await held.picture("https://pages.invalid/private.png")]
        finally:
            await held.close()

    with sightline.Session(tmp_path / "ws") as session:
        saved = example.SavedPages(tmp_path / "pages", session, Colours())
        with app_in_thread(example.make_app(saved)) as url:
            pages, worded, alike, page, data, private = asyncio.run(ask(url))
    red, blue = (f"https://pages.invalid/a%20folder/{name}" for name in ("red", "blue"))
    assert [hit.url for hit in pages] == [f"{red}.html", f"{blue}.html"] and pages[0].title == "red boats"
    assert worded == [WebPicture(f"{blue}%20boat.png", f"{blue}.html", "one blue boat")]
    assert alike == [WebPicture(f"{red}%20boat.png", f"{red}.html", "one red boat")]
    assert isinstance(page, WebPage) and "All about red." in page.text
    assert data == (tmp_path / "pages" / "a folder" / "red boat.png").read_bytes()
    assert isinstance(private, Failure) and private.kind == "not-found", "no page shows it"
