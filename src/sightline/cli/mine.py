"""`sightline mine [WORKSPACE] --model M --out BENCH` and its stages: parse, associate, graph, queries, check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from sightline.cli.asking import ChatOptions, Positive, show_plan
from sightline.cli.common import Common, EngineOption
from sightline.cli.mine_questions import failed, questions
from sightline.errors import UserError
from sightline.types.words import counted

if TYPE_CHECKING:
    from sightline.config import Config
    from sightline.mine import Done, Mining, Settings
    from sightline.mine.pipeline import StageName
    from sightline.types import Benchmark

app = App(name="mine", help="Mine photo histories for requests that need their context.")
Share = Annotated[float, Parameter(validator=Number(gte=0, lte=1))]
_WORLD = "builtin/world"


@Parameter(name="*", group="Mining")
@dataclass(frozen=True, kw_only=True)
class How:
    """What is mined, and how strictly."""

    embedder: str | None = None
    "Who says which pictures are alike; the configured one when not given, or world for builtin/world."
    owners: str | None = None
    "Whose histories, separated by commas; everybody's when not given."
    preset: Literal["gentle", "disbench"] | None = None
    "Who has enough of a history: gentle, or disbench: 2,000 pictures, 50 events, 90 % metadata and more than a year."
    cap: Positive | None = None
    "Pictures of one owner at most, in whole events; 2,000 when not given."
    queries: Positive | None = None
    "Requests that are kept at most, 50 when not given; three times as many are drafted."
    writer: str | None = None
    "Who words the requests: a model, or templates; the model itself when not given, templates for a built-in one."
    clues: Positive | None = None
    "Clues of a picture that are followed to others, the rarest first; 4 when not given."
    retrieval_bound: Share | None = None
    "Refuse a request of which direct retrieval reaches this F1 at any cut-off; 0.8 when not given."
    metadata_bound: Share | None = None
    "Refuse a request of which one filter on time or place reaches this F1; 0.9 when not given."
    project: Path | None = None
    "Where the stages keep their files; WORKSPACE/mine when not given."

    def mining(
        self, workspace: Path | None, asking: ChatOptions, engine: str, common: Common, *, goes_on: bool = False
    ) -> Mining:
        """What the library takes; a stage that goes on with a project is as the ones before, but for what is given."""
        from sightline.mine import Desk, Mining
        from sightline.mine.files import Files

        place, config = workspace or common.workspace_path, common.settings()
        folder = self.project or place / "mine"
        if goes_on:
            settings = Files(folder).settings()
            if asking.model not in (None, settings.model):
                other = _by(asking.chosen(), config)
                settings = replace(settings, model=other.model, writer=other.writer, confirm=other.confirm)
        else:
            settings = _by(asking.chosen(config.annotate.model), config)
        return Mining(Desk(place, config, asking.asking(common), engine), folder, self._given(settings, common))

    def _given(self, settings: Settings, common: Common) -> Settings:
        """The settings, with what this command line says."""
        from sightline.mine.settings import PRESETS

        rules = settings.rules if self.preset is None else PRESETS[self.preset]
        names = tuple(name.strip() for name in (self.owners or "").split(",") if name.strip())
        given: dict[str, Any] = {
            "embedder": self.embedder,
            "owners": names or None,
            "queries": self.queries,
            "seed": common.seed,
            "clues": self.clues,
            "retrieval_bound": self.retrieval_bound,
            "metadata_bound": self.metadata_bound,
        }
        if self.writer is not None:
            settings = replace(settings, writer=None if self.writer == "templates" else self.writer)
        settings = replace(settings, rules=rules if self.cap is None else replace(rules, cap=self.cap))
        return replace(settings, **{name: value for name, value in given.items() if value is not None})


def _by(model: str, config: Config) -> Settings:
    """How a model mines when nothing else is said."""
    from sightline.mine import Settings

    if model != _WORLD:
        return Settings(model, writer=model)
    # It words nothing, and what sees the same twice confirms nothing.
    return Settings(model, embedder=config.models.embedder or "world", confirm=False)


@app.default
def mine(
    workspace: Path | None = None,
    /,
    *,
    out: Path | None = None,
    engine: EngineOption = "local",
    how: How = How(),
    asking: ChatOptions = ChatOptions(),
    common: Common = Common(),
) -> None:
    """Run all stages, and write what passed the checks as a benchmark. Run it again to go on after a stop.

    Parameters
    ----------
    workspace:
        A scanned workspace; --workspace when not given.
    out:
        The folder of the benchmark.
    """
    mining = how.mining(workspace, asking, engine, common)
    common.ignores_limit()
    if asking.plan:
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


def _stage(
    stage: StageName, workspace: Path | None, how: How, asking: ChatOptions, engine: str, common: Common
) -> None:
    mining = how.mining(workspace, asking, engine, common, goes_on=stage != "parse" and not asking.plan)
    common.ignores_limit()
    if asking.plan:
        show_plan(mining.plan(), common)
        return
    done = mining.run(stage)
    _show(done, common)
    if common.json:
        common.print_json(done.to_json())


def _add(stage: StageName, order: int, line: str) -> None:
    def command(
        workspace: Path | None = None,
        /,
        *,
        engine: EngineOption = "local",
        how: How = How(),
        asking: ChatOptions = ChatOptions(),
        common: Common = Common(),
    ) -> None:
        _stage(stage, workspace, how, asking, engine, common)

    command.__doc__ = f"""{line}

    Parameters
    ----------
    workspace:
        A scanned workspace; --workspace when not given.
    """
    app.command(command, name=stage, sort_key=order)


_add("parse", 1, "Note by what each picture could be found again, into parsed.jsonl.")
_add("associate", 2, "Compare clues with the pictures nearest to them, into associations.jsonl.")
_add("graph", 3, "Join both into a memory graph, graph.jsonl, with a page to look at. Asks nobody.")
_add("queries", 4, "Draft requests from subgraphs, into queries.jsonl.")
_add("check", 5, "Refuse drafts that need no reasoning or are not certain, into checked.jsonl.")


@app.command(sort_key=6)
def assemble(
    workspace: Path | None = None,
    /,
    *,
    out: Path,
    how: How = How(),
    asking: ChatOptions = ChatOptions(),
    common: Common = Common(),
) -> None:
    """Write what passed the checks as a benchmark. Asks nobody.

    Parameters
    ----------
    workspace:
        A scanned workspace; --workspace when not given.
    out:
        The folder of the benchmark.
    """
    common.ignores_limit()
    benchmark = how.mining(workspace, asking, "local", common, goes_on=True).assemble(out)
    if common.json:
        common.print_json({"tasks": len(benchmark.tasks), "out": str(out)})
    else:
        _show_benchmark(benchmark, out, common)


app.command(questions, sort_key=7)
