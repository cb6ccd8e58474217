"""A real HTTP server on loopback that misbehaves as told: by prompt, one fault after the other, then well."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence

import orjson

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}


def completion(text: str | None, finish: str = "stop", **more: object) -> dict[str, object]:
    message = {"role": "assistant", "content": text, **more}
    return {"model": "m-1", "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": USAGE}


def response(
    body: bytes, status: int = 200, content_type: str = "application/json", length: int | None = None, head: str = ""
) -> bytes:
    lines = (
        f"HTTP/1.1 {status} X\r\nContent-Type: {content_type}\r\nContent-Length: {length or len(body)}\r\n{head}\r\n"
    )
    return lines.encode() + body


def error(status: int, code: str = "", head: str = "") -> bytes:
    return response(orjson.dumps({"error": {"message": f"error {status}", "code": code}}), status, head=head)


GOOD = response(orjson.dumps(completion("A dog on a beach.")))
ANSWERS: Mapping[str, bytes] = {
    "ok": GOOD,
    "json": response(orjson.dumps(completion('{"dog": true}'))),
    "no usage": response(orjson.dumps(completion("A dog.") | {"usage": None})),
    "429": error(429),
    "429 with Retry-After": error(429, head="Retry-After: 0.2\r\n"),
    "500": error(500),
    "502": error(502),
    "503": error(503),
    "529": error(529),
    "401": error(401),
    "404": error(404, "model_not_found"),
    "402": error(402),
    "400": error(400),
    "invalid JSON": response(b'{"choices": nonsense}'),
    "truncated JSON": response(GOOD.partition(b"\r\n\r\n")[2][:-40]),
    "empty body": response(b" "),
    "empty choices": response(orjson.dumps({"choices": [], "usage": USAGE})),
    "empty answer": response(orjson.dumps(completion(""))),
    "wrong schema": response(orjson.dumps(completion('{"dog": "perhaps"}'))),
    "content filter": response(orjson.dumps(completion("A d", "content_filter"))),
    "refused": response(orjson.dumps(completion(None, refusal="I can't help with that."))),
    "length": response(orjson.dumps(completion("A dog on", "length"))),
    "endless newlines": response(orjson.dumps(completion("{" + "\n" * 5000, "length"))),
    "endless body": response(orjson.dumps(completion("word " * 50_000))),
    "HTML page": response(b"<html><title>Bad gateway</title></html>", content_type="text/html"),
    "HTML page as JSON": response(b"<!DOCTYPE html><html></html>"),
    "wrong content type": response(b"data: {}\n\n", content_type="text/event-stream"),
    "half-sent": GOOD[: len(GOOD) - 60],
    "half a header": b"HTTP/1.1 200 OK\r\nContent-Ty",
    "dropped": b"",
}
CUT = ("half-sent", "half a header", "dropped")


class FaultServer:
    """`async with FaultServer({"prompt": ["500", "ok"]}) as server:`; the last answer of a prompt is repeated."""

    def __init__(self, faults: Mapping[str, Sequence[str]] | None = None, seconds: float = 0.0) -> None:
        self._faults, self._seconds = faults or {}, seconds
        self.asked: Counter[str] = Counter()
        self.at_once = self.most_at_once = 0
        self.capacity: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> FaultServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, backlog=1000)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        body = orjson.loads(await reader.readexactly(length))
        prompt = body["messages"][-1]["content"]
        said = self._faults.get(prompt, ["ok"])
        name = said[min(self.asked[prompt], len(said) - 1)]
        self.asked[prompt] += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return await self._answer(name, writer)
        finally:
            self.at_once -= 1

    async def _answer(self, name: str, writer: asyncio.StreamWriter) -> bool:
        if self.capacity is not None and self.at_once > self.capacity:
            name = "429"
        elif self._seconds:
            await asyncio.sleep(self._seconds)
        if name == "never":
            await asyncio.sleep(3600)
        if name == "slow body":
            await _drip(writer.write, writer.drain)
            return True
        writer.write(ANSWERS[name])
        await writer.drain()
        return name not in CUT


async def _drip(write: Callable[[bytes], object], drain: Callable[[], Awaitable[None]]) -> None:
    """Headers and a byte now and then, for ever."""
    write(response(b"", length=100_000))
    while True:
        write(b" ")
        await drain()
        await asyncio.sleep(0.02)
