"""From pictures to a folder of traces, with scripted teachers: what is kept, what is not, and going on after a stop."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from reason.think_tools import ONE, TWO, script, source_of, things, work_of
from sightline.benchmark.formats.base import FormatOptions
from sightline.benchmark.formats.imagenet_think import PROMPT, read
from sightline.calls.budget import Budget
from sightline.calls.session import CallOptions, Session
from sightline.config import Config
from sightline.errors import StoppedError, UserError
from sightline.reason.traces import pipeline
from sightline.reason.traces.folder import TraceFormat
from sightline.reason.traces.pipeline import TraceWork, make_traces
from sightline.reason.traces.questions import Prompts, Template, prompts_of
from sightline.reason.traces.records import PictureKnowledge, Teacher, TracePicture, TraceRules, numbered_teachers
from sightline.reason.traces.shards import read_traces
from sightline.reason.traces.teachers import TraceSettings
from sightline.types import Benchmark, Trace

NAMES = ("a brown dog", "an old lighthouse", "a red tractor", "a wooden boat", "a stone bridge", "a grey heron")
PROMPTS = Prompts((Template.of("Describe {label}, please."),))


def teachers(folder: Path, names: tuple[str, ...] = NAMES) -> tuple[Teacher, Teacher]:
    return (
        script(folder / "one.jsonl", [{"match": name, "text": ONE.format(name)} for name in names]),
        script(folder / "two.jsonl", [{"match": name, "text": TWO.format(name)} for name in names]),
    )


def rejected(folder: Path) -> list[dict[str, Any]]:
    files = sorted((folder / "rejected").glob("*.gz"))
    return [orjson.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


@pytest.mark.parametrize("format_", ["parquet", "jsonl"])
def test_rows_shards_card_and_back(tmp_path: Path, format_: TraceFormat) -> None:
    if format_ == "parquet":
        pytest.importorskip("pyarrow")
    settings = TraceSettings(teachers(tmp_path), PROMPTS)
    out = tmp_path / "out"
    done = make_traces(work_of(things(NAMES), settings, tmp_path), out, format_=format_, shard_rows=4)
    assert (done.rows, done.kept, done.shards, done.rejected, done.failed) == (6, 12, 2, {}, {})
    assert done.agreement is not None and 0 < done.agreement < 1
    rows = list(read_traces(out))
    assert [row.id for row in rows] == [f"{number:04d}.jpg" for number in range(6)]
    first, second = rows[1].traces.references
    assert first.thinking == "I see an old lighthouse and think about what else is there, step by step."
    assert second.answer.startswith("The picture shows an old lighthouse") and second.model == settings.teachers[1].name
    benchmark = read(out, FormatOptions()).content
    assert isinstance(benchmark, Benchmark)
    assert list(benchmark.tasks) == [row.id for row in rows]
    assert benchmark.truth["0001.jpg"] == rows[1].traces
    assert benchmark.tasks["0001.jpg"].text == "Describe an old lighthouse, please."
    card = (out / "README.md").read_text()
    assert "12 traces" in card and settings.teachers[0].name in card and f"data/*.{format_}" in card
    again = make_traces(work_of(things(NAMES), settings, tmp_path), out)
    assert (again.asked, again.rows, again.kept) == (0, 6, 12)


def test_what_is_no_good_is_named_and_never_kept(tmp_path: Path) -> None:
    loop = "<think>" + "It could be a wolf, but then again it could be a dog. " * 40 + "</think>"
    lines = [
        {"match": NAMES[0], "text": f"{loop} The picture shows a brown dog in the quiet of the morning."},
        {"match": NAMES[1], "text": "I'm sorry, but I can't help with this picture today."},
        {"match": NAMES[2], "failure": "length"},
        {"match": NAMES[3], "failure": "content-filter"},
        {"match": NAMES[4], "failure": "bad-request"},
        {"match": NAMES[5], "text": ONE.format(NAMES[5])},
    ]
    settings = TraceSettings((script(tmp_path / "bad.jsonl", lines), teachers(tmp_path)[1]), PROMPTS)
    out = tmp_path / "out"
    done = make_traces(work_of(things(NAMES), settings, tmp_path), out, format_="jsonl")
    assert done.rejected == {"refusal": 1, "repetition": 1}
    assert done.failed == {"bad-request": 1, "refusal": 1, "truncated": 1}
    assert [len(row.traces.references) for row in read_traces(out)] == [1, 1, 1, 1, 1, 2]
    found = {(row["id"], row["state"]): row for row in rejected(out)}
    cut = found["0000.jpg", "rejected"]
    assert cut["reasons"] == ["repetition"] and cut["think"].count("wolf") == 1
    assert found["0002.jpg", "failed"]["failure"] == "length" and "answer" not in found["0002.jpg", "failed"]
    assert "| truncated | 1 |" in (out / "README.md").read_text()


def test_a_row_without_any_trace_is_in_no_shard(tmp_path: Path) -> None:
    silent = script(tmp_path / "silent.jsonl", [{"failure": "bad-request"}])
    done = make_traces(
        work_of(things(NAMES[:2]), TraceSettings((silent,)), tmp_path), tmp_path / "out", format_="jsonl"
    )
    assert (done.rows, done.kept, done.failed) == (2, 0, {"bad-request": 2})
    assert list((tmp_path / "out" / "data").iterdir()) == [] and list(read_traces(tmp_path / "out")) == []


def test_copies_are_found_within_a_row_and_across_runs(tmp_path: Path) -> None:
    one, _ = teachers(tmp_path)
    settings = TraceSettings(numbered_teachers((one, one)), PROMPTS)
    subjects = things((*NAMES[:2], NAMES[0]))
    first = make_traces(work_of(subjects[:2], settings, tmp_path), tmp_path / "out", format_="jsonl")
    assert (first.kept, first.rejected) == (2, {"duplicate": 2})
    both = make_traces(work_of(subjects, settings, tmp_path), tmp_path / "out")
    assert (both.asked, both.kept, both.rejected) == (1, 2, {"duplicate": 4})
    assert [row["copy_of"] for row in rejected(tmp_path / "out")] == ["0000.jpg:1", "0001.jpg:1", *["0000.jpg:1"] * 2]


def test_labels_captions_and_facts_count_unless_the_prompt_told_them(tmp_path: Path) -> None:
    one, two = teachers(tmp_path)
    known = PictureKnowledge(("dog",), "a brown dog in a quiet place", ("a brown dog in a quiet place",))
    subject = TracePicture("d.jpg", "https://p.example/d.jpg", known)
    told = TraceSettings((one, two), Prompts((Template.of("This is a brown dog, {label}: {caption}"),)))
    untold = TraceSettings((one, two), Prompts((Template.of("What about a brown dog?"),)))
    parts = []
    for name, settings in (("told", told), ("untold", untold)):
        make_traces(work_of([subject], settings, tmp_path), tmp_path / name, format_="jsonl")
        line = orjson.loads((tmp_path / name / "data" / "train-00000.jsonl").read_bytes())
        parts.append(line["checks"]["traces"][0]["parts"])
    assert set(parts[1]) - set(parts[0]) == {"label", "caption"} and "facts" in parts[0]
    assert parts[1]["label"] == parts[1]["caption"] == parts[1]["facts"] == 1.0


def test_claims_are_verified_by_who_looks(tmp_path: Path) -> None:
    verdicts = [{"claim": n, "verdict": "supported" if n < 4 else "contradicted"} for n in range(1, 6)]
    seer = script(tmp_path / "seer.jsonl", [{"text": orjson.dumps({"verdicts": verdicts}).decode()}])
    settings = TraceSettings(teachers(tmp_path), PROMPTS, seer)
    done = make_traces(work_of(things(NAMES[:1]), settings, tmp_path), tmp_path / "out", format_="jsonl")
    assert done.verified == 1 and done.rejected == {"ungrounded": 1}
    (row,) = map(orjson.loads, (tmp_path / "out" / "data" / "train-00000.jsonl").read_bytes().splitlines())
    first, second = row["checks"]["traces"]
    assert first["parts"]["grounding"] == 1.0 and second["reasons"] == ["ungrounded"]
    assert second["claims"][1] == {"claim": "The ground below is covered with fine gravel.", "verdict": "contradicted"}
    assert row["answer_2"] is None and "gravel" in rejected(tmp_path / "out")[0]["answer"]


def test_the_card_says_how_consistent_a_teacher_is(tmp_path: Path) -> None:
    thought = "The boat is red. A dog sits on the bench and looks at the water for a while."
    said = {"text": f"<think>{thought}</think>The boat is blue. The dog sits on the bench by the water."}
    settings = TraceSettings((script(tmp_path / "torn.jsonl", [said]),), PROMPTS)
    done = make_traces(work_of(things(NAMES[:1]), settings, tmp_path), tmp_path / "out", format_="jsonl")
    assert done.teachers[0].consistency == 0.5 and ", consistency 0.50" in str(done)
    assert "leaves 0.500 of the claims" in (tmp_path / "out" / "README.md").read_text()


def test_a_verifier_that_skips_claims_has_not_verified(tmp_path: Path) -> None:
    seer = script(tmp_path / "seer.jsonl", [{"text": '{"verdicts": [{"claim": 1, "verdict": "supported"}]}'}])
    settings = TraceSettings(teachers(tmp_path), PROMPTS, seer)
    done = make_traces(work_of(things(NAMES[:1]), settings, tmp_path), tmp_path / "out", format_="jsonl")
    assert (done.verified, done.verifier_failed, done.kept) == (0, {"wrong-schema": 1}, 2)
    assert "1 wrong-schema" in (tmp_path / "out" / "README.md").read_text()


def test_a_budget_stops_with_whole_shards_and_the_next_run_goes_on(tmp_path: Path) -> None:
    settings = TraceSettings(teachers(tmp_path), PROMPTS)
    prices = {"models": {teacher.name: {"input": 1.0, "output": 1e4} for teacher in settings.teachers}}
    config = Config.model_validate({"prices": prices})
    settings = replace(settings, parameters={"max_tokens": 100})
    work = TraceWork(
        source_of(things(NAMES)), settings, Session(tmp_path / "ws", config, CallOptions(budget=Budget.usd(3)))
    )
    with pytest.raises(StoppedError):
        make_traces(work, tmp_path / "out", format_="jsonl")
    stopped = len(list(read_traces(tmp_path / "out")))
    assert stopped < 6 and (tmp_path / "out" / "README.md").is_file()
    done = make_traces(replace(work, session=replace(work.session, calls=CallOptions())), tmp_path / "out")
    assert done.rows == 6 and done.asked == 6 - stopped and done.kept == 12 and done.usd > 0


def test_a_teacher_that_nobody_knows_begins_no_folder(tmp_path: Path) -> None:
    for settings in (
        TraceSettings((Teacher("nosuch/model"),), PROMPTS),
        TraceSettings(teachers(tmp_path), PROMPTS, Teacher("nosuch/model")),
    ):
        with pytest.raises(UserError, match="nosuch"):
            make_traces(work_of(things(NAMES), settings, tmp_path), tmp_path / "out", format_="jsonl")
        assert not (tmp_path / "out").exists()


def test_other_settings_and_other_folders_are_refused(tmp_path: Path) -> None:
    settings = TraceSettings(teachers(tmp_path), PROMPTS)
    make_traces(work_of(things(NAMES[:1]), settings, tmp_path), tmp_path / "out", format_="jsonl")
    with pytest.raises(UserError, match="other settings: rules"):
        make_traces(
            work_of(things(NAMES), replace(settings, rules=TraceRules(least_words=9)), tmp_path), tmp_path / "out"
        )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("dear diary")
    with pytest.raises(UserError, match=r"no traces\.json"):
        make_traces(work_of(things(NAMES), settings, tmp_path), tmp_path / "mine")


@pytest.mark.parametrize(("kind", "kept"), [("wrong-schema", [0, 2]), ("bad-picture", [0, 0])])
def test_only_failures_that_may_pass_are_asked_again_when_told_to(tmp_path: Path, kind: str, kept: list[int]) -> None:
    first, second = teachers(tmp_path)
    settings = TraceSettings((first, second), PROMPTS)
    work = work_of(things(NAMES[:1]), settings, tmp_path)
    for name in ("one", "two"):
        script(tmp_path / f"{name}.jsonl", [{"failure": kind}])
    assert make_traces(work, tmp_path / "out", format_="jsonl").failed == {kind: 2}
    teachers(tmp_path)
    work = replace(work, session=replace(work.session, workspace=tmp_path / "empty journal"))
    assert [make_traces(work, tmp_path / "out", retry_failed=retry).kept for retry in (False, True)] == kept


def test_what_failed_again_is_told_once(tmp_path: Path) -> None:
    settings = TraceSettings((script(tmp_path / "bad.jsonl", [{"failure": "wrong-schema"}]),), PROMPTS)
    for number in range(3):
        work = replace(work_of(things(NAMES[:2]), settings, tmp_path), session=Session(tmp_path / f"journal {number}"))
        done = make_traces(work, tmp_path / "out", format_="jsonl", retry_failed=number > 0)
        assert (done.asked, done.failed) == (2, {"wrong-schema": 2})
        assert [record["id"] for record in rejected(tmp_path / "out")] == ["0000.jpg", "0001.jpg"]


def test_the_process_of_its_own_writes_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = TraceSettings(teachers(tmp_path), PROMPTS)
    for name, few in (("here", 256), ("there", 0)):
        monkeypatch.setattr(pipeline, "_FEW", few)
        make_traces(work_of(things(NAMES), settings, tmp_path), tmp_path / name, format_="jsonl", shard_rows=2)
    files = [sorted((tmp_path / name / "data").iterdir()) for name in ("here", "there")]
    here, there = ([file.read_bytes() for file in one] for one in files)
    assert here == there
    assert len(files[1]) == 3 and not list((tmp_path / "there").glob("index.sqlite-*"))


def test_prompts_are_drawn_by_seed_and_only_where_they_fit(tmp_path: Path) -> None:
    file = tmp_path / "prompts.txt"
    file.write_text("What is this?\nIs it {label}?\nSomeone said: {caption}\n")
    subjects = [TracePicture(f"{number}.jpg", "u", PictureKnowledge(("dog",))) for number in range(200)]
    first, again, other = (prompts_of((), file, 1, seed) for seed in (1, 1, 2))

    def drawn(prompts: Prompts) -> list[str]:
        return [question.prompt for subject in subjects for question in prompts.questions(subject)]

    assert drawn(first) == drawn(again) != drawn(other)
    assert set(drawn(first)) == {"What is this?", "Is it dog?"} and 60 < drawn(first).count("Is it dog?") < 140
    both = list(prompts_of((), file, 2, 1).questions(subjects[0]))
    assert [question.id for question in both] == ["0.jpg", "0.jpg#2"] and len({one.prompt for one in both}) == 2
    assert not list(prompts_of(("{caption}",)).questions(subjects[0]))
    assert [one.prompt for one in prompts_of(()).questions(subjects[0])] == [PROMPT]


def test_a_caption_with_braces_fills_nothing_else() -> None:
    known = PictureKnowledge(("dog",), "a sign that says {label}")
    assert Template.of("{caption}!").fill(known) == "a sign that says {label}!"


@pytest.mark.parametrize(("given", "message"), [(("{title}",), "slot"), ((" ",), "empty")])
def test_wrong_prompts(given: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        prompts_of(given)


def test_a_price_asks_nobody(tmp_path: Path) -> None:
    teacher = Teacher("openai/gpt-5-mini")
    work = work_of(things(NAMES), TraceSettings((teacher, teacher), PROMPTS, teacher), tmp_path)
    plan = work.price()
    assert [(stage.stage, stage.calls) for stage in plan.stages] == [("think", 6), ("think", 6), ("verify", 6)]
    assert plan.usd is not None and plan.usd.likely > 0


def test_read_rows_hold_traces(tmp_path: Path) -> None:
    settings = TraceSettings(teachers(tmp_path)[:1], PROMPTS)
    make_traces(work_of(things(NAMES[:1]), settings, tmp_path), tmp_path / "out", format_="jsonl")
    (row,) = read_traces(tmp_path / "out")
    assert all(isinstance(one, Trace) for one in row.traces.references) and row.picture == "0000.jpg"
