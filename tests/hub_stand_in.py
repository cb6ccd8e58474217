"""A stand-in of the Hugging Face hub on loopback: as much of its HTTP API as an upload asks, with faults to order."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web
from aiohttp.typedefs import Handler

from app_in_thread import app_in_thread

_LARGE = (".parquet", ".png", ".jpg")


@dataclass
class Hub:
    """What arrived: files of the one data set by path, large objects by hash, and every call in order."""

    url: str = ""
    token: str = "hf_right"
    files: dict[str, str] = field(default_factory=dict)
    small: dict[str, bytes] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    commits: list[list[str]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    created: list[dict[str, Any]] = field(default_factory=list)
    squashed: int = 0
    fail_puts: set[int] = field(default_factory=set)
    "Which PUTs, counted from 1, are refused in the middle."
    fail_commits: set[int] = field(default_factory=set)
    puts: int = 0
    tried_commits: int = 0

    def content(self, path: str) -> bytes:
        return self.small[path] if path in self.small else self.objects[self.files[path]]


def _routes(hub: Hub) -> web.Application:
    async def create(request: web.Request) -> web.Response:
        body = await request.json()
        hub.created.append(body)
        return web.json_response({"url": f"{hub.url}/datasets/{body['organization']}/{body['name']}"})

    async def tree(request: web.Request) -> web.Response:
        entries = [{"type": "file", "path": path, "size": 1, "oid": oid} for path, oid in sorted(hub.files.items())]
        return web.json_response(entries)

    async def preupload(request: web.Request) -> web.Response:
        asked = (await request.json())["files"]
        modes = [
            {
                "path": one["path"],
                "uploadMode": "lfs" if one["path"].endswith(_LARGE) else "regular",
                "shouldIgnore": False,
                "oid": hub.files.get(one["path"]),
            }
            for one in asked
        ]
        return web.json_response({"files": modes})

    async def batch(request: web.Request) -> web.Response:
        found = []
        for one in orjson.loads(await request.read())["objects"]:
            action = {"upload": {"href": f"{hub.url}/store/{one['oid']}"}}
            found.append(one if one["oid"] in hub.objects else {**one, "actions": action})
        return web.json_response({"transfer": "basic", "objects": found})

    async def put(request: web.Request) -> web.Response:
        hub.puts += 1
        data = await request.read()
        if hub.puts in hub.fail_puts:
            return web.Response(status=400, text="the line broke")
        assert hashlib.sha256(data).hexdigest() == request.match_info["oid"]
        hub.objects[request.match_info["oid"]] = data
        return web.Response()

    async def commit(request: web.Request) -> web.Response:
        hub.tried_commits += 1
        if hub.tried_commits in hub.fail_commits:
            return web.Response(status=400, text="not now")
        touched = []
        for line in (await request.read()).splitlines():
            entry = orjson.loads(line)
            value, path = entry["value"], entry["value"].get("path", "")
            if entry["key"] == "file":
                hub.small[path] = base64.b64decode(value["content"])
                hub.files[path] = hashlib.sha1(b"blob %d\0" % len(hub.small[path]) + hub.small[path]).hexdigest()
            elif entry["key"] == "lfsFile":
                assert value["oid"] in hub.objects
                hub.files[path] = value["oid"]
            elif entry["key"] == "deletedFile":
                del hub.files[path]
            touched.append(f"{entry['key']} {path}")
        hub.commits.append(touched)
        return web.json_response(
            {
                "commitUrl": f"{hub.url}/datasets/ada/harbour/commit/{len(hub.commits):040x}",
                "commitOid": f"{len(hub.commits):040x}",
            }
        )

    async def squash(request: web.Request) -> web.Response:
        hub.squashed += 1
        return web.Response()

    async def valid(request: web.Request) -> web.Response:
        return web.json_response({"errors": [], "warnings": []})

    async def revision(request: web.Request) -> web.Response:
        return web.json_response({"id": "ada/harbour", "sha": f"{len(hub.commits):040x}", "siblings": []})

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        hub.calls.append(f"{request.method} {request.path}")
        if not request.path.startswith("/store/") and request.headers.get("authorization") != f"Bearer {hub.token}":
            return web.Response(status=401, text="Invalid credentials")
        return await handler(request)

    app = web.Application(middlewares=[guarded], client_max_size=1 << 30)
    repo = "/api/datasets/{owner}/{name}"
    app.router.add_post("/api/repos/create", create)
    app.router.add_post("/api/validate-yaml", valid)
    app.router.add_get(f"{repo}/tree/main", tree)
    app.router.add_get(f"{repo}/revision/main", revision)
    app.router.add_post(f"{repo}/preupload/main", preupload)
    app.router.add_post("/datasets/{owner}/{name}.git/info/lfs/objects/batch", batch)
    app.router.add_put("/store/{oid}", put)
    app.router.add_post(f"{repo}/commit/main", commit)
    app.router.add_post(f"{repo}/super-squash/main", squash)
    return app


@contextmanager
def serving_hub() -> Iterator[Hub]:
    """A hub in a thread of its own, empty but for what every new data set has."""
    hub = Hub(files={".gitattributes": "0" * 40})
    with app_in_thread(_routes(hub)) as hub.url:
        yield hub
