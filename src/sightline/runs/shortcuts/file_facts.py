"""What a picture's file tells beside its content: bytes, format, JPEG quality, brightness, and which are copies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from PIL import Image

from sightline.benchmark.copy_detection import LookPair, PictureLook, looks_of, same_looks
from sightline.config import Config
from sightline.corpus.pixels import RefusedError, open_picture
from sightline.io.files import picture_path
from sightline.types import Corpus, Picture

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
    try:
        data = path.read_bytes()
        image = open_picture(data, max_pixels)
    except (OSError, RefusedError):
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
