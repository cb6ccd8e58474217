"""All stages, or one, by one call: what `sightline make` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sightline import bench
from sightline.bench.files import HEADER
from sightline.config import Config
from sightline.engine.plan import Plan
from sightline.errors import UserError, nearest
from sightline.io import PathLike
from sightline.make import project as files
from sightline.make.asking import BatchWish
from sightline.make.assemble.benchmark import FOLDER
from sightline.make.opening import Opening
from sightline.make.pipeline import STAGES, Means, all_stages, check_settings, one_stage, priced_stages, run_stages
from sightline.make.stages import Stage, StageResult
from sightline.models.asking import Asking
from sightline.models.protocols import Embedder
from sightline.types import Benchmark


@dataclass(frozen=True, slots=True)
class Made:
    """What the stages did, in their order, and the project's folder."""

    folder: Path
    stages: tuple[StageResult, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(warning for stage in self.stages for warning in stage.warnings)

    @property
    def usd(self) -> float | None:
        """What all of it cost; None where a price is not known."""
        costs = [stage.usd for stage in self.stages]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    @property
    def price(self) -> Plan | None:
        """What all of it would cost, if it was only asked for that."""
        stages = tuple(one for stage in self.stages if stage.price is not None for one in stage.price.stages)
        return Plan(stages) if stages else None

    @property
    def bench(self) -> Path | None:
        """The folder of the benchmark, once it is assembled."""
        wrote = [path for stage in self.stages if stage.stage == "assemble" for path in stage.wrote]
        place = wrote[-1] if wrote else self.folder / FOLDER
        return place if (place / HEADER).is_file() else None

    def benchmark(self) -> Benchmark:
        """The benchmark itself."""
        if self.bench is None:
            raise UserError(f"{self.folder} has no benchmark yet.", "assemble it: sightline make assemble")
        return bench.read(self.bench)

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {"stages": [stage.to_json() for stage in self.stages]}


def make(
    pictures: PathLike | None = None,
    stage: str | Stage | None = None,
    *,
    out: PathLike | None = None,
    given: Mapping[str, PathLike] | None = None,
    model: str | None = None,
    judges: Sequence[str] = (),
    embedder: str | Embedder | None = None,
    vectors: PathLike | None = None,
    batch: BatchWish | None = None,
    engine: str = "local",
    seed: int | None = None,
    limit: int | None = None,
    workspace: PathLike = ".sightline",
    config: Config | PathLike | None = None,
    local_only: bool = False,
    asking: Asking | None = None,
    watch: Callable[[StageResult], None] | None = None,
) -> Made:
    """Make a benchmark of a folder of pictures, which is never written to: all stages, or the one that is named.

    `stage` may also be a stage of your own, or one with settings, such as `PublishStage(dry_run=True)`; with a folder,
    `annotate` lists its pictures first. `out` is the project's folder (or, ending in .jsonl, the file that the stage
    writes), `given` names files that lie elsewhere, such as {"annotations": "A.jsonl"}. `config` is a configuration
    or its file (`sightline.toml` when not given). `watch` is told of each stage when it is done. A budget in `asking`
    that is used up raises `StoppedError`; the same call goes on where this one was.
    """
    asking = asking or Asking()
    asking = replace(asking, local_only=local_only or asking.local_only)
    opening = Opening(
        Path(workspace).expanduser(),
        config if isinstance(config, Config) or config is None else Path(config),
        None if out is None else Path(out),
        _named(given or {}),
        seed,
        limit,
    )
    means = Means(model, tuple(judges), embedder, None if vectors is None else Path(vectors), batch, engine)
    stages = _chosen(stage, None if pictures is None else Path(pictures), means)
    name = None if stage is None else stages[-1].name
    results = run_stages(stages, lambda: opening.project(name), asking)
    if stage is None:
        check_settings(opening.project())
        if asking.plan:
            results = priced_stages(stages[0], means, opening.project, asking)
    done = []
    for result in results:
        done.append(result)
        if watch is not None:
            watch(result)
    return Made(opening.project(name).folder, tuple(done))


def _chosen(stage: str | Stage | None, folder: Path | None, means: Means) -> tuple[Stage, ...]:
    if stage is None:
        meant = None if folder is None or folder.exists() else nearest(str(folder), STAGES)
        if meant is not None:
            raise UserError(f"there is no folder {folder}, and no stage of that name.", f'did you mean "{meant}"?')
        return all_stages(folder, means)
    chosen = one_stage(stage, folder, means) if isinstance(stage, str) else stage
    if folder is None or chosen.name == "pictures":
        return (chosen,)
    if chosen.name != "annotate":
        raise UserError(f"the stage {chosen.name} takes no folder of pictures.", 'list them first, by stage="pictures"')
    return one_stage("pictures", folder, means), chosen


def _named(given: Mapping[str, PathLike]) -> dict[str, Path]:
    for name in given:
        if name not in files.FILES:
            near = nearest(name, files.FILES)
            hint = f'did you mean "{near}"?' if near else f"there are: {', '.join(files.FILES)}"
            raise UserError(f'a project has no file called "{name}".', hint)
    return {name: Path(path) for name, path in given.items()}
