"""Sightline: from a folder of pictures to a benchmark that deserves trust, and to scores that do.

Each verb of the command line is a function here, loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sightline.corpus.scan import scan

__all__ = ["__version__", "scan"]

_VERBS = {"scan": "sightline.corpus.scan"}


def __getattr__(name: str) -> Any:
    if name in _VERBS:
        return getattr(import_module(_VERBS[name]), name)
    raise AttributeError(f"module 'sightline' has no attribute {name!r}")
