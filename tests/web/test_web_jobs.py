"""Jobs: from nothing to a search in a browser; jobs that are paused, killed, fail, or outlive the app."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from pictures import random_picture
from sightline.errors import UserError
from sightline.web.app import build
from sightline.web.jobs import Job, Jobs, JobStatus
from sightline.web.server import open_app
from web_samples import client, forgery_token, serving, shoot

Look = Callable[..., Any]


def make_pictures(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        random_picture(number).save(folder / f"beach-{number:03}.jpg")
    return folder


def waited(jobs: Jobs, id_: str, *states: str) -> JobStatus:
    for _ in range(400):
        status = jobs.find(id_)
        if status is not None and status.state in states:
            return status
        time.sleep(0.1)
    raise AssertionError(f"{status} and not {states}")


def test_from_nothing_to_a_search(tmp_path: Path, looking: Look) -> None:
    pictures = make_pictures(tmp_path / "photos", 12)
    with serving(tmp_path / "ws", tmp_path / "ws") as app:
        page = looking(app).go("/")
        page.locator("input.folder").type(f"{tmp_path}/pho")
        page.locator(".folders button", has_text="photos/").click()
        page.locator("input.folder").fill(str(pictures))
        page.locator("select[name=embedder]").select_option("none")
        page.get_by_text("Add them").click()
        page.locator(".job").first.wait_for()
        shoot(page, "start")
        page.locator("form.find input").wait_for()  # As soon as there are pictures, without a click.
        page.goto(f"{app.address}/jobs")
        page.locator(".job.done", has_text="Index").wait_for(timeout=120_000)
        page.locator(".job.done", has_text="Scan").get_by_text("Log and command").click()
        assert f"sightline scan {pictures}" in page.locator(".job", has_text="Scan").inner_text()
        shoot(page, "jobs")
        page.locator("form.find input").fill("beach")
        page.keyboard.press("Enter")
        page.locator("#grid .tile").nth(11).wait_for()
        page.goto("about:blank")  # It would go on asking an app that has ended.


def test_a_job_is_paused_goes_on_and_outlives_the_app(tmp_path: Path) -> None:
    pictures = make_pictures(tmp_path / "photos", 40)
    jobs = Jobs(tmp_path / "ws")
    job = jobs.start(["scan", str(pictures)])
    jobs.end(job.id, "paused")
    assert waited(jobs, job.id, "paused", "done").state in ("paused", "done")
    jobs.again(job.id)
    other = Jobs(tmp_path / "ws")  # As after a restart: nothing is known but what is on disk.
    assert "40 pictures" in waited(other, job.id, "done").log
    with pytest.raises(UserError, match="can't be started"):
        jobs.start(["demo"])


def test_a_job_that_was_killed_says_so_and_can_be_run_again(tmp_path: Path) -> None:
    pictures = make_pictures(tmp_path / "photos", 4)
    jobs = Jobs(tmp_path / "ws")
    job = jobs.start(["scan", str(pictures)])
    jobs._end(job, at_once=True)
    other = Jobs(tmp_path / "ws")
    assert waited(other, job.id, "died").state == "died"
    other.again(job.id)
    assert waited(other, job.id, "done").log.count("$ sightline scan") == 2
    other.forget(job.id)
    assert other.all() == []


def test_what_a_job_said_since_it_was_started_last(tmp_path: Path) -> None:
    job = Job("x", ("scan", "/photos"), 0.0)
    log = "$ sightline scan /photos\n  old\n$ sightline scan /photos\n  2 pictures\n    1 .txt\n"
    assert JobStatus(job, "done", "", log=log).output == "2 pictures\n  1 .txt"
    assert JobStatus(job, "running", "", log="$ sightline scan /photos\n").output == ""


def test_a_failing_job_shows_its_error(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path / "ws")
    status = waited(jobs, jobs.start(["scan", str(tmp_path / "nowhere")]).id, "failed")
    assert "There is no folder" in status.log


def test_jobs_are_started_by_our_own_pages_on_this_machine_alone(tmp_path: Path) -> None:
    scan = {"verb": "scan", "folder": str(tmp_path), "embedder": "none"}
    desk = open_app(tmp_path / "ws", port=8377)
    here = client(desk)
    assert here.post("/jobs", data=scan).status_code == 403
    token = forgery_token(here.get("/jobs").text)
    for wrong in ({"verb": "demo"}, {"folder": "relative"}, {"folder": str(tmp_path / "no")}, {"folder": "--help"}):
        assert here.post("/jobs", data=scan | {"csrf": token} | wrong).status_code in (400, 404)
    page = here.post("/jobs", data=scan | {"csrf": token, "folder": str(tmp_path / "no"), "metadata": "m.csv"}).text
    assert f"There is no folder {tmp_path}/no." in page and f'value="{tmp_path}/no"' in page, "what was typed stays"
    assert 'value="m.csv"' in page and '<option value="none" selected>' in page
    (tmp_path / "photos").mkdir()
    assert here.get("/api/folders", params={"path": f"{tmp_path}/ph"}).json() == [f"{tmp_path}/photos/"]
    (tmp_path / "takeout-1.zip").touch()
    offered = here.get("/api/folders", params={"path": f"{tmp_path}/", "archives": "1"}).json()
    assert offered == [f"{tmp_path}/photos/", f"{tmp_path}/takeout-1.zip"]
    archive = {"folder": str(tmp_path / "takeout-1.zip")}
    assert here.post("/jobs", data=scan | archive | {"csrf": token, "verb": "make", "name": "x"}).status_code == 400
    desk = open_app(tmp_path / "ws", host="0.0.0.0", port=8377)
    others = TestClient(build(desk), base_url="http://192.168.1.5:8377")
    others.cookies.set("sightline-8377-token", str(desk.guard.token))
    token = forgery_token(others.get("/jobs").text)
    assert others.post("/jobs", data=scan | {"csrf": token}).status_code == 403
    assert others.get("/api/folders").status_code == 403
    assert not (tmp_path / "ws" / "jobs").exists()


def test_a_comparison_names_its_benchmark_and_can_be_a_rehearsal(copied: Path) -> None:
    state = open_app(copied / "workspace", (copied,), port=8377)
    here = client(state)
    first, second = list(state.library.places.runs)[:2]
    form = here.get("/jobs?verb=compare").text
    assert f"<option selected>{second}</option>" in form, "a run is not compared with itself by default"
    fields = {"verb": "compare", "run": first, "other": second, "rehearsal": "1", "csrf": forgery_token(form)}
    assert here.post("/jobs", data=fields, follow_redirects=False).status_code == 303
    (job,) = state.jobs.all()
    folder, *rest = job.job.arguments[1:]
    assert Path(folder).name == first and Path(rest[1]).name == second and rest[2] == "--rehearsal"
    assert rest[0] == f"--benchmark={state.library.places.benchmarks['benchmark']}"
    waited(state.jobs, job.job.id, "done", "failed")


def test_what_a_job_made_is_a_click_away(copied: Path) -> None:
    state = open_app(copied / "workspace", (copied,), port=8377)
    here = client(state)
    first = next(iter(state.library.places.runs))
    token = forgery_token(here.get("/jobs").text)
    for fields in ({"verb": "score", "run": first}, {"verb": "report", "name": "all"}):
        assert here.post("/jobs", data=fields | {"csrf": token}, follow_redirects=False).status_code == 303
        waited(state.jobs, state.jobs.all()[0].job.id, "done")
    page = here.get("/jobs").text
    assert f'<a href="/runs/{first}">Open</a>' in page and '<a href="/report/all">Open</a>' in page
    report = here.get("/report/all")
    assert "Sightline report" in report.text and "default-src 'none'" in report.headers["content-security-policy"]
    assert here.get("/report/none").status_code == here.get("/report/..%2Fx").status_code == 404
