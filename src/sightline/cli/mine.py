"""`sightline mine [WORKSPACE] --model M --out BENCH` and its stages: parse, associate, graph, queries, check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App

from sightline.cli.asking import show_plan
from sightline.cli.common import Common, EngineOption
from sightline.cli.mine_common import MiningJob, Workspace, failed
from sightline.cli.mine_questions import questions
from sightline.english import counted
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.mine import Done
    from sightline.mine.pipeline import StageName
    from sightline.types import Benchmark

app = App(name="mine", help="Mine photo histories for requests that need their context.")


@app.default
def mine(
    workspace: Workspace = None,
    /,
    *,
    out: Path | None = None,
    engine: EngineOption = "local",
    job: MiningJob = MiningJob(),
) -> None:
    """Run all stages, and write what passed the checks as a benchmark. Run it again to go on after a stop.

    Parameters
    ----------
    out:
        The folder of the benchmark.
    """
    mining, common = job.mining(workspace, engine), job.common
    common.ignores_limit()
    if job.asking.plan:
        show_plan(mining.plan(), common)
        return
    if out is None:
        raise UserError("there is no place for the benchmark.", "say where: --out BENCH")
    results: list[Done] = []

    def tell(done: Done) -> None:
        results.append(done)
        _show(done, common)

    benchmark = mining.run_all(out, tell)
    if common.json:
        found = {"stages": [done.to_json() for done in results], "tasks": len(benchmark.tasks), "out": str(out)}
        common.print_json(found)
        return
    _show_benchmark(benchmark, out, common)


def _show_benchmark(benchmark: Benchmark, out: Path, common: Common) -> None:
    retained: Any = benchmark.card["retention"]
    left = retained["benchmark"]["not taken"]
    more = f" ({left:,} more passed the checks)" if left else ""
    lines = [f"  {counted(len(benchmark.tasks), 'request')} → {out}{more}"]
    lines.append(f"  next: people look at them: sightline view {out}")
    common.console.print("\n".join(lines), markup=False, soft_wrap=True)


def _show(done: Done, common: Common) -> None:
    if not common.json:
        common.console.print(to_text(done), markup=False, soft_wrap=True)


def to_text(done: Done) -> str:
    """A line for a stage, one for what failed, and one for each note."""
    counts = ", ".join(f"{name} {_told(value)}" for name, value in done.counts.items() if value not in ({}, None))
    lines = [f"  {done.stage}: {counts} · {done.bill} · {done.seconds:.1f} s"]
    lines += [f"    {note}" for note in (*failed(done.failures), *done.notes)]
    return "\n".join(lines)


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return f"({', '.join(f'{name} {count:,}' for name, count in value.items())})"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _stage(stage: StageName, workspace: Path | None, engine: str, job: MiningJob) -> None:
    common, planned = job.common, job.asking.plan
    mining = job.mining(workspace, engine, goes_on=stage != "parse" and not planned)
    common.ignores_limit()
    if planned:
        show_plan(mining.plan(), common)
        return
    done = mining.run(stage)
    _show(done, common)
    if common.json:
        common.print_json(done.to_json())


def _add(stage: StageName, order: int, line: str) -> None:
    def command(
        workspace: Workspace = None, /, *, engine: EngineOption = "local", job: MiningJob = MiningJob()
    ) -> None:
        _stage(stage, workspace, engine, job)

    command.__doc__ = line
    app.command(command, name=stage, sort_key=order)


_add("parse", 1, "Note by what each picture could be found again, into parsed.jsonl.")
_add("associate", 2, "Compare clues with the pictures nearest to them, into associations.jsonl.")
_add("graph", 3, "Join both into a memory graph, graph.jsonl, with a page to look at. Asks nobody.")
_add("queries", 4, "Draft requests from subgraphs, into queries.jsonl.")
_add("check", 5, "Refuse drafts that need no reasoning or are not certain, into checked.jsonl.")


@app.command(sort_key=6)
def assemble(workspace: Workspace = None, /, *, out: Path, job: MiningJob = MiningJob()) -> None:
    """Write what passed the checks as a benchmark. Asks nobody.

    Parameters
    ----------
    out:
        The folder of the benchmark.
    """
    common = job.common
    common.ignores_limit()
    benchmark = job.mining(workspace, goes_on=True).assemble(out)
    if common.json:
        common.print_json({"tasks": len(benchmark.tasks), "out": str(out)})
    else:
        _show_benchmark(benchmark, out, common)


app.command(questions, sort_key=7)
