"""Long loops over rows in pieces, on all cores: numpy lets other threads run while it multiplies."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from sightline.engine.processes import cores

_PIECE = 8192
"""Rows at a time: small, so that on a busy machine a thread that has to wait holds up little."""


def in_pieces(work: Callable[[int, int], None], count: int) -> None:
    """Call `work(start, stop)` for pieces that cover `count` rows; returns when all are done."""
    pieces = count // _PIECE
    if pieces < 2 or cores() < 2:
        work(0, count)
        return
    ends = [count * at // pieces for at in range(pieces + 1)]
    deque(_pool(os.getpid()).map(work, ends[:-1], ends[1:]), maxlen=0)


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of a process: those of its parent are not there after a fork."""
    return ThreadPoolExecutor(cores(), thread_name_prefix=f"vectors-{process}")
