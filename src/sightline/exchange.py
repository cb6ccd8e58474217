"""Files of other tools, in and out: what `import`, `export` and `validate` do.

And `load`, which opens whatever a folder holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar, overload

from sightline.benchmark.exchange_results import ExportSummary, ImportSummary, Validation
from sightline.benchmark.files import HEADER as BENCHMARK_FILE
from sightline.benchmark.folder import check_place, read_benchmark, write_benchmark
from sightline.benchmark.formats import Content, Format, FormatOptions, Imported, find_format, format_names
from sightline.benchmark.provenance import with_origin
from sightline.benchmark.validation import oddities, validate_benchmark
from sightline.class_names import name_of
from sightline.corpus.schema import FILE_NAME as CORPUS_FILE
from sightline.corpus.view import open_corpus
from sightline.english import counted
from sightline.errors import UserError, explained, needs_extra
from sightline.io.files import PathLike, as_path, picture_path
from sightline.runs.folder import HEADER as RUN_FILE
from sightline.runs.folder import key_of, read_run, write_run
from sightline.runs.folder import validate as validate_run
from sightline.runs.kept_baselines import keep_baselines
from sightline.types import Benchmark, Corpus, Run
from sightline.types.truth import grades_of

if TYPE_CHECKING:
    from sightline.calls.session import Session

Loaded: TypeAlias = Benchmark | Run | Corpus
LoadedT = TypeVar("LoadedT", Benchmark, Run, Corpus)

# A folder is known by one file in it; a new kind of folder is a new line here and in `Loaded`.
_READERS: Mapping[str, Callable[[PathLike], Loaded]] = {
    BENCHMARK_FILE: read_benchmark,
    RUN_FILE: read_run,
    CORPUS_FILE: open_corpus,
}


@overload
def load(path: PathLike) -> Loaded: ...
@overload
def load(path: PathLike, kind: type[LoadedT]) -> LoadedT: ...
def load(path: PathLike, kind: type[LoadedT] | None = None) -> Loaded | LoadedT:
    """Load the benchmark, the run or the scanned corpus in a folder.

    Parameters
    ----------
    path:
        The folder of a benchmark, of a run, or a workspace.
    kind:
        What it must be: `Benchmark`, `Run` or `Corpus` of `sightline.types`; anything when not given.

    Returns
    -------
    Benchmark, Run or Corpus
        What the folder holds; a notebook shows its first rows, with pictures where they are at hand.

    Examples
    --------
    >>> benchmark = sightline.load("bench")
    >>> len(benchmark.tasks[:2])
    2
    """
    folder = as_path(path, "a benchmark, a run or a workspace")
    for marker, reader in _READERS.items():
        if (folder / marker).is_file():
            found = reader(folder)
            if kind is not None and not isinstance(found, kind):
                other, wanted = name_of(type(found)).lower(), name_of(kind).lower()
                raise UserError(f"{folder} is a {other}, not a {wanted}.", f"Give the folder of a {wanted}.")
            return found
    what = f"has no {' and no '.join(_READERS)}" if folder.is_dir() else "is not a folder"
    raise UserError(f"{folder} {what}.", "give the folder of a benchmark, a run or a workspace")


def import_files(
    format: str,  # noqa: A002
    path: PathLike,
    out: PathLike,
    *,
    columns: Mapping[str, str] | None = None,
    benchmark: PathLike | Benchmark | None = None,
    pictures: PathLike | None = None,
    name: str | None = None,
    split: str | None = None,
    options: Mapping[str, str] | None = None,
    keep_going: bool = False,
    limit: int | None = None,
    seed: int | None = None,
    session: Session | None = None,
) -> ImportSummary:
    """Read files of another tool and write them as a benchmark or a run, whole or not at all.

    What an earlier import of them wrote is replaced; another benchmark or run is not.

    Parameters
    ----------
    format:
        One of the formats that `sightline formats` lists, such as "beir" or "trec-run".
    path:
        A file or folder; for the public benchmarks also their name on the hub.
    out:
        The folder to write: a benchmark, or a run for predictions.
    columns:
        Where a column is called otherwise: `{field: column}`.
    benchmark:
        For predictions: the benchmark that they answer.
    pictures:
        Where the pictures are, if not beside the files.
    name:
        What to call it.
    split:
        Which split, where a format has several.
    options:
        What only this format knows, by name.
    keep_going:
        Leave out wrong lines and list them all, instead of stopping at the first.
    limit:
        Import only so many tasks.
    seed:
        Makes random choices repeatable: the session's, else 0, when not given.
    session:
        With `local_only` nothing is fetched from the hub.

    Returns
    -------
    ImportSummary
        Counts, labels and warnings.

    Examples
    --------
    >>> _ = sightline.export_files("beir", "bench", "as_beir")
    >>> sightline.import_files("beir", "as_beir", "again").tasks
    3
    """
    known = find_format(format)
    if known.read is None:
        raise UserError(f"{format} can be written, but not read.", f"formats: {', '.join(format_names())}")
    given = FormatOptions(
        columns=columns or {},
        name=name,
        split=split,
        limit=limit,
        seed=_seed(seed, session),
        keep_going=keep_going,
        local_only=session is not None and session.calls.local_only,
        pictures=None if pictures is None else as_path(pictures, "a folder of pictures"),
        benchmark=_benchmark(benchmark),
        extra=options or {},
    )
    source, given = _source(path, known.hub, given)
    return _write_imported(known.read(source, given), source, as_path(out, "the folder to write"))


def _write_imported(imported: Imported, source: Path, out: Path) -> ImportSummary:
    _refuse_nothing(imported.content, source)
    warnings = (*imported.warnings, *(str(problem) for problem in imported.problems))
    content = imported.content
    if isinstance(content, Run):
        _refuse_other_run(out, content)
        write_run(content, out)
        tasks = {attempt.task_id for attempt in content.attempts}
        return ImportSummary(len(tasks), 0, 0, 0, {}, warnings, out)
    check_place(out, content.name, content.reviews, content.tasks)
    written = write_benchmark(with_origin(content, source), out)
    keep_baselines(written, out)
    return replace(summarise(written, out), warnings=warnings, out=out)


def _benchmark(given: PathLike | Benchmark | None) -> Benchmark | None:
    if given is None or isinstance(given, Benchmark):
        return given
    return read_benchmark(as_path(given, "a benchmark"))


def _seed(given: int | None, session: Session | None) -> int:
    return given if given is not None else (session.seed if session is not None else None) or 0


def _refuse_nothing(content: Benchmark | Run, source: Path) -> None:
    empty = not content.attempts if isinstance(content, Run) else not (content.tasks or content.corpus.pictures)
    if empty:
        raise UserError(f"nothing was found in {source}.", "check the path and the format")


def _refuse_other_run(out: Path, new: Run) -> None:
    """Only a run of the same system is replaced, none of whose answers and costs would be lost."""
    if not (out / RUN_FILE).is_file():
        return
    there = read_run(out)
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
    local = as_path(path, "a file or a folder")
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
    with needs_extra(f"loading {name} by its name", "hub"):
        from huggingface_hub import snapshot_download
    try:
        return Path(snapshot_download(name, repo_type="dataset"))
    except Exception as error:  # Whatever its HTTP client of the day raises.
        raise UserError(
            f"{name} could not be downloaded from the hub: {type(error).__name__}.",
            "download its files elsewhere and give their folder, or set HF_TOKEN if it asks for a login",
        ) from error


def summarise(benchmark: Benchmark, folder: Path) -> ImportSummary:
    """Counts of a benchmark; pictures are missing when they have a local path and no file is there."""
    labels: dict[str, Counter[str]] = {}
    for task in benchmark.tasks.values():
        for name, values in task.labels.items():
            labels.setdefault(name, Counter()).update(values)
    places = (picture_path(picture.uri, folder) for picture in benchmark.corpus.pictures.values())
    missing = sum(place is not None and not place.is_file() for place in places)
    return ImportSummary(
        tasks=len(benchmark.tasks),
        judgments=sum(len(grades_of(truth)) for truth in benchmark.truth.values()),
        pictures=len(benchmark.corpus.pictures),
        missing_pictures=missing,
        labels={name: dict(counts.most_common()) for name, counts in sorted(labels.items())},
        warnings=(),
    )


def export_files(
    format: str,  # noqa: A002
    source: PathLike,
    out: PathLike,
    *,
    columns: Mapping[str, str] | None = None,
    benchmark: PathLike | Benchmark | None = None,
    options: Mapping[str, str] | None = None,
    limit: int | None = None,
    seed: int | None = None,
    session: Session | None = None,
) -> ExportSummary:
    """Write a workspace's corpus, a benchmark or a run in another tool's format, whole or not at all.

    Parameters
    ----------
    format:
        One of the formats that `sightline formats` lists, such as "trec-qrels" or "corpus-csv".
    source:
        A workspace, a benchmark or a run.
    out:
        The file or folder to write; folders above it are made.
    columns:
        How to call a column: `{field: column}`.
    benchmark:
        For runs in formats that also need the questions: the benchmark that the run answers.
    options:
        What only this format knows, by name.
    limit:
        Export only so many tasks, where the format takes a limit.
    seed:
        Makes random choices repeatable: the session's, else 0, when not given.
    session:
        Gives its seed.

    Returns
    -------
    ExportSummary
        What was written, and where.

    Examples
    --------
    >>> print(sightline.export_files("trec-qrels", "bench", "files/qrels.txt"))
      bench → files/qrels.txt (trec-qrels)
    """
    known = find_format(format)
    if known.write is None:
        raise UserError(f"{format} can be read, but not written.", f"formats: {', '.join(format_names())}")
    folder, target = as_path(source, "a workspace, a benchmark or a run"), as_path(out, "the file or folder to write")
    content, answered = _content(known, folder), _benchmark(benchmark)
    beside = answered.folder if answered else folder if isinstance(content, Benchmark) else None
    _make_parent(target)
    try:
        known.write(
            content,
            target,
            FormatOptions(
                columns=columns or {},
                limit=limit,
                seed=_seed(seed, session),
                pictures=beside,  # Relative addresses of pictures start at the benchmark.
                benchmark=answered,
                source=folder,
                extra=options or {},
            ),
        )
    except KeyError as error:
        raise UserError(
            f"{folder} names {error} and does not hold it.", f"See what is wrong: sightline validate {folder}"
        ) from error
    return ExportSummary(format, folder, target)


def _make_parent(target: Path) -> None:
    with explained(f"{target.parent} can't be made", "Choose another place."):
        target.parent.mkdir(parents=True, exist_ok=True)


def _content(known: Format, folder: Path) -> Content:
    """What the folder holds, in the form that the format is written from."""
    content: Content = load(folder)
    if Corpus in known.writes and Benchmark not in known.writes and isinstance(content, Benchmark):
        content = content.corpus
    if not isinstance(content, known.writes):
        wanted = " or ".join(f"a {name_of(kind).lower()}" for kind in known.writes)
        raise UserError(f"{folder} is a {name_of(type(content)).lower()}; {known.name} is written from {wanted}.")
    return content


def validate(path: PathLike, *, check_pictures: bool = False) -> Validation:
    """Find everything that is wrong with a benchmark or a run.

    Parameters
    ----------
    path:
        The folder of a benchmark or a run.
    check_pictures:
        Also compare each picture's checksum.

    Returns
    -------
    Validation
        The problems, by file, line and field; `valid` where there is none.

    Examples
    --------
    >>> sightline.validate("bench").valid
    True
    """
    folder = as_path(path, "a benchmark or a run")
    if (folder / RUN_FILE).is_file():
        return Validation(validate_run(folder), folder)
    if (folder / BENCHMARK_FILE).is_file():
        problems = validate_benchmark(folder, check_pictures=check_pictures)
        return Validation(problems, folder, oddities(folder))
    raise UserError(
        f"{folder} is neither a benchmark nor a run.", "give the folder that holds benchmark.json or run.json"
    )
