"""`sightline think`, as a user types it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from pictures import random_picture
from reason.think_tools import ONE, script
from sightline.cli.app import main
from sightline.io.jsonl import write_jsonl


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three pictures named by synset, their classes' names, and teachers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIGHTLINE_WORKSPACE", str(tmp_path / "ws"))
    (tmp_path / "pics").mkdir()
    for number in range(3):
        random_picture(number).save(tmp_path / "pics" / f"n0144076{number}_n0144076{number}_7.JPEG")
    (tmp_path / "names.txt").write_text(
        "n01440760 tench, Tinca tinca\nn01440761 goldfish\nn01440762 great white shark\n"
    )
    for place, name in enumerate(("a", "b")):
        things = (("tench", "a tench"), ("goldfish", "a goldfish"), ("shark", "a shark"))
        rest = ("It swims from left to right.", "Bubbles rise in the dark water.")[place]
        lines = [{"match": word, "text": f"{ONE.format(said)} {rest * 2}"} for word, said in things]
        script(tmp_path / f"{name}.jsonl", lines)
    return tmp_path


ASKED = ("--teacher", "scripted/a.jsonl", "--teacher", "scripted/b.jsonl", "--prompt", "Is it a {label}?")


def test_a_folder_becomes_traces_and_a_benchmark(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    main(["think", "pics", *ASKED, "--labels", "names.txt", "--out", "out", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert said["rows"] == 3 and said["kept"] == 6 and said["folder"] == "out" and said["usd"] == 0.0
    main(["import", "imagenet-think", "out", "--out", "bench", "--pictures", "pics", "--json"])
    read = json.loads(capsys.readouterr().out)
    assert read["tasks"] == 3 and read["labels"]["synset"] == {f"n0144076{number}": 1 for number in range(3)}
    main(["think", "pics", *ASKED, "--labels", "names.txt", "--out", "out"])
    assert "3 of them from before" in capsys.readouterr().out
    main(["think", "bench", *ASKED, "--labels", "names.txt", "--limit", "2", "--out", "of bench", "--json"])
    assert json.loads(capsys.readouterr().out)["kept"] == 4


def test_a_workspace_with_captions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = enumerate(("tench", "goldfish"))
    rows = [{"id": f"n0144076{n}_n0144076{n}_7.JPEG", "caption": f"a {name} in water"} for n, name in names]
    write_jsonl(folder / "captions.jsonl", rows)
    main(["scan", "pics", "--metadata", "captions.jsonl"])
    capsys.readouterr()
    arguments = ["--teacher", "scripted/a.jsonl", "--samples", "1", "--prompt", "Is it {caption}?", "--json"]
    main(["think", *arguments, "--out", "out", "--format", "jsonl"])
    done = capsys.readouterr()
    assert json.loads(done.out)["kept"] == 2 and json.loads(done.out)["without_prompt"] == 1
    assert "no prompt fits" in done.err


def test_prompts_that_fit_no_picture_are_refused_and_others_may_follow(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["think", "pics", "--teacher", "scripted/a.jsonl", "--prompt", "Is it {caption}?", "--out", "out"])
    assert "No prompt fits what is known of any picture" in capsys.readouterr().err
    assert not (folder / "out").exists()
    main(["think", "pics", *ASKED, "--labels", "names.txt", "--out", "out", "--json"])
    assert json.loads(capsys.readouterr().out)["kept"] == 6


def test_a_plan_spends_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["think", "pics", "--teacher", "openai/gpt-5-mini", "--plan", "--json"])
    plan = json.loads(capsys.readouterr().out)
    assert plan["calls"] == 6 and plan["usd"]["high"] > 0 and not (folder / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "out"), "No model is named"),
        (("--teacher", "scripted/a.jsonl"), "--out"),
        (("--teacher", "@http://x", "--out", "out"), "names no model"),
        (("--teacher", "scripted/a.jsonl", "--out", "out", "--prompt", "{title}"), "Slots are"),
        (("--teacher", "scripted/a.jsonl", "--out", "out", "--prompts-each", "3"), "3 prompts"),
        (("--teacher", "openai/gpt-5", "--out", "out", "--local-only"), "--local-only"),
        (("--teacher", "scripted/a.jsonl", "--out", "out", "--engine", "spark"), "no engine"),
    ],
)
def test_a_mistake_ends_with_its_fix(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["think", "pics", *arguments])
    assert ended.value.code == 2 and message in capsys.readouterr().err


def test_an_empty_folder_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(SystemExit) as ended:
        main(["think", "empty", *ASKED, "--out", "out"])
    assert ended.value.code == 2 and "no picture in empty" in capsys.readouterr().err
    assert not (folder / "out").exists()


def test_a_verification_that_failed_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script(folder / "mute.jsonl", [{"text": '{"verdicts": []}'}])
    main(["think", "pics", *ASKED, "--labels", "names.txt", "--out", "out", "--verifier", "scripted/mute.jsonl"])
    said = capsys.readouterr()
    assert "warning: verification failed in 3 of 3 rows (wrong-schema 3)" in " ".join(said.err.split())
    assert "6 traces kept" in said.out


def test_a_teacher_that_says_the_same_twice_does_not_agree_with_itself(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--teacher", "scripted/a.jsonl", "--prompt", "Is it a {label}?", "--labels", "names.txt"]
    main(["think", "pics", *asked, "--out", "out", "--format", "jsonl"])
    said = capsys.readouterr().out
    assert "agree" not in said
    assert "a.jsonl (sample 1/2): 3 kept" in said
    assert "a.jsonl (sample 2/2): 0 kept" in said
    assert "(sample 2/2) |" in (folder / "out" / "README.md").read_text()
    rows = [json.loads(line) for line in (folder / "out" / "data" / "train-00000.jsonl").read_text().splitlines()]
    assert len(rows) == 3
    assert not any("agreement" in trace["parts"] for row in rows for trace in row["checks"]["traces"])


def test_a_place_that_is_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["think", "nowhere", *ASKED, "--out", "out"])
    assert ended.value.code == 2 and "There is no folder nowhere" in capsys.readouterr().err


def test_files_that_are_no_pictures_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pics" / "empty.jpg").write_bytes(b"")
    (folder / "pics" / "words.jpg").write_bytes(b"these are words and no picture at all")
    main(["think", "pics", *ASKED, "--labels", "names.txt", "--out", "out"])
    said = capsys.readouterr()
    assert "note: 2 files skipped: 1 empty, 1 not a picture" in said.err and "6 traces kept" in said.out


def test_the_next_step_names_the_pictures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    (folder / "pics").rename(folder / "my pics")
    main(["think", "my pics", *ASKED, "--labels", "names.txt", "--out", "out"])
    line = capsys.readouterr().out.splitlines()[-1]
    assert line == "  next: sightline import imagenet-think out --out BENCH --pictures 'my pics'"
    main([*shlex.split(line)[2:], "--json"])
    assert json.loads(capsys.readouterr().out)["missing_pictures"] == 0


def test_a_language_that_cannot_be_told_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["think", "pics", *ASKED, "--labels", "names.txt", "--out", "out", "--language", "english"])
    said = capsys.readouterr().err
    assert ended.value.code == 2 and '"english" is not a language' in said and " en, " in said
    assert not (folder / "out").exists()


def test_a_teacher_without_its_script_leaves_no_folder_behind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for made in (False, True):
        if made:
            (folder / "out").mkdir()
        with pytest.raises(SystemExit) as ended:
            main(["think", "pics", "--teacher", "scripted/nofile.jsonl", "--out", "out"])
        assert ended.value.code == 2 and (folder / "out").exists() == made
    main(["think", "pics", *ASKED, "--labels", "names.txt", "--out", "out", "--json"])
    assert json.loads(capsys.readouterr().out)["kept"] == 6


def test_other_settings_are_named_with_their_values(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["think", "pics", *ASKED, "--labels", "names.txt", "--out", "out"])
    with pytest.raises(SystemExit):
        main(["think", "pics", *ASKED[2:], "--samples", "1", "--least-words", "9", "--out", "out"])
    said = " ".join(capsys.readouterr().err.split())
    assert "rules.least_words (was 8, now 9)" in said
    assert 'teachers (was ["scripted/a.jsonl","scripted/b.jsonl"], now ["scripted/b.jsonl"])' in said


def test_one_of_each_is_one(folder: Path) -> None:
    asked = ["--teacher", "scripted/a.jsonl", "--samples", "1", "--prompt", "Is it a {label}?", "--limit", "1"]
    main(["think", "pics", *asked, "--labels", "names.txt", "--out", "out"])
    assert "\n1 trace (thinking and answer) of 1 row in 1 shard. " in (folder / "out" / "README.md").read_text()


@pytest.mark.parametrize(
    ("verifier", "said", "on_card"),
    [
        (None, "note: no verifier", "not verified"),
        ("scripted/c.jsonl", "note: scripted/c.jsonl verified what it said itself", "The verifier is a teacher, too"),
        ("scripted/v.jsonl", None, "v.jsonl verified"),
    ],
)
def test_who_did_not_look_at_the_pictures_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], verifier: str | None, said: str | None, on_card: str
) -> None:
    script(folder / "c.jsonl", [{"text": ONE.format("a fish")}])
    script(folder / "v.jsonl", [{"text": '{"verdicts": []}'}])
    more = () if verifier is None else ("--verifier", verifier)
    main(["think", "pics", "--teacher", "scripted/c.jsonl", "--samples", "1", "--out", "out", *more])
    told = capsys.readouterr().err
    assert said in told if said is not None else "note:" not in told
    assert on_card in (folder / "out" / "README.md").read_text()
