"""What surrounds the stages: clean, status, add-metadata, check-urls."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from PIL import Image

from app_in_thread import app_in_thread
from make_publishing import make_project, picture_id
from sightline.authoring import project as files
from sightline.authoring.assemble import AssembleStage
from sightline.authoring.cleanup import NOTES, clean, plan_cleanup, run_recorded
from sightline.authoring.dataset.ids import FILE as IDS
from sightline.authoring.metadata import MetadataStage
from sightline.authoring.project import Project
from sightline.authoring.publish import PublishStage
from sightline.authoring.stage import StageResult
from sightline.authoring.status import read_status
from sightline.authoring.summary import SummaryStage
from sightline.authoring.url_check import UrlCheck, addresses, check_urls
from sightline.calls.session import Session
from sightline.config import Config
from sightline.errors import UserError
from sightline.io.jsonl import read_jsonl, write_jsonl


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@dataclass(frozen=True)
class Writes:
    """A stage that writes one line to each of its files."""

    writes: tuple[str, ...]
    name: str = "test"
    reads: tuple[str, ...] = ()

    def run(self, project: Project) -> StageResult:
        for name in self.writes:
            with project.prepare(name).open("a") as file:
                file.write('{"image_id": "x"}\n')
        return StageResult(self.name, tuple(project.path(name) for name in self.writes))


# --- clean ----------------------------------------------------------------------------------------------------


def test_only_what_a_stage_wrote_goes(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", Session(config=Config()))
    run_recorded(Writes((files.PLAN, files.QUERIES)), project)
    (project.folder / "mine.txt").write_text("mine")
    found = plan_cleanup(project)
    assert {path.name for path in found.remove} == {"query_plan.jsonl", "queries.jsonl"}
    assert clean(project, found) == 2
    assert sorted(path.name for path in project.folder.iterdir()) == ["mine.txt"]


def test_a_file_that_was_there_before_is_never_taken_away(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", Session(config=Config()))
    project.prepare(files.ANNOTATIONS).write_text('{"image_id": "paid for"}\n')
    run_recorded(Writes((files.ANNOTATIONS,)), project)
    run_recorded(Writes((files.ANNOTATIONS,)), project)
    assert not plan_cleanup(project, finals=True).remove


def test_a_file_that_somebody_changed_stays(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", Session(config=Config()))
    run_recorded(Writes((files.PLAN,)), project)
    project.path(files.PLAN).write_text("edited by hand\n")
    found = plan_cleanup(project)
    assert not found.remove
    assert list(found.keep.values()) == ["it was changed after it was written"]
    run_recorded(Writes((files.PLAN,)), project)
    assert not plan_cleanup(project).remove


def test_files_elsewhere_are_not_ours_to_take(tmp_path: Path) -> None:
    outside = tmp_path / "theirs.jsonl"
    project = Project(tmp_path / "p", Session(config=Config()), given={files.PLAN: outside})
    project.folder.mkdir()
    run_recorded(Writes((files.PLAN,)), project)
    assert not plan_cleanup(project, finals=True).remove
    assert outside.is_file()


def test_results_stay_unless_asked_for_and_a_second_clean_has_nothing_to_do(project: Project) -> None:
    before = {path for path in project.folder.rglob("*") if path.is_file()}
    for stage in (SummaryStage(png=False), AssembleStage(), PublishStage(dry_run=True, agreed=True)):
        run_recorded(stage, project)
    (project.folder / "dataset" / "mine.txt").write_text("mine")
    found = plan_cleanup(project)
    assert {path.parent.name for path in found.remove} == {"summary"}
    clean(project, found)
    assert not (project.folder / "summary").exists()
    clean(project, plan_cleanup(project, finals=True))
    left = {path for path in project.folder.rglob("*") if path.is_file()}
    # Whoever has the data set may still ask about a picture by the id that it has there.
    assert left == {*before, project.folder / "dataset" / "mine.txt", project.folder / IDS}
    assert not (project.folder / NOTES).exists()
    assert not plan_cleanup(project, finals=True).remove


def test_what_killed_writers_left_goes_too(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", Session(config=Config()))
    run_recorded(Writes((files.PLAN,)), project)
    (project.folder / ".sightline-0123456789abcdef.tmp").write_text("half a file")
    assert clean(project, plan_cleanup(project)) == 1
    assert list(project.folder.iterdir()) == []


def test_lines_of_a_run_that_did_not_end_go(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", Session(config=Config()))
    project.folder.mkdir()
    project.partial(files.ANNOTATIONS).write_text("{}\n")
    assert plan_cleanup(project).remove == (project.partial(files.ANNOTATIONS),)


# --- status ---------------------------------------------------------------------------------------------------


def test_status_of_nothing_begins_at_the_beginning(tmp_path: Path) -> None:
    found = read_status(Project(tmp_path / "p", Session(config=Config())))
    assert found.next_stage == "pictures"
    assert not any(stage.done for stage in found.stages)


def test_status_counts_rows_and_failures_and_names_what_is_next(project: Project) -> None:
    write_jsonl(project.failed(files.ANNOTATIONS), [{"image_id": "x", "error": "refused"}])
    os.utime(project.path(files.SIMILARITY), (4e9, 4e9))
    found = {stage.stage: stage for stage in read_status(project).stages}
    assert found["annotate"].rows == 24
    assert found["annotate"].failed == 1
    assert found["judge"].rows == 64
    assert not found["similarity"].stale
    assert read_status(project).next_stage == "audit"


def test_status_says_what_is_older_than_what_it_was_made_from(project: Project) -> None:
    SummaryStage(png=False).run(project)
    os.utime(project.path(files.JUDGMENTS), (4e9, 4e9))
    found = {stage.stage: stage for stage in read_status(project).stages}
    assert found["summary"].stale
    assert not found["annotate"].stale


def test_status_knows_what_is_under_way(project: Project) -> None:
    project.partial(files.VERDICTS).write_text("{}\n")
    assert read_status(project).next_stage == "judge"
    project.partial(files.ANNOTATIONS).write_text("{}\n")
    assert read_status(project).next_stage == "annotate"


@pytest.mark.parametrize("name", [files.VERDICTS, files.JUDGMENTS])
def test_status_counts_what_judges_failed_at(project: Project, name: str) -> None:
    """Ours lie beside the verdicts, those of a batch to benchmaker beside the judgments."""
    write_jsonl(project.failed(name), [{"query_id": "x", "error": "refused"}])
    found = {stage.stage: stage for stage in read_status(project).stages}
    assert found["judge"].failed == 1


# --- add-metadata ---------------------------------------------------------------------------------------------


def rows(project: Project, name: str) -> list[dict[str, object]]:
    return [row for _, row in read_jsonl(project.path(name))]


def test_columns_reach_annotations_and_judgments(project: Project) -> None:
    MetadataStage(("station",)).run(project)
    for name in (files.ANNOTATIONS, files.JUDGMENTS, files.SIMILARITY):
        for row in rows(project, name):
            assert row["station"] == f"W{int(str(row['image_id'])[2:6]) % 4}"


def test_data_set_and_media_type_reach_judgments_without_being_asked_for(project: Project) -> None:
    MetadataStage().run(project)
    for row in rows(project, files.JUDGMENTS):
        assert row["mime_type"] == "image/jpeg"
        assert row["original_dataset_name"] == ("Left" if int(str(row["image_id"])[2:6]) % 2 == 0 else "Right")


def test_what_a_row_has_stays_unless_it_is_to_be_replaced(project: Project) -> None:
    first = rows(project, files.JUDGMENTS)
    write_jsonl(project.path(files.JUDGMENTS), [{**first[0], "station": "mine"}, *first[1:]])
    MetadataStage(("station",)).run(project)
    assert rows(project, files.JUDGMENTS)[0]["station"] == "mine"
    MetadataStage(("station",), replace=True).run(project)
    assert rows(project, files.JUDGMENTS)[0]["station"] != "mine"


def test_a_table_of_columns_may_be_csv_and_unknown_ids_are_counted(project: Project, tmp_path: Path) -> None:
    table = tmp_path / "columns.csv"
    table.write_text("image_id,camera\n" + "".join(f"{picture_id(n)},C{n}\n" for n in range(20)) + "strange,C\n")
    project.path(files.IMAGES).unlink()
    result = MetadataStage(("camera",), table).run(project)
    assert any("4 pictures" in line for line in result.warnings)
    assert {row["image_id"]: row.get("camera") for row in rows(project, files.ANNOTATIONS)}[picture_id(3)] == "C3"


def test_mistakes_have_a_way_out(project: Project, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="station"):
        MetadataStage(("statoin",)).run(project)
    with pytest.raises(UserError, match="--metadata"):
        MetadataStage((), tmp_path / "none.csv").run(project)
    empty = Project(tmp_path / "empty", Session(config=Config()))
    with pytest.raises(UserError, match="make pictures"):
        MetadataStage().run(empty)
    project.path(files.JUDGMENTS).write_text('{"image_id": "a"}\n[1]\n')
    with pytest.raises(UserError, match="line 2"):
        MetadataStage().run(project)


# --- check-urls -----------------------------------------------------------------------------------------------


@dataclass
class Web:
    """A small web of pictures."""

    url: str = ""
    most: int = 0
    now: int = 0
    asked: int = 0


@contextmanager
def pictures_served() -> Iterator[Web]:
    found = Web()
    out = io.BytesIO()
    Image.new("RGB", (4, 4)).save(out, "PNG")
    png = out.getvalue()

    async def answer(request: web.Request) -> web.Response:
        found.asked += 1
        found.now += 1
        found.most = max(found.most, found.now)
        await asyncio.sleep(0.01)
        found.now -= 1
        match request.path:
            case "/good.png":
                return web.Response(body=png, content_type="image/png")
            case "/unheaded" if request.method == "HEAD":
                return web.Response(status=405)
            case "/unheaded" | "/untyped":
                return web.Response(body=png, content_type="application/octet-stream")
            case "/page":
                return web.Response(text="<html>sorry</html>", content_type="text/html")
            case "/moved":
                raise web.HTTPFound("/good.png")
            case "/inside":
                raise web.HTTPFound("http://169.254.169.254/latest/meta-data")
            case "/round":
                raise web.HTTPFound("/round")
            case "/slow":
                await asyncio.sleep(30)
        return web.Response(status=404)

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", answer)
    with app_in_thread(app) as found.url:
        yield found


def asked(server: Web, *paths: str, **options: Any) -> dict[str, UrlCheck]:
    found = check_urls([(path, server.url + path) for path in paths], allow_private=True, **options)
    return {one.picture: one for one in found}


def test_addresses_are_told_apart() -> None:
    with pictures_served() as server:
        found = asked(server, "/good.png", "/unheaded", "/untyped", "/moved", "/page", "/gone", "/round")
        assert [found[path].problem for path in ("/good.png", "/unheaded", "/untyped", "/moved")] == [None] * 4
        assert found["/page"].problem == "what is there is no picture"
        assert found["/gone"].status == 404
        assert "redirects" in str(found["/round"].problem)
        assert asked(server, "/slow", timeout=0.2)["/slow"].problem == "no answer in time"
        assert check_urls([("x", "http://127.0.0.1:9/x")], allow_private=True)[0].problem


def test_no_more_are_asked_at_once_than_said() -> None:
    with pictures_served() as server:
        found = asked(server, *(f"/good.png?{number}" for number in range(30)), at_once=3)
        assert not any(one.problem for one in found.values())
        assert server.most <= 3


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0"])
def test_private_addresses_are_refused_before_anything_is_asked(host: str) -> None:
    with pictures_served() as server:
        port = server.url.rpartition(":")[2]
        (one,) = check_urls([("x", f"http://{host}:{port}/good.png")], timeout=5)
        assert "private" in str(one.problem)
        assert server.asked == 0


def test_a_name_that_leads_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(self: object, host: str, port: int = 0, family: int = 0) -> list[dict[str, object]]:
        return [{"hostname": host, "host": "127.0.0.1", "port": port, "family": family, "proto": 0, "flags": 0}]

    monkeypatch.setattr("aiohttp.resolver.ThreadedResolver.resolve", resolve)
    with pictures_served() as server:
        port = server.url.rpartition(":")[2]
        (one,) = check_urls([("x", f"http://pictures.example.org:{port}/good.png")], timeout=5)
        assert "private" in str(one.problem)
        assert server.asked == 0


def test_a_redirect_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.authoring.url_check.is_public", lambda ip: not str(ip).startswith("169.254."))
    with pictures_served() as server:
        (one,) = check_urls([("x", f"{server.url}/inside")], timeout=5)
        assert "private" in str(one.problem)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/x", "http://", "gopher://x"])
def test_only_web_addresses_are_asked(url: str) -> None:
    assert check_urls([("x", url)])[0].problem


def test_addresses_come_from_the_list_or_from_the_configured_place(project: Project) -> None:
    listed = dict(addresses(project))
    assert listed[picture_id(1)] == f"https://example.org/{picture_id(1)}"
    write_jsonl(project.path(files.IMAGES), [{"image_id": "a/b c#1.jpg"}])
    paths = project.config.paths.model_copy(update={"pictures_url": "https://pictures.example.org/all/"})
    config = project.config.model_copy(update={"paths": paths})
    assert addresses(project.with_config(config)) == [
        ("a/b c#1.jpg", "https://pictures.example.org/all/a/b%20c%231.jpg")
    ]
    with pytest.raises(UserError, match="pictures_url"):
        addresses(project)
