"""The ledger adds up what the journal holds, and does not call unknown money zero."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal_tools import record_all
from sightline.calls.journal import Journal
from sightline.calls.journal_tables import Call
from sightline.calls.ledger import read_ledger
from sightline.errors import UserError
from sightline.plain_text import dollars
from sightline.types import ChatReply, Failure, Usage


def call(number: int, stage: str, model: str, usd: float | None, failure: str | None = None) -> Call:
    result = Failure(failure, "") if failure else ChatReply("x")
    usage = Usage(100 + number, 10, 20, 5, 7)
    return Call(bytes([number]) * 32, stage, model, "e", 1.0, result, usage=usage, usd=usd, seconds=number / 10)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    with Journal(tmp_path) as journal:
        record_all(journal, [call(n, "annotate", "openai/m", 0.01) for n in range(50)])
        record_all(journal, [call(n, "annotate", "openai/m", 0.0, "timeout") for n in (50, 51)])
        record_all(journal, [call(n, "judge", "openai/m", 1.0) for n in range(60, 63)])
        record_all(journal, [call(70, "judge", "openai/m", None, "length")])
        record_all(journal, [call(n, "judge", "vllm/m", None) for n in range(80, 84)])
        for _ in range(9):
            journal.count_hit("judge", "vllm/m", None)
        journal.count_hit("query", "openai/m", 0.5)
    return tmp_path


def test_by_stage_and_model(workspace: Path) -> None:
    found = read_ledger(workspace)
    assert [(row.stage, row.model) for row in found.rows] == [
        ("annotate", "openai/m"),
        ("judge", "openai/m"),
        ("judge", "vllm/m"),
        ("query", "openai/m"),
    ]
    first = found.rows[0]
    assert (first.calls, first.failed, first.failures) == (52, 2, {"timeout": 2})
    assert (first.input, first.cached, first.output) == (sum(100 + n for n in range(52)), 520, 1040)
    assert (first.reasoning, first.image) == (260, 364)
    assert first.usd == pytest.approx(0.5) and first.money == "$0.50"
    times = [n / 10 for n in range(50)]
    assert (first.p50, first.p95, first.p99) == pytest.approx(tuple(np.percentile(times, [50, 95, 99])))
    assert [row.money for row in found.rows[1:]] == ["at least $3.00", "unknown", "$0.00"]
    assert (found.rows[2].from_journal, found.rows[3].from_journal, found.rows[3].calls) == (9, 1, 0)
    assert found.rows[3].saved_usd == 0.5 and found.rows[3].p50 is None


def test_one_of_the_two_and_the_total(workspace: Path) -> None:
    stages, models = read_ledger(workspace, "stage"), read_ledger(workspace, "model")
    assert [(row.stage, row.model, row.calls) for row in stages.rows] == [
        ("annotate", None, 52),
        ("judge", None, 8),
        ("query", None, 0),
    ]
    assert [(row.stage, row.model, row.calls) for row in models.rows] == [
        (None, "openai/m", 56),
        (None, "vllm/m", 4),
    ]
    assert stages.total == models.total
    total = stages.total
    assert (total.calls, total.failed, total.unpriced, total.from_journal) == (60, 3, 5, 10)
    assert total.money == "at least $3.50"


def test_for_machines_unknown_money_is_null(workspace: Path) -> None:
    rows = read_ledger(workspace).to_dict()["rows"]
    assert [row["usd"] for row in rows] == [pytest.approx(0.5), pytest.approx(3.0), None, 0.0]


def test_a_workspace_without_a_journal(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no journal"):
        read_ledger(tmp_path)
    assert list(tmp_path.iterdir()) == []
    Journal(tmp_path).close()
    assert read_ledger(tmp_path).rows == () and read_ledger(tmp_path).total.calls == 0


@pytest.mark.parametrize(
    ("usd", "text"),
    [(0, "$0.00"), (0.61, "$0.61"), (1234.5, "$1,234.50"), (0.00042, "$0.00042"), (0.999, "$1.00"), (0.05, "$0.050")],
)
def test_dollars(usd: float, text: str) -> None:
    assert dollars(usd) == text


@given(st.floats(1e-9, 1e6))
def test_money_that_was_spent_never_reads_as_nothing(usd: float) -> None:
    text = dollars(usd).replace("$", "").replace(",", "")
    assert float(text) == pytest.approx(usd, rel=0.06)
