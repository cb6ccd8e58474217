"""Files that gave no picture, by kind: what a person does about a video is not what they do about a broken file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from sightline.corpus.metadata.sidecar import EXTENSIONS, FILMS
from sightline.corpus.pixels import OPTIONAL, MissingDecoderError
from sightline.plain_text import printable

VIDEOS = frozenset(f".{extension}" for extension in FILMS)
_OFFICE = {".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".ods", ".odp", ".pages", ".numbers", ".key"}
_DOCUMENTS = frozenset({".pdf", ".rtf", ".txt", ".md", ".html", ".htm", ".csv", ".json", ".xml", ".epub", *_OFFICE})
_PICTURES = frozenset(f".{extension}" for extension in EXTENSIONS)
_BROKEN = "broken files"
_ORDER = (*OPTIONAL.values(), "documents", _BROKEN, "other files")
_NAMES = 3


@dataclass(frozen=True, slots=True)
class SkippedKind:
    """Skipped files of one kind: how many of each extension, and the first names (a broken one with its reason)."""

    kind: str
    extensions: Mapping[str, int]
    first: tuple[str, ...]

    @property
    def count(self) -> int:
        return sum(self.extensions.values())

    def __str__(self) -> str:
        listed = ", ".join(f"{count:,} {extension}" for extension, count in self.extensions.items())
        names = ", ".join(map(printable, self.first)) + (", …" if self.count > len(self.first) else "")
        return f"{self.kind}: {listed} ({names})"


def kinds_of(skipped: Iterable[tuple[str, str, str]]) -> tuple[SkippedKind, ...]:
    """(path, reason, detail) of each file → its kinds, in a fixed order; the most frequent extension first."""
    extensions: dict[str, Counter[str]] = {}
    first: dict[str, list[str]] = {}
    lacking = {MissingDecoderError(extra).detail: name for extra, name in OPTIONAL.items()}
    for path, reason, detail in skipped:
        extension = PurePosixPath(path).suffix.lower()
        kind = lacking.get(detail) or _kind(extension, reason)
        extensions.setdefault(kind, Counter())[extension or "without extension"] += 1
        names = first.setdefault(kind, [])
        if len(names) < _NAMES:
            names.append(f"{path}: {reason}" if kind == _BROKEN else path)
    found = [kind for kind in _ORDER if kind in extensions]
    return tuple(SkippedKind(kind, dict(extensions[kind].most_common()), tuple(first[kind])) for kind in found)


def _kind(extension: str, reason: str) -> str:
    if reason != "not a picture" or extension in _PICTURES:
        return _BROKEN
    if extension in VIDEOS:
        return "videos"
    return "documents" if extension in _DOCUMENTS else "other files"
