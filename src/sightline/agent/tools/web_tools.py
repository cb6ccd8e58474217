"""Tools for the web: WebSearch, WebImageSearch, OpenPage. What they bring is marked as untrusted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sightline.agent.state import AgentState, PictureView
from sightline.agent.tools.arguments import PHOTO_FIELD, MistakeError, ToolArguments, spec, text_field, whole_field
from sightline.agent.tools.base import AsyncTool, Materials, Observation, Tool, mistake
from sightline.agent.tools.picture_refs import NamedPictures
from sightline.agent.tools.pixels import encode, load
from sightline.agent.tools.search_tools import answered
from sightline.agent.tools.view_tools import showing
from sightline.agent.web.base import MISSING, Web, leaves_machine
from sightline.types import Failure, ImagePart

PART = 12_000
"""Characters of a page that one answer holds."""
_SNIPPET = 1200
_MOST_SHOWN = 4
_PICTURE = re.compile(r"!\[[^\]]{0,300}\]\((https?://[^\s)]{1,2048})\)")

WEB_SEARCH = spec(
    "WebSearch",
    "Search the web by words: addresses, titles and parts of pages.",
    {"query": text_field("what to look for"), "top_k": whole_field("how many pages", 1, 20, 5)},
    "query",
)
WEB_IMAGE_SEARCH = spec(
    "WebImageSearch",
    "Search the web for pictures, by words or by a picture that they look like; some are shown.",
    {
        "query": text_field("words; leave it out to search by photo"),
        "photo": PHOTO_FIELD,
        "top_k": whole_field("how many pictures to list", 1, 20, 5),
        "show": whole_field("how many of them to show", 0, _MOST_SHOWN, 2),
    },
)
OPEN_PAGE = spec(
    "OpenPage",
    f"Open a page of the web as text, {PART:,} characters at a time.",
    {
        "url": text_field("the page's address"),
        "part": whole_field("which part of a long page", 1, 100, 1),
        "show_pictures": whole_field("how many of the page's pictures to show", 0, _MOST_SHOWN, 0),
    },
    "url",
)


def web_search(materials: Materials) -> Tool | None:
    """WebSearch, where there is a web."""
    web = materials.web
    if web is None:
        return None

    async def work(given: ToolArguments, state: AgentState) -> Observation:
        query = given.text("query")
        found = await web.search(_sendable(web, query, state), given.whole("top_k", 5))
        if isinstance(found, Failure):
            return _failed(found, state)
        rows = [{"url": hit.url, "title": hit.title, "text": hit.text[:_SNIPPET]} for hit in found]
        return answered({"results": rows}, untrusted=True, public=True)

    return AsyncTool(WEB_SEARCH, work)


def web_image_search(materials: Materials) -> Tool | None:
    """WebImageSearch, where there is a web."""
    web = materials.web
    if web is None:
        return None
    subjects = NamedPictures(materials)

    async def work(given: ToolArguments, state: AgentState) -> Observation:
        query, photo = given.maybe_text("query"), given.maybe_text("photo")
        if (query is None) == (photo is None):
            raise MistakeError("give either query or photo.")
        asked: str | bytes
        if query is not None:
            asked = _sendable(web, query, state)
        else:
            asked = await asyncio.to_thread(_cue, subjects, photo or "", state, leaves_machine(web))
        found = await web.search_pictures(asked, given.whole("top_k", 5))
        if isinstance(found, Failure):
            return _failed(found, state)
        rows = [{"url": hit.url, "page": hit.page, "caption": hit.caption[:_SNIPPET]} for hit in found]
        views = await _fetched(web, [hit.url for hit in found][: given.whole("show", 2)], state)
        shown = showing(views, {"results": rows, "shown_from": _sources(views)}, untrusted=True)
        return replace(shown, public=True)

    return AsyncTool(WEB_IMAGE_SEARCH, work)


def open_page(materials: Materials) -> Tool | None:
    """OpenPage, where there is a web."""
    web = materials.web
    if web is None:
        return None

    async def work(given: ToolArguments, state: AgentState) -> Observation:
        number, count = given.whole("part", 1), given.whole("show_pictures", 0)
        url = given.text("url")
        page = await web.open(state.outgoing.address(url) if leaves_machine(web) else url)
        if isinstance(page, Failure):
            return _failed(page, state)
        parts = max(1, -(-len(page.text) // PART))
        if number > parts:
            raise MistakeError(f"the page has only {parts} part{'s' if parts > 1 else ''}.")
        text = page.text[(number - 1) * PART : number * PART]
        addresses = list(dict.fromkeys(_PICTURE.findall(text)))
        views = await _fetched(web, addresses[:count], state)
        head = f"{page.url}\n{page.title}\n(part {number} of {parts})\n\n"
        data: dict[str, Any] = {"url": page.url, "title": page.title, "part": number, "parts": parts, "text": text}
        if views:
            data["shown"] = _sources(views)
        return Observation(head + text, tuple(views), data, untrusted=True, public=True)

    return AsyncTool(OPEN_PAGE, work)


def _failed(failure: Failure, state: AgentState) -> Observation:
    """What a server says about its failure is not ours either."""
    state.outgoing.missed += failure.kind == MISSING
    told = mistake(f"{failure.message} ({failure.kind}).")
    return Observation(told.text, data=told.data, untrusted=True, error=True, public=True)


def _sendable(web: Web, query: str, state: AgentState) -> str:
    return state.outgoing.query(query) if leaves_machine(web) else query


def _cue(subjects: NamedPictures, name: str, state: AgentState, leaves: bool) -> bytes:
    subject = subjects.find(name, state)
    if leaves:
        came = subject.view is not None and subject.view.made_by == "web"
        state.outgoing.picture(from_web=came, is_part=subject.region is not None)
    return encode(subjects.image(subject))


async def _fetched(web: Web, addresses: Sequence[str], state: AgentState) -> list[PictureView]:
    """Pictures that could be fetched and opened; those that could not are left out."""
    views: list[PictureView] = []
    number = sum(name.startswith("web-") for name in state.views)
    for address in addresses:
        data = await web.picture(address)
        state.outgoing.missed += isinstance(data, Failure) and data.kind == MISSING
        image = data if isinstance(data, Failure) else await asyncio.to_thread(load, data)
        if isinstance(image, Failure):
            continue
        number += 1
        # Encoded anew: what was hidden in the file stays behind.
        made = await asyncio.to_thread(encode, image)
        views.append(PictureView(f"web-{number}", ImagePart(address, made), made_by="web"))
    return views


def _sources(views: Sequence[PictureView]) -> dict[str, str]:
    return {view.name: view.part.source for view in views}
