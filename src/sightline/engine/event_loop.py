"""An event loop in a thread of its own: asynchronous work for code that is not asynchronous."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class LoopThread:
    """An event loop in a thread of its own, so that it works inside a notebook's loop, too."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="sightline-embed", daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run to the end; on Ctrl-C nothing of it goes on in the background."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    """`asyncio.run`, also where an event loop runs already, as in a notebook: then in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    thread = LoopThread()
    try:
        return thread.call(work)
    finally:
        thread.close()
