"""What is said of a picture, and how sure it is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from pictures import pixels_in
from sightline.config.settings import AnnotateSettings
from sightline.errors import MissingExtraError, UserError
from sightline.models.photos.annotator import (
    CALIBRATION_FILE,
    UNKNOWN,
    Annotator,
    annotate,
    calibration,
    facet_shares,
    judge,
)
from sightline.models.photos.appearance import measure_appearance
from sightline.models.photos.embedder import Photos
from sightline.models.photos.ocr import WordReader, missing_modules

Photographs = dict[str, NDArray[np.uint8]]

SETTINGS = AnnotateSettings(
    vocabulary=("cat", "dog", "coffee", "motorcycle", "beach"),
    flags=("has_motorcycle", "has_snow"),
    taxonomy={"subject": ("animal", "vehicle", "food"), "weather": ("rain", "fog")},
)


def plain(colour: tuple[int, int, int]) -> NDArray[np.uint8]:
    return np.full((300, 300, 3), colour, np.uint8)


def test_tags_of_the_classes_without_a_vocabulary(photos: Photos, photographs: Photographs) -> None:
    (cup,) = annotate(photos, {"cup": photographs["coffee"]})
    assert cup.tags == ("espresso",) and cup.confidence["tag:espresso"] > 0.5
    assert cup.by == "builtin/photos" and cup.cost_usd == 0


def test_tags_facets_and_flags_of_a_vocabulary(photos: Photos, photographs: Photographs) -> None:
    pictures = {name: photographs[name] for name in ("cat", "coffee", "motorcycle")}
    cat, coffee, motorcycle = annotate(photos, pictures, SETTINGS)
    assert (cat.tags, coffee.tags, motorcycle.tags) == (("cat",), ("coffee",), ("motorcycle",))
    assert motorcycle.facets == {"subject": "vehicle", "weather": UNKNOWN}
    assert motorcycle.flags["has_motorcycle"] is True and cat.flags.get("has_motorcycle") is not True
    assert [found.picture_id for found in (cat, coffee, motorcycle)] == list(pictures)
    for found in (cat, coffee, motorcycle):
        assert found.confidence.keys() >= {"subject", "weather", "has_motorcycle", "has_snow"}
        assert all(0 <= chance <= 1 for chance in found.confidence.values())


def test_what_is_less_sure_than_the_threshold_is_unknown(photos: Photos, photographs: Photographs) -> None:
    (found,) = annotate(photos, {"x": photographs["motorcycle"]}, SETTINGS, threshold=0.999)
    assert found.tags == () and set(found.facets.values()) == {UNKNOWN} and found.flags == {}


def test_only_with_the_head(photographs: Photographs, photos: Photos) -> None:
    with pytest.raises(UserError, match="with its head only"):
        judge(Photos(head=False), "a cat", [photographs["cat"]])


def test_at_most_so_many_tags(photos: Photos, photographs: Photographs) -> None:
    many = AnnotateSettings(vocabulary=("cat", "kitten", "a cat", "tabby cat"), min_tags=1, max_tags=2)
    (found,) = Annotator(photos, many)({"x": photographs["cat"]})
    assert len(found.tags) == 2
    chances = [found.confidence[f"tag:{tag}"] for tag in found.tags]
    assert chances == sorted(chances, reverse=True)


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ((220, 20, 20), "red"),
        ((240, 150, 20), "orange"),
        ((240, 230, 30), "yellow"),
        ((20, 160, 40), "green"),
        ((30, 60, 220), "blue"),
        ((140, 30, 200), "purple"),
        ((250, 100, 180), "pink"),
        ((110, 65, 25), "brown"),
        ((10, 10, 10), "black"),
        ((250, 250, 250), "white"),
        ((128, 128, 128), "grey"),
    ],
)
def test_colours_by_name(colour: tuple[int, int, int], name: str) -> None:
    colours = measure_appearance(plain(colour)).colours
    assert next(iter(colours)) == name and colours[name] == 1
    assert sum(colours.values()) == pytest.approx(1, abs=0.01)


def test_light(photos: Photos) -> None:
    assert [measure_appearance(plain((level,) * 3)).light for level in (20, 120, 230)] == ["dark", "medium", "bright"]


def test_sharp_and_blurred(photographs: Photographs) -> None:
    sharp = Image.fromarray(photographs["cat"])
    assert measure_appearance(np.asarray(sharp)).sharp > 0.9
    assert measure_appearance(np.asarray(sharp.filter(ImageFilter.GaussianBlur(4)))).sharp < 0.1
    assert measure_appearance(plain((9, 9, 9))).sharp == 0


def test_chances_rise_with_similarity(photos: Photos) -> None:
    known = calibration()
    for curve in (known.word_curve, known.flag_curve, known.facet_curve, known.sentence_curve):
        assert (np.diff(curve) > 0).all() and curve[1].min() >= 0 and curve[1].max() <= 1
    assert 0 < known.base < 0.1 and known.mean.shape == (photos.dim,)


def test_fitted_for_the_vectors_that_are_made_today(photos: Photos) -> None:
    with np.load(CALIBRATION_FILE) as file:
        assert str(file["revision"]) == photos.revision, "run training/photos/calibrate.py again"


def test_evidence_of_one_says_nothing(photos: Photos, photographs: Photographs) -> None:
    known = calibration()
    texts, pictures = photos.texts(["cat"]), photos.pictures([photographs["cat"], photographs["motorcycle"]])
    chances, evidence = known.words(texts, pictures)[:, 0], known.evidence(texts, pictures)[:, 0]
    assert evidence[0] > 10 > 1 > evidence[1]
    assert chances / (1 - chances) == pytest.approx(evidence * known.base / (1 - known.base), rel=1e-3)


def test_facets_compete_with_each_other_and_with_none() -> None:
    shares = facet_shares(np.array([[8.0, 1.0], [0.1, 0.1], [30.0, 30.0]]))
    assert shares == pytest.approx(np.array([[0.8, 0.1], [1 / 12, 1 / 12], [30 / 61, 30 / 61]]))
    sure, nothing, torn = calibration().facets(shares)
    assert sure > 0.8 > torn > nothing


def test_flags_follow_what_the_captions_say(photos: Photos, flickr8k: Path) -> None:
    files = sorted((flickr8k / "sample").glob("*.jpg"))
    entries = map(json.loads, (flickr8k / "dev-captions.jsonl").read_text("utf-8").splitlines())
    said = {entry["file"]: " ".join(entry["captions"]).lower() for entry in entries}
    vectors = photos.pictures([pixels_in(path, photos.side) for path in files])
    for word in ("dog", "snow", "water", "ball"):
        chances = calibration().flags(photos.texts([word]), vectors)[:, 0]
        fits = np.array([word in said[file.name] for file in files])
        assert fits.any() and chances[fits].mean() > chances[~fits].mean() + 0.2


def test_people_are_not_counted(photos: Photos, photographs: Photographs) -> None:
    (found,) = annotate(photos, {"x": photographs["astronaut"]})
    assert found.extra["people"] == UNKNOWN


def test_a_weak_judge_says_that_it_is_weak(photos: Photos, photographs: Photographs) -> None:
    cat, rocket = judge(photos, "a cat looking at the camera", [photographs["cat"], photographs["rocket"]])
    assert cat.verdict == "relevant" and rocket.verdict == "not relevant" and cat.chance > rocket.chance
    assert cat.weak and cat.by == "builtin/photos"


def sign(text: str) -> NDArray[np.uint8]:
    image = Image.new("RGB", (600, 200), "white")
    ImageDraw.Draw(image).text((40, 60), text, fill="black", font_size=72)
    return np.asarray(image)


@pytest.mark.slow
def test_words_on_a_sign_and_in_a_photograph(photos: Photos, photographs: Photographs) -> None:
    pytest.importorskip("rapidocr")
    pictures = {"sign": sign("OPEN DAILY"), "page": photographs["page"], "cat": photographs["cat"]}
    found = annotate(photos, pictures, words=WordReader())
    texts = {one.picture_id: " ".join(line["text"] for line in one.extra["words"]) for one in found}  # type: ignore
    assert texts["sign"] == "OPEN DAILY" and texts["cat"] == ""
    assert "segmentation" in texts["page"] and "markers of the coins" in texts["page"]


def test_without_a_reader_nothing_is_said_of_words(photos: Photos, photographs: Photographs) -> None:
    (found,) = annotate(photos, {"x": photographs["page"]})
    assert "words" not in found.extra


def test_words_without_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    assert "rapidocr" in missing_modules()
    with pytest.raises(MissingExtraError) as caught:
        WordReader()
    assert caught.value.fix == "pip install 'sightline[ocr]'"


def test_a_reader_that_cant_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where OpenCV lacks a library of the system."""
    (tmp_path / "rapidocr.py").write_text('raise ImportError("libGL.so.1: cannot open shared object file")')
    monkeypatch.delitem(sys.modules, "rapidocr", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match=r"can't be loaded: libGL\.so\.1") as caught:
        WordReader()
    assert "opencv-python-headless" in (caught.value.fix or "")
