"""A writer that dies, or can't write, is said: no run ends as if all were written."""

from __future__ import annotations

import errno
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reason.think_tools import ONE, script, things, work_of
from sightline.errors import UserError
from sightline.reason.traces import pipeline, shards
from sightline.reason.traces.pipeline import make_traces
from sightline.reason.traces.questions import Prompts, Template
from sightline.reason.traces.records import CheckJob, TeacherReplies, TeacherReply, TraceRules
from sightline.reason.traces.teachers import TraceSettings
from sightline.reason.traces.writer_process import WriterTarget, write_in_subprocess

MANY = 400
PROMPTS = Prompts((Template.of("{label}"),))


def jobs() -> Iterator[CheckJob]:
    for number, subject in enumerate(things([f"thing {number}" for number in range(MANY)])):
        (question,) = PROMPTS.questions(subject)
        words = " ".join(f"word{number * 40 + one}" for one in range(40))
        yield CheckJob(
            question,
            TeacherReplies((TeacherReply(f"I look at {words}.", f"It is {words}."),)),
            TraceRules(language=None),
        )


def place(folder: Path) -> WriterTarget:
    (folder / "data").mkdir()
    (folder / "rejected").mkdir()
    return WriterTarget(folder, ("one",), "jsonl", 1_000)


def started(monkeypatch: pytest.MonkeyPatch, **options: Any) -> list[subprocess.Popen[bytes]]:
    """The process that writes, as soon as there is one."""
    found: list[subprocess.Popen[bytes]] = []
    popen: Any = subprocess.Popen

    def start(*arguments: Any, **given: Any) -> subprocess.Popen[bytes]:
        found.append(popen(*arguments, **given, **options))
        return found[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    return found


@pytest.mark.parametrize("after", [0, 200, MANY])
def test_a_writer_that_was_killed_is_said(tmp_path: Path, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    processes = started(monkeypatch)

    def killing() -> Iterator[CheckJob]:
        for number, job in enumerate(jobs()):
            if number == after:
                processes[0].kill()
                processes[0].wait()
            yield job
        if after == MANY:
            processes[0].kill()

    with pytest.raises(UserError, match=r"ended before its work was done \(killed by signal 9.*\n.*run the same comm"):
        write_in_subprocess(killing(), place(tmp_path))


def test_a_writer_that_can_write_no_more_says_which_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 64 << 10
    started(monkeypatch, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    with pytest.raises(UserError, match=r"data/train-00000\.jsonl can't be written: File too large.*\n.*run the same"):
        write_in_subprocess(jobs(), place(tmp_path))


def test_a_broken_pipe_of_who_asks_is_not_taken_for_the_writers(tmp_path: Path) -> None:
    def asking() -> Iterator[CheckJob]:
        yield from jobs()
        raise BrokenPipeError(errno.EPIPE, "a socket")

    with pytest.raises(BrokenPipeError, match="a socket"):
        write_in_subprocess(asking(), place(tmp_path))


@pytest.mark.parametrize("few", [256, 0], ids=["here", "elsewhere"])
def test_what_was_said_before_a_disk_was_full_is_not_asked_again(
    tmp_path: Path, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_FEW", few)
    out, teacher = tmp_path / "out", script(tmp_path / "one.jsonl", [{"text": ONE.format("a dog")}])
    work = work_of(things(["dog"]), TraceSettings((teacher,), PROMPTS), tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(shards, "write_jsonl", no_space)
        started(patched, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        with pytest.raises(UserError, match=r"out/.* can't be written.*\n.*run the same command again"):
            make_traces(work, out, format_="jsonl")
    script(tmp_path / "one.jsonl", [{"failure": "bad-request"}])
    assert make_traces(work, out).failed == {}


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")
