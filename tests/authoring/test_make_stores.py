"""Lines that grow while a stage asks: what a stop leaves of them, and who may add to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make_tools import colour_config, draw, rows
from sightline.authoring import project as files
from sightline.authoring.annotate import AnnotationStore
from sightline.authoring.cleanup import NOTES, plan_cleanup
from sightline.authoring.judge_verdicts import JudgeVerdict, VerdictStore
from sightline.authoring.pictures import PicturesStage
from sightline.authoring.project import Project
from sightline.authoring.project_files import read_annotations
from sightline.calls.session import Session
from sightline.errors import UserError
from sightline.io import locks
from sightline.types import Annotation

STORES = [(AnnotationStore, files.ANNOTATIONS), (VerdictStore, files.VERDICTS)]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project", Session(tmp_path / "ws", colour_config()))


def add(store: Any, picture: str) -> None:
    if isinstance(store, AnnotationStore):
        store.add(picture, Annotation(picture, facets={"colour": "red"}))
    else:
        store.add([JudgeVerdict("q", picture, "judge", 1)])


@pytest.mark.parametrize(("kind", "name"), STORES)
def test_half_a_line_spoils_no_line_after_it_however_often_one_is_stopped(
    project: Project, kind: Any, name: str
) -> None:
    for picture in ("a", "b", "c"):
        store = kind(project)
        store.__enter__()
        add(store, picture)
        store._file.close()  # As a kill leaves it: nothing else is written any more.
        with project.partial(name).open("ab") as file:
            file.write(b'{"half": "a li')
    with kind(project) as store:
        add(store, "d")
    assert not project.partial(name).exists()
    assert [row.get("picture") or row["image_id"] for row in rows(project.path(name))] == ["a", "b", "c", "d"]


@pytest.mark.skipif(not locks.HAS_FLOCK, reason="there are no locks here")
@pytest.mark.parametrize(("kind", "name"), STORES)
def test_a_second_writer_is_refused(project: Project, kind: Any, name: str) -> None:
    with kind(project) as store:
        with pytest.raises(UserError, match="another process is writing"):
            kind(project).__enter__()
        add(store, "a")
    with kind(project) as store:
        add(store, "b")
    assert len(rows(project.path(name))) == 2


@pytest.mark.parametrize(("kind", "name"), STORES)
def test_what_is_not_json_is_named_with_what_to_do(project: Project, kind: Any, name: str) -> None:
    project.prepare(name).write_text("garbage\n")
    with pytest.raises(UserError, match="line 1: expected one JSON value") as refused:
        kind(project)
    assert refused.value.fix == "correct the line, or remove it"


def test_so_it_is_where_annotations_are_only_read_and_in_the_notes(project: Project) -> None:
    path = project.prepare(files.ANNOTATIONS)
    path.write_text("garbage\n")
    with pytest.raises(UserError, match="line 1: expected one JSON value") as refused:
        read_annotations(path, project.config)
    assert refused.value.fix == "correct the line, or remove it"
    (project.folder / NOTES).write_text("{")
    with pytest.raises(UserError, match="expected JSON") as refused:
        plan_cleanup(project)
    assert refused.value.fix is not None and refused.value.fix.startswith("remove it")


def test_a_broken_list_of_pictures_is_mended_by_the_stage_that_writes_it(project: Project, tmp_path: Path) -> None:
    stage = PicturesStage(draw(tmp_path / "pictures", "red", "green"))
    stage.run(project)
    project.path(files.ANNOTATIONS).write_text("{}\n")
    listed = project.path(files.IMAGES)
    before = listed.read_bytes()
    listed.write_bytes(before + b"garbage\n[]\n")
    stage.run(project)
    assert listed.read_bytes() == before
