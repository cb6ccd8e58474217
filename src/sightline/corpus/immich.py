"""An Immich server, read through its API: previews of its pictures, and what it knows of them.

Only what lists, searches and shows is called; the server is never asked to change anything. Previews (1,440 pixels) are
kept in the workspace, and fetched once.
"""

from __future__ import annotations

import json
import os
import re
import urllib.error
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from sightline.engine.progress import progress
from sightline.errors import UserError
from sightline.io.files import write_whole
from sightline.io.private import private_folder
from sightline.types import Json

PREFIX = "immich:"
_KEY = "IMMICH_API_KEY"
_PAGE, _AT_ONCE, _SECONDS = 1000, 8, 60.0
_MOST_BYTES = 64 << 20
_UNSAFE = re.compile(r"[^\w .()+-]+")
_RIGHTS = "asset.read, asset.view, album.read and tag.read"


@dataclass(slots=True)
class ImmichPreviews:
    """Where the previews lie, what the server says of each, and what it did not give, by reason."""

    folder: Path
    records: list[tuple[str, dict[str, Json]]] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)


def fetch(address: str, workspace: Path, *, local_only: bool = False) -> ImmichPreviews:
    """Bring the workspace's previews up to date with the server at `address`; what it no longer has is removed."""
    server = _Server(_checked(address, local_only), os.environ.get(_KEY, ""))
    try:
        return _fetch(server, workspace)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{server.url} does not answer as Immich does: {type(error).__name__} at {error}.",
            "Check the address; Immich 1.130 and later are known to work.",
        ) from error


def _fetch(server: _Server, workspace: Path) -> ImmichPreviews:
    folder = workspace.expanduser().absolute() / "sources" / f"immich-{_UNSAFE.sub('-', urlsplit(server.url).netloc)}"
    found = ImmichPreviews(private_folder(folder))
    assets = {str(UUID(asset["id"])): asset for asset in server.pictures(found.unread)}
    labels = server.labels()
    files = {id_: folder / _name(id_, asset) for id_, asset in assets.items()}
    for stale in {path for path in folder.rglob("*.*") if path.is_file()} - set(files.values()):
        stale.unlink()
    missing = [id_ for id_, file in files.items() if not file.is_file()]
    with ThreadPoolExecutor(_AT_ONCE) as pool, progress("fetch", len(missing)) as advance:
        for kept in pool.map(lambda id_: server.keep_preview(id_, files[id_]), missing):
            found.unread["no preview on the server"] += not kept
            advance(1)
    found.unread += Counter()  # Without zeros.
    here = [(id_, file) for id_, file in files.items() if file.is_file()]
    found.records = [(str(file), _said(assets[id_], labels[id_])) for id_, file in here]
    return found


def _checked(address: str, local_only: bool) -> str:
    """The server's address without a path; `UserError` for what is none, or what must not be asked."""
    from sightline.io.web_address import BadAddressError, WebAddress, is_loopback

    example = f"Give it as {PREFIX}http://localhost:2283, and the key in ${_KEY}."
    try:
        url = str(WebAddress.parse(address).url.origin())
    except BadAddressError as error:
        raise UserError(f'"{address}" is not an address of an Immich server: {error}.', example) from error
    if local_only and not is_loopback(url):
        raise UserError(f"{url} is not on this computer, and --local-only is set.", "Leave --local-only out.")
    if not os.environ.get(_KEY):
        raise UserError(
            f"${_KEY} is not set.",
            f"Make a key in Immich (Account Settings, API Keys) with the rights {_RIGHTS}, and set it.",
        )
    return url


