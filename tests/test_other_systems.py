"""What is done where a system has no `fcntl`, no `O_DIRECTORY`, no `poll` and no links: locks, files, replies, output.

The same tests as elsewhere, and tests of locks, in a Python from which these names were taken away.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.io.locks import locked, take_lock

TESTS = Path(__file__).parent
POORER = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS / "other_system"), os.environ.get("PYTHONPATH", "")])}
HOLD = """
import sys
from pathlib import Path
from sightline.io.locks import locked
with locked(Path(sys.argv[1]), wait=False) as ours:
    print(ours, flush=True)
    sys.stdin.readline()
"""
# Tests that make links themselves, or are of what flock alone does: the claims of a journal, what the dead left.
NOT_THERE = (
    "through_a_link or everything_else_is_carried or owner_alone or what_a_killed or dead or living or fork or mount "
    "or claims or test_links or a_link_to"
)


def run(code: str, *arguments: str) -> str:
    call = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(call, env=POORER, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("environment", [POORER, None], ids=["no fcntl", "this system"])
def test_one_process_at_a_time_has_the_lock_of_a_folder(tmp_path: Path, environment: dict[str, str] | None) -> None:
    (tmp_path / "lock").write_bytes(b"what stands in it stays readable")
    call = [sys.executable, "-c", HOLD, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(call, env=environment, text=True, **pipes) as first:  # type: ignore[call-overload]
        assert first.stdout.readline() == "True\n"
        second = subprocess.run(call, env=environment, input="\n", capture_output=True, text=True, check=False)
        assert second.stdout == "False\n"
        first.kill()
    third = subprocess.run(call, env=environment, input="\n", capture_output=True, text=True, check=True)
    assert third.stdout == "True\n"


def test_who_waits_for_a_lock_gets_it_and_the_place_in_the_file_stays(tmp_path: Path) -> None:
    code = """
import sys, threading
from pathlib import Path
from sightline.io.locks import fcntl, take_lock
path = Path(sys.argv[1])
first, second = path.open("r+b"), path.open("r+b")
second.seek(2)
print(fcntl, take_lock(first, wait=False), take_lock(second, wait=False))
threading.Timer(0.2, first.close).start()
print(take_lock(second, wait=True), second.tell(), second.read())
"""
    (tmp_path / "file").write_bytes(b"abcd")
    assert run(code, str(tmp_path / "file")).splitlines() == ["None True False", "True 2 b'cd'"]


BOTH_IN = """
import sys
from pathlib import Path
from sightline.errors import UserError
out = Path(sys.argv[1])
{guard}
with guard():
    try:
        with guard():
            print("both are in")
    except UserError as error:
        print(error.message.removeprefix(str(out)))
"""


def test_two_processes_do_not_work_on_one_batch(tmp_path: Path) -> None:
    guard = "from sightline.calls.batches.job import BatchJob\njob = object.__new__(BatchJob)\n"
    guard += 'object.__setattr__(job, "folder", out)\nguard = job.locked'
    assert run(BOTH_IN.format(guard=guard), str(tmp_path)) == f"another process is working on {tmp_path}."


def test_two_processes_do_not_train_in_one_folder(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    guard = "from sightline.reason.train.checkpoint import held\nguard = lambda: held(out)"
    assert run(BOTH_IN.format(guard=guard), str(tmp_path)) == ": another training writes here at this moment."


def test_output_that_nobody_reads_any_more_is_no_fault(tmp_path: Path) -> None:
    call = f"{sys.executable} -m sightline formats | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", call], env=POORER, capture_output=True, text=True, check=False)
    assert done.stdout == "0\n" and not done.stderr.strip()


@pytest.mark.slow
def test_the_same_tests_hold_there() -> None:
    pytest.importorskip("hypothesis")
    files = ["test_io.py", "test_database.py", "test_leftovers.py", "calls/test_calls_journal.py"]
    files += ["corpus/test_corpus_scan.py", "corpus/test_corpus_album.py"]
    options = ["-p", "no:cacheprovider", "-o", "addopts=", "-m", "not slow", "-k", f"not ({NOT_THERE})"]
    call = [sys.executable, "-m", "pytest", *options, *(str(TESTS / file) for file in files)]
    done = subprocess.run(call, env=POORER, cwd=TESTS.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) > 60


def test_locks_of_this_system_are_the_ones_that_are_taken(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as one, (tmp_path / "a").open("ab") as two:
        assert take_lock(one, wait=False) and not take_lock(two, wait=False)
    with locked(tmp_path / "b", wait=True) as ours:
        assert ours
