"""WebDataset: tar shards in which the files of a sample share their name up to the first dot.

| file of a sample | here |
|---|---|
| `jpg`, `png`, `webp`, … | `Picture`, whose id is the sample's key (an `id` in its JSON wins) |
| `json` | fields of `Picture` and its `rights` by name, other keys in `extra`; `caption`, `text` or `captions` |
| `txt` (or `text`, `caption`) | a `rank` task with grade 1 for its picture |
| `cls` | `Picture.extra["label"]` |

Written are the picture and its JSON, `txt` where a task is a caption of it, and beside the shards `groups.jsonl`,
`tasks.jsonl`, `truth.jsonl`, … as in a BENCH folder; those are read again. All samples have the same files, or
`datasets` would refuse them: pictures are named by the ending of the first one (readers go by their bytes), and `txt`
is empty for a picture without a task where another has one. Keys are picture ids with dots percent-encoded. Shards end
at `per_shard` samples (10,000) or `shard_bytes` (1 GB). With option `extract=DIR` the pictures are written out on the
way in. Shards are read as a stream with limits, and written with the same bytes for the same content.
"""

from __future__ import annotations

import gzip
import io
import logging
import re
import tarfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import quote, unquote

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.dataset_folder import has_tasks, limited, new_folder, read_beside, write_beside
from sightline.benchmark.formats.imagefolder import SUFFIXES
from sightline.benchmark.formats.pictures import EmbeddedPictures, ending_of, from_fields, to_fields, why_no_picture
from sightline.benchmark.formats.retrieval import (
    PictureCaption,
    caption_tasks,
    captions_of,
    check_options,
    local_file,
    rank_benchmark,
    shared_captions,
    some,
    whole_option,
)
from sightline.english import counted
from sightline.errors import READ_AGAIN, UserError
from sightline.io.jsonl import dump, json_object
from sightline.io.unpacked import gunzipped
from sightline.types import Benchmark, Corpus, Json, Picture

log = logging.getLogger(__name__)

_MEMBER = re.compile(r"(?P<key>(?:.*/)?[^./][^.]*)\.(?P<ext>[^/]+)", re.DOTALL)
_UNSAFE = re.compile(r"[.%\\\x00-\x1f\x7f]|^/|/$|(?<=/)/|/(?=/)")
_SUFFIXES = (".tar", ".tar.gz", ".tgz")
_MOST_BYTES = 256 << 20
_PREFIX = "pictures"
_TEXTS = ("txt", "text", "caption")
_CAPTIONS = ("caption", "text", "captions")
_PER_SHARD, _SHARD_BYTES = 10_000, 1_000_000_000


@dataclass(frozen=True, slots=True)
class Sample:
    """The files of one key, by their endings."""

    shard: Path
    key: str
    files: dict[str, bytes] = field(default_factory=dict)


def encode_key(name: str) -> str:
    """A key that keeps a sample's files together: dots, control characters and stray slashes are percent-encoded."""
    return _UNSAFE.sub(lambda found: "%2E" if found[0] == "." else quote(found[0], safe=""), name)


def decode_key(key: str) -> str:
    """The name that was encoded."""
    return unquote(key)


def shards_of(path: Path) -> list[Path]:
    """The tar file itself, or those of a folder in order."""
    if path.is_file():
        return [path]
    found = sorted(file for file in path.glob("*") if file.name.endswith(_SUFFIXES))
    if not found:
        raise UserError(f"{path} has no tar file.", "give a shard (.tar, .tar.gz), or the folder that holds them")
    return found


def read_samples(shard: Path, complaints: Complaints) -> Iterator[Sample]:
    """The samples of a shard: neighbouring files with the same key. Only plain files of a bounded size are read."""
    current: Sample | None = None
    for name, content in _files(shard, complaints):
        found = _MEMBER.fullmatch(name)
        if found is None:
            continue  # No ending, or hidden: webdataset passes over it too.
        key, ending = found["key"], found["ext"].lower()
        if current is None or current.key != key:
            if current is not None:
                yield current
            current = Sample(shard, key)
        if ending in current.files:
            complaints.add(shard, None, name, "the file is there twice")
        current.files[ending] = content
    if current is not None:
        yield current


def _files(shard: Path, complaints: Complaints) -> Iterator[tuple[str, bytes]]:
    with _opened(shard) as tar:
        while (member := tar.next()) is not None:
            tar.members = []  # type: ignore[attr-defined]  # The list would grow with the number of files.
            refusal = _refusal(member)
            if refusal is not None:
                complaints.add(shard, None, member.name, refusal)
            elif member.isreg() and (file := tar.extractfile(member)) is not None:
                yield member.name.removeprefix("./"), file.read()


