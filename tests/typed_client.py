"""A client that calls every verb, for type checkers: `mypy --strict` and pyright look at it in `make check`.

Nothing here is run. `tests/test_api.py` holds that no verb is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import sightline
from sightline.authoring.extend import Extension
from sightline.authoring.query_drift import Drift
from sightline.calls.plan import CostPlan
from sightline.metrics.sample_size import SamplePlan
from sightline.metrics.scores import Scores
from sightline.mining.mine import MiningSummary, QuestionsSummary
from sightline.reason.ablations import Necessity
from sightline.reason.curriculum.compiler import Compiled
from sightline.reason.difficulty.labels import DifficultySummary
from sightline.reason.splits import SplitSummary
from sightline.reason.steps.summary import CheckedSteps, StepsSummary
from sightline.reason.traces.summary import TraceSummary
from sightline.reason.train.result import TrainResult
from sightline.types import Answer, Estimate
from sightline.web.view import AppServer

MODEL = "openai/gpt-5-mini"


def pictures_and_search(folder: Path) -> None:
    sightline.scan(folder, follow_links=False, workspace="ws")
    assert next(sightline.watch(folder, poll=5.0, workspace="ws")).changes.new
    sightline.index(folder, workspace="ws")
    sightline.search("a red bicycle", folder, k=5, workspace="ws")
    sightline.ask("Where is the red bicycle?", folder, model=MODEL, open_web=True, share_metadata=False, workspace="ws")
    sightline.embed(["a red bicycle"], workspace="ws")


def benchmarks_and_runs(folder: Path) -> None:
    sightline.load("bench")
    sightline.import_files("beir", folder, "bench")
    sightline.export_files("trec-qrels", "bench", "qrels.txt")
    sightline.validate("bench")
    sightline.run("bench", "oracle", "run", workspace="ws")
    log = sightline.QueryLog("queries.csv", sample=500, personal_data="drop")
    sightline.make(folder, queries=log, pool={"main": "retriever", "new": folder / "new.trec"}, out="bench")
    assert_type(sightline.extend("bench", ["new_run"], "bench2"), Extension)
    assert_type(sightline.drift("bench", log), Drift)


def colors(batch: Sequence[NDArray[np.uint8]]) -> list[NDArray[np.float64]]:
    return [np.asarray(picture, np.float64).mean(axis=(0, 1)) for picture in batch]


def own_objects() -> None:
    made = sightline.Benchmark.from_tables(
        pictures=["a.jpg", "b.jpg"], queries={"q1": "a red bicycle"}, judgments={"q1": {"a.jpg": 2, "b.jpg": 0}}
    )
    assert_type(made, sightline.Benchmark)
    found = assert_type(sightline.Run.from_rankings({"q1": {"a.jpg": 0.7}}, system="mine"), sightline.Run)
    assert_type(sightline.score(made, found), Scores)
    assert_type(sightline.score(made, found, judge="openai/gpt-5-mini"), Scores)
    sightline.Benchmark.from_tables(None, {"q1": "How many?"}, {"q1": sightline.Answer("two")}, metrics="answer")
    sightline.Run.from_rankings({"q1": sightline.Text("2")}, benchmark=Path("bench"))

    def search(query: str, k: int) -> list[str]:
        return [query] * k

    sightline.run(made, sightline.FunctionSystem(search, name="echo"), "run")
    sightline.FunctionEmbedder("mean", pictures=colors)
    try:
        print(sightline.Corpus("c", {"a": sightline.Picture("a", "a.jpg")}), sightline.__version__)  # noqa: T201
    except sightline.UserError as error:
        print(error.fix)  # noqa: T201
    except sightline.SightlineError as error:
        print(error.exit_code)  # noqa: T201


def predictions(task: sightline.Task) -> list[object]:
    ranked = sightline.Ranking(("a.jpg",), (0.5,))
    return [
        task.id,
        ranked,
        sightline.PictureSet(("a.jpg",)),
        sightline.Text("two"),
        sightline.Failure("timeout", "late"),
    ]


def scores() -> None:
    scored = assert_type(sightline.score("bench", "run"), Scores)
    sightline.compare([scored, "other_run"], ["ndcg@10"], benchmark="bench")
    judging = assert_type(sightline.assess("bench", ["run", "other_run"], goal="score", people=2), sightline.Assessment)
    shown: sightline.Pair = judging.next(person="ann")[0]
    judging.tell(shown, "can't tell", "ann")
    print(judging.settled, judging.spent, judging.comparison(), judging.scores()["run"])  # noqa: T201
    sightline.score_trec("qrels.txt", "run.txt", "ndcg@10")
    print(sightline.read_trajectory("run", "q1").turns)  # noqa: T201
    sightline.report(["bench", "run"], "page.html")
    sightline.leaderboard(".", "ndcg@10")
    plan = assert_type(sightline.power(["run", Path("other_run")], difference=0.05), SamplePlan)
    print(plan.tasks, plan.spread.sd)  # noqa: T201
    mean = assert_type(sightline.estimate([0.0, 1.0, None], clusters=["a", "a", "b"]), Estimate)
    print(mean.low, sightline.match_answer(Answer("12 km"), "12 kilometers").matched)  # noqa: T201
    print(sightline.parse_choice("The answer is B.", ["A", "B"]).option)  # noqa: T201


def making() -> None:
    sightline.make("annotate", "pictures", workspace="ws")
    mined = assert_type(sightline.mine("bench", model=MODEL, stages=["graph", "queries"]), MiningSummary)
    print(mined.stages[0].counts)  # noqa: T201
    assert_type(sightline.mine_questions("bench", web="serper", model=MODEL), QuestionsSummary)


def reasoning(teachers: Sequence[str]) -> None:
    traces = assert_type(sightline.think("pictures", "traces", teachers=teachers, format="jsonl"), TraceSummary)
    print(traces.kept, traces.warnings)  # noqa: T201
    assert_type(sightline.steps("bench", "annotated", model=MODEL), StepsSummary)
    assert_type(sightline.check_steps("annotated"), CheckedSteps)
    assert_type(sightline.difficulty("annotated", "measured", model=MODEL, by="judge"), DifficultySummary)
    assert_type(sightline.split("measured", Path("parts"), parts={"train": 4, "test": 1}), SplitSummary)
    assert_type(sightline.ablate("bench", "arms", model=MODEL, without="one picture"), Necessity)
    assert_type(sightline.curriculum("parts/train", "mir", "course", format="trl"), Compiled)
    assert_type(sightline.train("course", "trained", model="glimpse", evals="parts/test"), TrainResult)


def prices() -> None:
    plan = assert_type(sightline.dry_run(sightline.think, "pictures", teachers=[MODEL], samples=2), CostPlan)
    print(plan.usd, plan.to_json())  # noqa: T201
    sightline.dry_run(sightline.steps, "bench", model=MODEL)


def sessions() -> None:
    with sightline.Session("~/ws", budget="5usd", local_only=True, seed=1) as session:
        assert_type(session.think("pictures", "traces", teachers=MODEL), TraceSummary)
        sightline.dry_run(session.difficulty, "bench", model=MODEL)
        session.search("a red bicycle")
    with sightline.view(["bench", "run"], open_browser=True) as app:
        print(assert_type(app, AppServer).address)  # noqa: T201


def told(summary: sightline.RunSummary, truth: sightline.Relevance | sightline.Answer | sightline.Choice) -> None:
    """Helpers of a user's own have types."""
    scores: sightline.Scores = sightline.score("bench", summary)
    found: sightline.Estimate = scores["ndcg@10"]
    warnings: Sequence[sightline.ScoreWarning] = scores.warnings
    comparison: sightline.Comparison = sightline.compare([summary, "other_run"])
    results: sightline.Results = sightline.search("a red bicycle")
    hits: Sequence[sightline.Hit] = results.hits
    steps: sightline.Trajectory = sightline.read_trajectory("run", "q1")
    plan: sightline.CostPlan = sightline.dry_run(sightline.steps, "bench", model=MODEL)
    print(truth, found.mean, warnings, comparison, [(hit.id, hit.also_at) for hit in hits], steps, plan)  # noqa: T201
