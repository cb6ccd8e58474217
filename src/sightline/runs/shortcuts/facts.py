"""What is known of pictures beside their content, as columns of numbers, categories and texts.

Some of it their files tell: bytes, format, JPEG quality, brightness, and which are copies.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit

import numpy as np
from PIL import Image

from sightline.benchmark.copy_detection import LookPair, PictureLook, looks_of, same_looks
from sightline.config import Config
from sightline.corpus.pixels import RefusedError, open_picture
from sightline.errors import READ_AGAIN, explained
from sightline.io.files import picture_path
from sightline.retrieval.bm25 import name_words, spaced
from sightline.types import Annotation, Benchmark, Corpus, Json, Picture

_LUMINANCE = np.array([0.299, 0.587, 0.114])
_MODEL, _SOFTWARE = 0x0110, 0x0131


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One file: its size, what it is, how strongly it was compressed, how bright it is and how strong its contrast."""

    bytes: int
    width: int
    height: int
    format: str
    mode: str
    quantization: float | None = None
    progressive: bool = False
    exif_entries: int = 0
    software: str | None = None
    camera: str | None = None
    brightness: float | None = None
    contrast: float | None = None


@dataclass(frozen=True, slots=True)
class CorpusFiles:
    """Facts of the files that can be read on this machine, and pairs of copies among them."""

    facts: Mapping[str, FileFacts] = field(default_factory=dict)
    copies: Sequence[LookPair] = ()

    def with_known_copies(self, corpus: Corpus) -> CorpusFiles:
        """Also with copies that the tables tell: the same SHA-256, or a group of duplicates."""
        alike: dict[str, list[str]] = defaultdict(list)
        for id_, picture in corpus.pictures.items():
            if picture.sha256 is not None:
                alike[picture.sha256].append(id_)
        groups = [tuple(ids) for ids in alike.values()] + [group.pictures for group in corpus.groups_of("duplicate")]
        known = {frozenset((pair.first, pair.second)) for pair in self.copies}
        more = [
            LookPair(ids[0], other, same_bytes=False)
            for ids in groups
            for other in ids[1:]
            if {ids[0], other} not in known and ids[0] in corpus.pictures and other in corpus.pictures
        ]
        return replace(self, copies=(*self.copies, *dict.fromkeys(more)))


def read_files(pictures: Mapping[str, Picture], base: Path | None, config: Config | None = None) -> CorpusFiles:
    """Facts of every file that is there, and copies as `split` finds them; without `base`, nothing is read."""
    if base is None:
        return CorpusFiles()
    config = config or Config()
    looks = looks_of(pictures, base, config)
    found: dict[str, FileFacts] = {}
    for id_, look in looks.items():
        path = picture_path(pictures[id_].uri, base)
        facts = None if path is None else _facts(path, look, config.scan.max_pixels)
        if facts is not None:
            found[id_] = facts
    return CorpusFiles(found, same_looks(looks, config.duplicates.bits))


def _facts(path: Path, look: PictureLook, max_pixels: int) -> FileFacts | None:
    with explained(f"{path} can't be read", READ_AGAIN):
        data = path.read_bytes()
    try:
        image = open_picture(data, max_pixels)
    except RefusedError:
        return None
    exif = image.getexif()
    light = np.frombuffer(look.views[0].tones, np.uint8).reshape(-1, 3) @ _LUMINANCE
    return FileFacts(
        len(data),
        *image.size,
        image.format or "",
        image.mode,
        _quantization(image),
        bool(image.info.get("progressive")),
        len(exif),
        _said(exif.get(_SOFTWARE)),
        _said(exif.get(_MODEL)),
        float(light.mean()),
        float(light.std()),
    )


def _said(value: object) -> str | None:
    return value.strip("\0 ") or None if isinstance(value, str) else None


def _quantization(image: Image.Image) -> float | None:
    """How coarse the steps of a JPEG are, on average; None for other formats."""
    tables = getattr(image, "quantization", None)
    if not isinstance(tables, dict) or not tables:
        return None
    return float(np.mean([np.mean(list(table)) for table in tables.values()]))


