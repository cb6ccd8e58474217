"""`sightline mine [WORKSPACE] --model M --out BENCH`, its stages, and `mine questions` about single pictures.

Stages are parse, associate, graph, queries and check; they share the workspace, the models and how strictly is mined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from sightline.cli.options import ChatOptions, Common, EngineOption, Positive, described_by
from sightline.mining.mine import MiningSummary, mine_questions
from sightline.mining.mine import mine as mine_histories

if TYPE_CHECKING:
    from sightline.calls.session import Session
    from sightline.mining.pipeline import StageName

Workspace = Annotated[Path | None, Parameter(help="A scanned workspace; --workspace when not given.")]
Share = Annotated[float, Parameter(validator=Number(gte=0, lte=1))]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class CommandOptions:
    """What every command takes."""

    chat: ChatOptions = ChatOptions()
    common: Common = Common()

    def session(self, engine: str) -> Session:
        """Where and how models are asked."""
        return self.common.session(self.chat.calls(self.common), engine)


@Parameter(name="*", group="Mining")
@described_by(mine_histories)
@dataclass(frozen=True, kw_only=True)
class How:
    """What is mined, and how strictly."""

    embedder: str | None = None
    owners: Annotated[str, Parameter(show_default=False)] = ""
    preset: Literal["gentle", "disbench"] | None = None
    cap: Positive | None = None
    queries: Positive | None = None
    writer: str | None = None
    clues: Positive | None = None
    retrieval_bound: Share | None = None
    metadata_bound: Share | None = None
    project: Path | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class MiningJob(CommandOptions):
    """What every command takes that mines requests."""

    how: How = How()

    def run(
        self,
        workspace: Path | None,
        out: Path | None,
        stages: Sequence[StageName] | None = None,
        engine: str = "local",
    ) -> MiningSummary:
        """Mine; each stage is printed when it is done, unless JSON is wanted at the end."""
        common = self.common
        common.ignores_limit()
        return mine_histories(
            out,
            model=self.chat.model,
            stages=stages,
            **asdict(self.how),
            seed=common.seed,
            progress=None if common.json else common.show,
            workspace=workspace,
            session=self.session(engine),
        )


@described_by(mine_questions)
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
    job: CommandOptions = CommandOptions(),
) -> None:
    """Mine questions about single pictures: chains of facts on the web, with a picture of a page on the way."""
    common = job.common
    done = mine_questions(
        out,
        web=web,
        model=job.chat.model,
        count=count,
        hops=hops,
        tries=tries,
        limit=common.limit,
        seed=common.seed,
        workspace=workspace,
        session=job.session(engine),
    )
    common.show(done)
    if done.stopped is not None:
        raise done.stopped


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
    """Run all stages, and write the requests that passed the checks as a benchmark. Run it again to go on after a stop.

    Parameters
    ----------
    out:
        The folder of the benchmark.
    """
    _show(job.run(workspace, out, engine=engine), job.common)


def _show(done: MiningSummary, common: Common) -> None:
    """The benchmark; what the stages did was printed when they were done."""
    common.show(done if common.json else replace(done, stages=()))


def _add(stage: StageName, order: int, line: str) -> None:
    def command(
        workspace: Workspace = None, /, *, engine: EngineOption = "local", job: MiningJob = MiningJob()
    ) -> None:
        (done,) = job.run(workspace, None, (stage,), engine).stages
        if job.common.json:
            job.common.show(done)

    command.__doc__ = line
    app.command(command, name=stage, sort_key=order)


_add("parse", 1, "Extract clues by which each picture could be found, into parsed.jsonl.")
_add("associate", 2, "Compare clues with the pictures nearest to them, into associations.jsonl.")
_add("graph", 3, "Join both into a memory graph, graph.jsonl. No model is called.")
_add("queries", 4, "Draft requests from subgraphs, into queries.jsonl.")
_add("check", 5, "Reject drafts that need no reasoning or are not certain, into checked.jsonl.")


@app.command(sort_key=6)
def assemble(workspace: Workspace = None, /, *, out: Path, job: MiningJob = MiningJob()) -> None:
    """Write the requests that passed the checks as a benchmark. No model is called.

    Parameters
    ----------
    out:
        The folder of the benchmark.
    """
    _show(job.run(workspace, out, ()), job.common)


app.command(questions, sort_key=7)
