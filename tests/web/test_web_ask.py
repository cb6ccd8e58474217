"""A question to the agent: its steps arrive one by one, subsets and evidence with them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from starlette.testclient import TestClient

import models_server as wire
from agent_stand_ins import call, calls
from search_tools import Colours, paint
from sightline.calls.session import Session
from sightline.pictures import scan
from sightline.web.app import build
from sightline.web.server import open_app
from web_samples import Served, client, forgery_token, serving


class Script:
    """Searches, waits until it is allowed to go on, and answers."""

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def __call__(self, received: wire.Received) -> wire.Answer:
        used = [message for message in received.json["messages"] if message["role"] == "tool"]
        if not used:
            return calls(call("ImageSearch", {"text": "red", "top_k": 2, "save_as": "reds"}), text="I look for red.")
        self.go_on.wait(30)
        return calls(call("Finish", {"answer": "One <b>is</b> red.", "evidence": ["red.png"], "reason": "I saw it."}))


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def asked(tmp_path: Path, script: Script) -> Iterator[Served]:
    for colour in ("red", "yellow", "blue"):
        paint(tmp_path / "pictures" / f"{colour}.png", colour)
    scan(tmp_path / "pictures", workspace=tmp_path / "ws")
    with (
        wire.serving_in_thread(script) as model,
        serving(tmp_path, model="vllm/stub", embedder=Colours(), session=Session(base_url=model.base_url)) as app,
    ):
        yield app


def read_events(lines: Iterator[str]) -> Iterator[tuple[str, str, Any]]:
    event: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            event[name] = value
        elif event:
            yield event["id"], event["event"], orjson.loads(event["data"])
            event = {}


def test_steps_arrive_before_the_answer_does(asked: Served, script: Script) -> None:
    import httpx

    with httpx.Client(base_url=asked.address, timeout=60) as browser:
        token = forgery_token(browser.get("/ask").text)
        page = browser.post("/ask", data={"question": "which is red?", "csrf": token}, follow_redirects=True)
        job = str(page.url).rpartition("/")[2]
        seen = []
        with browser.stream("GET", f"/ask/{job}/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            for number, kind, data in read_events(stream.iter_lines()):
                seen.append((number, kind))
                if len(seen) == 1:
                    assert "I look for red." in data["html"] and "ImageSearch" in data["html"]
                    assert "reds" in data["html"] and "2 pictures" in data["html"]
                    script.go_on.set()  # Only now may the model say more.
        assert [kind for _, kind in seen] == ["step", "step", "done"]
        assert "One &lt;b&gt;is&lt;/b&gt; red." in data["html"] and "Evidence" in data["html"]
        assert data["html"].count("/thumb/") == 1
        with browser.stream("GET", f"/ask/{job}/events", headers={"last-event-id": seen[0][0]}) as stream:
            rest = [(number, kind) for number, kind, _ in read_events(stream.iter_lines())]
        assert rest == seen[1:]
        before = browser.get("/ask").text
        assert "which is red?" in before and "/runs/asked/replay?task=" in before
        kept = before.split("/runs/asked/replay?task=")[1].split('"')[0]
        assert "because I saw it." in browser.get(f"/runs/asked/replay?task={kept}").text


def test_a_question_without_a_model_is_told_what_to_do(life: Path) -> None:
    with client(open_app(None, (life,), port=8377, embedder=Colours())) as app:
        token = forgery_token(app.get("/ask").text)
        page = app.post("/ask", data={"question": "what?", "csrf": token})
        assert 'aria-label="Model that answers"' in page.text
        job = str(page.url).rpartition("/")[2]
        assert "--model" in app.get(f"/ask/{job}/events").text
        assert app.get("/ask/none").status_code == 404
        assert app.post("/ask", data={"question": " ", "csrf": token}).status_code == 200


def test_a_model_is_named_on_this_machine_alone(asked: Served, script: Script, life: Path) -> None:
    asked.desk.live.model = None
    script.go_on.set()
    with client(asked.desk) as app:
        fields = {"question": "which is red?", "model": "vllm/stub", "csrf": forgery_token(app.get("/ask").text)}
        job = str(app.post("/ask", data=fields).url).rpartition("/")[2]
        assert "One &lt;b&gt;is&lt;/b&gt; red." in app.get(f"/ask/{job}/events").text
        assert 'value="vllm/stub"' in app.get("/ask").text, "it is kept for the next question"
    elsewhere = open_app(None, (life,), host="0.0.0.0", port=8377)
    others = TestClient(build(elsewhere), base_url="http://192.168.1.5:8377")
    others.cookies.set("sightline-8377-token", str(elsewhere.guard.token))
    page = others.get("/ask").text
    assert "Model that answers" not in page and "Start the app with one" in page
    others.post("/ask", data={**fields, "csrf": forgery_token(page)})
    assert elsewhere.live.model is None


def test_only_two_are_answered_at_once(asked: Served, script: Script) -> None:
    live = asked.desk.live
    first, second = live.start("one?"), live.start("two?")
    assert first is not None and second is not None and live.start("three?") is None
    script.go_on.set()
    for job in (first, second):
        while not job.done:
            threading.Event().wait(0.02)
    assert first.asked is not None and second.asked is not None
