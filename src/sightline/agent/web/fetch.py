"""Fetching pages and pictures of the public web: little, briefly, and never from this machine's own network.

Addresses are checked after names are resolved.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import TypeAlias

import aiohttp
from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from sightline.agent.web.base import WebPage
from sightline.agent.web.html_text import MOST_BYTES, MOST_TEXT, decoded, html_text, title_of
from sightline.io.web_address import BadAddressError, IPAddress, WebAddress, is_public
from sightline.types import Failure

Lookup: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
PAGE_TYPES = frozenset(("text/html", "application/xhtml+xml", "text/plain", "text/markdown", "application/json"))
PICTURE_TYPES = frozenset(("image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/bmp"))
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_ACCEPT = "text/html,application/xhtml+xml,text/plain;q=0.9,image/*;q=0.8"


class RefusedAddressError(OSError):
    """A host whose address is not one of the public internet."""


def checked_url(url: str) -> WebAddress | Failure:
    """The address if it may be asked for at all: http or https, a host, no password in it."""
    try:
        return WebAddress.parse(url)
    except BadAddressError as error:
        return Failure("bad-url", str(error))


async def look_up(host: str, port: int) -> list[str]:
    """The addresses of a host, as the machine's own resolver tells them."""
    found = await ThreadedResolver().resolve(host, port, socket.AF_UNSPEC)
    return list(dict.fromkeys(entry["host"] for entry in found))


class PublicResolver(AbstractResolver):
    """Resolves names for a connector, which then connects to exactly these addresses: no second look-up can differ.

    One address that is not allowed refuses the host, even if others are: a name has no reason to have both. Each
    socket is checked once more, with the very address that it is then connected to, by whatever way it got there.
    """

    def __init__(self, lookup: Lookup = look_up, allowed: Callable[[IPAddress], bool] = is_public) -> None:
        self._lookup, self._allowed = lookup, allowed

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        texts = await self._lookup(host, port)
        addresses = [ipaddress.ip_address(text.partition("%")[0]) for text in texts]
        for address in addresses:
            self.check(host, address)
        return [self._result(host, port, address) for address in addresses]

    def check(self, host: str, address: IPAddress) -> None:
        """Raises for an address that may not be asked."""
        if not self._allowed(address):
            raise RefusedAddressError(f"{host} is not on the public internet")

    def connector(self, limit: int) -> aiohttp.TCPConnector:
        """A connector that opens no connection but to allowed addresses, each checked by itself: no name is kept."""
        return aiohttp.TCPConnector(resolver=self, use_dns_cache=False, limit=limit, socket_factory=self._socket)

    def _socket(self, target: AddrInfoType) -> socket.socket:
        family, kind, protocol, _, place = target
        host = str(place[0])
        self.check(host, ipaddress.ip_address(host.partition("%")[0]))
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """There is nothing to let go of."""

    @staticmethod
    def _result(host: str, port: int, address: IPAddress) -> ResolveResult:
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        return {
            "hostname": host,
            "host": str(address),
            "port": port,
            "family": family,
            "proto": 0,
            "flags": socket.AI_NUMERICHOST,
        }


def refusal(error: Exception) -> RefusedAddressError | None:
    """The refused address behind a connection that could not be made; None where it failed otherwise."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    return cause if isinstance(cause, RefusedAddressError) else None


@dataclass(frozen=True, slots=True)
class FetchLimits:
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

    def __init__(self, resolver: PublicResolver | None = None, limits: FetchLimits | None = None) -> None:
        self._resolver, self._limits = resolver or PublicResolver(), limits or FetchLimits()
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
        except (BadAddressError, aiohttp.InvalidURL):
            return Failure("bad-url", "that is no web address")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            refused = refusal(error)
            if refused is not None:
                return Failure("refused-address", f"{refused}; only the public web can be opened")
            reached = isinstance(error, aiohttp.ClientConnectorError)
            why = "can't be reached" if reached else f"failed with {type(error).__name__}"
            return Failure("connection", f"{_host(url)} {why}")

    async def _followed(self, url: str, types: Collection[str], most: int) -> Fetched | Failure:
        session, address = self._opened(), checked_url(url)
        for _ in range(self._limits.redirects + 1):
            if isinstance(address, Failure):
                return address
            async with session.get(address.url, allow_redirects=False) as response:
                if response.status not in _REDIRECTS:
                    return await _read(response, str(address), types, most)
                address = address.join(response.headers.get("Location", ""))
        return Failure("redirects", f"more than {self._limits.redirects} redirects")

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=self._resolver.connector(8),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": "sightline", "Accept": _ACCEPT},
                trust_env=False,
            )
        return self._session


async def _read(response: aiohttp.ClientResponse, url: str, types: Collection[str], most: int) -> Fetched | Failure:
    if response.status != 200:
        passes = response.status == 429 or response.status >= 500
        return Failure("http-status", f"{_host(url)} answered {response.status}", retryable=passes)
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
    found = checked_url(url)
    return "the address" if isinstance(found, Failure) else found.host[:120]
