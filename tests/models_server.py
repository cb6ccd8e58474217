"""A real HTTP server on loopback that records what it is asked and answers, or misbehaves, as it is told.

Written on asyncio streams, so that a test can break any rule of HTTP: half a body, no body, a dropped connection.
`serving` answers from a script; `FaultServer` by prompt, one named fault after the other.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson


@dataclass(frozen=True)
class Received:
    """One request, as it came over the wire; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes an answer, or does something worse."""
Script = Callable[[Received], Answer] | Iterable[Answer]


@dataclass
class Server:
    """`base_url` to be asked at; `requests` in the order in which they came."""

    script: Script
    base_url: str = ""
    requests: list[Received] = field(default_factory=list)
    connections: int = 0

    def __post_init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        if callable(self.script):
            self._answer = self.script
        else:
            lines = iter(self.script)
            self._answer = lambda _: next(lines)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while (received := await _read_request(reader)) is not None:
                self.requests.append(received)
                await self._answer(received)(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _read_request(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method, path, headers, body)


@asynccontextmanager
async def serving(script: Script, port: int = 0) -> AsyncIterator[Server]:
    """A server for the length of a block, on a free port when none is given."""
    server = Server(script)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", port, limit=64 << 20, backlog=1000)
    host, port = listening.sockets[0].getsockname()[:2]
    server.base_url = f"http://{host}:{port}/v1"
    try:
        yield server
    finally:
        listening.close()
        await server.stop()
        await listening.wait_closed()


@contextmanager
def serving_in_thread(script: Script) -> Iterator[Server]:
    """The same for code that is not asynchronous, or that runs in another process."""
    loop = asyncio.new_event_loop()
    opened = serving(script)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(opened.__aenter__(), loop).result(10)
    finally:
        asyncio.run_coroutine_threadsafe(opened.__aexit__(None, None, None), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


# --- answers -----------------------------------------------------------------------------------------------


def head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode("latin-1")


def raw(data: bytes, *, close: bool = True) -> Answer:
    """Exactly these bytes, and then (unless told otherwise) the end of the connection."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        if close:
            writer.close()
            raise ConnectionError

    return answer


def respond(body: bytes, status: int = 200, content_type: str | None = "application/json", **headers: str) -> Answer:
    """A whole answer; underscores in header names stand for hyphens."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if content_type is not None:
        sent["Content-Type"] = content_type
    return raw(head(status, {**sent, "Content-Length": str(len(body))}) + body, close=False)


def respond_json(payload: Any, status: int = 200, **headers: str) -> Answer:
    return respond(orjson.dumps(payload), status, **headers)


def drop() -> Answer:
    """The connection ends without a word."""
    return raw(b"")


def half(body: bytes) -> Answer:
    """Half of a body that was promised whole."""
    promised = head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
    return raw(promised + body[: len(body) // 2])


def never() -> Answer:
    """No answer at all, on an open connection."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    return answer


def stall(body: bytes) -> Answer:
    """Headers and half of the body, then silence on an open connection."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))}))
        writer.write(body[: len(body) // 2])
        await writer.drain()
        await asyncio.Event().wait()

    return answer


def drip(piece: bytes = b"\n", pause: float = 0.0) -> Answer:
    """An endless body, a piece at a time."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}))
        while True:
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


