"""A mining project: whose history, by whom, how strictly; and its files, one for each stage.

Files are written whole, and read back with the line that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from sightline.errors import UserError
from sightline.io.jsonl import LineError, read_json, read_jsonl, write_json, write_jsonl

OWNERS, READINGS, ASSOCIATIONS = "owners.jsonl", "parsed.jsonl", "associations.jsonl"
GRAPH = "graph.jsonl"
DRAFTS, VERDICTS, QUESTIONS = "queries.jsonl", "checked.jsonl", "questions.jsonl"
RETENTION, SETTINGS = "retention.json", "settings.json"
_MADE_BY = {
    SETTINGS: "parse",
    READINGS: "parse",
    ASSOCIATIONS: "associate",
    GRAPH: "graph",
    DRAFTS: "queries",
    VERDICTS: "check",
}
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class OwnerRules:
    """Whose histories are worth mining; whole events are taken in order of time up to `cap` pictures."""

    pictures: int = 50
    coverage: float = 0.5
    "The least share of pictures that tell when and where they were taken."
    events: int = 5
    days: int = 30
    "From the first picture to the last."
    cap: int = 2_000


GENTLE = OwnerRules()
DISBENCH = OwnerRules(pictures=2_000, coverage=0.9, events=50, days=366, cap=2_000)
PRESETS = {"gentle": GENTLE, "disbench": DISBENCH}


@dataclass(frozen=True, slots=True)
class MiningSettings:
    """Everything that changes what is mined; `writer` None means templates."""

    model: str
    embedder: str | None = None
    writer: str | None = None
    owners: tuple[str, ...] = ()
    rules: OwnerRules = GENTLE
    queries: int = 50
    "How many requests are kept at most."
    seed: int = 0
    clues: int = 4
    "Clues of a picture that are followed to other pictures, the rarest first."
    near: int = 5
    "Pictures that a clue is compared with inside the event, and as many outside."
    edges: int = 40
    "Edges of a sampled subgraph."
    sure: float = 0.5
    "Clues of less confidence are in doubt, and no kept request depends on one."
    most_targets: int = 20
    confirm: bool = True
    "Show the model every photo of the events that a kept request means, once more and for its target alone."
    retrieval_bound: float = 0.8
    metadata_bound: float = 0.9


@dataclass(frozen=True, slots=True)
class MiningFiles:
    """The folder of a project."""

    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name

    def failed(self, name: str) -> Path:
        """Beside a file, the list of what is missing from it."""
        return self.folder / name.replace(".jsonl", "_failed.jsonl")

    def write(self, name: str, rows: Iterable[Any]) -> Path:
        """Write dataclasses, one a line."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_jsonl(self.path(name), (asdict(row) for row in rows))
        return self.path(name)

    def write_failed(self, name: str, rows: Iterable[Mapping[str, str]]) -> Path:
        """The list beside a file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_jsonl(self.failed(name), rows)
        return self.failed(name)

    def retain(self, stage: str, figures: Mapping[str, Any]) -> None:
        """Add a stage's figures to those of the others."""
        path = self.path(RETENTION)
        known = read_json(path) if path.is_file() else {}
        write_json(path, {**known, stage: dict(figures)})

    def keep_settings(self, settings: MiningSettings) -> None:
        """Remember how the project is made, for stages that are run alone."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.path(SETTINGS), asdict(settings))

    def settings(self) -> MiningSettings:
        """How the project was made so far."""
        path = self.existing(SETTINGS)
        try:
            return TypeAdapter(MiningSettings).validate_python(read_json(path))
        except ValidationError as error:
            raise UserError(f"{path} does not say how the project was made: {error}", f"delete {path}") from None

    def existing(self, name: str) -> Path:
        """The file, if it is there; else an error that names the stage that makes it."""
        if not self.path(name).is_file():
            raise UserError(f"there is no {self.path(name)}.", f"make it first: sightline mine {_MADE_BY[name]}")
        return self.path(name)

    def read(self, name: str, of: type[Row]) -> Iterator[Row]:
        """The rows of a stage's file."""
        return read_rows(self.existing(name), of)


def read_rows(path: Path, of: type[Row]) -> Iterator[Row]:
    """Dataclasses from a JSONL file."""
    adapter = TypeAdapter(of)
    for number, row in read_jsonl(path):
        try:
            yield adapter.validate_python(row)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(map(str, first["loc"]))
            raise LineError(path, number, f"{field}: {first['msg']}", "make the file again") from None
