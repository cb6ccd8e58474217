"""Where benchmaker's files lie: beside each other, in `inputs/` and `outputs/`, or where its configuration says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sightline.config import Config
from sightline.errors import UserError

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
        f"{folder} has {', '.join(there)}, but no {QRELS}: without queries and judgments it is no benchmark.",
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
