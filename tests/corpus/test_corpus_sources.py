"""Google Takeout, Apple Photos and Immich, on files and answers that follow what is publicly known of each."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sqlite3
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from pictures import Draw, filtered, random_picture
from sightline.calls.session import Session
from sightline.corpus.view import open_corpus
from sightline.errors import StorageError, UserError
from sightline.pictures import scan


def jpeg(seed: int) -> bytes:
    made = BytesIO()
    random_picture(seed).save(made, "JPEG")
    return made.getvalue()


def fingerprint(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file below a folder, with its content and date."""
    return {
        str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# -- Google Takeout

YEAR, ALBUM = "Takeout/Google Fotos/Fotos von 2021", "Takeout/Google Fotos/Sommer in Rom"
LONG = "a picture with a name that is far too long for Takeout"


def record(title: str, **more: Any) -> bytes:
    return json.dumps({"title": title, "photoTakenTime": {"timestamp": "1625140800"}, **more}).encode()


TAKEOUT: tuple[dict[str, bytes], ...] = (
    {
        f"{YEAR}/a.jpg": jpeg(1),
        f"{YEAR}/b.jpg": jpeg(2),
        f"{YEAR}/b(1).jpg": jpeg(3),
        f"{YEAR}/c.jpg": jpeg(4),
        f"{YEAR}/c-bearbeitet.jpg": jpeg(5),
        f"{ALBUM}/Metadaten.json": json.dumps(
            {"title": "Sommer in Rom", "description": "", "date": {"timestamp": "1625140800"}}
        ).encode(),
        "Takeout/archive_browser.html": b"<html>",
    },
    {  # What is said of a picture may be in another zip than the picture.
        f"{YEAR}/a.jpg.json": record("a.jpg", people=[{"name": "Ana"}], favorited=True),
        f"{YEAR}/b.jpg.supplemental-metadata.json": record("b.jpg", description="first"),
        f"{YEAR}/b.jpg.supplemental-metadata(1).json": record("b.jpg", description="second"),
        f"{YEAR}/c.jpg.json": record("c.jpg", description="of the original"),
        f"{YEAR}/{LONG[:47]}.jpg": jpeg(6),
        f"{YEAR}/{LONG[:46]}.json": record(LONG, description="cut"),
        f"{ALBUM}/a.jpg": jpeg(1),
        f"{ALBUM}/a.jpg.json": record("a.jpg"),
        "../outside.jpg": jpeg(7),
    },
)


@pytest.fixture
def takeout(tmp_path: Path) -> Path:
    for number, members in enumerate(TAKEOUT, 1):
        with zipfile.ZipFile(tmp_path / f"takeout-20240102T030405Z-{number:03}.zip", "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
    return tmp_path / "takeout-20240102T030405Z-001.zip"


def test_all_zips_of_a_takeout_are_one_source(takeout: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    found = scan(takeout, workspace=workspace)
    corpus = open_corpus(workspace)
    assert found.pictures == 6 and not found.skipped and found.duplicates == 1
    assert filtered(workspace, 'album:"Sommer in Rom"') == [f"{YEAR}/a.jpg", f"{ALBUM}/a.jpg"], "both places of it"
    assert filtered(workspace, "people:Ana and favorite") == [f"{YEAR}/a.jpg"]
    said = {id_.rpartition("/")[2]: picture.extra for id_, picture in corpus.pictures.items()}
    assert said["b.jpg"]["description"] == "first" and said["b(1).jpg"]["description"] == "second"
    assert said[f"{LONG[:47]}.jpg"]["description"] == "cut"
    assert "c.jpg" not in said, "the original is a part of the edited copy"
    assert said["c-bearbeitet.jpg"]["parts"] == ["c.jpg"]
    assert said["c-bearbeitet.jpg"]["description"] == "of the original"
    assert not list(tmp_path.rglob("outside.jpg")), "no name leads out of the workspace"
    assert all(picture.path is not None and picture.path.is_file() for picture in corpus.pictures.values())


def test_a_takeout_is_unpacked_once(takeout: Path, tmp_path: Path) -> None:
    scan(takeout, workspace=tmp_path / "ws")
    before = fingerprint(tmp_path / "ws" / "sources")
    again = scan(takeout, workspace=tmp_path / "ws")
    assert fingerprint(tmp_path / "ws" / "sources") == before and again.changes.new == again.changes.changed == 0
    assert filtered(tmp_path / "ws", 'album:"Sommer in Rom"'), "albums stay"


def test_albums_of_an_unpacked_takeout_too(tmp_path: Path) -> None:
    for members in TAKEOUT:
        for name, data in members.items():
            if ".." not in name:
                (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / name).write_bytes(data)
    workspace = tmp_path / "ws"
    scan(tmp_path / "Takeout", workspace=workspace)
    year, album = YEAR.removeprefix("Takeout/"), ALBUM.removeprefix("Takeout/")
    assert filtered(workspace, 'album:"Sommer in Rom"') == [f"{year}/a.jpg", f"{album}/a.jpg"]
    (tmp_path / ALBUM / "Metadaten.json").unlink()
    (tmp_path / ALBUM / "Metadaten.json").write_bytes(
        json.dumps({"title": "Rom", "date": {"timestamp": "1"}}).encode() + b"  "
    )
    scan(tmp_path / "Takeout", workspace=workspace)
    assert filtered(workspace, "album:Rom") and not filtered(workspace, 'album:"Sommer in Rom"'), "a new name"


def test_what_a_takeout_lacks_is_told_of(takeout: Path, tmp_path: Path) -> None:
    third = tmp_path / "takeout-20240102T030405Z-004.zip"
    third.write_bytes(takeout.read_bytes()[:200])
    found = scan(takeout, workspace=tmp_path / "ws")
    assert found.pictures == 6 and found.warnings["missing zip"] == 1 and found.warnings["damaged zip"] == 1


def test_a_damaged_member_costs_only_itself(takeout: Path, tmp_path: Path) -> None:
    data = bytearray(takeout.read_bytes())
    at = data.index(TAKEOUT[0][f"{YEAR}/b.jpg"]) + 50
    data[at] ^= 0xFF
    takeout.write_bytes(data)
    found = scan(takeout, workspace=tmp_path / "ws")
    assert found.pictures == 5 and found.warnings["damaged in the zip"] == 1


def test_a_disk_that_fills_up_is_not_a_damaged_zip(
    takeout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("sightline.corpus.takeout.shutil.copyfileobj", full)
    with pytest.raises(StorageError, match="No space left on device") as refused:
        scan(takeout, workspace=tmp_path / "ws")
    assert refused.value.fix is not None and refused.value.fix.startswith("make room")


def test_a_zip_without_pictures_and_a_bomb(tmp_path: Path) -> None:
    (tmp_path / "takeout-20240102T030405Z-001.zip").write_bytes(b"no zip")
    with pytest.raises(UserError, match="holds no picture that can be read"):
        scan(tmp_path / "takeout-20240102T030405Z-001.zip", workspace=tmp_path / "ws")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jpg", bytes(90 << 20))
    with pytest.raises(UserError, match="unpacks to over 100 times its size"):
        scan(tmp_path / "bomb.zip", workspace=tmp_path / "ws")
    assert not (tmp_path / "ws" / "sources" / "bomb" / "a.jpg").exists()


# -- Apple Photos: the tables and columns of Photos 9 (macOS 14), as they are publicly known

SCHEMA = """
CREATE TABLE ZASSET (Z_PK INTEGER PRIMARY KEY, ZUUID, ZDIRECTORY, ZFILENAME, ZKIND, ZFAVORITE DEFAULT 0,
    ZHIDDEN DEFAULT 0, ZTRASHEDSTATE DEFAULT 0, ZVISIBILITYSTATE DEFAULT 0, ZHASADJUSTMENTS DEFAULT 0,
    ZDATECREATED, ZLATITUDE DEFAULT -180.0, ZLONGITUDE DEFAULT -180.0, ZAVALANCHEUUID);
CREATE TABLE ZADDITIONALASSETATTRIBUTES (Z_PK INTEGER PRIMARY KEY, ZASSET, ZASSETDESCRIPTION, ZORIGINALFILENAME,
    ZTITLE, ZTIMEZONEOFFSET);
CREATE TABLE ZASSETDESCRIPTION (Z_PK INTEGER PRIMARY KEY, ZLONGDESCRIPTION);
CREATE TABLE ZGENERICALBUM (Z_PK INTEGER PRIMARY KEY, ZKIND, ZTITLE, ZTRASHEDSTATE DEFAULT 0);
CREATE TABLE Z_28ASSETS (Z_28ALBUMS, Z_3ASSETS, Z_FOK_3ASSETS);
CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, ZFULLNAME, ZDISPLAYNAME);
CREATE TABLE ZDETECTEDFACE (Z_PK INTEGER PRIMARY KEY, ZASSETFORFACE, ZPERSONFORFACE);
CREATE TABLE ZKEYWORD (Z_PK INTEGER PRIMARY KEY, ZTITLE);
CREATE TABLE Z_1KEYWORDS (Z_1ASSETATTRIBUTES, Z_40KEYWORDS);
"""
UUIDS = [f"{letter}0000000-0000-0000-0000-000000000000" for letter in "ABCDEF01"]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A plain picture, an edited one with a live film, one in iCloud with a preview, one without, what is hidden."""
    library = tmp_path / "Pictures" / "Photos Library.photoslibrary"
    (library / "database").mkdir(parents=True)

    def put(path: str, data: bytes) -> None:
        (library / path).parent.mkdir(parents=True, exist_ok=True)
        (library / path).write_bytes(data)

    for number, uuid in enumerate(UUIDS):
        if number not in (2, 3):
            put(f"originals/{uuid[0]}/{uuid}.jpeg", jpeg(number))
    put(f"resources/renders/B/{UUIDS[1]}_1_201_a.jpeg", jpeg(20))
    put(f"originals/A/{UUIDS[0]}_3.mov", b"film")
    put(f"resources/derivatives/C/{UUIDS[2]}_1_105_c.jpeg", jpeg(22))
    with sqlite3.connect(library / "database" / "Photos.sqlite") as database:
        database.executescript(SCHEMA)
        for number, uuid in enumerate(UUIDS):
            database.execute(
                "INSERT INTO ZASSET (Z_PK, ZUUID, ZDIRECTORY, ZFILENAME, ZDATECREATED) VALUES (?, ?, ?, ?, 646833600)",
                (number, uuid, uuid[0], f"{uuid}.jpeg"),
            )
            database.execute(
                "INSERT INTO ZADDITIONALASSETATTRIBUTES VALUES (?, ?, ?, ?, NULL, 7200)",
                (100 + number, number, 200 + number, f"IMG_000{number}.JPG"),
            )
        database.executescript(
            """UPDATE ZASSET SET ZFAVORITE = 1, ZLATITUDE = 41.9, ZLONGITUDE = 12.5 WHERE Z_PK = 0;
            UPDATE ZASSET SET ZHASADJUSTMENTS = 1 WHERE Z_PK = 1; UPDATE ZASSET SET ZHIDDEN = 1 WHERE Z_PK = 4;
            UPDATE ZASSET SET ZTRASHEDSTATE = 1 WHERE Z_PK = 5; UPDATE ZASSET SET ZVISIBILITYSTATE = 2 WHERE Z_PK = 6;
            INSERT INTO ZASSETDESCRIPTION VALUES (200, 'by the fountain');
            INSERT INTO ZGENERICALBUM VALUES (1, 2, 'Rome', 0), (2, 2, 'Gone', 1), (3, 4000, 'Folder', 0);
            INSERT INTO Z_28ASSETS VALUES (1, 0, 1), (1, 1, 2), (2, 0, 1), (1, 4, 3);
            INSERT INTO ZPERSON VALUES (1, 'Ana', 'Ana'), (2, '', NULL);
            INSERT INTO ZDETECTEDFACE VALUES (1, 0, 1), (2, 0, 2), (3, 0, 1);
            INSERT INTO ZKEYWORD VALUES (1, 'fountain'); INSERT INTO Z_1KEYWORDS VALUES (100, 1);"""
        )
    database.close()
    return library


def test_an_apple_photos_library(library: Path, tmp_path: Path) -> None:
    before, workspace = fingerprint(library), tmp_path / "ws"
    found = scan(library, workspace=workspace)
    assert fingerprint(library) == before, "a library is never written to"
    plain, edited, preview, last = (
        f"originals/A/{UUIDS[0]}.jpeg",
        f"resources/renders/B/{UUIDS[1]}_1_201_a.jpeg",
        f"resources/derivatives/C/{UUIDS[2]}_1_105_c.jpeg",
        f"originals/1/{UUIDS[7]}.jpeg",
    )
    pictures = open_corpus(workspace).pictures
    assert set(pictures) == {plain, edited, preview, last} and found.pictures == 4
    assert found.warnings == {
        "hidden in Photos": 1, "in the trash of Photos": 1, "not picked from a burst": 1, "not on this computer": 1,
        "only a preview on this computer": 1,
    }  # fmt: skip
    assert filtered(workspace, "album:Rome") == [plain, edited] and not filtered(workspace, "album:Gone")
    assert filtered(workspace, "people:Ana") == filtered(workspace, "favorite") == [plain]
    assert filtered(workspace, "tag:fountain") == filtered(workspace, "near(41.9, 12.5, 1km)") == [plain]
    said = pictures[plain].extra
    assert said["parts"] == [f"{UUIDS[0]}_3.mov"] and said["original_name"] == "IMG_0000.JPG"
    assert said["description"] == "by the fountain"
    taken = pictures[plain].taken_at
    assert taken is not None and taken.isoformat() == "2021-07-01T14:00:00+02:00"
    assert pictures[edited].extra["edited"] is True


def test_changes_that_photos_has_not_written_yet_are_seen(library: Path, tmp_path: Path) -> None:
    writer = sqlite3.connect(library / "database" / "Photos.sqlite", isolation_level=None)
    writer.execute("PRAGMA journal_mode = wal")
    writer.execute("UPDATE ZGENERICALBUM SET ZTITLE = 'Roma' WHERE Z_PK = 1")
    try:
        before = fingerprint(library)
        scan(library, workspace=tmp_path / "ws")
        assert fingerprint(library) == before and filtered(tmp_path / "ws", "album:Roma")
    finally:
        writer.close()


def test_what_leaves_an_album_leaves_it_here_too(library: Path, tmp_path: Path) -> None:
    scan(library, workspace=tmp_path / "ws")
    with sqlite3.connect(library / "database" / "Photos.sqlite") as database:
        database.execute("DELETE FROM Z_28ASSETS WHERE Z_3ASSETS = 0")
        database.execute("UPDATE ZASSET SET ZFAVORITE = 0, ZHIDDEN = (Z_PK = 1 OR ZHIDDEN)")
    database.close()
    found = scan(library, workspace=tmp_path / "ws")
    assert found.changes.deleted == 1, "the one that is hidden now"
    assert not filtered(tmp_path / "ws", "has(album)") and not filtered(tmp_path / "ws", "favorite")


def test_a_library_within_a_folder_of_pictures(library: Path, tmp_path: Path) -> None:
    (library.parent / "own.jpg").write_bytes(jpeg(30))
    for _ in range(2):  # In both orders.
        outer = scan(library.parent, workspace=tmp_path / "ws")
        assert outer.warnings["Photos library, scanned by itself"] == 1
        scan(library, workspace=tmp_path / "ws")
    pictures = open_corpus(tmp_path / "ws").pictures
    assert len(pictures) == 5 and "own.jpg" in pictures


@pytest.mark.parametrize("content", [b"", b"text", None])
def test_what_is_no_library(content: bytes | None, tmp_path: Path) -> None:
    folder = tmp_path / "x.photoslibrary" / "database"
    folder.mkdir(parents=True)
    if content is not None:
        (folder / "Photos.sqlite").write_bytes(content)
    with pytest.raises(UserError, match="can't be read as a library of Apple Photos"):
        scan(tmp_path / "x.photoslibrary", workspace=tmp_path / "ws")


# -- Immich

IDS = [f"{number}0000000-0000-4000-8000-000000000000" for number in range(1, 7)]


def asset(number: int, **more: Any) -> dict[str, Any]:
    """An `AssetResponseDto` of the public API, as far as it is read."""
    return {
        "id": IDS[number], "type": "IMAGE", "originalFileName": f"IMG_{number}.HEIC", "isFavorite": False,
        "isTrashed": False, "visibility": "timeline", "localDateTime": "2021-07-01T14:00:00.000Z",
        "fileCreatedAt": "2021-07-01T12:00:00.000Z", "people": [], "stack": None,
        "exifInfo": {"make": "Apple", "model": "iPhone 12", "latitude": None, "longitude": None, "rating": None},
        **more,
    }  # fmt: skip


class Immich(ThreadingHTTPServer):
    """Answers as Immich does, two assets a page, and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.asked: list[str] = []
        exif = {"make": "Apple", "model": "iPhone 12", "latitude": 41.9, "longitude": 12.5, "rating": 4, "city": "Rome",
                "country": "Italy", "description": "by the fountain"}  # fmt: skip
        self.assets = [
            asset(0, isFavorite=True, people=[{"name": "Ana"}, {"name": ""}], exifInfo=exif),
            asset(1, stack={"id": "s", "primaryAssetId": IDS[1], "assetCount": 2}),
            asset(2, stack={"id": "s", "primaryAssetId": IDS[1], "assetCount": 2}),
            asset(3, type="VIDEO"),
            asset(4, isTrashed=True),
            asset(5),
        ]
        self.albums, self.tags = {"Rome": [IDS[0], IDS[5]]}, {"trip/italy": [IDS[0]]}
        self.key, self.gone = "secret", {IDS[5]}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def found(self, body: dict[str, Any]) -> dict[str, Any]:
        named = [(self.albums | self.tags)[name] for key in ("albumIds", "tagIds") for name in body.get(key, ())]
        chosen = [each for each in self.assets if not named or each.get("id") in named[0]]
        at = (body["page"] - 1) * 2
        following = str(body["page"] + 1) if at + 2 < len(chosen) else None
        return {"assets": {"items": chosen[at : at + 2], "nextPage": following}}


class _Answers(BaseHTTPRequestHandler):
    server: Immich

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        path = self.path.removeprefix("/api/")
        if self.headers["x-api-key"] != self.server.key:
            return self._send(401, b"{}")
        if path.startswith("assets/"):
            id_ = path.split("/")[1]
            gone = id_ in self.server.gone
            return self._send(404 if gone else 200, b"{}" if gone else jpeg(IDS.index(id_)))
        if path.startswith("albums"):
            listed = [] if "shared" in path else [{"id": name, "albumName": name} for name in self.server.albums]
            return self._send(200, json.dumps(listed).encode())
        if path == "tags":
            names = [{"id": name, "name": name.rpartition("/")[2], "value": name} for name in self.server.tags]
            return self._send(200, json.dumps(names).encode())
        return self._send(404, b"{}")

    def do_POST(self) -> None:
        if self.path != "/api/search/metadata" or self.headers["x-api-key"] != self.server.key:
            return self.do_GET()
        self.server.asked.append(f"{self.command} {self.path}")
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        return self._send(200, json.dumps(self.server.found(body)).encode())

    def _send(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def immich(monkeypatch: pytest.MonkeyPatch) -> Iterator[Immich]:
    monkeypatch.setenv("IMMICH_API_KEY", "secret")
    server = Immich()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_immich_server(immich: Immich, tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    found = scan(f"immich:{immich.url}", session=Session(workspace, local_only=True))
    one, two = f"2021/IMG_0-{IDS[0][:8]}.jpg", f"2021/IMG_1-{IDS[1][:8]}.jpg"
    pictures = open_corpus(workspace).pictures
    assert list(pictures) == [one, two] and found.pictures == 2
    assert found.warnings == {
        "behind another picture of its stack": 1, "in the trash of Immich": 1, "video on the server": 1,
        "no preview on the server": 1,
    }  # fmt: skip
    for where in ("album:Rome", "people:Ana", "rating >= 4", 'tag:"trip/italy"', "favorite", 'address ~ "Rome, Italy"'):
        assert filtered(workspace, where) == [one], where
    assert filtered(workspace, 'device ~ "iPhone 12" and hour = 14 and year = 2021') == [one, two]
    assert all(each.startswith(("GET ", "POST /api/search/metadata")) for each in immich.asked), "it is only read"


def test_previews_are_fetched_once(immich: Immich, tmp_path: Path) -> None:
    for _ in range(2):
        scan(f"immich:{immich.url}/", workspace=tmp_path / "ws")
    previews = [each for each in immich.asked if "thumbnail" in each and IDS[5] not in each]
    assert len(previews) == 2
    del immich.assets[0]
    immich.albums.clear()
    found = scan(f"immich:{immich.url}", workspace=tmp_path / "ws")
    assert found.changes.deleted == 1 and len(list((tmp_path / "ws" / "sources").rglob("*.jpg"))) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda server: setattr(server, "key", "other"), "answered 401"),
        (lambda server: server.assets.insert(0, {"type": "IMAGE"}), "does not answer as Immich does"),
        (lambda server: server.assets[0].update(id="../../etc"), "does not answer as Immich does"),
    ],
)
def test_what_immich_refuses(immich: Immich, change: Callable[[Immich], Any], said: str, tmp_path: Path) -> None:
    change(immich)
    with pytest.raises(UserError, match=said):
        scan(f"immich:{immich.url}", workspace=tmp_path / "ws")


def test_local_only_and_addresses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = Session(tmp_path / "ws", local_only=True)
    with pytest.raises(UserError, match="not on this computer, and --local-only is set"):
        scan("immich:https://photos.example.org", session=session)
    with pytest.raises(UserError, match="not an address of an Immich server"):
        scan("immich:", session=session)
    monkeypatch.delenv("IMMICH_API_KEY", raising=False)
    with pytest.raises(UserError, match="IMMICH_API_KEY is not set"):
        scan("immich:http://localhost:9", session=session)
    monkeypatch.setenv("IMMICH_API_KEY", "secret")
    with pytest.raises(UserError, match="does not answer"):
        scan("immich:http://127.0.0.1:9", session=session)


def test_a_catalogue_is_no_folder(draw: Draw, tmp_path: Path) -> None:
    draw("a.jpg")
    (tmp_path / "My.lrcat").write_bytes(b"")
    with pytest.raises(UserError, match="--metadata"):
        scan(tmp_path / "My.lrcat", workspace=tmp_path / "ws")
    assert os.listdir(tmp_path / "photos") == ["a.jpg"]
