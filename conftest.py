"""For all tests: what is made once for all workers, what needs the synthetic world, and what was skipped and why."""

from __future__ import annotations

import fcntl
import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

MadeOnce = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> MadeOnce:
    """`made_once("life", make)` → a folder that `make(folder)` filled, the same for all workers; not to be written to.

    Whoever comes first makes it, the others wait. `make` is given a path at which there is nothing yet.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def made_once(name: str, make: Callable[[Path], object]) -> Path:
        folder, done = shared / f"once-{name}" / name, shared / f"once-{name}" / "done"
        folder.parent.mkdir(exist_ok=True)
        with _alone(shared / f"once-{name}" / "lock"):
            if not done.exists():
                make(folder)
                done.touch()
        return folder

    return made_once


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
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
