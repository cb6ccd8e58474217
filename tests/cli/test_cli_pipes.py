"""Who reads our output may leave, as `head` does; any other pipe that breaks is no success."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import Commands, plain_environment

MAIN = """
import sys
from sightline.cli import app

def verb(*_, **__):
    {body}

app.build = lambda _: verb
app.main(['verb'])
"""
BROKEN = "raise BrokenPipeError(32, 'Broken pipe')"


def start(body: str, **streams: Any) -> subprocess.Popen[str]:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.Popen([sys.executable, "-c", MAIN.format(body=body)], text=True, env=buffered, **streams)


def test_a_pipe_that_breaks_inside_is_no_success() -> None:
    for streams in ({"stdout": subprocess.PIPE}, {"stdout": subprocess.DEVNULL}):
        with start(BROKEN, stderr=subprocess.PIPE, **streams) as running:
            _, said = running.communicate(timeout=60)
        assert running.returncode == 1 and "Broken pipe" in said


def test_nor_where_nothing_can_be_told_of_our_output() -> None:
    code = f"import sys; sys.stdout = None\n{MAIN.format(body=BROKEN)}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1 and "Broken pipe" in ended.stderr


@pytest.mark.parametrize(
    "body",
    [
        "sys.stdout.write('x' * 1_000_000)",
        "sys.stdout.write('a few words')",
        "[sys.stdout.write(f'{number}\\n') for number in range(100_000)]",
        "sys.stdout.write('x' * 1_000_000), sys.stderr.write('done')",
    ],
)
def test_a_reader_who_left_is_no_fault(body: str) -> None:
    waiting = "sys.stdin.read(), "
    with start(waiting + body, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None and running.stdout is not None and running.stderr is not None
        running.stdout.close()
        running.stdin.close()
        said = running.stderr.read()
        assert running.wait(60) == 0 and said in ("", "done")


def test_nor_is_one_who_read_what_we_say_beside() -> None:
    body = "sys.stdin.read(), sys.stderr.write('x' * 1_000_000 + '\\n')"
    with start(body, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None and running.stdout is not None and running.stderr is not None
        running.stderr.close()
        running.stdin.close()
        assert running.stdout.read() == "" and running.wait(60) == 0


def test_a_full_disk_is_said_with_what_to_do() -> None:
    with start("raise OSError(28, 'No space left on device')", stderr=subprocess.PIPE) as running:
        _, said = running.communicate(timeout=60)
    assert running.returncode == 2
    assert (
        "error: The output: No space left on device.\n" in said and "Make room, and run the same command again" in said
    )


@pytest.mark.parametrize("piped", ["qrels.txt", "run.txt"])
def test_trec_files_may_come_from_standard_input(commands: Commands, tmp_path: Path, piped: str) -> None:
    files = {"qrels.txt": "q1 0 a 1\nq1 0 b 0\n", "run.txt": "q1 Q0 b 1 2.0 t\nq1 Q0 a 2 1.0 t\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    given = ["-" if name == piped else str(tmp_path / name) for name in files]
    words = ["score", "trec", *given, "--metrics", "recip_rank", "--json"]
    done = commands.run(words, tmp_path, plain_environment(), stdin=files[piped])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["recip_rank"]["mean"] == 0.5
