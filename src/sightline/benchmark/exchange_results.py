"""What an import, an export and a validation come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from sightline.benchmark.problems import Problem
from sightline.display import Rows, Shown, html_table, quiet
from sightline.english import counted, some

_LABELS = 12


@dataclass(frozen=True, slots=True, repr=False)
class ImportSummary(Shown):
    """What an import brought: counts, and each label's values with their counts."""

    tasks: int
    judgments: int
    pictures: int
    missing_pictures: int
    labels: Mapping[str, Mapping[str, int]]
    warnings: tuple[str, ...]
    out: Path = field(default=Path(), compare=False)

    def to_json(self) -> dict[str, Any]:
        """What `import --json` prints."""
        return {name: value for name, value in asdict(self).items() if name != "out"}

    def __str__(self) -> str:
        labels = (f"  {label}: {some(_counts(counts), _LABELS)}" for label, counts in self.labels.items())
        return "\n".join([f"  {self._line()}", *labels])

    def _line(self) -> str:
        return (
            f"{counted(self.tasks, 'task')} · {counted(self.judgments, 'judgment')}"
            f" · {counted(self.pictures, 'picture')} ({self.missing_pictures:,} missing) → {self.out}"
        )

    def _blocks(self) -> Iterable[str]:
        if self.labels:
            rows = [(label, some(_counts(counts), _LABELS)) for label, counts in self.labels.items()]
            yield html_table(("label", "values"), rows)
        yield from (quiet(f"Warning: {warning}") for warning in self.warnings[:_LABELS])


def _counts(counts: Mapping[str, int]) -> list[str]:
    return [f"{value} {count:,}" for value, count in counts.items()]


@dataclass(frozen=True, slots=True, repr=False)
class ExportSummary(Shown):
    """What was exported, in which format, and where to."""

    format: str
    source: Path
    out: Path

    def to_json(self) -> dict[str, Any]:
        """What `export --json` prints."""
        return {"format": self.format, "source": str(self.source), "out": str(self.out)}

    def __str__(self) -> str:
        return f"  {self._line()}"

    def _line(self) -> str:
        return f"{self.source} → {self.out} ({self.format})"


class Validation(Rows[Problem]):
    """Everything that is wrong with a benchmark or a run: its rows; empty where nothing is.

    `warnings` are what is only odd, such as an empty prompt.
    """

    path: Path
    warnings: tuple[Problem, ...]

    def __new__(cls, problems: Iterable[Problem] = (), path: Path = Path(), warnings: tuple[Problem, ...] = ()) -> Self:
        made = super().__new__(cls, problems)
        made.path, made.warnings = path, warnings
        return made

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong; warnings don't count."""
        return not self

    def to_json(self) -> dict[str, Any]:
        """What `validate --json` prints."""
        return {
            "path": str(self.path),
            "valid": self.valid,
            "problems": self.records(),
            "warnings": [asdict(found) for found in self.warnings],
        }

    def records(self) -> list[dict[str, Any]]:
        """One record for each problem: its file, line and field, and what was expected."""
        return [asdict(found) for found in self]

    def __str__(self) -> str:
        return "\n".join(f"  {problem}" for problem in self) or f"  {self._line()}"

    def _line(self) -> str:
        said = f"{counted(len(self), 'problem')} found" if self else "nothing wrong"
        return f"{self.path}: {said}" + (f", {counted(len(self.warnings), 'warning')}" if self.warnings else "")

    def _blocks(self) -> Iterable[str]:
        rows = [(found.file, f"{found.line or ''}", found.field or "", found.message) for found in self]
        if rows:
            yield html_table(("file", "line", "field", "what is wrong"), rows, numeric={1})
        yield from (quiet(f"Warning: {warning}") for warning in self.warnings[:_LABELS])
