"""Uploading to a stand-in of the hub: what arrives, what a stop costs, what is said, and never the token."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from hub_stand_in import Hub, serving_hub
from make_publishing import make_project, picture_id, published_id
from make_tools import with_calls
from sightline.authoring.dataset.folder import build_folder
from sightline.authoring.dataset.hub import upload
from sightline.authoring.dataset.ids import FILE as IDS
from sightline.authoring.dataset.manifest import PublishOptions, PublishTerms
from sightline.authoring.dataset.takedown import take_down
from sightline.authoring.project import Project
from sightline.authoring.project_benchmark import read_project_benchmark
from sightline.authoring.publish import PublishStage
from sightline.calls.session import CallOptions
from sightline.config.section import Hidden
from sightline.errors import SightlineError, UserError

pytest.importorskip("huggingface_hub")
pytest.importorskip("pyarrow")
REPO = "ada/harbour"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    with serving_hub() as found:
        yield found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def built(project: Project, terms: PublishTerms | None = None) -> Path:
    folder = project.folder / "dataset"
    wish = PublishOptions(date(2026, 11, 15), REPO, agreed=True, names=project.folder / IDS)
    build_folder(read_project_benchmark(project), folder, terms or PublishTerms(), project.config, wish)
    return folder


def send(folder: Path, hub: Hub, **options: Any) -> object:
    return upload(folder, REPO, Hidden(hub.token), endpoint=hub.url, **options)


def test_all_files_arrive_in_one_commit(project: Project, hub: Hub) -> None:
    folder = built(project)
    send(folder, hub)
    here = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert set(hub.files) == {*here, ".gitattributes"}
    assert all(hub.content(name) == path.read_bytes() for name, path in here.items())
    assert len(hub.commits) == 1
    assert hub.created == [{"name": "harbour", "organization": "ada", "visibility": "private", "type": "dataset"}]


def test_a_stop_in_the_middle_shows_nothing_and_loses_nothing(project: Project, hub: Hub) -> None:
    folder = built(project)
    hub.fail_puts = {2}
    with pytest.raises(SightlineError, match="stopped") as stopped:
        send(folder, hub)
    assert "again" in str(stopped.value)
    assert not hub.commits
    before = hub.puts
    send(folder, hub)
    assert len(hub.commits) == 1
    large = [name for name in hub.files if name.endswith(".parquet")]
    # One file had arrived before the stop and is not sent again; the refused one is.
    assert hub.puts - before == len(large) - 1


def test_a_refused_commit_is_made_the_next_time_without_sending_again(project: Project, hub: Hub) -> None:
    folder = built(project)
    hub.fail_commits = {1}
    with pytest.raises(SightlineError, match="stopped"):
        send(folder, hub)
    puts = hub.puts
    send(folder, hub)
    assert hub.puts == puts
    assert len(hub.commits) == 1


def test_the_same_folder_again_makes_no_commit(project: Project, hub: Hub) -> None:
    folder = built(project)
    send(folder, hub)
    send(folder, hub)
    assert len(hub.commits) == 1


def test_tables_that_are_gone_are_removed_and_files_of_others_stay(project: Project, hub: Hub) -> None:
    hub.files["notes/mine.txt"] = "1" * 40
    send(built(project, PublishTerms(splits="train=0.5,test=0.5")), hub)
    send(built(project, PublishTerms()), hub)
    assert "notes/mine.txt" in hub.files
    assert not [name for name in hub.files if "train-" in name]


def test_a_takedown_reaches_the_hub_and_drops_history(project: Project, hub: Hub) -> None:
    folder = built(project)
    send(folder, hub)
    old = hub.content("corpus/test-00000.parquet")
    take_down(picture_id(1), read_project_benchmark(project), folder, project)
    send(folder, hub, squash=True)
    assert hub.content("corpus/test-00000.parquet") != old
    there = published_id(project, 1)
    assert there in ids_in(old)
    assert there not in ids_in(hub.content("corpus/test-00000.parquet"))
    assert hub.squashed == 1


def ids_in(table: bytes) -> list[str]:
    import pyarrow.parquet as pq

    return list(pq.read_table(io.BytesIO(table), columns=["id"])["id"].to_pylist())


def test_the_token_is_never_said(project: Project, hub: Hub, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    folder = built(project)
    secret = "hf_wrong_but_secret"
    said: list[str] = []
    with pytest.raises(UserError, match="HF_TOKEN") as refused:
        upload(folder, REPO, Hidden(secret), endpoint=hub.url, tell=said.append)
    assert secret not in str(refused.value) + caplog.text + "".join(said)
    assert not any(secret.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_nothing_is_sent_without_a_token_or_to_no_place(project: Project, hub: Hub) -> None:
    folder = built(project)
    with pytest.raises(UserError, match="token"):
        upload(folder, REPO, None, endpoint=hub.url)
    with pytest.raises(UserError, match="owner/name"):
        upload(folder, "harbour", Hidden("x"), endpoint=hub.url)
    with pytest.raises(UserError, match="--repo"):
        PublishStage(agreed=True).run(project)
    with pytest.raises(UserError, match="local-only"):
        PublishStage(repo=REPO, agreed=True).run(with_calls(project, CallOptions(local_only=True)))
    assert not hub.calls


def test_a_hub_that_is_not_there_is_said_with_what_to_do(project: Project) -> None:
    with pytest.raises(SightlineError) as stopped:
        upload(built(project), REPO, Hidden("x"), endpoint="http://127.0.0.1:9")
    assert "again" in str(stopped.value)
