"""No text of ours holds a phrase of docs/style/banned.txt, and the page of warnings knows every warning and failure."""

from __future__ import annotations

import ast
from pathlib import Path

import check_style
import pytest

from sightline.metrics.blind_rows import NOT_BEATEN, SAME_SOURCE
from sightline.models.failures import LASTING, RETRYABLE
from sightline.runs.integrity import CHANGED_RUN

ROOT = check_style.ROOT


def test_no_text_holds_a_banned_phrase() -> None:
    assert list(check_style.faults()) == []


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("src/a.py", 'x = "2 files were passed over"', 'src/a.py:1: "passed over"'),
        ("src/a.py", 'x = (\n    "2 files were passed "\n    "over"\n)', "src/a.py:2:"),
        ("src/a.py", "# It is passed\n# over.", 'src/a.py:1: "passed over"'),
        ("docs/a.md", "Made  Labels", "generated labels"),
        ("docs/a.md", "passed, over", None),
        ("src/sightline/agent/a.py", "passed over", None),
    ],
)
def test_a_banned_phrase_is_named_with_its_place_and_what_to_write(
    tmp_path: Path, name: str, text: str, found: str | None
) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(text, "utf-8")
    told = list(check_style.faults(tmp_path))
    assert told == [] if found is None else len(told) == 1 and found in told[0]


def test_every_phrase_says_what_to_write() -> None:
    assert all(check_style.phrases().values()) and len(check_style.phrases()) > 20


def test_the_page_of_warnings_has_every_code_and_every_failure_of_a_call() -> None:
    codes = {NOT_BEATEN, SAME_SOURCE, CHANGED_RUN}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ScoreWarning" and node.args:
                codes |= {str(node.args[0].value)} if isinstance(node.args[0], ast.Constant) else set()
    assert len(codes) > 5
    page = (ROOT / "docs/warnings.md").read_text("utf-8")
    missing = {code for code in {*codes, "judge-error", *LASTING, *RETRYABLE} if f"`{code}`" not in page}
    assert missing == set()
