"""docs/results.md: its code runs, and what it says of rows holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sightline.agent.ask import AskResult
from sightline.agent.trajectory import Trajectory
from sightline.authoring.pipeline import Made
from sightline.benchmark.exchange_results import Validation
from sightline.display import Table
from sightline.metrics.comparison import Comparison
from sightline.metrics.scores import Scores
from sightline.metrics.trec.score_files import TrecResult
from sightline.reports.leaderboard import Leaderboard
from sightline.retrieval.results import Results
from sightline.runs.summary import RunSummary
from sightline.types import Benchmark, Corpus, Run
from small_folders import make_folders

PAGE = (Path(__file__).parents[1] / "docs" / "results.md").read_text("utf-8")
KINDS = (
    AskResult, Benchmark, Comparison, Corpus, Leaderboard, Made, Results, Run, RunSummary, Scores, Trajectory,
    TrecResult, Validation,
)  # fmt: skip


def test_the_code_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_folders(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, names)
    printed = capsys.readouterr().out
    assert "failures" in printed and "p " in printed.splitlines()[-1] and len(str(names["frame"])) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_of_the_page_is_a_table_with_what_is_named(kind: type) -> None:
    (line,) = (line for line in PAGE.splitlines() if re.match(rf"\|.*`{kind.__name__}`.*\|.*\|.*\|", line))
    assert issubclass(kind, Table)
    members = {*dir(kind), *getattr(kind, "__annotations__", ())}
    for told in re.findall(r"`(\w+)[\[(:`]", line.split("|")[3]):
        assert told in members or told in ("scores", "result", "results"), told


def test_every_table_has_a_line() -> None:
    assert len(re.findall(r"^\| `", PAGE, re.MULTILINE)) == len(KINDS) - 1  # Two kinds of run share one.
