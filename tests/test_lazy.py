"""Names that are imported when they are first used: as good as imported ones, and not before."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

MODULES = ("sightline",)
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
