"""The files and batches endpoints on loopback, in a thread of their own, with everything that goes wrong in them."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

Row = dict[str, Any]


def answer(row: Row) -> Row | None:
    """A reply that says the prompt back, as a line of an output file."""
    content = row["body"].get("messages", row["body"].get("input"))[-1]["content"]
    text = content if isinstance(content, str) else next(part["text"] for part in content if "text" in part)
    body = completion(f"re: {text}")
    return {"id": "r", "custom_id": row["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}


def completion(text: str, finish: str = "stop") -> Row:
    message = {"role": "assistant", "content": text}
    return {
        "id": "c",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


@dataclass
class BatchWorld:
    """What the server holds, and how it behaves; `polls` statuses are gone through before a batch ends."""

    base_url: str = ""
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    batches: dict[str, Row] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    live: list[Row] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    polls: tuple[str, ...] = ("validating", "in_progress", "finalizing")
    end: str = "completed"
    work: Callable[[Row], Row | None] = answer
    extra_lines: list[bytes] = field(default_factory=list)
    errors: list[Row] = field(default_factory=list)
    keep_metadata: bool = True
    hold: str = ""
    "The path at which an answer is withheld after the work is done."
    held: threading.Event = field(default_factory=threading.Event)
    faults: list[int] = field(default_factory=list)
    "Statuses of the next answers, before anything is done."
    lost_answers: int = 0
    "So many answers to `POST /batches` are lost after the batch was made."

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=1 << 28, middlewares=[self._before])
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files", self._list_files)
        app.router.add_get("/v1/files/{id}/content", self._content)
        app.router.add_post("/v1/batches", self._create)
        app.router.add_get("/v1/batches", self._list)
        app.router.add_get("/v1/batches/{id}", self._get)
        app.router.add_post("/v1/batches/{id}/cancel", self._cancel)
        app.router.add_post("/v1/chat/completions", self._chat)
        return app

    def count(self, method: str, path: str) -> int:
        return sum(one == (method, path) for one in self.requests)

    @web.middleware
    async def _before(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.requests.append((request.method, request.path))
        if self.faults:
            return web.json_response({"error": {"message": "not now"}}, status=self.faults.pop(0))
        response: web.StreamResponse = await handler(request)
        if self.hold and request.method + " " + request.path == self.hold:
            self.held.set()
            await asyncio.sleep(60)
        return response

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        upload = form["file"]
        assert isinstance(upload, web.FileField)
        assert form["purpose"] == "batch"
        file_id = f"file-{next(self._numbers)}"
        self.files[file_id] = (upload.filename, upload.file.read())
        return web.json_response({"id": file_id, "object": "file", "filename": upload.filename, "purpose": "batch"})

    async def _list_files(self, request: web.Request) -> web.Response:
        return web.json_response(
            self._page([{"id": file_id, "filename": name} for file_id, (name, _) in self.files.items()], request)
        )

    async def _content(self, request: web.Request) -> web.StreamResponse:
        known = self.files.get(request.match_info["id"])
        if known is None:
            return web.json_response({"error": {"message": "No such file"}}, status=404)
        if self.hold != "half " + request.path:
            return web.Response(body=known[1], content_type="application/octet-stream")
        response = web.StreamResponse(headers={"Content-Length": str(len(known[1]))})
        await response.prepare(request)
        await response.write(known[1][: len(known[1]) // 2])
        self.held.set()
        await asyncio.sleep(60)
        return response

    async def _create(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert body["endpoint"] in ("/v1/chat/completions", "/v1/responses")
        batch_id = f"batch_{next(self._numbers)}"
        self.batches[batch_id] = {
            "id": batch_id,
            "object": "batch",
            "endpoint": body["endpoint"],
            "input_file_id": body["input_file_id"],
            "completion_window": body["completion_window"],
            "metadata": body["metadata"] if self.keep_metadata else None,
            "status": "validating",
            "seen": 0,
        }
        if self.lost_answers:
            self.lost_answers -= 1
            assert request.transport is not None
            request.transport.close()
        return web.json_response(self._shown(self.batches[batch_id]))

    async def _list(self, request: web.Request) -> web.Response:
        return web.json_response(self._page([self._shown(one) for one in self.batches.values()][::-1], request))

    async def _get(self, request: web.Request) -> web.Response:
        batch = self.batches.get(request.match_info["id"])
        if batch is None:
            return web.json_response({"error": {"message": "No such batch"}}, status=404)
        self._advance(batch)
        return web.json_response(self._shown(batch))

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        if "output_file_id" in batch:
            return web.json_response({"error": {"message": "already ended"}}, status=409)
        batch["status"], batch["cancelled"] = "cancelling", True
        return web.json_response(self._shown(batch))

    async def _chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.live.append(body)
        return web.json_response(completion(f"live: {body['messages'][-1]['content']}"))

    def _advance(self, batch: Row) -> None:
        if "output_file_id" in batch:
            return
        if batch.get("cancelled"):
            self._finish(batch, "cancelled")
        elif batch["seen"] < len(self.polls):
            batch["status"] = self.polls[batch["seen"]]
            batch["seen"] += 1
        else:
            self._finish(batch, self.end)

    def _finish(self, batch: Row, end: str) -> None:
        batch["status"] = end
        rows = [orjson.loads(line) for line in self.files[batch["input_file_id"]][1].splitlines()]
        done = [] if end == "failed" else [found for row in rows if (found := self.work(row)) is not None]
        bad = [row for row in done if row["error"] or row["response"]["status_code"] != 200]
        good = [row for row in done if row not in bad]
        batch["request_counts"] = {"total": len(rows), "completed": len(good), "failed": len(bad)}
        batch["output_file_id"] = self._keep("out", good, self.extra_lines) if good or self.extra_lines else None
        batch["error_file_id"] = self._keep("err", bad, []) if bad else None
        if end == "failed":
            batch["errors"] = {
                "object": "list",
                "data": self.errors or [{"code": "x", "line": 2, "message": "bad line"}],
            }

    def _keep(self, name: str, rows: list[Row], more: list[bytes]) -> str:
        file_id = f"file-{next(self._numbers)}"
        # Providers write in any order.
        self.files[file_id] = (name, b"".join([*(orjson.dumps(row) + b"\n" for row in rows[::-1]), *more]))
        return file_id

    def _shown(self, batch: Row) -> Row:
        return {name: value for name, value in batch.items() if name not in ("seen", "cancelled")}

    def _page(self, rows: list[Row], request: web.Request) -> Row:
        after = request.query.get("after")
        start = 0 if after is None else 1 + [row["id"] for row in rows].index(after)
        size = min(2, int(request.query["limit"]))
        return {"object": "list", "data": rows[start : start + size], "has_more": start + size < len(rows)}


@contextmanager
def batch_world(**options: Any) -> Iterator[BatchWorld]:
    """The server for the length of a block."""
    world = BatchWorld(**options)
    ready, over = threading.Event(), threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        runner = web.AppRunner(world.app(), shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        world.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        ready.set()
        await stop.wait()
        await runner.cleanup()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        finally:
            loop.close()
            over.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield world
    finally:
        loop.call_soon_threadsafe(stop.set)
        assert over.wait(10)
        thread.join()
