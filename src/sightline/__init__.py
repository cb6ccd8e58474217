"""Sightline: from a folder of pictures to a benchmark that deserves trust, and to scores that do.

Each verb of the command line is a function here, loaded when it is first used:

    import sightline
    summary = sightline.scan("~/Pictures", workspace="ws")
    scores = sightline.score("bench", "run")
    print(sightline.compare(["runs/a", "runs/b"]).standings)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sightline import make, report, run, score, search
    from sightline.agent.ask import ask
    from sightline.corpus.scan import scan
    from sightline.embedding import embed
    from sightline.exchange import export_files, import_files, validate
    from sightline.indexing import index
    from sightline.loading import load
    from sightline.verbs import compare

__all__ = [
    "__version__",
    "ask",
    "compare",
    "embed",
    "export_files",
    "import_files",
    "index",
    "load",
    "make",
    "report",
    "run",
    "scan",
    "score",
    "search",
    "validate",
]

_FUNCTIONS = {
    "ask": "sightline.agent.ask",
    "compare": "sightline.verbs",
    "embed": "sightline.embedding",
    "export_files": "sightline.exchange",
    "import_files": "sightline.exchange",
    "index": "sightline.indexing",
    "load": "sightline.loading",
    "scan": "sightline.corpus.scan",
    "validate": "sightline.exchange",
}
_CALLABLE_PACKAGES = {"make", "report", "run", "score", "search"}


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return getattr(import_module(_FUNCTIONS[name]), name)
    if name in _CALLABLE_PACKAGES:
        return import_module(f"sightline.{name}")
    raise AttributeError(f"module 'sightline' has no attribute {name!r}")
