"""What the commands of `sightline mine` share: the workspace, who is asked, and how strictly is mined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.asking import ChatOptions, Positive
from sightline.cli.common import Common

if TYPE_CHECKING:
    from sightline.calls.session import Session
    from sightline.config import Config
    from sightline.mine import Mining, Settings

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

    def given(self, settings: Settings, seed: int | None) -> Settings:
        """The settings, with what this command line says."""
        from sightline.mine.settings import PRESETS

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
        from sightline.mine import Mining
        from sightline.mine.files import Files

        session = self.session(workspace, engine)
        folder = self.how.project or session.workspace / "mine"
        if goes_on:
            settings = self._as_before(Files(folder).settings(), session.config)
        else:
            settings = _by(self.asking.chosen(session.config.annotate.model), session.config)
        return Mining(session, folder, self.how.given(settings, self.common.seed))

    def _as_before(self, settings: Settings, config: Config) -> Settings:
        """The settings of a project, by another model where one is given."""
        if self.asking.model in (None, settings.model):
            return settings
        other = _by(self.asking.chosen(), config)
        return replace(settings, model=other.model, writer=other.writer, confirm=other.confirm)


def _by(model: str, config: Config) -> Settings:
    """How a model mines when nothing else is said."""
    from sightline.mine import Settings
    from sightline.models.built_in import find_built_in

    declared = find_built_in(model)
    if declared is None:
        return Settings(model, writer=model)
    writer = model if declared.words_queries else None
    embedder = config.models.embedder or declared.embedder
    return Settings(model, embedder=embedder, writer=writer, confirm=declared.confirms)


def failed(failures: Mapping[str, int]) -> list[str]:
    """A line for calls that failed, where some did."""
    told = ", ".join(f"{kind} {count:,}" for kind, count in failures.items())
    return [f"failed: {told}"] if told else []
