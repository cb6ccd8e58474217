"""Circular garbage is looked for less often where much is held and little of it is garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = (200_000, 20, 50)


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Let Python look less often: with a thousand calls in flight that would be a third of all CPU."""
    before = gc.get_threshold()
    gc.set_threshold(*(max(pair) for pair in zip(before, _THRESHOLDS, strict=True)))
    try:
        yield
    finally:
        gc.set_threshold(*before)
