"""Pictures prepared once: in worker threads, remembered in memory up to a limit, and on disk if a folder is given."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias
from weakref import WeakValueDictionary

from sightline.corpus.pixels import RefusedError
from sightline.io.files import write_whole
from sightline.models.failures import failure
from sightline.models.pictures import (
    PreparedPicture,
    as_data_url,
    bad_picture,
    fit,
    is_web,
    read_source,
    stamp,
    web_address,
)
from sightline.models.providers import PictureLimit
from sightline.types import ChatRequest, Failure, ImagePart

PreparedPictures: TypeAlias = dict[int, PreparedPicture]
"""The prepared picture of each part, by the part's `id()`."""
_MOST_THREADS = 8
_MOST_STAMPS = 65_536
_SHARING = threading.Lock()
_SHARED: WeakValueDictionary[tuple[PictureLimit, Path | None, int, bool], PictureCache] = WeakValueDictionary()


class PictureCache:
    """Prepares the pictures of requests for one provider."""

    def __init__(
        self,
        limit: PictureLimit,
        *,
        folder: Path | None = None,
        memory_bytes: int = 64 << 20,
        allow_web: bool = True,
    ) -> None:
        self._limit = limit
        self._folder = folder
        self._room = memory_bytes
        self._allow_web = allow_web
        self._lock = threading.Lock()
        self._ready: OrderedDict[tuple[str, int], PreparedPicture] = OrderedDict()
        self._hashes: OrderedDict[tuple[str, int, int], str] = OrderedDict()
        self._under_way: dict[tuple[str, str], Future[PreparedPicture | Failure]] = {}
        self._threads: ThreadPoolExecutor | None = None
        self._users = 0

    @classmethod
    def shared(
        cls, limit: PictureLimit, *, folder: Path | None, memory_bytes: int, allow_web: bool = True
    ) -> PictureCache:
        """The box of all who send to such a limit now: what several models are shown is made once. Each closes it."""
        key = (limit, folder, memory_bytes, allow_web)
        with _SHARING:
            box = _SHARED.get(key)
            if box is None:
                box = _SHARED[key] = cls(limit, folder=folder, memory_bytes=memory_bytes, allow_web=allow_web)
            box._users += 1
        return box

    async def prepare(self, request: ChatRequest) -> PreparedPictures | Failure:
        """All pictures of a request, or the first that can't be sent."""
        parts = [part for message in request.messages for part in message.content if isinstance(part, ImagePart)]
        if not parts:
            return {}
        if all(part.data is None and is_web(part.source) for part in parts):  # Nothing that takes a thread's time.
            done = [self.prepare_one(part) for part in parts]
        else:
            done = await self._in_threads(parts)
        sent: PreparedPictures = {}
        for part, prepared in zip(parts, done, strict=True):
            if isinstance(prepared, Failure):
                return prepared
            sent[id(part)] = prepared
        return sent

    async def _in_threads(self, parts: Sequence[ImagePart]) -> list[PreparedPicture | Failure]:
        # Shielded: who gives up does not take from others what they wait for, too.
        return await asyncio.gather(*(asyncio.shield(asyncio.wrap_future(self._begun(part))) for part in parts))

    def _begun(self, part: ImagePart) -> Future[PreparedPicture | Failure]:
        """The work on a picture, also what another has begun."""
        key = (part.source, part.detail) if part.data is None else None
        with self._lock:
            begun = None if key is None else self._under_way.get(key)
            if begun is not None:
                return begun
            if self._threads is None:
                self._threads = ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1), "sightline-pictures")
            work = self._threads.submit(self.prepare_one, part)
            if key is None:
                return work
            self._under_way[key] = work
        work.add_done_callback(lambda _: self._ended(key))
        return work

    def _ended(self, key: tuple[str, str]) -> None:
        with self._lock:
            self._under_way.pop(key, None)

    def prepare_one(self, part: ImagePart) -> PreparedPicture | Failure:
        """One picture; called from several threads at once."""
        if part.data is None and is_web(part.source):
            if not self._allow_web:
                return failure("unsupported", f"--local-only: {part.source} would be fetched from the web")
            return web_address(part.source)
        side = self._limit.side_for(part.detail)
        mark = stamp(part.source) if part.data is None and part.source[:5].lower() != "data:" else None
        known = self._recall(self._hash_at(mark), side)
        if known is not None:
            return known
        data = read_source(part)
        if isinstance(data, Failure):
            return data
        sha256 = hashlib.sha256(data).hexdigest()
        if mark is not None:
            self._note_hash(mark, sha256)
        known = self._recall(sha256, side)
        if known is not None:
            return known
        try:
            prepared = self._made(data, sha256, part.detail)
        except RefusedError as refused:
            return bad_picture(part, str(refused))
        self._remember(sha256, side, prepared)
        return prepared

    def close(self) -> None:
        """End the threads, unless others share them; what is under way is finished."""
        with _SHARING:
            self._users -= 1
            threads, self._threads = (None, self._threads) if self._users > 0 else (self._threads, None)
        if threads is not None:
            threads.shutdown(wait=True, cancel_futures=True)

    def _made(self, data: bytes, sha256: str, detail: str) -> PreparedPicture:
        if self._folder is None:
            return as_data_url(*fit(data, self._limit, detail))
        limit = self._limit
        path = self._folder / sha256[:2] / f"{sha256}-{limit.side_for(detail)}-{limit.bytes}.jpg"
        try:
            return as_data_url(path.read_bytes(), "image/jpeg")
        except OSError:
            fitted, mime = fit(data, limit, detail)
        if fitted is not data:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, fitted)
        return as_data_url(fitted, mime)

    def _hash_at(self, mark: tuple[str, int, int] | None) -> str | None:
        with self._lock:
            return None if mark is None else self._hashes.get(mark)

    def _note_hash(self, mark: tuple[str, int, int], sha256: str) -> None:
        with self._lock:
            self._hashes[mark] = sha256
            if len(self._hashes) > _MOST_STAMPS:
                self._hashes.popitem(last=False)

    def _recall(self, sha256: str | None, side: int) -> PreparedPicture | None:
        if sha256 is None:
            return None
        with self._lock:
            prepared = self._ready.get((sha256, side))
            if prepared is not None:
                self._ready.move_to_end((sha256, side))
            return prepared

    def _remember(self, sha256: str, side: int, prepared: PreparedPicture) -> None:
        with self._lock:
            if (sha256, side) in self._ready:
                return
            self._ready[sha256, side] = prepared
            self._room -= len(prepared.url)
            while self._room < 0:
                _, oldest = self._ready.popitem(last=False)
                self._room += len(oldest.url)
