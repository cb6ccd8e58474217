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
    from sightline.agent.trajectory import Trajectory, read_trajectory
    from sightline.authoring.extend import extend
    from sightline.authoring.pipeline import make
    from sightline.authoring.query_drift import drift
    from sightline.authoring.query_sample import QueryLog
    from sightline.calls.plan import CostPlan, dry_run
    from sightline.calls.session import Session
    from sightline.errors import SightlineError, UserError
    from sightline.exchange import export_files, import_files, load, validate
    from sightline.indexing import index
    from sightline.metrics.answers.match import match_answer
    from sightline.metrics.choices.parse import parse_choice
    from sightline.metrics.comparison import Comparison
    from sightline.metrics.sample_size import power
    from sightline.metrics.scores import Scores
    from sightline.metrics.statistics import estimate
    from sightline.metrics.trec.score_files import score_trec
    from sightline.mining.mine import mine, mine_questions
    from sightline.models.embedders.function import FunctionEmbedder
    from sightline.models.embedders.pipeline import embed
    from sightline.pictures import scan
    from sightline.reason.ablations import ablate
    from sightline.reason.curriculum.compiler import curriculum
    from sightline.reason.difficulty.measure import difficulty
    from sightline.reason.splits import split
    from sightline.reason.steps.pipeline import check_steps, steps
    from sightline.reason.traces.think import think
    from sightline.reason.training import train
    from sightline.reports.leaderboard import leaderboard
    from sightline.reports.report import report
    from sightline.retrieval.results import Hit, Results
    from sightline.retrieval.search import search
    from sightline.runs.runner import run
    from sightline.runs.summary import RunSummary
    from sightline.runs.systems.function import FunctionSystem
    from sightline.scoring import compare, score
    from sightline.types import (
        Answer,
        Benchmark,
        Choice,
        Corpus,
        Estimate,
        Failure,
        Picture,
        PictureSet,
        Ranking,
        Relevance,
        Run,
        ScoreWarning,
        Task,
        Text,
    )
    from sightline.web.view import view

__all__ = [
    "Answer",
    "Benchmark",
    "Choice",
    "Comparison",
    "Corpus",
    "CostPlan",
    "Estimate",
    "Failure",
    "FunctionEmbedder",
    "FunctionSystem",
    "Hit",
    "Picture",
    "PictureSet",
    "QueryLog",
    "Ranking",
    "Relevance",
    "Results",
    "Run",
    "RunSummary",
    "ScoreWarning",
    "Scores",
    "Session",
    "SightlineError",
    "Task",
    "Text",
    "Trajectory",
    "UserError",
    "__version__",
    "ablate",
    "ask",
    "check_steps",
    "compare",
    "curriculum",
    "difficulty",
    "drift",
    "dry_run",
    "embed",
    "estimate",
    "export_files",
    "extend",
    "import_files",
    "index",
    "leaderboard",
    "load",
    "make",
    "match_answer",
    "mine",
    "mine_questions",
    "parse_choice",
    "power",
    "read_trajectory",
    "report",
    "run",
    "scan",
    "score",
    "score_trec",
    "search",
    "split",
    "steps",
    "think",
    "train",
    "validate",
    "view",
]

VERBS = (
    "ablate",
    "ask",
    "check_steps",
    "compare",
    "curriculum",
    "difficulty",
    "drift",
    "embed",
    "export_files",
    "extend",
    "import_files",
    "index",
    "leaderboard",
    "load",
    "make",
    "mine",
    "mine_questions",
    "power",
    "report",
    "run",
    "scan",
    "score",
    "score_trec",
    "search",
    "split",
    "steps",
    "think",
    "train",
    "validate",
    "view",
)
"""The functions that are also methods of a `Session`."""

_FUNCTIONS = {
    "Answer": "sightline.types",
    "Benchmark": "sightline.types",
    "Choice": "sightline.types",
    "Comparison": "sightline.metrics.comparison",
    "Corpus": "sightline.types",
    "CostPlan": "sightline.calls.plan",
    "Estimate": "sightline.types",
    "Failure": "sightline.types",
    "FunctionEmbedder": "sightline.models.embedders.function",
    "FunctionSystem": "sightline.runs.systems.function",
    "Hit": "sightline.retrieval.results",
    "Picture": "sightline.types",
    "PictureSet": "sightline.types",
    "QueryLog": "sightline.authoring.query_sample",
    "Ranking": "sightline.types",
    "Relevance": "sightline.types",
    "Results": "sightline.retrieval.results",
    "Run": "sightline.types",
    "RunSummary": "sightline.runs.summary",
    "ScoreWarning": "sightline.types",
    "Scores": "sightline.metrics.scores",
    "Session": "sightline.calls.session",
    "SightlineError": "sightline.errors",
    "Task": "sightline.types",
    "Text": "sightline.types",
    "Trajectory": "sightline.agent.trajectory",
    "UserError": "sightline.errors",
    "ablate": "sightline.reason.ablations",
    "ask": "sightline.agent.ask",
    "check_steps": "sightline.reason.steps.pipeline",
    "compare": "sightline.scoring",
    "curriculum": "sightline.reason.curriculum.compiler",
    "difficulty": "sightline.reason.difficulty.measure",
    "drift": "sightline.authoring.query_drift",
    "dry_run": "sightline.calls.plan",
    "embed": "sightline.models.embedders.pipeline",
    "estimate": "sightline.metrics.statistics.estimates",
    "export_files": "sightline.exchange",
    "extend": "sightline.authoring.extend",
    "import_files": "sightline.exchange",
    "index": "sightline.indexing",
    "leaderboard": "sightline.reports.leaderboard",
    "load": "sightline.exchange",
    "make": "sightline.authoring.pipeline",
    "match_answer": "sightline.metrics.answers.match",
    "mine": "sightline.mining.mine",
    "mine_questions": "sightline.mining.mine",
    "parse_choice": "sightline.metrics.choices.parse",
    "power": "sightline.metrics.sample_size",
    "read_trajectory": "sightline.agent.trajectory",
    "report": "sightline.reports.report",
    "run": "sightline.runs.runner",
    "scan": "sightline.pictures",
    "score": "sightline.scoring",
    "score_trec": "sightline.metrics.trec.score_files",
    "search": "sightline.retrieval.search",
    "split": "sightline.reason.splits",
    "steps": "sightline.reason.steps.pipeline",
    "think": "sightline.reason.traces.think",
    "train": "sightline.reason.training",
    "validate": "sightline.exchange",
    "view": "sightline.web.view",
}


def __getattr__(name: str) -> object:
    """Load a verb when it is first used: `import sightline` alone takes no time."""
    if name not in _FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_FUNCTIONS[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_FUNCTIONS})
