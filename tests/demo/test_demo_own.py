"""The demo on one's own pictures: real photographs, looked at, searched, and shown without where they were taken."""

from __future__ import annotations

import base64
import io
import re
import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sightline.demo.page import OwnDemo, run_own_demo
from sightline.demo.vision import DemoQuery, RecognizedPicture, Thumbnails, queries, read_pixels
from sightline.errors import UserError
from sightline.models.photos.weights import CLASSIFIER, ENCODER
from sightline.types import Failure, Picture

NAMES = ("chelsea.png", "coffee.png", "motorcycle_left.png", "page.png")


@pytest.fixture(scope="module")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four photographs, one of them twice, one with a place, and a file that is none."""
    skimage = pytest.importorskip("skimage")
    for name in ("onnxruntime", "tokenizers", CLASSIFIER.package.name, ENCODER.package.name):
        try:
            distribution(name)
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed")
    folder = tmp_path_factory.mktemp("my pictures")
    for name in NAMES:
        shutil.copy(Path(skimage.__file__).parent / "data" / name, folder)
    shutil.copy(folder / "chelsea.png", folder / "the same <cat>.png")
    (folder / "empty.jpg").write_bytes(b"")
    rocket = Image.open(Path(skimage.__file__).parent / "data" / "rocket.jpg")
    exif = Image.Exif()
    exif.get_ifd(0x8825).update({1: "N", 2: (28.0, 36.0, 29.16), 3: "W", 4: (80.0, 36.0, 15.84)})
    exif.get_ifd(0x8769)[0x9003] = "2013:06:14 10:00:00"
    rocket.save(folder / "rocket.jpg", exif=exif)
    return folder


@pytest.fixture(scope="module")
def made(photographs: Path, tmp_path_factory: pytest.TempPathFactory) -> OwnDemo:
    out = tmp_path_factory.mktemp("out")
    return run_own_demo(out / "demo", photographs, workspace=out / "ws")


@pytest.fixture
def no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """As without the extra `ocr`, whose reader takes a second for each picture."""
    monkeypatch.setattr("sightline.demo.vision.missing_modules", lambda: ["rapidocr"])


def test_words_are_read_where_the_reader_is_there(made: OwnDemo) -> None:
    pytest.importorskip("rapidocr")
    words = {one.picture.id: " ".join(one.words) for one in made.found.seen}
    assert made.found.reads_words and "segmentation" in words["page.png"] and words["chelsea.png"] == ""


def test_what_is_seen_is_searched_for_and_found(made: OwnDemo) -> None:
    seen = {one.picture.id: one for one in made.found.seen}
    assert "cat" in seen["chelsea.png"].tags and "espresso" in seen["coffee.png"].tags
    assert "the same <cat>.png" not in seen, "a copy is looked at once"
    assert all(chance >= 0.5 for one in made.found.seen for chance in one.tags.values())
    assert all(0.25 <= chance < 0.5 for one in made.found.seen for chance in one.guesses.values())
    for query, found in made.found.searches:
        if query.seen_in is not None:
            assert query.text in seen[query.seen_in].tags
            assert query.seen_in in [hit.picture.id for hit in found.hits[:2]]
        assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    assert made.found.scanned.pictures == 6 and dict(made.found.scanned.skipped) == {"empty": 1}
    assert [set(group.pictures) for group in made.found.groups if group.kind == "duplicate"] == [
        {"chelsea.png", "the same <cat>.png"}
    ]


def test_the_page_holds_everything_but_places(made: OwnDemo, photographs: Path) -> None:
    page = made.page.read_text("utf-8")
    images = re.findall(r'<img src="data:image/jpeg;base64,([^"]+)"', page)
    assert len(images) >= 6
    for image in images:
        opened = Image.open(io.BytesIO(base64.b64decode(image)))
        assert max(opened.size) <= 320 and not opened.getexif()
    text = re.sub(r"base64,[^\"]+", "", page)
    assert "the same &lt;cat&gt;.png" in text and "<script" not in text
    assert "28.6" not in text and "80.6" not in text, "no place"
    assert not re.search(r'(?:src|href)="(?!data:|#)', text), "nothing is loaded from elsewhere"
    assert "seen here" in text and "score 0." in text and "1 empty" in text
    assert "28.6" not in str(made.found.to_dict())


@pytest.mark.usefixtures("no_words")
def test_a_second_time_only_the_page_is_made(made: OwnDemo, photographs: Path) -> None:
    again = run_own_demo(made.page.parent, photographs, workspace=made.workspace)
    assert again.found.searches[0][1].embedded == 0
    assert [query for query, _ in again.found.searches] == [query for query, _ in made.found.searches]


@pytest.mark.usefixtures("no_words")
def test_another_folder_of_the_workspace_is_not_counted(made: OwnDemo, photographs: Path, tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    shutil.copy(photographs / "coffee.png", tmp_path / "others")
    other = run_own_demo(made.page.parent, tmp_path / "others", workspace=made.workspace)
    scanned = other.found.scanned
    assert scanned.pictures == 1 and other.workspace == made.workspace
    assert (scanned.duplicates, scanned.skipped, other.found.groups) == (0, {}, ())
    assert len({hit.picture.id for _, results in other.found.searches for hit in results.hits}) == 1


@pytest.mark.usefixtures("no_words")
def test_as_many_as_asked_for(photographs: Path, tmp_path: Path) -> None:
    (tmp_path / "three").mkdir()
    for name in NAMES[:3]:
        shutil.copy(photographs / name, tmp_path / "three" / name)
    made = run_own_demo(tmp_path / "demo", tmp_path / "three", limit=2)
    page = made.page.read_text("utf-8")
    assert made.found.scanned.pictures == 2 and "Only the first 2 files" in page
    assert "pip install &#x27;sightline[ocr]&#x27;" in page and made.found.to_dict()["seen"][0]["words"] is None


def test_a_folder_that_shows_nothing(photographs: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(UserError, match=r"holds no picture that can be read\."):
        run_own_demo(tmp_path / "demo", tmp_path / "none")
    (tmp_path / "none" / "a.jpg").write_bytes(b"")
    with pytest.raises(UserError, match=r"\(1 empty\)"):
        run_own_demo(tmp_path / "demo", tmp_path / "none")


def test_places_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no folder") as caught:
        run_own_demo(tmp_path / "demo", tmp_path / "nowhere")
    assert "--pictures" in (caught.value.fix or "")
    with pytest.raises(UserError, match="nothing is ever written") as caught:
        run_own_demo(tmp_path / "demo", tmp_path)
    assert "--out" in (caught.value.fix or "") and not (tmp_path / "demo").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("")
    (tmp_path / "pictures").mkdir()
    with pytest.raises(UserError, match="holds other things"):
        run_own_demo(tmp_path / "mine", tmp_path / "pictures")


def seen(id_: str, **tags: float) -> RecognizedPicture:
    return RecognizedPicture(Picture(id_, f"file:///{id_}"), tags, {}, (), "medium", "sharp", ())


def test_queries_are_the_surest_names_of_different_pictures() -> None:
    found = queries([seen("a", dog=0.6, grass=0.55), seen("b", dog=0.9), seen("c", cat=0.7), seen("d")])
    assert found[:3] == [DemoQuery("dog", "b", 0.9), DemoQuery("cat", "c", 0.7), DemoQuery("grass", "a", 0.55)]


def test_plain_queries_where_too_little_was_named() -> None:
    assert [query.seen_in for query in queries([seen("a")])] == [None] * 3
    assert [query.seen_in for query in queries([seen("a", dog=0.9)])] == ["a", None, None]


def test_pixels_are_upright_and_small(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (4000, 2000), "red").save(tmp_path / "turned.jpg", exif=exif)
    picture = Picture("turned.jpg", (tmp_path / "turned.jpg").as_uri())
    pixels, shown = read_pixels(picture), Thumbnails()(picture)
    assert not isinstance(pixels, Failure) and pixels.shape == (1280, 640, 3)
    assert shown is not None
    small = Image.open(io.BytesIO(base64.b64decode(shown.partition(",")[2])))
    assert small.size == (120, 240)


@pytest.mark.usefixtures("no_words")
def test_pictures_that_vanish_are_counted(photographs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Failure("bad-picture", "gone", retryable=False)
    monkeypatch.setattr("sightline.demo.vision.read_pixels", lambda one: gone)
    made = run_own_demo(tmp_path / "demo", photographs)
    assert made.found.unread == 5 and made.found.seen == () and not made.found.limited
    assert "5 pictures could be scanned, and then not be read" in made.page.read_text("utf-8")


@pytest.mark.parametrize("content", [b"", b"no picture", None])
def test_what_gives_no_pixels_is_a_failure(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "x.jpg"
    if content is not None:
        path.write_bytes(content)
    found = read_pixels(Picture("x.jpg", path.as_uri()))
    assert isinstance(found, Failure) and found.kind == "bad-picture"


def test_a_picture_of_one_line(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((1, 5000, 3), np.uint8)).save(tmp_path / "line.png")
    picture = Picture("line.png", (tmp_path / "line.png").as_uri())
    pixels = read_pixels(picture)
    assert not isinstance(pixels, Failure) and pixels.shape == (1, 1280, 3)
    assert Thumbnails()(picture)
