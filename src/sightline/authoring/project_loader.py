"""Where a project lies and by which settings it is made: the same for the command line and for Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sightline.authoring import project as files
from sightline.authoring.project import Project, project_folder
from sightline.calls.session import Session
from sightline.config import Config, load
from sightline.config.sources import DEFAULT_FILE
from sightline.errors import UserError

_LINES = (".jsonl", ".jsonl.gz")
_WRITES: Mapping[str, str] = {
    **{stage: name for stage, name in files.MAIN_FILES.items() if files.FILES[name].endswith(".jsonl")},
    "similarity-retry": files.SIMILARITY,
}
_READ_FROM_BATCHES = (files.ANNOTATIONS, files.JUDGMENTS)
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
        seeds = given.get(files.SEEDS)
        if seeds is not None and not seeds.is_file():
            raise UserError(f"there is no file of seeds {seeds}.", "leave --seeds out to have them chosen")
        if self.out is not None and self.out.name.endswith(_LINES):
            if writes is None:
                raise UserError(f"--out {self.out} is a file; this takes a folder.", "name a folder")
            given[writes] = self.out
        elif self.out is not None and stage == "read-batch":  # Not where the configuration has those of another run.
            given |= {name: self.out / files.FILES[name] for name in _READ_FROM_BATCHES}
        # Files that belong together lie together: a list of pictures beside its annotations, seeds beside their plan.
        if files.ANNOTATIONS in given:
            given.setdefault(files.IMAGES, given[files.ANNOTATIONS].with_name(files.FILES[files.IMAGES]))
        if files.PLAN in given and config.paths.seeds is None:
            given.setdefault(files.SEEDS, given[files.PLAN].with_name(files.FILES[files.SEEDS]))
        return given


def _seeded(config: Config, seed: int | None) -> Config:
    if seed is None:
        return config
    update = {"random_seed": seed}
    return config.model_copy(
        update={"plan": config.plan.model_copy(update=update), "judge": config.judge.model_copy(update=update)}
    )
