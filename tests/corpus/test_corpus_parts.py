"""Files of one picture are one item: RAW and JPEG, live photos, edited copies, sidecars of editors, motion photos."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from pictures import Draw
from sightline.corpus.parts import by_stem, find_parts, is_motion_photo, original_stems, stem_of
from sightline.corpus.scan import ScanChanges, ScanSummary
from sightline.corpus.view import open_corpus
from sightline.pictures import scan
from sightline.types import Json

has_film = find_spec("av") is not None
"""With the extra `video` a film that can't be read is broken, and not just skipped."""


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    return folder


def look(photos: Path) -> ScanSummary:
    return scan(photos, workspace=photos.parent / "ws")


def parts(photos: Path) -> dict[str, Json]:
    return {id_: one.extra.get("parts") for id_, one in open_corpus(photos.parent / "ws").pictures.items()}


def lay(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_bytes(b"not read")


def test_what_belongs_to_a_picture_is_part_of_it(draw: Draw, photos: Path) -> None:
    draw("DSC_1.JPG", 1)
    draw("IMG_0001.jpg", 2)
    draw("holiday.jpg", 3)
    lay(
        photos, "DSC_1.NEF", "DSC_1.NEF.pp3", "IMG_0001.MOV", "IMG_0001.AAE", "film.mov", "other.aae", "holiday.png.mov"
    )
    found = look(photos)
    assert found.pictures == 3
    kinds = {name: kind.kind for kind in found.skipped_kinds for name in kind.first}
    films = {f"{name}{': unreadable' if has_film else ''}" for name in ("film.mov", "holiday.png.mov")}
    assert kinds == {**dict.fromkeys(films, "broken files" if has_film else "videos"), "other.aae": "other files"}
    assert parts(photos) == {
        "DSC_1.JPG": ["DSC_1.NEF", "DSC_1.NEF.pp3"],
        "IMG_0001.jpg": ["IMG_0001.AAE", "IMG_0001.MOV"],
        "holiday.jpg": None,
    }
    assert look(photos).changes == ScanChanges()


def test_an_edited_copy_stands_for_its_original(draw: Draw, photos: Path) -> None:
    draw("IMG_E1234.JPG", 1)
    draw("IMG_1234.JPG", 2)
    draw("IMG_1235.JPG", 3)
    lay(photos, "IMG_1234.AAE", "IMG_1234.MOV", "IMG_1234.txt")
    assert look(photos).pictures == 2
    assert parts(photos) == {
        "IMG_1235.JPG": None,
        "IMG_E1234.JPG": ["IMG_1234.AAE", "IMG_1234.JPG", "IMG_1234.MOV"],
    }
    (photos / "IMG_E1234.JPG").unlink()
    again = look(photos)
    assert again.pictures == 2 and parts(photos)["IMG_1234.JPG"] == ["IMG_1234.AAE", "IMG_1234.MOV"]


def test_a_panorama_and_a_stack_stand_for_what_they_were_made_of(draw: Draw, photos: Path) -> None:
    for number, name in enumerate(("IMG_0008.jpg", "IMG_0009.jpg", "IMG_0010.jpg", "IMG_0011.jpg", "a.JPG")):
        draw(name, number)
    draw("IMG_0008 - IMG_0010.jpg", 5)
    draw("PXL_1.PORTRAIT-01.COVER.jpg", 6)
    draw("PXL_1.PORTRAIT-02.ORIGINAL.jpg", 7)
    draw("a-Edit.tif", 8)
    lay(photos, "a.CR2", "b.CR2", "b-HDR.dng", "b-HDR.dng.pp3")
    assert look(photos).pictures == 4
    assert parts(photos) == {
        "IMG_0008 - IMG_0010.jpg": ["IMG_0008.jpg", "IMG_0009.jpg", "IMG_0010.jpg"],
        "IMG_0011.jpg": None,
        "PXL_1.PORTRAIT-01.COVER.jpg": ["PXL_1.PORTRAIT-02.ORIGINAL.jpg"],
        "a-Edit.tif": ["a.CR2", "a.JPG"],
    }
    assert find_parts("b-HDR.dng", by_stem(["b.CR2", "b-HDR.dng", "b-HDR.dng.pp3"])) == ["b-HDR.dng.pp3", "b.CR2"]


def test_parts_that_come_and_go(draw: Draw, photos: Path) -> None:
    no_film = {"unreadable" if has_film else "not a picture": 1}
    lay(photos, "a.mov")
    assert look(photos).skipped == no_film
    draw("a.jpg")
    assert look(photos).skipped == {} and parts(photos) == {"a.jpg": ["a.mov"]}
    (photos / "a.mov").unlink()
    assert look(photos).changes == ScanChanges(changed=1) and parts(photos) == {"a.jpg": None}
    (photos / "a.jpg").unlink()
    lay(photos, "a.mov")
    assert look(photos).skipped == no_film and parts(photos) == {}


def test_sidecars_of_a_part_speak_of_the_picture(draw: Draw, photos: Path) -> None:
    draw("a.jpg")
    lay(photos, "a.CR2")
    (photos / "a.CR2.xmp").write_text(
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"/></rdf:RDF></x:xmpmeta>'
    )
    assert look(photos).skipped == {}
    extra = open_corpus(photos.parent / "ws").pictures["a.jpg"].extra
    assert (extra["parts"], extra["rating"]) == (["a.CR2"], 4)


def test_a_raw_alone_is_a_file_with_its_own_parts() -> None:
    stems = by_stem(["a.CR2", "a.CR2.pp3", "a.mov"])
    assert find_parts("a.CR2", stems) == ["a.CR2.pp3"]
    assert find_parts("a.jpg", stems) == ["a.CR2", "a.CR2.pp3", "a.mov"]
    assert find_parts("a.txt", stems) == [] == find_parts("b.jpg", stems)


def test_names() -> None:
    assert [stem_of(name) for name in ("a.b.jpg", "a.CR2.pp3", "a.pp3", "a")] == ["a.b", "a", "a", "a"]
    assert [original_stems(name) for name in ("IMG_E0042.HEIC", "IMG_EVENT.jpg", "IMG_0042.jpg")] == [
        ("IMG_0042",), (), (),
    ]  # fmt: skip
    assert original_stems("DSC1-HDR.dng") == ("DSC1",) == original_stems("DSC1-Edit-2.tif")
    assert original_stems("IMG_0998 - IMG_1001.jpg") == ("IMG_0998", "IMG_0999", "IMG_1000", "IMG_1001")
    assert original_stems("2024-05.jpg") == () == original_stems("1 - 1000000.jpg")


def test_motion_photos_are_told(draw: Draw, photos: Path) -> None:
    data = draw("a.jpg").read_bytes()
    assert not is_motion_photo(data)
    assert is_motion_photo(data[:2] + b'<x GCamera:MotionPhoto="1"/>' + data[2:])
    assert is_motion_photo(data + b"MotionPhoto_Data" + bytes(20) + b"SEFT")
    (photos / "a.jpg").write_bytes(data + b"MotionPhoto_Data" + bytes(20) + b"SEFT")
    assert look(photos).pictures == 1
    assert open_corpus(photos.parent / "ws").pictures["a.jpg"].extra["motion_photo"] is True
