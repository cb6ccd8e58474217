"""`sightline run BENCH --system SPEC --out RUN`."""

from __future__ import annotations

from pathlib import Path

from sightline.cli.options import Common, EngineOption, PlanOptions, Positive, Switch, described_by
from sightline.errors import UserError
from sightline.runs.runner import run as run_system


@described_by(run_system)
def run(
    benchmark: Path,
    /,
    *,
    system: str,
    out: Path | None = None,
    repeat: Positive = 1,
    concurrency: Positive | None = None,
    retry_failed: Switch = False,
    show_annotations: Switch = False,
    spending: PlanOptions = PlanOptions(),
    engine: EngineOption = "local",
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
    """
    if out is None and not spending.plan:
        raise UserError("No folder is given for the run.", "Give one: --out FOLDER.")
    done = run_system(
        benchmark,
        system,
        out,
        repeat=repeat,
        concurrency=concurrency,
        retry_failed=retry_failed,
        show_annotations=show_annotations,
        limit=common.limit,
        session=common.session(spending.calls(common), engine),
    )
    common.warn(done.notes)
    common.show(done)
