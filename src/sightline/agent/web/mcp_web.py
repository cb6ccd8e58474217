"""A web behind a Model Context Protocol server that somebody else runs."""

from __future__ import annotations

import asyncio
import base64
import binascii
import shlex
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from sightline.agent.web.base import WebHit, WebPage, WebPicture
from sightline.errors import MissingExtraError
from sightline.models.json_schema import json_values
from sightline.types import Failure

_SECONDS = 60.0
_MOST_TEXT = 200_000
_SEARCH = ("search", "web_search", "websearch", "search_web", "brave_web_search", "tavily_search", "searxng_web_search")
_OPEN = ("fetch", "open", "openpage", "open_page", "fetch_url", "read_page", "web_url_read", "get_page", "browse")
_PICTURES = ("image_search", "webimagesearch", "search_images", "web_image_search", "brave_image_search")
_QUERY = ("query", "q", "search_query", "text")
_COUNT = ("top_k", "k", "count", "num_results", "max_results", "limit", "n")
_ADDRESS = ("url", "uri", "link", "address")
_HIT = (("url", "link", "href"), ("title", "name"), ("text", "snippet", "content", "description"))
_PICTURE = (("image_url", "imageUrl", "img_src", "url"), ("page", "link", "source", "url"), ("caption", "title"))


@dataclass(frozen=True, slots=True)
class McpTools:
    """Which tools of the server do what; what is None is found by its name."""

    search: str | None = None
    open: str | None = None
    pictures: str | None = None


