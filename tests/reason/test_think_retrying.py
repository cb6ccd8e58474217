"""`--retry-failed`: who failed is asked again, what others said stays, and no row is lost, doubled or paid twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reason.think_tools import ONE, TWO, script, source_of, things, work_of
from sightline.calls.retry import RetryPolicy
from sightline.calls.session import Session
from sightline.errors import UserError
from sightline.io.jsonl import read_jsonl
from sightline.reason.traces import pipeline, shards
from sightline.reason.traces import shards as leaving
from sightline.reason.traces.folder import TraceFormat
from sightline.reason.traces.index import TraceIndex
from sightline.reason.traces.pipeline import TraceWork, make_traces
from sightline.reason.traces.quality import check_replies
from sightline.reason.traces.questions import Prompts, Template
from sightline.reason.traces.records import CheckJob, TeacherReplies, TeacherReply, TraceRow, TraceRules
from sightline.reason.traces.shards import TraceShards, read_traces, records_of
from sightline.reason.traces.teachers import TraceSettings
from sightline.types import Failure

NAMES = ("a brown dog", "an old lighthouse", "a red tractor", "a wooden boat", "a stone bridge", "a grey heron")
PROMPTS = Prompts((Template.of("Describe {label}, please."),))
SICK = ("an old lighthouse", "a stone bridge")
"""Of which the first teacher has nothing to say at first."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RetryPolicy, "pause", lambda *_: 0.0)


def lines(said: str, names: Sequence[str] = NAMES) -> list[dict[str, Any]]:
    return [{"match": name, "text": said.format(name)} for name in names]


def begun(folder: Path, format_: TraceFormat = "jsonl", sick: Sequence[str] = SICK) -> TraceWork:
    """A folder of traces in which the first teacher failed for some pictures; now it is well."""
    failing = [{"match": name, "failure": "server-error"} for name in sick]
    first = script(folder / "one.jsonl", [*failing, *lines(ONE)])
    second = script(folder / "two.jsonl", lines(TWO))
    work = work_of(things(NAMES), TraceSettings((first, second), PROMPTS), folder)
    done = make_traces(work, folder / "out", format_=format_, shard_rows=2)
    assert (done.failed, done.may_pass, done.kept) == ({"server-error": len(sick)}, len(sick), 12 - len(sick))
    script(folder / "one.jsonl", lines(ONE))
    script(folder / "two.jsonl", [{"failure": "bad-request"}])  # Whoever asks it again loses what it said.
    return work


def content(out: Path) -> dict[str, list[tuple[str | None, str]]]:
    rows = [(row.id, [(trace.model, trace.answer) for trace in row.traces.references]) for row in read_traces(out)]
    assert len(rows) == len(dict(rows))
    return dict(rows)


def rejected(out: Path) -> list[str]:
    return [record["id"] for file in sorted((out / "rejected").iterdir()) for _, record in read_jsonl(file)]


