"""The files of a mining project: one for each stage, written whole, read back with the line that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from sightline.errors import UserError
from sightline.io import LineError, read_json, read_jsonl, write_json, write_jsonl
from sightline.mine.settings import Settings

OWNERS, READINGS, ASSOCIATIONS = "owners.jsonl", "parsed.jsonl", "associations.jsonl"
GRAPH, GRAPH_PAGE = "graph.jsonl", "graph.html"
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
class Files:
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

    def keep_settings(self, settings: Settings) -> None:
        """Remember how the project is made, for stages that are run alone."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.path(SETTINGS), asdict(settings))

    def settings(self) -> Settings:
        """How the project was made so far."""
        path = self.existing(SETTINGS)
        try:
            return TypeAdapter(Settings).validate_python(read_json(path))
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
