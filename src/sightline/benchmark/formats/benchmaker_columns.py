"""Where benchmaker's files lie and how they name their columns.

Files lie beside each other, in `inputs/` and `outputs/`, or where its configuration says; columns have its default
names, a configuration's, or the user's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.benchmark.formats.base import FormatOptions
from sightline.benchmark.formats.rows import TableRow
from sightline.config import Config, load
from sightline.config.settings import ColumnSettings
from sightline.errors import UserError, did_you_mean
from sightline.types import Annotation

IMAGES = "images.jsonl"
ANNOTATIONS = "annotations.jsonl"
SEEDS = "seeds.jsonl"
PLAN = "query_plan.jsonl"
QRELS = "qrels.jsonl"
SCORED = "qrels_with_score.jsonl"
RIGHTS = "rights_map.json"
NAMES = (IMAGES, ANNOTATIONS, SEEDS, PLAN, QRELS, SCORED, RIGHTS)

_FOLDERS = ("", "inputs", "outputs", "config")
_SETTINGS = {
    IMAGES: "images",
    ANNOTATIONS: "annotations",
    SEEDS: "seeds",
    PLAN: "plan",
    QRELS: "judgments",
    SCORED: "similarity",
    RIGHTS: "rights",
}
JUDGE = "benchmaker"
"""Who judged and annotated, as far as these files tell."""
_DEFAULTS = ColumnSettings()
# benchmaker's default name of a column → our name of the setting.
_SETTING_OF = {str(default): setting for setting, default in _DEFAULTS}
_SIMILARITIES = ("similarity_score", "clip_score")


@dataclass(frozen=True, slots=True)
class BenchmakerFiles:
    """The files that there are; judgments must be among them."""

    qrels: Path
    images: Path | None = None
    annotations: Path | None = None
    seeds: Path | None = None
    plan: Path | None = None
    scored: Path | None = None
    rights: Path | None = None


def find_files(path: Path, config: Config | None, config_folder: Path | None) -> BenchmakerFiles:
    """The files of a folder; a single file is taken for the judgments."""
    if path.is_file():
        return BenchmakerFiles(path)
    found = {name: _find(path, name, config, config_folder) for name in NAMES}
    scored = found[SCORED] or next(_inside(path, "*qrels_with*score*.jsonl"), None)
    qrels = found[QRELS] or scored
    if qrels is None:
        raise _no_judgments(path, [name for name in NAMES if found[name] is not None])
    return BenchmakerFiles(
        qrels=qrels,
        images=found[IMAGES],
        annotations=found[ANNOTATIONS],
        seeds=found[SEEDS],
        plan=found[PLAN],
        scored=scored,
        rights=found[RIGHTS],
    )


def _no_judgments(folder: Path, there: list[str]) -> UserError:
    if not there:
        return UserError(
            f"{folder} has none of benchmaker's files.", f"it should hold {QRELS}, and {IMAGES} if possible"
        )
    return UserError(
        f"{folder} has {', '.join(there)}, but no {QRELS}: without queries and judgments it is not a benchmark.",
        "finish it with `benchmaker judge`, or make queries from the pictures with `sightline make`",
    )


def _find(folder: Path, name: str, config: Config | None, config_folder: Path | None) -> Path | None:
    return next((path for path in _places(folder, name, config, config_folder) if path.is_file()), None)


def _places(folder: Path, name: str, config: Config | None, config_folder: Path | None) -> Iterator[Path]:
    """What the configuration says (from here, from its folder, by its name in the given one), then the usual names."""
    said: Path | None = None if config is None else getattr(config.paths, _SETTINGS[name])
    if said is not None:
        yield said
        if config_folder is not None:
            yield config_folder / said
        yield from (folder / inner / said.name for inner in _FOLDERS)
    yield from (folder / inner / name for inner in _FOLDERS)
    yield from (folder / inner / f"{name}.gz" for inner in _FOLDERS)


def _inside(folder: Path, pattern: str) -> Iterator[Path]:
    for inner in _FOLDERS:
        yield from sorted((folder / inner).glob(pattern))


@dataclass(frozen=True, slots=True)
class BenchmakerColumns:
    """The names of the columns, and which columns of an annotation are facets and flags (None: not told)."""

    names: ColumnSettings
    facets: frozenset[str] | None = None
    flags: frozenset[str] | None = None

    def of(self, row: TableRow, setting: str) -> str:
        """The column of a setting in this row; benchmaker itself writes some files with its defaults regardless."""
        named, default = str(getattr(self.names, setting)), str(getattr(_DEFAULTS, setting))
        return default if named not in row.values and default in row.values else named

    def similarity(self, row: TableRow) -> str | None:
        """The column of the similarity between query and picture, if the row has one."""
        known = (self.names.similarity, *_SIMILARITIES)
        return next((name for name in known if name in row.values), None)

    def annotation(self, row: TableRow, *others: str) -> Annotation:
        """What the row says of its picture; `others` are columns that are about something else."""
        tags, confidence = self.of(row, "tags"), self.of(row, "confidence")
        summary, picture = self.of(row, "summary"), self.of(row, "image_id")
        sure = row.values.get(confidence)
        sure = sure if isinstance(sure, dict) else {}
        rights = (self.of(row, "license"), self.of(row, "doi"))
        rest = row.rest(picture, tags, confidence, summary, *rights, *others)
        rest = {key: value for key, value in rest.items() if value is not None}
        facets = {key: value for key, value in rest.items() if isinstance(value, str) and self._is_facet(key, sure)}
        flags = {key: value for key, value in rest.items() if isinstance(value, bool) and self._is_flag(key, sure)}
        return Annotation(
            row.id(picture),
            summary=row.maybe_text(summary),
            facets=facets,
            flags=flags,
            tags=row.texts(tags) if tags in row else (),
            confidence={key: float(value) for key, value in sure.items() if isinstance(value, int | float)},
            by=JUDGE,
            extra={key: value for key, value in rest.items() if key not in facets and key not in flags},
        )

    def _is_facet(self, column: str, sure: dict[str, Any]) -> bool:
        """Told, or there is a confidence in it: benchmaker has one for each facet and flag, and for nothing else."""
        return column in self.facets if self.facets is not None else column in sure

    def _is_flag(self, column: str, sure: dict[str, Any]) -> bool:
        return column in self.flags if self.flags is not None else column in sure or not sure


def columns_of(options: FormatOptions, config: Config | None) -> BenchmakerColumns:
    """The user's `--map` (from benchmaker's default names) over the configuration's names over the defaults."""
    names = _DEFAULTS if config is None else config.columns
    mapped = {}
    for field, column in options.columns.items():
        if field not in _SETTING_OF:
            hint = did_you_mean(field, _SETTING_OF, f"Known: {', '.join(_SETTING_OF)}.")
            raise UserError(f'--map {field}={column}: benchmaker has no column "{field}".', hint)
        mapped[_SETTING_OF[field]] = column
    facets, flags = _told(config)
    return BenchmakerColumns(
        names.model_copy(update=mapped),
        facets=_listed(options, "facets") if "facets" in options.extra else facets,
        flags=_listed(options, "flags") if "flags" in options.extra else flags,
    )


def _told(config: Config | None) -> tuple[frozenset[str] | None, frozenset[str] | None]:
    """Facets and flags, if a configuration names any of them."""
    if config is None or not (config.annotate.taxonomy or config.annotate.flags):
        return None, None
    return frozenset(config.annotate.taxonomy), frozenset(config.annotate.flags)


def config_of(path: str | Path | None) -> tuple[Config | None, tuple[str, ...]]:
    """A benchmaker configuration (or one of ours), and its warnings."""
    if path is None:
        return None, ()
    loaded = load(Path(path).expanduser())
    return loaded.config, loaded.warnings


def _listed(options: FormatOptions, name: str) -> frozenset[str]:
    return frozenset(item.strip() for item in options.extra[name].split(",") if item.strip())
