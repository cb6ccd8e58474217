"""Fetching: only the public web, only a little, only what is text or a picture."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.agent.web.base import WebPage
from sightline.agent.web.fetch import Fetcher, FetchLimits, PublicResolver, checked_url
from sightline.agent.web.html_text import Tag, html_text, tokens
from sightline.io.web_address import IPAddress, is_public
from sightline.types import Failure

PRIVATE = (
    "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1",
    "224.0.0.1", "255.255.255.255", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "fec0::1",
)  # fmt: skip
PUBLIC = ("8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808")


@pytest.mark.parametrize("text", PRIVATE)
def test_addresses_of_this_network_are_not_public(text: str) -> None:
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_addresses_of_the_internet_are(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://a.test/", "javascript:1", "http://", "http:///x", "http://u:p@a.test/", "//a.test/",
     "http://a b/", "http://a.test/\n", "http://[::1", "http://a.test:99999/", "http://a.test/" + "x" * 3000, ""],
)  # fmt: skip
def test_addresses_that_are_never_asked_for(url: str) -> None:
    assert isinstance(checked_url(url), Failure)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:1/", "http://[::1]:1/", "http://localhost:1/", "http://2130706433:1/", "http://0x7f.1:1/",
     "http://169.254.169.254/latest/meta-data", "http://[::ffff:127.0.0.1]:1/", "http://0:1/"],
)  # fmt: skip
def test_this_machine_is_refused_however_it_is_written(url: str) -> None:
    found = fetch(Fetcher(), url)
    assert isinstance(found, Failure) and found.kind in ("refused-address", "bad-url"), found


# --- a site on this machine, which only these tests may reach ---

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def _page(request: web.Request) -> web.Response:
    text = "<title>T</title><p>Hello <a href='/other'>there</a></p><script>evil()</script>"
    return web.Response(text=text, content_type="text/html")


async def _around(request: web.Request) -> web.Response:
    raise web.HTTPFound(f"http://site.test:{request.url.port}/around")


async def _inside(request: web.Request) -> web.Response:
    raise web.HTTPFound(f"http://secret.test:{request.url.port}/page")


async def _literal(request: web.Request) -> web.Response:
    raise web.HTTPFound("http://169.254.169.254/latest")


async def _scheme(request: web.Request) -> web.Response:
    raise web.HTTPFound("file:///etc/passwd")


async def _slow(request: web.Request) -> web.Response:
    await asyncio.sleep(30)
    return web.Response(text="late")


async def _bomb(request: web.Request) -> web.Response:
    data = gzip.compress(b"<p>" + b"a" * 30_000_000)
    return web.Response(body=data, headers={"Content-Encoding": "gzip", "Content-Type": "text/html"})


async def _program(request: web.Request) -> web.Response:
    return web.Response(body=b"MZ", content_type="application/octet-stream")


async def _once(request: web.Request) -> web.Response:
    raise web.HTTPMovedPermanently("/page")


async def _cookies(request: web.Request) -> web.Response:
    response = web.Response(text=f"cookie: {request.headers.get('Cookie', 'none')}")
    response.set_cookie("who", "you")
    return response


PATHS: dict[str, Handler] = {
    "/page": _page, "/around": _around, "/inside": _inside, "/literal": _literal, "/scheme": _scheme, "/slow": _slow,
    "/bomb": _bomb, "/program": _program, "/once": _once, "/cookies": _cookies,
}  # fmt: skip


class Names:
    """`site.test` is the test's own server, under an address that counts as public here; all else is private."""

    def __init__(self) -> None:
        self.looked_up: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.looked_up.append(host)
        if host == "rebind.test":  # Public at the first look, private ever after.
            return ["127.0.0.1"] if self.looked_up.count(host) == 1 else ["127.0.0.2"]
        if host == "both.test":
            return ["127.0.0.1", "10.0.0.1"]
        return ["127.0.0.1"] if host == "site.test" else ["127.0.0.2"]


def only_the_site(address: IPAddress) -> bool:
    return str(address) == "127.0.0.1"


def fetch(fetcher: Fetcher, url: str) -> WebPage | Failure:
    async def run() -> WebPage | Failure:
        try:
            return await fetcher.page(url)
        finally:
            await fetcher.close()

    return asyncio.run(run())


def visit(path: str, host: str = "site.test", **limits: Any) -> WebPage | Failure:
    return asyncio.run(visit_all([path], host, **limits))[0]


async def visit_all(paths: list[str], host: str, **limits: Any) -> list[WebPage | Failure]:
    app = web.Application()
    for path, handler in PATHS.items():
        app.router.add_get(path, handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    names = limits.pop("names", None) or Names()
    fetcher = Fetcher(PublicResolver(names, only_the_site), FetchLimits(**{"seconds": 5.0, **limits}))
    try:
        return [await fetcher.page(f"http://{host}:{port}{path}") for path in paths]
    finally:
        await fetcher.close()
        await runner.cleanup()


def test_a_page_is_read_as_text() -> None:
    page = visit("/page")
    assert isinstance(page, WebPage)
    assert page.title == "T" and "Hello [there](http://site.test:" in page.text and "evil" not in page.text


def test_a_redirect_is_followed_and_told() -> None:
    page = visit("/once")
    assert isinstance(page, WebPage) and page.url.endswith("/page")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/around", "redirects"),
        ("/inside", "refused-address"),
        ("/literal", "refused-address"),
        ("/scheme", "bad-url"),
        ("/bomb", "too-large"),
        ("/program", "content-type"),
        ("/none", "http-status"),
    ],
)
def test_what_is_refused_has_a_name(path: str, kind: str) -> None:
    found = visit(path, page_bytes=1_000_000)
    assert isinstance(found, Failure) and found.kind == kind, found


