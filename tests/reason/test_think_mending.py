"""Going on where shards are missing or cut, and where pictures changed since: nothing is lost, or paid twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from reason.think_tools import ONE, script, source_of, things, work_of
from sightline.calls.session import Session
from sightline.errors import UserError
from sightline.io.jsonl import read_jsonl
from sightline.reason.traces import shards
from sightline.reason.traces.folder import TraceFormat
from sightline.reason.traces.pipeline import TraceWork, make_traces
from sightline.reason.traces.questions import Prompts, Template, open_source
from sightline.reason.traces.records import TracePicture
from sightline.reason.traces.shards import read_traces
from sightline.reason.traces.teachers import TraceSettings

NAMES = ("a brown dog", "an old lighthouse", "a red tractor", "a wooden boat", "a stone bridge", "a grey heron")
PROMPTS = Prompts((Template.of("Describe {label}, please."),))


def work_on(folder: Path) -> TraceWork:
    lines = [{"match": name, "text": ONE.format(name)} for name in NAMES]
    return work_of(things(NAMES), TraceSettings((script(folder / "one.jsonl", lines),), PROMPTS), folder)


def content(out: Path) -> list[tuple[str, str]]:
    return sorted((row.id, row.traces.references[0].answer) for row in read_traces(out))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:40])


@pytest.mark.parametrize("damage", [Path.unlink, cut])
@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_a_shard_that_is_missing_or_cut_is_made_again_from_the_journal(
    tmp_path: Path, damage: Callable[[Path], Any], format_: TraceFormat, caplog: pytest.LogCaptureFixture
) -> None:
    if format_ == "parquet":
        pytest.importorskip("pyarrow")
    out, work = tmp_path / "out", work_on(tmp_path)
    make_traces(work, out, format_=format_, shard_rows=2)
    before = content(out)
    damage(out / "data" / f"train-00001.{format_}")
    script(tmp_path / "one.jsonl", [{"failure": "bad-request"}])  # Whoever is asked now declines.
    done = make_traces(work, out, shard_rows=2)
    assert content(out) == before and (done.rows, done.kept, done.asked, done.shards) == (6, 6, 2, 3)
    assert [path.stem for path in sorted((out / "data").iterdir())] == [f"train-0000{number}" for number in range(3)]
    assert "data/train-00001" in caplog.text and "2 of 2 rows" in caplog.text
    caplog.clear()
    assert make_traces(work, out).asked == 0 and not caplog.text


def test_what_was_rejected_is_looked_at_too(tmp_path: Path) -> None:
    out, work = tmp_path / "out", work_on(tmp_path)
    script(tmp_path / "one.jsonl", [{"text": "Too short."}])
    make_traces(work, out, format_="jsonl")
    (file,) = (out / "rejected").iterdir()
    before = [record for _, record in read_jsonl(file)]
    file.unlink()
    assert make_traces(work, out).rejected == {"short": 6}
    assert [record for _, record in read_jsonl(file)] == before


def test_what_the_journal_does_not_have_is_not_paid_twice(tmp_path: Path) -> None:
    out, work = tmp_path / "out", work_on(tmp_path)
    make_traces(work, out, format_="jsonl", shard_rows=2)
    (out / "data" / "train-00001.jsonl").unlink()
    kept = content(out)
    with pytest.raises(UserError, match=r"train-00001.jsonl is missing or cut.*2 calls would be paid twice"):
        make_traces(replace(work, session=replace(work.session, workspace=tmp_path / "another")), out)
    assert content(out) == kept
    assert make_traces(work, out).kept == 6


def test_calls_that_had_failed_do_not_hinder_it(tmp_path: Path) -> None:
    out, work = tmp_path / "out", work_on(tmp_path)
    lines = [{"match": name, "text": ONE.format(name)} for name in NAMES[:-1]]
    script(tmp_path / "one.jsonl", [*lines, {"failure": "bad-request"}])
    assert make_traces(work, out, format_="jsonl").failed == {"bad-request": 1}
    (out / "data" / "train-00000.jsonl").unlink()
    work_on(tmp_path)
    assert make_traces(work, out).kept == 6


def test_an_index_without_sizes_is_brought_up_to_date(tmp_path: Path) -> None:
    out, work = tmp_path / "out", work_on(tmp_path)
    make_traces(work, out, format_="jsonl", shard_rows=2)
    with sqlite3.connect(out / "index.sqlite") as database:
        database.execute("DROP TABLE files")
        database.execute("ALTER TABLE rows DROP COLUMN sha256")
        database.execute("ALTER TABLE outcomes DROP COLUMN consistency")
        database.execute("PRAGMA user_version = 1")
    database.close()
    (out / "data" / "train-00002.jsonl").unlink()
    assert make_traces(work, out).asked == 2 and len(content(out)) == 6


@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_a_picture_that_changed_is_asked_about_again_and_its_old_row_goes(
    tmp_path: Path, format_: TraceFormat, caplog: pytest.LogCaptureFixture
) -> None:
    if format_ == "parquet":
        pytest.importorskip("pyarrow")
    out, work = tmp_path / "out", work_on(tmp_path)
    before = [replace(subject, sha256=f"{number}" * 64) for number, subject in enumerate(things(NAMES))]
    make_traces(replace(work, source=source_of(before)), out, format_=format_, shard_rows=4)
    old = content(out)
    # The third has other content and shows something else, the first is gone.
    changed = [*before[1:2], replace(before[2], sha256="f" * 64, known=before[5].known), *before[3:]]
    script(tmp_path / "one.jsonl", [{"match": "heron", "text": ONE.format("a flock of cranes")}])
    done = make_traces(
        replace(work, source=source_of(changed), session=replace(work.session, workspace=tmp_path / "another")),
        out,
        shard_rows=4,
    )
    assert (done.asked, done.rows, done.shards) == (1, 6, 3)
    assert [row for row in content(out) if row not in old] == [
        ("0002.jpg", ONE.format("a flock of cranes").partition("</think>")[2])
    ]
    assert [row[0] for row in content(out)] == [row[0] for row in old]
    assert "asked again: 1" in caplog.text and "gone stay as they are: 1 row" in caplog.text


def test_a_changed_file_of_a_folder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "pics").mkdir()
    for name, colour in (("a.png", "red"), ("b.png", "blue"), ("c.png", "green")):
        Image.new("RGB", (64, 64), colour).save(tmp_path / "pics" / name)
    teacher = script(tmp_path / "one.jsonl", [{"text": "A single colour fills all of this flat and quiet picture."}])

    def make() -> int:
        source = open_source(tmp_path / "pics", tmp_path / "ws")
        work = TraceWork(source, TraceSettings((teacher,)), Session(tmp_path / "ws"))
        return make_traces(work, tmp_path / "out", format_="jsonl").asked

    assert (make(), make()) == (3, 0) and not caplog.text
    Image.new("RGB", (80, 64), "black").save(tmp_path / "pics" / "b.png")
    (tmp_path / "pics" / "c.png").unlink()
    assert make() == 1 and "asked again: 1" in caplog.text and "1 row" in caplog.text
    caplog.clear()
    assert make() == 0 and "1 row" in caplog.text and "again" not in caplog.text


def test_a_smaller_limit_makes_no_picture_gone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    out, work = tmp_path / "out", work_on(tmp_path)
    make_traces(work, out, format_="jsonl")
    assert make_traces(replace(work, limit=2), out).rows == 6 and not caplog.text


def test_subjects_know_the_content_of_their_picture(tmp_path: Path) -> None:
    (tmp_path / "pics").mkdir()
    Image.new("RGB", (64, 64), "red").save(tmp_path / "pics" / "a.png")
    (subject,) = open_source(tmp_path / "pics", tmp_path / "ws").subjects()
    assert isinstance(subject, TracePicture) and subject.sha256 is not None and len(subject.sha256) == 64


def test_what_was_lost_of_pictures_that_are_gone_is_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    out, work = tmp_path / "out", work_on(tmp_path)
    make_traces(work, out, format_="jsonl", shard_rows=2)
    (out / "data" / "train-00000.jsonl").unlink()
    done = make_traces(replace(work, source=source_of(things(NAMES)[2:])), out)
    assert (done.rows, done.kept, done.shards) == (4, 4, 2) and "made again: 0 of 2 rows" in caplog.text


def test_stopped_while_a_row_is_taken_out_the_next_run_makes_it_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, work = tmp_path / "out", work_on(tmp_path)
    subjects = [replace(subject, sha256="a" * 64) for subject in things(NAMES)]
    make_traces(replace(work, source=source_of(subjects)), out, format_="jsonl")
    before = content(out)
    changed = replace(work, source=source_of([replace(subjects[0], sha256="b" * 64), *subjects[1:]]))
    with monkeypatch.context() as patched:
        patched.setattr(shards, "_FORGET", "no statement")
        with pytest.raises(sqlite3.OperationalError):
            make_traces(changed, out)
    assert len(content(out)) == 5
    make_traces(changed, out)
    assert content(out) == before