@pytest.mark.parametrize("few", [256, 0], ids=["here", "elsewhere"])
@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_a_teacher_that_failed_beside_one_that_was_kept_is_asked_again(
    tmp_path: Path, format_: TraceFormat, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if format_ == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(pipeline, "_FEW", few)
    out, work = tmp_path / "out", begun(tmp_path, format_)
    before = content(out)
    done = make_traces(work, out, retry_failed=True, shard_rows=2)
    assert (done.asked, done.rows, done.kept, done.failed, done.may_pass) == (2, 6, 12, {}, 0)
    after = content(out)
    assert [len(after[id_]) for id_ in sorted(after)] == [2] * 6 and not rejected(out)
    assert all(set(said) <= set(after[id_]) for id_, said in before.items())
    records = [record for file in (out / "data").iterdir() for record in records_of(file)]
    assert all("agreement" in str(record["checks"]) for record in records)
    assert make_traces(work, out, retry_failed=True).asked == 0 and content(out) == after


def test_without_the_word_nobody_is_asked_again(tmp_path: Path) -> None:
    work = begun(tmp_path)
    before = content(tmp_path / "out")
    assert make_traces(work, tmp_path / "out").asked == 0 and content(tmp_path / "out") == before


def test_a_row_that_is_completed_is_as_if_nobody_had_failed(tmp_path: Path) -> None:
    make_traces(begun(tmp_path), tmp_path / "out", retry_failed=True)
    teachers = script(tmp_path / "one.jsonl", lines(ONE)), script(tmp_path / "two.jsonl", lines(TWO))
    work = replace(
        work_of(things(NAMES), TraceSettings(teachers, PROMPTS), tmp_path), session=Session(tmp_path / "another")
    )
    make_traces(work, tmp_path / "well", format_="jsonl")
    found, wanted = (
        {record["id"]: record for file in (tmp_path / name / "data").iterdir() for record in records_of(file)}
        for name in ("out", "well")
    )
    assert found == wanted


def test_what_fails_again_leaves_all_as_it_was(tmp_path: Path) -> None:
    out, work = tmp_path / "out", begun(tmp_path)
    before = content(out)
    script(tmp_path / "one.jsonl", [{"failure": "server-error"}])
    for _ in range(2):
        done = make_traces(work, out, retry_failed=True, shard_rows=2)
        assert (done.rows, done.kept, done.failed, done.may_pass) == (6, 10, {"server-error": 2}, 2)
        assert content(out) == before and sorted(rejected(out)) == ["0001.jpg", "0004.jpg"]


def test_rows_that_can_not_be_asked_now_stay(tmp_path: Path) -> None:
    out, work = tmp_path / "out", begun(tmp_path)
    before = content(out)
    gone = replace(work, source=source_of([one for one in things(NAMES) if one.picture != "0001.jpg"]), limit=3)
    done = make_traces(gone, out, retry_failed=True)
    assert (done.asked, done.rows, done.may_pass) == (0, 6, 2) and content(out) == before


def test_another_journal_is_not_asked_to_pay_twice(tmp_path: Path) -> None:
    out, work = tmp_path / "out", begun(tmp_path)
    before = content(out)
    with pytest.raises(UserError, match=r"what other teachers said where one failed: 4 calls would be paid twice"):
        make_traces(
            replace(work, session=replace(work.session, workspace=tmp_path / "another")), out, retry_failed=True
        )
    assert content(out) == before


@pytest.mark.parametrize(
    ("place", "name", "broken"),
    [(leaving, "_FORGET", "no statement"), (shards, "_failures", None), (TraceIndex, "add_shard", None)],
    ids=["while a row leaves", "before", "when all is written, and not counted"],
)
@pytest.mark.parametrize("retry", [True, False])
def test_stopped_while_a_row_takes_its_place_the_next_run_makes_it_good(
    tmp_path: Path, place: object, name: str, broken: object, retry: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, work = tmp_path / "out", begun(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(place, name, broken)
        with pytest.raises((sqlite3.OperationalError, TypeError)):
            make_traces(work, out, retry_failed=True)
    make_traces(work, out, retry_failed=retry)
    done = make_traces(work, out, retry_failed=True)
    assert (done.rows, done.kept, done.failed) == (6, 12, {}) and len(content(out)) == 6 and not rejected(out)


def test_a_row_of_which_more_failed_takes_no_place(tmp_path: Path) -> None:
    (question,) = PROMPTS.questions(things(NAMES)[0])
    said = TeacherReply(
        "I see a brown dog and think about what else is there.", "The picture shows a brown dog in the grass."
    )
    lost = Failure("connection", "broken off", retryable=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "rejected").mkdir()

    def write(*replies: TeacherReply | Failure) -> list[int]:
        with TraceIndex(tmp_path) as index:
            writer = TraceShards(tmp_path, index, ("one", "two"), "jsonl")
            writer.add(
                TraceRow(
                    question,
                    TeacherReplies(replies),
                    check_replies(CheckJob(question, TeacherReplies(replies), TraceRules())),
                )
            )
            writer.flush()
            return [kept for (kept,) in index.database.execute("SELECT kept FROM rows")]

    assert write(said, lost) == [1] and write(lost, lost) == [1]
    other = replace(said, answer="A small animal with wet fur runs along the beach in the evening sun.")
    assert write(said, other) == [2] and len([*(tmp_path / "data").iterdir()]) == 1


def test_a_verifier_that_was_away_is_asked_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    teacher = script(tmp_path / "one.jsonl", lines(ONE))
    verifier = script(tmp_path / "verifier.jsonl", [{"failure": "server-error"}])
    work = work_of(things(NAMES[:1]), TraceSettings((teacher,), PROMPTS, verifier), tmp_path)
    done = make_traces(work, out, format_="jsonl")
    assert (done.kept, done.verifier_failed, done.may_pass) == (1, {"server-error": 1}, 1)
    verdicts = ",".join(f'{{"claim": {number}, "verdict": "supported"}}' for number in (1, 2, 3))
    script(tmp_path / "verifier.jsonl", [{"text": f'{{"verdicts": [{verdicts}]}}'}])
    script(tmp_path / "one.jsonl", [{"failure": "bad-request"}])
    done = make_traces(work, out, retry_failed=True)
    assert (done.kept, done.verified, done.verifier_failed, done.may_pass) == (1, 1, {}, 0)