class _SameServer(urllib.request.HTTPRedirectHandler):
    """The key goes to no other server than the one that was named."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class _Server:
    url: str
    key: str = field(repr=False)

    def pictures(self, unread: Counter[str]) -> Iterator[dict[str, Any]]:
        """The pictures that the timeline shows, one for each stack; films and what is in the trash are counted."""
        for asset in self._search(withExif=True, withPeople=True, withStacked=True):
            stack = asset.get("stack") or {}
            left_out = {
                "in the trash of Immich": asset.get("isTrashed"),
                "in the locked folder of Immich": asset.get("visibility") == "locked",
                "film of a live photo": asset.get("visibility") == "hidden",
                "video on the server": asset.get("type") != "IMAGE",
                "behind another picture of its stack": stack and stack.get("primaryAssetId") != asset["id"],
            }
            if why := next((why for why, is_so in left_out.items() if is_so), None):
                unread[why] += 1
            else:
                yield asset

    def labels(self) -> Mapping[str, Mapping[str, list[Json]]]:
        """By asset: its albums, shared ones too, and its tags."""
        found: dict[str, dict[str, list[Json]]] = defaultdict(lambda: defaultdict(list))
        albums = {
            each["id"]: each["albumName"] for shared in ("", "?shared=true") for each in self._get("albums" + shared)
        }
        tags = {each["id"]: each.get("value") or each["name"] for each in self._get("tags")}
        for kind, key, names in (("album", "albumIds", albums), ("keywords", "tagIds", tags)):
            for id_, name in sorted(names.items(), key=lambda item: str(item[1])):
                for asset in self._search(**{key: [id_]}):
                    found[asset["id"]][kind].append(name)
        return found

    def keep_preview(self, id_: str, file: Path) -> bool:
        """Fetch a preview; False where the server has none."""
        data = self._ask(f"assets/{id_}/thumbnail?size=preview", missing=b"")
        if not data:
            return False
        private_folder(file.parent)
        write_whole(file, data)
        return True

    def _search(self, **wanted: Any) -> Iterator[dict[str, Any]]:
        page: Any = 1
        while page:
            found = self._get("search/metadata", {**wanted, "size": _PAGE, "page": int(page)})["assets"]
            yield from found["items"]
            page = found["items"] and found.get("nextPage")

    def _get(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return json.loads(self._ask(path, body))

    def _ask(self, path: str, body: Mapping[str, Any] | None = None, missing: bytes | None = None) -> bytes:
        """The content of an answer; `missing` where the server does not have it."""
        headers = {"x-api-key": self.key, "accept": "*/*"} | ({"content-type": "application/json"} if body else {})
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/{path}", data, headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _SameServer)
        try:
            with opener.open(request, timeout=_SECONDS) as reply:
                content: bytes = reply.read(_MOST_BYTES)
            return content
        except urllib.error.HTTPError as error:
            if error.code == 404 and missing is not None:
                return missing
            raise UserError(
                f"{self.url} answered {error.code} ({error.reason}) to {path}.",
                f"Check the address, and that the key in ${_KEY} has the rights {_RIGHTS}.",
            ) from error
        except (OSError, HTTPException) as error:
            raise UserError(
                f"{self.url} does not answer: {error}.", "Is Immich running there? What was fetched before is kept."
            ) from error


def _name(id_: str, asset: Mapping[str, Any]) -> Path:
    """`2021/IMG_0001-3f1c09aa.jpg`: the year, the name that the picture had, and the beginning of its id."""
    year = str(asset.get("localDateTime") or asset.get("fileCreatedAt") or "")[:4]
    stem = _UNSAFE.sub("_", Path(str(asset.get("originalFileName") or "picture")).stem)[:80].strip(" .") or "picture"
    return Path(year if year.isdigit() else "undated") / f"{stem}-{id_[:8]}.jpg"


def _said(asset: Mapping[str, Any], labels: Mapping[str, list[Json]]) -> dict[str, Json]:
    exif: Mapping[str, Any] = asset.get("exifInfo") or {}
    people = list[Json](dict.fromkeys(person["name"] for person in asset.get("people") or () if person.get("name")))
    address = ", ".join(str(exif[part]) for part in ("city", "state", "country") if exif.get(part))
    return {
        "album": labels.get("album") or None,
        "keywords": labels.get("keywords") or None,
        "people": people or None,
        "favorite": asset.get("isFavorite") is True,
        "rating": exif.get("rating"),
        "description": exif.get("description") or None,
        "original_name": asset.get("originalFileName"),
        "immich": asset["id"],
        "taken_at": _time(asset),
        "lat": exif.get("latitude"),
        "lon": exif.get("longitude"),
        "address": address or None,
        "device": " ".join(str(exif[part]) for part in ("make", "model") if exif.get(part)) or None,
        "lens": exif.get("lensModel"),
    }


def _time(asset: Mapping[str, Any]) -> str | None:
    """The clock on the wall, which Immich writes as if it were UTC."""
    try:
        return datetime.fromisoformat(str(asset.get("localDateTime"))).replace(tzinfo=None).isoformat()
    except ValueError:
        return None
