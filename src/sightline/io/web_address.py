"""An address of the web: one type that is checked and connected to, so that no other host is asked than was checked."""

from __future__ import annotations

import ipaddress
import socket
import unicodedata
from dataclasses import dataclass
from typing import TypeAlias

from yarl import URL

IPAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
LONGEST_URL = 2048
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Zs", "Zl", "Zp")


class BadAddressError(ValueError):
    """A text that is no address of the web, or one that is never opened; the message says why."""


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An http or https address in its one written form: IDNA and NFKC applied, numbers as an IP address, no fragment.

    `http://①②⑦.⓪.⓪.①/`, `http://127。0。0。1/`, `http://0x7f.1/` and `http://127.0.0.1./#a` are all
    `http://127.0.0.1/`. `url` is what is given to aiohttp, whose own type it is.
    """

    url: URL

    @classmethod
    def parse(cls, text: str) -> WebAddress:
        """The address that a page, a model or a file wrote; `BadAddressError` says what is wrong with it."""
        if any(unicodedata.category(letter) in _INVISIBLE for letter in text):
            raise BadAddressError("an address has no spaces or control characters")
        return cls._of(_split(text))

    @classmethod
    def _of(cls, url: URL) -> WebAddress:
        if url.scheme not in ("http", "https") or not url.raw_host:
            raise BadAddressError("only http:// and https:// addresses with a host can be opened")
        if url.user is not None or url.password is not None:
            raise BadAddressError("an address with a user name or a password in it is not opened")
        host = url.raw_host.rstrip(".")
        if not host or "%" in host:  # A zone of this machine's own network, or a host that is written twice over.
            raise BadAddressError("that is no web address")
        literal = read_ip(host)
        try:
            whole = url.with_host(host if literal is None else str(literal))
        except ValueError:
            raise BadAddressError("that is no web address") from None
        return cls(URL(f"{whole.origin()}{whole.raw_path_qs}", encoded=True))

    @property
    def host(self) -> str:
        """The host as a connection asks for it."""
        return self.url.raw_host or ""

    @property
    def ip(self) -> IPAddress | None:
        """The host's IP address, where it is written as one in whatever form."""
        return read_ip(self.host)

    def join(self, location: str) -> WebAddress:
        """Where a redirect leads."""
        return self._of(self.url.join(_split(location)))

    def __str__(self) -> str:
        return str(self.url)


def _split(text: str) -> URL:
    if len(text) > LONGEST_URL:
        raise BadAddressError(f"an address has at most {LONGEST_URL:,} characters")
    try:
        url = URL(text)
        _ = url.port
    except (ValueError, TypeError):
        raise BadAddressError("that is no web address") from None
    return url


def read_ip(host: str) -> IPAddress | None:
    """An IP address in any form that the system's own resolver takes for one (`2130706433`, `0x7f.1`)."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeError):
        return None


def is_public(address: IPAddress) -> bool:
    """Is it an address of the public internet: not private, loopback, link-local, reserved, multicast or shared?"""
    inner = _inner(address)
    if inner is not None:
        return is_public(inner)
    local = isinstance(address, ipaddress.IPv6Address) and address.is_site_local
    return address.is_global and not (address.is_multicast or address.is_reserved or local)


def _inner(address: IPAddress) -> IPAddress | None:
    """The IPv4 address that an IPv6 address stands for (mapped, 6to4, Teredo, NAT64)."""
    if not isinstance(address, ipaddress.IPv6Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)


def is_loopback(url: str) -> bool:
    """Does a connection to this address stay on this machine?"""
    try:
        host = (URL(url).raw_host or "").rstrip(".")
    except ValueError:
        return False
    address = read_ip(host)
    if address is None:
        return host == "localhost" or host.endswith(".localhost")
    return (_inner(address) or address).is_loopback
