"""`watch`: pictures are taken in as they arrive, by notices and by polling; a stop and a kill lose nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import sightline
from search_tools import Colours, paint
from sightline import folder_watch
from sightline.errors import MissingExtraError, UserError
from sightline.folder_watch import WatchedChanges, watch


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("watchfiles")
    monkeypatch.setattr(folder_watch, "_SETTLED", 0.3)
    monkeypatch.setattr(folder_watch, "_TICK", 0.1)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    paint(tmp_path / "photos" / "a.png", "red")
    return tmp_path / "photos"


def counts(batch: WatchedChanges) -> tuple[int, int, int, int]:
    found = batch.changes
    return found.new, found.changed, found.moved, found.deleted


@pytest.mark.parametrize("poll", [None, 0.2])
def test_every_kind_of_change_is_taken_in(photos: Path, tmp_path: Path, poll: float | None) -> None:
    batches = watch(photos, poll=poll, workspace=tmp_path / "ws")
    assert counts(next(batches)) == (1, 0, 0, 0)
    paint(photos / "sub" / "b.png", "blue")
    assert counts(next(batches)) == (1, 0, 0, 0)
    paint(photos / "sub" / "b.png", "yellow", size=(24, 24))
    os.utime(photos / "sub" / "b.png", (time.time() + 2,) * 2)  # Polling tells times apart by whole seconds.
    assert counts(next(batches)) == (0, 1, 0, 0)
    (photos / "other").mkdir()
    (photos / "sub" / "b.png").rename(photos / "other" / "c.png")
    assert counts(next(batches)) == (0, 0, 1, 0)
    (photos / "a.png").unlink()
    last = next(batches)
    assert counts(last) == (0, 0, 0, 1) and last.pictures == 1


def test_an_index_is_kept_up_to_date_and_a_broken_one_ends_nothing(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sightline.index(photos, embedder=Colours(), workspace=tmp_path / "ws")
    batches = watch(photos, workspace=tmp_path / "ws")
    assert next(batches).indexes == {}
    paint(photos / "b.png", "blue")
    assert "is not up to date" in next(batches).notes[0]  # Nobody knows an embedder of that name.
    monkeypatch.setattr(folder_watch, "build_index", lambda session, name, parts: sightline.index(
        name=name, embedder=Colours(), session=session, parts=parts))  # fmt: skip
    paint(photos / "c.png", "cyan")
    assert next(batches).indexes == {"default": 2}


def test_a_file_that_is_being_written_is_waited_for(photos: Path, tmp_path: Path) -> None:
    paint(tmp_path / "whole.png", "blue", size=(600, 600))
    data = (tmp_path / "whole.png").read_bytes()
    batches = watch(photos, workspace=tmp_path / "ws")
    next(batches)
    script = (
        "import sys, time\n"
        "data = open(sys.argv[1], 'rb').read()\n"
        "with open(sys.argv[2], 'wb') as file:\n"
        "    for at in range(8):\n"
        "        file.write(data[at * len(data) // 8 : (at + 1) * len(data) // 8]); file.flush(); time.sleep(0.1)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, tmp_path / "whole.png", photos / "new.png"]):
        found = next(batches)
    assert (photos / "new.png").read_bytes() == data
    assert counts(found) == (1, 0, 0, 0) and found.skipped == 0


def test_a_folder_that_goes_away_is_offline_until_it_is_back(photos: Path, tmp_path: Path) -> None:
    batches = watch(photos, workspace=tmp_path / "ws")
    next(batches)
    photos.rename(tmp_path / "unplugged")
    assert next(batches).changes.offline == 1
    paint(tmp_path / "unplugged" / "b.png", "blue")
    (tmp_path / "unplugged").rename(photos)
    assert next(batches).pictures == 2


def test_what_can_not_be_read_is_counted(photos: Path, tmp_path: Path) -> None:
    batches = watch(photos, workspace=tmp_path / "ws")
    next(batches)
    (photos / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno")
    found = next(batches)
    assert found.skipped == 1 and "1 skipped" in str(found)


def test_bad_input(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="There is no folder"):
        watch(tmp_path / "none", workspace=tmp_path / "ws")
    with pytest.raises(UserError, match="poll must be"):
        watch(photos, poll=0, workspace=tmp_path / "ws")
    with pytest.raises(UserError, match="inside the pictures' folder"):
        watch(photos, workspace=photos / "ws")
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(MissingExtraError, match=r"sightline\[watch\]"):
        watch(photos, workspace=tmp_path / "ws")


def test_network_drives_are_known_by_their_mount(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("disk / ext4 rw 0 0\nnas:/p /mnt/my\\040nas nfs4 rw 0 0\nd /mnt/my\\040nas/in ext4 rw 0 0\n")
    found = {name: folder_watch._is_network_drive(Path(name), mounts) for name in ("/mnt/my nas/2024", "/", "/mnt")}
    assert found == {"/mnt/my nas/2024": True, "/": False, "/mnt": False}
    assert not folder_watch._is_network_drive(Path("/mnt/my nas/in"), mounts)
    assert not folder_watch._is_network_drive(Path("/"), tmp_path / "none")


@pytest.fixture
def command(photos: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    line = [sys.executable, "-m", "sightline", "watch", str(photos), "--json", "--workspace", str(tmp_path / "ws")]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        yield running
        running.kill()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_lines_and_stops_cleanly(
    command: subprocess.Popen[str], photos: Path, how: signal.Signals
) -> None:
    assert command.stdout is not None and command.stderr is not None
    assert json.loads(command.stdout.readline())["changes"]["new"] == 1
    paint(photos / "b.png", "blue")
    assert json.loads(command.stdout.readline())["pictures"] == 2
    command.send_signal(how)
    assert command.wait(30) == 0 and "Traceback" not in command.stderr.read()


def test_what_came_after_a_kill_is_taken_in_at_the_next_start(
    command: subprocess.Popen[str], photos: Path, tmp_path: Path
) -> None:
    assert command.stdout is not None
    command.stdout.readline()
    command.kill()
    command.wait(30)
    paint(photos / "b.png", "blue")
    batches = watch(photos, workspace=tmp_path / "ws")
    assert counts(next(batches)) == (1, 0, 0, 0)
