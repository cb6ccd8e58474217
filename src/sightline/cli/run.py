"""`sightline run BENCH --system SPEC --out RUN`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import Common, PlanOptions, Switch
from sightline.english import counted

if TYPE_CHECKING:
    from sightline.runs.summary import RunSummary

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
    from sightline.runs.runner import run as run_system

    done = run_system(
        benchmark,
        system,
        out,
        repeat=repeat,
        concurrency=concurrency,
        retry_failed=retry_failed,
        limit=common.limit,
        session=common.session(spending.asking(common)),
    )
    common.warn(done.notes)
    if common.json:
        common.print_json(done.to_json())
    else:
        common.console.print(to_text(done, benchmark), markup=False, soft_wrap=True)


def to_text(done: RunSummary, benchmark: Path) -> str:
    """What was done, how long it took, and what comes next."""
    before = done.attempts - done.made
    lines = [
        f"  {done.run.system} on {done.run.benchmark}: {counted(done.attempts, 'attempt')} "
        f"at {counted(done.tasks, 'task')}" + (f", {before:,} of them before" if before else "")
    ]
    if done.failures:
        listed = ", ".join(f"{kind} {count:,}" for kind, count in done.failures.items())
        lines.append(f"  failures, which count as zero: {listed}")
    if done.left_out:
        listed = ", ".join(f"{count:,} {kind}" for kind, count in done.left_out.items())
        lines.append(f"  left out, because such a system does not do them: {listed}")
    times = done.latency
    if times.p50 is not None and times.p90 is not None and times.p99 is not None:
        lines.append(
            f"  time: p50 {_time(times.p50)}, p90 {_time(times.p90)}, p99 {_time(times.p99)} "
            f"over {counted(times.n, 'answer')}"
            + ("" if times.index is None else f"; index built in {_time(times.index)}")
        )
    lines.append(f"  next: sightline score {benchmark} {done.folder}")
    return "\n".join(lines)


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"
