"""A damaged corpus is never an empty or another answer, but an error with its fix; a scan makes it anew."""

from __future__ import annotations

import logging
import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from PIL import Image

import sightline
from sightline.corpus.schema import FILE_NAME, DamagedCorpusError
from sightline.corpus.view import open_corpus
from sightline.errors import UserError
from sightline.types import Picture

COUNT = 12


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("scanned")
    (place / "pictures").mkdir()
    for number in range(COUNT):
        Image.new("RGB", (32, 24), (20 * number, 10, 200)).save(place / "pictures" / f"{number}.png")
    sightline.scan(place / "pictures", workspace=place / "ws")
    return place


@pytest.fixture
def place(scanned: Path, tmp_path: Path) -> Path:
    shutil.copytree(scanned / "ws", tmp_path / "ws")
    return tmp_path


def known(workspace: Path) -> dict[str, Picture]:
    return {picture.id: picture for picture in open_corpus(workspace).pictures.values()}


@pytest.mark.parametrize("seed", range(40))
def test_one_flipped_bit_is_an_error_with_its_fix_or_changes_nothing(scanned: Path, place: Path, seed: int) -> None:
    path, rng = place / "ws" / FILE_NAME, random.Random(seed)
    truth, data = known(scanned / "ws"), bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    try:
        found = known(place / "ws")
    except (DamagedCorpusError, UserError) as error:
        assert error.fix
    except sqlite3.DatabaseError:
        pytest.fail("an error of SQLite reached the user")
    else:
        assert found == truth
    if path.read_bytes()[:6] == b"SQLite":  # Else it may be anything, and is left as it is.
        sightline.scan(scanned / "pictures", workspace=place / "ws")
        assert known(place / "ws") == truth, "a scan makes it what it was"


def test_an_empty_or_cut_off_corpus_is_no_corpus_of_nothing(
    scanned: Path, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for size in (0, 100, 4096, 5000):
        path = place / "ws" / FILE_NAME
        path.write_bytes((scanned / "ws" / FILE_NAME).read_bytes()[:size])
        with pytest.raises(UserError) as error:
            known(place / "ws")
        assert "sightline scan" in (error.value.fix or "")
        with caplog.at_level(logging.WARNING):
            sightline.scan(scanned / "pictures", workspace=place / "ws")
        assert known(place / "ws") == known(scanned / "ws")
        assert "is what it was" in caplog.text
        for aside in (place / "ws").glob("corpus.damaged-*"):
            aside.unlink()


def test_a_changed_row_is_noticed_and_what_people_gave_is_kept(
    scanned: Path, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = place / "given.csv"
    table.write_text("id,device\n2.png,Rolleiflex\n3.png,Leica\n")
    sightline.scan(scanned / "pictures", workspace=place / "ws", metadata=table)
    assert known(place / "ws")["2.png"].device == "Rolleiflex"
    database = sqlite3.connect(place / "ws" / FILE_NAME)
    with database:
        database.execute("UPDATE pictures SET width = 33 WHERE id = '3.png'")
    database.close()
    with pytest.raises(DamagedCorpusError, match=r"3\.png"):
        known(place / "ws")
    with caplog.at_level(logging.WARNING):
        sightline.scan(scanned / "pictures", workspace=place / "ws")
    assert "made again" in caplog.text
    found = known(place / "ws")
    assert found["2.png"].device == "Rolleiflex" and found["3.png"] == known(scanned / "ws")["3.png"]


def test_rows_of_before_have_no_checksum_and_are_read(scanned: Path, place: Path) -> None:
    database = sqlite3.connect(place / "ws" / FILE_NAME)
    with database:
        database.execute("UPDATE pictures SET checksum = NULL")
    database.close()
    assert known(place / "ws") == known(scanned / "ws")
