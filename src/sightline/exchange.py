"""Files of other tools, in and out: what `import`, `export` and `validate` do.

And `load`, which opens whatever a folder holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from sightline import runs
from sightline.benchmark.files import HEADER as BENCHMARK_FILE
from sightline.benchmark.folder import check_place, read_benchmark, write_benchmark
from sightline.benchmark.formats import Content, FormatOptions, find_format, format_names
from sightline.benchmark.problems import Problem
from sightline.benchmark.validation import oddities as benchmark_oddities
from sightline.benchmark.validation import validate_benchmark
from sightline.class_names import name_of
from sightline.corpus.schema import FILE_NAME as CORPUS_FILE
from sightline.corpus.view import open_corpus
from sightline.english import counted
from sightline.errors import MissingExtraError, UserError
from sightline.io.files import PathLike, picture_path
from sightline.runs import read_run
from sightline.runs.folder import HEADER as RUN_FILE
from sightline.runs.folder import key_of
from sightline.types import Benchmark, Corpus, PictureSet, Relevance, Run

Loaded: TypeAlias = Benchmark | Run | Corpus

# A folder is known by one file in it; a new kind of folder is a new line here and in `Loaded`.
_READERS: Mapping[str, Callable[[PathLike], Loaded]] = {
    BENCHMARK_FILE: read_benchmark,
    RUN_FILE: read_run,
    CORPUS_FILE: open_corpus,
}


def load(path: PathLike) -> Loaded:
    """The benchmark, the run or the scanned corpus in a folder."""
    folder = Path(path).expanduser()
    for marker, reader in _READERS.items():
        if (folder / marker).is_file():
            return reader(folder)
    what = f"has no {' and no '.join(_READERS)}" if folder.is_dir() else "is not a folder"
    raise UserError(f"{folder} {what}.", "give the folder of a benchmark, a run or a workspace")


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import brought: counts, and each label's values with their counts."""

    tasks: int
    judgments: int
    pictures: int
    missing_pictures: int
    labels: Mapping[str, Mapping[str, int]]
    warnings: tuple[str, ...]


def import_files(format_: str, path: PathLike, out: PathLike, options: FormatOptions | None = None) -> ImportSummary:
    """Read files of another tool and write them as a BENCH or RUN folder, whole or not at all.

    What an earlier import of them wrote is replaced; another benchmark or run is not.
    """
    options = options or FormatOptions()
    known = find_format(format_)
    if known.read is None:
        raise UserError(f"{format_} can be written, but not read.", f"formats: {', '.join(format_names())}")
    source, options = _source(path, known.hub, options)
    imported = known.read(source, options)
    _refuse_nothing(imported.content, source)
    warnings = (*imported.warnings, *(str(problem) for problem in imported.problems))
    content = imported.content
    if isinstance(content, Run):
        _refuse_other_run(Path(out), content)
        runs.write_run(content, out)
        tasks = {attempt.task_id for attempt in content.attempts}
        return ImportSummary(len(tasks), 0, 0, 0, {}, warnings)
    check_place(out, content.name, content.reviews, content.tasks)
    written = write_benchmark(content, out)
    return replace(summarise(written, Path(out)), warnings=warnings)


def _refuse_nothing(content: Benchmark | Run, source: Path) -> None:
    empty = not content.attempts if isinstance(content, Run) else not (content.tasks or content.corpus.pictures)
    if empty:
        raise UserError(f"nothing was found in {source}.", "check the path and the format")


def _refuse_other_run(out: Path, new: Run) -> None:
    """Only a run of the same system is replaced, none of whose answers and costs would be lost."""
    if not (out / RUN_FILE).is_file():
        return
    there = runs.read_run(out)
    lost = len({key_of(attempt) for attempt in there.attempts} - {key_of(attempt) for attempt in new.attempts})
    if there.system != new.system:
        holds = f'a run of "{there.system}", not of "{new.system}"'
    elif new.benchmark_checksum and there.benchmark_checksum and there.benchmark != new.benchmark:
        holds = f'a run on "{there.benchmark}", not on "{new.benchmark}"'
    elif lost:
        holds = f'another run of "{new.system}": {counted(lost, "attempt")} would be lost'
    elif there.ledger and not new.ledger:
        holds = f'another run of "{new.system}", with what it cost'
    else:
        return
    raise UserError(f"{out} holds {holds}; it is left as it is.", "choose a new or an empty folder")


