"""Work on several processors at once, in threads: numpy lets go of the interpreter while it computes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

import numpy as np

_In = TypeVar("_In")
_Out = TypeVar("_Out")


def parallel(work: Callable[[_In], _Out], items: Iterable[_In], threads: int | None) -> list[_Out]:
    """The results in the order of the items, from so many threads (default: one for each processor we may use).

    An item is made when a thread is free for it. Where work fails, the error is that of the first item that fails.
    """
    numbered, turn = enumerate(items), Lock()
    results: dict[int, _Out] = {}
    errors: dict[int, Exception] = {}

    def loop() -> None:
        while not errors:
            with turn:
                number, item = next(numbered, (-1, None))
            if item is None:
                return
            try:
                results[number] = work(item)
            except Exception as error:
                errors[number] = error  # raised below, once the items before it are done

    threads = threads or _processors()
    if threads == 1:
        loop()
    else:
        with ThreadPoolExecutor(threads) as pool:
            for future in [pool.submit(loop) for _ in range(threads)]:
                future.result()
    if errors:
        raise errors[min(errors)]
    return [results[number] for number in range(len(results))]


def settle_allocator() -> None:
    """Free one large block: glibc then keeps memory for short-lived arrays instead of returning it each time.

    Without it, page faults double the time that parsing takes. Elsewhere it does nothing.
    """
    np.empty(31 << 20, np.uint8)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
