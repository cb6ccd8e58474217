"""Open whatever a folder holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from sightline.bench import read
from sightline.bench.files import HEADER as BENCHMARK_FILE
from sightline.corpus.schema import FILE_NAME as CORPUS_FILE
from sightline.corpus.view import open_corpus
from sightline.errors import UserError
from sightline.io import PathLike
from sightline.run import read_run
from sightline.run.folder import HEADER as RUN_FILE
from sightline.types import Benchmark, Corpus, Run

Loaded: TypeAlias = Benchmark | Run | Corpus

# A folder is known by one file in it; a new kind of folder is a new line here and in `Loaded`.
_READERS: Mapping[str, Callable[[PathLike], Loaded]] = {
    BENCHMARK_FILE: read,
    RUN_FILE: read_run,
    CORPUS_FILE: open_corpus,
}


def load(path: PathLike) -> Loaded:
    """The benchmark, the run or the scanned corpus in a folder."""
    folder = Path(path)
    for marker, reader in _READERS.items():
        if (folder / marker).is_file():
            return reader(folder)
    what = f"has no {' and no '.join(_READERS)}" if folder.is_dir() else "is not a folder"
    raise UserError(f"{folder} {what}.", "give the folder of a benchmark, a run or a workspace")
