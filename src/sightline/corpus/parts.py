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
_SEEN = "|".join((*EXTENSIONS, "dng"))
_EDITED = re.compile(
    rf"(IMG_)E(\d{{4,}})\.(?:jpe?g|heic|png)|(.+)-(?:{EDITED})(|\(\d+\))\.(?:{'|'.join(EXTENSIONS)})"
    rf"|(.+)-(?:Edit|HDR|Pano|HDR-Pano|Enhanced-(?:NR|SR))(?:-\d+)?\.(?:{_SEEN})",
    re.IGNORECASE,
)
_COVER = re.compile(r"(.+)-01\.COVER\.jpg", re.IGNORECASE)
_STITCHED = re.compile(rf"(.*?)(\d+)( ?- ?)\1(\d+)\.(?:{'|'.join(EXTENSIONS)})", re.IGNORECASE)
_MOST_STITCHED = 200
_MOTION = re.compile(rb"""(?:MotionPhoto|MicroVideo)(?:="1"|>1<)""")
_XMP_WITHIN = 1 << 17


def may_be_part(name: str) -> bool:
    """Does the extension say that it is a part, if there is a picture that it can belong to?"""
    return _extension(name) in PART_EXTENSIONS


def is_raw_name(name: str) -> bool:
    """Does the extension say that it is a camera RAW, and so a picture itself where it stands alone?"""
    return _extension(name) in _RAW


def is_original(name: str, stems: Collection[str]) -> bool:
    """Is it a picture that another one was made of, by what `original_stems` says of that one?"""
    return _extension(name) in EXTENSIONS and stem_of(name) in stems


def original_stems(name: str) -> tuple[str, ...]:
    """What a picture was made of, without extensions, where its name says so.

    Edits by a phone (`IMG_E1234.JPG` → `IMG_1234`), Google (`a-edited(1).jpg` → `a(1)`) and Lightroom (`a-Edit.tif`,
    and of `a-HDR.dng` and `a-Pano.dng` the first picture); the cover of several takes (`a.RAW-01.COVER.jpg` →
    `a.RAW-02.ORIGINAL`); and panoramas by Hugin (`a1 - a3.tif` → `a1`, `a2`, `a3`).
    """
    if found := _EDITED.fullmatch(name):
        return ("".join(filter(None, found.groups())),)
    if found := _COVER.fullmatch(name):
        return (f"{found[1]}-02.ORIGINAL",)
    if (found := _STITCHED.fullmatch(name)) and 0 < int(found[4]) - int(found[2]) < _MOST_STITCHED:
        numbers = range(int(found[2]), int(found[4]) + 1)
        return tuple(f"{found[1]}{number:0{len(found[2])}}" for number in numbers)
    return ()


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
    own, originals = stem_of(name), original_stems(name)
    found = [part for stem in (own, *originals) for part in stems.get(stem, ()) if part != name]
    if found and is_raw_name(name):
        return [part for part in found if _extension(part) in _RECIPES or stem_of(part) in originals]
    return found if _extension(name) in EXTENSIONS else []


def is_motion_photo(data: bytes) -> bool:
    """Is there a film inside a JPEG: as Google's XMP says, or behind the picture, as Samsung keeps it?"""
    return _MOTION.search(data, 0, _XMP_WITHIN) is not None or (data[-4:] == b"SEFT" and b"MotionPhoto_Data" in data)


def _extension(name: str) -> str:
    return name.rpartition(".")[2].lower()