class McpWeb:
    """Asks a server's search and fetch tools: `target` is its http(s) address, or a command to start it.

    The server fetches, so whom it may ask is its own affair; what it answers is capped and untrusted.
    """

    def __init__(self, target: str, tools: McpTools | None = None, *, token: str | None = None) -> None:
        if find_spec("mcp") is None:
            raise MissingExtraError("a web behind an MCP server", "mcp")
        self._target, self._tools, self.token = target, tools or McpTools(), token
        self._schemas: dict[str, Mapping[str, Any]] = {}
        self._jobs: asyncio.Queue[_Job | None] | None = None
        self._worker: asyncio.Task[None] | None = None
        self.name = "mcp"

    async def search(self, query: str, k: int) -> Sequence[WebHit] | Failure:
        said = await self._call(self._tools.search, _SEARCH, {_QUERY: query, _COUNT: k})
        if isinstance(said, Failure):
            return said
        rows = _rows(said)
        if not rows and said.text:
            return [WebHit("", "", said.text[:_MOST_TEXT])]
        return [WebHit(*(_text(row, *names) for names in _HIT)) for row in rows[:k]]

    async def open(self, url: str) -> WebPage | Failure:
        said = await self._call(self._tools.open, _OPEN, {_ADDRESS: url})
        if isinstance(said, Failure):
            return said
        return WebPage(url, said.text.strip().partition("\n")[0].removeprefix("# ")[:300], said.text[:_MOST_TEXT])

    async def search_pictures(self, query: str | bytes, k: int) -> Sequence[WebPicture] | Failure:
        if isinstance(query, bytes):
            return Failure("unsupported", "an MCP server's picture search is asked by words only")
        said = await self._call(self._tools.pictures, _PICTURES, {_QUERY: query, _COUNT: k})
        if isinstance(said, Failure):
            return said
        return [WebPicture(*(_text(row, *names) for names in _PICTURE)) for row in _rows(said)[:k]]

    async def picture(self, url: str) -> bytes | Failure:
        said = await self._call(self._tools.open, _OPEN, {_ADDRESS: url})
        if isinstance(said, Failure):
            return said
        return said.picture or Failure("no-picture", "the MCP server sent no picture")

    async def close(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None and self._jobs is not None:
            await self._jobs.put(None)
            await worker

    # --- the connection ---------------------------------------------------------------------------------------

    async def _call(self, named: str | None, usual: Sequence[str], given: Mapping[tuple[str, ...], Any]) -> Any:
        # A connection must be opened and closed by one task: calls are handed to it.
        if self._worker is None or self._worker.done():
            self._jobs = asyncio.Queue()
            self._worker = asyncio.create_task(self._serve(self._jobs))
        assert self._jobs is not None
        job = _Job(named, usual, given, asyncio.get_running_loop().create_future())
        await self._jobs.put(job)
        try:
            return await asyncio.wait_for(job.answer, _SECONDS)
        except TimeoutError:
            return Failure("timeout", f"the MCP server did not answer within {_SECONDS:g} s", retryable=True)

    async def _serve(self, jobs: asyncio.Queue[_Job | None]) -> None:
        import anyio
        import httpx2
        from mcp import MCPError

        job: _Job | None = None
        try:
            async with AsyncExitStack() as stack:
                client = await stack.enter_async_context(self._client())
                listed = await client.list_tools()
                self._schemas = {tool.name: tool.input_schema for tool in listed.tools}
                while (job := await jobs.get()) is not None:
                    job.finish(await self._asked(client, job))
        except (MCPError, httpx2.HTTPError, OSError, anyio.ClosedResourceError, ExceptionGroup) as error:
            lost = Failure("connection", f"the MCP server can't be reached: {type(error).__name__}", retryable=True)
            waiting = [jobs.get_nowait() for _ in range(jobs.qsize())]
            for each in (job, *waiting):
                if each is not None:
                    each.finish(lost)

    def _client(self) -> Any:
        import httpx2
        from mcp import Client, StdioServerParameters
        from mcp.client.streamable_http import streamable_http_client

        if not self._target.startswith(("http://", "https://")):
            command, *arguments = shlex.split(self._target)
            return Client(StdioServerParameters(command=command, args=arguments))
        if self.token is None:
            return Client(self._target)
        head = {"Authorization": f"Bearer {self.token}"}
        return Client(
            streamable_http_client(self._target, http_client=httpx2.AsyncClient(headers=head, timeout=_SECONDS))
        )

    async def _asked(self, client: Any, job: _Job) -> _ToolReply | Failure:
        from mcp import MCPError

        name = job.named or next((tool for tool in self._schemas if tool.lower() in job.usual), None)
        if name is None or name not in self._schemas:
            offered = ", ".join(self._schemas) or "none"
            return Failure("unsupported", f"the MCP server has no such tool; it offers: {offered[:300]}")
        fields = self._schemas[name].get("properties") or {}
        arguments = {
            field: value for names, value in job.given.items() if (field := next((n for n in names if n in fields), ""))
        }
        try:
            answer = await client.call_tool(name, arguments)
        except MCPError as error:
            return Failure("bad-reply", f"the MCP server: {str(error)[:300]}")
        said = _said(answer)
        return Failure("bad-reply", f"the MCP server: {said.text[:300]}") if answer.is_error else said


@dataclass(frozen=True, slots=True)
class _ToolReply:
    text: str
    data: Any
    picture: bytes | None


@dataclass(frozen=True, slots=True)
class _Job:
    named: str | None
    usual: Sequence[str]
    given: Mapping[tuple[str, ...], Any]
    answer: asyncio.Future[Any]

    def finish(self, value: Any) -> None:
        if not self.answer.done():
            self.answer.set_result(value)


def _said(answer: Any) -> _ToolReply:
    texts = [part.text for part in answer.content if part.type == "text"]
    pictures = [part.data for part in answer.content if part.type == "image"]
    picture = None
    if pictures:
        try:
            picture = base64.b64decode(pictures[0], validate=True)
        except binascii.Error:
            picture = None
    return _ToolReply("\n".join(texts)[:_MOST_TEXT], answer.structured_content, picture)


def _rows(said: _ToolReply) -> list[Mapping[str, Any]]:
    """Results as a list of objects, wherever in the answer they are."""
    for value in (said.data, *json_values(said.text)):
        listed = (
            next((each for each in value.values() if isinstance(each, list)), None)
            if isinstance(value, dict)
            else value
        )
        if isinstance(listed, list) and listed and all(isinstance(row, Mapping) for row in listed):
            return listed
    return []


def _text(row: Mapping[str, Any], *names: str) -> str:
    return next((str(row[name])[:4000] for name in names if isinstance(row.get(name), str)), "")
