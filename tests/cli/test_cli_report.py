"""`sightline report` and `sightline leaderboard`, as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Cli
from reports.page_check import Page
from reports.report_samples import make_benchmark, make_run, write_all
from sightline.benchmark.folder import write_benchmark
from sightline.metrics.scores import read_scores
from sightline.metrics.tables import estimates_text
from sightline.plain_text import broken
from sightline.runs.folder import write_run
from sightline.scoring import score
from sightline.types import Estimate


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, list[Path]]:
    return write_all(tmp_path, tasks=36, systems=("agent", "text only"))


def test_report_writes_a_page_and_its_tables(cli: Cli, folders: tuple[Path, list[Path]], tmp_path: Path) -> None:
    benchmark, runs = folders
    done = cli("report", *runs, benchmark, "--out", "pages/page.html", "--md")
    assert done.returncode == 0, done.stderr
    listed = [tmp_path / line.strip() for line in done.stdout.splitlines()]
    assert [path.name for path in listed[:2]] == ["page.html", "page.md"]
    assert len(listed) == 5 and all(path.is_file() for path in listed)
    assert "harbour" in Page((tmp_path / "pages" / "page.html").read_text("utf-8")).text


def test_report_prints_paths_and_numbers_as_json(cli: Cli, folders: tuple[Path, list[Path]], tmp_path: Path) -> None:
    benchmark, runs = folders
    done = cli("report", benchmark, *runs, "--json", "--limit", "3")
    content = json.loads(done.stdout)
    assert content["pages"] == ["report.html"] and (tmp_path / "report.html").is_file()
    (section,) = content["benchmarks"]
    for run in section["runs"]:
        assert run["estimates"]["f1"]["mean"] == read_scores(run["folder"]).overall["f1"].mean
        assert run["spending"]["usd"] > 0 and run["letters"]["f1"]
    assert {pair["metric"] for pair in section["pairs"]} == {"ndcg@10", "rr@10", "f1", "em", "answer"}
    assert Page((tmp_path / "report.html").read_text("utf-8")).table("3 of 36 tasks").rows


def test_a_mistake_ends_with_its_fix(cli: Cli, folders: tuple[Path, list[Path]], tmp_path: Path) -> None:
    done = cli("report", *folders[1])
    assert done.returncode == 2 and "sightline score BENCH" in done.stderr and done.stdout == ""
    assert not (tmp_path / "report.html").exists()
    assert cli("report").returncode == 2


def test_leaderboard_prints_and_writes_boards(cli: Cli, folders: tuple[Path, list[Path]], tmp_path: Path) -> None:
    benchmark, runs = folders
    score(benchmark, runs[0])
    done = cli("leaderboard", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    found = read_scores(runs[0]).overall["ndcg@10"]
    assert f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]" in done.stdout
    assert "not ranked" not in done.stdout and (runs[1] / "scores.json").is_file(), "scored as the other one was"
    assert (tmp_path / "runs" / "leaderboard.md").is_file()


def test_leaderboard_as_json_by_another_metric(cli: Cli, folders: tuple[Path, list[Path]], tmp_path: Path) -> None:
    benchmark, runs = folders
    for run in runs:
        score(benchmark, run)
    done = cli("leaderboard", tmp_path / "runs", "--metric", "f1", "--out", tmp_path / "board", "--json")
    content = json.loads(done.stdout)
    assert [place["name"] for place in content["boards"][0]["places"]] == ["agent", "text only"]
    assert content["boards"][0]["metric"] == "f1" and content["left_out"] == []
    assert all(Path(path).parent == tmp_path / "board" for path in content["files"])


def test_a_name_can_not_act_on_the_terminal(cli: Cli, tmp_path: Path) -> None:
    benchmark = write_benchmark(make_benchmark("evil \x1b[31m[bold]", tasks=12), tmp_path / "bench")
    write_run(make_run(benchmark, "\x1b]0;title\x07 [red]name", 0.9), tmp_path / "runs" / "a")
    score(tmp_path / "bench", tmp_path / "runs" / "a")
    done = cli("leaderboard", tmp_path / "runs")
    assert done.returncode == 0 and "\x1b" not in done.stdout and "\x07" not in done.stdout
    assert "[red]name" in done.stdout and "[bold]" in done.stdout


def test_names_of_systems_are_broken_between_their_words() -> None:
    name = "hybrid:embedder=world,captions=true"
    assert broken(name, 11).split("\n") == ["hybrid:", "embedder=", "world,", "captions=", "true"]
    assert broken(name, 30) == "hybrid:embedder=world,\ncaptions=true"
    assert broken(name, 40) == name


def test_a_table_of_scores_says_why_there_is_no_interval() -> None:
    few = Estimate(0.5, 0.1, 0.9, 80, 0, 0.5, method="cluster-bootstrap", reason="too few clusters (3)")
    enough = Estimate(0.25, 0.125, 0.375, 80, 0, 0.25)
    shown = estimates_text({"f1": few, "em": Estimate(0, 0, 0.793, 1, 0, 0, method="wilson"), "rr": enough})
    assert "too few clusters (3)" in shown and "too few tasks (1)" in shown
    assert "[0.125, 0.375] 95%" in shown and "0.793" not in shown and "0.900" not in shown
