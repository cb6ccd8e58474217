"""The frame of the command line: help, mistakes, exit codes."""

from __future__ import annotations

import errno
import gc
import json
import re
import sqlite3
import tomllib
from pathlib import Path
from typing import Literal

import pytest

from command_line import Cli
from sightline.cli import app
from sightline.cli.app import _commands, _worded, build, main
from sightline.errors import UserError


@pytest.fixture(autouse=True, scope="module")
def _collected() -> None:
    """What servers of other tests left is destroyed now: where that is logged while Python 3.11 parses a docstring, the
    parser ends in "AST constructor recursion depth mismatch"."""
    gc.collect()


def test_help_shows_the_verbs_by_group_in_the_order_of_the_flow(cli: Cli) -> None:
    done = cli("--help")
    shown = re.findall(r"^╭─ ([\w ]+?) ─|^│ ([a-z]+) ", done.stdout, re.MULTILINE)
    flow = ["Your pictures", "scan", "search", "Benchmarks", "make", "import", "export", "validate", "Evaluate", "run"]
    flow += ["score", "compare", "report", "leaderboard", "power", "Reasoning", "think", "Tools", "ledger", "Options"]
    assert done.returncode == 0
    assert [word for pair in shown for word in pair if word in flow] == flow


def test_alone_it_shows_the_first_steps(cli: Cli) -> None:
    shown, whole = cli().stdout, build()
    for words in re.findall(r"^  sightline (.+?)  ", shown, re.MULTILINE):
        whole.parse_args(words.replace("COMMAND --help", "--help"), exit_on_error=False, print_error=False)
    assert "sightline scan ~/Pictures" in shown


def test_the_help_of_every_verb_ends_with_examples_that_its_options_allow(cli: Cli) -> None:
    examples = tomllib.loads(Path(app.__file__).with_name("examples.toml").read_text("utf-8"))
    assert set(examples) == {name for _, name, _, _ in _commands("scan")}
    whole = build()
    for example in (each for several in examples.values() for each in several):
        whole.parse_args(example["command"], exit_on_error=False, print_error=False)
    assert "sightline search --like coffee.png" in cli("search", "--help").stdout


@pytest.mark.parametrize("shell", ["bash", *(pytest.param(name, marks=pytest.mark.slow) for name in ("zsh", "fish"))])
def test_shells_complete_verbs_and_options(shell: Literal["bash", "zsh", "fish"]) -> None:
    script = build("scan").generate_completion(shell=shell)
    assert "leaderboard" in script and "follow-links" in script


def test_each_option_of_each_command_says_what_it_is_for() -> None:
    """Most commands take these words from the function of that name (`described_by`)."""
    root = build()
    commands = [(name, root[name]) for _, name, _, _ in _commands("scan")]
    commands += [(f"{name} {stage}", app[stage]) for name, app in commands for stage in app if stage[0] != "-"]
    without_words = [
        f"{name} {argument.name}"
        for name, app in commands
        if app.default_command is not None
        for argument in app.assemble_argument_collection(parse_docstring=True)
        if argument.show and not argument.parameter.help
    ]
    assert len(commands) > 60
    assert without_words == []


def test_no_option_is_there_only_because_another_takes_a_list(cli: Cli) -> None:
    """As `--empty-teacher` would be, which says nothing that leaving out --teacher does not."""
    for verb in ("think", "ablate", "train"):
        assert "--empty-" not in cli(verb, "--help").stdout
    assert "--no-verify" not in cli("ledger", "--help").stdout


