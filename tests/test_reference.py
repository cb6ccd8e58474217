"""The pages that docs/make_reference.py writes are up to date, and name all that is public."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import sightline

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.world  # Its commands are on the page.
def test_the_reference_is_up_to_date() -> None:
    call = [sys.executable, str(DOCS / "make_reference.py"), "--check"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_everything_public_is_described_once(maker: ModuleType) -> None:
    names = re.findall(r"^### (?:class )?(\w+)$", maker.api_page(), re.MULTILINE)
    assert sorted(names) == sorted(set(sightline.__all__) - {"__version__"})


def test_a_function_has_its_parameters_with_types_what_it_returns_and_an_example(maker: ModuleType) -> None:
    part = maker.api_page().split("### power\n")[1].split("\n### ")[0]
    assert "sightline.power(runs=(), *, difference=None, tasks=None" in part
    assert "- **difference** (`float | None`): The true difference that should be found." in part
    assert "Returns `SamplePlan`: " in part
    assert "```pycon\n>>> import sightline\n>>> sightline.power(" in part
