"""Sightline: from a folder of pictures to a benchmark that deserves trust, and to scores that do.

Each verb of the command line is a function here, loaded when it is first used:

    import sightline
    summary = sightline.scan("~/Pictures", workspace="ws")
    scores = sightline.score("bench", "run")
    print(sightline.compare(["runs/a", "runs/b"]).standings)
"""

from __future__ import annotations

from sightline.lazy import TYPE_CHECKING, later

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
    "ask": ".agent.ask",
    "compare": ".verbs",
    "embed": ".embedding",
    "export_files": ".exchange",
    "import_files": ".exchange",
    "index": ".indexing",
    "load": ".loading",
    "scan": ".corpus.scan",
    "validate": ".exchange",
}
_CALLABLE_PACKAGES = {"make", "report", "run", "score", "search"}

__getattr__, __dir__ = later(__name__, _FUNCTIONS, _CALLABLE_PACKAGES)
