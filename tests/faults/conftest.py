"""How many faults were injected, and the seed that repeats them, at the end of a run."""

from __future__ import annotations

from typing import Any

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ended = (*terminalreporter.stats.get("passed", ()), *terminalreporter.stats.get("failed", ()))
    told = [dict(report.user_properties) for report in ended if isinstance(report, pytest.TestReport)]
    faults: list[dict[str, Any]] = [properties for properties in told if "faults" in properties]
    if faults:
        count, seeds = sum(each["faults"] for each in faults), {each["FAULT_SEED"] for each in faults}
        terminalreporter.section(f"{count:,} faults injected, FAULT_SEED={', '.join(map(str, seeds))}")
