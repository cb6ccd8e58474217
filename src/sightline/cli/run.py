"""`sightline run BENCH --system SPEC --out RUN`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import Common, PlanOptions, Switch, show_plan
from sightline.errors import UserError

Positive = Annotated[int, Parameter(validator=Number(gte=1))]


def run(
    benchmark: Path,
    /,
    *,
    system: str,
    out: Path | None = None,
    repeat: Positive = 1,
    concurrency: Positive | None = None,
    retry_failed: Switch = False,
    spending: PlanOptions = PlanOptions(),
    common: Common = Common(),
) -> None:
    """Run a system over a benchmark. Run it again to go on after a stop: what is done is not done twice.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark.
    system:
        What is tested: kind:key=value,… or a TOML file. Kinds: retriever, hybrid, chat, agent, http, blind,
        oracle, cut, vote, and those of other packages.
    out:
        The folder of the run, new or begun before.
    repeat:
        How often each task is tried.
    concurrency:
        How many tasks at once; the system's own choice when not given.
    retry_failed:
        Forget the failures in the run that another try may mend, and try those tasks again.
    """
    asked: dict[str, Any] = {
        "repeat": repeat,
        "seed": common.seed or 0,
        "limit": common.limit,
        "workspace": common.workspace_path,
        "config": common.settings(),
        "asking": spending.asking(common),
    }
    if spending.plan:
        from sightline.runs.runner import price_run

        plan = price_run(benchmark, system, out, **asked)
        if plan.stages or common.json:
            show_plan(plan, common)
        else:
            common.console.print("  such a system asks no chat model: there is nothing to price")
        return
    if out is None:
        raise UserError("there is no place for the run.", "say where: --out FOLDER")
    from sightline.runs.runner import run as run_system

    done = run_system(benchmark, system, out, concurrency=concurrency, retry_failed=retry_failed, **asked)
    common.warn(done.notes)
    common.show(done)
