"""The server of `benchmarks/calls.py`: answers chat completions after a fixed time, as cheaply as it can.

Raw HTTP/1.1 on an asyncio protocol, so that on two cores the server is not what is measured.
Run: python benchmarks/call_server.py SECONDS; prints its port.
"""

from __future__ import annotations

import asyncio
import sys

import orjson

_REPLY = orjson.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "test-model",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "A brown dog runs along a wet beach in the evening sun; two people walk behind it. " * 4,
                },
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 812, "completion_tokens": 76, "total_tokens": 888},
    }
)
_ANSWER = (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(_REPLY)) + _REPLY


class Answer(asyncio.Protocol):
    """One connection: reads whole requests, answers each after `delay` seconds."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (head := self._buffer.find(b"\r\n\r\n")) >= 0:
            lower = self._buffer[:head].lower()
            start = lower.find(b"content-length:")
            length = int(lower[start + 15 :].split(b"\r\n", 1)[0]) if start >= 0 else 0
            if len(self._buffer) < head + 4 + length:
                return
            self._buffer = self._buffer[head + 4 + length :]
            asyncio.get_running_loop().call_later(self._delay, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(_ANSWER)


async def serve(delay: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Answer(delay), "127.0.0.1", 0, backlog=4096)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
