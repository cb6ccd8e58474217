"""`sightline make plan` on files alone, by the command line; and what is said about files that can't be planned."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from make_tools import COLOURS, draw, flat, notes, rows, seeing, write_rows
from sightline import plugins
from sightline.authoring.plan_table import PictureTable
from sightline.authoring.project_files import PlannedQuery, Pooled, SeededQuery
from sightline.benchmark.formats.base import Complaints, FormatOptions
from sightline.benchmark.formats.benchmaker_columns import BenchmakerColumns
from sightline.benchmark.formats.benchmaker_reader import read_plans
from sightline.cli.app import main
from sightline.config.settings import ColumnSettings, PlanSettings
from sightline.io.workspace import default_workspace
from sightline.types import Annotation

PLAN = """
[plan]
core_facets = ["place", "subject"]
positives = 3
neutrals = 2
hard = 4
near = 3
easy = 3
random = 1
"""


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """The command line in this process, in `tmp_path`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SIGHTLINE_WORKSPACE", raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def cli(*arguments: object) -> subprocess.CompletedProcess[str]:
        code = 0
        capsys.readouterr()
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return subprocess.CompletedProcess([*map(str, arguments)], code, said.out, said.err)

    return cli


def files(tmp_path: Path, found: list[Annotation] | None = None, config: str = PLAN, seeds: int = 5) -> list[object]:
    """Options of a command that plans these annotations."""
    found = notes(300) if found is None else found
    write_rows(tmp_path / "A.jsonl", [flat(note) for note in found])
    ids = [note.picture_id for note in found[:seeds]]
    write_rows(tmp_path / "S.jsonl", [{"query_id": f"q{at}", "seed_image_ids": [id_]} for at, id_ in enumerate(ids)])
    (tmp_path / "C.toml").write_text(config)
    return ["--annotations", "A.jsonl", "--seeds", "S.jsonl", "--config", "C.toml", "--out", "P.jsonl"]


