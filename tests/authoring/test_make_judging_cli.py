"""`sightline make judge|similarity|similarity-retry|audit|assemble` as they are typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judging_tools import judging, judging_config, ready
from make_tools import rows, write_rows
from sightline.authoring import project as files
from sightline.authoring.project import Project
from sightline.authoring.stage import StageResult
from sightline.benchmark.validation import validate_benchmark
from sightline.cli import main


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    made = ready(tmp_path, judging_config())
    (tmp_path / "sightline.toml").write_text(
        '[benchmark]\nname = "colours"\n[judge]\nmodel = "vllm/judge"\nretrievers = ["words"]\ndepth = 3\noutside = 1\n'
    )
    return made


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[Any, str]:
    """What a command prints, as JSON, and what it says on stderr."""
    if code:
        with pytest.raises(SystemExit) as stopped:
            main(["make", *arguments, "--workspace", "ws"])
        assert stopped.value.code == code
        return None, capsys.readouterr().err
    main(["make", *arguments, "--workspace", "ws", "--json"])
    out = capsys.readouterr()
    return json.loads(out.out), out.err


def test_from_judging_to_a_benchmark(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    with judging() as server:
        priced, _ = run(capsys, "judge", "--out", "project", "--base-url", server.base_url, "--plan")
        assert priced["calls"] > 0
        assert server.requests == []
        panel = ("--panel", "vllm/a", "--panel", "vllm/b")
        done, _ = run(capsys, "judge", "--out", "project", "--base-url", server.base_url, *panel)
    assert done["counts"]["queries"] == 4
    assert {row["judge"] for row in rows(project.path(files.VERDICTS))} == {"vllm/a", "vllm/b"}
    audited, said = run(capsys, "audit", "--out", "project")
    assert audited["counts"]["queries"] == 4
    assert "solved by names alone" in said
    built, _ = run(capsys, "assemble", "--out", "project", "--bench", "BENCH")
    assert built["counts"]["queries"] == 4
    assert validate_benchmark("BENCH") == ()
    main(["make", "audit", "--out", "project", "--workspace", "ws"])
    assert "Without looking at a picture" in capsys.readouterr().out


def test_files_alone_are_enough(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    judged = [
        {"query_id": "q0", "query_text": "red", "image_id": id_, "relevance_label": grade}
        for id_, grade in (("00_red.png", 1), ("01_red.png", 1), ("04_green.png", 0), ("05_green.png", 0))
    ]
    write_rows(Path("theirs/qrels.jsonl"), judged)
    done, _ = run(capsys, "assemble", "--qrels", "theirs/qrels.jsonl", "--images", "project/images.jsonl",
                  "--query-plan", "project/query_plan.jsonl", "--bench", "B")  # fmt: skip
    assert (done["counts"]["queries"], done["counts"]["judgments"]) == (1, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("judge", "--out", "nowhere"), "make it first: sightline make"),
        (("similarity", "--out", "project"), "make it first: sightline make judge"),
        (("similarity-retry", "--out", "project"), "make it first: sightline make similarity"),
        (("audit", "--out", "project"), "make it first: sightline make judge"),
        (("assemble", "--out", "project"), "make it first: sightline make judge"),
        (("judge", "--out", "project", "--panel", "gpt"), "is not a model name"),
        (("judge", "--out", "project", "--no-wait"), "Add --batch"),
    ],
)
def test_mistakes_end_with_exit_code_2_and_their_fix(
    project: Project, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    _, said = run(capsys, *arguments, code=2)
    assert message in said


def test_one_of_a_kind_is_not_several() -> None:
    counts = {"pictures": 1, "queries": 1, "judged pairs": 2, "pictures left out": 1, "kept": 1}
    said = str(StageResult("publish", counts=counts))
    assert "1 picture, 1 query, 2 judged pairs, 1 picture left out, 1 kept" in said
