"""What a killed writer of a folder leaves is removed by the next one; what a living one writes, and all else, stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from sightline.errors import UserError
from sightline.io import locks, temporary_files
from sightline.io.files import whole_folder
from sightline.io.temporary_files import is_temporary, remove_abandoned, remove_temporary_files

needs_locks = pytest.mark.skipif(not locks.HAS_FLOCK, reason="there are no locks here")

WRITER = """
import os, sys
from pathlib import Path
from sightline.io.files import whole_folder

with whole_folder(sys.argv[1], marker="m") as fresh:
    (fresh / "deep").mkdir()
    (fresh / "deep" / "half").write_text("half")
    {then}
    (fresh / "m").write_text("whole")
"""
WAIT = "print('ready', flush=True); sys.stdin.readline()"
FORK = """
    child = os.fork()
    if child == 0:
        sys.stdin.readline()
        os._exit(0)
    print(child, flush=True)
    os.kill(os.getpid(), 9)
"""


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def write(target: Path) -> None:
    with whole_folder(target, marker="m") as fresh:
        (fresh / "m").write_text("whole")


@contextmanager
def writing(target: Path, then: str = WAIT) -> Iterator[subprocess.Popen[str]]:
    """A process that is in the middle of writing a folder, and goes on when it is told."""
    code = WRITER.format(then=then.strip())
    with subprocess.Popen(
        [sys.executable, "-c", code, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def unfinished(parent: Path) -> Path:
    (found,) = (entry for entry in parent.iterdir() if is_temporary(entry.name) and entry.is_dir())
    return found


@needs_locks
@pytest.mark.parametrize("again", ["out", "other"])
def test_what_a_killed_writer_left_goes_with_the_next_one(tmp_path: Path, again: str) -> None:
    with writing(tmp_path / "out", "os.kill(os.getpid(), 9)") as process:
        assert process.wait() == -signal.SIGKILL
    assert (unfinished(tmp_path) / "deep" / "half").is_file()
    write(tmp_path / again)
    assert names(tmp_path) == {again}


@needs_locks
def test_what_a_living_writer_writes_stays_until_it_is_dead(tmp_path: Path) -> None:
    with writing(tmp_path / "out") as process:
        assert first_line(process) == "ready"
        for target in ("out", "other"):
            write(tmp_path / target)
        assert (unfinished(tmp_path) / "deep" / "half").is_file()
        process.kill()
        assert process.wait() == -signal.SIGKILL
        assert (unfinished(tmp_path) / "deep" / "half").is_file()
        write(tmp_path / "other")
    assert names(tmp_path) == {"out", "other"}


@needs_locks
def test_a_living_writer_ends_as_if_it_were_alone(tmp_path: Path) -> None:
    with writing(tmp_path / "out") as process:
        assert first_line(process) == "ready"
        write(tmp_path / "other")
        process.communicate("go on\n")
        assert process.returncode == 0
    assert names(tmp_path) == {"out", "other"}
    assert names(tmp_path / "out") == {"m", "deep"}


@needs_locks
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_of_a_killed_writer_may_still_write(tmp_path: Path) -> None:
    with writing(tmp_path / "out", FORK) as process:
        assert first_line(process).isdigit()
        assert process.wait() == -signal.SIGKILL
        write(tmp_path / "other")
        assert (unfinished(tmp_path) / "deep" / "half").is_file()
        process.communicate("end\n")  # Its output ends when the child, too, has ended.
        write(tmp_path / "other")
    assert names(tmp_path) == {"other"}


def test_two_writers_of_one_process_leave_each_other_alone(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out", marker="m") as fresh:
        (fresh / "m").write_text("whole")
        write(tmp_path / "other")
    assert names(tmp_path) == {"out", "other"}
    assert (tmp_path / "out" / "m").read_text() == "whole"


def test_what_is_not_known_to_be_a_dead_writers_stays(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "photo.jpg").write_bytes(b"precious")
    for name in (
        ".sightline-0123456789abcdef.tmp",  # No lock: nobody knows whose it is.
        ".sightline-aaaaaaaaaaaaaaaa.tmp",
        ".sightline-aaaaaaaaaaaaaaaa.lock",
        ".sightline-dddddddddddddddd.tmp",
        ".sightline-EEEEEEEEEEEEEEEE.tmp",
        ".sightline-notes.tmp",
        ".sightline-demo",
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kept").touch()
    for name in (".sightline-EEEEEEEEEEEEEEEE.lock", ".sightline-notes.lock", ".sightline-cccccccccccccccc.lock"):
        (tmp_path / name).touch()
    (tmp_path / ".sightline-bbbbbbbbbbbbbbbb.tmp").write_text("a file that somebody may be writing")
    (tmp_path / ".sightline-cccccccccccccccc.tmp").symlink_to(elsewhere)
    (tmp_path / ".sightline-dddddddddddddddd.lock").symlink_to(elsewhere / "photo.jpg")
    before = set(tmp_path.rglob("*"))
    write(tmp_path / "out")
    assert set(tmp_path.rglob("*")) == {*before, tmp_path / "out", tmp_path / "out" / "m"}


@needs_locks
def test_a_lock_whose_folder_is_gone_goes(tmp_path: Path) -> None:
    (tmp_path / ".sightline-0123456789abcdef.lock").touch()
    write(tmp_path / "out")
    assert names(tmp_path) == {"out"}


@needs_locks
def test_a_claim_that_was_taken_for_a_dead_writers_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []

    def meanwhile(file: IO[bytes], *, wait: bool) -> bool:
        taken.append(file.name)
        if len(taken) < 3:  # Somebody else removes it before it is locked, or is about to.
            Path(file.name).unlink()
            return len(taken) == 1
        return locks.take_lock(file, wait=wait)

    monkeypatch.setattr(temporary_files, "take_lock", meanwhile)
    write(tmp_path / "out")
    assert len(set(taken)) == 3
    assert names(tmp_path) == {"out"}


def test_where_there_are_no_locks_folders_are_written_and_none_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = {".sightline-0123456789abcdef.lock", ".sightline-0123456789abcdef.tmp"}

    def refuse(file: IO[bytes], *, wait: bool) -> bool:
        raise OSError(37, "No locks available")

    (tmp_path / ".sightline-0123456789abcdef.lock").touch()
    (tmp_path / ".sightline-0123456789abcdef.tmp").mkdir()
    monkeypatch.setattr(temporary_files, "take_lock", refuse)
    write(tmp_path / "one")
    monkeypatch.setattr(temporary_files, "HAS_FLOCK", False)
    write(tmp_path / "two")
    assert names(tmp_path) == {"one", "two", *left}


def test_a_place_that_can_not_be_written_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="can't be written"):
        write(tmp_path / "file" / "out")
    remove_abandoned(tmp_path / "nowhere")
    assert names(tmp_path) == {"file"}


@needs_locks
def test_all_that_the_dead_left_in_a_folder_of_ones_own_goes(tmp_path: Path) -> None:
    with writing(tmp_path / "out", "os.kill(os.getpid(), 9)") as process:
        process.wait()
    (tmp_path / ".sightline-0123456789abcdef.tmp").write_text("half a file")
    (tmp_path / "kept").touch()
    remove_temporary_files(tmp_path)
    assert names(tmp_path) == {"kept"}
