"""`check-urls`: can every picture be had at its web address, and is it a picture?"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin, urlsplit

from sightline.authoring import project as files
from sightline.authoring.project import Project
from sightline.authoring.project_files import read_images
from sightline.corpus.pixels import identify
from sightline.engine.event_loop import run_async
from sightline.errors import UserError

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


class _RefusedAddressError(Exception):
    """A private address, which only somebody who asks for it may have looked at."""


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
    gate = asyncio.Semaphore(at_once)
    async with _session(at_once, timeout, allow_private) as session:

        async def one(picture: str, url: str) -> UrlCheck:
            async with gate:
                return await _check(session, picture, url, allow_private)

        return list(await asyncio.gather(*(one(picture, url) for picture, url in found)))


@asynccontextmanager
async def _session(at_once: int, timeout: float, allow_private: bool) -> AsyncIterator[aiohttp.ClientSession]:
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult
    from aiohttp.resolver import ThreadedResolver

    class GuardedResolver(AbstractResolver):
        """Looks up names once, for check and connection alike, so that a name can't change its address between."""

        def __init__(self) -> None:
            self._inner = ThreadedResolver()

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
        ) -> list[ResolveResult]:
            answers = await self._inner.resolve(host, port, family)
            if not allow_private and any(_is_private(answer["host"]) for answer in answers):
                raise _RefusedAddressError
            return answers

        async def close(self) -> None:
            await self._inner.close()

    connector = aiohttp.TCPConnector(limit=at_once, resolver=GuardedResolver())
    limit = aiohttp.ClientTimeout(total=timeout)
    async with aiohttp.ClientSession(connector=connector, timeout=limit) as session:
        yield session


async def _check(session: aiohttp.ClientSession, picture: str, url: str, allow_private: bool) -> UrlCheck:
    import aiohttp

    try:
        status, head = await _ask(session, url, allow_private)
    except _RefusedAddressError:
        return UrlCheck(picture, url, None, "a private address; add --allow-private to have it looked at")
    except TimeoutError:
        return UrlCheck(picture, url, None, "no answer in time")
    except (aiohttp.ClientError, ValueError) as error:
        return UrlCheck(picture, url, None, " ".join(str(error).split())[:200] or type(error).__name__)
    if status != 200:
        return UrlCheck(picture, url, status, f"status {status}")
    return UrlCheck(picture, url, status, None if head is None or identify(head) else "what is there is no picture")


async def _ask(session: aiohttp.ClientSession, url: str, allow_private: bool) -> tuple[int, bytes | None]:
    """HEAD, and where that tells too little GET of the first bytes; redirects one by one, each as guarded."""
    method = "HEAD"
    for _ in range(_MOST_REDIRECTS + 1):
        _refuse_literal(url, allow_private)
        headers = {} if method == "HEAD" else {"Range": f"bytes=0-{_HEAD_BYTES - 1}"}
        async with session.request(method, url, allow_redirects=False, headers=headers) as response:
            if response.status in (301, 302, 303, 307, 308) and "Location" in response.headers:
                url = urljoin(url, response.headers["Location"])
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


def _refuse_literal(url: str, allow_private: bool) -> None:
    """An address in numbers is looked up by nobody, so it is checked here."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{parts.scheme or 'nothing'} is no web address")
    if not allow_private and _is_private(parts.hostname):
        raise _RefusedAddressError


def _is_private(host: str) -> bool:
    """Loopback, link-local and other addresses that are not for everybody."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    mapped = getattr(address, "ipv4_mapped", None)
    return not (address if mapped is None else mapped).is_global
