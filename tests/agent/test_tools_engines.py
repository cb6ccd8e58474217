"""Search engines by their HTTP forms, against stand-ins on this machine; and a web that remembers."""

from __future__ import annotations

import asyncio
import io
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from aiohttp import web
from PIL import Image

from agent_tools import StubWeb
from sightline.agent.web import FrozenWeb, OfflineWeb, Web, WebHit, WebPage, WebPicture, open_web
from sightline.agent.web.engines import Brave, SearchedWeb, SearXNG, SerpApi, Serper
from sightline.config.section import Hidden
from sightline.errors import UserError
from sightline.types import Failure

KEY = "k-1234567890-secret"
LONG = "x" * 5000


async def _searxng(request: web.Request) -> web.Response:
    assert request.method == "GET" and request.query["format"] == "json"
    if request.query["categories"] == "images":
        return web.json_response(
            {"results": [{"img_src": "https://i.test/1.jpg", "url": "https://a.test", "title": "t"}]}
        )
    rows = [{"url": "https://a.test/", "title": "A\n title", "content": LONG}, {"url": "javascript:1"}, "rubbish", {}]
    return web.json_response({"results": rows})


async def _serper(request: web.Request) -> web.Response:
    if request.headers.get("X-API-KEY") != KEY:
        return web.Response(status=403)
    asked = await request.json()
    assert request.method == "POST" and asked["q"] == "dogs & cats" and asked["num"] == 3
    if request.path.endswith("/images"):
        return web.json_response(
            {"images": [{"imageUrl": "https://i.test/1.jpg", "link": "https://a.test", "title": "t"}]}
        )
    return web.json_response({"organic": [{"link": "https://a.test/", "title": "A", "snippet": "s"}] * 9})


async def _brave(request: web.Request) -> web.Response:
    if request.headers.get("X-Subscription-Token") != KEY:
        return web.Response(status=401)
    assert request.query["q"] == "dogs & cats" and request.query["count"] == "3"
    if "/images/" in request.path:
        row = {"title": "t", "url": "https://a.test", "properties": {"url": "https://i.test/1.jpg"}}
        return web.json_response({"results": [row]})
    return web.json_response({"web": {"results": [{"url": "https://a.test/", "title": "A", "description": "s"}]}})


async def _limited(request: web.Request) -> web.Response:
    return web.Response(status=429)


async def _rubbish(request: web.Request) -> web.Response:
    return web.Response(text="<html>", content_type="application/json")


async def _elsewhere(request: web.Request) -> web.Response:
    raise web.HTTPFound("http://127.0.0.1:1/")


class SerpApiStandIn:
    """Follows SerpApi's pages on its Google, Google Images and Google Lens engines, and its upload of pictures."""

    def __init__(self) -> None:
        self.uploads: list[bytes] = []

    async def answer(self, request: web.Request) -> web.Response:
        if request.path == "/image":
            form = await request.post()
            if request.method != "POST" or form["api_key"] != KEY:
                return web.json_response({"error": "Invalid API key."}, status=401)
            held = form["image"]
            assert isinstance(held, web.FileField)
            self.uploads.append(held.file.read())
            return web.json_response({"image_id": "img-1"})
        assert request.method == "GET" and request.path == "/search"
        if request.query.get("api_key") != KEY:
            return web.json_response({"error": f"Invalid API key {request.query['api_key']}"}, status=401)
        return web.json_response(self.found(request.query))

    def found(self, asked: Any) -> dict[str, Any]:
        row = {"position": 1, "title": "t", "link": "https://a.test"}
        if asked["engine"] == "google_lens":
            assert asked["image_id"] == "img-1" and asked["type"] == "visual_matches" and "q" not in asked
            thumb = {**row, "thumbnail": "https://i.test/small.jpg"}
            return {"visual_matches": [{**row, "image": "https://i.test/1.jpg"}, thumb, {"title": "no address"}]}
        if asked["q"] == "nothing":
            return {"error": "Google hasn't returned any results for this query."}
        if asked["q"] == "broken":
            return {"error": f"We could not process it. {KEY}"}
        if asked["engine"] == "google_images":
            return {"images_results": [{**row, "original": "https://i.test/1.jpg"}]}
        return {"organic_results": [{**row, "link": "https://a.test/", "title": "A", "snippet": "s"}] * 9}


