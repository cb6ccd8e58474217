"""The stage `annotate`: by a model that sees colours, over HTTP, with a journal; killed, stopped and resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make_tools import (
    COLOURS,
    colour_config,
    colour_of,
    describing,
    draw,
    picture_in,
    project_in,
    rows,
    seeing,
    with_calls,
    words_in,
    write_rows,
)
from models_server import Received, Server
from sightline.authoring.annotate import AnnotateStage
from sightline.authoring.annotate_requests import AnnotationQuestions
from sightline.authoring.pictures import PicturesStage
from sightline.authoring.project import ANNOTATIONS, Project
from sightline.authoring.stage import StageResult
from sightline.calls.budget import Budget
from sightline.calls.session import CallOptions
from sightline.config import Config
from sightline.errors import StoppedError, UserError
from sightline.models.json_schema import is_strict
from sightline.types import ImagePart, Picture


def begun(tmp_path: Path, config: Config | None = None, *colours: str) -> Project:
    project = project_in(tmp_path, config or colour_config())
    PicturesStage(draw(tmp_path / "pictures", *(colours or COLOURS))).run(project)
    return project


def annotate(project: Project, server: Server, **asking: Any) -> StageResult:
    return AnnotateStage().run(with_calls(project, CallOptions(base_url=server.base_url, **asking)))


def test_each_picture_is_sent_as_bytes_and_described_by_the_questions(tmp_path: Path) -> None:
    project = begun(tmp_path)
    with seeing() as server:
        done = annotate(project, server)
    found = {row["image_id"]: row for row in rows(project.path(ANNOTATIONS))}
    assert done.counts == {"annotated": 4, "kept": 0}
    assert list(found) == ["00_red.png", "01_green.png", "02_blue.png", "03_yellow.png"]
    assert [row["colour"] for row in found.values()] == list(COLOURS)
    red = found["00_red.png"]
    assert (red["is_warm"], red["tags"], red["by"]) == (True, ["red", "plain", "flat"], "vllm/seer")
    assert red["confidence"] == {"colour": 0.9, "is_warm": 0.8}
    assert all(picture_in(request) is not None for request in server.requests)
    assert rows(project.failed(ANNOTATIONS)) == []


def test_the_schema_is_strict_and_allows_nothing_else() -> None:
    schema = AnnotationQuestions("m", colour_config()).schema
    assert is_strict(schema)
    assert schema["properties"]["colour"]["enum"] == list(COLOURS)
    assert schema["properties"]["tags"] == {
        "type": "array", "items": {"type": "string", "enum": [*COLOURS, "plain", "flat"]}, "minItems": 2, "maxItems": 5
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"colour": "mauve"},
        {"tags": ["red", "sky"]},
        {"tags": ["red", "red", "red"]},
        {"is_warm": "yes"},
        {"mood": "sad"},
    ],
)
def test_what_is_invented_is_refused_asked_again_once_and_then_a_failure(tmp_path: Path, wrong: dict[str, Any]) -> None:
    project = begun(tmp_path)

    def reply(request: Received) -> Any:
        data = picture_in(request)
        assert data is not None
        colour, again = colour_of(data), "could not be used" in words_in(request)
        lies = colour == "blue" or (colour == "red" and not again)
        return {**describing(colour), **(wrong if lies else {})}

    with seeing(reply) as server:
        done = annotate(project, server)
        assert len(server.requests) == 6
        again = annotate(project, server)
        assert len(server.requests) == 6, "what failed is the model's own answer, and was paid for"
    assert done.counts == {"annotated": 3, "kept": 0}
    assert done.failures == again.failures == {"wrong-schema": 1}
    (failed,) = rows(project.failed(ANNOTATIONS))
    assert failed["image_id"] == "02_blue.png"
    assert "02_blue.png" not in {row["image_id"] for row in rows(project.path(ANNOTATIONS))}
    complaint = next(words_in(request) for request in server.requests if "could not be used" in words_in(request))
    assert next(iter(wrong)) in complaint


def test_only_what_is_new_or_asked_differently_is_asked(tmp_path: Path) -> None:
    project = begun(tmp_path)
    with seeing() as server:
        annotate(project, server)
        assert annotate(project, server).counts == {"annotated": 0, "kept": 4}
        draw(tmp_path / "pictures", *COLOURS, "red")
        PicturesStage(tmp_path / "pictures").run(project)
        assert annotate(project, server).counts == {"annotated": 1, "kept": 4}
        assert len(server.requests) == 5
        other = project.with_config(colour_config(user_prompt="What colour?"))
        assert annotate(other, server).counts == {"annotated": 5, "kept": 0}
        assert len(rows(project.path(ANNOTATIONS))) == 5


def test_annotations_of_others_are_kept_and_a_line_that_was_cut_off_is_made_again(tmp_path: Path) -> None:
    project = begun(tmp_path)
    path = write_rows(project.path(ANNOTATIONS), [{"image_id": "00_red.png", "tags": ["theirs"], "summary": "theirs"}])
    with path.open("a") as file:
        file.write('{"image_id": "01_green.png", "summ')
    with seeing() as server:
        done = annotate(project, server)
    assert done.counts == {"annotated": 3, "kept": 1}
    assert "line 2: cut off" in done.warnings[0]
    assert rows(path)[0]["summary"] == "theirs"
    assert len(rows(path)) == 4


def test_lines_of_a_killed_run_are_found(tmp_path: Path) -> None:
    project = begun(tmp_path)
    with seeing() as server:
        annotate(project, server)
        before = project.path(ANNOTATIONS).read_bytes()
        # As `kill -9` leaves it: two lines and a half, and no finished file.
        lines = before.splitlines(keepends=True)
        project.partial(ANNOTATIONS).write_bytes(b"".join(lines[:2]) + lines[2][:40])
        project.path(ANNOTATIONS).unlink()
        assert annotate(project, server).counts == {"annotated": 2, "kept": 2}
        assert len(server.requests) == 4, "the journal answered"
    assert sorted(project.path(ANNOTATIONS).read_bytes().splitlines()) != []
    assert len(rows(project.path(ANNOTATIONS))) == 4
    assert not project.partial(ANNOTATIONS).exists()


def test_a_budget_stops_with_what_was_done(tmp_path: Path) -> None:
    priced = {"prices": {"models": {"vllm/seer": {"input": 0.0, "output": 1_000_000.0}}}}
    config = Config.model_validate({**colour_config(max_output_tokens=5).model_dump(), **priced})
    project = begun(tmp_path, config)
    with seeing() as server:
        planned = annotate(project, server, plan=True)
        assert planned.price is not None
        assert planned.price.to_json()["calls"] == 4
        assert not server.requests
        assert not project.path(ANNOTATIONS).exists()
        with pytest.raises(StoppedError, match="of 4 pictures were annotated"):
            annotate(project, server, budget=Budget.parse("11usd"))
        done = len(rows(project.path(ANNOTATIONS)))
        assert done == len(server.requests) == 2
        assert annotate(project, server).counts == {"annotated": 4 - done, "kept": done}


def test_metadata_is_told_and_kept(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"image_id": "00_red.png", "camera": "north"},
        {"image_id": "nowhere.png", "camera": 1},
    ]
    metadata = write_rows(tmp_path / "meta.jsonl", lines)
    config = colour_config(
        user_prompt="Camera {metadata.camera}, id {metadata.image_id}.", metadata_columns=("camera",)
    )
    config = config.model_copy(update={"paths": config.paths.model_copy(update={"metadata": metadata})})
    project = project_in(tmp_path, config)
    listed = PicturesStage(draw(tmp_path / "pictures", *COLOURS)).run(project)
    assert any("1 rows name pictures that are not there" in said for said in listed.warnings)
    with seeing() as server:
        annotate(project, server)
    said = sorted(words_in(request).splitlines()[-1] for request in server.requests)
    assert said[-1] == "Camera north, id 00_red.png."
    assert said[0] == "Camera None (no label), id 01_green.png."
    assert rows(project.path(ANNOTATIONS))[0]["camera"] == "north"


@pytest.mark.parametrize(
    ("annotate_table", "message"),
    [
        ({"vocabulary": ("one", "two"), "min_tags": 3}, "2 words, but annotate.min_tags asks for 3"),
        ({"taxonomy": {"colour": ()}}, "no values to choose from"),
        ({"flags": ("colour",)}, "both a facet and a flag"),
        ({"taxonomy": {"summary": ("a", "b")}}, "the name of another column"),
        ({"user_prompt": "{metadata.camra}"}, 'the metadata column "camra", which no picture has'),
    ],
)
def test_questions_that_can_not_be_answered_are_refused_before_anything_is_paid(
    tmp_path: Path, annotate_table: dict[str, Any], message: str
) -> None:
    project = begun(tmp_path, colour_config(**annotate_table))
    with seeing() as server:
        with pytest.raises(UserError, match=message) as error:
            annotate(project, server)
        assert error.value.fix
        assert not server.requests


def test_an_empty_folder_a_missing_list_and_a_picture_that_is_gone(tmp_path: Path) -> None:
    project = project_in(tmp_path, colour_config())
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="holds no picture that can be read"):
        PicturesStage(tmp_path / "empty").run(project)
    with pytest.raises(UserError, match="sightline make pictures"):
        AnnotateStage().run(project)
    project = begun(tmp_path)
    (tmp_path / "pictures" / "00_red.png").unlink()
    with seeing() as server:
        done = annotate(project, server)
    assert done.failures == {"bad-picture": 1}
    assert done.counts["annotated"] == 3


def test_one_picture_is_enough_to_annotate_and_is_warned_of(tmp_path: Path) -> None:
    project = project_in(tmp_path, colour_config())
    listed = PicturesStage(draw(tmp_path / "pictures", "red")).run(project)
    assert any("only one picture" in said for said in listed.warnings)
    with seeing() as server:
        assert annotate(project, server).counts["annotated"] == 1


def test_the_hash_of_the_questions_changes_with_all_that_may_change_an_answer() -> None:
    base = AnnotationQuestions("vllm/seer", colour_config())
    changed: list[dict[str, Any]] = [
        {"user_prompt": "x"}, {"system_prompt": "x"}, {"max_output_tokens": 1}, {"reasoning_effort": "low"},
        {"image_detail": "high"}, {"flags": ()}, {"vocabulary": ()}, {"min_tags": 1}, {"taxonomy": {}},
    ]  # fmt: skip
    hashes = {AnnotationQuestions("vllm/seer", colour_config(**change)).hash for change in changed}
    assert len({base.hash, AnnotationQuestions("vllm/other", colour_config()).hash, *hashes}) == len(changed) + 2
    assert base.hash == AnnotationQuestions("vllm/seer", colour_config()).hash


def test_names_of_columns_are_those_of_the_configuration(tmp_path: Path) -> None:
    columns = {"image_id": "photo", "summary": "caption", "tags": "labels", "confidence": "sure"}
    config = Config.model_validate({**colour_config().model_dump(), "columns": columns})
    project = begun(tmp_path, config)

    def reply(request: Received) -> Any:
        data = picture_in(request)
        assert data is not None
        said = describing(colour_of(data))
        return {{"summary": "caption", "tags": "labels", "confidence": "sure"}.get(key, key): said[key] for key in said}

    with seeing(reply) as server:
        annotate(project, server)
    row = rows(project.path(ANNOTATIONS))[0]
    assert {"photo", "caption", "labels", "sure"} <= row.keys()
    assert not {"image_id", "summary", "tags", "confidence"} & row.keys()


def test_a_picture_at_an_address_is_left_to_the_provider() -> None:
    request = AnnotationQuestions("m", colour_config()).request(Picture("a", "https://example.org/a.jpg"))
    shown = request.messages[-1].content[1]
    assert isinstance(shown, ImagePart)
    assert shown.source == "https://example.org/a.jpg"
