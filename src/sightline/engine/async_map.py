"""One asynchronous function over many items: many at once, results in the order of the items.

Never far ahead of whoever reads the results. `_Ordered` knows nothing of where the work is done: here each item is one
coroutine; on a cluster an item is a shard that another machine works on.
"""

from __future__ import annotations

import asyncio
import gc
import queue
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sized
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from sightline.engine.progress import Advance, progress
from sightline.errors import SightlineError
from sightline.plain_text import cut
from sightline.types import Failure

GC_THRESHOLDS = (200_000, 20, 50)
Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def fewer_gc_runs() -> Iterator[None]:
    """Let Python look less often: with a thousand calls in flight that would be a third of all CPU."""
    before = gc.get_threshold()
    gc.set_threshold(*(max(pair) for pair in zip(before, GC_THRESHOLDS, strict=True)))
    try:
        yield
    finally:
        gc.set_threshold(*before)


@dataclass(frozen=True, slots=True)
class Stage(Generic[Item, Result]):
    """A named step of the work: an asynchronous function of one item; what can't be done is a `Failure`, returned.

    `close` is awaited when a map over this stage ends, on the event loop that it ran on.
    """

    name: str
    function: Callable[[Item], Awaitable[Result | Failure]]
    close: Callable[[], Awaitable[None]] | None = None


class Mapped(NamedTuple, Generic[Item, Result]):
    """An item and what came of it."""

    item: Item
    result: Result | Failure


async def map_async(
    items: Iterable[Item],
    stage: Stage[Item, Result],
    *,
    concurrency: int = 640,
    ahead: int | None = None,
    show_progress: bool = True,
    total: int | None = None,
) -> AsyncGenerator[Mapped[Item, Result], None]:
    """Yield each item with its result, in the order of `items`; at most `concurrency` are worked on at once.

    At most `ahead` items (four times the concurrency) are drawn before the first of them was taken by the reader.
    A `SightlineError` (budget, endpoint down) ends it cleanly: nothing new is begun, what is under way is finished
    and yielded, then it is raised. Any other exception is a fault of ours: it ends everything, and names the item.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    try:
        with fewer_gc_runs(), progress(stage.name, total, show=show_progress) as advance:
            work = _Ordered(items, stage.function, stage.name, concurrency, ahead or 4 * concurrency, advance)
            async with aclosing(work.results()) as results:
                async for item, result in results:
                    yield Mapped(item, result)
    finally:
        if stage.close is not None:
            await stage.close()


def run_map(items: Iterable[Item], stage: Stage[Item, Result], **options: Any) -> Iterator[Mapped[Item, Result]]:
    """`map` for code that is not asynchronous (also inside a notebook): the event loop runs in a thread of its own."""
    return iter(SyncBridge(lambda: map_async(items, stage, **options)))


class _Ordered(Generic[Item, Result]):
    """Workers that draw items one by one, and a reader who gets the results in order."""

    def __init__(
        self,
        items: Iterable[Item],
        function: Callable[[Item], Awaitable[Result]],
        name: str,
        concurrency: int,
        ahead: int,
        advance: Advance,
    ) -> None:
        self._items = enumerate(items)
        self._function, self._name, self._advance = function, name, advance
        self._concurrency, self._ahead = max(1, concurrency), max(1, ahead)
        self._workers: set[asyncio.Task[None]] = set()
        self._done: dict[int, tuple[Item, Result]] = {}
        self._turn = 0
        self._drawn = 0
        self._all_drawn = False
        self._stopped: SightlineError | None = None
        self._fault: BaseException | None = None
        self._news = asyncio.Event()
        self._room = asyncio.Event()

    async def results(self) -> AsyncGenerator[tuple[Item, Result], None]:
        try:
            self._hire()
            while self._workers or self._turn in self._done:
                while self._turn in self._done and self._fault is None:
                    self._turn += 1
                    self._room.set()
                    yield self._done.pop(self._turn - 1)
                if self._fault is not None:
                    raise self._fault
                if self._workers:
                    self._news.clear()
                    await self._news.wait()
            if self._fault is not None:
                raise self._fault
            for number in sorted(self._done):  # What was finished behind an item that was stopped.
                yield self._done.pop(number)
            if self._stopped is not None:
                raise self._stopped
        finally:
            await self._dismiss()

    def _hire(self) -> None:
        """One more worker, as long as there is work and room for one."""
        if not self._ended and len(self._workers) < self._concurrency:
            worker = asyncio.get_running_loop().create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._leave)

    @property
    def _ended(self) -> bool:
        return self._all_drawn or self._stopped is not None or self._fault is not None

    async def _work(self) -> None:
        while not self._ended:
            if self._drawn - self._turn >= self._ahead:
                self._room.clear()
                await self._room.wait()
                continue
            try:
                number, item = next(self._items)
            except StopIteration:
                self._all_drawn = True
                return
            except SightlineError as stopped:  # Such as a line of the input that can't be read.
                self._stopped = self._stopped or stopped
                return
            self._drawn += 1
            self._hire()
            try:
                result = await self._function(item)
            except SightlineError as stopped:
                self._stopped = self._stopped or stopped
                return
            except Exception as fault:
                fault.add_note(f"while {self._name} worked on item {number + 1}: {cut(repr(item), 200)}")
                raise
            self._done[number] = (item, result)
            self._advance(1)
            if number == self._turn:
                self._news.set()

    def _leave(self, worker: asyncio.Task[None]) -> None:
        self._workers.discard(worker)
        if not worker.cancelled() and (fault := worker.exception()) is not None:
            self._fault = self._fault or fault
        self._news.set()
        self._room.set()  # Whoever waits for room looks whether there is still work.

    async def _dismiss(self) -> None:
        workers = tuple(self._workers)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


class SyncBridge(Generic[Item]):
    """Lets a thread without an event loop read an asynchronous iterator, which runs at most `most` items ahead."""

    def __init__(self, make: Callable[[], AsyncGenerator[Item, None]], most: int = 256) -> None:
        self._make, self._most = make, most
        self._ready: queue.SimpleQueue[tuple[Item] | BaseException | None] = queue.SimpleQueue()
        self._running = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._main: asyncio.Task[None] | None
        self._room: asyncio.Semaphore

    def __iter__(self) -> Iterator[Item]:
        thread = threading.Thread(target=self._run, name="engine", daemon=True)
        thread.start()
        self._running.wait()
        taken = 0
        try:
            while (news := self._ready.get()) is not None:
                if isinstance(news, BaseException):
                    raise news
                yield news[0]
                taken += 1
                if taken % (self._most // 4) == 0:  # A call into another thread's loop is dear: not for each item.
                    self._tell(self._make_room)
        finally:
            self._tell(self._stop)
            thread.join()

    def _tell(self, what: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(what)
        except RuntimeError:  # It is over, and the loop is closed.
            return

    def _make_room(self) -> None:
        for _ in range(self._most // 4):
            self._room.release()

    def _stop(self) -> None:
        if self._main is not None:
            self._main.cancel()

    def _run(self) -> None:
        try:
            asyncio.run(self._pump())
        except BaseException as error:  # Raised again in the thread that reads.
            self._ready.put(error)
        else:
            self._ready.put(None)

    async def _pump(self) -> None:
        self._loop, self._main = asyncio.get_running_loop(), asyncio.current_task()
        self._room = asyncio.Semaphore(self._most)
        self._running.set()
        async with aclosing(self._make()) as items:
            async for item in items:
                await self._room.acquire()
                self._ready.put((item,))
