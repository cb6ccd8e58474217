"""Which addresses may be fetched: only those of the public internet, checked after names are resolved."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from typing import TypeAlias
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult

from sightline.types import Failure

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Lookup: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
LONGEST_URL = 2048
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


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
