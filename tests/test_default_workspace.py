"""Which workspace is used when none is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import sightline
from command_line import Cli
from sightline.calls.session import Session
from sightline.errors import UserError
from sightline.io.workspace import default_workspace, workspace_option
from sightline.retrieval.index.manifest import find_manifest


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("SIGHTLINE_WORKSPACE", raising=False)
    return folder


def test_the_nearest_folder_of_that_name_then_the_users_own(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert default_workspace() == tmp_path / "data" / "sightline" == Session().workspace
    (tmp_path / ".sightline").mkdir()
    (here.parent / ".sightline").write_text("a file is no workspace")
    assert default_workspace() == tmp_path / ".sightline"
    (here / ".sightline").mkdir()
    assert default_workspace() == Path(".sightline") == Session().workspace
    monkeypatch.setenv("SIGHTLINE_WORKSPACE", "~/ws")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_workspace() == tmp_path / "ws"


@pytest.mark.parametrize(
    ("platform", "environment", "place"),
    [
        ("linux", {}, ".local/share/sightline"),
        ("darwin", {}, "Library/Application Support/sightline"),
        ("win32", {}, "AppData/Local/sightline"),
        ("win32", {"LOCALAPPDATA": "local"}, None),
    ],
)
@pytest.mark.usefixtures("here")
def test_each_platform_has_its_place_for_data(
    platform: str, environment: dict[str, str], place: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert default_workspace() == (Path("local/sightline") if place is None else Path.home() / place)


def test_a_suggested_command_names_the_workspace_where_one_was_given(here: Path) -> None:
    assert workspace_option(default_workspace()) == "" == workspace_option(None)
    assert workspace_option(here / "my ws") == f" --workspace '{here}/my ws'"
    for workspace, said in ((default_workspace(), "sightline index"), (Path("ws"), "sightline index --workspace ws")):
        with pytest.raises(UserError) as caught:
            find_manifest(workspace, "default")
        assert (caught.value.fix or "").endswith(said)


def test_a_scan_from_inside_the_pictures_and_a_search_from_elsewhere(cli: Cli, tmp_path: Path) -> None:
    from PIL import Image

    (tmp_path / "Pictures").mkdir()
    Image.new("RGB", (64, 48), "red").save(tmp_path / "Pictures" / "red.png")
    data = {"XDG_DATA_HOME": str(tmp_path / "data")}
    scanned = cli("scan", "Pictures", "-v", "--json", **data)
    assert scanned.returncode == 0 and '"pictures": 1' in scanned.stdout
    assert f"Workspace: {tmp_path}/data/sightline" in scanned.stderr
    exported = cli("export", "corpus-jsonl", tmp_path / "data" / "sightline", "--out", "out.jsonl", **data)
    assert exported.returncode == 0, exported.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Pictures", "data", "out.jsonl"]
    assert [path.name for path in (tmp_path / "Pictures").iterdir()] == ["red.png"]


def test_a_workspace_inside_the_pictures_is_refused(here: Path) -> None:
    (here / ".sightline").mkdir()
    with pytest.raises(UserError, match="inside the pictures' folder"):
        sightline.scan(here)
