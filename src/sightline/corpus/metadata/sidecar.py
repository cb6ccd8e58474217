"""Files beside a picture that speak of it: which name belongs to which picture, and what the file says."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import replace
from pathlib import Path

from sightline.corpus.metadata import reasons, takeout, xmp
from sightline.corpus.metadata.facts import Facts

MAX_BYTES = xmp.MAX_BYTES

# As it is, and cut anywhere.
_SUPPLEMENTS = tuple(".supplemental-metadata"[:size] for size in range(22, 0, -1))
_CUT = 46
"""Takeout cuts a name to this many characters, then adds the number of a duplicate, then `.json`."""
_EDITED = re.compile(
    "-(?:edited|effects|smile|mix|bearbeitet|bewerkt|editado|ha editado|editat|edytowane|modificato|"
    "modifi(?:\u00e9|e\u0301)|編集済み)$"
)
"""What Google Photos calls an edited copy, in the languages that are known."""
_NUMBERED = re.compile(r"(.*)(\(\d+\))$", re.DOTALL)
_EXTENSIONS = ("jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff", "heic", "heif", "avif")
# Takeout writes an edited copy as JPEG, whatever the original is.
_ORIGINALS = (".HEIC", ".heic", ".jpg", ".JPG", ".jpeg", ".png")
_TAKEOUT = re.compile(
    rf"(?:.*\.(?:{'|'.join(_EXTENSIONS)})(?:{'|'.join(map(re.escape, _SUPPLEMENTS))})?|.{{{_CUT}}})(?:\(\d+\))?\.json",
    re.DOTALL | re.IGNORECASE,
)


def find(name: str, siblings: Container[str]) -> tuple[str, ...]:
    """The sidecars of the picture `name` among the names in its folder: `.xmp` files, then Takeout's `.json`.

    `a.jpg` → `a.jpg.xmp`, `a.xmp`, `a.jpg.json`, `a.jpg.supplemental-metadata.json` and its cut forms; a numbered
    duplicate `a(1).jpg` → `a.jpg(1).json`; an edited copy `a-edited.jpg` → its original's.
    """
    stem, dot, extension = name.rpartition(".")
    if not dot:
        stem, extension = name, ""
    beside = [base + ending for base in (name, stem) for ending in (".xmp", ".XMP")]
    found = [candidate for candidate in dict.fromkeys(beside) if candidate in siblings]
    record = next((candidate for candidate in _takeout_names(stem, dot + extension) if candidate in siblings), None)
    return (*found, record) if record else tuple(found)


def is_sidecar(name: str) -> bool:
    """Whether a file of this name is kept beside pictures: `.xmp`, or `.json` in one of Takeout's forms."""
    return name.lower().endswith(".xmp") or _TAKEOUT.fullmatch(name) is not None


def read(path: Path) -> Facts:
    """What a sidecar says, by its content; one that can't be read gives no facts but `broken sidecar`."""
    data = _content(path).removeprefix(b"\xef\xbb\xbf").lstrip()
    if data.startswith(b"{"):
        return takeout.facts(data)
    said = xmp.facts(xmp.parse(data))
    named = (reasons.BROKEN_SIDECAR if warning == reasons.BROKEN_XMP else warning for warning in said.warnings)
    return replace(said, warnings=tuple(named))


def _content(path: Path) -> bytes:
    """The file's bytes; none when it is not a file, can't be read or is larger than any sidecar."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return b""
        return path.read_bytes()
    except (OSError, ValueError):
        return b""


def _takeout_names(stem: str, extension: str) -> Iterator[str]:
    """Every name that Takeout may have given to the record of `stem + extension`, the likeliest first."""
    yield from _records(stem + extension)
    number = ""
    if numbered := _NUMBERED.match(stem):
        stem, number = numbered.groups()
        yield from _records(stem + extension, number)
    if edited := _EDITED.search(stem):
        for original in dict.fromkeys((extension, *_ORIGINALS)):
            yield from _records(stem[: edited.start()] + original, number)


def _records(name: str, number: str = "") -> Iterator[str]:
    yield f"{name}{number}.json"
    if len(name) >= _CUT:
        yield f"{name[:_CUT]}{number}.json"
        return
    for supplement in _SUPPLEMENTS:
        yield f"{(name + supplement)[:_CUT]}{number}.json"
