"""`check-urls`: can every picture be had at its web address, and is it a picture?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sightline.authoring import project as files
from sightline.authoring.project import Project
from sightline.authoring.project_files import read_images
from sightline.corpus.pixels import identify
from sightline.engine.event_loop import run_async
from sightline.errors import UserError
from sightline.io.web_address import WebAddress, is_public

if TYPE_CHECKING:
    import aiohttp

_HEAD_BYTES = 64
_MOST_REDIRECTS = 5
_WITHOUT_HEAD = (400, 403, 404, 405, 501)
"""Answers that servers give to HEAD although the picture is there."""


@dataclass(frozen=True, slots=True)
class UrlCheck:
    """What came of one address; `problem` is None if a picture is there."""

    picture: str
    url: str
    status: int | None = None
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def addresses(project: Project) -> list[tuple[str, str]]:
    """Pictures with their web address: as listed, else `paths.pictures_url` and the id."""
    pictures, _ = read_images(project.existing(files.IMAGES), project.config)
    base = project.config.paths.pictures_url
    found = []
    for id_, picture in list(pictures.items())[: project.limit]:
        listed = picture.extra.get("image_url")
        url = listed if isinstance(listed, str) else picture.uri
        if not url.startswith(("http://", "https://")):
            url = f"{base.rstrip('/')}/{quote(id_)}" if base else ""
        if url:
            found.append((id_, url))
    if not found:
        raise UserError(
            f"no picture of {project.path(files.IMAGES)} has a web address.",
            "none is needed: pictures are read from disk. To check addresses all the same, set paths.pictures_url",
        )
    return found


def check_urls(
    found: Sequence[tuple[str, str]], *, at_once: int = 10, timeout: float = 10.0, allow_private: bool = False
) -> list[UrlCheck]:
    """Ask every address, at most so many at once; private ones are refused unless they are allowed."""
    return run_async(_check_all(found, at_once, timeout, allow_private))


async def _check_all(
    found: Sequence[tuple[str, str]], at_once: int, timeout: float, allow_private: bool
) -> list[UrlCheck]:
    import aiohttp

    from sightline.agent.web.fetch import PublicResolver

    gate, resolver = asyncio.Semaphore(at_once), PublicResolver(allowed=lambda ip: allow_private or is_public(ip))
    limit = aiohttp.ClientTimeout(total=timeout)
    async with aiohttp.ClientSession(connector=resolver.connector(at_once), timeout=limit) as session:

        async def one(picture: str, url: str) -> UrlCheck:
            async with gate:
                return await _check(session, picture, url)

        return list(await asyncio.gather(*(one(picture, url) for picture, url in found)))


async def _check(session: aiohttp.ClientSession, picture: str, url: str) -> UrlCheck:
    import aiohttp

    from sightline.agent.web.fetch import refusal

    try:
        status, head = await _ask(session, WebAddress.parse(url))
    except TimeoutError:
        return UrlCheck(picture, url, None, "no answer in time")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        if refusal(error) is not None:
            return UrlCheck(picture, url, None, "a private address; add --allow-private to have it looked at")
        return UrlCheck(picture, url, None, " ".join(str(error).split())[:200] or type(error).__name__)
    if status != 200:
        return UrlCheck(picture, url, status, f"status {status}")
    return UrlCheck(picture, url, status, None if head is None or identify(head) else "what is there is no picture")


async def _ask(session: aiohttp.ClientSession, address: WebAddress) -> tuple[int, bytes | None]:
    """HEAD, and where that tells too little GET of the first bytes; redirects one by one, each as guarded."""
    method = "HEAD"
    for _ in range(_MOST_REDIRECTS + 1):
        headers = {} if method == "HEAD" else {"Range": f"bytes=0-{_HEAD_BYTES - 1}"}
        async with session.request(method, address.url, allow_redirects=False, headers=headers) as response:
            if response.status in (301, 302, 303, 307, 308) and "Location" in response.headers:
                address = address.join(response.headers["Location"])
                continue
            if method == "HEAD":
                if response.status == 200 and response.content_type.startswith("image/"):
                    return 200, None
                if response.status == 200 or response.status in _WITHOUT_HEAD:
                    method = "GET"
                    continue
                return response.status, None
            status = 200 if response.status == 206 else response.status
            return status, await response.content.read(_HEAD_BYTES)
    raise ValueError(f"more than {_MOST_REDIRECTS} redirects")
