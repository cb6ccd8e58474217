"""The front of it: what `--engine` takes, `spread` on this machine, and what is said when Ray can't be had."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import ray_stages
from cyclopts import App
from hypothesis import given
from hypothesis import strategies as st
from ray_desk import ray_or_skip
from test_calls_kill import asked_since, counting_server

from sightline.calls.budget import Budget
from sightline.calls.rate_limit import RateLimits
from sightline.calls.stages import SharedServices, StageSpec, check_portable, run_spread, spread
from sightline.cli.options import EngineOption
from sightline.engine.async_map import Mapped, Stage
from sightline.engine.cluster import EngineChoice, connect
from sightline.errors import MissingExtraError, StoppedError, UserError
from sightline.types import Failure


async def gather(items: Any, spec: StageSpec[Any, Any], workspace: Path, **options: Any) -> list[Mapped[Any, Any]]:
    return [pair async for pair in spread(items, spec, workspace, show_progress=False, **options)]


@pytest.mark.parametrize(
    ("text", "kind", "address"),
    [
        ("local", "local", None),
        (" ray ", "ray", None),
        ("ray:10.0.0.5:6379", "ray", "10.0.0.5:6379"),
        ("ray:head.cluster-1:6379", "ray", "head.cluster-1:6379"),
        ("ray:[fe80::1]:6379", "ray", "[fe80::1]:6379"),
    ],
)
def test_engines_that_there_are(text: str, kind: str, address: str | None) -> None:
    choice = EngineChoice.parse(text)
    assert (choice.kind, choice.address) == (kind, address)
    assert str(choice) == text.strip() and EngineChoice.parse(str(choice)) == choice


@pytest.mark.parametrize(
    "text",
    [
        "",
        "dask",
        "Ray",
        "local:1",
        "ray:",
        "ray:host",
        "ray:host:0",
        "ray:host:99999",
        "ray:h:1:2",
        "ray:ray://h:10001",
    ],
)
def test_anything_else_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(UserError) as caught:
        EngineChoice.parse(text)
    assert caught.value.fix is not None and "ray" in caught.value.fix


@given(st.text(max_size=20))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        assert str(EngineChoice.parse(text)) == text.strip()
    except UserError:
        return


@pytest.mark.parametrize(("given", "expected"), [([], "local"), (["--engine", "ray:head:6379"], "ray:head:6379")])
def test_verbs_take_it_as_an_option(given: list[str], expected: str) -> None:
    app = App()

    @app.default
    def verb(*, engine: EngineOption = "local") -> str:
        return str(EngineChoice.parse(engine))

    assert app(given, result_action="return_value") == expected


# --- here ----------------------------------------------------------------------------------------------------------


def test_local_is_a_map_with_journal_limits_and_budget(tmp_path: Path) -> None:
    with counting_server(0.001) as server:
        arguments = {"url": server, "limits": RateLimits.at_once(16)}
        spec = StageSpec("test", ray_stages.asking, arguments)
        budget = Budget.usd(0.5)
        done = []

        async def work() -> None:
            async for pair in spread(range(200), spec, tmp_path, budget=budget, show_progress=False):
                done.append(pair)

        with pytest.raises(StoppedError, match="budget"):
            asyncio.run(work())
        assert [item for item, _ in done] == list(range(100)) and budget.spent == pytest.approx(0.5)
        again = list(run_spread(range(200), spec, tmp_path, show_progress=False))
        assert again == [Mapped(n, f"answer to question {n}") for n in range(200)]
        assert len(asked_since(server, 0)) == 200


def test_local_never_imports_ray() -> None:
    code = """
import sys, tempfile, pathlib
sys.path.insert(0, sys.argv[1])
import ray_stages
from sightline.calls.stages import StageSpec, run_spread
with tempfile.TemporaryDirectory() as place:
    assert len(list(run_spread(range(9), StageSpec("s", ray_stages.failing), pathlib.Path(place)))) == 9
assert not any(name == "ray" or name.startswith(("ray.", "sightline.calls.ray")) for name in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code, Path(__file__).parent], check=True)


def test_a_factory_that_makes_no_stage_is_named(tmp_path: Path) -> None:
    not_a_stage: Any = ray_stages.not_a_stage
    with pytest.raises(TypeError, match=r"ray_stages.not_a_stage returned a str and not an engine.Stage"):
        asyncio.run(gather(range(3), StageSpec("s", not_a_stage), tmp_path))


def test_failures_are_values(tmp_path: Path) -> None:
    done = asyncio.run(gather([2, 3], StageSpec("s", ray_stages.failing), tmp_path))
    assert done == [Mapped(2, 2), Mapped(3, Failure("content-filter", "no 3", True))]


# --- elsewhere -----------------------------------------------------------------------------------------------------


def test_without_the_package_its_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"sightline\[ray\]"):
        asyncio.run(gather([1], StageSpec("s", ray_stages.failing), tmp_path, engine="ray"))


def test_an_address_where_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    ray_or_skip().shutdown()  # Another test of this process may be connected to a cluster of its own.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(UserError, match=f"not part of a Ray cluster at 127.0.0.1:{port}: nothing answers") as caught:
        asyncio.run(connect(EngineChoice("ray", f"127.0.0.1:{port}")))
    assert caught.value.fix is not None and "ray start" in caught.value.fix
    monkeypatch.setenv("RAY_ADDRESS", f"localhost:{port}")
    with pytest.raises(UserError, match=f"localhost:{port}: nothing answers"):
        asyncio.run(connect(EngineChoice("ray")))
    monkeypatch.setenv("RAY_ADDRESS", "ray://head:10001")
    with pytest.raises(UserError, match="Ray Client"):
        asyncio.run(connect(EngineChoice("ray")))


def test_a_stage_that_cannot_travel_is_told_before_anything_begins() -> None:
    def inner(shared: SharedServices) -> Stage[int, int]:
        return ray_stages.failing(shared)

    check_portable(StageSpec("s", ray_stages.failing, {"limits": RateLimits(), "budget": 5}))
    for factory in (inner, lambda shared: Stage("s", shared)):
        with pytest.raises(UserError, match="is not a function of a module"):
            check_portable(StageSpec("s", factory))
    with pytest.raises(UserError, match="its lock can't be pickled"):
        check_portable(StageSpec("s", ray_stages.failing, {"fine": 1, "lock": threading.Lock()}))
