"""Search services as systems: the real example server, and servers that misbehave."""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson
import pytest
from aiohttp import web

from runs.run_world import coloured
from sightline.benchmark.folder import read_benchmark
from sightline.calls.session import Session
from sightline.errors import SightlineError, UserError
from sightline.retrieval.index.build import build_index
from sightline.retrieval.index.content import Content
from sightline.runs.folder import read_run
from sightline.runs.runner import run
from sightline.runs.system_spec import parse_spec
from sightline.runs.systems.http import MalformedError, read_hits, status_failure
from sightline.types import Failure, PictureSet, Prediction, Ranking
from tiny_clip import write_tiny_clip

EXAMPLE = Path(__file__).parents[2] / "examples" / "search_server.py"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture(scope="module")
def colours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return coloured(tmp_path_factory.mktemp("colours"))


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("search_server", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["search_server"] = module
    spec.loader.exec_module(module)
    return module


class Served:
    """An application on a free port of this machine, in a thread of its own."""

    def __init__(self, app: web.Application) -> None:
        self._loop = asyncio.new_event_loop()
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.port = self._call(self._start())
        self.spec = f"http:url=http://127.0.0.1:{self.port}"

    async def _start(self) -> int:
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        return int(self._runner.addresses[0][1])

    def _call(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def stop(self) -> None:
        self._call(self._runner.cleanup())
        self._loop.call_soon_threadsafe(self._loop.stop)


@pytest.fixture
def serve(example: ModuleType, colours: Path) -> Iterator[Callable[[Handler | None], Served]]:
    """The example's own application; `/search` answered by a handler of the test, where one is given."""
    running: list[Served] = []

    def start(misbehaving: Handler | None = None) -> Served:
        app = example.make_app(example.NameFinder(colours))
        if misbehaving is not None:

            @web.middleware
            async def instead(request: web.Request, handler: Handler) -> web.StreamResponse:
                return await (misbehaving if request.path == "/search" else handler)(request)

            app.middlewares.append(instead)
        running.append(Served(app))
        return running[-1]

    yield start
    for served in running:
        served.stop()


def said(folder: Path) -> dict[str, Prediction]:
    return {attempt.task_id: attempt.prediction for attempt in read_run(folder).attempts}


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_service_without_a_health_page_is_asked(colours: Path, tmp_path: Path, status: int) -> None:
    async def only_search(request: web.Request) -> web.Response:
        found = {"hits": [{"id": "red.png"}]}
        return web.json_response(found) if request.path == "/search" else web.Response(status=status)

    app = web.Application()
    app.router.add_route("*", "/{any:.*}", only_search)
    served = Served(app)
    try:
        run(colours, served.spec, tmp_path / "run", workspace=tmp_path / "ws", limit=1)
        assert [type(one) for one in said(tmp_path / "run").values()] == [Ranking]
    finally:
        served.stop()


def test_the_example_server_as_a_process(colours: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(EXAMPLE), "--pictures", str(colours), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        done = run(colours, f"http:url=http://127.0.0.1:{port}", tmp_path / "run", workspace=tmp_path / "ws")
    finally:
        process.terminate()
        process.wait()
    found = said(tmp_path / "run")
    assert isinstance(found["red"], Ranking) and set(found["red"].pictures) == {"ana/red.png", "ben/red.png"}
    assert isinstance(found["blue of ben"], Ranking) and found["blue of ben"].pictures == ("ben/blue.png",)
    assert isinstance(found["at the party"], Ranking) and found["at the party"].pictures == ("ana/blue.png",)
    assert done.run.system == "file names" and done.failures == {"refused": 1}
    stranger = found["of a stranger"]
    assert isinstance(stranger, Failure) and "there is no owner" in stranger.message and "404" in stranger.message
    assert done.run.parameters["service"] == {"name": "file names", "version": "1"}
    assert done.latency.n == 5


def test_what_is_asked_is_the_query_its_scope_and_its_pictures(
    serve: Callable[..., Served], colours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[dict[str, Any], str | None]] = []

    async def listen(request: web.Request) -> web.Response:
        heard.append((await request.json(), request.headers.get("Authorization")))
        return web.json_response({"hits": []})

    monkeypatch.setenv("MY_KEY", "abc123")
    spec = f"{serve(listen).spec},pictures=bytes,key_env=MY_KEY,k=7,select=2,concurrency=1"
    run(colours, spec, tmp_path / "run", workspace=tmp_path / "ws")
    asked = [body for body, _ in heard]
    whole: dict[str, Any] = {"owner": None, "groups": [], "pictures": []}
    assert asked[0] == {"query": "a picture of red", "pictures": [], "scope": whole, "k": 7}
    assert asked[1]["scope"]["owner"] == "ben"
    assert asked[2]["query"] is None and asked[2]["pictures"][0]["id"] == "ana/green.png"
    assert base64.b64decode(asked[2]["pictures"][0]["data"]) == (colours / "ana/green.png").read_bytes()
    assert set(asked[4]["scope"]["pictures"]) == {"ana/red.png", "ana/blue.png"}
    assert {key for _, key in heard} == {"Bearer abc123"}
    assert all(b"abc123" not in file.read_bytes() for file in (tmp_path / "run").iterdir())
    assert said(tmp_path / "run")["at the party"] == PictureSet(())


def _reply(content: Any, status: int = 200, **headers: str) -> Handler:
    async def reply(_: web.Request) -> web.Response:
        body = content if isinstance(content, bytes) else orjson.dumps(content)
        return web.Response(body=body, status=status, headers=headers)

    return reply


@pytest.mark.parametrize(
    ("content", "status", "kind", "message"),
    [
        (b"{", 200, "malformed", "not JSON"),
        ([], 200, "malformed", 'no list "hits"'),
        ({"hits": {}}, 200, "malformed", 'no list "hits"'),
        ({"hits": ["ana/red.png"]}, 200, "malformed", "hits[0] is not an object"),
        ({"hits": [{"id": "a"}, {"id": 3}]}, 200, "malformed", "hits[1].id"),
        ({"hits": [{"id": "a", "score": "high"}]}, 200, "malformed", "hits[0].score"),
        ({"error": "no such owner"}, 400, "refused", "400: no such owner"),
        (b"", 404, "refused", "404"),
        (b"oops", 500, "server-error", "500: oops"),
        (b"", 503, "server-error", "503"),
        (b"", 429, "rate-limit", "429"),
        (b"", 302, "refused", "302"),
    ],
)
def test_what_is_wrong_with_a_reply_is_a_failure_with_its_kind(
    serve: Callable[..., Served], colours: Path, tmp_path: Path, content: Any, status: int, kind: str, message: str
) -> None:
    served = serve(_reply(content, status))
    done = run(colours, f"{served.spec},retries=0", tmp_path / "run", workspace=tmp_path / "ws")
    assert done.failures == {kind: 6} and done.answered == 0
    failed = said(tmp_path / "run")["red"]
    assert isinstance(failed, Failure) and message in failed.message


def test_a_key_that_comes_back_in_an_error_is_not_kept(
    serve: Callable[..., Served], colours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def tell(request: web.Request) -> web.Response:
        return web.json_response({"error": f"wrong {request.headers['Authorization']}"}, status=401)

    monkeypatch.setenv("MY_KEY", "abc123secret")
    run(colours, f"{serve(tell).spec},key_env=MY_KEY", tmp_path / "run", workspace=tmp_path / "ws", limit=1)
    failed = said(tmp_path / "run")["red"]
    assert isinstance(failed, Failure) and "401: wrong" in failed.message and "abc123" not in failed.message


def test_slow_and_dropped_replies_are_tried_again_and_then_counted(
    serve: Callable[..., Served], colours: Path, tmp_path: Path
) -> None:
    tries: dict[str, int] = {}

    async def troubled(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        key = f"{body['query']} {body['scope']['owner']}"
        tries[key] = tries.get(key, 0) + 1
        if key == "a picture of red None":  # Slow the first time only.
            if tries[key] == 1:
                await asyncio.sleep(5)
        elif key == "blue ben":  # Slow for ever.
            await asyncio.sleep(5)
        elif key == "blue zoe":  # Cut off in the middle.
            response = web.StreamResponse(headers={"Content-Length": "1000"})
            await response.prepare(request)
            await response.write(b'{"hits": [')
            assert request.transport is not None
            request.transport.close()
            return response
        return web.json_response({"hits": [{"id": "ana/red.png", "score": 1}]})

    served = serve(troubled)
    done = run(colours, f"{served.spec},timeout=1,retries=1", tmp_path / "run", workspace=tmp_path / "ws")
    found = said(tmp_path / "run")
    assert found["red"] == Ranking(("ana/red.png",), (1.0,)) and tries["a picture of red None"] == 2
    assert found["blue of ben"] == Failure("timeout", "no reply within 1 s", retryable=True)
    dropped = found["of a stranger"]
    assert isinstance(dropped, Failure) and dropped.kind == "dropped" and dropped.retryable
    assert done.failures == {"timeout": 1, "dropped": 1}
    retries = [entry for entry in done.run.ledger if entry.stage == "retry"]
    assert {entry.task_id for entry in retries} == {"red", "blue of ben", "of a stranger"}
    timed = {(entry.stage, entry.task_id): entry.seconds or 0.0 for entry in done.run.ledger}
    assert timed["run", "red"] < timed["retry", "red"]  # That of the reply, not of the try before it.


def test_ids_that_come_twice_count_once_and_unknown_ones_are_wrong(
    serve: Callable[..., Served], colours: Path, tmp_path: Path
) -> None:
    hits = [("ben/red.png", 0.9), ("ben/red.png", 0.8), ("nowhere.png", 0.7), ("ana/red.png", 0.6)]
    served = serve(_reply({"hits": [{"id": id_, "score": score} for id_, score in hits]}))
    done = run(colours, f"{served.spec},k=3", tmp_path / "run", workspace=tmp_path / "ws", limit=1)
    assert said(tmp_path / "run")["red"] == Ranking(("ben/red.png", "nowhere.png", "ana/red.png"), (0.9, 0.7, 0.6))
    assert [note.rpartition(" ")[2] for note in done.notes] == ["1", "1"]


def test_a_service_that_is_not_there_is_said_before_anything_is_written(colours: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be reached"):
        run(colours, "http:url=http://127.0.0.1:9", tmp_path / "run", workspace=tmp_path / "ws")
    assert not (tmp_path / "run").exists()


def test_a_service_that_goes_away_stops_the_run_and_the_rest_can_be_run_later(
    serve: Callable[..., Served], tmp_path: Path
) -> None:
    benchmark = coloured(tmp_path / "colours", tasks=30)
    heard: list[int] = []

    async def leaving(request: web.Request) -> web.Response:
        heard.append(1)
        if len(heard) == 5:
            threading.Thread(target=served.stop).start()
        return web.json_response({"hits": [{"id": "ana/red.png"}]})

    served = serve(leaving)
    spec = f"{served.spec},retries=0,concurrency=1,name=service"
    with pytest.raises(SightlineError, match="10 times in a row"):
        run(benchmark, spec, tmp_path / "run", workspace=tmp_path / "ws")
    kinds = [one.prediction.kind for one in read_run(tmp_path / "run").attempts if isinstance(one.prediction, Failure)]
    assert set(kinds) <= {"unreachable", "dropped"} and 9 <= len(kinds) <= 10
    assert 5 <= len(read_run(tmp_path / "run").attempts) - len(kinds) < 30
    served.stop = lambda: None  # type: ignore[method-assign]


def test_local_only_and_a_missing_key_are_refused(
    colours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="local-only"):
        run(colours, "http:url=https://search.example", tmp_path / "run", session=Session(local_only=True))
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(UserError, match="NO_SUCH_KEY is not set"):
        run(colours, "http:url=http://127.0.0.1:9,key_env=NO_SUCH_KEY", tmp_path / "run")


@pytest.mark.parametrize(
    "body",
    [{"query": 3}, {"k": 0, "query": "x"}, {"query": "x", "scope": []}, {"query": "x", "pictures": ["a"]}, {}, []],
)
def test_the_example_refuses_what_the_contract_does_not_have(example: ModuleType, body: Any) -> None:
    with pytest.raises(example.BadRequestError):
        example._read(body)


def test_the_example_serves_an_index_of_sightline(example: ModuleType, colours: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    corpus = read_benchmark(colours).corpus
    content = Content(corpus.pictures.values(), corpus.groups, (), base=colours)
    build_index(Session(tmp_path / "ws"), content=content, embedder=f"onnx:{write_tiny_clip(tmp_path / 'clip')}")
    served = Served(example.make_app(example.IndexFinder(tmp_path / "ws")))
    try:
        run(colours, served.spec, tmp_path / "http", workspace=tmp_path / "ws", limit=2)
        ours = f"retriever:embedder=onnx:{tmp_path}/clip"
        run(colours, ours, tmp_path / "own", workspace=tmp_path / "ws", limit=2)
    finally:
        served.stop()
    assert said(tmp_path / "http") == said(tmp_path / "own")


def test_scores_are_kept_only_where_every_hit_has_one() -> None:
    assert read_hits(b'{"hits": [{"id": "a", "score": 1}, {"id": "b"}]}', 5).scores is None
    assert read_hits(b'{"hits": [{"id": "a", "score": 1}, {"id": "b", "score": 0.5}]}', 1).scores == (1.0,)
    with pytest.raises(MalformedError):
        read_hits(b'{"hits": [{"id": "a", "score": true}]}', 5)


def test_an_address_with_a_query_is_refused_and_its_token_not_printed() -> None:
    with pytest.raises(UserError, match="key_env") as refused:
        parse_spec("http:url=http://127.0.0.1:1/search?token=abc123")
    assert "abc123" not in str(refused.value)


@pytest.mark.parametrize(("status", "again"), [(408, True), (425, True), (429, True), (501, True), (404, False)])
def test_statuses_after_which_it_is_asked_again(status: int, again: bool) -> None:
    failed = status_failure(status, b"")
    assert failed is not None and failed.retryable is again


def test_a_picture_of_the_prompt_is_no_answer_unless_it_may_be(
    serve: Callable[..., Served], colours: Path, tmp_path: Path
) -> None:
    served = serve(_reply({"hits": [{"id": "ana/green.png"}, {"id": "ben/green.png"}, {"id": "ana/red.png"}]}))
    for name, option, wanted in (
        ("without", "k=1", ("ben/green.png",)),
        ("with", "k=2,own", ("ana/green.png", "ben/green.png")),
    ):
        run(colours, f"{served.spec},{option}", tmp_path / name, workspace=tmp_path / "ws")
        assert said(tmp_path / name)["like it"] == Ranking(wanted)