async def _index(request: web.Request) -> web.Response:
    """Follows the contract of docs/tools.md."""
    if request.headers.get("Authorization") != f"Bearer {KEY}":
        return web.Response(status=401)
    call, asked = (request.method, request.path.lstrip("/")), request.query
    if call == ("GET", "search"):
        return web.json_response({"results": [{"url": "https://a.test/", "title": "A", "text": asked["q"]}] * 9})
    if call == ("GET", "pictures") or (call == ("POST", "pictures") and await request.read() == b"\xff\xd8jpeg"):
        return web.json_response(
            {"results": [{"url": "https://i.test/1.jpg", "page": "https://a.test", "caption": "t"}]}
        )
    if call == ("GET", "page") and asked["url"] == "https://a.test/":
        return web.json_response({"url": "https://a.test/", "title": "A", "text": LONG})
    if call == ("GET", "picture") and asked["url"] == "https://i.test/1.jpg":
        return web.Response(body=b"\xff\xd8jpeg", content_type="image/jpeg")
    return web.Response(status=404)


Ask = Callable[[SearchedWeb], Awaitable[Any]]


def asked(handler: Any, engine: Callable[[str], Any], ask: Ask) -> Any:
    """What a web says whose engine is the stand-in."""

    async def run() -> Any:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", handler)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        searched = SearchedWeb(engine(f"http://127.0.0.1:{runner.addresses[0][1]}/"), secrets=[KEY])
        try:
            return await ask(searched)
        finally:
            await searched.close()
            await runner.cleanup()

    return asyncio.run(run())


ENGINES = [
    pytest.param(_searxng, SearXNG, id="searxng"),
    pytest.param(_serper, lambda base: Serper(Hidden(KEY), base), id="serper"),
    pytest.param(_brave, lambda base: Brave(Hidden(KEY), base), id="brave"),
    pytest.param(SerpApiStandIn().answer, lambda base: SerpApi(Hidden(KEY), base), id="serpapi"),
]


@pytest.mark.parametrize(("handler", "engine"), ENGINES[:3])
def test_engines_of_words_only_say_so(handler: Any, engine: Any) -> None:
    likeness = asked(handler, engine, lambda web_: web_.search_pictures(b"...", 3))
    assert isinstance(likeness, Failure) and likeness.kind == "unsupported"


@pytest.mark.parametrize(("handler", "engine"), ENGINES)
def test_pages_and_pictures_are_read(handler: Any, engine: Any) -> None:
    hits = asked(handler, engine, lambda web_: web_.search("dogs & cats", 3))
    assert isinstance(hits[0], WebHit) and hits[0].url == "https://a.test/" and hits[0].title.startswith("A")
    assert len(hits) <= 3 and len(hits[0].text) <= 1000
    assert all(hit.url.startswith("https://") for hit in hits)
    pictures = asked(handler, engine, lambda web_: web_.search_pictures("dogs & cats", 3))
    assert pictures == [WebPicture("https://i.test/1.jpg", "https://a.test", "t")]


