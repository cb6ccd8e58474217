"""Pictures that leave as an album: a folder of links or copies, keywords in sidecars of copies, a contact sheet.

Originals and the folders that hold them are never written to.
"""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sightline.corpus.film import FOLDER
from sightline.corpus.names import path_of, picture_id
from sightline.display import Shown
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import PathLike, as_path, whole_folder
from sightline.io.temporary_files import folder_beside
from sightline.markup import escape
from sightline.plain_text import printable, short
from sightline.types import Picture

if TYPE_CHECKING:
    from PIL import Image

_PAGE, _MARGIN, _DPI = (1240, 1754), 60, 150  # A4
_COLUMNS, _ROWS, _SIDE, _CAPTION = 4, 5, 260, 44
_LISTED = 3


@dataclass(frozen=True, slots=True, repr=False)
class Album(Shown):
    """A folder of pictures that was written; `files` are the names in it, `missing` the ids without a file."""

    folder: Path
    files: tuple[str, ...]
    copied: bool
    keyword: str | None = None
    missing: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "files": list(self.files),
            "copied": self.copied,
            "keyword": self.keyword,
            "missing": list(self.missing),
        }

    def _line(self) -> str:
        what = counted(len(self.files), "copy", "copies") if self.copied else counted(len(self.files), "link")
        return f"{what} in {self.folder}{missing_note(self.missing)}"


class PictureResult:
    """A result whose pictures can leave as an album."""

    __slots__ = ()

    def _places(self) -> Sequence[tuple[Picture, tuple[str, ...]]]:
        """Each picture, and the addresses of files with the same content."""
        raise NotImplementedError

    def _title(self) -> str:
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        raise NotImplementedError

    def album(self, folder: PathLike, *, copy: bool = False, keyword: str | None = None) -> Album:
        """Write the pictures to a new or empty folder outside the pictures' own, as links, or as copies.

        A file keeps its name; where two are alike, letter case aside, the later one gets a number. Bytes of a name
        that are not UTF-8 are percent-encoded. A picture whose file is gone is left out and listed in `missing`.
        `keyword` goes into an XMP sidecar beside each copy (`NAME.jpg.xmp`); links get none.
        """
        if keyword is not None and not copy:
            raise UserError("A keyword needs copies: links have no sidecars.", "Ask for copies: --copy (copy=True).")
        return _write_album(self._places(), as_path(folder, "a folder"), copy, keyword)

    def contact_sheet(self, file: PathLike) -> Path:
        """Write the pictures to a PDF, twenty small ones with their names on an A4 page; what can't be read is framed.

        Names in scripts that Pillow's own font lacks are shown as empty boxes.
        """
        path, places = as_path(file, "a PDF file").absolute(), self._places()
        check_targets(sheet=path)
        _refuse_inside(path, places)
        with folder_beside(path) as folder:  # Page by page, so that memory holds one.
            made = folder / path.name
            for number, page in enumerate(_pages(places, self._title())):
                page.save(made, "PDF", resolution=_DPI, append=number > 0, title=self._title())
            made.replace(path)
        return path


def check_targets(album: Path | None = None, sheet: Path | None = None) -> None:
    """Refuse an album where something is already, and a contact sheet that is not a PDF."""
    if album is not None and album.exists() and not (album.is_dir() and not any(album.iterdir())):
        raise UserError(f"{album} exists and is not empty.", "Choose a new or an empty folder.")
    if sheet is not None and sheet.suffix.lower() != ".pdf":
        raise UserError(f"A contact sheet is a PDF, and {sheet.name} does not end in .pdf.", "Name it SHEET.pdf.")


def missing_note(missing: Sequence[str]) -> str:
    """What is said of pictures whose files are gone."""
    if not missing:
        return ""
    listed = ", ".join(map(printable, missing[:_LISTED])) + (" …" if len(missing) > _LISTED else "")
    return f"; left out, because the file is not there: {len(missing):,} ({listed})"


def _write_album(
    places: Sequence[tuple[Picture, tuple[str, ...]]], target: Path, copy: bool, keyword: str | None
) -> Album:
    target = target.absolute()
    _refuse_inside(target, places)
    check_targets(target)
    files: list[str] = []
    taken: set[str] = set()
    missing: list[str] = []
    with whole_folder(target, marker="", owned=(), force=True) as folder:
        for picture, others in places:
            source = _file_of(picture, others)
            if source is None:
                missing.append(picture.id)
                continue
            name = _free_name(picture_id(os.fsencode(source.name)), taken)
            _put(source, folder / name, copy)
            if keyword is not None:
                (folder / f"{name}.xmp").write_text(_XMP.format(escape(keyword)), "utf-8")
            files.append(name)
    return Album(target, tuple(files), copy, keyword, tuple(missing))


