"""`sightline mine [WORKSPACE] --model M --out BENCH` and its stages: parse, associate, graph, queries, check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from sightline.cli.asking import ChatOptions, Positive, show_plan
from sightline.cli.common import Common, EngineOption
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.agent.web import Web
    from sightline.mine import Done, Mining
    from sightline.mine.pipeline import StageName

app = App(name="mine", help="Mine photo histories for requests that need their context.")
Share = Annotated[float, Parameter(validator=Number(gte=0, lte=1))]
_WORLD, _NOBODY = "builtin/world", "nobody"


@Parameter(name="*", group="Mining")
@dataclass(frozen=True, kw_only=True)
class How:
    """What is mined, and how strictly."""

    embedder: str | None = None
    "Who says which pictures are alike; the configured one, else world for builtin/world."
    owners: str | None = None
    "Whose histories, separated by commas; everybody's when not given."
    preset: Literal["gentle", "disbench"] = "gentle"
    "Who has enough of a history: disbench asks for 2,000 pictures, 50 events, 90 % metadata and more than a year."
    cap: Positive | None = None
    "Pictures of one owner at most, in whole events; 2,000 when not given."
    queries: Positive = 50
    "Requests that are kept at most; three times as many are drafted."
    writer: str | None = None
    "Who words the requests: a model, or templates; the model itself when not given, templates for a built-in one."
    clues: Positive = 4
    "Clues of a picture that are followed to others, the rarest first."
    retrieval_bound: Share = 0.8
    "Refuse a request of which direct retrieval reaches this F1 at any cut-off."
    metadata_bound: Share = 0.9
    "Refuse a request of which one filter on time or place reaches this F1."
    project: Path | None = None
    "Where the stages keep their files; WORKSPACE/mine when not given."

    def mining(
        self, workspace: Path | None, asking: ChatOptions, engine: str, common: Common, *, asks: bool = True
    ) -> Mining:
        """What the library takes; stages that ask nobody need no model."""
        from sightline.mine import Desk, Mining, Settings
        from sightline.mine.settings import PRESETS

        place, config = workspace or common.workspace_path, common.settings()
        model = asking.chosen(config.annotate.model or (None if asks else _NOBODY))
        rules = PRESETS[self.preset]
        settings = Settings(
            model=model,
            embedder=self.embedder or (config.models.embedder or "world" if model == _WORLD else None),
            writer=self._writer(model),
            owners=tuple(name.strip() for name in (self.owners or "").split(",") if name.strip()),
            rules=rules if self.cap is None else replace(rules, cap=self.cap),
            queries=self.queries,
            seed=common.seed or 0,
            clues=self.clues,
            confirm=model not in (_WORLD, _NOBODY),  # What sees the same twice confirms nothing.
            retrieval_bound=self.retrieval_bound,
            metadata_bound=self.metadata_bound,
        )
        return Mining(Desk(place, config, asking.asking(common), engine), self.project or place / "mine", settings)

    def _writer(self, model: str) -> str | None:
        chosen = self.writer or ("templates" if model in (_WORLD, _NOBODY) else model)
        return None if chosen == "templates" else chosen


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
    lines = [f"  {len(benchmark.tasks):,} requests → {out}", f"  next: people look at them: sightline view {out}"]
    common.console.print("\n".join(lines), markup=False, soft_wrap=True)


def _show(done: Done, common: Common) -> None:
    if not common.json:
        common.console.print(to_text(done), markup=False, soft_wrap=True)


def to_text(done: Done) -> str:
    """A line for a stage, and one for what failed."""
    counts = ", ".join(f"{name} {_told(value)}" for name, value in done.counts.items() if value not in ({}, None))
    cost = "price not known" if done.usd is None else f"${done.usd:.4f}"
    lines = [f"  {done.stage}: {counts} · {cost} · {done.seconds:.1f} s"]
    if done.failures:
        failed = ", ".join(f"{kind} {count:,}" for kind, count in done.failures.items())
        lines.append(f"    failed: {failed}")
    return "\n".join(lines)


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return f"({', '.join(f'{name} {count:,}' for name, count in value.items())})"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _stage(
    stage: StageName, workspace: Path | None, how: How, asking: ChatOptions, engine: str, common: Common
) -> None:
    mining = how.mining(workspace, asking, engine, common, asks=asking.plan or stage in ("parse", "associate"))
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
def questions(
    workspace: Path | None = None,
    /,
    *,
    web: str,
    out: Path | None = None,
    count: Positive = 20,
    hops: Annotated[int, Parameter(validator=Number(gte=3, lte=8))] = 5,
    tries: Positive = 3,
    engine: EngineOption = "local",
    asking: ChatOptions = ChatOptions(),
    common: Common = Common(),
) -> None:
    """Mine questions about single pictures: chains of facts on the web, with a picture of a page on the way.

    Parameters
    ----------
    workspace:
        A scanned workspace; --workspace when not given.
    web:
        Which web: searxng:URL, serper, brave, mcp:…, frozen:FILE, or world:FOLDER for the web of a drawn world.
    out:
        The folder of the benchmark.
    count:
        Questions that are kept at most.
    hops:
        Facts of a chain at most.
    tries:
        How often the model is asked without the picture, and without search; one right answer refuses a question.
    """
    from sightline.corpus.view import open_corpus
    from sightline.mine import Desk
    from sightline.mine.assembling import check_place
    from sightline.mine.questions import QuestionSettings, mine_questions, plan_questions, starts, write_questions

    place, config = workspace or common.workspace_path, common.settings()
    model = asking.chosen(config.annotate.model)
    desk = Desk(place, config, asking.asking(common), engine)
    pictures = dict(islice(((each.id, each) for each in open_corpus(place).pictures.values()), common.limit))
    settings = QuestionSettings(model, count, hops, tries, common.seed or 0)
    if asking.plan:
        show_plan(plan_questions(list(pictures.values()), settings, desk), common)
        return
    if out is None:
        raise UserError("there is no place for the benchmark.", "say where: --out BENCH")
    check_place(out)
    clues = starts(list(pictures.values()), model, desk, settings.seed)
    mined = mine_questions(clues, pictures, _web(web, place, common), settings, desk)
    benchmark = write_questions(out, mined, pictures, count, {"mined_by": model, "web": web.partition(":")[0]})
    if common.json:
        common.print_json({"tasks": len(benchmark.tasks), "counts": dict(mined.counts), "out": str(out)})
    else:
        told = ", ".join(f"{name} {number:,}" for name, number in mined.counts.items())
        common.console.print(f"  {told}\n  {len(benchmark.tasks):,} questions → {out}", markup=False, soft_wrap=True)
    if mined.stopped is not None:
        raise mined.stopped


def _web(spec: str, workspace: Path, common: Common) -> Web:
    """A web by its address, with what was seen kept in the workspace; or that of a drawn world."""
    from sightline.agent.web import OfflineWeb, open_web
    from sightline.agent.webs import FROZEN, WORLD

    kind, _, folder = spec.partition(":")
    if kind != WORLD:
        return open_web(spec, freeze=workspace / FROZEN, local_only=common.local_only)
    from sightline.world.lives import read_world
    from sightline.world.web import world_web

    if not folder:
        raise UserError("world is the web of a drawn world, which has a folder.", "say which: --web world:FOLDER")
    world = read_world(folder)
    return OfflineWeb(world_web(world.seed, world.lives), WORLD)
