"""`sightline demo` on a synthetic photo history."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.cli.options import Common

if TYPE_CHECKING:
    from sightline.metrics.comparison import SystemStanding
    from sightline.types import Estimate
    from sightline_world.demo.run import WorldDemo


def show_world_demo(out: Path, common: Common) -> None:
    """Run the demo, and say what came of it: what `sightline demo` does where the world is installed."""
    from sightline_world.demo.run import run_world_demo

    common.ignores_limit()
    show = common.console.print

    def tell(stage: str, line: str) -> None:
        text = f"  {stage:<10} {line}"
        if common.json:
            sys.stderr.write(f"{text}\n")
        else:
            show(text, markup=False, soft_wrap=True)

    made = run_world_demo(out, seed=common.seed or 0, tell=tell)
    if common.json:
        places = {"folder": str(made.folder), "report": str(made.page), "seconds": round(made.seconds, 1)}
        common.print_json({**places, "scan": made.found.scanned.to_json(), **made.found.to_dict()})
    else:
        show(world_to_text(made), markup=False, soft_wrap=True)


def world_to_text(made: WorldDemo) -> str:
    """How right the benchmark is, how the systems did, and where the page is."""
    from sightline.english import counted
    from sightline.metrics.tables import warning_text
    from sightline.reports.text import seconds, share
    from sightline_world.demo.results import RANKED, SET
    from sightline_world.demo.systems import SYSTEMS, standing

    found, audit = made.found, made.found.audit

    def between(one: Estimate) -> str:
        return f"{share(one.mean)} ({one.no_interval or f'{share(one.low)} to {share(one.high)}'})"

    rows = [["system", f"{RANKED}, generated labels", f"{RANKED}, ground truth", f"{SET}, exact sets", "cost", "p50"]]
    for name in SYSTEMS:
        spent = found.found.spending(name)
        standings = (
            found.found.standing(name, RANKED),
            standing(found.exact, name, RANKED),
            found.selected.standing(name, SET),
        )
        rows.append([name, *map(_standing, standings), spent.usd_text, "" if spent.p50 is None else seconds(spent.p50)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    pictures, queries = counted(found.scanned.pictures, "picture"), len(found.benchmark.tasks)
    return "\n".join(
        [
            f"\na synthetic photo history of {pictures} → a benchmark of {queries} queries, {audit.labels:,} judgments",
            f"against the ground truth: {between(audit.right)} of the labels are right",
            f"  precision {between(audit.precision)} · recall {between(audit.recall)}",
            "",
            *table,
            "  letters: systems that can't be told apart, or may not be called better, share one",
            *(f"  warning: {warning_text(one)}" for one in found.found.comparison.warnings),
            f"\nreport: {made.page}        next: sightline demo --pictures ~/Pictures",
        ]
    )


def _standing(one: SystemStanding) -> str:
    found = one.estimate
    return f"{found.mean:.2f} [{found.no_interval or f'{found.low:.2f}, {found.high:.2f}'}] {one.letters}"
