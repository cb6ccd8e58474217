"""Is a run what was written? `run.json` ends with checksums of its files; whoever prints a score looks at them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from sightline.benchmark.problems import Problem
from sightline.benchmark.table import read_header
from sightline.english import listed
from sightline.io.files import PathLike, sha256_of
from sightline.io.jsonl import dump, write_json
from sightline.metrics.scores import PER_TASK_FILE, SCORES_FILE, Scores, write_scores
from sightline.runs.records import FileSum, RunRecord
from sightline.types import ScoreWarning

HEADER = "run.json"
TRAJECTORIES, BLOBS = "trajectories", "blobs"
CHANGED_RUN = "changed-run"
_BLOCK = 1 << 20


def sum_of(path: Path, size: int | None = None) -> FileSum:
    """The checksum of a file, or of its first `size` bytes; of a folder, that of its files' checksums and names."""
    if path.is_dir():
        names = sorted(entry.name for entry in path.glob("*.jsonl"))
        listing = "".join(f"{sha256_of(path / name)}  {name}\n" for name in names)
        return FileSum(size=len(names), sha256=hashlib.sha256(listing.encode()).hexdigest())
    digest, left = hashlib.sha256(), path.stat().st_size if size is None else size
    total = 0
    with path.open("rb") as file:
        while block := file.read(min(_BLOCK, left - total)):
            digest.update(block)
            total += len(block)
    return FileSum(size=total, sha256=digest.hexdigest())


def write_run_header(header: RunRecord, folder: Path) -> None:
    """Write `run.json`; checksums stand at its end, where there are any."""
    empty = {name for name in ("checksums", "growing") if not getattr(header, name)}
    if header.checksums:
        header = header.model_copy(update={"checksums": {**header.checksums, HEADER: _own_sum(header)}})
    write_json(folder / HEADER, header.model_dump(mode="json", by_alias=True, exclude=empty))


def _own_sum(header: RunRecord) -> FileSum:
    """Of what `run.json` says, however it is laid out, without its checksums."""
    said = dump(header.model_dump(mode="json", by_alias=True, exclude={"checksums", "growing"}))
    return FileSum(size=len(said), sha256=hashlib.sha256(said).hexdigest())


def seal(folder: Path, sums: Mapping[str, FileSum], **changed: bool) -> None:
    """Note checksums in `run.json`; those of other files stay."""
    header = _header(folder)
    update = {"checksums": {**header.checksums, **sums}, **changed}
    write_run_header(header.model_copy(update=update), folder)


def keep_scores(scores: Scores, folder: PathLike) -> None:
    """Write `scores.json` and `per_task.csv` of a run, and note their checksums."""
    write_scores(scores, folder)
    if (Path(folder) / HEADER).is_file():
        seal(Path(folder), {name: sum_of(Path(folder) / name) for name in (SCORES_FILE, PER_TASK_FILE)})


def _header(folder: PathLike) -> RunRecord:
    return read_header(folder, HEADER, "run", RunRecord)


def changes(folder: PathLike, among: Collection[str] | None = None) -> Iterator[Problem]:
    """What of a run, or of these of its files, is not what was written.

    A run that was stopped has grown since, which is not a change.
    """
    header = _header(folder)
    for name, stated in header.checksums.items():
        if among is not None and name not in among:
            continue
        path = Path(folder) / name
        if name == HEADER:
            if _own_sum(header) != stated:
                yield Problem(name, None, None, "has changed since it was written")
            continue
        if header.growing and path.is_dir():
            continue
        if not path.exists():
            if name not in (SCORES_FILE, PER_TASK_FILE):  # Those are removed when the run goes on.
                yield Problem(name, None, None, f"is not there any more; {HEADER} has its checksum")
        elif sum_of(path, stated.size if header.growing else None) != stated:
            yield Problem(name, None, None, f"has changed since it was written: expected SHA-256 {stated.sha256}")


def changed_blobs(folder: PathLike) -> Iterator[Problem]:
    """Pictures of a run that are not what their names say."""
    for path in sorted((Path(folder) / BLOBS).glob("*")):
        if len(path.name) == 64 and sha256_of(path) != path.name:
            yield Problem(f"{BLOBS}/{path.name}", None, None, "has changed: its name is the SHA-256 of what was shown")


def with_changes(scores: Scores, folder: PathLike) -> Scores:
    """The scores of a run's folder, with the warning `changed-run` where its files are not what was written."""
    others = tuple(warning for warning in scores.warnings if warning.code != CHANGED_RUN)
    names = [problem.file for problem in changes(folder)] if (Path(folder) / HEADER).is_file() else []
    if not names:
        return scores if len(others) == len(scores.warnings) else replace(scores, warnings=others)
    warning = ScoreWarning(
        CHANGED_RUN,
        f"{listed(names)} of {scores.system} changed after {'it was' if len(names) == 1 else 'they were'} written: "
        "the scores may be of other predictions than the system gave.",
        "Restore the files, or run the system again into a new folder; sightline validate RUN lists what changed.",
    )
    return replace(scores, warnings=(*others, warning))
