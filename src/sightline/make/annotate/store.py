"""Annotations on disk while they are made: what is kept from before, what is new, and what failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sightline.config import Config
from sightline.io import CutOffError, LineError, dump, parse_line, read_lines, write_jsonl
from sightline.make import project as files
from sightline.make.files import MEND, SCHEMA, SHA256, AnnotationLines
from sightline.make.project import Project
from sightline.run.lines import GrowingFile
from sightline.types import Annotation, Failure, Picture


class AnnotationStore:
    """Takes annotations one by one, each on disk before the next; the files are whole when the block ends.

    Killed in between, the lines of the unfinished run are found by the next one.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._lines = AnnotationLines(project.config)
        self.warnings: list[str] = []
        self.path = project.prepare(files.ANNOTATIONS)
        self.failed_path, self._partial = project.failed(files.ANNOTATIONS), project.partial(files.ANNOTATIONS)
        self._rows: dict[str, dict[str, Any]] = {}
        for path in (self.path, self._partial):
            if path.is_file():
                self._rows |= self._read(path)
        self._failures: dict[str, Failure] = {}
        self._file: GrowingFile | None = None

    def kept(self, pictures: Iterable[Picture], questions: str) -> set[str]:
        """Pictures that are annotated already: the same bytes under the same questions, or by somebody else."""
        return {picture.id for picture in pictures if self._is_kept(picture, questions)}

    def _is_kept(self, picture: Picture, questions: str) -> bool:
        row = self._rows.get(picture.id)
        if row is None:
            return False
        if SCHEMA not in row:  # benchmaker's, or written by hand.
            return True
        return row[SCHEMA] == questions and row.get(SHA256) == picture.extra.get(SHA256)

    def __enter__(self) -> Self:
        self._file = GrowingFile(self._partial)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._file is not None
        write_jsonl(self.path, self._rows.values())
        write_jsonl(
            self.failed_path, (_failed(id_, what, self._project.config) for id_, what in self._failures.items())
        )
        self._file.close()
        self._partial.unlink(missing_ok=True)

    def add(self, id_: str, found: Annotation | Failure) -> None:
        """One picture's annotation, or why there is none."""
        if isinstance(found, Failure):
            self._failures[id_] = found
            return
        row = self._lines.write(found)
        assert self._file is not None
        self._file.append(dump(row))
        self._rows[id_] = row

    def __len__(self) -> int:
        return len(self._rows)

    def _read(self, path: Path) -> Mapping[str, dict[str, Any]]:
        """Rows by picture; a last line that is cut off was in the making when somebody was stopped."""
        found: dict[str, dict[str, Any]] = {}
        for number, line in read_lines(path):
            try:
                row = parse_line(path, number, line)
                if not isinstance(row, dict):
                    raise ValueError("expected one JSON object")
                found[self._lines.read(row).picture_id] = row
            except CutOffError:
                self.warnings.append(f"{path}, line {number}: cut off by a run that was stopped; it is made again")
            except LineError as error:
                raise LineError(path, number, error.reason, MEND) from None
            except ValueError as error:
                raise LineError(path, number, str(error), MEND) from None
        return found


def _failed(id_: str, failure: Failure, config: Config) -> dict[str, Any]:
    return {
        config.columns.image_id: id_,
        "custom_id": f"annotate::{id_}",
        "kind": failure.kind,
        "error": failure.message,
    }
