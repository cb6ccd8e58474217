"""Leaderboards: ranks by tie groups, every run accounted for."""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from reports.report_samples import Folders, make_benchmark, make_run, score_only, write_all
from sightline.benchmark.folder import write_benchmark
from sightline.errors import UserError
from sightline.metrics.comparison import Comparison
from sightline.metrics.scores import read_scores, write_scores
from sightline.reports.leaderboard import Leaderboard, build_leaderboard, leaderboard
from sightline.runs.folder import write_run
from sightline.scoring import compare, score
from sightline.types import Estimate


@pytest.fixture(scope="module")
def found(made: Folders, tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    return leaderboard(made.runs[0].parent, out=tmp_path_factory.mktemp("board"))


def test_a_board_holds_the_numbers_of_the_scores(made: Folders, found: Leaderboard) -> None:
    (board,) = found.boards
    assert (board.benchmark, board.metric) == ("harbour", "ndcg@10")
    assert [place.name for place in board.places] == ["agent", "hybrid", "embedder", "text only"]
    for place, folder in zip(board.places, made.runs, strict=True):
        assert place.estimate == read_scores(folder).overall["ndcg@10"]
        assert place.folder == folder.name


def test_ranks_are_what_the_tests_can_tell(made: Folders, found: Leaderboard) -> None:
    comparison = compare(made.runs, ["ndcg@10"], allow_failures_differ=True)
    letters = {standing.system: standing.letters for standing in comparison.standings["ndcg@10"]}
    places = found.boards[0].places
    for place in places:
        assert place.letters == letters[place.name]
        apart = [other for other in places if not set(place.letters) & set(other.letters)]
        better = sum(other.estimate.mean > place.estimate.mean for other in apart)
        assert (place.best, place.worst) == (1 + better, len(places) - (len(apart) - better))
    assert places[0].rank != "1–4"


def test_tied_runs_share_a_range_of_ranks(tmp_path: Path) -> None:
    benchmark = write_benchmark(make_benchmark(tasks=72), tmp_path / "bench")
    for name, skill in (("one", 0.95), ("two", 0.95), ("far", 0.1)):
        write_run(make_run(benchmark, name, skill), tmp_path / "runs" / name)
        score(tmp_path / "bench", tmp_path / "runs" / name)
    (board,) = build_leaderboard(tmp_path / "runs", "f1").boards
    ranks = {place.name: place.rank for place in board.places}
    assert ranks == {"one": "1–2", "two": "1–2", "far": "3"}


def test_more_runs_than_letters_are_ranked(made: Folders, tmp_path: Path) -> None:
    scores = read_scores(made.runs[1])
    for number in range(60):
        shutil.copytree(made.runs[1], tmp_path / f"{number}")
        better = 0.3 if number == 13 else 0.0
        moved = random.Random(number)
        rows = tuple(
            replace(row, values={"ndcg@10": value + better + moved.gauss(0, 0.02)})
            for row in scores.tasks
            if (value := row.values.get("ndcg@10")) is not None
        )
        overall = {**scores.overall, "ndcg@10": replace(scores.overall["ndcg@10"], mean=0.5 + better)}
        write_scores(replace(scores, system=f"run {number}", tasks=rows, overall=overall), tmp_path / f"{number}")
    (board,) = build_leaderboard(tmp_path, "ndcg@10").boards
    assert (board.places[0].folder, board.places[0].rank, board.places[0].letters) == ("13", "1", "")
    assert {place.rank for place in board.places[1:]} == {"2–60"}
    assert any("too many for letters" in note for note in board.notes)


def test_the_files_say_the_same(found: Leaderboard) -> None:
    markdown, table, data = found.files
    assert [path.name for path in found.files] == ["leaderboard.md", "leaderboard.csv", "leaderboard.json"]
    places = found.boards[0].places
    rows = list(csv.DictReader(io.StringIO(table.read_text("utf-8"))))
    content = json.loads(data.read_text("utf-8"))["boards"][0]
    text = markdown.read_text("utf-8").replace("\\", "")
    for place, row, entry in zip(places, rows, content["places"], strict=True):
        assert float(row["mean"]) == entry["estimate"]["mean"] == place.estimate.mean
        assert row["rank"] == entry["rank"] == place.rank
        assert Estimate(**entry["estimate"]) == place.estimate
        assert float(row["mean:f1"]) == entry["estimates"]["f1"]["mean"]
        low, high = place.estimate.low, place.estimate.high
        assert (
            f"| {place.rank} | {place.name} | {place.estimate.mean:.3f} [{low:.3f}, {high:.3f}] {place.letters} |"
            in text
        )


def test_files_go_into_the_folder_itself_unless_told(copied: Folders) -> None:
    folder = copied.runs[0].parent
    first = leaderboard(folder)
    assert {path.parent for path in first.files} == {folder}
    before = [path.read_bytes() for path in first.files]
    assert [path.read_bytes() for path in leaderboard(folder).files] == before


def test_another_metric_ranks_too(made: Folders) -> None:
    (board,) = build_leaderboard(made.runs[0].parent, "em").boards
    means = [place.estimate.mean for place in board.places]
    assert board.metric == "em" and means == sorted(means, reverse=True)
    with pytest.raises(UserError, match=r'no run below .* was scored with "map"'):
        build_leaderboard(made.runs[0].parent, "map")


def test_runs_that_are_broken_or_not_scored_are_listed_with_the_reason(copied: Folders) -> None:
    unscored, broken, garbled, _ = copied.runs
    (unscored / "scores.json").unlink()
    shutil.move(copied.benchmark, copied.benchmark.with_name("elsewhere"))
    (broken / "run.json").write_text("{")
    (garbled / "scores.json").write_text('{"schema": 99}')
    found = leaderboard(copied.runs[0].parent)
    reasons = {run.folder: run.reason for run in found.left_out}
    assert set(reasons) == {folder.name for folder in (unscored, broken, garbled)}
    assert (
        'its benchmark "harbour" was not found' in reasons[unscored.name]
        and "sightline score" in reasons[unscored.name]
    )
    assert "run.json" in reasons[broken.name] and "schema" in reasons[garbled.name]
    assert [place.name for board in found.boards for place in board.places] == ["text only"]
    text = found.files[0].read_text("utf-8").replace("\\", "")
    assert all(folder in text for folder in reasons)


@pytest.mark.parametrize("known", ["by another run", "above", "given"])
def test_runs_that_are_not_scored_yet_are_scored(copied: Folders, tmp_path: Path, known: str) -> None:
    root, bench = copied.runs[0].parent, copied.benchmark
    whole = {place.name: place.estimate for place in build_leaderboard(root).boards[0].places}
    for run in copied.runs[known == "by another run" :]:
        (run / "scores.json").unlink()
    if known == "above":
        root = Path(shutil.move(root, bench / "runs"))
    elif known == "given":
        bench = Path(shutil.move(bench, tmp_path / "elsewhere"))
    found = leaderboard(root, benchmark=bench if known == "given" else None)
    assert not found.left_out and {place.name: place.estimate for place in found.boards[0].places} == whole
    assert all((root / run.name / "scores.json").is_file() for run in copied.runs)


def test_runs_that_are_not_scored_yet_are_compared(copied: Folders) -> None:
    def compared(*runs: Path) -> Comparison:
        return compare(runs, rehearsal=True, allow_failures_differ=True)

    first, second = copied.runs[:2]
    whole = compared(first, second)
    (second / "scores.json").unlink()
    assert compared(first, second).to_json() == whole.to_json() and (second / "scores.json").is_file()
    for run in (first, second):
        (run / "scores.json").unlink()
    with pytest.raises(UserError, match="has no scores"):
        compared(first, second)
    above = Path(shutil.move(first.parent, copied.benchmark / "runs"))
    assert len(compared(above / first.name, above / second.name)) == len(whole)


def test_what_only_shows_a_board_scores_nothing(copied: Folders) -> None:
    (copied.runs[0] / "scores.json").unlink()
    (left,) = build_leaderboard(copied.runs[0].parent).left_out
    assert "has no scores.json" in left.reason and not (copied.runs[0] / "scores.json").exists()


def test_runs_without_the_metric_are_listed(copied: Folders) -> None:
    score_only(copied.benchmark, copied.runs[0], ["answer"])
    found = build_leaderboard(copied.runs[0].parent)
    assert [run.folder for run in found.left_out] == [copied.runs[0].name]
    assert 'was not scored with "ndcg@10", only with answer' in found.left_out[0].reason
    assert len(found.boards[0].places) == 3


def test_every_version_of_every_benchmark_has_its_own_board(copied: Folders) -> None:
    root = copied.benchmark.parent
    for name, tasks in (("harbour", 24), ("other", 36)):
        benchmark, runs = write_all(root / f"more {tasks}", name, tasks, ("agent",))
        score(benchmark, runs[0])
    found = build_leaderboard(root)
    assert [board.benchmark for board in found.boards] == ["harbour", "harbour", "other"]
    assert sorted(len(board.places) for board in found.boards) == [1, 1, 4]
    alone = next(board for board in found.boards if board.benchmark == "other")
    assert (alone.places[0].rank, alone.places[0].letters) == ("1", "")


def test_runs_that_can_not_be_compared_are_all_tied(copied: Folders) -> None:
    score(copied.benchmark, copied.runs[0], cluster_by=None)
    (board,) = build_leaderboard(copied.runs[0].parent).boards
    assert {place.rank for place in board.places} == {"1–4"}
    assert any("different clusters" in note for note in board.notes)


def test_hidden_folders_are_passed_over_and_links_are_followed_once(copied: Folders, tmp_path: Path) -> None:
    runs = copied.runs[0].parent
    copied.runs[0].rename(runs / ".sightline-0123456789abcdef.tmp")
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "linked").symlink_to(runs, target_is_directory=True)
    (runs / "loop").symlink_to(tmp_path / "boards", target_is_directory=True)
    (board,) = build_leaderboard(tmp_path / "boards").boards
    assert sorted(place.name for place in board.places) == ["embedder", "hybrid", "text only"]


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no run below"):
        build_leaderboard(tmp_path)
    with pytest.raises(UserError, match="there is no folder"):
        build_leaderboard(tmp_path / "nothing")


def test_a_leaderboard_is_a_table_in_pandas(made: Folders) -> None:
    pytest.importorskip("pandas")
    frame = build_leaderboard(made.runs[0].parent).to_pandas()
    assert list(frame["system"]) == ["agent", "hybrid", "embedder", "text only"]
    assert frame["mean"].is_monotonic_decreasing
