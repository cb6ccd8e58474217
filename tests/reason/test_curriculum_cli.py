"""`sightline curriculum`, as it is typed."""

from __future__ import annotations

import gc
import hashlib
import json
import tracemalloc
from errno import ENOSPC
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from reason.curriculum_tools import STEPS, drawn, lines, question, written
from sightline.cli import main
from sightline.cli.curriculum import curriculum as command
from sightline.errors import UserError
from sightline.reason.curriculum import compiler
from sightline.reason.curriculum.compiler import curriculum
from sightline.reason.curriculum.formats import FORMATS, FormatName
from sightline.reason.curriculum.schedule import lay_out
from sightline.types import Step


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return drawn(tmp_path_factory.mktemp("cli") / "bench", 36)


def contents(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_it_prints_the_stages_and_the_proof(bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["curriculum", str(bench), "--plan", "mir", "--out", str(tmp_path / "out")])
    said = capsys.readouterr().out
    assert "stage-5" in said
    assert "no known form of the target or the answer in the prompt: " in said
    assert "no picture of the test, or nearly one: not asked for" in said


def test_the_command_offers_every_format() -> None:
    assert get_args(get_type_hints(command)["format"]) == tuple(FORMATS)


def test_json_is_one_object(bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["curriculum", str(bench), "--plan", "plain", "--out", str(tmp_path / "out"), "--json", "--limit", "12"])
    found = json.loads(capsys.readouterr().out)
    assert (found["plan"], found["format"], found["tasks"], found["records"]) == ("plain", "sightline", 12, 12)
    assert found["proof"]["checks"]["leak"]["checked"] == 12
    assert found["stages"] == [
        {"name": "plain", "phase": "all", "records": 12, "tokens": found["tokens"]},
    ]


def test_the_same_seed_gives_the_same_bytes(bench: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        curriculum(bench, "mir", tmp_path / name, format="trl", seed=seed)
    a, b, c = (contents(tmp_path / name) for name in "abc")
    assert a == b
    assert a["train.jsonl"] != c["train.jsonl"]


def test_arms_have_the_same_tokens_when_asked(bench: Path, tmp_path: Path) -> None:
    totals, longest = [], 0
    for plan in ("mir", "plain", "full-chain", "shuffled", "reverse", "anti", "self-paced", "faded"):
        done = curriculum(bench, plan, tmp_path / plan, tokens=40_000)
        totals.append(done.tokens)
        longest = max(longest, done.proof["longest_record"])
    assert max(abs(total - 40_000) for total in totals) <= 6 * longest / 2
    assert len({totals[0], *totals[3:6]}) == 1, "the controls teach the same records"


def test_a_tokenizer_counts_exactly(bench: Path, tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    done = curriculum(bench, "full-chain", tmp_path / "out", tokenizer=tmp_path, picture_tokens=7, limit=6)
    rows = lines(tmp_path / "out/01-full-chain.jsonl")
    for row in rows:
        user, assistant = (message["content"] for message in row["messages"])
        words = len(user.replace("<image>", "").split()) + 4
        assert row["tokens"] == {
            "prompt": words,
            "pictures": 7 * len(row["images"]),
            "target": len(assistant.split()) + 4,
        }
    assert done.proof["longest_record"] == max(sum(row["tokens"].values()) for row in rows)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--plan", "nothing"], 2, 'no plan "nothing"'),
        (["--plan", "mir", "--limit-tokens", "10"], 4, "records fail a check"),
        (["--plan", "mir", "--format", "other"], 2, "other"),
        (["--plan", "mir", "--tokens", "10"], 2, '10 tokens are too few: stage "easy" would not have a single record'),
        (["--plan", "plain", "--tokenizer", "no/such/file", "--local-only"], 2, "not on this machine"),
    ],
)
def test_mistakes_end_with_their_code_and_write_nothing(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["curriculum", str(bench), *arguments, "--out", str(tmp_path / "out")])
    assert ended.value.code == code
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_full_disk_is_said_with_the_place(bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(compiler, "write_json", full)
    with pytest.raises(UserError, match=r"out can't be written: No space left on device\.\n  make room"):
        curriculum(bench, "plain", tmp_path / "out", limit=2)
    assert list(tmp_path.iterdir()) == []


def test_a_stop_says_that_nothing_is_there(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(compiler, "lay_out", stopped)
    with pytest.raises(SystemExit) as ended:
        main(["curriculum", str(bench), "--plan", "plain", "--out", str(tmp_path / "out")])
    assert ended.value.code == 130
    assert capsys.readouterr().err == f"error: stopped; nothing was written to {tmp_path / 'out'}.\n"


def test_questions_without_difficulty_are_sent_to_be_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path / "b", [question("q1", None), question("q2", None)])
    with pytest.raises(SystemExit) as ended:
        main(["curriculum", str(folder), "--plan", "mir", "--out", str(tmp_path / "out")])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "no difficulty (2)" in said
    assert "sightline difficulty" in said


def test_nothing_to_teach_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path / "b", [question("q1")], steps=())
    with pytest.raises(SystemExit) as ended:
        main(["curriculum", str(folder), "--plan", "full-chain", "--out", str(tmp_path / "out")])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "no summary step (1)" in said
    assert "sightline steps" in said


def test_tasks_of_other_kinds_are_not_sent_to_have_steps_made(tmp_path: Path) -> None:
    folder = written(tmp_path / "b", [question("q1", kind="answer", options=())])
    with pytest.raises(UserError, match=r"answer task \(1\)\.\n  give a benchmark of choose tasks"):
        curriculum(folder, "plain", tmp_path / "out")


def test_only_a_curriculum_is_replaced(bench: Path, tmp_path: Path) -> None:
    arguments = ["curriculum", str(bench), "--limit", "6", "--out", str(tmp_path / "out"), "--plan"]
    main([*arguments, "plain"])
    main([*arguments, "full-chain"])
    assert not (tmp_path / "out/01-plain.jsonl").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/mine.txt").write_text("mine")
    with pytest.raises(SystemExit):
        main([*arguments[:-3], "--out", str(tmp_path / "other"), "--plan", "plain"])
    assert (tmp_path / "other/mine.txt").read_text() == "mine"


@pytest.mark.slow
def test_memory_does_not_grow_with_the_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Held once every record is proved: some numbers for each question, not its 4,000 characters."""
    held: list[int] = []

    def measured(*given: Any) -> Any:
        gc.collect()  # Also empties Python's own store of freed objects.
        held.append(tracemalloc.get_traced_memory()[0])
        return lay_out(*given)

    monkeypatch.setattr(compiler, "lay_out", measured)
    long = [*STEPS[:3], Step("text-to-region", " ".join(f"word{n}" for n in range(500))), *STEPS[4:]]
    for count in (10, 40, 160):  # What is loaded once is loaded by the first.
        tasks = [question(f"q{n}", prompt=question("shown").prompt) for n in range(count)]
        folder = written(tmp_path / f"b{count}", tasks, long)
        tracemalloc.start()
        curriculum(folder, "full-chain", tmp_path / f"out{count}", pictures="leave")
        tracemalloc.stop()
    assert held[2] - held[1] < 120 * 800


def test_writing_again_replaces_its_own_files_alone(bench: Path, tmp_path: Path) -> None:
    """What was trained, and what a user put there, is nobody's to delete."""
    out = tmp_path / "out"
    curriculum(bench, "mir", out, limit=24)
    others = ("checkpoints/checkpoint.pt", "notes.txt", "pictures/mine.png", "train.yaml")
    for name in others:
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text(name)
    before = contents(out)
    curriculum(bench, "plain", out, limit=2, format="ms-swift")
    after = contents(out)
    assert {name: before[name] for name in others} == {name: after[name] for name in others}
    assert {name.partition("/")[0] for name in after} - {"checkpoints", "notes.txt", "train.yaml"} == {
        "README.md",
        "files.json",
        "pictures",
        "plan.json",
        "proof.json",
        "stages.json",
        "train.jsonl",
    }
    fresh = curriculum(bench, "plain", tmp_path / "new", limit=2, format="ms-swift")
    assert contents(fresh.out).items() <= after.items()
    assert {name for name in after if name.startswith("pictures/")} == {
        "pictures/mine.png",
        *(name for name in contents(fresh.out) if name.startswith("pictures/")),
    }


def test_what_is_not_its_own_is_not_overwritten(bench: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    curriculum(bench, "plain", out, limit=2)
    (out / "train.yaml").write_text("mine")
    before = contents(out)
    with pytest.raises(UserError, match=r"train\.yaml does not belong to the curriculum"):
        curriculum(bench, "plain", out, limit=2, format="llama-factory")
    assert contents(out) == before


def test_a_folder_from_before_the_list_keeps_what_is_not_known(bench: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    curriculum(bench, "mir", out, limit=24)
    (out / "files.json").unlink()
    (out / "checkpoints").mkdir()
    (out / "checkpoints/checkpoint.pt").write_text("weights")
    curriculum(bench, "plain", out, limit=2)
    assert (out / "checkpoints/checkpoint.pt").read_text() == "weights"
    assert not (out / "02-stage-1.jsonl").exists() and (out / "01-plain.jsonl").exists()


@pytest.mark.parametrize("name", FORMATS)
def test_the_command_trains_beside_the_curriculum(bench: Path, tmp_path: Path, name: FormatName) -> None:
    done = curriculum(bench, "plain", tmp_path / "out", limit=2, format=name)
    said = (done.out / "README.md").read_text()
    if name == "llama-factory":
        said += (done.out / "train.yaml").read_text()
    assert "../plain-0-trained" in said and "checkpoints" not in said
