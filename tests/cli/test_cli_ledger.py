"""`sightline ledger` on a real journal."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from command_line import Cli
from journal_tools import record_all
from sightline.calls.journal import Journal
from sightline.calls.journal_tables import Call
from sightline.types import ChatReply, Failure, Usage


def fill(workspace: Path) -> None:
    def call(number: int, stage: str, model: str, result: ChatReply | Failure, usd: float | None) -> Call:
        usage = Usage(1000, 100, 50, 20, 300)
        return Call(bytes([number]) * 32, stage, model, "e", 1.0, result, usage=usage, usd=usd, seconds=0.5)

    with Journal(workspace) as journal:
        record_all(journal, [call(n, "annotate", "openai/gpt-5-mini", ChatReply("x"), 0.61) for n in range(2)])
        record_all(journal, [call(9, "annotate", "openai/gpt-5-mini", Failure("content-filter", ""), 0.01)])
        record_all(journal, [call(n, "judge", "vllm/own", ChatReply("x"), None) for n in (20, 21)])
        journal.count_hit("judge", "vllm/own", None)


def test_a_table_for_people(cli: Cli, tmp_path: Path) -> None:
    fill(tmp_path / "ws")
    done = cli("ledger", "--workspace", tmp_path / "ws", COLUMNS="160")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0][:5] == ["stage", "model", "money", "calls", "failed"]
    assert lines[1][:6] == ["annotate", "openai/gpt-5-mini", "$1.23", "3", "1", "0"]
    assert lines[1][6:11] == ["3,000", "300", "900", "150", "60"] and lines[1][11:] == [
        "0.50",
        "/",
        "0.50",
        "/",
        "0.50",
    ]
    assert lines[2][:6] == ["judge", "vllm/own", "unknown", "2", "0", "1"]
    assert lines[3][:6] == ["total", "at", "least", "$1.23", "5", "1"]
    assert "failed: content-filter 1" in " ".join(lines[4])


def test_by_model_and_for_machines(cli: Cli, tmp_path: Path) -> None:
    fill(tmp_path / ".sightline")
    done = cli("ledger", "--by", "model", "--json")
    found = json.loads(done.stdout)
    assert [(row["stage"], row["model"], row["usd"]) for row in found["rows"]] == [
        (None, "openai/gpt-5-mini", 1.23),
        (None, "vllm/own", None),
    ]
    total = found["total"]
    assert (total["calls"], total["failed"], total["from_journal"]) == (5, 1, 1)
    assert total["money"] == "at least $1.23" and total["failures"] == {"content-filter": 1}
    assert total["p50"] == 0.5


def test_no_journal_is_the_users_to_solve(cli: Cli, tmp_path: Path) -> None:
    done = cli("ledger")
    assert done.returncode == 2 and "There is no journal" in done.stderr
    assert not list(tmp_path.iterdir()) and not Path(os.environ["XDG_DATA_HOME"]).exists()
    done = cli("ledger", "--by", "picture")
    assert done.returncode == 2 and "picture" in done.stderr


@pytest.mark.parametrize("by", [(), ("--by", "stage")])
def test_no_number_is_cut_in_a_pipe_or_on_a_narrow_screen(cli: Cli, tmp_path: Path, by: tuple[str, ...]) -> None:
    model = "openrouter/a-provider/with-a-very-long-name-of-a-model-and-its-version-2026-11-15"
    usage = Usage(123_456_789_012, 98_765_432_109, 87_654_321_098, 76_543_210_987, 65_432_109_876)
    with Journal(tmp_path / "ws") as journal:
        for number, usd in enumerate((1_234_567.89, None)):
            call = Call(bytes([number]) * 32, "annotate", model, "e", 1.0, ChatReply("x"), usage=usage, usd=usd)
            record_all(journal, [call])
    numbers = ("at least $1,234,567.89", "246,913,578,024", "175,308,642,196", "153,086,421,974", "130,864,219,752")
    piped = cli("ledger", *by, "--workspace", tmp_path / "ws", COLUMNS="80")
    assert all(number in piped.stdout for number in numbers) and "…" not in piped.stdout
    narrow = cli("ledger", *by, "--workspace", tmp_path / "ws", COLUMNS="80", FORCE_COLOR="1", TERM="dumb")
    assert all(number in narrow.stdout for number in numbers) and "…" not in narrow.stdout
    assert max(map(len, narrow.stdout.splitlines())) <= 90