def _refusal(member: tarfile.TarInfo) -> str | None:
    if member.isdir():
        return None
    if not member.isreg() or member.issparse():
        return "expected a plain file, got a link, a device or a file with holes"
    if member.name.startswith("/") or ".." in member.name.split("/"):
        return "expected a path inside the archive"
    return None if member.size <= _MOST_BYTES else f"{member.size:,} bytes are more than {_MOST_BYTES:,}"


@contextmanager
def _opened(shard: Path) -> Iterator[tarfile.TarFile]:
    try:
        with shard.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
        source = gunzipped(shard, "unpack it to .tar first") if zipped else shard.open("rb")
        with source, tarfile.open(fileobj=source, mode="r|") as tar:
            yield tar
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(f"{shard} can't be read as a tar file: {error}.", "copy or make it again") from error
    except OSError as error:
        raise UserError(f"{shard} can't be read: {error.strerror}.", READ_AGAIN) from error


class TarShardWriter:
    """Writes samples into `prefix-000000.tar`, …, each with at most so many samples and, but for one, so many bytes."""

    def __init__(self, folder: Path, prefix: str, *, samples: int, size: int) -> None:
        self._folder = folder
        self._prefix = prefix
        self._samples = samples
        self._size = size
        self._tar: tarfile.TarFile | None = None
        self._shards = self._count = self._bytes = 0

    def __enter__(self) -> Self:
        self._next_shard()
        return self

    def __exit__(self, *_: object) -> None:
        if self._tar is not None:
            self._tar.close()

    def add(self, key: str, files: Mapping[str, bytes]) -> None:
        """Add a sample; its files stay together."""
        size = sum(tarfile.BLOCKSIZE + len(content) for content in files.values())
        if self._count and (self._count >= self._samples or self._bytes + size > self._size):
            self._next_shard()
        self._count += 1
        self._bytes += size
        for ending, content in files.items():
            info = tarfile.TarInfo(f"{key}.{ending}")  # Without a time or an owner: same content, same bytes.
            info.size = len(content)
            assert self._tar is not None
            self._tar.addfile(info, io.BytesIO(content))

    def _next_shard(self) -> None:
        if self._tar is not None:
            self._tar.close()
        path = self._folder / f"{self._prefix}-{self._shards:06d}.tar"
        self._tar = tarfile.open(path, "w", format=tarfile.PAX_FORMAT)  # noqa: SIM115 - closed by the next, or at the end.
        self._shards += 1
        self._count = self._bytes = 0


def read(path: Path, options: FormatOptions) -> Imported:
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

    def __init__(self, options: FormatOptions, folder: Path, complaints: Complaints, *, captioned: bool) -> None:
        self._options = options
        self._complaints = complaints
        self._captioned = captioned
        self._embedded = EmbeddedPictures(options, folder, "the shards")
        self._without: list[str] = []
        self.pictures: dict[str, Picture] = {}
        self.captions: list[PictureCaption] = []

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
            self.captions += [PictureCaption(task, one, text) for one in names if one in self.pictures]

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
        fields = json_object(content)
        if fields is not None:
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


def write(content: Content, path: Path, options: FormatOptions) -> None:
    """Write the pictures of a corpus or a benchmark as shards; of one that is not here only what is known of it."""
    check_options(options, "per_shard", "shard_bytes")
    samples = whole_option(options, "per_shard", _PER_SHARD, 1)
    size = whole_option(options, "shard_bytes", _SHARD_BYTES, 1)
    benchmark = limited(content, options) if isinstance(content, Benchmark) else None
    corpus = content if benchmark is None else benchmark.corpus
    assert isinstance(corpus, Corpus)
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for caption in captions_of(benchmark) if benchmark is not None else ():
        texts[caption.picture].append(caption.text)
    missing, ending = 0, ""
    with new_folder(path, f"{_PREFIX}-000000.tar") as folder:
        with TarShardWriter(folder, _PREFIX, samples=samples, size=size) as shards:
            for picture in corpus.pictures.values():
                image = _image(picture, options)
                missing += image is None
                uri = {"uri": picture.uri} if image is None else {}
                ending = ending or ("" if image is None else ending_of(image))
                files = {} if image is None else {ending: image}
                files["json"] = dump({**to_fields(picture), "id": picture.id, **uri})
                if texts:
                    files["txt"] = "\n".join(texts.get(picture.id, ())).encode()
                shards.add(encode_key(picture.id), files)
        if benchmark is not None:
            write_beside(benchmark, folder)
    if missing:
        log.warning("%s not here and not in the shards", counted(missing, "picture is", "pictures are"))


def _image(picture: Picture, options: FormatOptions) -> bytes | None:
    file = local_file(picture, options)
    return None if file is None else file.read_bytes()


FORMATS = {
    "webdataset": Format(
        "webdataset", "tar shards of pictures with JSON and captions", read, write, writes=(Benchmark, Corpus)
    ),
}
