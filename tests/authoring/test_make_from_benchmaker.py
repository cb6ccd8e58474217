"""Somebody who comes from benchmaker: each of its files enters at its stage, each command and key has its place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from configuration_tables import fill

from make_publishing import annotation, make_project, picture_id
from sightline.authoring.project import Project
from sightline.cli.app import main
from sightline.config.benchmaker import COUNTERPARTS, NO_COUNTERPART
from sightline.io.jsonl import read_json, read_jsonl, write_jsonl

PAGE = Path(__file__).parents[2] / "docs" / "from-benchmaker.md"
COMMANDS = (
    "preprocess", "check-urls", "vision", "vision-make", "vision-submit", "vision-wait", "vision-download",
    "vision-parse", "vision-retry", "plan", "judge", "judge-make", "judge-submit", "judge-wait", "judge-download",
    "judge-parse", "judge-retry", "postprocess similarity", "postprocess similarity-retry", "postprocess summary",
    "postprocess add-metadata", "upload", "clean", "list-batches", "show-batch-map", "all",
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("SIGHTLINE_WORKSPACE", str(tmp_path / "workspace"))
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return make_project(tmp_path)


def make(project: Project, *arguments: str) -> int:
    try:
        main(["make", *arguments, "--config", str(project.config_path)])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_every_command_and_every_key_is_on_the_page() -> None:
    page = PAGE.read_text()
    for command in COMMANDS:
        assert f"| `{command}` |" in page, command
    for key in {**COUNTERPARTS, **NO_COUNTERPART}:
        assert f"`{key}`" in page, key
    for verb in re.findall(r"`sightline (make [a-z-]+)", page):
        with pytest.raises(SystemExit) as ended:
            main([*verb.split(), "--no-such-option"])
        assert ended.value.code == 2


def test_annotations_and_seeds_enter_at_plan(project: Project, tmp_path: Path) -> None:
    out = tmp_path / "plan.jsonl"
    files = project.folder
    code = make(project, "plan", "--annotations", str(files / "annotations.jsonl"), "--seeds",
                str(files / "seeds.jsonl"), "--out", str(out))  # fmt: skip
    assert code == 0
    planned = [row for _, row in read_jsonl(out)]
    assert [row["query_id"] for row in planned] == [f"query_{query:03d}" for query in range(8)]
    assert all(row["seed_image_ids"][0] == row["candidate_image_ids"][0] for row in planned)


def test_a_plan_enters_at_query(project: Project, tmp_path: Path) -> None:
    plan = tmp_path / "query_plan.jsonl"
    rows = [
        {"query_id": f"query_{query:03d}", "seed_image_ids": [picture_id(query)],
         "candidate_image_ids": [picture_id(query + step) for step in range(4)]}
        for query in range(4)
    ]  # fmt: skip
    write_jsonl(plan, rows)
    config = project.config_path
    assert config is not None
    config.write_text(config.read_text().split("[vision_config]")[0])  # No model: the words come from templates.
    out = tmp_path / "queries.jsonl"
    code = make(project, "query", "--query-plan", str(plan), "--annotations",
                str(project.folder / "annotations.jsonl"), "--out", str(out))  # fmt: skip
    assert code == 0
    assert {row["query_id"] for _, row in read_jsonl(out)} <= {row["query_id"] for row in rows}


@pytest.mark.parametrize("stage", ["assemble", "summary", "add-metadata", "status"])
def test_judgments_enter_at_what_comes_after(project: Project, stage: str) -> None:
    assert make(project, stage, "--out", str(project.folder)) == 0


def test_judgments_alone_enter_at_summary_and_publish(project: Project, tmp_path: Path) -> None:
    qrels = project.folder / "qrels.jsonl"
    merged = [{**row, **annotation(int(row["image_id"][2:6]))} for _, row in read_jsonl(qrels)]
    alone = tmp_path / "alone.jsonl"
    write_jsonl(alone, merged)
    out = tmp_path / "out"
    assert make(project, "summary", "--qrels", str(alone), "--out", str(out), "--no-png") == 0
    assert (out / "summary" / "top_tags.csv").is_file()
    assert make(project, "publish", "--qrels", str(alone), "--out", str(out), "--dry-run", "--yes") == 0
    assert read_json(out / "dataset" / "sightline.json")["counts"]["queries"] == 8


def test_a_whole_folder_of_benchmaker_is_published_in_its_own_layout(project: Project, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    code = make(project, "publish", str(project.folder), "--out", str(out), "--dry-run", "--yes", "--layout", "rows")
    assert code == 0
    assert list((out / "dataset" / "data").glob("train-*.parquet"))


def test_people_are_asked_about_and_nobody_there_is_no_yes(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make(project, "publish", "--out", str(project.folder), "--dry-run") == 2
    assert "--yes" in capsys.readouterr().err


def test_ids_are_kept_by_an_option_that_is_asked_about(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    out = ("--out", str(project.folder), "--dry-run")
    assert make(project, "publish", *out, "--keep-ids") == 2
    assert "ids stay as they are" in capsys.readouterr().err
    rights = project.folder / "dataset" / "rights.csv"
    assert make(project, "publish", *out, "--keep-ids", "--yes") == 0
    assert picture_id(1) in rights.read_text()
    assert make(project, "publish", *out, "--yes") == 0
    assert picture_id(1) not in rights.read_text()


def test_clean_asks_and_takes_only_what_was_written(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path.name for path in project.folder.iterdir())
    out = ("--out", str(project.folder))
    assert make(project, "add-metadata", *out) == 0
    assert make(project, "summary", "--no-png", *out) == 0
    assert make(project, "clean", *out) == 2
    assert "--yes" in capsys.readouterr().err
    assert make(project, "clean", "--yes", "--finals", *out) == 0
    assert sorted(path.name for path in project.folder.iterdir()) == before


def test_a_takedown_by_command(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    out = ("--out", str(project.folder))
    assert make(project, "publish", "--dry-run", "--yes", *out) == 0
    capsys.readouterr()
    assert make(project, "takedown", picture_id(1), "--json", *out) == 0
    assert f'"{picture_id(1)}"' in capsys.readouterr().out
    assert make(project, "takedown", "ffffffff", *out) == 2


def test_addresses_of_this_machine_are_not_asked(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    write_jsonl(project.folder / "images.jsonl", [{"image_id": "a.jpg", "image_url": "http://127.0.0.1:9/a.jpg"}])
    assert make(project, "check-urls", "--json", "--out", str(project.folder)) == 4
    assert "private" in capsys.readouterr().out
    assert make(project, "check-urls", "--local-only", "--out", str(project.folder)) == 2


# --- batch output ---------------------------------------------------------------------------------------------


def answered(custom: str, said: object, **body: Any) -> dict[str, object]:
    """A line of a batch's output, as the Responses API writes it."""
    text = orjson.dumps(said).decode()
    message = {"type": "message", "content": [{"type": "output_text", "text": text}]}
    whole = {"status": "completed", "model": "gpt-5-mini", "output": [{"type": "reasoning"}, message], **body}
    return {"id": "1", "custom_id": custom, "response": {"status_code": 200, "body": whole}, "error": None}