def jpeg(side: int) -> bytes:
    """Noise, which is as large as a picture of this size gets."""
    pixels = np.random.default_rng(0).integers(0, 255, (side, side, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


@pytest.mark.parametrize("side", [64, 1500])
def test_google_lens_finds_by_likeness(side: int) -> None:
    stand_in, sent = SerpApiStandIn(), jpeg(side)
    engine = lambda base: SerpApi(Hidden(KEY), base)  # noqa: E731
    found = asked(stand_in.answer, engine, lambda web_: web_.search_pictures(sent, 3))
    assert found == [
        WebPicture("https://i.test/1.jpg", "https://a.test", "t"),
        WebPicture("https://i.test/small.jpg", "https://a.test", "t"),
    ]
    (upload,) = stand_in.uploads
    assert len(upload) <= 500_000 and (upload == sent) is (side == 64), "scaled down only where it has to be"
    assert Image.open(io.BytesIO(upload)).width > (60 if side == 64 else 500)
    broken = asked(stand_in.answer, engine, lambda web_: web_.search_pictures(b"no picture", 3))
    assert isinstance(broken, Failure) and len(stand_in.uploads) == 1


def test_serpapis_errors_are_told_apart() -> None:
    engine = lambda base: SerpApi(Hidden(KEY), base)  # noqa: E731
    stand_in = SerpApiStandIn()
    assert asked(stand_in.answer, engine, lambda web_: web_.search("nothing", 3)) == []
    broken = asked(stand_in.answer, engine, lambda web_: web_.search("broken", 3))
    assert isinstance(broken, Failure) and broken.kind == "bad-reply" and KEY not in broken.message
    wrong = asked(
        stand_in.answer,
        lambda base: SerpApi(Hidden("wrong-key-1"), base),
        lambda web_: web_.search_pictures(jpeg(64), 3),
    )
    assert isinstance(wrong, Failure) and "key" in wrong.message and "wrong-key-1" not in wrong.message


def test_an_index_of_ones_own_is_asked_by_its_contract() -> None:
    async def ask(token: str | None) -> list[Any]:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", _index)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        held = open_web(
            f"index:http://127.0.0.1:{runner.addresses[0][1]}/",
            local_only=True,
            environment={} if token is None else {"SIGHTLINE_WEB_TOKEN": token},
        )
        try:
            return [
                await held.search("dogs & cats", 3),
                await held.search_pictures("dogs & cats", 3),
                await held.search_pictures(b"\xff\xd8jpeg", 3),
                await held.open("https://a.test/"),
                await held.picture("https://i.test/1.jpg"),
                await held.open("https://a.test/none"),
            ]
        finally:
            await held.close()
            await runner.cleanup()

    hits, worded, alike, page, data, none = asyncio.run(ask(KEY))
    assert hits == [WebHit("https://a.test/", "A", "dogs & cats")] * 3
    assert worded == alike == [WebPicture("https://i.test/1.jpg", "https://a.test", "t")]
    assert page == WebPage("https://a.test/", "A", LONG) and data == b"\xff\xd8jpeg"
    assert isinstance(none, Failure) and none.kind == "not-found"
    assert all(isinstance(each, Failure) and "key" in each.message for each in asyncio.run(ask(None)))


@pytest.mark.parametrize(
    ("handler", "kind"), [(_limited, "rate-limit"), (_rubbish, "bad-reply"), (_elsewhere, "http-status")]
)
def test_what_goes_wrong_has_a_name(handler: Any, kind: str) -> None:
    found = asked(handler, lambda base: Serper(Hidden(KEY), base), lambda web_: web_.search("x", 3))
    assert isinstance(found, Failure) and found.kind == kind and KEY not in found.message


def test_a_wrong_key_is_told_without_the_key() -> None:
    found = asked(_serper, lambda base: Serper(Hidden("wrong-key-1"), base), lambda web_: web_.search("x", 3))
    assert isinstance(found, Failure) and "key" in found.message and "wrong-key-1" not in found.message
    assert "wrong-key-1" not in repr(vars(Serper(Hidden("wrong-key-1"))))


def test_nobody_there_is_a_failure() -> None:
    async def run() -> Any:
        searched = SearchedWeb(SearXNG("http://127.0.0.1:1"))
        try:
            return await searched.search("x", 3)
        finally:
            await searched.close()

    found = asyncio.run(run())
    assert isinstance(found, Failure) and found.kind == "connection" and found.retryable


# --- opening by name ---


@pytest.mark.parametrize(
    "spec",
    ["bing", "searxng", "searxng:localhost", "serper", "brave", "serpapi", "index:here", "mcp:", "frozen:/no/file", ""],
)
def test_webs_that_cant_be_opened_say_what_to_do(spec: str) -> None:
    with pytest.raises(UserError) as caught:
        open_web(spec, environment={})
    assert caught.value.fix


def test_local_only_allows_what_stays_here(tmp_path: Path) -> None:
    for spec in ("serper", "searxng:http://localhost:8888", "mcp:https://mcp.test/", "index:https://index.test"):
        with pytest.raises(UserError, match="local-only"):
            open_web(spec, local_only=True, environment={"SERPER_API_KEY": KEY})
    with pytest.raises(UserError, match="asks others"):  # It is on this machine, and that is no help.
        open_web("searxng:http://127.0.0.1:8888", local_only=True, environment={})
    asyncio.run(_everything(FrozenWeb(tmp_path / "web.sqlite", StubWeb({}))))
    for place in (tmp_path, tmp_path / "web.sqlite"):
        assert open_web(f"frozen:{place}", local_only=True).name == "frozen"


def test_a_key_from_the_environment(tmp_path: Path) -> None:
    assert open_web("serper", environment={"SERPER_API_KEY": KEY}).name == "serper"
    frozen = open_web("brave", environment={"BRAVE_API_KEY": KEY}, freeze=tmp_path / "web.sqlite")
    assert frozen.name == "frozen brave"


# --- freezing ---


async def _everything(web_: Web) -> list[Any]:
    return [
        await web_.search("dog", 5),
        await web_.open("https://pages.test/dog"),
        await web_.open("https://pages.test/none"),
        await web_.search_pictures("dog", 2),
        await web_.search_pictures(b"bytes", 2),
        await web_.picture("https://pages.test/dog.png"),
    ]


def test_what_was_seen_is_replayed_offline(tmp_path: Path) -> None:
    stub = StubWeb({"https://pages.test/dog": "A dog."}, {"https://pages.test/dog.png": b"\x00\xff"})
    file = tmp_path / "web.sqlite"

    async def record() -> list[Any]:
        web_ = FrozenWeb(file, stub)
        first, second = await _everything(web_), await _everything(web_)
        assert first == second
        await web_.close()
        return first

    seen = asyncio.run(record())
    assert seen == asyncio.run(
        _everything(StubWeb({"https://pages.test/dog": "A dog."}, {"https://pages.test/dog.png": b"\x00\xff"}))
    )
    assert len(stub.asked) == 7, "each once, and closed"

    async def replay() -> list[Any]:
        web_ = FrozenWeb(file)
        found = [*await _everything(web_), await web_.search("cat", 5)]
        await web_.close()
        return found

    *again, new = asyncio.run(replay())
    assert again == seen
    assert isinstance(new, Failure) and new.kind == "not-frozen"


def test_a_damaged_file_of_a_frozen_web_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "web.sqlite").write_bytes(b"no database" * 200)
    with pytest.raises(UserError, match="can't be read") as caught:
        open_web(f"frozen:{tmp_path / 'web.sqlite'}")
    assert "another run" in (caught.value.fix or "") and "--workspace" not in (caught.value.fix or "")


