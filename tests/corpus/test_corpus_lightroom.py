"""Lightroom Classic catalogues, on a database with the tables and columns that catalogues have."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pictures import Draw, filtered
from sightline.corpus.lightroom import read_catalogue
from sightline.corpus.view import open_corpus
from sightline.errors import UserError
from sightline.pictures import scan

SCHEMA = """
CREATE TABLE AgLibraryRootFolder (id_local INTEGER PRIMARY KEY, id_global, absolutePath UNIQUE NOT NULL DEFAULT '',
    name NOT NULL DEFAULT '', relativePathFromCatalog);
CREATE TABLE AgLibraryFolder (id_local INTEGER PRIMARY KEY, id_global, parentId INTEGER,
    pathFromRoot NOT NULL DEFAULT '', rootFolder INTEGER NOT NULL DEFAULT 0);
CREATE TABLE AgLibraryFile (id_local INTEGER PRIMARY KEY, id_global, baseName NOT NULL DEFAULT '',
    extension NOT NULL DEFAULT '', folder INTEGER NOT NULL DEFAULT 0, idx_filename, sidecarExtensions);
CREATE TABLE Adobe_images (id_local INTEGER PRIMARY KEY, id_global, captureTime, colorLabels NOT NULL DEFAULT '',
    copyName, masterImage INTEGER, pick NOT NULL DEFAULT 0, rating, rootFile INTEGER NOT NULL DEFAULT 0);
CREATE TABLE AgLibraryKeyword (id_local INTEGER PRIMARY KEY, id_global, keywordType, lc_name, name, parent INTEGER);
CREATE TABLE AgLibraryKeywordImage (id_local INTEGER PRIMARY KEY, image INTEGER NOT NULL, tag INTEGER NOT NULL);
CREATE TABLE AgLibraryCollection (id_local INTEGER PRIMARY KEY, creationId NOT NULL DEFAULT '',
    name NOT NULL DEFAULT '', parent INTEGER, systemOnly NOT NULL DEFAULT '');
CREATE TABLE AgLibraryCollectionImage (id_local INTEGER PRIMARY KEY, collection INTEGER NOT NULL,
    image INTEGER NOT NULL, positionInCollection);
"""
OWN, SET = "com.adobe.ag.library.collection", "com.adobe.ag.library.group"


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    path = tmp_path / "My Catalog.lrcat"
    with sqlite3.connect(path) as database:
        database.executescript(SCHEMA)

        def fill(table: str, columns: str, *rows: tuple[object, ...]) -> None:
            marks = ", ".join("?" * len(rows[0]))
            database.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)

        fill(
            "AgLibraryRootFolder", "id_local, absolutePath, name", (1, f"{tmp_path}/photos/", "photos"), (2, "D:/", "D")
        )
        fill("AgLibraryFolder", "id_local, pathFromRoot, rootFolder", (10, "", 1), (11, "été/", 1), (12, "old/", 2))
        fill(
            "AgLibraryFile", "id_local, baseName, extension, folder",
            (20, "a", "jpg", 10), (21, "b", "NEF", 11), (22, "gone", "jpg", 11), (23, "far", "jpg", 12),
            (24, "c", "jpg", 10),
        )  # fmt: skip
        fill(
            "Adobe_images", "id_local, rootFile, masterImage, rating, pick, colorLabels",
            (30, 20, None, 4.0, 1.0, "Red"), (31, 21, None, None, -1.0, ""), (32, 22, None, 5.0, 0.0, ""),
            (33, 23, None, 5.0, 0.0, ""), (34, 20, 30, 1.0, 0.0, "Blue"), (35, 24, None, 0.0, 0.0, ""),
        )  # fmt: skip
        fill(
            "AgLibraryKeyword", "id_local, name, keywordType, parent",
            (40, None, None, None), (41, "sea", None, 40), (42, "Ana", "person", 40), (43, "dog", None, 40),
        )  # fmt: skip
        fill("AgLibraryKeywordImage", "image, tag", (30, 41), (30, 42), (34, 43), (34, 41), (31, 43))
        fill(
            "AgLibraryCollection", "id_local, name, creationId, systemOnly",
            (50, "Best of 2021", OWN, ""), (51, "quick collection", OWN, "1.0"), (52, "Travel", SET, ""),
            (53, "Prints", OWN, 0.0),
        )  # fmt: skip
        fill("AgLibraryCollectionImage", "collection, image", (50, 30), (51, 30), (53, 34), (50, 31))
    database.close()
    return path


def test_stars_flags_labels_keywords_and_collections(catalogue: Path, tmp_path: Path) -> None:
    before = catalogue.read_bytes()
    said = {Path(name).name: values for name, values in read_catalogue(catalogue)}
    assert said["a.jpg"] == {
        "keywords": ["dog", "sea"], "people": ["Ana"], "album": ["Best of 2021", "Prints"],
        "rating": 4, "pick": "picked", "label": "red",
    }  # fmt: skip
    assert said["b.NEF"] == {"keywords": ["dog"], "album": ["Best of 2021"], "pick": "rejected"}
    assert repr(said["c.jpg"]["rating"]) == "0", "one value among the stars, not 0.0 beside 0"
    assert said["gone.jpg"] == {"rating": 5} == said["far.jpg"]
    assert catalogue.read_bytes() == before and not list(tmp_path.glob("*.lrcat-*")), "it is only read"


def test_filters_know_what_a_catalogue_says(catalogue: Path, draw: Draw, tmp_path: Path) -> None:
    draw("a.jpg", 1)
    draw("été/b.jpg", 2)  # Lightroom names the RAW of the pair.
    draw("c.jpg", 3)
    (tmp_path / "photos" / "été" / "b.NEF").write_bytes(b"RAW")
    found = scan(tmp_path / "photos", metadata=catalogue, workspace=tmp_path / "ws")
    assert found.pictures == 3
    assert found.warnings["unmatched metadata"] == 1, "gone.jpg; the other drive was not scanned"
    assert "3 new, metadata for 3 pictures in" in str(found)
    assert "nothing changed in" in str(scan(tmp_path / "photos", metadata=catalogue, workspace=tmp_path / "ws"))

    def chosen(where: str) -> list[str]:
        return filtered(tmp_path / "ws", where)

    assert chosen("rating >= 4") == ["a.jpg"] == chosen("label:red") == chosen("people:Ana")
    assert chosen('album:"Best of 2021"') == ["a.jpg", "été/b.jpg"] == chosen("tag:dog")
    assert chosen("pick:rejected") == ["été/b.jpg"]


def test_keywords_of_the_file_stay(catalogue: Path, draw: Draw, tmp_path: Path) -> None:
    draw("a.jpg", 1)
    (tmp_path / "photos" / "a.jpg.xmp").write_text(
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:subject><rdf:Bag><rdf:li>beach</rdf:li>'
        "</rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>"
    )
    for _ in range(2):
        scan(tmp_path / "photos", metadata=catalogue, workspace=tmp_path / "ws")
        (picture,) = open_corpus(tmp_path / "ws").pictures.values()
        assert picture.extra["keywords"] == ["beach", "dog", "sea"]


def test_what_is_no_catalogue(draw: Draw, tmp_path: Path) -> None:
    draw("a.jpg")
    (tmp_path / "text.lrcat").write_text("no database")
    sqlite3.connect(tmp_path / "empty.lrcat").close()
    for name in ("text.lrcat", "empty.lrcat"):
        with pytest.raises(UserError, match="can't be read as a Lightroom Classic catalogue"):
            scan(tmp_path / "photos", metadata=tmp_path / name, workspace=tmp_path / "ws")