def said_of(number: int, **changes: Any) -> dict[str, object]:
    row = annotation(number)
    return {key: row[key] for key in ("summary", "light", "subject", "people", "tags", "confidence")} | changes


def test_batch_output_of_vision_becomes_annotations(project: Project, tmp_path: Path) -> None:
    (project.folder / "annotations.jsonl").unlink()
    output = tmp_path / "vision_batch_output.jsonl"
    lines = [
        answered(f"vision::{picture_id(1)}", said_of(1, summary="earlier")),
        answered(f"vision::{picture_id(1)}", said_of(1)),
        answered(f"vision::{picture_id(2)}", said_of(2, light="noon")),
        answered(f"vision::{picture_id(3)}", said_of(3), status="incomplete"),
        {"custom_id": f"vision::{picture_id(4)}", "response": None, "error": {"message": "no"}},
    ]
    write_jsonl(output, lines)
    assert make(project, "read-batch", str(output), "--out", str(project.folder)) == 0
    (row,) = [row for _, row in read_jsonl(project.folder / "annotations.jsonl")]
    assert row["summary"] == annotation(1)["summary"]
    assert row["by"] == "gpt-5-mini"
    errors = {row["image_id"]: row["error"] for _, row in read_jsonl(project.folder / "annotations_failed.jsonl")}
    assert [errors[picture_id(number)].partition(":")[0] for number in (2, 3, 4)] == [
        "invented value", "cut off", "refused",
    ]  # fmt: skip


