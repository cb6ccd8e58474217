"""For all tests: the command line, what needs the synthetic world, what was skipped and why."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest

from command_line import SECONDS, Cli, Commands, plain_environment


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    """The process that commands are forks of."""
    started = Commands()
    yield started
    started.close()


_DATA = "XDG_DATA_HOME"


@pytest.fixture(scope="session", autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test writes to the user's own workspace: what names none works in a temporary one."""
    folder = tmp_path_factory.getbasetemp() / "data"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(_DATA, str(folder / "all"))
        yield folder


@pytest.fixture(autouse=True)
def own_data_folder(data_folder: Path) -> Iterator[None]:
    """Nor does it see what another test left there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(_DATA, str(data_folder / uuid4().hex))
        yield


@pytest.fixture
def cli(tmp_path: Path, commands: Commands) -> Cli:
    """`cli("scan", folder, "--json")` → exit code, stdout and stderr; run in `tmp_path` with a plain terminal."""

    def cli(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        words, whole = [str(argument) for argument in arguments], plain_environment(**environment)
        # What Python itself reads, it reads when it starts.
        if hasattr(os, "fork") and not any(name.startswith("PYTHON") for name in environment):
            return commands.run(words, tmp_path, whole)
        command = [sys.executable, "-m", "sightline", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=whole, capture_output=True, text=True, timeout=SECONDS, check=False
        )

    return cli


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # A process stays connected to its first Ray cluster: those that bring one of their own come before all others.
    items.sort(key=lambda item: item.path.name != "test_ray_cluster.py")
    if find_spec("sightline_world") is None:
        for item in items:
            if item.get_closest_marker("world"):
                item.add_marker(pytest.mark.skip(reason="needs sightline-world"))


def pytest_collection_finish() -> None:
    """Collected tests and loaded modules stay till the end: the garbage collector need not look at them each time."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many tests were skipped, by reason; also into the file that $SKIPPED_TESTS names."""
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    if not reasons:
        return
    lines = [f"{count:5} {reason}" for reason, count in reasons.most_common()]
    terminalreporter.section(f"{reasons.total()} skipped")
    for line in lines:
        terminalreporter.write_line(line)
    if "PYTEST_XDIST_WORKER" not in os.environ and (kept := os.environ.get("SKIPPED_TESTS")):
        with Path(kept).open("a", encoding="utf-8") as file:
            file.write("\n".join([f"{reasons.total()} in {Path(sys.prefix).name}:", *lines, ""]))


def _reason(report: pytest.TestReport) -> str:
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return told.removeprefix("Skipped: ")