def _refuse_inside(target: Path, places: Sequence[tuple[Picture, tuple[str, ...]]]) -> None:
    """Nothing is written to a folder of pictures: an id says how far below its folder a file lies."""
    real = Path(os.path.realpath(target))
    roots = {path.parents[min(each.id.count("/"), len(path.parents) - 1)] for each, _ in places if (path := each.path)}
    # Frames of films lie in the workspace, below the path of their film's folder.
    roots |= {Path(root.anchor, *root.parts[at + 1 :]) for root in roots for at in _indices(root.parts, FOLDER)}
    for root in roots:
        if root.name and real.is_relative_to(os.path.realpath(root)):
            raise UserError(
                f"{target} is inside the pictures' folder {root}, where nothing is ever written.",
                f"Choose a place outside it, such as {root.parent / target.name}.",
            )


def _indices(parts: Sequence[str], wanted: str) -> list[int]:
    return [at for at, part in enumerate(parts) if part == wanted]


def _file_of(picture: Picture, others: Sequence[str]) -> Path | None:
    """The file of a picture, else one with the same content."""
    paths = [picture.path, *map(path_of, others)]
    return next((path.absolute() for path in paths if path is not None and path.is_file()), None)


def _free_name(name: str, taken: set[str]) -> str:
    """The name, else with a number: file systems may take names for the same that differ in case or in spelling.

    The name of a picture's sidecar is taken, too.
    """
    stem, suffix = Path(name).stem, Path(name).suffix
    number, free = 1, name
    while {_folded(free), _folded(f"{free}.xmp")} & taken:
        number += 1
        free = f"{stem} ({number}){suffix}"
    taken.update((_folded(free), _folded(f"{free}.xmp")))
    return free


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _put(source: Path, target: Path, copy: bool) -> None:
    try:
        if copy:
            shutil.copy2(source, target)
        else:
            target.symlink_to(source)
    except OSError as error:
        fix = "Make room there, or choose another folder." if copy else "Ask for copies: --copy (copy=True)."
        what = "copied" if copy else "linked"
        raise UserError(f"{source} can't be {what}: {error.strerror}. Nothing was written.", fix) from error


_XMP = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">
   <dc:subject><rdf:Bag><rdf:li>{}</rdf:li></rdf:Bag></dc:subject>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>
"""


def _pages(places: Sequence[tuple[Picture, tuple[str, ...]]], title: str) -> Iterator[Image.Image]:
    from PIL import Image, ImageDraw, ImageFont

    from sightline.corpus.small_copy import fitted_copy

    head, small, each = ImageFont.load_default(30), ImageFont.load_default(17), _COLUMNS * _ROWS
    count = max(1, -(-len(places) // each))
    for number in range(count):
        page = Image.new("RGB", _PAGE, "white")
        pen = ImageDraw.Draw(page)
        pen.text((_MARGIN, _MARGIN), short(title, 60), fill="black", font=head)
        pen.text((_PAGE[0] - _MARGIN, _MARGIN + 8), f"{number + 1} / {count}", fill="gray", font=small, anchor="ra")
        for at, (picture, others) in enumerate(places[number * each : (number + 1) * each]):
            row, column = divmod(at, _COLUMNS)
            left = _MARGIN + column * (_PAGE[0] - 2 * _MARGIN - _SIDE) // (_COLUMNS - 1)
            top = _MARGIN + 70 + row * (_SIDE + _CAPTION + 10)
            file = _file_of(picture, others)
            image = None if file is None else fitted_copy(file, (_SIDE, _SIDE))
            if image is None:
                pen.rectangle((left, top, left + _SIDE, top + _SIDE), outline="lightgray")
                pen.text((left + _SIDE / 2, top + _SIDE / 2), "not available", fill="gray", font=small, anchor="mm")
            else:
                page.paste(image, (left + (_SIDE - image.width) // 2, top + (_SIDE - image.height) // 2))
            name = short(picture.id.rpartition("/")[2], 28)
            pen.text((left + _SIDE / 2, top + _SIDE + 6), name, fill="black", font=small, anchor="ma")
        yield page