def test_every_verb_has_help_and_the_common_options(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in [name for name in build() if not name.startswith("-")]:
        words = {"config": ("config", "show"), "embed": ("embed", "pictures"), "batch": ("batch", "make")}.get(
            verb, (verb,)
        )
        main([*words, "--help"])
        shown = capsys.readouterr().out
        for option in ("--workspace", "--config", "--json", "--limit", "--seed", "-v", "--local-only"):
            assert option in shown, (verb, option)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("scn", "x"), 'Did you mean "scan"?'),
        (("scan",), "SOURCE"),
        (("scan", "x", "--jsn"), "Did you mean --json?"),
        (("scan", "no-such-folder"), "There is no folder"),
        (("scan", "x", "--limit", "many"), "many"),
        (("export", "corpus-jsnl", "x", "--out", "y"), 'Did you mean "corpus-jsonl"?'),
        (("validate", "x"), "neither a benchmark nor a run"),
        (("compare", "one"), "There is no run one"),
    ],
)
def test_a_mistake_gets_a_message_and_exit_code_2(cli: Cli, arguments: tuple[str, ...], says: str) -> None:
    done = cli(*arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr and done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr and done.stdout == ""


def test_a_folder_that_is_called_like_a_stage_of_make(cli: Cli, tmp_path: Path) -> None:
    told = "For the folder of that name write ./pictures."
    assert told not in cli("make", "pictures", "--plan").stderr
    (tmp_path / "pictures").mkdir()
    done = cli("make", "pictures", "--plan")
    assert done.returncode == 2 and told in done.stderr
    assert told not in cli("make", "./pictures", "--plen").stderr


def test_doctor_says_what_is_there(cli: Cli) -> None:
    done = cli("doctor", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["healthy"] is True
    assert set(found["core"]) == {
        "numpy",
        "pillow",
        "pydantic",
        "orjson",
        "rich",
        "cyclopts",
        "aiohttp",
        "genai-prices",
    }
    assert {extra["name"] for extra in found["extras"]} >= {"heif", "parquet", "hub"}
    assert "Sightline" in cli("doctor").stdout


def test_version(cli: Cli) -> None:
    import sightline

    first, python, extras = cli("--version").stdout.splitlines()[:3]
    assert first == sightline.__version__ and python.startswith("Python 3.") and extras.startswith("extras: ")


@pytest.mark.parametrize(
    ("error", "fix"),
    [
        (sqlite3.DatabaseError("database disk image is malformed"), "sightline ledger --repair"),
        (OSError(errno.EIO, "Input/output error", "ws"), "Check the disk"),
        (OSError(errno.EROFS, "Read-only file system", "ws"), "choose another place"),
        (OSError(errno.ENOSPC, "No space left on device", "ws"), "Make room"),
    ],
)
def test_what_a_disk_does_is_said_with_its_fix(
    error: Exception, fix: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("sightline.cli.app._call", broken)
    with pytest.raises(SystemExit) as ended:
        main(["ledger"])
    said = capsys.readouterr().err
    assert ended.value.code == 2 and said.startswith("error: ") and fix in said and "Traceback" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", " "], "error: The query is empty.\n  Say what to look for: sightline search"),
        # What the user gave begins the message as it was given.
        (["validate", "a"], "error: a is neither a benchmark nor a run.\n  Give the folder that holds"),
        (["score", "bench/", "run"], "error: bench is not a benchmark"),
    ],
)
def test_errors_and_their_fixes_are_sentences(cli: Cli, tmp_path: Path, words: list[str], said: str) -> None:
    for name in ("a", "bench", "run"):
        (tmp_path / name).mkdir()
    assert cli(*words).stderr.startswith(said)


@pytest.mark.parametrize(
    ("fix", "shown"),
    [
        ("pip install 'sightline[view]'", "pip install 'sightline[view]'"),
        ("sightline index --rebuild", "sightline index --rebuild"),
        ("export KEY=…, or leave key_env out", "export KEY=…, or leave key_env out"),
        ("docs/filters.md has the fields", "docs/filters.md has the fields"),
        ("write the lower one first", "Write the lower one first"),
    ],
)
def test_commands_and_paths_in_a_fix_stay_as_they_are(fix: str, shown: str) -> None:
    assert _worded(UserError("this can't be.", fix), ["scan"]) == f"This can't be.\n  {shown}"