def after(seconds: float, then: Answer) -> Answer:
    """The answer, later."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await then(writer)

    return answer


# --- what a model says -------------------------------------------------------------------------------------


def chat(text: str | None = "a red bicycle", **message: Any) -> dict[str, Any]:
    """A chat completion that says this."""
    finish = message.pop("finish_reason", "stop")
    usage = message.pop("usage", {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17})
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    reply = {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-5-mini-2026", "choices": [choice]}
    return reply if usage is None else {**reply, "usage": usage}


def responses(*output: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """A responses reply with these output items."""
    usage = {
        "input_tokens": 12,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 21,
    }
    reply = {"id": "resp_1", "object": "response", "model": "gpt-5-mini-2026", "status": "completed"}
    return {**reply, "output": list(output), "usage": usage, **fields}


def said(text: str, kind: str = "output_text") -> dict[str, Any]:
    """A message item of a responses reply."""
    field_ = "refusal" if kind == "refusal" else "text"
    return {"type": "message", "role": "assistant", "content": [{"type": kind, field_: text}]}


# --- faults by name ----------------------------------------------------------------------------------------

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}


def _says(text: str | None = "A dog on a beach.", **fields: Any) -> bytes:
    return orjson.dumps(chat(text, **({"usage": USAGE} | fields)))


def _refuses(status: int, code: str = "", **headers: str) -> Answer:
    return respond_json({"error": {"message": f"error {status}", "code": code}}, status, **headers)


FAULTS: Mapping[str, Answer] = {
    "ok": respond(_says()),
    "json": respond(_says('{"dog": true}')),
    "no usage": respond(_says("A dog.", usage=None)),
    "429": _refuses(429),
    "429 with Retry-After": _refuses(429, Retry_After="0.2"),
    "500": _refuses(500),
    "502": _refuses(502),
    "503": _refuses(503),
    "529": _refuses(529),
    "401": _refuses(401),
    "404": _refuses(404, "model_not_found"),
    "402": _refuses(402),
    "400": _refuses(400),
    "invalid JSON": respond(b'{"choices": nonsense}'),
    "truncated JSON": respond(_says()[:-40]),
    "empty body": respond(b" "),
    "empty choices": respond_json({"choices": [], "usage": USAGE}),
    "empty answer": respond(_says("")),
    "wrong schema": respond(_says('{"dog": "perhaps"}')),
    "content filter": respond(_says("A d", finish_reason="content_filter")),
    "refused": respond(_says(None, refusal="I can't help with that.")),
    "length": respond(_says("A dog on", finish_reason="length")),
    "endless newlines": respond(_says("{" + "\n" * 5000, finish_reason="length")),
    "endless body": respond(_says("word " * 50_000)),
    "HTML page": respond(b"<html><title>Bad gateway</title></html>", content_type="text/html"),
    "HTML page as JSON": respond(b"<!DOCTYPE html><html></html>"),
    "wrong content type": respond(b"data: {}\n\n", content_type="text/event-stream"),
    "half-sent": half(_says()),
    "half a header": raw(b"HTTP/1.1 200 OK\r\nContent-Ty"),
    "dropped": drop(),
    "never": never(),
    "slow body": drip(b" ", pause=0.02),
}


class FaultServer:
    """`async with FaultServer({"prompt": ["500", "ok"]}) as server:`; the last answer of a prompt is repeated.

    A prompt is the first message, and `asked` counts by it. With more than `capacity` calls at once, those over it are
    refused. Entered a second time, it listens on the same port again.
    """

    def __init__(self, faults: Mapping[str, Sequence[str]] | None = None, seconds: float = 0.0) -> None:
        self._faults, self._seconds = faults or {}, seconds
        self.asked: Counter[str] = Counter()
        self.requests: list[Received] = []
        self.capacity: int | None = None
        self.url = ""
        self._at_once = 0
        self._port = 0

    async def __aenter__(self) -> FaultServer:
        self._opened = serving(self._answer, self._port)
        self.url = (await self._opened.__aenter__()).base_url
        self._port = int(self.url.rpartition(":")[2].removesuffix("/v1"))
        return self

    async def __aexit__(self, *ended: Any) -> None:
        await self._opened.__aexit__(*ended)

    def _answer(self, received: Received) -> Answer:
        self.requests.append(received)
        content = received.json["messages"][0]["content"]
        prompt = content if isinstance(content, str) else next(part["text"] for part in content if "text" in part)
        said = self._faults.get(prompt, ["ok"])
        name = said[min(self.asked[prompt], len(said) - 1)]
        self.asked[prompt] += 1

        async def answer(writer: asyncio.StreamWriter) -> None:
            self._at_once += 1
            try:
                if self.capacity is not None and self._at_once > self.capacity:
                    await FAULTS["429"](writer)
                    return
                await asyncio.sleep(self._seconds)
                await FAULTS[name](writer)
            finally:
                self._at_once -= 1

        return answer
