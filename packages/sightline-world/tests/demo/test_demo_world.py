"""The demo on a small life, from the first picture to the page; twice, to see that the second time does nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sightline.benchmark.validation import validate_benchmark
from sightline.cli.demo import demo
from sightline.cli.options import Common
from sightline.errors import UserError
from sightline.runs.folder import read_run
from sightline_world.demo.run import Amounts, Tell, WorldDemo, run_world_demo
from sightline_world.demo.systems import SYSTEMS

SMALL = Amounts(pictures=50, queries=6, sets=4)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> WorldDemo:
    pytest.importorskip("onnxruntime")
    return run_world_demo(tmp_path_factory.mktemp("out") / "demo", amounts=SMALL)


def test_a_benchmark_is_made_and_held_against_the_truth(made: WorldDemo) -> None:
    audit = made.found.audit
    assert made.found.scanned.pictures == 50 and len(made.found.benchmark.tasks) == audit.queries > 3
    assert audit.labels > 50 and audit.not_understood == ()
    assert audit.right.mean > 0.9 and audit.precision.mean > 0.6 and audit.recall.mean > 0.6
    assert audit.right.low <= audit.right.mean <= audit.right.high


def test_four_systems_on_both_benchmarks(made: WorldDemo) -> None:
    found = made.found.to_dict()
    json.dumps(found, default=str)
    assert list(found["systems"]) == list(SYSTEMS) and len(SYSTEMS) == 4
    blind, embedder = (found["systems"][name]["ndcg@10"]["estimate"]["mean"] for name in ("text only", "embedder"))
    assert embedder > 0.5 > blind
    assert len(found["comparisons"]["search"]["pairs"]) % 6 == 0
    assert {read_run(folder).benchmark for folder in made.found.selected.runs.values()} == {"Exact sets in a life"}
    assert all(spent["usd"] == 0 for spent in found["systems"].values())


def test_the_benchmarks_can_be_used_by_others(made: WorldDemo) -> None:
    for field in (made.found.found, made.found.selected):
        assert validate_benchmark(field.benchmark) == ()


def test_the_page_has_pictures_and_needs_nothing_else(made: WorldDemo) -> None:
    page = made.page.read_text("utf-8")
    assert page.count("data:image/jpeg;base64,") > 20
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)
    for words in (
        "In short",
        "The photo history",
        "How accurate the generated benchmark is",
        "What was found",
        "Exact sets in a life",
    ):
        assert f">{words}</h2>" in page
    assert made.found.life.homes[0].address in page


def test_a_second_time_nothing_is_done_again(made: WorldDemo) -> None:
    kept = [*(made.folder / "life").rglob("*.jpg"), *(made.folder / "runs").rglob("predictions.jsonl")]
    before = {path: path.stat().st_mtime_ns for path in kept}
    assert len(before) > 50
    said: list[tuple[str, str]] = []
    again = run_world_demo(made.folder, amounts=SMALL, tell=lambda stage, line: said.append((stage, line)))
    assert {path: path.stat().st_mtime_ns for path in kept} == before
    assert any(stage == "annotate" and line.startswith("49 kept") for stage, line in said)  # One is a copy.
    assert again.found.to_dict() == made.found.to_dict()


def test_another_seed_takes_another_folder(made: WorldDemo) -> None:
    with pytest.raises(UserError, match="another seed"):
        run_world_demo(made.folder, seed=1, amounts=SMALL)


def test_what_the_command_says(
    made: WorldDemo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(folder: Path, *, seed: int, tell: Tell) -> WorldDemo:
        tell("draw", "600 pictures")
        return made

    monkeypatch.setattr("sightline_world.demo.run.run_world_demo", run)
    demo(out=made.folder)
    shown = capsys.readouterr().out
    assert (
        "a synthetic photo history of 50 pictures → a benchmark of" in shown
        and "precision" in shown
        and "  draw       600" in shown
    )
    assert [line.split("  ")[1] for line in shown.splitlines() if " [0." in line or " [1." in line] == list(SYSTEMS)
    demo(out=made.folder, common=Common(json=True))
    printed, told = capsys.readouterr()
    assert json.loads(printed)["audit"]["precision"]["n"] > 0 and "draw" in told
