"""Sightline: from a folder of pictures to a benchmark that deserves trust, and to scores that do.

Each verb of the command line is a function here, loaded when it is first used:

    import sightline
    summary = sightline.scan("~/Pictures", workspace="ws")
    scores = sightline.score("bench", "run")
    print(sightline.compare(["runs/a", "runs/b"]).standings)
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False  # As that of `typing`, whose import takes longer than all the rest of `import sightline`.

if TYPE_CHECKING:
    from sightline.agent.ask import ask
    from sightline.authoring.pipeline import make
    from sightline.calls.plan import dry_run
    from sightline.calls.session import Session
    from sightline.exchange import export_files, import_files, load, validate
    from sightline.indexing import index
    from sightline.metrics.answers.match import match_answer
    from sightline.metrics.choices.parse import parse_choice
    from sightline.metrics.statistics import estimate
    from sightline.models.embedders.pipeline import embed
    from sightline.pictures import scan
    from sightline.reports.leaderboard import leaderboard
    from sightline.reports.report import report
    from sightline.retrieval.search import search
    from sightline.runs.runner import run
    from sightline.scoring import compare, score

__all__ = [
    "Session",
    "__version__",
    "ask",
    "compare",
    "dry_run",
    "embed",
    "estimate",
    "export_files",
    "import_files",
    "index",
    "leaderboard",
    "load",
    "make",
    "match_answer",
    "parse_choice",
    "report",
    "run",
    "scan",
    "score",
    "search",
    "validate",
]

VERBS = (
    "ask",
    "compare",
    "embed",
    "export_files",
    "import_files",
    "index",
    "leaderboard",
    "load",
    "make",
    "report",
    "run",
    "scan",
    "score",
    "search",
    "validate",
)
"""The functions that are also methods of a `Session`."""

_FUNCTIONS = {
    "Session": "sightline.calls.session",
    "ask": "sightline.agent.ask",
    "compare": "sightline.scoring",
    "dry_run": "sightline.calls.plan",
    "embed": "sightline.models.embedders.pipeline",
    "estimate": "sightline.metrics.statistics.estimates",
    "export_files": "sightline.exchange",
    "import_files": "sightline.exchange",
    "index": "sightline.indexing",
    "leaderboard": "sightline.reports.leaderboard",
    "load": "sightline.exchange",
    "make": "sightline.authoring.pipeline",
    "match_answer": "sightline.metrics.answers.match",
    "parse_choice": "sightline.metrics.choices.parse",
    "report": "sightline.reports.report",
    "run": "sightline.runs.runner",
    "scan": "sightline.pictures",
    "score": "sightline.scoring",
    "search": "sightline.retrieval.search",
    "validate": "sightline.exchange",
}


def __getattr__(name: str) -> object:
    """Load a verb when it is first used: `import sightline` alone takes no time."""
    if name not in _FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_FUNCTIONS[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_FUNCTIONS})
