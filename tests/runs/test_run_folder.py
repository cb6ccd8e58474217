"""A run on disk: what is written is what is read, and a wrong line is named."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.runs import folder as runs_on_disk
from sightline.runs.folder import BLOBS, blob_path, read_run, validate, write_run
from sightline.types import Attempt, Choice, Failure, Ranking, Run, Text
from strategies import runs, sha256s

modest = settings(deadline=None, max_examples=60)
EMPTY = Run("bench", "system", ())


def with_lines(folder: Path, *lines: str) -> Path:
    write_run(EMPTY, folder)
    (folder / "predictions.jsonl").write_text("".join(line + "\n" for line in lines))
    return folder


@modest
@given(runs())
def test_a_run_comes_back_equal(run: Run) -> None:
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "run"
        write_run(run, folder)
        assert read_run(folder) == run
        assert validate(folder) == ()


def test_the_lines_are_as_documented(tmp_path: Path) -> None:
    attempts = (
        Attempt("q1", Ranking(("a", "b"))),
        Attempt("q1", Ranking(("a", "b"), (0.5, 0.25)), 1),
        Attempt("q2", Choice(None, "refused")),
        Attempt("q3", Failure("timeout", "60 s", retryable=True)),
    )
    write_run(Run("bench", "system", attempts), tmp_path / "run")
    assert (tmp_path / "run" / "predictions.jsonl").read_text().splitlines() == [
        '{"task_id":"q1","attempt":0,"ranking":["a","b"]}',
        '{"task_id":"q1","attempt":1,"ranking":[["a",0.5],["b",0.25]]}',
        '{"task_id":"q2","attempt":0,"option":null,"status":"refused"}',
        '{"task_id":"q3","attempt":0,"failure":{"kind":"timeout","message":"60 s","retryable":true}}',
    ]


def test_the_attempt_may_be_left_out(tmp_path: Path) -> None:
    folder = with_lines(tmp_path / "run", '{"task_id": "q1", "text": "two"}')
    assert read_run(folder).attempts == (Attempt("q1", Text("two"), 0),)


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ('{"task_id": "q"}', None, "exactly one of ranking, pictures, text, option, trace, failure"),
        ('{"task_id": "q", "text": "a", "option": "A"}', None, "exactly one of"),
        ('{"task_id": "q", "ranking": ["a", ["b", 1]]}', "ranking.1", "expected a valid string"),
        ('{"task_id": "q", "ranking": [["a", 1], "b"]}', "ranking.1", "expected a valid array"),
        ('{"task_id": "q", "ranking": {"a": 1}}', "ranking", "a list of picture ids or of [id, score] pairs"),
        ('{"task_id": "q", "ranking": [["a", "1"]]}', "ranking.0.1", "expected a valid number"),
        ('{"task_id": "q", "failure": "broken"}', "failure", "expected an object"),
        ('{"task_id": "q", "text": "a", "attempt": -1}', "attempt", "greater than or equal to 0"),
        ('{"task_id": "q", "text": null}', "text", "expected a valid string, got None"),
        ('{"task": "q", "text": "a"}', "task", 'unknown field, did you mean "task_id"?'),
        ('{"task_id": "ok", "text": "again"}', "task_id", "('ok', 0) is already on line 1"),
        ("[]", None, "exactly one of"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, field: str | None, message: str) -> None:
    folder = with_lines(tmp_path / "run", '{"task_id": "ok", "text": "two"}', line)
    found = [problem for problem in validate(folder) if problem.field == field]
    assert [problem.line for problem in found] == [2]
    assert message in found[0].message
    with pytest.raises(ProblemsError, match=r"predictions\.jsonl, line 2"):
        read_run(folder)


def test_a_half_last_line_of_a_stopped_run_counts_as_not_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = with_lines(tmp_path / "run", '{"task_id": "q1", "text": "two"}')
    with (folder / "predictions.jsonl").open("a") as file:
        file.write('{"task_id": "q2", "te')
    assert read_run(folder).attempts == (Attempt("q1", Text("two")),)
    assert "ends in the middle" in caplog.text


def test_writing_again_keeps_blobs_and_drops_scores(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    write_run(EMPTY, folder)
    (folder / BLOBS).mkdir()
    (folder / BLOBS / "picture").write_bytes(b"pixels")
    (folder / runs_on_disk.SCORES).write_text("{}")
    write_run(EMPTY, folder)
    assert (folder / BLOBS / "picture").read_bytes() == b"pixels"
    assert not (folder / runs_on_disk.SCORES).exists()


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is not a run: it has no run\.json"):
        read_run(tmp_path)


def test_a_header_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match=r"run\.json, benchmark_checksum"):
        write_run(Run("bench", "system", (), benchmark_checksum="abc"), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@modest
@given(sha256s)
def test_a_blob_lies_inside_its_run(sha256: str) -> None:
    assert blob_path("/runs/one", sha256) == Path("/runs/one/blobs") / sha256


@pytest.mark.parametrize("name", ["", "..", "../" + "a" * 61, "/etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n"])
def test_nothing_but_a_sha256_is_a_blob(name: str) -> None:
    with pytest.raises(UserError, match="is not a SHA-256"):
        blob_path("/runs/one", name)
