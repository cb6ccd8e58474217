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
    from sightline.agent.ask import ask
    from sightline.authoring.pipeline import make
    from sightline.benchmark.exchange import export_files, import_files, load, validate
    from sightline.calls.session import Session
    from sightline.corpus.scan import scan
    from sightline.indexing import index
    from sightline.metrics.answers import match_answer
    from sightline.metrics.choices import parse_choice
    from sightline.metrics.statistics import estimate
    from sightline.models.embedders.pipeline import embed
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

_FUNCTIONS = {
    "Session": "sightline.calls.session",
    "ask": "sightline.agent.ask",
    "compare": "sightline.scoring",
    "embed": "sightline.models.embedders.pipeline",
    "estimate": "sightline.metrics.statistics",
    "export_files": "sightline.benchmark.exchange",
    "import_files": "sightline.benchmark.exchange",
    "index": "sightline.indexing",
    "leaderboard": "sightline.reports.leaderboard",
    "load": "sightline.benchmark.exchange",
    "make": "sightline.authoring.pipeline",
    "match_answer": "sightline.metrics.answers",
    "parse_choice": "sightline.metrics.choices",
    "report": "sightline.reports.report",
    "run": "sightline.runs.runner",
    "scan": "sightline.corpus.scan",
    "score": "sightline.scoring",
    "search": "sightline.retrieval.search",
    "validate": "sightline.benchmark.exchange",
}

__getattr__, __dir__ = later(__name__, _FUNCTIONS)
