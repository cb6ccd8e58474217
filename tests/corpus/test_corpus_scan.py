"""Scanning real files: what is found, what changed, and what survives."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from pictures import Draw, random_picture
from sightline.calls.session import Session
from sightline.config import Config
from sightline.corpus.pixels import MissingDecoderError
from sightline.corpus.scan import ScanChanges, ScanSummary
from sightline.corpus.skips import kinds_of
from sightline.corpus.store import CorpusStore
from sightline.corpus.view import open_corpus
from sightline.errors import UserError
from sightline.pictures import scan


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    return folder


Look = Callable[..., ScanSummary]


@pytest.fixture
def look(tmp_path: Path, photos: Path) -> Look:
    """Scan the photos into one workspace."""

    def look(config: Config | None = None, **options: Any) -> ScanSummary:
        return scan(photos, session=Session(tmp_path / "ws", config), **options)

    return look


def ids(tmp_path: Path) -> list[str]:
    return list(open_corpus(tmp_path / "ws").pictures)


def test_pictures_are_found_by_content_not_by_name(draw: Draw, look: Look, tmp_path: Path) -> None:
    draw("a.jpg", 1)
    draw("b.png", 2).rename(tmp_path / "photos" / "b.txt")
    draw("c.webp", 3).rename(tmp_path / "photos" / "c")
    (tmp_path / "photos" / "note.jpg").write_text("not a picture at all")
    summary = look()
    assert (summary.pictures, summary.skipped) == (3, {"not a picture": 1})
    assert ids(tmp_path) == ["a.jpg", "b.txt", "c"]


def test_what_is_known_of_a_picture(draw: Draw, look: Look, tmp_path: Path) -> None:
    draw(
        "a.jpg",
        1,
        time="2024:05:01 10:20:30",
        offset="+02:00",
        place=(-33.5, 151.0),
        device="Phone 5",
        orientation=6,
    )
    draw("b.jpg", 2, time="2024:05:01 10:20:30")
    look()
    a, b = open_corpus(tmp_path / "ws").pictures.values()
    assert (a.width, a.height, a.mime, a.lat, a.lon, a.device) == (120, 160, "image/jpeg", -33.5, 151.0, "Phone 5")
    assert a.taken_at is not None and a.taken_at.isoformat() == "2024-05-01T10:20:30+02:00"
    assert b.taken_at_is_naive and not a.taken_at_is_naive
    assert a.sha256 is not None and len(a.sha256) == 64 and a.phash
    assert Path(a.uri.removeprefix("file://")).is_file()


def test_an_upright_copy_of_a_turned_picture_is_its_duplicate(draw: Draw, look: Look) -> None:
    draw("turned.jpg", 7, orientation=6)
    draw("upright.png", image=random_picture(7).transpose(Image.Transpose.ROTATE_270))
    assert look().duplicates == 1


def test_duplicates_and_bursts(draw: Draw, look: Look) -> None:
    original = draw("a.jpg", 1, time="2024:05:01 10:00:00")
    shutil.copy(original, original.parent / "copy.jpg")
    draw("small.jpg", image=random_picture(1).resize((120, 90)), quality=70)
    shifted = random_picture(2, (200, 150))
    for second in range(3):
        frame = shifted.crop((2 * second, second, 160 + 2 * second, 120 + second))
        draw(f"burst{second}.jpg", image=frame, time=f"2024:05:02 10:00:0{2 * second}")
    summary = look()
    assert (summary.duplicates, summary.bursts, summary.events) == (2, 1, 2)


def test_colours_keep_alike_drawings_apart(look: Look, draw: Draw) -> None:
    for name, colour in (("red", "red"), ("blue", "blue")):
        image = Image.new("RGB", (100, 80), colour)
        image.paste("white", (20, 20, 60, 50))
        draw(f"{name}.png", image=image)
    assert look().duplicates == 0


def test_a_copy_is_found_beside_others_with_its_hash(look: Look, draw: Draw, tmp_path: Path) -> None:
    for name, colour, quality in (("a", "red", 95), ("b", "blue", 95), ("c", "blue", 60)):
        image = Image.new("RGB", (100, 80), colour)
        image.paste("white", (20, 20, 60, 50))
        draw(f"{name}.jpg", image=image, quality=quality)
    assert look().duplicates == 1
    assert [group.pictures for group in open_corpus(tmp_path / "ws").groups_of("duplicate")] == [("b.jpg", "c.jpg")]


def test_nothing_changed_reads_nothing(draw: Draw, look: Look) -> None:
    for seed in range(5):
        draw(f"{seed}.jpg", seed)
    assert look().changes == ScanChanges(new=5)
    again = look()
    assert (again.pictures, again.changes) == (5, ScanChanges())


def test_a_touched_file_is_the_same_picture(draw: Draw, look: Look) -> None:
    path = draw("a.jpg", 1)
    look()
    os.utime(path, (1, 1))
    assert look().changes == ScanChanges()
    assert look().changes == ScanChanges()


def test_a_changed_file_is_read_again(draw: Draw, look: Look, tmp_path: Path) -> None:
    draw("a.jpg", 1)
    look()
    before = open_corpus(tmp_path / "ws").pictures["a.jpg"].sha256
    draw("a.jpg", 2, quality=30)
    assert look().changes == ScanChanges(changed=1)
    assert open_corpus(tmp_path / "ws").pictures["a.jpg"].sha256 != before


def test_a_picture_that_became_something_else_is_gone(draw: Draw, look: Look) -> None:
    path = draw("a.jpg", 1)
    look()
    path.write_text("words")
    summary = look()
    assert (summary.pictures, summary.skipped) == (0, {"not a picture": 1})


def test_moved_and_deleted_files(draw: Draw, look: Look, tmp_path: Path, photos: Path) -> None:
    draw("a.jpg", 1)
    draw("b.jpg", 2)
    draw("c.jpg", 3)
    look()
    (photos / "new").mkdir()
    (photos / "a.jpg").rename(photos / "new" / "a.jpg")
    (photos / "b.jpg").unlink()
    summary = look()
    assert (summary.pictures, summary.changes) == (2, ScanChanges(moved=1, deleted=1))
    pictures = open_corpus(tmp_path / "ws").pictures
    assert list(pictures) == ["c.jpg", "new/a.jpg"]
    assert pictures["a.jpg"].id == "new/a.jpg"  # The old id still finds it.
    assert look().changes == ScanChanges()


def test_an_unplugged_drive_is_neither_moved_nor_deleted(draw: Draw, look: Look, photos: Path, tmp_path: Path) -> None:
    draw("a.jpg", 1)
    draw("b.jpg", 2)
    look()
    photos.rename(tmp_path / "unplugged")
    summary = look()
    assert (summary.pictures, summary.changes.deleted, summary.warnings["offline"]) == (2, 0, 2)
    photos.mkdir()  # Only the mount point is there.
    assert look().pictures == 2
    photos.rmdir()
    (tmp_path / "unplugged").rename(photos)
    (photos / "b.jpg").unlink()
    summary = look()
    assert (summary.pictures, summary.warnings.get("offline")) == (1, None)


def test_file_names_in_any_unicode_keep_a_stable_id(draw: Draw, look: Look, tmp_path: Path, photos: Path) -> None:
    names = ["spaces in name.jpg", "100%.jpg", "quote'\".jpg", "new\nline.jpg", "日本語.jpg", "😀.jpg", "a%20b.jpg"]
    for seed, name in enumerate(names):
        draw(name, seed)
    raw = os.path.join(os.fsencode(photos), b"raw\xff.jpg")
    os.rename(draw("raw.jpg", 99), raw)
    decomposed = unicodedata.normalize("NFD", "é.jpg")
    draw(decomposed, 50)
    draw("é.jpg", 51)
    assert look().pictures == len(names) + 3
    found = ids(tmp_path)
    assert set(names) | {"raw%FF.jpg", "é.jpg", "é.jpg~2"} == set(found)
    assert look().changes == ScanChanges()
    assert ids(tmp_path) == found


def test_links_hidden_files_and_closed_folders_are_survived(
    draw: Draw, look: Look, photos: Path, tmp_path: Path
) -> None:
    draw("a.jpg", 1)
    draw(".hidden.jpg", 2)
    (photos / "loop").symlink_to(photos)
    (photos / "self").symlink_to(photos / "self")
    (photos / "again.jpg").symlink_to(photos / "a.jpg")
    (photos / "broken.jpg").symlink_to(photos / "nowhere.jpg")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    random_picture(5).save(elsewhere / "e.jpg")
    (photos / "linked").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(photos)
    summary = look(follow_links=True)
    assert ids(tmp_path) == ["a.jpg", "linked/e.jpg"]
    assert summary.warnings["hidden"] == 1
    assert summary.warnings["broken link"] == 2


def test_links_out_of_the_folder_are_followed_only_when_asked(
    draw: Draw, look: Look, photos: Path, tmp_path: Path
) -> None:
    draw("a.jpg", 1)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    random_picture(5).save(elsewhere / "e.jpg")
    (elsewhere / "private.json").write_text(json.dumps({"title": "a.jpg", "description": "secret"}))
    (photos / "folder").symlink_to(elsewhere)
    (photos / "file.jpg").symlink_to(elsewhere / "e.jpg")
    (photos / "a.jpg.json").symlink_to(elsewhere / "private.json")
    summary = look()
    assert ids(tmp_path) == ["a.jpg"] and summary.warnings["link not followed"] == 3
    assert "--follow-links" in str(summary)
    assert "secret" not in repr([picture.extra for picture in open_corpus(tmp_path / "ws").pictures.values()])
    assert "link not followed" not in look(follow_links=True).warnings
    assert "secret" in repr([picture.extra for picture in open_corpus(tmp_path / "ws").pictures.values()])
    assert ids(tmp_path) == ["a.jpg", "file.jpg", "folder/e.jpg"]
    assert look().changes == ScanChanges(), "remembered for the folder"
    assert look(follow_links=False).changes.deleted and ids(tmp_path) == ["a.jpg"]


def test_sidecars_are_read_and_are_not_skipped_files(draw: Draw, look: Look, photos: Path, tmp_path: Path) -> None:
    draw("a.jpg", 1)
    takeout = {"title": "a.jpg", "description": "at the lake", "photoTakenTime": {"timestamp": "1714557630"}}
    (photos / "a.jpg.json").write_text(json.dumps(takeout))
    (photos / "stray.json").write_text("{}")
    summary = look()
    assert summary.skipped == {"not a picture": 1}
    picture = open_corpus(tmp_path / "ws").pictures["a.jpg"]
    assert picture.taken_at is not None and picture.taken_at.year == 2024
    assert picture.extra["description"] == "at the lake"
    takeout["description"] = "at the sea"
    (photos / "a.jpg.json").write_text(json.dumps(takeout))
    assert look().changes == ScanChanges(changed=1)
    assert open_corpus(tmp_path / "ws").pictures["a.jpg"].extra["description"] == "at the sea"


def test_owners_rights_and_metadata(draw: Draw, look: Look, tmp_path: Path) -> None:
    draw("ana/a.jpg", 1)
    draw("ben/b.jpg", 2)
    rights = tmp_path / "rights.json"
    rights.write_text(
        json.dumps(
            {
                "default": {"license": "CC0", "doi": "10/0", "dataset_name": "UNKNOWN"},
                "prefixes": [{"prefix": "ben/", "license": "CC-BY-4.0", "doi": "10/1", "dataset_name": "bens"}],
            }
        )
    )
    metadata = tmp_path / "more.jsonl"
    metadata.write_text(
        '{"image_id": "ana/a.jpg", "address": "Kyoto", "mood": "calm"}\n{"image_id": "no.jpg", "x": 1}\n'
    )
    config = Config.model_validate({"scan": {"owner_pattern": "{owner}/*"}})
    summary = look(config=config, rights=rights, metadata=metadata)
    assert (summary.owners, summary.warnings["unmatched metadata"]) == (2, 1)
    ana, ben = open_corpus(tmp_path / "ws").pictures.values()
    assert (ana.rights.license, ana.rights.source, ana.address, ana.extra["mood"]) == ("CC0", "ana", "Kyoto", "calm")
    assert (ben.rights.license, ben.rights.source, ben.extra["owner"]) == ("CC-BY-4.0", "bens", "ben")
    draw("ben/c.jpg", 3)
    summary = look()  # Pattern and map are remembered, given values survive a new reading.
    draw("ana/a.jpg", 4)
    summary = look()
    ana, _, c = open_corpus(tmp_path / "ws").pictures.values()
    assert (summary.owners, ana.address, c.rights.license) == (2, "Kyoto", "CC-BY-4.0")


def test_a_larger_limit_takes_in_what_was_a_bomb(draw: Draw, look: Look) -> None:
    draw("a.png", 1)
    config = Config.model_validate({"scan": {"max_pixels": 1000}})
    assert look(config=config).skipped == {"bomb": 1}
    assert look(config=config).changes == ScanChanges()
    assert look().pictures == 1


def test_a_limit_takes_the_first_and_forgets_nothing(draw: Draw, look: Look) -> None:
    for seed in range(4):
        draw(f"{seed}.jpg", seed)
    assert look(limit=2).pictures == 2
    assert look().pictures == 4
    assert look(limit=1).pictures == 4


def test_scanning_a_part_of_a_known_root(draw: Draw, look: Look, photos: Path, tmp_path: Path) -> None:
    draw("one/a.jpg", 1)
    draw("two/b.jpg", 2)
    look()
    draw("one/c.jpg", 3)
    (photos / "two" / "b.jpg").unlink()
    part = scan(photos / "one", workspace=tmp_path / "ws")
    assert (part.pictures, part.changes) == (3, ScanChanges(new=1))
    assert "one/c.jpg" in ids(tmp_path)


def test_what_was_skipped_in_the_folder_itself_is_known_apart(
    draw: Draw, look: Look, photos: Path, tmp_path: Path
) -> None:
    draw("one/a.jpg", 1)
    for name in ("one/empty.jpg", "two/empty.jpg", "one-more.jpg"):
        (photos / name).parent.mkdir(exist_ok=True)
        (photos / name).write_bytes(b"")
    assert look().skipped_here == {"empty": 3}
    part = scan(photos / "one", workspace=tmp_path / "ws")
    assert (part.skipped, part.skipped_here) == ({"empty": 3}, {"empty": 1})
    other = tmp_path / "other"
    other.mkdir()
    random_picture(2).save(other / "a.jpg")
    assert scan(other, workspace=tmp_path / "ws").skipped_here == {}


def test_two_roots_with_the_same_names(draw: Draw, look: Look, tmp_path: Path) -> None:
    draw("a.jpg", 1)
    look()
    other = tmp_path / "other"
    other.mkdir()
    random_picture(2).save(other / "a.jpg")
    both = scan(other, workspace=tmp_path / "ws")
    assert both.pictures == 2 and "2 pictures in 2 folders" in str(both)
    assert ids(tmp_path) == ["a.jpg", "other:a.jpg"]


def test_nothing_is_written_to_the_pictures(draw: Draw, look: Look, photos: Path) -> None:
    draw("a.jpg", 1)
    (photos / ".DS_Store").write_bytes(b"x")
    before = sorted((str(path), path.stat().st_mtime_ns) for path in (photos, *photos.rglob("*")))
    look()
    assert sorted((str(path), path.stat().st_mtime_ns) for path in (photos, *photos.rglob("*"))) == before


def test_the_workspace_must_lie_elsewhere(photos: Path) -> None:
    with pytest.raises(UserError, match="inside the pictures' folder"):
        scan(photos, workspace=photos / ".sightline")
    assert list(photos.iterdir()) == []


def test_places_that_are_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no folder"):
        scan(tmp_path / "none", workspace=tmp_path / "ws")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="is a file"):
        scan(tmp_path / "file", workspace=tmp_path / "ws")
    (tmp_path / "ws" / "corpus.sqlite").write_bytes(b"no database at all, but long enough to look at " * 50)
    for leftover in (tmp_path / "ws").glob("corpus.sqlite-*"):
        leftover.unlink()
    (tmp_path / "pictures").mkdir()
    with pytest.raises(UserError, match="not a Sightline database"):
        scan(tmp_path / "pictures", workspace=tmp_path / "ws")


def test_an_empty_folder(look: Look) -> None:
    summary = look()
    assert (summary.pictures, summary.skipped, summary.events) == (0, {}, 0)


def test_killed_at_any_moment_the_next_scan_finishes_the_job(
    draw: Draw, look: Look, photos: Path, tmp_path: Path
) -> None:
    for seed in range(120):
        draw(f"{seed % 7}/{seed}.jpg", seed, time=f"2024:05:{seed % 28 + 1:02d} 10:00:00")
    command = [sys.executable, "-m", "sightline", "scan", str(photos), "--workspace", str(tmp_path / "ws")]
    for delay in (0.3, 0.6, 0.8, 1.0):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert look().pictures == 120
    with sqlite3.connect(tmp_path / "ws" / "corpus.sqlite") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    fresh = scan(photos, workspace=tmp_path / "fresh")
    again = look()
    assert again.changes == ScanChanges()
    assert (again.pictures, again.events, again.duplicates) == (fresh.pictures, fresh.events, fresh.duplicates)


def test_what_was_skipped_is_told_by_kind(draw: Draw, look: Look, photos: Path) -> None:
    draw("a.jpg")
    for name in ("b.MOV", "e.mov", "c.mp4", "d.mov", "notes.txt", "list.PDF", "Thumbs.db", "README"):
        (photos / name).write_bytes(b"no picture")
    (photos / "cut.jpg").write_bytes((photos / "a.jpg").read_bytes()[:200])
    (photos / "page.jpg").write_bytes(b"<html>")
    (photos / "none.png").write_bytes(b"")
    found = look()
    assert [(one.kind, one.count) for one in found.skipped_kinds] == [
        ("documents", 2), ("broken files", 7), ("other files", 2),
    ]  # fmt: skip
    said = str(found).splitlines()
    (broken,) = (line for line in said if "broken files" in line)
    assert "3 .mov" in broken and "2 .jpg, 1 .mp4, 1 .png (b.MOV: unreadable, c.mp4: unreadable, cut.jpg: tr" in broken
    assert "    other files: 1 without extension, 1 .db (README, Thumbs.db)" in said
    assert found.to_json()["skipped"] == {"empty": 1, "not a picture": 5, "truncated": 1, "unreadable": 4}
    assert found.to_json()["skipped_kinds"][0] == {
        "kind": "documents", "extensions": {".pdf": 1, ".txt": 1}, "first": ("list.PDF", "notes.txt"),
    }  # fmt: skip


def test_what_an_extra_would_read_is_not_broken() -> None:
    rows = [
        ("p.heic", "unreadable", MissingDecoderError("heif").detail),
        ("c.nef", "RAW", MissingDecoderError("raw").detail),
    ]
    assert list(map(str, kinds_of(rows))) == ["HEIC: 1 .heic (p.heic)", "RAW: 1 .nef (c.nef)"]


def test_no_reason_names_a_thing_of_python(draw: Draw, look: Look, photos: Path, tmp_path: Path) -> None:
    draw("a.png")
    whole = (photos / "a.png").read_bytes()
    (photos / "a.png").write_bytes(whole[:20] + b"\xff" * 12 + whole[32:])
    (photos / "b.tif").write_bytes(b"II*\0" + bytes(60))
    look()
    with CorpusStore(tmp_path / "ws") as store:
        details = [detail for _, _, detail in store.skipped()]
    assert len(details) == 2
    assert not any(re.search(r"Error|object at|BytesIO|<", detail) for detail in details), details
