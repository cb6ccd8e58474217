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
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from sightline.agent.web.base import WebPage
from sightline.agent.web.html_text import MOST_BYTES, MOST_TEXT, decoded, html_text, title_of
from sightline.types import Failure

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Lookup: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
LONGEST_URL = 2048
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
PAGE_TYPES = frozenset(("text/html", "application/xhtml+xml", "text/plain", "text/markdown", "application/json"))
PICTURE_TYPES = frozenset(("image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/bmp"))
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_ACCEPT = "text/html,application/xhtml+xml,text/plain;q=0.9,image/*;q=0.8"


class RefusedAddressError(OSError):
    """A host whose address is not one of the public internet."""


def is_public(address: Address) -> bool:
    """Is it an address of the public internet: not private, loopback, link-local, reserved, multicast or shared?"""
    inner = _inner(address)
    if inner is not None:
        return is_public(inner)
    local = isinstance(address, ipaddress.IPv6Address) and address.is_site_local
    return address.is_global and not (address.is_multicast or address.is_reserved or local)


def _inner(address: Address) -> Address | None:
    """The IPv4 address that an IPv6 address stands for (mapped, 6to4, Teredo, NAT64)."""
    if not isinstance(address, ipaddress.IPv6Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)


def checked_url(url: str) -> str | Failure:
    """The address if it may be asked for at all: http or https, a host, no password in it."""
    if len(url) > LONGEST_URL:
        return Failure("bad-url", f"an address has at most {LONGEST_URL:,} characters")
    if any(ord(letter) <= 32 or ord(letter) == 127 for letter in url):
        return Failure("bad-url", "an address has no spaces or control characters")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return Failure("bad-url", "that is no web address")
    if parts.scheme not in ("http", "https") or not host:
        return Failure("bad-url", "only http:// and https:// addresses with a host can be opened")
    if parts.username is not None or parts.password is not None:
        return Failure("bad-url", "an address with a user name or a password in it is not opened")
    return url


async def look_up(host: str, port: int) -> list[str]:
    """The addresses of a host, as the machine's own resolver tells them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class PublicResolver(AbstractResolver):
    """Resolves names for a connector, which then connects to exactly these addresses: no second look-up can differ.

    One address that is not allowed refuses the host, even if others are: a name has no reason to have both.
    """

    def __init__(self, lookup: Lookup = look_up, allowed: Callable[[Address], bool] = is_public) -> None:
        self._lookup, self._allowed = lookup, allowed

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        texts = await self._lookup(host, port)
        addresses = [ipaddress.ip_address(text.partition("%")[0]) for text in texts]
        for address in addresses:
            self.check(host, address)
        return [self._result(host, port, address) for address in addresses]

    def check(self, host: str, address: Address) -> None:
        """Raises for an address that may not be fetched."""
        if not self._allowed(address):
            raise RefusedAddressError(f"{host} is not on the public internet")

    def check_literal(self, host: str) -> None:
        """The same for a host that is written as an address, which a connector resolves no more."""
        try:
            address = ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            return
        self.check(host, address)

    async def close(self) -> None:
        """There is nothing to let go of."""

    @staticmethod
    def _result(host: str, port: int, address: Address) -> ResolveResult:
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        return {
            "hostname": host,
            "host": str(address),
            "port": port,
            "family": family,
            "proto": 0,
            "flags": socket.AI_NUMERICHOST,
        }


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
