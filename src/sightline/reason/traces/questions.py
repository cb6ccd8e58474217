"""What is asked about which picture.

Pictures come from a folder, a workspace or a benchmark, read as a stream with what is known of each. Prompts are one
fixed text, or templates with slots, drawn for each picture by seed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Self

from sightline.benchmark.files import HEADER
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.formats.imagenet_think import PROMPT
from sightline.config import Config
from sightline.corpus.names import path_of
from sightline.corpus.scan import scan_folder
from sightline.corpus.schema import FILE_NAME
from sightline.corpus.view import open_corpus
from sightline.errors import UserError
from sightline.io.jsonl import LineError, read_json, read_jsonl, read_lines
from sightline.reason.traces.records import PictureKnowledge, TracePicture, TraceQuestion
from sightline.types import Benchmark, Picture

_SYNSET = re.compile(r"n\d{8}(?=[_.]|$)")
_LABELS = ("label", "labels", "class", "class_name", "category")
_CAPTIONS = ("caption", "description")

Names = Mapping[str, tuple[str, ...]]
"""The names of a class, by its key: a synset (`n01440764`), or a label as the pictures have it."""
SLOTS = ("caption", "label")
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class PictureSource:
    """Pictures by stream: `subjects` opens what it needs each time, in the thread that reads."""

    name: str
    count: int
    subjects: Callable[[], Iterator[TracePicture]]
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
) -> PictureSource:
    """The pictures of a benchmark, of a workspace, or of a folder, which is scanned first; else of `workspace`."""
    found = _opened(place, workspace, config, names or {}, metadata)
    if not found.count:
        raise UserError(f"there is no picture in {place or workspace}.", "give a folder that has some")
    return found


def _opened(
    place: Path | None, workspace: Path, config: Config | None, names: Names, metadata: Path | None
) -> PictureSource:
    if place is not None and (place / HEADER).is_file():
        return _of_benchmark(read_benchmark(place), place, names)
    if place is None or (place / FILE_NAME).is_file():
        return _of_workspace(place or workspace, None, names)
    if not place.is_dir():
        raise UserError(f"there is no folder {place}.", "give a folder of pictures, a workspace or a benchmark")
    scanned = scan_folder(place, workspace, config or Config(), metadata=metadata)
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


def _of_workspace(workspace: Path, below: Path | None, names: Names) -> PictureSource:
    corpus = open_corpus(workspace)

    def pictures() -> Iterator[Picture]:
        for picture in open_corpus(workspace).pictures.values():  # SQLite: opened by the thread that reads.
            if below is None or below in path_of(picture.uri).parents:
                yield picture

    count = len(corpus.pictures) if below is None else sum(1 for _ in pictures())
    name = corpus.name if below is None else below.name
    return PictureSource(name, count, lambda: (_subject(picture, picture.uri, names) for picture in pictures()))


def _of_benchmark(benchmark: Benchmark, folder: Path, names: Names) -> PictureSource:
    said = {one.picture_id: one.summary for one in benchmark.annotations if one.summary}
    labels = {
        task.pictures[0].id: {key: list(values) for key, values in task.labels.items() if key in (*_LABELS, "synset")}
        for task in benchmark.tasks.values()
        if len(task.pictures) == 1
    }
    pictures = benchmark.corpus.pictures

    def subjects() -> Iterator[TracePicture]:
        for picture in pictures.values():
            beside = {"caption": said.get(picture.id), **labels.get(picture.id, {})}
            yield _subject(picture, _address(picture.uri, folder), names, beside)

    return PictureSource(benchmark.name, len(pictures), subjects, bench=folder)


def _address(uri: str, folder: Path) -> str:
    return uri if "://" in uri or uri.startswith(("/", "data:")) else str((folder / uri).absolute())


def _subject(picture: Picture, uri: str, names: Names, beside: Mapping[str, Any] | None = None) -> TracePicture:
    extra = {**{key: value for key, value in (beside or {}).items() if value}, **picture.extra}
    synset = _synset(picture.id, extra)
    labels = [label for key in _LABELS for label in _listed(extra.get(key))]
    keys = [key for key in (synset, *labels) if key is not None]
    named = next((names[key] for key in keys if key in names), tuple(dict.fromkeys(labels)))
    known = PictureKnowledge(named, _caption(extra), _facts(extra.get("facts")))
    return TracePicture(picture.id, uri, known, synset, picture.sha256)


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


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt; `{caption}` and `{label}` stand for what is known of the picture."""

    text: str
    slots: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """A slot that nothing can fill is refused."""
        slots = tuple(dict.fromkeys(_SLOT.findall(text)))
        unknown = [slot for slot in slots if slot not in SLOTS]
        if unknown:
            raise UserError(f'the prompt has a slot "{{{unknown[0]}}}".', f"slots are {', '.join(SLOTS)}")
        if not text.strip():
            raise UserError("a prompt is empty.", "say what is to be asked")
        return cls(text, slots)

    def fits(self, known: PictureKnowledge) -> bool:
        """Is what the slots ask for known?"""
        return all(_value(slot, known) is not None for slot in self.slots)

    def fill(self, known: PictureKnowledge) -> str:
        """The prompt for a picture; only slots of the template are filled, never braces in what is put there."""
        return _SLOT.sub(lambda slot: _value(slot[1], known) or "", self.text)