def test_a_passing_failure_is_asked_again(tmp_path: Path) -> None:
    class Shaky(StubWeb):
        async def open(self, url: str) -> WebPage | Failure:
            self.asked.append(url)
            return Failure("timeout", "late") if len(self.asked) == 1 else WebPage(url, "T", "text")

    async def run() -> list[Any]:
        web_ = FrozenWeb(tmp_path / "web.sqlite", Shaky({}))
        found = [await web_.open("https://a.test/") for _ in range(3)]
        await web_.close()
        return found

    first, second, third = asyncio.run(run())
    assert isinstance(first, Failure) and second == third == WebPage("https://a.test/", "T", "text")


def test_a_picture_decoded_otherwise_is_found_again(tmp_path: Path) -> None:
    """Years later, another version of a decoder gives other bytes of the same picture."""
    stub = StubWeb({}, {"https://pages.test/dog.png": b"x"})
    image = Image.open(io.BytesIO(jpeg(64))).resize((200, 160))
    again = Image.fromarray(np.clip(np.asarray(image).astype(int) + 1, 0, 255).astype(np.uint8))
    other = Image.fromarray(np.clip(np.asarray(image).astype(int) + 40, 0, 255).astype(np.uint8))

    def encoded(image: Image.Image) -> bytes:
        buffer = io.BytesIO()
        image.save(buffer, "PNG")
        return buffer.getvalue()

    async def run() -> list[Any]:
        live = FrozenWeb(tmp_path / "web.sqlite", stub)
        seen = await live.search_pictures(encoded(image), 5)
        await live.search_pictures(encoded(again), 5)
        assert stub.asked == ["likeness"] * 2, "a live web is asked about the very picture"
        await live.search_pictures(encoded(other), 4)
        await live.close()
        frozen = FrozenWeb(tmp_path / "web.sqlite")
        found = [
            await frozen.search_pictures(encoded(each), 5) for each in (again, other, image.crop((0, 0, 190, 160)))
        ]
        await frozen.close()
        return [seen, *found]

    seen, near, *far = asyncio.run(run())
    assert near == seen and all(isinstance(each, Failure) and each.kind == "not-frozen" for each in far)


