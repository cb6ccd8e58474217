"""The labelled replies of `benchmarks/replies.py`: no wrong letter is read, and few are missed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

_SCRIPT = Path(__file__).parents[3] / "benchmarks" / "replies.py"


@pytest.fixture(scope="module")
def corpus() -> ModuleType:
    if not _SCRIPT.is_file():
        pytest.skip("the benchmarks are not part of an installed package")
    spec = importlib.util.spec_from_file_location("replies", _SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["replies"] = module
    spec.loader.exec_module(module)
    return module


def test_no_wrong_letter_and_few_missed(corpus: ModuleType) -> None:
    families = [lines for name, lines in corpus._TEMPLATES.items() if name not in ("options", "held_out_eighth")]
    cases = [case for lines in families for case in corpus.replies(lines)]
    found = corpus.rates(cases, corpus.ours)
    assert found.replies >= 4_000
    assert not found.wrong
    assert len(found.missed) <= 0.01 * found.choosing


def test_wording_that_the_parser_was_not_changed_for(corpus: ModuleType) -> None:
    found = corpus.rates(list(corpus.replies(corpus._TEMPLATES["held_out_eighth"])), corpus.ours)
    assert len(found.wrong) <= 0.002 * found.replies
    assert len(found.missed) <= 0.06 * found.choosing


def test_the_peers_read_plain_letters(corpus: ModuleType) -> None:
    options = {"A": "cat", "B": "dog", "C": "red panda", "D": "horse"}
    for read in corpus.READERS.values():
        assert read("(B)", options) == "B"
        assert read("It shows a red panda today.", options) == "C"
