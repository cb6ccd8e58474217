"""What the stages of `sightline make` share: where files lie, how batches are followed, how results are shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import Parameter

from sightline.cli.options import (
    ChatOptions,
    Common,
    EngineOption,
    Positive,
    Repeated,
    Switch,
    seconds_of,
    show_plan,
    tell,
)
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.authoring.project import Project
    from sightline.authoring.stage import AuthoringStage, BatchOptions, StageResult
    from sightline.calls.session import CallOptions, Session


@Parameter(name="*", group="Files")
@dataclass(frozen=True, kw_only=True)
class MakePlaces:
    """Where the files of a project lie; each stage can be run on files alone."""

    out: Path | None = None
    "The project's folder, WORKSPACE/make/NAME when not given; or, ending in .jsonl, the file that the stage writes."
    images: Path | None = None
    "The list of pictures, ours or benchmaker's images.jsonl."
    annotations: Path | None = None
    "Annotations of the pictures: ours, or benchmaker's annotations.jsonl."
    seeds: Path | None = None
    "The queries and their seeds, as seeds.jsonl."
    query_plan: Path | None = None
    "The candidates of the queries, as query_plan.jsonl."
    queries: Path | None = None
    "With `make` itself, your own queries: a list, a table or a log (docs/queries.md). With a stage, its queries.jsonl."

    def given(self) -> dict[str, Path]:
        """Files that lie elsewhere, by their names in a project."""
        from sightline.authoring import project as files

        named = {
            files.IMAGES: self.images,
            files.ANNOTATIONS: self.annotations,
            files.SEEDS: self.seeds,
            files.PLAN: self.query_plan,
            files.QUERIES: self.queries,
        }
        return {name: path for name, path in named.items() if path is not None}


@Parameter(name="*", group="Files")
@dataclass(frozen=True, kw_only=True)
class JudgedPlaces(MakePlaces):
    """The same for stages that begin with judgments."""

    qrels: Path | None = None
    "The judgments, ours or benchmaker's qrels.jsonl."

    def given(self) -> dict[str, Path]:
        """Files that lie elsewhere, by their names in a project."""
        from sightline.authoring.project import JUDGMENTS

        return super().given() | ({} if self.qrels is None else {JUDGMENTS: self.qrels})


@Parameter(name="*", group="Your own queries")
@dataclass(frozen=True, kw_only=True)
class OwnQueries:
    """How --queries is read, and what its results are judged from."""

    pool: Repeated = None
    "NAME=SPEC or NAME=RUN: what this system finds is to be judged; repeat it for each system."
    depth: Positive = 10
    "How many results of each system are to be judged."
    query_pattern: str | None = None
    "Where a line of a log has its query: the name of a parameter of the address, or a regular expression."
    sample: int = 1000
    "How many queries to draw, by how often they are asked; 0 for all."
    personal_data: Literal["mask", "drop", "keep"] = "mask"
    "What becomes of e-mail addresses, telephone numbers, coordinates, and names with numbers."

    def options(self, file: Path) -> dict[str, Any]:
        """What `sightline.make` takes."""
        from sightline.authoring.pool_from_systems import parse_pool
        from sightline.authoring.query_sample import QueryLog

        log = QueryLog(file, self.query_pattern, self.sample or None, self.personal_data)
        return {"queries": log, "pool": parse_pool(self.pool or []), "depth": self.depth}


@Parameter(name="*", group="Batches")
@dataclass(frozen=True, kw_only=True)
class Batching:
    """Asking in a provider's batch, at half the price."""

    batch: Switch = False
    "Ask in a batch; what it leaves unanswered is asked for live."
    no_wait: Switch = False
    "Submit the batch and stop, with exit code 3; the same command without it goes on."
    every: str = "60s"
    "How often the server is asked about a batch."
    deadline: str = "25h"
    "The longest wait for a batch."

    def wish(self) -> BatchOptions | None:
        """What the library takes."""
        from sightline.authoring.stage import BatchOptions

        if not self.batch:
            if self.no_wait:
                raise UserError("--no-wait says how a batch is followed, and none is asked for.", "add --batch")
            return None
        every, deadline = seconds_of(self.every, "--every", least=0.001), seconds_of(self.deadline, "--deadline")
        return BatchOptions(not self.no_wait, every, deadline, tell)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class MakeJob:
    """What every stage takes."""

    places: MakePlaces = MakePlaces()
    common: Common = Common()

    @cached_property
    def _session(self) -> Session:
        """What there is to say about the configuration goes to stderr, once."""
        return self.common.session()

    def session(self, calls: CallOptions | None = None) -> Session:
        """Where the command works, and how it calls models."""
        return self._session if calls is None else replace(self._session, calls=calls)

    def project(self, stage: str | None = None, calls: CallOptions | None = None) -> Project:
        """The project that a command works on."""
        from sightline.authoring.project import ProjectLoader

        common, places = self.common, self.places
        return ProjectLoader(self.session(calls), places.out, places.given(), common.seed, common.limit).project(stage)

    def result(self, stage: AuthoringStage, calls: CallOptions | None = None) -> StageResult:
        """Run one stage, and note what it wrote, for `make clean`."""
        from sightline.authoring.cleanup import run_recorded

        return run_recorded(stage, self.project(stage.name, calls))

    def run(self, stage: AuthoringStage, calls: CallOptions | None = None) -> None:
        """The same, and show what it did."""
        show(self.result(stage, calls), self.common)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class JudgedJob(MakeJob):
    """What every stage takes that begins with judgments."""

    places: JudgedPlaces = JudgedPlaces()


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ChatJob(MakeJob):
    """What every stage takes that asks a chat model."""

    engine: EngineOption = "local"
    batching: Batching = Batching()
    chat: ChatOptions = ChatOptions()

    def session(self, calls: CallOptions | None = None) -> Session:
        """Where the command works, and how and where it calls models."""
        return replace(super().session(calls), engine=self.engine)

    def ask(self, stage: AuthoringStage) -> None:
        """Run one stage, and show what it did or would cost."""
        self.run(stage, self.chat.calls(self.common))


def show(result: StageResult, common: Common) -> None:
    """What a stage did, or would cost."""
    common.warn(result.warnings)
    if result.price is not None:
        show_plan(result.price, common)
    else:
        common.show(result)