def _value(slot: str, known: PictureKnowledge) -> str | None:
    return known.caption if slot == "caption" else next(iter(known.labels), None)


@dataclass(frozen=True, slots=True)
class Prompts:
    """A set of templates, of which `each` are drawn for a picture: the same for the same seed and picture."""

    templates: tuple[Template, ...] = (Template(PROMPT, ()),)
    each: int = 1
    seed: int = 0

    def questions(self, subject: TracePicture) -> Iterator[TraceQuestion]:
        """The questions about a picture; none where no template fits what is known of it."""
        fitting = [template for template in self.templates if template.fits(subject.known)]
        ranked = sorted(fitting, key=lambda template: self._draw(subject.picture, template)) if fitting[1:] else fitting
        for number, template in enumerate(ranked[: self.each]):
            id_ = subject.picture if number == 0 else f"{subject.picture}#{number + 1}"
            yield TraceQuestion(id_, subject, template.fill(subject.known), template.slots)

    def _draw(self, picture: str, template: Template) -> bytes:
        return hashlib.blake2b(f"{self.seed}\0{picture}\0{template.text}".encode(), digest_size=8).digest()


def read_prompts(path: Path) -> list[str]:
    """One template a line: text, or in a `.jsonl` file a string or an object with `prompt`."""
    found = [*_json_lines(path)] if path.name.endswith((".jsonl", ".jsonl.gz")) else [*_text_lines(path)]
    if not found:
        raise UserError(f"{path} holds no prompt.", "write one on each line")
    return found


def _text_lines(path: Path) -> Iterator[str]:
    for number, line in read_lines(path):
        try:
            yield line.decode().strip()
        except UnicodeDecodeError:
            raise LineError(path, number, "expected UTF-8 text") from None


def _json_lines(path: Path) -> Iterator[str]:
    for number, row in read_jsonl(path):
        text = row.get("prompt") if isinstance(row, dict) else row
        if not isinstance(text, str):
            raise LineError(path, number, 'expected "…" or {"prompt": "…"}')
        yield text


def prompts_of(given: Sequence[str], file: Path | None = None, each: int = 1, seed: int = 0) -> Prompts:
    """The prompt set that a command line names; ImageNet-Think's own prompt when it names none."""
    texts = [*given, *([] if file is None else read_prompts(file))]
    templates = tuple(Template.of(text) for text in dict.fromkeys(texts)) or (Template(PROMPT, ()),)
    if each > len(templates):
        raise UserError(f"{each} prompts for each picture, of {len(templates)}.", "give more prompts, or ask for fewer")
    return Prompts(templates, each, seed)
