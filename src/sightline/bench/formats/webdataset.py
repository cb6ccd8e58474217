"""WebDataset: tar shards in which the files of a sample share their name up to the first dot.

| file of a sample | here |
|---|---|
| `jpg`, `png`, `webp`, … | `Picture`, whose id is the sample's key (an `id` in its JSON wins) |
| `json` | fields of `Picture` and its `rights` by name, other keys in `extra`; `caption`, `text` or `captions` |
| `txt` (or `text`, `caption`) | a `rank` task with grade 1 for its picture |
| `cls` | `Picture.extra["label"]` |

Written are the picture and its JSON, `txt` where a task is a caption of it, and beside the shards `groups.jsonl`,
`tasks.jsonl`, `truth.jsonl`, … as in a BENCH folder; those are read again. Keys are picture ids with dots
percent-encoded. Shards end at `per_shard` samples (10,000) or `shard_bytes` (1 GB). With option `extract=DIR` the
pictures are written out on the way in.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import orjson

from sightline.bench.formats.base import Complaints, Content, Format, Imported, Options
from sightline.bench.formats.beside import has_tasks, limited, read_beside, write_beside
from sightline.bench.formats.captions import Caption, caption_tasks, captions_of, shared_captions
from sightline.bench.formats.embedded import EmbeddedPictures
from sightline.bench.formats.imagefolder import SUFFIXES
from sightline.bench.formats.picture_bytes import ending_of, why_no_picture
from sightline.bench.formats.picture_fields import from_fields, to_fields
from sightline.bench.formats.retrieval import check_options, local_file, rank_benchmark, some
from sightline.bench.formats.seeds import new_folder
from sightline.bench.formats.tar_shards import Sample, ShardWriter, decode_key, encode_key, read_samples, shards_of
from sightline.english import counted
from sightline.errors import UserError
from sightline.io import dump
from sightline.types import Benchmark, Corpus, Json, Picture

log = logging.getLogger(__name__)

_PREFIX = "pictures"
_TEXTS = ("txt", "text", "caption")
_CAPTIONS = ("caption", "text", "captions")
_PER_SHARD, _SHARD_BYTES = 10_000, 1_000_000_000


def read(path: Path, options: Options) -> Imported:
    """A benchmark of the pictures; captions become tasks, unless tasks lie beside the shards."""
    check_options(options, "extract")
    complaints = Complaints(options)
    shards = shards_of(path)
    beside = path.is_dir() and has_tasks(path)
    reader = _Reader(options, shards[0].parent, complaints, captioned=not beside)
    for shard in shards:
        for sample in read_samples(shard, complaints):
            reader.add(sample)
    tasks = caption_tasks(reader.captions)
    name = path.absolute().name if path.is_dir() else path.name.partition(".")[0]
    benchmark = rank_benchmark(name, reader.pictures, tasks, options)
    if beside:
        benchmark = limited(read_beside(benchmark, path, complaints), options)
    return Imported(benchmark, tuple(complaints.problems), (*reader.warnings(), *shared_captions(tasks)))


class _Reader:
    """The pictures and captions of samples as they come."""

    def __init__(self, options: Options, folder: Path, complaints: Complaints, *, captioned: bool) -> None:
        self._options = options
        self._complaints = complaints
        self._captioned = captioned
        self._embedded = EmbeddedPictures(options, folder, "the shards")
        self._without: list[str] = []
        self.pictures: dict[str, Picture] = {}
        self.captions: list[Caption] = []

    def add(self, sample: Sample) -> None:
        """Take in one sample; of several pictures each is named with its ending, and the caption speaks of all."""
        fields = self._json(sample)
        texts = self._texts(sample, fields) if self._captioned else []
        if "cls" in sample.files:
            fields.setdefault("label", _label(sample.files["cls"]))
        name = self._name(sample, fields)
        images = {ending: data for ending, data in sample.files.items() if _is_picture(ending)}
        if not images and "uri" not in fields:
            self._without.append(sample.key)
            return
        if not images:
            self._add(sample, name, Picture(name, str(fields.pop("uri"))), fields)
        names = [name] if len(images) <= 1 else [f"{name}.{ending}" for ending in images]
        for one, (ending, content) in zip(names, images.items(), strict=False):
            self._add_image(sample, one, ending, content, fields)
        for place, text in enumerate(texts, 1):
            task = name if place == 1 else f"{name}#{place}"
            self.captions += [Caption(task, one, text) for one in names if one in self.pictures]

    def warnings(self) -> tuple[str, ...]:
        """What the user should know."""
        found = self._embedded.warnings()
        if self._without:
            said = counted(len(self._without), "sample has", "samples have")
            found += (f"{said} no picture: {some(self._without)}; left out",)
        return found

    def _add_image(self, sample: Sample, name: str, ending: str, content: bytes, fields: Mapping[str, Json]) -> None:
        refusal = why_no_picture(content)
        if refusal is not None:
            self._complaints.add(sample.shard, None, f"{sample.key}.{ending}", refusal)
            return
        path = name if _is_picture(name) else f"{name}.{ending}"
        found = self._embedded.picture(name, {"bytes": content, "path": path})
        # Some tools state the hash of the file before they made it smaller.
        self._add(sample, name, found, {**fields, "sha256": found.sha256})

    def _add(self, sample: Sample, name: str, found: Picture, fields: Mapping[str, Json]) -> None:
        if name in self.pictures:
            twice = f'picture "{name}" is there twice; --map id=__key__ goes by the names of the files'
            self._complaints.add(sample.shard, None, sample.key, twice)
        else:
            self.pictures[name] = from_fields(name, found.uri, fields)

    def _name(self, sample: Sample, fields: dict[str, Json]) -> str:
        column = self._options.column("id")
        given = fields.pop(column, None) if column == "id" else fields.get(column)
        known = isinstance(given, str | int) and not isinstance(given, bool) and given != ""
        return str(given) if known else decode_key(sample.key)

    def _json(self, sample: Sample) -> dict[str, Json]:
        content = sample.files.get("json", b"{}")
        try:
            fields = orjson.loads(content)
        except orjson.JSONDecodeError:
            fields = None
        if isinstance(fields, dict):
            return fields
        self._complaints.add(sample.shard, None, f"{sample.key}.json", f"expected a JSON object, got {content!r:.60}")
        return {}

    def _texts(self, sample: Sample, fields: dict[str, Json]) -> list[str]:
        found: list[str] = []
        for ending in (ending for ending in _TEXTS if ending in sample.files):
            try:
                found.append(sample.files[ending].decode())
            except UnicodeDecodeError:
                self._complaints.add(sample.shard, None, f"{sample.key}.{ending}", "expected UTF-8 text")
        column = self._options.columns.get("text") or next((key for key in _CAPTIONS if key in fields), None)
        value = fields.pop(column, None) if column is not None else None
        found += [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
        return list(dict.fromkeys(filter(None, (text.strip() for text in found))))


def _is_picture(name: str) -> bool:
    return f".{name.lower().rpartition('.')[2]}" in SUFFIXES


def _label(content: bytes) -> int | str:
    text = content.decode(errors="replace").strip()
    return int(text) if text.isascii() and text.isdecimal() else text


def write(content: Content, path: Path, options: Options) -> None:
    """Write the pictures of a corpus or a benchmark as shards; of one that is not here only what is known of it."""
    check_options(options, "per_shard", "shard_bytes")
    samples = _option(options, "per_shard", _PER_SHARD)
    size = _option(options, "shard_bytes", _SHARD_BYTES)
    benchmark = limited(content, options) if isinstance(content, Benchmark) else None
    corpus = content if benchmark is None else benchmark.corpus
    assert isinstance(corpus, Corpus)
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for caption in captions_of(benchmark) if benchmark is not None else ():
        texts[caption.picture].append(caption.text)
    missing = 0
    with new_folder(path, f"{_PREFIX}-000000.tar") as folder:
        with ShardWriter(folder, _PREFIX, samples=samples, size=size) as shards:
            for picture in corpus.pictures.values():
                image = _image(picture, options)
                missing += not image
                uri = {} if image else {"uri": picture.uri}
                text = {"txt": "\n".join(texts[picture.id]).encode()} if picture.id in texts else {}
                known = {"json": dump({**to_fields(picture), "id": picture.id, **uri})}
                shards.add(encode_key(picture.id), {**image, **known, **text})
        if benchmark is not None:
            write_beside(benchmark, folder)
    if missing:
        log.warning("%s not here and not in the shards", counted(missing, "picture is", "pictures are"))


def _image(picture: Picture, options: Options) -> dict[str, bytes]:
    file = local_file(picture, options)
    if file is None:
        return {}
    content = file.read_bytes()
    return {ending_of(content): content}


def _option(options: Options, name: str, usual: int) -> int:
    given = options.extra.get(name, str(usual))
    if not (given.isascii() and given.isdecimal() and int(given) > 0):
        raise UserError(f'--option {name}="{given}" is not a whole number.', f"for example {name}={usual}")
    return int(given)


FORMATS = {
    "webdataset": Format(
        "webdataset", "tar shards of pictures with JSON and captions", read, write, writes=(Benchmark, Corpus)
    ),
}
