"""Does what Sightline says about labels, scores and coverage hold? Planted errors, and real photographs.

Run: python benchmarks/trust.py [SECTION …] [--repetitions 2000] [--processes 2]. Without a section all of them run. A
section (`SECTIONS`) is a function of the options in a module of its own, which prints its tables and returns what
missed its aim, or a script with options of its own, which runs with its defaults.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from pathlib import Path

SECTIONS = {
    "scores": "trust_scores:scores",
    "winner": "trust_scores:winner",
    "others": "trust_scores:others",
    "clusters": "trust_scores:clusters",
    "labels": "trust_labels:labels",
    "coverage": "trust_coverage:coverage",
    "growth": "trust_coverage:growth",
    "review": "trust_review:review",
    "captions": "caption_truth:main",
    "intervals": "trust_intervals.py",
    "shortcuts": "trust_shortcuts.py",
}


@dataclass(frozen=True, slots=True)
class Options:
    """How often each cell is repeated, and on how many processes."""

    repetitions: int = 2000
    processes: int = 2
    seed: int = 0


Section = Callable[[Options], list[str]]


def load(name: str) -> Section:
    """The function of a section."""
    if SECTIONS[name].endswith(".py"):
        return lambda _: _script(SECTIONS[name])
    module, _, function = SECTIONS[name].partition(":")
    section: Section = getattr(import_module(module), function)
    return section


def _script(name: str) -> list[str]:
    subprocess.run([sys.executable, Path(__file__).with_name(name)], check=True)
    return []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if unknown := [name for name in given.sections if name not in SECTIONS]:
        parser.error(f"There is no section {unknown[0]}. Choose from {', '.join(SECTIONS)}.")
    options = Options(given.repetitions, given.processes, given.seed)
    print(f"{date.today()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}")
    missed: list[str] = []
    for name in given.sections or SECTIONS:
        began = time.perf_counter()
        print(f"\n== {name}", flush=True)
        missed += [f"{name}: {line}" for line in load(name)(options)]
        print(f"({time.perf_counter() - began:.0f} s)", flush=True)
    print("\nMissed aims:" if missed else "\nEvery aim was met.")
    for line in missed:
        print(f"- {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
