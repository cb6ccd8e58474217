"""A server in a process of its own that answers after a moment, and remembers every request in order.

Run: python counting_server.py SECONDS; prints its port. GET /log?from=N gives what was asked since.
"""

from __future__ import annotations

import asyncio
import sys

import orjson
from aiohttp import web


def make_app(seconds: float) -> web.Application:
    log: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked = orjson.loads(await request.read())["messages"][-1]["content"]
        log.append(asked)
        await asyncio.sleep(seconds)
        message = {"role": "assistant", "content": f"answer to {asked}"}
        body = {
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5},
        }
        return web.Response(body=orjson.dumps(body), content_type="application/json")

    async def show(request: web.Request) -> web.Response:
        return web.Response(body=orjson.dumps(log[int(request.query["from"]) :]), content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    app.router.add_get("/log", show)
    return app


async def main() -> None:
    runner = web.AppRunner(make_app(float(sys.argv[1])))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    assert site._server is not None
    sys.stdout.write(f"{site._server.sockets[0].getsockname()[1]}\n")  # type: ignore[attr-defined]
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
