"""Where the pictures come from: a folder, a workspace or a benchmark; read as a stream, with what is known of each."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from sightline import bench
from sightline.bench.files import HEADER
from sightline.config import Config
from sightline.corpus.names import path_of
from sightline.corpus.scan import scan
from sightline.corpus.schema import FILE_NAME
from sightline.corpus.view import open_corpus
from sightline.errors import UserError
from sightline.io import LineError, read_json, read_lines
from sightline.reason.traces.nouns import Known, Subject
from sightline.types import Benchmark, Picture

_SYNSET = re.compile(r"n\d{8}(?=[_.]|$)")
_LABELS = ("label", "labels", "class", "class_name", "category")
_CAPTIONS = ("caption", "description")

Names = Mapping[str, tuple[str, ...]]
"""The names of a class, by its key: a synset (`n01440764`), or a label as the pictures have it."""


@dataclass(frozen=True, slots=True)
class Source:
    """Pictures by stream: `subjects` opens what it needs each time, in the thread that reads."""

    name: str
    count: int
    subjects: Callable[[], Iterator[Subject]]
    skipped: Mapping[str, int] = field(default_factory=dict)
    "Files of the scanned folder's workspace that gave no picture, by reason."
    bench: Path | None = None
    "The benchmark that they are of."

    def folder(self) -> Path | None:
        """The benchmark, which says where its pictures lie; else under which folder their ids are paths, as far as the
        first one tells; None for addresses on the web.
        """
        if self.bench is not None:
            return self.bench
        first = next(self.subjects(), None)
        if first is None or first.uri.startswith(("http://", "https://", "data:")):
            return None
        path = path_of(first.uri) if first.uri.startswith("file://") else Path(first.uri)
        parts = PurePosixPath(first.picture).parts
        return Path(*path.parts[: -len(parts)]) if path.parts[-len(parts) :] == parts else None


def open_source(
    place: Path | None,
    workspace: Path,
    *,
    config: Config | None = None,
    names: Names | None = None,
    metadata: Path | None = None,
) -> Source:
    """The pictures of a benchmark, of a workspace, or of a folder, which is scanned first; else of `workspace`."""
    found = _opened(place, workspace, config, names or {}, metadata)
    if not found.count:
        raise UserError(f"there is no picture in {place or workspace}.", "give a folder that has some")
    return found


def _opened(place: Path | None, workspace: Path, config: Config | None, names: Names, metadata: Path | None) -> Source:
    if place is not None and (place / HEADER).is_file():
        return _of_benchmark(bench.read(place), place, names)
    if place is None or (place / FILE_NAME).is_file():
        return _of_workspace(place or workspace, None, names)
    if not place.is_dir():
        raise UserError(f"there is no folder {place}.", "give a folder of pictures, a workspace or a benchmark")
    scanned = scan(place, workspace=workspace, metadata=metadata, config=config)
    found = _of_workspace(workspace, Path(os.path.normpath(place.expanduser().absolute())), names)
    return replace(found, skipped=scanned.skipped_here)


def read_names(path: Path) -> Names:
    """Names of classes: a `.json` object, or lines such as `n01440764 tench, Tinca tinca`."""
    if path.suffix == ".json":
        rows = read_json(path)
        if not isinstance(rows, dict):
            raise LineError(path, 1, 'expected an object such as {"n01440764": "tench, Tinca tinca"}')
        return {key: _listed(value) for key, value in rows.items()}
    found: dict[str, tuple[str, ...]] = {}
    for number, line in read_lines(path):
        key, *rest = line.decode(errors="replace").strip().split(maxsplit=1)
        if not rest:
            raise LineError(path, number, "expected a key and names, such as: n01440764 tench, Tinca tinca")
        found[key] = _listed(rest[0])
    return found


def _of_workspace(workspace: Path, below: Path | None, names: Names) -> Source:
    corpus = open_corpus(workspace)

    def pictures() -> Iterator[Picture]:
        for picture in open_corpus(workspace).pictures.values():  # SQLite: opened by the thread that reads.
            if below is None or below in path_of(picture.uri).parents:
                yield picture

    count = len(corpus.pictures) if below is None else sum(1 for _ in pictures())
    name = corpus.name if below is None else below.name
    return Source(name, count, lambda: (_subject(picture, picture.uri, names) for picture in pictures()))


def _of_benchmark(benchmark: Benchmark, folder: Path, names: Names) -> Source:
    said = {one.picture_id: one.summary for one in benchmark.annotations if one.summary}
    labels = {
        task.pictures[0].id: {key: list(values) for key, values in task.labels.items() if key in (*_LABELS, "synset")}
        for task in benchmark.tasks.values()
        if len(task.pictures) == 1
    }
    pictures = benchmark.corpus.pictures

    def subjects() -> Iterator[Subject]:
        for picture in pictures.values():
            beside = {"caption": said.get(picture.id), **labels.get(picture.id, {})}
            yield _subject(picture, _address(picture.uri, folder), names, beside)

    return Source(benchmark.name, len(pictures), subjects, bench=folder)


def _address(uri: str, folder: Path) -> str:
    return uri if "://" in uri or uri.startswith(("/", "data:")) else str((folder / uri).absolute())


def _subject(picture: Picture, uri: str, names: Names, beside: Mapping[str, Any] | None = None) -> Subject:
    extra = {**{key: value for key, value in (beside or {}).items() if value}, **picture.extra}
    synset = _synset(picture.id, extra)
    labels = [label for key in _LABELS for label in _listed(extra.get(key))]
    keys = [key for key in (synset, *labels) if key is not None]
    named = next((names[key] for key in keys if key in names), tuple(dict.fromkeys(labels)))
    known = Known(named, _caption(extra), _facts(extra.get("facts")))
    return Subject(picture.id, uri, known, synset, picture.sha256)


def _synset(id_: str, extra: Mapping[str, Any]) -> str | None:
    """From the metadata, else the name of the file or of one of its folders."""
    given = _listed(extra.get("synset"))
    parts: Iterable[str] = given or reversed(PurePosixPath(id_).parts)
    found = next(filter(None, map(_SYNSET.match, parts)), None)
    return None if found is None else found[0]


def _caption(extra: Mapping[str, Any]) -> str | None:
    for key in _CAPTIONS:
        if isinstance(text := extra.get(key), str) and text.strip():
            return text.strip()
    several = extra.get("captions")
    texts = several.values() if isinstance(several, Mapping) else several if isinstance(several, list) else ()
    # The longest of several says the most.
    return max((text.strip() for text in texts if isinstance(text, str) and text.strip()), key=len, default=None)


def _facts(value: Any) -> tuple[str, ...]:
    return tuple(fact for fact in value if isinstance(fact, str) and fact) if isinstance(value, list) else ()


def _listed(value: Any) -> tuple[str, ...]:
    """`"tench, Tinca tinca"` or a list of names → the names."""
    texts = value if isinstance(value, list) else value.split(",") if isinstance(value, str) else ()
    return tuple(text.strip() for text in texts if isinstance(text, str) and text.strip())
