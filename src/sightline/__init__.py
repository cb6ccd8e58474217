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
    from sightline.assessment import Assessment, Pair, assess
    from sightline.authoring.extend import extend
    from sightline.authoring.pipeline import make
    from sightline.authoring.query_drift import drift
    from sightline.authoring.query_sample import QueryLog
    from sightline.calls.plan import CostPlan, dry_run
    from sightline.calls.session import Session
    from sightline.errors import SightlineError, UserError
    from sightline.exchange import export_files, import_files, load, validate
    from sightline.folder_watch import watch
    from sightline.indexing import index
    from sightline.metrics.answers.match import match_answer
    from sightline.metrics.choices.parse import parse_choice
    from sightline.metrics.comparison import Comparison
    from sightline.metrics.scores import Scores
    from sightline.metrics.statistics.estimates import estimate
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
    from sightline.scoring import compare, power, score
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
    "Answer", "Assessment", "Benchmark", "Choice", "Comparison", "Corpus", "CostPlan", "Estimate", "Failure",
    "FunctionEmbedder", "FunctionSystem", "Hit", "Pair", "Picture", "PictureSet", "QueryLog", "Ranking", "Relevance",
    "Results", "Run", "RunSummary", "ScoreWarning", "Scores", "Session", "SightlineError", "Task", "Text", "Trajectory",
    "UserError", "__version__", "ablate", "ask", "assess", "check_steps", "compare", "curriculum", "difficulty",
    "drift", "dry_run", "embed", "estimate", "export_files", "extend", "import_files", "index", "leaderboard", "load",
    "make", "match_answer", "mine", "mine_questions", "parse_choice", "power", "read_trajectory", "report", "run",
    "scan", "score", "score_trec", "search", "split", "steps", "think", "train", "validate", "view",
    "watch",
]  # fmt: skip

VERBS = tuple(
    name
    for name in __all__
    if name.islower()
    and name not in ("__version__", "dry_run", "estimate", "match_answer", "parse_choice", "read_trajectory")
)
"""The functions that are also methods of a `Session`."""

_MODULES = {
    "sightline.agent.ask": "ask",
    "sightline.agent.trajectory": "Trajectory read_trajectory",
    "sightline.assessment": "Assessment Pair assess",
    "sightline.authoring.extend": "extend",
    "sightline.authoring.pipeline": "make",
    "sightline.authoring.query_drift": "drift",
    "sightline.authoring.query_sample": "QueryLog",
    "sightline.calls.plan": "CostPlan dry_run",
    "sightline.calls.session": "Session",
    "sightline.errors": "SightlineError UserError",
    "sightline.exchange": "export_files import_files load validate",
    "sightline.folder_watch": "watch",
    "sightline.indexing": "index",
    "sightline.metrics.answers.match": "match_answer",
    "sightline.metrics.choices.parse": "parse_choice",
    "sightline.metrics.comparison": "Comparison",
    "sightline.metrics.scores": "Scores",
    "sightline.metrics.statistics.estimates": "estimate",
    "sightline.metrics.trec.score_files": "score_trec",
    "sightline.mining.mine": "mine mine_questions",
    "sightline.models.embedders.function": "FunctionEmbedder",
    "sightline.models.embedders.pipeline": "embed",
    "sightline.pictures": "scan",
    "sightline.reason.ablations": "ablate",
    "sightline.reason.curriculum.compiler": "curriculum",
    "sightline.reason.difficulty.measure": "difficulty",
    "sightline.reason.splits": "split",
    "sightline.reason.steps.pipeline": "check_steps steps",
    "sightline.reason.traces.think": "think",
    "sightline.reason.training": "train",
    "sightline.reports.leaderboard": "leaderboard",
    "sightline.reports.report": "report",
    "sightline.retrieval.results": "Hit Results",
    "sightline.retrieval.search": "search",
    "sightline.runs.runner": "run",
    "sightline.runs.summary": "RunSummary",
    "sightline.runs.systems.function": "FunctionSystem",
    "sightline.scoring": "compare power score",
    "sightline.types": "Answer Benchmark Choice Corpus Estimate Failure Picture PictureSet Ranking Relevance Run "
    "ScoreWarning Task Text",
    "sightline.web.view": "view",
}
"""Where each name is loaded from."""


def __getattr__(name: str) -> object:
    """Load a verb when it is first used: `import sightline` alone takes no time."""
    from importlib import import_module

    module = next((module for module, names in _MODULES.items() if name in names.split()), None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(module), name)
    if name.islower() and name != "dry_run":  # That one hands on what it was given.
        from sightline.arguments import checked

        with_copies = import_module("sightline.object_storage").with_copies  # It stands above what imports this module.
        found = globals()[name] = with_copies(checked(found))
        found.__module__ = __name__  # Where `pickle` finds the same function again.
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
