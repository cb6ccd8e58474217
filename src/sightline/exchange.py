"""Files of other tools, in and out: what `import`, `export` and `validate` do."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sightline import bench, run
from sightline.bench import Problem
from sightline.bench.formats import Content, Options, find_format, format_names
from sightline.errors import UserError
from sightline.loading import load
from sightline.types import Benchmark, Corpus, PictureSet, Relevance, Run

_PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import brought: counts, and each label's values with their counts."""

    tasks: int
    judgments: int
    pictures: int
    missing_pictures: int
    labels: Mapping[str, Mapping[str, int]]
    warnings: tuple[str, ...]


def import_files(format_: str, path: _PathLike, out: _PathLike, options: Options | None = None) -> ImportSummary:
    """Read files of another tool and write them as a BENCH or RUN folder, whole or not at all."""
    options = options or Options()
    known = find_format(format_)
    if known.read is None:
        raise UserError(f"{format_} can be written, but not read.", f"formats: {', '.join(format_names())}")
    source = _source(path, known.hub, options.local_only)
    imported = known.read(source, options)
    _refuse_nothing(imported.content, source)
    warnings = (*imported.warnings, *(str(problem) for problem in imported.problems))
    if isinstance(imported.content, Run):
        run.write_run(imported.content, out)
        tasks = {attempt.task_id for attempt in imported.content.attempts}
        return ImportSummary(len(tasks), 0, 0, 0, {}, warnings)
    written = bench.write(imported.content, out)
    return replace(summarise(written, Path(out)), warnings=warnings)


def _refuse_nothing(content: Benchmark | Run, source: Path) -> None:
    empty = not content.attempts if isinstance(content, Run) else not (content.tasks or content.corpus.pictures)
    if empty:
        raise UserError(f"nothing was found in {source}.", "check the path and the format")


def _source(path: _PathLike, hub: str | None, local_only: bool) -> Path:
    """A local file or folder, or what a name on the hub brings (with the hub extra)."""
    local = Path(path).expanduser()
    if local.exists():
        return local
    if hub is not None and str(path) == hub:
        if local_only:
            raise UserError(f"{hub} would be fetched from the hub, and --local-only is set.", "give a local folder")
        from sightline.bench.formats.hub import download

        return download(hub)
    hint = f"check the path, or give its name on the hub: {hub}" if hub else "check the path"
    raise UserError(f"there is no file or folder {local}.", hint)


def summarise(benchmark: Benchmark, folder: Path) -> ImportSummary:
    """Counts of a benchmark; pictures are missing when they have a local path and no file is there."""
    labels: dict[str, Counter[str]] = {}
    for task in benchmark.tasks.values():
        for name, values in task.labels.items():
            labels.setdefault(name, Counter()).update(values)
    judgments = 0
    for truth in benchmark.truth.values():
        judgments += len(truth.grades) if isinstance(truth, Relevance) else 0
        judgments += len(truth.pictures) if isinstance(truth, PictureSet) else 0
    places = (bench.picture_path(picture.uri, folder) for picture in benchmark.corpus.pictures.values())
    missing = sum(place is not None and not place.is_file() for place in places)
    return ImportSummary(
        tasks=len(benchmark.tasks),
        judgments=judgments,
        pictures=len(benchmark.corpus.pictures),
        missing_pictures=missing,
        labels={name: dict(counts.most_common()) for name, counts in sorted(labels.items())},
        warnings=(),
    )


def export_files(format_: str, source: _PathLike, out: _PathLike, options: Options | None = None) -> None:
    """Write a workspace's corpus, a benchmark or a run in another tool's format, whole or not at all."""
    known = find_format(format_)
    if known.write is None:
        raise UserError(f"{format_} can be read, but not written.", f"formats: {', '.join(format_names())}")
    content: Content = load(source)
    if Corpus in known.writes and Benchmark not in known.writes and isinstance(content, Benchmark):
        content = content.corpus
    if not isinstance(content, known.writes):
        wanted = " or ".join(f"a {kind.__name__.lower()}" for kind in known.writes)
        raise UserError(f"{source} is a {type(content).__name__.lower()}; {format_} is written from {wanted}.")
    options = options or Options()
    if options.pictures is None and isinstance(
        content, Benchmark
    ):  # Relative addresses of pictures start at the benchmark's folder.
        options = replace(options, pictures=Path(source).expanduser())
    known.write(content, Path(out).expanduser(), replace(options, source=Path(source).expanduser()))


def validate(path: _PathLike, *, check_pictures: bool = False) -> tuple[Problem, ...]:
    """Everything that is wrong with a BENCH or RUN folder."""
    folder = Path(path).expanduser()
    if (folder / "run.json").is_file():
        return run.validate(folder)
    if (folder / "benchmark.json").is_file():
        return bench.validate(folder, check_pictures=check_pictures)
    raise UserError(
        f"{folder} is neither a benchmark nor a run.", "give the folder that holds benchmark.json or run.json"
    )