def test_a_plan_from_files_alone_has_tiers_and_scores_beside_benchmakers_columns(cli: Any, tmp_path: Path) -> None:
    done = cli("make", "plan", *files(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["queries"] == 5
    for row in rows(tmp_path / "P.jsonl"):
        listed = [candidate["image_id"] for candidate in row["candidates"]]
        assert listed == row["candidate_image_ids"]
        assert row["candidates"][0] == {"image_id": row["seed_image_ids"][0], "tier": "seed", "score": 1.0}
        assert {candidate["tier"] for candidate in row["candidates"]} >= {"hard", "near", "easy", "random"}
    read = read_plans(tmp_path / "P.jsonl", BenchmakerColumns(ColumnSettings()), Complaints(FormatOptions()))
    assert [len(plan.candidates) for plan in read.values.values()] == [
        len(row["candidates"]) for row in rows(tmp_path / "P.jsonl")
    ]
    assert not (tmp_path / ".sightline").exists() and not default_workspace().exists()


def test_the_seed_of_the_command_line_wins_and_nought_counts(cli: Any, tmp_path: Path) -> None:
    options = files(tmp_path, config=PLAN + "random_seed = 7\n")
    plans = {}
    for seed in ((), ("--seed", 0), ("--seed", 42), ("--seed", 7)):
        assert cli("make", "plan", *options, *seed).returncode == 0
        plans[seed] = (tmp_path / "P.jsonl").read_bytes()
    assert plans[()] == plans["--seed", 7]
    assert len(set(plans.values())) == 3


def test_without_seeds_they_are_chosen_and_written_beside_the_plan(cli: Any, tmp_path: Path) -> None:
    options = files(tmp_path, config="[plan]\nseeds = 9\n")
    (tmp_path / "S.jsonl").unlink()
    del options[2:4]
    done = cli("make", "plan", *options)
    assert done.returncode == 0, done.stderr
    seeds = rows(tmp_path / "seeds.jsonl")
    assert len(seeds) == len(rows(tmp_path / "P.jsonl")) == 9
    assert seeds[0]["query_id"] == "query_001"


def test_vectors_join_or_replace_tags(cli: Any, tmp_path: Path) -> None:
    found = [Annotation(f"{at:03}.jpg") for at in range(100)]
    options = files(tmp_path, found, config="[plan]\nrandom = 0\n")
    refused = cli("make", "plan", *options)
    assert refused.returncode == 2
    assert "nothing can be compared" in refused.stderr
    angles = np.linspace(0, 3, 100)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    np.savez(tmp_path / "V.npz", ids=np.array([note.picture_id for note in found]), vectors=circle)
    done = cli("make", "plan", *options, "--vectors", "V.npz")
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path / "P.jsonl")[0]["candidate_image_ids"][:3] == ["000.jpg", "001.jpg", "002.jpg"]
    np.savez(tmp_path / "V.npz", ids=np.array(["else"]), vectors=circle[:1])
    assert "no vector of an annotated picture" in cli("make", "plan", *options, "--vectors", "V.npz").stderr


def test_a_short_tier_says_how_many_and_what_to_do(cli: Any, tmp_path: Path) -> None:
    done = cli("make", "plan", *files(tmp_path, notes(40), config=PLAN.replace("hard = 4", "hard = 40")))
    assert done.returncode == 0
    assert "5 queries are short of hard candidates" in done.stderr
    assert "lower plan.hard" in done.stderr
    assert all(row["short"]["hard"] > 0 for row in rows(tmp_path / "P.jsonl"))


def test_look_alikes_are_known_from_the_list_of_pictures(cli: Any, tmp_path: Path) -> None:
    options = files(
        tmp_path, notes(60), config="[plan]\npositives = 0\nneutrals = 0\nhard = 50\nrandom = 50\n", seeds=1
    )
    twins = [f"{at:04}.jpg" for at in range(20)]
    write_rows(tmp_path / "images.jsonl", [{"image_id": id_, "look_alike": "burst/1"} for id_ in twins])
    assert cli("make", "plan", *options).returncode == 0
    assert set(rows(tmp_path / "P.jsonl")[0]["candidate_image_ids"]) & set(twins) == {"0000.jpg"}


def refused(cli: Any, options: list[object], message: str) -> None:
    done = cli("make", "plan", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) >= 2, "a fix stands below"


def test_bad_input_gets_a_message_with_the_fix(cli: Any, tmp_path: Path) -> None:
    refused(cli, files(tmp_path, notes(1), seeds=1), "only one annotated picture")
    refused(cli, files(tmp_path, []), "no annotated picture")
    refused(cli, files(tmp_path, config='[plan]\ncore_facets = ["plce"]\n'), 'Did you mean "place"?')
    refused(cli, files(tmp_path, config='[plan]\nstrategy = "tier"\n'), 'Did you mean "tiers"?')
    nothing = "[plan]\npositives = 0\nneutrals = 0\nhard = 0\nnear = 0\neasy = 0\n"
    refused(cli, files(tmp_path, config=nothing), "are all 0")
    options = files(tmp_path)
    write_rows(tmp_path / "S.jsonl", [{"query_id": "q", "seed_image_ids": ["nobody.jpg"]}])
    refused(cli, options, "None of the seeds is annotated")
    (tmp_path / "S.jsonl").unlink()
    refused(cli, options, "There is no file of seeds S.jsonl")
    options = files(tmp_path)
    (tmp_path / "A.jsonl").write_text((tmp_path / "A.jsonl").read_text()[:-20])
    refused(cli, options, "line 300: the file ends in the middle of a line")
    write_rows(tmp_path / "A.jsonl", [{"image_id": "a", "tags": "dog"}, {"image_id": "b"}])
    refused(cli, options, "line 1: expected a list of texts")


def test_some_seeds_that_are_not_annotated_are_said_and_counted(cli: Any, tmp_path: Path) -> None:
    options = files(tmp_path)
    lines = [*rows(tmp_path / "S.jsonl"), {"query_id": "lost", "seed_image_ids": ["nobody.jpg"]}]
    write_rows(tmp_path / "S.jsonl", lines)
    done = cli("make", "plan", *options, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["failures"] == {"no annotated seed": 1}
    assert "nobody.jpg" in done.stderr


def test_pictures_that_are_all_the_same_are_refused_with_the_fix(cli: Any, tmp_path: Path) -> None:
    same = [{"image_id": f"{at}.jpg", "tags": ["dog"], "sha256": "a" * 64} for at in range(10)]
    write_rows(tmp_path / "A.jsonl", same)
    done = cli("make", "plan", "--annotations", "A.jsonl", "--out", "P.jsonl")
    assert done.returncode == 2
    assert "All 10 pictures of A.jsonl look the same" in done.stderr
    assert "Add other pictures" in done.stderr


def test_two_looks_are_enough_for_a_plan_and_copies_of_the_seed_are_no_negatives(cli: Any, tmp_path: Path) -> None:
    same = [{"image_id": f"{at}.jpg", "tags": ["dog"], "sha256": "a" * 64} for at in range(10)]
    write_rows(tmp_path / "A.jsonl", [*same, {"image_id": "z.jpg", "tags": ["cat"], "sha256": "b" * 64}])
    done = cli("make", "plan", "--annotations", "A.jsonl", "--out", "P.jsonl")
    assert done.returncode == 0, done.stderr
    assert "2 seeds instead of plan.seeds = 100" in done.stderr
    of_dogs = next(row for row in rows(tmp_path / "P.jsonl") if row["seed_image_ids"] != ["z.jpg"])
    tiers = {one["image_id"]: one["tier"] for one in of_dogs["candidates"]}
    assert {tier for id_, tier in tiers.items() if id_ != "z.jpg"} == {"seed", "positive"}
    assert of_dogs["short"]["hard"] == 10


def test_annotations_of_a_benchmark_folder_can_be_planned(cli: Any, tmp_path: Path) -> None:
    lines = [{"picture": note.picture_id, "facets": dict(note.facets), "tags": list(note.tags)} for note in notes(60)]
    write_rows(tmp_path / "A.jsonl", lines)
    (tmp_path / "C.toml").write_text("[plan]\nseeds = 3\ncore_facets = ['subject']\n")
    done = cli("make", "plan", "--annotations", "A.jsonl", "--out", "P.jsonl", "--config", "C.toml")
    assert done.returncode == 0, done.stderr
    assert len(rows(tmp_path / "P.jsonl")) == 3


def test_a_planner_of_another_package_is_found_by_its_name(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lonely:
        """Plans pools of nothing but their seeds."""

        def __init__(self, table: PictureTable, settings: PlanSettings) -> None:
            assert len(table) == 300
            assert settings.strategy == "lonely"

        def plan(self, query: SeededQuery) -> PlannedQuery:
            return PlannedQuery(query.id, query.seeds, tuple(Pooled(seed, "seed", None) for seed in query.seeds))

    class Point:
        name = "lonely"

        def load(self) -> type[Lonely]:
            return Lonely

    def entry_points(group: str) -> list[Point]:
        return [Point()] if group == "sightline.planners" else []

    monkeypatch.setattr(plugins, "entry_points", entry_points)
    done = cli("make", "plan", *files(tmp_path, config='[plan]\nstrategy = "lonely"\n'))
    assert done.returncode == 0, done.stderr
    assert all(row["candidate_image_ids"] == row["seed_image_ids"] for row in rows(tmp_path / "P.jsonl"))
    refused(cli, files(tmp_path, config='[plan]\nstrategy = "lonly"\n'), 'Did you mean "lonely"?')


def test_the_configured_embedder_needs_pictures(cli: Any, tmp_path: Path) -> None:
    refused(cli, files(tmp_path, config='[plan]\nembedder = "photos"\n'), "no annotated picture is listed")


def test_annotating_by_the_command_line_says_the_price_then_does_it(cli: Any, tmp_path: Path) -> None:
    draw(tmp_path / "pictures", *COLOURS)
    (tmp_path / "C.toml").write_text(
        "[annotate]\nmodel = 'vllm/seer'\nflags = ['is_warm']\nmin_tags = 2\nmax_tags = 5\n"
        f"vocabulary = {[*COLOURS, 'plain', 'flat']}\n[annotate.taxonomy]\ncolour = {list(COLOURS)}\n"
    )
    with seeing() as server:
        options = ["--config", "C.toml", "--base-url", server.base_url, "--out", "project"]
        priced = cli("make", "annotate", "pictures", *options, "--plan", "--json")
        assert json.loads(priced.stdout)["calls"] == 4
        assert not server.requests
        done = cli("make", "annotate", *options)
        assert done.returncode == 0, done.stderr
        assert "4 annotated, 0 kept" in done.stdout
    assert len(rows(tmp_path / "project" / "annotations.jsonl")) == 4
    assert cli("make", "annotate", *options, "--no-wait").returncode == 2


def test_of_rows_for_the_same_picture_the_last_counts(cli: Any, tmp_path: Path) -> None:
    options = files(tmp_path)
    lines = rows(tmp_path / "A.jsonl")
    write_rows(tmp_path / "A.jsonl", [{**lines[0], "tags": ["wrong"]}, *lines])
    done = cli("make", "plan", *options)
    assert "1 pictures are there more than once" in done.stderr
    assert rows(tmp_path / "P.jsonl")[0]["candidates"][1]["score"] > 0
