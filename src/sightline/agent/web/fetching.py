"""Fetching pages and pictures of the public web: little, briefly, and never from this machine's own network."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import aiohttp

from sightline.agent.web.addresses import PublicResolver, RefusedAddressError, checked_url
from sightline.agent.web.base import WebPage
from sightline.agent.web.html_text import MOST_BYTES, MOST_TEXT, decoded, html_text, title_of
from sightline.types import Failure

PAGE_TYPES = frozenset(("text/html", "application/xhtml+xml", "text/plain", "text/markdown", "application/json"))
PICTURE_TYPES = frozenset(("image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/bmp"))
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_ACCEPT = "text/html,application/xhtml+xml,text/plain;q=0.9,image/*;q=0.8"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one fetch may take."""

    seconds: float = 20.0
    page_bytes: int = MOST_BYTES
    picture_bytes: int = 16 << 20
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Fetched:
    """A body, its media type and character set, and where it was found after redirects."""

    url: str
    data: bytes
    mime: str
    charset: str | None


class Fetcher:
    """Fetches for one agent; each address, also of a redirect, is checked after its name is resolved.

    No cookies, no proxies, no keys: a page learns nothing about whom it is fetched for.
    """

    def __init__(self, resolver: PublicResolver | None = None, limits: Limits | None = None) -> None:
        self._resolver, self._limits = resolver or PublicResolver(), limits or Limits()
        self._session: aiohttp.ClientSession | None = None

    async def page(self, url: str) -> WebPage | Failure:
        """A page as text."""
        found = await self._fetch(url, PAGE_TYPES, self._limits.page_bytes)
        if isinstance(found, Failure):
            return found
        return await asyncio.to_thread(_as_page, found)

    async def picture(self, url: str) -> bytes | Failure:
        """A picture's file; what is in it is not looked at here."""
        found = await self._fetch(url, PICTURE_TYPES, self._limits.picture_bytes)
        return found if isinstance(found, Failure) else found.data

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _fetch(self, url: str, types: Collection[str], most: int) -> Fetched | Failure:
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._followed(url, types, most)
        except TimeoutError:
            return Failure("timeout", f"{_host(url)} did not answer within {self._limits.seconds:g} s")
        except RefusedAddressError as error:
            return Failure("refused-address", f"{error}; only the public web can be opened")
        except aiohttp.InvalidURL:
            return Failure("bad-url", "that is no web address")
        except aiohttp.ClientConnectorError as error:
            cause = error.os_error
            if isinstance(cause, RefusedAddressError):
                return Failure("refused-address", f"{cause}; only the public web can be opened")
            return Failure("connection", f"{_host(url)} can't be reached")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Failure("connection", f"{_host(url)}: {type(error).__name__}")

    async def _followed(self, url: str, types: Collection[str], most: int) -> Fetched | Failure:
        session = self._opened()
        for _ in range(self._limits.redirects + 1):
            checked = checked_url(url)
            if isinstance(checked, Failure):
                return checked
            self._resolver.check_literal(urlsplit(url).hostname or "")
            async with session.get(url, allow_redirects=False) as response:
                if response.status not in _REDIRECTS:
                    return await _read(response, url, types, most)
                url = urljoin(url, response.headers.get("Location", ""))
        return Failure("redirects", f"more than {self._limits.redirects} redirects")

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # A kept name could be resolved anew to another address; each connection is checked by itself.
                connector=aiohttp.TCPConnector(resolver=self._resolver, use_dns_cache=False, limit=8),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": "sightline", "Accept": _ACCEPT},
                trust_env=False,
            )
        return self._session


async def _read(response: aiohttp.ClientResponse, url: str, types: Collection[str], most: int) -> Fetched | Failure:
    if response.status != 200:
        return Failure("http-status", f"{_host(url)} answered {response.status}")
    mime = response.content_type.lower()
    if mime not in types:
        return Failure("content-type", f"{_host(url)} sent {mime[:60]}, which is not read here")
    data = bytearray()
    # What is counted is what comes out of decompression.
    async for chunk in response.content.iter_chunked(1 << 16):
        data += chunk
        if len(data) > most:
            return Failure("too-large", f"{_host(url)} sent more than {most:,} bytes")
    return Fetched(url, bytes(data), mime, response.charset)


def _as_page(found: Fetched) -> WebPage:
    if found.mime in ("text/html", "application/xhtml+xml"):
        return html_text(found.data, found.url, found.charset)
    return WebPage(found.url, title_of(found.url), decoded(found.data, found.charset)[:MOST_TEXT])


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "the address")[:120]
    except ValueError:
        return "the address"