def test_what_failed_then_fails_again_and_nothing_is_written(tmp_path: Path) -> None:
    class Late(StubWeb):
        async def open(self, url: str) -> WebPage | Failure:
            return Failure("rate-limit", "too many", retryable=True)

    async def run() -> Any:
        live = FrozenWeb(tmp_path / "old" / "web.sqlite", Late({}))
        first = await live.open("https://a.test/")
        await live.close()
        before = sorted(tmp_path.rglob("*"))
        for path in before:
            path.chmod(stat.S_IREAD | (stat.S_IEXEC if path.is_dir() else 0))
        frozen = FrozenWeb(tmp_path / "old" / "web.sqlite")
        again = await frozen.open("https://a.test/")
        await frozen.close()
        assert sorted(tmp_path.rglob("*")) == before
        return first, again

    first, again = asyncio.run(run())
    assert first == again and again.kind == "rate-limit"


# --- the built-in world's web ---


@pytest.mark.world
def test_the_worlds_web_fits_the_protocol() -> None:
    from sightline_world.web import world_web

    pages = world_web(seed=0)

    async def run() -> None:
        web_ = OfflineWeb(pages, "world")
        hits = await web_.search("mayor", 3)
        assert not isinstance(hits, Failure) and len(hits) == 3
        page = await web_.open(hits[0].url)
        assert isinstance(page, WebPage) and page.title and page.text.startswith(f"# {page.title}")
        assert isinstance(await web_.open("https://nowhere.invalid/"), Failure)
        pictures = await web_.search_pictures("mailbox", 1)
        assert not isinstance(pictures, Failure)
        data = await web_.picture(pictures[0].url)
        assert isinstance(data, bytes) and data.startswith(b"\x89PNG")
        assert isinstance(await web_.search_pictures(b"no picture", 1), Failure)
        await web_.close()

    asyncio.run(run())


def test_stored_answers_are_json(tmp_path: Path) -> None:
    import sqlite3

    async def run() -> None:
        web_ = FrozenWeb(tmp_path / "web.sqlite", StubWeb({"https://pages.test/dog": "A dog."}))
        await web_.search("dog", 5)
        await web_.close()

    asyncio.run(run())
    (row,) = sqlite3.connect(tmp_path / "web.sqlite").execute("SELECT what, asked, answer FROM seen").fetchall()
    assert row[:2] == ("search", "5 dog") and orjson.loads(row[2])["answer"][0]["url"] == "https://pages.test/dog"
