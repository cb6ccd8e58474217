"""Files that belong to one picture: the RAW of a JPEG, the film of a live photo, an edit's original and its recipe.

The picture that people see is the item, and the others are its parts: they are neither pictures nor skipped files.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from sightline.corpus.metadata.sidecar import EDITED, EXTENSIONS

_RAW = frozenset({"cr2", "cr3", "nef", "nrw", "arw", "srf", "sr2", "raf", "orf", "rw2", "dng", "pef", "rwl", "srw"})
_FILMS = frozenset({"mov", "mp4"})
_RECIPES = frozenset({"aae", "pp3"})
"""What was done to a picture, kept beside it by Apple Photos and by RawTherapee."""
PART_EXTENSIONS = _RAW | _FILMS | _RECIPES
_EDITED = re.compile(
    rf"(IMG_)E(\d{{4,}})\.(?:jpe?g|heic|png)|(.+)-(?:{EDITED})(|\(\d+\))\.(?:{'|'.join(EXTENSIONS)})", re.IGNORECASE
)
_MOTION = re.compile(rb"""(?:MotionPhoto|MicroVideo)(?:="1"|>1<)""")
_XMP_WITHIN = 1 << 17


def may_be_part(name: str) -> bool:
    """Does the extension say that it is a part, if there is a picture that it can belong to?"""
    return _extension(name) in PART_EXTENSIONS


def is_raw_name(name: str) -> bool:
    """Does the extension say that it is a camera RAW, and so a picture itself where it stands alone?"""
    return _extension(name) in _RAW


def is_original(name: str, stems: Collection[str]) -> bool:
    """Is it a picture of which there is an edited copy, by what `original_stem` says of the copies?"""
    return _extension(name) in EXTENSIONS and stem_of(name) in stems


def original_stem(name: str) -> str | None:
    """`IMG_E1234.JPG`, which a phone makes of an edit, → `IMG_1234`; Google's `a-edited(1).jpg` → `a(1)`; else None."""
    edited = _EDITED.fullmatch(name)
    return None if edited is None else "".join(filter(None, edited.groups()))


def stem_of(name: str) -> str:
    """What the files of one picture have in common: `a.CR2`, `a.CR2.pp3` and `a.JPG` → `a`."""
    stem = name.rpartition(".")[0] or name
    return stem_of(stem) if _extension(name) in _RECIPES and _extension(stem) in {*_RAW, *EXTENSIONS} else stem


def by_stem(names: Iterable[str]) -> dict[str, list[str]]:
    """Parts by what they have in common with their picture."""
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        found.setdefault(stem_of(name), []).append(name)
    return found


def find_parts(name: str, stems: Mapping[str, list[str]]) -> list[str]:
    """The parts of a picture among those of its folder; a film beside a RAW alone is a film of its own."""
    wanted = (stem_of(name), original_stem(name) or "")
    found = [part for stem in wanted if stem in stems for part in stems[stem] if part != name]
    if found and is_raw_name(name):
        return [part for part in found if _extension(part) in _RECIPES]
    return found if _extension(name) in EXTENSIONS else []


def is_motion_photo(data: bytes) -> bool:
    """Is there a film inside a JPEG: as Google's XMP says, or behind the picture, as Samsung keeps it?"""
    return _MOTION.search(data, 0, _XMP_WITHIN) is not None or (data[-4:] == b"SEFT" and b"MotionPhoto_Data" in data)


def _extension(name: str) -> str:
    return name.rpartition(".")[2].lower()
