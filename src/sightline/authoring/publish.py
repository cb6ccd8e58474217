"""The stage `publish`: a benchmark → a folder that others can load, and the same on the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from sightline.authoring.dataset.folder import build_folder
from sightline.authoring.dataset.hub import Uploaded, upload
from sightline.authoring.dataset.manifest import MANIFEST, DatasetManifest, PublishOptions, PublishTerms
from sightline.authoring.dataset.takedown import publish_options
from sightline.authoring.project import Project
from sightline.authoring.project_benchmark import read_project_benchmark
from sightline.authoring.stage import StageResult
from sightline.english import counted
from sightline.errors import UserError

FOLDER = "dataset"


@dataclass(frozen=True, slots=True)
class PublishStage:
    """Builds the folder, and unless it is a dry run sends it to the hub; asks no model."""

    bench: Path | None = None
    "A benchmark folder, or one with benchmaker's files; the project's own when not given."
    terms: PublishTerms = field(default_factory=PublishTerms)
    repo: str | None = None
    "Where on the hub; `publish.repo` of the configuration when not given."
    dry_run: bool = False
    agreed: bool = False
    "Yes to what is asked first: pictures of people, ids that tell something."
    private: bool | None = None
    endpoint: str | None = None
    released: date | None = None
    tell: Callable[[str], None] = lambda _: None
    name: str = "publish"
    writes: tuple[str, ...] = ()

    def run(self, project: Project) -> StageResult:
        """Build, then upload; a dry run builds the very folder that would be sent."""
        repo = self.repo or project.config.publish.repo
        if not self.dry_run:
            self._check(repo, project.calls.local_only)
        manifest, warnings = self._build(project, repo)
        folder = dataset_folder(project)
        sent = None if self.dry_run else self._send(folder, repo, project)
        counts = dict(manifest.counts) | {"files": len(manifest.files) + 1}
        if sent is not None:
            self.tell(f"published at {sent.url}")
        left_out = manifest.left_out.items()
        warnings += tuple(f"{counted(n, 'picture stays', 'pictures stay')} here: {why}" for why, n in left_out)
        return StageResult(self.name, (folder, folder / MANIFEST), counts, warnings=warnings)

    def _check(self, repo: str | None, local_only: bool) -> None:
        """What can be told before the work."""
        if repo is None:
            raise UserError(
                "No place to publish to is named.", "add --repo owner/name, or --dry-run to have the folder only"
            )
        if local_only:
            raise UserError("--local-only allows no upload.", "add --dry-run to have the folder only")

    def _build(self, project: Project, repo: str | None) -> tuple[DatasetManifest, tuple[str, ...]]:
        source = read_project_benchmark(project, self.bench)
        released = self.released or datetime.now(UTC).date()
        options = publish_options(source, project, released, repo, agreed=self.agreed)
        _refuse_rehearsal(options, source.folder)
        return build_folder(source, dataset_folder(project), self.terms, project.config, options), source.warnings

    def _send(self, folder: Path, repo: str | None, project: Project) -> Uploaded:
        assert repo is not None  # `_check` refused that.
        settings = project.config.publish
        private = settings.private if self.private is None else self.private
        return upload(folder, repo, settings.token, private=private, endpoint=self.endpoint, tell=self.tell)


def _refuse_rehearsal(options: PublishOptions, folder: Path) -> None:
    if options.grade is not None and options.grade.name == "rehearsal":
        raise UserError(
            f"The labels of {folder} are by built-in models and nobody checked them; a rehearsal is not published. "
            f"{options.grade.why}",
            f"Have people check labels (sightline view {folder}), or make labels with a stronger model (--model).",
        )


def dataset_folder(project: Project) -> Path:
    """Where the published folder is: as configured, else inside the project."""
    return project.config.paths.dataset or project.folder / FOLDER