ColumnKind: TypeAlias = Literal["number", "category", "text"]
Value: TypeAlias = "float | str | None"
T = TypeVar("T")
V = TypeVar("V")
SIZE, BYTES, FORMAT, LIGHT, EXIF = "picture size", "file size", "file format", "brightness", "EXIF"
NAMES, ORDER, SOURCE, COPIES = "file names", "order of the pictures", "source", "copies"
NOTES = "presence of annotations"
_MOST_COLUMNS = 60
"""Of the columns that came with the pictures, the fullest so many are looked at."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class FactColumn:
    """One value for each picture, None where it is not known; `group` says in plain words what kind of fact it is."""

    group: str
    name: str
    kind: ColumnKind
    values: Sequence[Value]


def fact_columns(benchmark: Benchmark, files: CorpusFiles) -> list[FactColumn]:
    """Every column that tells two pictures apart, in the order of the corpus."""
    pictures = list(benchmark.corpus.pictures.values())
    found = [
        *_file_columns(pictures, files.facts),
        *_exif(pictures, [files.facts.get(picture.id) for picture in pictures]),
        *_names(pictures),
        *_sources(benchmark, pictures),
        *_notes(benchmark, pictures),
        *_extra(pictures),
    ]
    if files.copies:
        counts = _copy_counts(files.copies)
        found.append(FactColumn(COPIES, "copies in the corpus", "number", [counts[one.id] for one in pictures]))
    return [column for column in found if len(set(column.values)) > 1]


def _file_columns(pictures: Sequence[Picture], facts: Mapping[str, FileFacts]) -> Iterator[FactColumn]:
    files = [facts.get(picture.id) for picture in pictures]
    widths = _either([one.width for one in pictures], _each(files, lambda file: file.width))
    heights = _either([one.height for one in pictures], _each(files, lambda file: file.height))
    sides = list(zip(widths, heights, strict=True))
    yield _numbers(SIZE, "width", widths)
    yield _numbers(SIZE, "height", heights)
    yield _numbers(SIZE, "width / height", [w / h if w and h else None for w, h in sides])
    yield _numbers(SIZE, "number of pixels", [w * h if w and h else None for w, h in sides])
    yield _numbers(BYTES, "bytes", _each(files, lambda file: file.bytes))
    yield _numbers(BYTES, "bytes per pixel", _each(files, lambda file: file.bytes / (file.width * file.height)))
    formats = _either(_each(files, lambda file: file.format), [one.mime for one in pictures])
    yield FactColumn(FORMAT, "format", "category", formats)
    yield FactColumn(FORMAT, "color mode", "category", _each(files, lambda file: file.mode))
    yield FactColumn(FORMAT, "progressive", "category", _each(files, lambda file: str(file.progressive)))
    yield _numbers(FORMAT, "JPEG compression", _each(files, lambda file: file.quantization))
    yield FactColumn(FORMAT, "file ending", "category", [PurePosixPath(one.id).suffix or None for one in pictures])
    yield _numbers(LIGHT, "mean brightness", _each(files, lambda file: file.brightness))
    yield _numbers(LIGHT, "contrast", _each(files, lambda file: file.contrast))


def _each(items: Sequence[T | None], value: Callable[[T], V | None]) -> list[V | None]:
    return [None if item is None else value(item) for item in items]


def _either(given: Sequence[V | None], found: Sequence[V | None]) -> list[V | None]:
    return [other if one is None else one for one, other in zip(given, found, strict=True)]


def _exif(pictures: Sequence[Picture], files: Sequence[FileFacts | None]) -> Iterator[FactColumn]:
    times = [picture.taken_at for picture in pictures]
    yield _numbers(EXIF, "day taken", _each(times, lambda one: one.toordinal()))
    yield _numbers(EXIF, "hour taken", _each(times, lambda one: one.hour + one.minute / 60))
    yield _numbers(EXIF, "month taken", _each(times, lambda one: one.month))
    for name in ("lat", "lon", "altitude"):
        yield _numbers(EXIF, name, [getattr(picture, name) for picture in pictures])
    cameras = _either([picture.device for picture in pictures], _each(files, lambda file: file.camera))
    yield FactColumn(EXIF, "camera", "category", cameras)
    yield FactColumn(EXIF, "software", "category", _each(files, lambda file: file.software))
    yield _numbers(EXIF, "entries in the file", _each(files, lambda file: file.exif_entries))
    yield FactColumn(EXIF, "address", "text", [picture.address for picture in pictures])


def _names(pictures: Sequence[Picture]) -> Iterator[FactColumn]:
    ids = [picture.id for picture in pictures]
    yield FactColumn(NAMES, "folder", "category", [str(PurePosixPath(id_).parent) for id_ in ids])
    yield FactColumn(NAMES, "words of the name", "text", [name_words(id_) for id_ in ids])
    addresses = [_address(picture) for picture in pictures]
    yield FactColumn(NAMES, "words of the address", "text", addresses)
    yield _numbers(NAMES, "length of the name", [len(id_) for id_ in ids])
    yield _numbers(NAMES, "share of digits", [sum(sign.isdigit() for sign in id_) / len(id_) for id_ in ids])
    yield _numbers(ORDER, "position in the corpus", list(range(len(ids))))
    yield _numbers(ORDER, "number in the name", [number_in(id_) for id_ in ids])


def _address(picture: Picture) -> str | None:
    """The words of folder and file, where the address tells another name than the id."""
    parts = PurePosixPath(unquote(urlsplit(picture.uri).path)).parts[-2:]
    path = "/".join(parts)
    return None if not path or path.endswith(picture.id) or picture.id.endswith(path) else name_words(path)


def number_in(name: str) -> float | None:
    """The last number of a name: `2021/IMG_0012.jpg` → 12."""
    found = _NUMBER.findall(PurePosixPath(name).stem)
    return float(found[-1][-15:]) if found else None


def _sources(benchmark: Benchmark, pictures: Sequence[Picture]) -> Iterator[FactColumn]:
    for name in ("source", "license", "doi", "attribution"):
        yield FactColumn(SOURCE, name, "category", [getattr(picture.rights, name) for picture in pictures])
    yield FactColumn(SOURCE, "words of the source", "text", [picture.rights.source for picture in pictures])
    for kind in ("dataset", "owner"):
        of = {
            id_: group.id
            for group in benchmark.corpus.groups
            if group.kind == kind and not group.hidden
            for id_ in group.pictures
        }
        yield FactColumn(SOURCE, kind, "category", [of.get(picture.id) for picture in pictures])


def _notes(benchmark: Benchmark, pictures: Sequence[Picture]) -> Iterator[FactColumn]:
    """That there is an annotation, and how long it is; its words only where no model is named as their author."""
    of = {note.picture_id: note for note in benchmark.annotations}
    if not of:
        return
    notes = [of.get(picture.id) for picture in pictures]
    yield _numbers(NOTES, "annotated or not", [float(note is not None) for note in notes])
    yield _numbers(NOTES, "length of the summary", _each(notes, lambda note: len(note.summary or "")))
    yield _numbers(NOTES, "number of tags", _each(notes, lambda note: len(note.tags)))
    yield _numbers(NOTES, "mean confidence", _each(notes, lambda note: _mean(note.confidence.values())))
    people = [note if note is not None and note.by is None else None for note in notes]
    yield FactColumn(_column("summary"), "summary", "text", _each(people, lambda note: note.summary))
    yield FactColumn(_column("tags"), "tags", "text", _each(people, lambda note: " ".join(note.tags)))
    yield FactColumn(_column("facets"), "facets", "text", _each(people, _facets))


def _facets(note: Annotation) -> str:
    flags = (name for name, is_so in note.flags.items() if is_so)
    return " ".join((*note.facets.values(), *flags)).replace("_", " ")


def _mean(values: Collection[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _extra(pictures: Sequence[Picture]) -> Iterator[FactColumn]:
    """What came with the pictures: each number and each text under its own name."""
    rows = [dict(_flat(picture.extra)) for picture in pictures]
    fullest = Counter(name for row in rows for name in row)
    for name, _ in sorted(fullest.items(), key=lambda item: (-item[1], item[0]))[:_MOST_COLUMNS]:
        values = [row.get(name) for row in rows]
        if all(value is None or isinstance(value, float) for value in values):
            yield FactColumn(_column(name), name, "number", values)
        else:
            texts = [value if value is None or isinstance(value, str) else f"{value:g}" for value in values]
            yield FactColumn(_column(name), name, "category", texts)
            yield FactColumn(_column(name), f"words of {name}", "text", texts)


def _column(name: str) -> str:
    return f'column "{name}"'


def _flat(value: Mapping[str, Json], before: str = "") -> Iterator[tuple[str, float | str]]:
    for key, one in value.items():
        name = f"{before}{key}"
        match one:
            case bool() | int() | float():
                if math.isfinite(one):
                    yield name, float(one)
            case str():
                yield name, spaced(one)
            case list():
                yield name, spaced(" ".join(str(part) for part in one if isinstance(part, str | int | float)))
            case dict():
                yield from _flat(one, f"{name}.")


def _numbers(group: str, name: str, values: Sequence[float | None]) -> FactColumn:
    return FactColumn(group, name, "number", [None if value is None else float(value) for value in values])


def _copy_counts(copies: Sequence[LookPair]) -> Counter[str]:
    return Counter(id_ for pair in copies for id_ in (pair.first, pair.second))
