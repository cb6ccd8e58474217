"""A run whose files were changed after it was written is noticed wherever a score is printed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import orjson
import pytest

import sightline
from runs.run_world import coloured
from sightline.metrics.scores import Scores
from sightline.runs.folder import RunWriter, read_run, write_run
from sightline.runs.integrity import CHANGED_RUN
from sightline.types import Attempt, LedgerEntry, Run, Text

HEADER = Run("bench", "system", (), seed=1)


@pytest.fixture
def scored(tmp_path: Path) -> tuple[Path, Path]:
    bench = coloured(tmp_path / "bench")
    run = tmp_path / "run"
    sightline.run(bench, "oracle", run, workspace=tmp_path / "ws")
    sightline.score(bench, run)
    return bench, run


def codes(scores: Scores) -> list[str]:
    return [warning.code for warning in scores.warnings]


def spoil(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_changed_prediction_is_noticed_by_whoever_prints_a_score(scored: tuple[Path, Path], tmp_path: Path) -> None:
    bench, run = scored
    assert sightline.validate(run).valid
    assert CHANGED_RUN not in codes(sightline.score(bench, run))
    spoil(run / "predictions.jsonl", "ana/red.png", "ana/blue.png")
    found = sightline.validate(run)
    assert not found.valid and "predictions.jsonl: has changed since it was written" in str(found)
    assert CHANGED_RUN in codes(sightline.score(bench, run))
    other = tmp_path / "other"
    sightline.run(bench, "oracle:name=second", other, workspace=tmp_path / "ws")
    sightline.score(bench, other)
    board = sightline.leaderboard(tmp_path, rehearsal=True)
    assert CHANGED_RUN in {warning.code for warning in board.warnings}
    compared = sightline.compare([run, other], rehearsal=True)
    assert CHANGED_RUN in {warning.code for warning in compared.warnings}


def test_what_an_attempt_cost_is_kept_where_its_answer_can_not_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, out = coloured(tmp_path / "bench"), tmp_path / "run"

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr(RunWriter, "append", full)
        sightline.run(bench, "oracle", out, workspace=tmp_path / "ws")
    run = read_run(out)
    assert run.attempts == () and run.ledger
    done = sightline.run(bench, "oracle", out, workspace=tmp_path / "ws")
    assert len(read_run(out).attempts) == done.made


def test_whoever_reads_a_changed_run_is_warned(scored: tuple[Path, Path], caplog: pytest.LogCaptureFixture) -> None:
    """Also what prints no score: extend, difficulty, a system that cuts another's run."""
    _, run = scored
    read_run(run)
    assert caplog.text == ""
    spoil(run / "run.json", '"concurrency"', '"aoncurrency"')
    read_run(run)
    assert "run.json changed after it was written; see sightline validate" in caplog.text


def test_the_scores_themselves_and_the_ledger_are_held_against_their_checksums(scored: tuple[Path, Path]) -> None:
    bench, run = scored
    spoil(run / "ledger.jsonl", '"run"', '"ran"')
    assert [problem.file for problem in sightline.validate(run)] == ["ledger.jsonl"]
    scores = orjson.loads((run / "scores.json").read_bytes())
    name = next(iter(scores["overall"]))
    scores["overall"][name]["mean"] = 0.123
    (run / "scores.json").write_bytes(orjson.dumps(scores))
    assert {problem.file for problem in sightline.validate(run)} == {"ledger.jsonl", "scores.json"}
    sightline.score(bench, run)
    assert {problem.file for problem in sightline.validate(run)} == {"ledger.jsonl"}, "scoring again mends the scores"


def test_a_file_that_is_gone_or_longer_is_a_change(tmp_path: Path) -> None:
    with RunWriter(tmp_path, HEADER) as writer:
        writer.append(Attempt("a", Text("1")))
        writer.entry(LedgerEntry("run", "m"))
    line = b'{"task_id":"b","attempt":0,"text":"2"}\n'
    whole = (tmp_path / "predictions.jsonl").read_bytes()
    (tmp_path / "predictions.jsonl").write_bytes(whole + line)
    assert [problem.file for problem in sightline.validate(tmp_path)] == ["predictions.jsonl"]
    (tmp_path / "predictions.jsonl").write_bytes(whole)
    assert sightline.validate(tmp_path).valid
    (tmp_path / "ledger.jsonl").unlink()
    assert "not there any more" in str(sightline.validate(tmp_path))


def test_a_run_that_goes_on_after_a_kill_is_no_change_and_what_was_there_before_still_is(tmp_path: Path) -> None:
    with RunWriter(tmp_path, HEADER) as writer:
        writer.append(Attempt("a", Text("1")))
    killed = RunWriter(tmp_path, HEADER)
    killed.append(Attempt("b", Text("2")))
    killed._files.close()  # A kill closes files, and writes nothing.
    assert sightline.validate(tmp_path).valid, "it has only grown"
    spoil(tmp_path / "predictions.jsonl", '"1"', '"7"')
    assert not sightline.validate(tmp_path).valid
    with RunWriter(tmp_path, HEADER) as writer:
        writer.append(Attempt("c", Text("3")))
    assert not sightline.validate(tmp_path).valid, "going on does not bless it"


def test_trajectories_and_pictures_are_looked_at_too(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path, HEADER)
    (tmp_path / "trajectories").mkdir()
    (tmp_path / "trajectories" / "a.jsonl").write_text('{"step": 1}\n')
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / ("0" * 64)).write_bytes(b"not what the name says")
    writer.append(Attempt("a", Text("1")))
    writer.close()
    assert [problem.file for problem in sightline.validate(tmp_path)] == ["blobs/" + "0" * 64]
    (tmp_path / "blobs" / ("0" * 64)).unlink()
    assert sightline.validate(tmp_path).valid
    (tmp_path / "trajectories" / "a.jsonl").write_text('{"step": 2}\n')
    assert [problem.file for problem in sightline.validate(tmp_path)] == ["trajectories"]


def test_a_run_of_before_has_no_checksums_and_is_read(tmp_path: Path) -> None:
    write_run(Run("bench", "system", (Attempt("a", Text("1")),)), tmp_path / "run")
    header = orjson.loads((tmp_path / "run" / "run.json").read_bytes())
    assert list(header)[-1] == "checksums"
    del header["checksums"]
    (tmp_path / "run" / "run.json").write_bytes(orjson.dumps(header))
    spoil(tmp_path / "run" / "predictions.jsonl", '"1"', '"2"')
    assert sightline.validate(tmp_path / "run").valid
    assert read_run(tmp_path / "run").attempts == (Attempt("a", Text("2")),)
