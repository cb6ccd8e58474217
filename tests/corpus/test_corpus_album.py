"""Albums: what leaves a search as links, copies, keywords and a contact sheet, and what is never written to."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from PIL import Image

import sightline
from command_line import Cli
from search_tools import Colours, paint
from sightline.errors import UserError
from sightline.retrieval.results import Hit, Results
from sightline.types import Picture


@pytest.fixture
def found(tmp_path: Path) -> Results:
    for name, colour in (("a/One.png", "red"), ("b/one.png", "orange"), ("c.png", "yellow"), ("d.png", "blue")):
        paint(tmp_path / "photos" / name, colour)
    results = sightline.search("red", tmp_path / "photos", k=4, embedder=Colours(), workspace=tmp_path / "ws")
    (tmp_path / "photos" / "d.png").unlink()
    return results


def before(tmp_path: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in (tmp_path / "photos").rglob("*") if path.is_file()}


def test_links_keep_names_clashes_get_numbers_and_missing_files_are_listed(found: Results, tmp_path: Path) -> None:
    album = found.album(tmp_path / "album")
    assert sorted(album.files) == ["One.png", "c.png", "one (2).png"] and album.missing == ("d.png",)
    assert os.readlink(tmp_path / "album" / "One.png") == str(tmp_path / "photos" / "a" / "One.png")
    assert str(album).startswith("3 links in ") and "not there: 1 (d.png)" in str(album)


def test_copies_get_a_keyword_that_a_scan_reads_and_originals_stay_as_they_are(found: Results, tmp_path: Path) -> None:
    was = before(tmp_path)
    album = found.album(tmp_path / "album", copy=True, keyword="Zürich <2024> & co")
    assert album.copied and not any(path.is_symlink() for path in album.folder.iterdir())
    assert before(tmp_path) == was
    tagged = sightline.search(
        None,
        album.folder,
        where='tag:"Zürich <2024> & co"',
        embedder=Colours(),
        like="c.png",
        workspace=tmp_path / "w2",
    )
    assert len(tagged) == 3


@pytest.mark.parametrize("where", ["photos", "photos/a/new", "full", "file"])
def test_nothing_is_written_among_pictures_or_over_what_is_there(found: Results, tmp_path: Path, where: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    was = sorted(map(str, tmp_path.rglob("*")))
    with pytest.raises(UserError, match=r"nothing is ever written|exists and is not empty"):
        found.album(tmp_path / where)
    with pytest.raises(UserError, match=r"nothing is ever written|does not end in"):
        found.contact_sheet(tmp_path / ("photos/a/s.pdf" if "photos" in where else "sheet.png"))
    assert sorted(map(str, tmp_path.rglob("*"))) == was


def test_a_link_to_the_pictures_folder_is_seen_through(found: Results, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(tmp_path / "photos")
    with pytest.raises(UserError, match=r"nothing is ever written"):
        found.album(tmp_path / "way" / "album")


def test_a_keyword_needs_copies(found: Results, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="needs copies"):
        found.album(tmp_path / "album", keyword="x")


def test_names_that_are_not_utf_8_and_copies_elsewhere(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"photos/caf\xe9.png")
    try:
        paint(odd, "red")
    except OSError:
        pytest.skip("this file system refuses such names")
    gone = "file://" + str(tmp_path / "photos" / "gone.png")
    there = "file://" + str(tmp_path / "photos") + "/caf%E9.png"
    hits = (Hit(Picture("caf%E9.png", there), 1.0), Hit(Picture("gone.png", gone), 1.0, also_at=(there,)))
    album = Results("q", hits, None, None, 2).album(tmp_path / "album", copy=True)
    assert album.files == ("caf%E9.png", "caf%E9 (2).png") and not album.missing


def test_a_contact_sheet_has_every_picture_and_twenty_a_page(found: Results, tmp_path: Path) -> None:
    many = Results("many", found.hits * 6, None, None, 24)
    data = many.contact_sheet(tmp_path / "sheets" / "sheet.pdf").read_bytes()
    assert data.startswith(b"%PDF") and data.rstrip().endswith(b"%%EOF") and b"/Count 2\n" in data
    assert [path.name for path in (tmp_path / "sheets").iterdir()] == ["sheet.pdf"]
    assert Results("none", (), None, None, 0).contact_sheet(tmp_path / "none.pdf").is_file()


def test_a_broken_picture_costs_its_place_alone(tmp_path: Path) -> None:
    paint(tmp_path / "p" / "good.png", "red")
    (tmp_path / "p" / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 30)
    hits = tuple(Hit(Picture(name, str(tmp_path / "p" / name)), 1.0) for name in ("bad.png", "good.png"))
    assert Results("q", hits, None, None, 2).contact_sheet(tmp_path / "s.pdf").stat().st_size > 1000


def test_the_command_writes_both_and_says_so(cli: Cli, found: Results, tmp_path: Path) -> None:
    Image.new("RGB", (40, 30), "red").save(tmp_path / "photos" / "e.jpg")
    done = cli(
        "search", "e", "--in", tmp_path / "photos", "--workspace", "w3", "--method", "words", "--json",
        "--album", "out", "--copy", "--keyword", "k", "--contact-sheet", "s.pdf",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["album"]["files"] == ["e.jpg"] and said["contact_sheet"].endswith("s.pdf")
    refused = cli("search", "x", "--copy", "--workspace", "w3")
    assert refused.returncode == 2 and "--album DIR" in refused.stderr