def _source(path: PathLike, hub: str | None, options: FormatOptions) -> tuple[Path, FormatOptions]:
    """A local file or folder, or what a name on the hub brings (with the hub extra), which the options then say."""
    local = Path(path).expanduser()
    if local.exists():
        return local, options
    if hub is not None and str(path) == hub:
        if options.local_only:
            raise UserError(f"{hub} would be fetched from the hub, and --local-only is set.", "give a local folder")
        return _download(hub), replace(options, hub=hub)
    hint = f"check the path, or give its name on the hub: {hub}" if hub else "check the path"
    raise UserError(f"there is no file or folder {local}.", hint)


def _download(name: str) -> Path:
    """The folder of a data set of the Hugging Face hub, also from its cache on this machine; needs the extra `hub`."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise MissingExtraError(f"loading {name} by its name", "hub") from None
    try:
        return Path(snapshot_download(name, repo_type="dataset"))
    except Exception as error:  # Whatever its HTTP client of the day raises.
        raise UserError(
            f"{name} could not be had from the hub: {type(error).__name__}.",
            "download its files elsewhere and give their folder, or set HF_TOKEN if it asks for a login",
        ) from error


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
    places = (picture_path(picture.uri, folder) for picture in benchmark.corpus.pictures.values())
    missing = sum(place is not None and not place.is_file() for place in places)
    return ImportSummary(
        tasks=len(benchmark.tasks),
        judgments=judgments,
        pictures=len(benchmark.corpus.pictures),
        missing_pictures=missing,
        labels={name: dict(counts.most_common()) for name, counts in sorted(labels.items())},
        warnings=(),
    )


def export_files(format_: str, source: PathLike, out: PathLike, options: FormatOptions | None = None) -> None:
    """Write a workspace's corpus, a benchmark or a run in another tool's format, whole or not at all."""
    known = find_format(format_)
    if known.write is None:
        raise UserError(f"{format_} can be read, but not written.", f"formats: {', '.join(format_names())}")
    content: Content = load(source)
    if Corpus in known.writes and Benchmark not in known.writes and isinstance(content, Benchmark):
        content = content.corpus
    if not isinstance(content, known.writes):
        wanted = " or ".join(f"a {name_of(kind).lower()}" for kind in known.writes)
        raise UserError(f"{source} is a {name_of(type(content)).lower()}; {format_} is written from {wanted}.")
    options = options or FormatOptions()
    folder = Path(source).expanduser()
    if options.pictures is None and isinstance(content, Benchmark):
        options = replace(options, pictures=folder)  # Relative addresses of pictures start there.
    known.write(content, Path(out).expanduser(), replace(options, source=folder))


def validate(path: PathLike, *, check_pictures: bool = False) -> tuple[Problem, ...]:
    """Everything that is wrong with a BENCH or RUN folder."""
    folder = Path(path).expanduser()
    if (folder / RUN_FILE).is_file():
        return runs.validate(folder)
    if (folder / BENCHMARK_FILE).is_file():
        return validate_benchmark(folder, check_pictures=check_pictures)
    raise UserError(
        f"{folder} is neither a benchmark nor a run.", "give the folder that holds benchmark.json or run.json"
    )


def oddities(path: PathLike) -> tuple[Problem, ...]:
    """What a benchmark can be run with, though its author hardly meant it so; nothing for a run."""
    folder = Path(path).expanduser()
    return () if (folder / RUN_FILE).is_file() else benchmark_oddities(folder)
