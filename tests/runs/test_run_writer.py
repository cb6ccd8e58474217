"""A run that grows survives being killed at any moment, and goes on where it was."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from sightline.errors import UserError
from sightline.io import append_only_file
from sightline.runs.folder import RunWriter, read_run
from sightline.types import Attempt, Failure, LedgerEntry, Run, Text

HEADER = Run("bench", "system", (), seed=1, limits={"tasks": 10}, versions={"sightline": "0.1.0"})


def attempt(number: int) -> Attempt:
    return Attempt("task é", Text(f"answer {number}"), number)


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "run"
    with RunWriter(folder, HEADER) as writer:
        writer.append(attempt(0))
        writer.append(Attempt("other", Failure("timeout", "60 s"), 0))
        writer.entry(LedgerEntry("run", "model", usd=0.25))
        assert read_run(folder).attempts[0] == attempt(0)  # Before it is closed, too.
    run = read_run(folder)
    assert run == Run(
        "bench",
        "system",
        (attempt(0), Attempt("other", Failure("timeout", "60 s"), 0)),
        seed=1,
        limits={"tasks": 10},
        versions={"sightline": "0.1.0"},
        ledger=(LedgerEntry("run", "model", usd=0.25),),
    )


def test_a_run_goes_on_with_only_the_rest(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", HEADER) as writer:
        assert writer.done == frozenset()
        writer.append(attempt(0))
    with RunWriter(tmp_path / "run", HEADER) as writer:
        assert writer.done == {("task é", 0)}
        with pytest.raises(ValueError, match="is there already"):
            writer.append(attempt(0))
        writer.append(attempt(1))
    assert read_run(tmp_path / "run").attempts == (attempt(0), attempt(1))


def test_a_cut_at_any_byte_of_the_last_line_is_mended(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with RunWriter(folder, HEADER) as writer:
        writer.append(attempt(0))
        first = (folder / "predictions.jsonl").read_bytes()
        writer.append(attempt(1))
    whole = (folder / "predictions.jsonl").read_bytes()
    for length in range(len(first), len(whole)):
        (folder / "predictions.jsonl").write_bytes(whole[:length])
        with RunWriter(folder, HEADER) as writer:
            # Without its newline alone, the line is complete.
            expected = {("task é", 0), ("task é", 1)} if length == len(whole) - 1 else {("task é", 0)}
            assert writer.done == expected
            writer.append(attempt(2))
        assert (folder / "predictions.jsonl").read_bytes().count(b"\n") == len(expected) + 1
        assert read_run(folder).attempts[-1] == attempt(2)


def test_a_tail_longer_than_a_block_is_cut_off(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", HEADER) as writer:
        writer.append(attempt(0))
    with (tmp_path / "run" / "predictions.jsonl").open("ab") as file:
        file.write(b'{"task_id": "' + b"x" * (3 * append_only_file._BLOCK))
    with RunWriter(tmp_path / "run", HEADER) as writer:
        assert writer.done == {("task é", 0)}


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write

    def write_half(file: int, data: bytes) -> int:
        if len(data) < 20:
            raise OSError(28, "No space left on device")
        return real(file, data[: len(data) // 2])

    with RunWriter(tmp_path / "run", HEADER) as writer:
        writer.append(attempt(0))
        monkeypatch.setattr(os, "write", write_half)
        with pytest.raises(OSError, match="No space"):
            writer.append(attempt(1))
        monkeypatch.setattr(os, "write", real)
        assert writer.done == {("task é", 0)}
        writer.append(attempt(1))
    assert read_run(tmp_path / "run").attempts == (attempt(0), attempt(1))


def test_a_write_in_pieces_makes_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    with RunWriter(tmp_path / "run", HEADER) as writer:
        monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:7]))
        writer.append(attempt(0))
    assert read_run(tmp_path / "run").attempts == (attempt(0),)


def test_two_writers_at_once_are_refused(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", HEADER) as writer:
        with pytest.raises(UserError, match="another process is writing"):
            RunWriter(tmp_path / "run", HEADER)
        writer.append(attempt(0))
    with RunWriter(tmp_path / "run", HEADER) as writer:
        assert writer.done == {("task é", 0)}


@pytest.mark.parametrize(
    ("other", "name"),
    [
        (Run("other", "system", (), seed=1), "benchmark"),
        (Run("bench", "system", (), seed=1, benchmark_checksum="a" * 64), "benchmark_checksum"),
        (Run("bench", "other", (), seed=1), "system"),
        (Run("bench", "system", (), seed=1, parameters={"k": 5}), "parameters"),
        (Run("bench", "system", (), seed=2), "seed"),
    ],
)
def test_another_run_cannot_go_on_in_its_place(tmp_path: Path, other: Run, name: str) -> None:
    RunWriter(tmp_path / "run", HEADER).close()
    with pytest.raises(UserError, match=f"was started with {name} "):
        RunWriter(tmp_path / "run", other)
    RunWriter(tmp_path / "run", HEADER).close()


def test_limits_may_change_and_every_version_is_kept(tmp_path: Path) -> None:
    for version, tasks in (("0.1.0", 10), ("0.2.0", 20), ("0.2.0", 20)):
        header = Run("bench", "system", (), limits={"tasks": tasks}, versions={"sightline": version, "a": "1"})
        RunWriter(tmp_path / "run", header).close()
    run = read_run(tmp_path / "run")
    assert run.limits == {"tasks": 20}
    assert run.versions == {"sightline": "0.1.0, 0.2.0", "a": "1"}


def test_scores_of_fewer_attempts_are_dropped(tmp_path: Path) -> None:
    RunWriter(tmp_path / "run", HEADER).close()
    (tmp_path / "run" / "scores.json").write_text("{}")
    with RunWriter(tmp_path / "run", HEADER) as writer:
        assert (tmp_path / "run" / "scores.json").exists()
        writer.append(attempt(0))
        assert not (tmp_path / "run" / "scores.json").exists()


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").touch()
    with pytest.raises(UserError, match=r"holds other things and no run\.json"):
        RunWriter(tmp_path, HEADER)
    with pytest.raises(UserError, match="can't be made"):
        RunWriter(tmp_path / "photo.jpg", HEADER)
    assert [entry.name for entry in tmp_path.iterdir()] == ["photo.jpg"]


def test_a_writer_killed_before_the_header_was_there_can_begin_again(tmp_path: Path) -> None:
    (tmp_path / "predictions.jsonl").touch()
    (tmp_path / ".sightline-0123456789abcdef.tmp").write_bytes(b"{")
    with RunWriter(tmp_path, HEADER) as writer:
        writer.append(attempt(0))
    assert {entry.name for entry in tmp_path.iterdir()} == {"run.json", "predictions.jsonl", "ledger.jsonl"}


def test_a_wrong_line_in_the_middle_stops_the_going_on(tmp_path: Path) -> None:
    RunWriter(tmp_path / "run", HEADER).close()
    (tmp_path / "run" / "predictions.jsonl").write_text('{"task_id": "q"}\n')
    with pytest.raises(UserError, match="line 1"):
        RunWriter(tmp_path / "run", HEADER)


def test_a_header_has_no_attempts(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="without attempts"):
        RunWriter(tmp_path / "run", Run("bench", "system", (attempt(0),)))


def test_kill_9_at_random_moments_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    moments = random.Random(20240531)
    acknowledged: list[int] = []
    for _ in range(5):
        said = tmp_path / "said"
        with said.open("wb") as out:
            child = subprocess.Popen([sys.executable, Path(__file__).parent / "run_appender.py", folder], stdout=out)
        try:
            while said.stat().st_size == 0 and child.poll() is None:
                time.sleep(0.005)
            time.sleep(moments.uniform(0, 0.05))
            assert child.poll() is None, "the appender stopped by itself"
        finally:
            child.kill()
            child.wait()
        acknowledged += [int(line) for line in said.read_text().split()]
        kept = [one.number for one in read_run(folder).attempts]
        assert len(kept) == len(set(kept))
        assert set(acknowledged) <= set(kept)
        # At most the attempt in flight was kept without being acknowledged, once for each kill.
        assert len(kept) - len(acknowledged) <= 5
    assert len(acknowledged) == len(set(acknowledged))
    with RunWriter(folder, Run("bench", "system", ())) as writer:
        kept = [number for _, number in writer.done]
    rows = [orjson.loads(line) for line in (folder / "predictions.jsonl").read_bytes().splitlines()]
    assert sorted(row["attempt"] for row in rows) == sorted(kept)
    paid = {int(entry.task_id or -1) for entry in read_run(folder).ledger}
    assert set(acknowledged) <= paid
