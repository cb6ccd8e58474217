"""What every page has at hand, and how a page is made: a template, the same as a file to send, or a plain error."""

from __future__ import annotations

import functools
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sightline import __version__
from sightline.english import counted
from sightline.errors import SightlineError
from sightline.report import words
from sightline.types import Failure
from sightline.web.addresses import address, at_offset, harmless, with_value, without
from sightline.web.finding import Finder
from sightline.web.library import Library
from sightline.web.live import Live
from sightline.web.security import EXPORT_POLICY, Guard, read_form
from sightline.web.thumbs import KEY, data_url

Posted: TypeAlias = Callable[[Request, Mapping[str, str]], Response]
_LINK = re.compile(r' (?:href|action)="[/?][^"]*"')
_PERSON = 60
_FILE_NAME = 100


def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("sightline.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    found.globals.update(
        {
            "address": address,
            "counted": counted,
            "version": __version__,
            "words": words,
            "raw": Markup,
        }
    )
    found.filters.update({"pages": at_offset, "with_value": with_value, "without": without, "told": _told})
    return found


@pass_context
def _told(context: Context, text: str) -> str:
    """A message with paths below the given folders by their names, and without others."""
    library = context.get("library")
    return harmless(text, library.places.roots if isinstance(library, Library) else ())


@dataclass(frozen=True, slots=True)
class Desk:
    """All that pages need; one for the whole app."""

    library: Library
    guard: Guard
    finder: Finder
    live: Live
    templates: Environment = field(default_factory=_environment)

    @classmethod
    def of(cls, request: Request) -> Desk:
        """The app's own."""
        desk: Desk = request.app.state.desk
        return desk

    def warm(self) -> None:
        """Read what first pages would wait for: the corpus, benchmarks, and the index; the page says what is wrong."""
        with suppress(SightlineError):
            if self.library.corpus is not None:
                self.library.corpus.warm()
        self.library.shelves()
        with suppress(SightlineError):
            self.finder.warm()

    def show(self, request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
        """A page; with `?export=1` as one file that needs no other."""
        export = request.query_params.get("export") == "1" and status < 400
        page = self.templates.get_template(template).render(
            export=export,
            request=request,
            library=self.library,
            person=person_of(request),
            csrf="" if export else self.guard.forgery_token(request.state.session),
            thumb=self.embedded if export else thumb_address,
            style=_style() if export else "",
            **values,
        )
        if not export:
            return HTMLResponse(page, status)
        headers = {
            "content-disposition": f'attachment; filename="{_file_name(request)}.html"',
            "content-security-policy": EXPORT_POLICY,
        }
        return HTMLResponse(_LINK.sub("", page), status, headers)

    def fragment(self, template: str, **values: Any) -> str:
        """A piece of a page."""
        return self.templates.get_template(template).render(export=False, thumb=thumb_address, **values)

    def embedded(self, key: str | None, size: int = 256) -> str:
        """A picture inside the page; nothing where it can't be read."""
        path = self.library.path(key) if key is not None and KEY.fullmatch(key) else None
        small = None if path is None or key is None else self.library.thumbs.get(key, size, path)
        return "data:," if small is None or isinstance(small, Failure) else data_url(small)


def _file_name(request: Request) -> str:
    """A name for a saved page that tells it from others: its address, with what was asked for there."""
    asked = [value for name, value in request.query_params.items() if name not in ("export", "key")]
    name = re.sub(r"[^\w]+", "-", "-".join((request.url.path, *asked)), flags=re.ASCII).strip("-")
    return name[:_FILE_NAME].rstrip("-") or "sightline"


def thumb_address(key: str | None, size: int = 256) -> str:
    """Where the small copy of a picture is."""
    return f"/thumb/{key}?size={size}" if key else "/static/none.svg"


def posting(handler: Posted) -> Callable[[Request], Awaitable[Response]]:
    """A page that changes something: only for forms that our own pages sent."""

    @functools.wraps(handler)
    async def endpoint(request: Request) -> Response:
        fields = await read_form(request, Desk.of(request).guard)
        return await run_in_threadpool(handler, request, fields)

    return endpoint


def go(path: str, **query: str | None) -> Response:
    """On to another page of the app, after a POST."""
    return RedirectResponse(address(path, **query), 303)


def missing(what: str) -> HTTPException:
    """There is no such thing, in words for the page."""
    return HTTPException(404, f"There is no {what} here.")


def number(request: Request, name: str, otherwise: int = 0) -> int:
    """A number of the address, not below zero."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise


def person_of(request: Request) -> str:
    """Who looks, as they said; empty where they did not."""
    return unquote(request.cookies.get("sightline-person", ""))[:_PERSON].strip()


def remember_person(response: Response, name: str) -> Response:
    """For the next pages; a year, as a person keeps their name."""
    kept = quote(" ".join(words.one_line(name).split())[:_PERSON])
    response.set_cookie("sightline-person", kept, max_age=31_536_000, httponly=True, samesite="strict")
    return response


@functools.cache
def _style() -> str:
    return style_of("page.css", "sightline.report") + style_of("app.css")


def style_of(name: str, package: str = "sightline.web.static") -> str:
    """The text of a style sheet."""
    return files(package).joinpath(name).read_text("utf-8")
