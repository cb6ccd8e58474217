"""`sightline mine [WORKSPACE] --model M --out BENCH`, its stages, and `mine questions` about single pictures.

Stages are parse, associate, graph, queries and check; they share the workspace, the models and how strictly is mined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from sightline.cli.options import ChatOptions, Common, EngineOption, Positive, show_plan
from sightline.english import counted
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.agent.web import Web
    from sightline.calls.session import Session
    from sightline.config import Config
    from sightline.mining import Mining, MiningResult, MiningSettings
    from sightline.mining.pipeline import StageName
    from sightline.types import Benchmark

Workspace = Annotated[Path | None, Parameter(help="A scanned workspace; --workspace when not given.")]
Share = Annotated[float, Parameter(validator=Number(gte=0, lte=1))]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Job:
    """What every command takes."""

    asking: ChatOptions = ChatOptions()
    common: Common = Common()

    def session(self, workspace: Path | None, engine: str) -> Session:
        """Where and how models are asked."""
        from sightline.calls.session import Session

        common = self.common
        return Session(workspace or common.workspace_path, common.settings(), self.asking.asking(common), engine)


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

    def given(self, settings: MiningSettings, seed: int | None) -> MiningSettings:
        """The settings, with what this command line says."""
        from sightline.mining.project import PRESETS

        rules = settings.rules if self.preset is None else PRESETS[self.preset]
        names = tuple(name.strip() for name in (self.owners or "").split(",") if name.strip())
        given: dict[str, Any] = {
            "embedder": self.embedder,
            "owners": names or None,
            "queries": self.queries,
            "seed": seed,
            "clues": self.clues,
            "retrieval_bound": self.retrieval_bound,
            "metadata_bound": self.metadata_bound,
        }
        if self.writer is not None:
            settings = replace(settings, writer=None if self.writer == "templates" else self.writer)
        settings = replace(settings, rules=rules if self.cap is None else replace(rules, cap=self.cap))
        return replace(settings, **{name: value for name, value in given.items() if value is not None})


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class MiningJob(Job):
    """What every command takes that mines requests."""

    how: How = How()

    def mining(self, workspace: Path | None, engine: str = "local", *, goes_on: bool = False) -> Mining:
        """What the library takes; a stage that goes on with a project is as the ones before, but for what is given."""
        from sightline.mining import Mining
        from sightline.mining.project import MiningFiles

        session = self.session(workspace, engine)
        folder = self.how.project or session.workspace / "mine"
        if goes_on:
            settings = self._as_before(MiningFiles(folder).settings(), session.config)
        else:
            settings = _by(self.asking.chosen(session.config.annotate.model), session.config)
        return Mining(session, folder, self.how.given(settings, self.common.seed))

    def _as_before(self, settings: MiningSettings, config: Config) -> MiningSettings:
        """The settings of a project, by another model where one is given."""
        if self.asking.model in (None, settings.model):
            return settings
        other = _by(self.asking.chosen(), config)
        return replace(settings, model=other.model, writer=other.writer, confirm=other.confirm)


def _by(model: str, config: Config) -> MiningSettings:
    """How a model mines when nothing else is said."""
    from sightline.mining import MiningSettings
    from sightline.models.built_in import find_built_in

    declared = find_built_in(model)
    if declared is None:
        return MiningSettings(model, writer=model)
    writer = model if declared.words_queries else None
    embedder = config.models.embedder or declared.embedder
    return MiningSettings(model, embedder=embedder, writer=writer, confirm=declared.confirms)


def failed(failures: Mapping[str, int]) -> list[str]:
    """A line for calls that failed, where some did."""
    told = ", ".join(f"{kind} {count:,}" for kind, count in failures.items())
    return [f"failed: {told}"] if told else []


def questions(
    workspace: Workspace = None,
    /,
    *,
    web: str,
    out: Path | None = None,
    count: Positive = 20,
    hops: Annotated[int, Parameter(validator=Number(gte=3, lte=8))] = 5,
    tries: Positive = 3,
    engine: EngineOption = "local",
    job: Job = Job(),
) -> None:
    """Mine questions about single pictures: chains of facts on the web, with a picture of a page on the way.

    Parameters
    ----------
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
    from sightline.mining.benchmark import QUESTIONS, check_mining_place
    from sightline.mining.model_calls import billed
    from sightline.mining.project import QUESTIONS as FILE
    from sightline.mining.project import MiningFiles
    from sightline.mining.questions import QuestionSettings, mine_questions, plan_questions, starts, write_questions

    session, common = job.session(workspace, engine), job.common
    place, model = session.workspace, job.asking.chosen(session.config.annotate.model)
    scanned = open_corpus(place).pictures
    pictures = dict(islice(((each.id, each) for each in scanned.values()), common.limit))
    settings = QuestionSettings(model, count, hops, tries, common.seed or 0)
    if job.asking.plan:
        show_plan(plan_questions(list(pictures.values()), settings, session), common)
        return
    if out is None:
        raise UserError("there is no place for the benchmark.", "say where: --out BENCH")
    check_mining_place(out, QUESTIONS, scanned)
    opened = _web(web, place, common)
    with billed(place) as bill:
        found = starts(list(pictures.values()), model, session, settings.seed)
        mined = mine_questions(found.clues, pictures, opened, settings, session)
    MiningFiles(place / "mine").write(FILE, mined.questions)
    failures = Counter(found.failures) + Counter(mined.failures)
    card = {"mined_by": model, "web": web.partition(":")[0]}
    benchmark = write_questions(out, mined, pictures, count, card, copied=_web_files(web))
    if common.json:
        told = {"counts": dict(mined.counts), "failures": dict(failures), **bill.to_json()}
        common.print_json({"tasks": len(benchmark.tasks), **told, "out": str(out)})
    else:
        counts = ", ".join(f"{name} {number:,}" for name, number in mined.counts.items())
        lines = [f"{counts} · {bill}", *failed(failures), f"{counted(len(benchmark.tasks), 'question')} → {out}"]
        common.console.print("\n".join(f"  {line}" for line in lines), markup=False, soft_wrap=True)
    if mined.stopped is not None:
        raise mined.stopped


def _web(spec: str, workspace: Path, common: Common) -> Web:
    """A web by its address, with what was seen kept in the workspace; or one that lies in a folder."""
    from sightline.agent.web import FROZEN, offline_web, open_web

    kind, _, folder = spec.partition(":")
    offline = offline_web(kind)
    if offline is not None:
        return offline.of_folder(folder)
    return open_web(spec, freeze=workspace / FROZEN, local_only=common.local_only)


def _web_files(spec: str) -> Mapping[str, Path]:
    """What of a web has to lie with the benchmark, so that agents find it there by its name."""
    from sightline.agent.web import offline_web

    kind, _, folder = spec.partition(":")
    offline = offline_web(kind)
    return {} if offline is None else offline.files(folder)


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
    results: list[MiningResult] = []

    def tell(done: MiningResult) -> None:
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


def _show(done: MiningResult, common: Common) -> None:
    if not common.json:
        common.console.print(to_text(done), markup=False, soft_wrap=True)


def to_text(done: MiningResult) -> str:
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
