"""The small models that `sightline train` can begin with; torch is loaded when one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

Maker = Callable[[Iterable[str]], tuple[Any, Any]]
"""Makes a model with its processor, whose tokenizer is learnt from these texts."""


def open_glimpse(tiny: bool = False) -> Maker:
    """Glimpse; its classes are known to transformers from now on."""
    from sightline_world.models.glimpse import new_glimpse

    return partial(new_glimpse, tiny=tiny)


def open_glimpse_tiny() -> Maker:
    """The same in a size that trains on a processor within seconds."""
    return open_glimpse(tiny=True)
