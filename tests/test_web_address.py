"""One address type: what is checked is what is connected to."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable

import aiohttp
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from sightline.agent.web.fetch import PublicResolver, RefusedAddressError, refusal
from sightline.io.web_address import BadAddressError, IPAddress, WebAddress, is_loopback, is_public
from sightline.models.providers import leaves_machine

HERE = (
    "127.0.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1", "𝟭𝟮𝟳.𝟬.𝟬.𝟭", "2130706433", "0x7f000001",
    "0x7f.1", "0177.0.0.1",
    "017700000001", "127.1", "127.0.1", "127.0.0.1.", "127｡0｡0｡1", "127．0．0．1",
)  # fmt: skip


@pytest.mark.parametrize("host", HERE)
def test_every_form_of_a_host_is_the_same_address(host: str) -> None:
    address = WebAddress.parse(f"http://{host}:8080/a?b=c#d")
    assert str(address) == "http://127.0.0.1:8080/a?b=c" and address.host == "127.0.0.1"
    assert is_loopback(f"http://{host}/") and not leaves_machine(f"http://{host}/v1")
    assert URL(str(address)).raw_host == address.host, "what aiohttp reads in it is the same"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("HTTP://Example.TEST", "http://example.test/"),
        ("http://example.test:80/", "http://example.test/"),
        ("https://example.test:443/x", "https://example.test/x"),
        ("http://bücher.test/ü?q=ü", "http://xn--bcher-kva.test/%C3%BC?q=%C3%BC"),
        ("http://xn--bcher-kva.test/", "http://xn--bcher-kva.test/"),
        ("http://a.test/b/../c", "http://a.test/c"),
        ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
        ("http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ./", "http://localhost/"),
    ],
)
def test_an_address_has_one_written_form(text: str, same: str) -> None:
    assert str(WebAddress.parse(text)) == same
    assert str(WebAddress.parse(same)) == same


@pytest.mark.parametrize(
    "text",
    ["http://loc\u200balhost/", "http://a\u00ad.test/", "http://a.test/\u202e", "http://user@a.test/", "http://:p@a.test/",
     "http://good.test\\@127.0.0.1/", "http://[::1%25lo]/", "http://[::1%lo]/", "http://127%2e0.0.1/", "http://a.test:99999/",
     "http:///x", "http://./", "http://", "//a.test/", "a.test", "ftp://a.test/", "file:///etc/passwd", "javascript:1",
     "http://a.test/\t", "http://a.test:x/", "\x00"],
)  # fmt: skip
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(BadAddressError):
        WebAddress.parse(text)


@given(st.text(max_size=60))
def test_any_text_is_an_address_in_one_form_or_refused(text: str) -> None:
    try:
        address = WebAddress.parse(f"http://{text}")
    except BadAddressError:
        return
    assert WebAddress.parse(str(address)) == address and address.url.raw_host == address.host


@pytest.mark.parametrize(
    ("location", "leads"),
    [
        ("/x", "http://a.test/x"),
        ("//127。0。0。1/", "http://127.0.0.1/"),
        ("?q", "http://a.test/dir/p?q"),
        ("http://0x7f.1", "http://127.0.0.1/"),
        ("file:///etc/passwd", None),
        ("http://u:p@b.test/", None),
        ("http://[", None),
    ],
)
def test_redirects_are_addresses_too(location: str, leads: str | None) -> None:
    address = WebAddress.parse("http://a.test/dir/p")
    if leads is None:
        with pytest.raises(BadAddressError):
            address.join(location)
    else:
        assert str(address.join(location)) == leads


@pytest.mark.parametrize(
    "text", ["64:ff9b::a00:1", "2002:c0a8:1::", "2001:0:0:0:0:0:80ff:fffe", "::127.0.0.1", "64:ff9b:1::1", "::ffff:0:0"]
)
def test_private_addresses_inside_others_are_not_public(text: str) -> None:
    assert not is_public(ipaddress.ip_address(text))


def asked(url: str, resolver: PublicResolver) -> tuple[Exception | None, int]:
    """What came of asking a server on this machine for an address, and how many connections it saw."""
    seen = 0

    async def run() -> Exception | None:
        nonlocal seen

        async def answer(_: web.Request) -> web.Response:
            nonlocal seen
            seen += 1
            return web.Response(text="secret")

        app = web.Application()
        app.router.add_get("/", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            target = url.replace("PORT", str(runner.addresses[0][1]))
            async with (
                aiohttp.ClientSession(connector=resolver.connector(1)) as session,
                session.get(target) as response,
            ):
                await response.read()
        except (aiohttp.ClientError, OSError) as error:
            return error
        finally:
            await runner.cleanup()
        return None

    return asyncio.run(run()), seen


@pytest.mark.parametrize("host", ["127.0.0.1", "①②⑦.⓪.⓪.①", "[::ffff:127.0.0.1]"])
def test_a_socket_is_checked_whatever_the_address_looked_like(host: str) -> None:
    """The connector alone refuses, without the check of the text: literals are resolved by nobody."""
    error, seen = asked(f"http://{host}:PORT/", PublicResolver())
    assert error is not None and refusal(error) is not None and not seen


def test_a_resolver_that_answers_otherwise_the_second_time_gains_nothing() -> None:
    """Rebinding: the check of the name sees a public address, the connection would be given a private one."""

    class Rebinding(PublicResolver):
        async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list:  # type: ignore[type-arg]
            self.check(host, ipaddress.ip_address("93.184.216.34"))
            return [self._result(host, port, ipaddress.ip_address("127.0.0.1"))]

    error, seen = asked("http://rebind.test:PORT/", Rebinding())
    assert isinstance(error and refusal(error), RefusedAddressError) and not seen


def test_what_is_allowed_is_reached() -> None:
    """What keeps the tests above honest."""
    everything: Callable[[IPAddress], bool] = lambda _: True  # noqa: E731
    assert asked("http://127.0.0.1:PORT/", PublicResolver(allowed=everything)) == (None, 1)
