"""A benchmark in the making: a folder of documented files, each of which may also lie elsewhere; and its settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sightline.calls.session import CallOptions, Session
from sightline.config import Config, load
from sightline.config.sources import DEFAULT_FILE
from sightline.errors import UserError, explained

IMAGES, ANNOTATIONS, SEEDS, PLAN, QUERIES = "images", "annotations", "seeds", "plan", "queries"
JUDGMENTS, SIMILARITY = "judgments", "similarity"
POOL, VERDICTS, SET_ASIDE, JUDGING = "pool", "verdicts", "set_aside", "judging"
AUDIT, REVIEWS = "audit", "reviews"

FILES: Mapping[str, str] = {
    IMAGES: "images.jsonl",
    ANNOTATIONS: "annotations.jsonl",
    SEEDS: "seeds.jsonl",
    PLAN: "query_plan.jsonl",
    QUERIES: "queries.jsonl",
    JUDGMENTS: "qrels.jsonl",
    SIMILARITY: "qrels_with_score.jsonl",
    POOL: "pool.jsonl",
    VERDICTS: "verdicts.jsonl",
    SET_ASIDE: "set_aside.jsonl",
    JUDGING: "judging.json",
    AUDIT: "audit.json",
    REVIEWS: "reviews.jsonl",
}
"""The files of a project by name; `[paths]` of the configuration and options of the commands put them elsewhere."""
MAIN_FILES: Mapping[str, str] = {
    "pictures": IMAGES,
    "annotate": ANNOTATIONS,
    "plan": PLAN,
    "query": QUERIES,
    "judge": JUDGMENTS,
    "similarity": SIMILARITY,
    "audit": AUDIT,
}
"""Of the files that a stage writes, the one that it is there for."""
_MADE_BY: Mapping[str, str] = {
    **{name: stage for stage, name in MAIN_FILES.items()},
    SEEDS: "plan",
    **dict.fromkeys((POOL, VERDICTS, SET_ASIDE, JUDGING), "judge"),
    REVIEWS: "review",
}
# `--plan` asks for a price.
_OPTIONS: Mapping[str, str] = {PLAN: "query-plan"}
_UNSAFE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Project:
    """Where a benchmark is made, of what, by which settings, and how models are called."""

    folder: Path
    session: Session = field(default_factory=Session)
    given: Mapping[str, Path] = field(default_factory=dict)
    "Files that lie elsewhere, as a command's options say."
    config_path: Path | None = None
    limit: int | None = None
    "Take only the first pictures or queries."

    @property
    def workspace(self) -> Path:
        return self.session.workspace

    @property
    def config(self) -> Config:
        return self.session.config

    @property
    def calls(self) -> CallOptions:
        return self.session.calls

    def with_config(self, config: Config) -> Project:
        """The same project by other settings."""
        return replace(self, session=replace(self.session, config=config))

    @property
    def name(self) -> str:
        """How its benchmark is called: as configured, else as its folder."""
        return self.config.benchmark.name or self.folder.absolute().name

    def path(self, name: str) -> Path:
        """Where a file lies: as given, else as configured, else in the folder."""
        configured: Path | None = getattr(self.config.paths, name, None)
        return self.given.get(name) or configured or self.folder / FILES[name]

    def failed(self, name: str) -> Path:
        """Beside a file, the list of what is missing from it: `annotations_failed.jsonl`."""
        path = self.path(name)
        return path.with_name(f"{path.name.removesuffix('.gz').removesuffix('.jsonl')}_failed.jsonl")

    def partial(self, name: str) -> Path:
        """Beside a file, the lines of a run that has not ended; gone when it has."""
        path = self.path(name)
        return path.with_name(f".{path.name}.part")

    def existing(self, name: str) -> Path:
        """The file, if it is there; else an error that names the stage that makes it."""
        path = self.path(name)
        if not path.is_file():
            option = "" if name in (JUDGMENTS, SIMILARITY) else f", or give one with --{_OPTIONS.get(name, name)} FILE"
            raise UserError(f"there is no {path}.", f"make it first: sightline make {_MADE_BY[name]}{option}")
        return path

    def found(self, name: str) -> Path | None:
        """The file, if it is there."""
        path = self.path(name)
        return path if path.is_file() else None

    def prepare(self, name: str) -> Path:
        """The file, with a folder that it can be written to."""
        path = self.path(name)
        with explained(f"{path} can't be written", "choose another folder: --out"):
            path.parent.mkdir(parents=True, exist_ok=True)
        return path


def project_folder(workspace: Path, config: Config) -> Path:
    """Where a benchmark is made unless somebody says where: `WORKSPACE/make/NAME`."""
    name = _UNSAFE.sub("-", config.benchmark.name or "benchmark").strip("-.") or "benchmark"
    return workspace / "make" / name


_LINES = (".jsonl", ".jsonl.gz")
_WRITES: Mapping[str, str] = {
    **{stage: name for stage, name in MAIN_FILES.items() if FILES[name].endswith(".jsonl")},
    "similarity-retry": SIMILARITY,
}
_READ_FROM_BATCHES = (ANNOTATIONS, JUDGMENTS)
_SEEDS = ("plan.random_seed", "judge.random_seed")


@dataclass(frozen=True, slots=True)
class ProjectLoader:
    """What is said of a project before it is opened; the configuration's file is read each time that it is."""

    session: Session = field(default_factory=Session)
    "Where its settings have a file, that is read each time; a proposed taxonomy is written to it."
    out: Path | None = None
    "The project's folder; or, ending in .jsonl, the file that a stage writes."
    given: Mapping[str, Path] = field(default_factory=dict)
    "Files that lie elsewhere, by their names in `authoring.project.FILES`."
    seed: int | None = None
    limit: int | None = None

    def project(self, stage: str | None = None) -> Project:
        """The project; `out` may be a file where a stage is named that writes one."""
        session, path = self.session, self.session.config_path
        config = _seeded(session.config, self.seed) if path is None else self._read(path)
        is_file = self.out is not None and self.out.name.endswith(_LINES)
        folder = project_folder(session.workspace, config) if self.out is None or is_file else self.out
        given = self._files(stage, config)
        # What is proposed to somebody who has no file goes beside the rest.
        path = folder / DEFAULT_FILE.name if path is None else path
        return Project(folder, replace(session, config=config), given, path, self.limit)

    def _read(self, path: Path) -> Config:
        seeds = {} if self.seed is None else dict.fromkeys(_SEEDS, self.seed)
        return load(None if path == DEFAULT_FILE else path, overrides=seeds).config

    def _files(self, stage: str | None, config: Config) -> dict[str, Path]:
        given, writes = dict(self.given), None if stage is None else _WRITES.get(stage)
        seeds = given.get(SEEDS)
        if seeds is not None and not seeds.is_file():
            raise UserError(f"there is no file of seeds {seeds}.", "leave --seeds out to have them chosen")
        if self.out is not None and self.out.name.endswith(_LINES):
            if writes is None:
                raise UserError(f"--out {self.out} is a file; this takes a folder.", "name a folder")
            given[writes] = self.out
        elif self.out is not None and stage == "read-batch":  # Not where the configuration has those of another run.
            given |= {name: self.out / FILES[name] for name in _READ_FROM_BATCHES}
        # Files that belong together lie together: a list of pictures beside its annotations, seeds beside their plan.
        if ANNOTATIONS in given:
            given.setdefault(IMAGES, given[ANNOTATIONS].with_name(FILES[IMAGES]))
        if PLAN in given and config.paths.seeds is None:
            given.setdefault(SEEDS, given[PLAN].with_name(FILES[SEEDS]))
        return given


def _seeded(config: Config, seed: int | None) -> Config:
    if seed is None:
        return config
    update = {"random_seed": seed}
    return config.model_copy(
        update={"plan": config.plan.model_copy(update=update), "judge": config.judge.model_copy(update=update)}
    )