def test_a_slow_server_is_left() -> None:
    found = visit("/slow", seconds=0.2)
    assert isinstance(found, Failure) and found.kind == "timeout"


def test_one_private_address_refuses_the_host() -> None:
    found = visit("/page", "both.test")
    assert isinstance(found, Failure) and found.kind == "refused-address"


def test_a_name_that_changes_its_address_is_checked_each_time() -> None:
    names = Names()
    assert isinstance(visit("/page", "rebind.test", names=names), WebPage)
    assert names.looked_up == ["rebind.test"], "between the check and the connection there is no second look"
    found = visit("/page", "rebind.test", names=names)
    assert isinstance(found, Failure) and found.kind == "refused-address"


def test_no_cookies_are_kept() -> None:
    for page in asyncio.run(visit_all(["/cookies", "/cookies"], "site.test")):
        assert isinstance(page, WebPage) and "cookie: none" in page.text


# --- HTML ---


def text_of(html: str) -> str:
    return html_text(html.encode(), "https://a.test/dir/page").text


def test_structure_links_and_pictures_are_kept() -> None:
    html = """<body><h1>Head</h1><ul><li>one</li><li>two</li></ul><table><tr><td>a</td><td>b</td></tr></table>
      <p>See <a href="../x?y=1&amp;z">this</a> and <a href="javascript:alert(1)">that</a>.</p>
      <img src=dog.png alt="A dog"></body>"""
    text = text_of(html)
    for part in (
        "# Head",
        "- one",
        "- two",
        "| a | b",
        "[this](https://a.test/x?y=1&z)",
        "![A dog](https://a.test/dir/dog.png)",
    ):
        assert part in text
    assert "javascript" not in text and "that" in text


@pytest.mark.parametrize(
    "hidden",
    ["<script>order</script>", "<style>order</style>", "<div hidden>order</div>", "<p style='display: none'>order</p>",
     "<p aria-hidden=true>order</p>", "<template>order</template>", "<noscript>order</noscript>", "<!-- order -->",
     "<div hidden><div>x</div>order</div>", "<span style='font-size:0'>order</span>", "<iframe>order</iframe>",
     "<script><script>order</script>"],
)  # fmt: skip
def test_what_a_person_does_not_see_is_not_told(hidden: str) -> None:
    text = text_of(f"<body><p>before</p>{hidden}<p>after</p></body>")
    assert "order" not in text and "before" in text and "after" in text


def test_character_sets() -> None:
    assert html_text("<p>Größe</p>".encode("latin-1"), "https://a.test/", "latin-1").text == "Größe"
    assert html_text("<meta charset=latin-1><p>Größe</p>".encode("latin-1"), "https://a.test/").text == "Größe"
    assert html_text("<p>Größe</p>".encode(), "https://a.test/", "no-such-set").text == "Größe"


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet="<>/=\"'abp&;#! -x\n\x00", max_size=200))
def test_broken_html_is_read_somehow(html: str) -> None:
    assert isinstance(text_of(html), str)


@pytest.mark.parametrize(
    "unit",
    ["<!--", "<a foo=", "<![CDATA[", "</a", "<a ", "&", "<!", "<?", "<a x='", "<a>x", "<", "</", "<a/", "&#",
     "<script>", "<title>", "<a x=y ", "<p hidden>", "<a x = ", "a   ", "<a      ", "[", "<img src=x alt='"],
)  # fmt: skip
def test_text_is_read_once_however_it_is_broken(unit: str) -> None:
    """No seconds are counted, but a reader that looks back for each tag would take minutes for the last line."""
    few, many = (sum(1 for _ in tokens(unit * count)) for count in (2000, 8000))
    assert many <= 4 * few + 4
    assert isinstance(text_of(unit * 50_000), str)


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<a href=x>", [Tag("a", {"href": "x"})]),
        ("<A HREF='a b' href=2 c>x</A>", [Tag("a", {"href": "a b", "c": ""}), "x", Tag("a", {}, True)]),
        ('<p title="a>b">1 < 2 &amp; 3</p>', [Tag("p", {"title": "a>b"}), "1 ", "<", " 2 & 3", Tag("p", {}, True)]),
        ("<script>a<b</scripty></script >c", [Tag("script"), "a<b</scripty>", Tag("script", {}, True), "c"]),
        ("a<!-- <b> -->c<!doctype x>d<?php ?>e", ["a", "c", "d", "e"]),
        ("<br/>x<a href", [Tag("br"), "x"]),
        (f"&#{'9' * 5000};&#65;", ["�A"]),
        ("<a x==y>", [Tag("a", {"x": "=y"})]),
    ],
)
def test_tags_and_text(html: str, found: list[Tag | str]) -> None:
    assert list(tokens(html)) == found


def test_deep_and_wide_html_ends() -> None:
    assert "x" in text_of("<a>x" * 50_000 + "</a>" * 50_000)
    assert text_of("<div>" * 50_000 + "x" + "</div>" * 50_000) == "x"
    assert len(text_of("<a href=/y>z" * 20_000)) <= 200_000