def test_batch_output_of_judge_becomes_judgments_with_the_seed_first(project: Project, tmp_path: Path) -> None:
    for name in ("qrels.jsonl", "qrels_with_score.jsonl", "seeds.jsonl"):
        (project.folder / name).unlink()
    pool = [picture_id(number) for number in range(4)]
    plan = [
        {"query_id": query, "seed_image_ids": [pool[0]], "candidate_image_ids": pool} for query in ("q1", "q2", "q3")
    ]
    write_jsonl(project.folder / "query_plan.jsonl", plan)

    def judged(ids: list[str]) -> dict[str, object]:
        graded = [{"image_id": id_, "relevance_label": int(id_ == pool[0])} for id_ in ids]
        return {"query_text": "harbour at night", "judgments": graded}

    output = tmp_path / "judge_batch_output.jsonl"
    lines = [
        answered("judge::q1", judged(pool[::-1])),
        answered("judge::q2", judged(pool[:2])),
        answered("judge::q3", judged([*pool, "invented.jpg"])),
    ]
    write_jsonl(output, lines)
    assert make(project, "read-batch", str(output), "--out", str(project.folder)) == 0
    rows = [row for _, row in read_jsonl(project.folder / "qrels.jsonl")]
    assert [(row["query_id"], row["image_id"]) for row in rows] == [("q1", id_) for id_ in pool]
    failed = {row["query_id"] for _, row in read_jsonl(project.folder / "qrels_failed.jsonl")}
    assert failed == {"q2", "q3"}
    assert make(project, "summary", "--no-png", "--out", str(project.folder)) == 0


def test_batch_output_adds_to_what_is_there_and_replaces_nothing(project: Project, tmp_path: Path) -> None:
    output = tmp_path / "output.jsonl"
    write_jsonl(output, [answered(f"vision::{picture_id(1)}", said_of(1, summary="another"))])
    before = (project.folder / "annotations.jsonl").read_bytes()
    assert make(project, "read-batch", str(output), "--out", str(project.folder)) == 0
    assert (project.folder / "annotations.jsonl").read_bytes() == before
    write_jsonl(output, [{"custom_id": "something else"}])
    assert make(project, "read-batch", str(output), "--out", str(project.folder)) == 2


def test_the_seeds_of_the_configuration_are_planned_wherever_the_plan_goes(project: Project, tmp_path: Path) -> None:
    config = project.config_path
    assert config is not None
    config.write_text(f'seeds_jsonl = "{project.folder / "seeds.jsonl"}"\n{config.read_text()}')
    out = tmp_path / "elsewhere" / "plan.jsonl"
    code = make(project, "plan", "--annotations", str(project.folder / "annotations.jsonl"), "--out", str(out))
    assert code == 0
    seeds = {row["query_id"]: row["seed_image_ids"] for _, row in read_jsonl(project.folder / "seeds.jsonl")}
    assert {row["query_id"]: row["seed_image_ids"] for _, row in read_jsonl(out)} == seeds


def test_batch_output_is_written_where_it_is_told(project: Project, tmp_path: Path) -> None:
    config = project.config_path
    assert config is not None
    config.write_text(f'annotations_jsonl = "{project.folder / "annotations.jsonl"}"\n{config.read_text()}')
    before = (project.folder / "annotations.jsonl").read_bytes()
    output = tmp_path / "output.jsonl"
    write_jsonl(output, [answered(f"vision::{picture_id(1)}", said_of(1))])
    assert make(project, "read-batch", str(output), "--out", str(tmp_path / "new")) == 0
    assert [row["image_id"] for _, row in read_jsonl(tmp_path / "new" / "annotations.jsonl")] == [picture_id(1)]
    assert (project.folder / "annotations.jsonl").read_bytes() == before


def test_pictures_without_a_licence_are_told_before_labels_are_paid_for(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = project.config_path
    assert config is not None
    config.write_text(f'_hf_repo_id = "me/mine"\n{config.read_text()}')
    make(project, "pictures", str(tmp_path / "pictures"), "--out", str(tmp_path / "new"))
    assert "24 of 24 pictures have no licence" in capsys.readouterr().err


def test_the_table_of_keys_is_the_one_that_the_settings_make() -> None:
    assert fill(PAGE.read_text()) == PAGE.read_text()
