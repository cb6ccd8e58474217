"""What every page has at hand, and how a page is made: a template, the same as a file to send, or a plain error.

Addresses within the app, and messages without the paths of this machine.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias
from urllib.parse import quote, unquote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sightline import __version__
from sightline.corpus.small_copy import data_url
from sightline.english import counted
from sightline.errors import SightlineError
from sightline.plain_text import one_line, short, signed
from sightline.reports import text as words
from sightline.reports.html import page_style
from sightline.types import Failure
from sightline.web.agent_jobs import AgentJobs
from sightline.web.corpus_view import CorpusView
from sightline.web.found_pictures import PictureFinder
from sightline.web.index_search import AppSearch
from sightline.web.jobs import Jobs
from sightline.web.kept_searches import KeptSearches
from sightline.web.library import Library
from sightline.web.reviews import ReviewLog
from sightline.web.security import EXPORT_POLICY, Guard, read_form
from sightline.web.thumbnails import KEY

_HERE = Path(__file__).parent
_ABSOLUTE = re.compile(r"(?<![\w:/.])/(?:[^\s\"'/:,]+/)*[^\s\"'/:,]+")
Posted: TypeAlias = Callable[[Request, Mapping[str, str]], Response]
_LINK = re.compile(r' (?:href|action)="[/?][^"]*"')
_PERSON = 60
_FILE_NAME = 100


def address(path: str, **query: object) -> str:
    """A path with its query; what is None or empty is left out."""
    given = {name: str(value) for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def at_offset(query: Mapping[str, str], offset: int) -> str:
    """The same query at another place of a long list."""
    return with_value(query, "offset", str(offset) if offset else "")


def with_value(query: Mapping[str, str], name: str, value: str) -> str:
    """The same query with one value set, from the start of the list; without it, where it is empty."""
    kept = {key: each for key, each in query.items() if key not in (name, "offset", "export")}
    return urlencode(kept | ({name: value} if value else {}))


def harmless(text: str, roots: tuple[Path, ...] = ()) -> str:
    """A message without the paths of this machine: below the given folders by their names, others not at all."""
    for root in sorted(roots, key=lambda path: -len(str(path))):
        text = text.replace(str(root), root.name)
    return _ABSOLUTE.sub("…", text)


def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    found.globals.update(
        {
            "address": address,
            "counted": counted,
            "version": __version__,
            "words": SimpleNamespace(**{**vars(words), "one_line": one_line, "short": short, "signed": signed}),
            "raw": Markup,
        }
    )
    found.filters.update({"pages": at_offset, "with_value": with_value, "told": _told})
    return found


@pass_context
def _told(context: Context, text: str) -> str:
    """A message with paths below the given folders by their names, and without others."""
    library = context.get("library")
    return harmless(text, library.places.roots if isinstance(library, Library) else ())


@dataclass(frozen=True, slots=True)
class AppState:
    """All that pages need; one for the whole app."""

    library: Library
    guard: Guard
    finder: AppSearch
    live: AgentJobs
    jobs: Jobs
    searches: KeptSearches
    reviews: ReviewLog = field(default_factory=ReviewLog)
    templates: Environment = field(default_factory=_environment)

    @classmethod
    def of(cls, request: Request) -> AppState:
        """The app's own."""
        state: AppState = request.app.state.sightline
        return state

    @property
    def pictures(self) -> PictureFinder:
        """What finds pictures of the corpus; only where there is one."""
        corpus = self.library.corpus
        if corpus is None:
            raise missing("picture")
        return _finder(corpus, self.finder)

    def warm(self) -> None:
        """Read what first pages would wait for: the corpus, benchmarks, and the index; the page says what is wrong."""
        with suppress(SightlineError):
            if self.library.corpus is not None:
                self.library.corpus.warm()
        self.library.benchmarks()
        with suppress(SightlineError):
            self.finder.warm()

    def show(self, request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
        """A page; with `?export=1` as one file that needs no other."""
        export = request.query_params.get("export") == "1" and status < 400
        page = self.templates.get_template(template).render(
            export=export,
            request=request,
            library=self.library,
            busy=self.jobs.active,
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
        fields = await read_form(request, AppState.of(request).guard)
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
    kept = quote(" ".join(one_line(name).split())[:_PERSON])
    response.set_cookie("sightline-person", kept, max_age=31_536_000, httponly=True, samesite="strict")
    return response


@functools.lru_cache(maxsize=4)
def _finder(corpus: CorpusView, search: AppSearch) -> PictureFinder:
    return PictureFinder(corpus, search)


@functools.cache
def _style() -> str:
    return page_style() + static_text("app.css")


def static_text(name: str) -> str:
    """The text of a style sheet, a script or a drawing of the app."""
    return (_HERE / "static" / name).read_text("utf-8")
