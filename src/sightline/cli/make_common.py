"""What the stages of `sightline make` share: where files lie, how batches are followed, how results are shown."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

from sightline.cli.asking import show_plan
from sightline.cli.common import Common, Switch, seconds_of
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.make.asking import BatchWish
    from sightline.make.project import Project
    from sightline.make.stages import Stage, StageResult
    from sightline.models.asking import Asking

_LINES = (".jsonl", ".jsonl.gz")


@Parameter(name="*", group="Files")
@dataclass(frozen=True, kw_only=True)
class Places:
    """Where the files of a project lie; each stage can be run on files alone."""

    out: Path | None = None
    "The project's folder, WORKSPACE/make/NAME when not given; or, ending in .jsonl, the file that the stage writes."
    images: Path | None = None
    "The list of pictures, ours or benchmaker's images.jsonl."
    annotations: Path | None = None
    "What was said of the pictures, ours or benchmaker's annotations.jsonl."
    seeds: Path | None = None
    "The queries and their seeds, as seeds.jsonl."
    query_plan: Path | None = None
    "The candidates of the queries, as query_plan.jsonl."
    queries: Path | None = None
    "The words of the queries, as queries.jsonl."

    def project(self, common: Common, writes: str | None = None) -> Project:
        """The project that a command works on; `writes` names the file that `--out` may stand for."""
        from sightline.make.project import Project, project_folder

        overrides = {} if common.seed is None else {"plan.random_seed": common.seed}
        config = common.settings(overrides)
        folder = project_folder(common.workspace_path, config)
        if self.out is not None and not self.out.name.endswith(_LINES):
            folder = self.out
        config_path = common.load(overrides).path
        return Project(folder, config, common.workspace_path, self._given(writes), config_path, common.limit)

    def _given(self, writes: str | None) -> dict[str, Path]:
        from sightline.make import project as files

        named = {
            files.IMAGES: self.images,
            files.ANNOTATIONS: self.annotations,
            files.SEEDS: self.seeds,
            files.PLAN: self.query_plan,
            files.QUERIES: self.queries,
        }
        given = {name: path for name, path in named.items() if path is not None}
        if self.out is not None and self.out.name.endswith(_LINES):
            if writes is None:
                raise UserError(f"--out {self.out} is a file; this takes a folder.", "name a folder")
            given[writes] = self.out
        if self.seeds is not None and not self.seeds.is_file():
            raise UserError(f"there is no file of seeds {self.seeds}.", "leave --seeds out to have them chosen")
        # Files that belong together lie together: a list of pictures beside its annotations, seeds beside their plan.
        for name, beside in ((files.IMAGES, files.ANNOTATIONS), (files.SEEDS, files.PLAN)):
            if beside in given:
                given.setdefault(name, given[beside].with_name(files.FILES[name]))
        return given


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

    def wish(self) -> BatchWish | None:
        """What the library takes."""
        from sightline.make.asking import BatchWish

        if not self.batch:
            if self.no_wait:
                raise UserError("--no-wait says how a batch is followed, and none is asked for.", "add --batch")
            return None
        every, deadline = seconds_of(self.every, "--every", least=0.001), seconds_of(self.deadline, "--deadline")
        return BatchWish(not self.no_wait, every, deadline, _tell)


def run_stage(stage: Stage, project: Project, asking: Asking, common: Common) -> None:
    """Run one stage, show what it did, and note what it wrote, for `make clean`."""
    from sightline.make.clean import run_noted

    show(run_noted(stage, project, asking), common)


def show(result: StageResult, common: Common) -> None:
    """What a stage did, or would cost."""
    common.warn(result.warnings)
    if result.price is not None:
        show_plan(result.price, common)
    elif common.json:
        common.print_json(result.to_json())
    else:
        common.console.print(to_text(result), markup=False, soft_wrap=True)


def to_text(result: StageResult) -> str:
    """What was counted, what failed, what it cost and where it is."""
    counts = ", ".join(f"{count:,} {name}" for name, count in result.counts.items())
    lines = [f"  {result.stage}: {counts} in {result.seconds:.1f} s"]
    if result.failures:
        lines.append(f"  {sum(result.failures.values()):,} failed: {_listed(result.failures)}")
    if result.usd:
        lines.append(f"  cost ${result.usd:.4f}")
    return "\n".join([*lines, *(f"  → {path}" for path in result.wrote)])


def _listed(counts: Any) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
