"""Who may ask, and from where: token, Host header, forgery tokens on every POST, and headers on every answer."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass, field
from html import escape
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
EXPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""For a page that is saved and sent to somebody: nothing in it runs, nothing is loaded."""
UPLOAD_BYTES = 32 << 20
_FORM_BYTES = 1 << 20
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
_SAFE = ("GET", "HEAD")
# A redirect would carry a strict cookie only where no other site led here; a page that goes on by itself always does.
_ENTER = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={}"><title>Sightline</title>'


@dataclass(frozen=True, slots=True)
class Guard:
    """What is let in: `host` is the address that is listened on; `token` is needed where others can reach it."""

    host: str
    port: int
    token: str | None = None
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    @property
    def cookie(self) -> str:
        """Cookies do not know ports, and several apps may run on one machine."""
        return f"sightline-{self.port}"

    def knows(self, host: str) -> bool:
        """Is a Host header one of ours? A name that another site pointed at this machine is not."""
        name = _part(f"//{host}", "hostname")
        if name in ("localhost", self.host.strip("[]").lower()):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return self.token is not None and name == socket.gethostname().lower()
        return address.is_loopback or self.token is not None

    def forgery_token(self, session: str) -> str:
        """What every POST of that session must bring along."""
        return hmac.new(self.secret, session.encode(), "sha256").hexdigest()

    def is_token(self, given: str) -> bool:
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())


def is_loopback(host: str) -> bool:
    """Does this address reach only this machine?"""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class SecurityGate:
    """Stands before all pages."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        headers, cookies = connection.headers, connection.cookies
        refusal = self._refusal(scope, headers, cookies)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send, None))
            return
        session = cookies.get(self._guard.cookie, "")
        fresh = None if len(session) == 64 else secrets.token_hex(32)
        scope.setdefault("state", {})["session"] = fresh or session
        await self._app(scope, receive, _with_headers(send, fresh and _set(self._guard.cookie, fresh)))

    def _refusal(self, scope: Scope, headers: Headers, cookies: dict[str, str]) -> Response | None:
        guard, host = self._guard, headers.get("host", "")
        if not guard.knows(host):
            return PlainTextResponse("This address is not one of the app's own.", 421)
        if scope["method"] not in _SAFE and not _same_site(headers, host):
            return PlainTextResponse("This was sent by another site.", 403)
        if guard.token is None or guard.is_token(cookies.get(f"{guard.cookie}-token", "")):
            return None
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        given = asked.pop("token", [""])[0]
        if not guard.is_token(given):
            return PlainTextResponse("A token is needed: open the address that `sightline view` printed.", 403)
        # On to where the address led, less the token; one slash, or another site could be meant.
        path = "/" + quote(scope["path"].lstrip("/\\"))
        entered = HTMLResponse(_ENTER.format(escape(path + (f"?{urlencode(asked, doseq=True)}" if asked else ""))))
        entered.headers.append("set-cookie", _set(f"{guard.cookie}-token", given))
        return entered


def _same_site(headers: Headers, host: str) -> bool:
    origin, fetched = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None and _part(origin, "netloc") != host:
        return False
    return fetched in (None, "same-origin", "none")


def _part(address: str, name: str) -> str:
    """A part of an address that somebody sent; nothing, where it is none."""
    try:
        return getattr(urlsplit(address), name) or ""
    except ValueError:
        return ""


def _with_headers(send: Send, cookie: str | None) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                if name not in headers:
                    headers[name] = value
            if cookie:
                headers.append("set-cookie", cookie)
        await send(message)

    return sending


def _set(name: str, value: str) -> str:
    return f"{name}={value}; Path=/; HttpOnly; SameSite=Strict"


async def read_form(request: Request, guard: Guard) -> dict[str, str]:
    """The fields of a form that our own page sent; anything else is refused."""
    body = await _limited(request, _FORM_BYTES)
    fields = {name: values[-1] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
    _check(request, guard, request.headers.get("x-csrf-token") or fields.pop("csrf", ""))
    fields.pop("csrf", None)
    return fields


async def read_upload(request: Request, guard: Guard) -> bytes:
    """The body of an upload that our own page sent, within the limit."""
    _check(request, guard, request.headers.get("x-csrf-token", ""))
    return await _limited(request, UPLOAD_BYTES)


def _check(request: Request, guard: Guard, given: str) -> None:
    expected = guard.forgery_token(request.state.session)
    if not hmac.compare_digest(given.encode(), expected.encode()):
        raise HTTPException(403, "This page is from before the app was restarted: reload it.")


async def _limited(request: Request, most: int) -> bytes:
    """The body, read no further than the limit, whatever length it claims to have."""
    parts, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise HTTPException(413, f"More than {most >> 10:,} KiB were sent.")
        parts.append(chunk)
    return b"".join(parts)
