"""Names that are imported when they are first used: as good as imported ones, and not before."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from sightline.lazy import later

MODULES = (
    "sightline",
    "sightline.benchmark",
    "sightline.engine",
    "sightline.metrics",
    "sightline.metrics.answers",
    "sightline.metrics.choices",
    "sightline.metrics.steps",
    "sightline.retrieval",
)
PARTS = ("agent.ask", "benchmark.folder", "engine.async_map", "metrics.steps.alignment", "retrieval.index")


@pytest.mark.parametrize("name", MODULES)
def test_all_promised_names_are_there_and_listed(name: str) -> None:
    module = import_module(name)
    assert set(module.__all__) <= set(dir(module))
    for promised in module.__all__:
        assert getattr(module, promised) is not None
    assert dir(module) == sorted(set(dir(module)))
    assert {"__name__", "__doc__", "__all__"} <= set(dir(module))


@pytest.mark.parametrize("name", MODULES)
def test_an_unknown_name_is_told_with_its_module(name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        import_module(name).serach  # noqa: B018
    assert str(caught.value) == f"module '{name}' has no attribute 'serach'"


def test_listing_names_loads_none_of_them() -> None:
    code = (
        "import sys\n"
        "import sightline, sightline.benchmark, sightline.engine, sightline.retrieval, sightline.metrics.steps\n"
        "parts = (sightline.benchmark, sightline.engine, sightline.retrieval, sightline.metrics.steps)\n"
        "for module in (sightline, *parts):\n"
        "    dir(module)\n"
        f"print([part for part in {PARTS!r} if f'sightline.{{part}}' in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_names_come_from_modules_inside_from_others_and_are_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "lazily_made"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text(
        "from sightline.lazy import later\nhere = 1\n"
        "__getattr__, __dir__ = later(__name__, {'inner': '.parts', 'sqrt': 'math', 'gone': '.parts'}, {'deep'})\n"
    )
    (package / "parts.py").write_text("inner = object()\n")
    (package / "deep" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    made = import_module("lazily_made")
    assert {"here", "inner", "sqrt", "gone", "deep"} <= set(dir(made))
    assert made.sqrt is import_module("math").sqrt
    assert made.inner is import_module("lazily_made.parts").inner
    assert made.deep is import_module("lazily_made.deep")
    with pytest.raises(AttributeError, match=r"module 'lazily_made\.parts' has no attribute 'gone'"):
        made.gone  # noqa: B018


def test_a_name_follows_the_module_that_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    get, _ = later("anywhere", {"sqrt": "math"})
    monkeypatch.setattr("math.sqrt", "replaced")
    assert get("sqrt") == "replaced"
