"""COCO: captions, instances and split files in, captions out, and what the real pycocotools makes of them."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.formats.format_tools import benchmark_in, exporting, importing, picture_bytes, put, without_places
from sightline.benchmark.formats import FormatOptions
from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.types import Annotation, Benchmark, Corpus, Picture, Relevance, Rights, Task
from sightline.types.task_table import Tasks

CAPTIONS: dict[str, Any] = {
    "info": {"description": "COCO 2017 Dataset", "year": 2017},
    "licenses": [{"id": 4, "name": "Attribution License", "url": "http://creativecommons.org/licenses/by/2.0/"}],
    "images": [
        {
            "license": 4,
            "file_name": "000000397133.jpg",
            "coco_url": "http://images.cocodataset.org/val2017/000000397133.jpg",
            "height": 427,
            "width": 640,
            "date_captured": "2013-11-14 17:02:52",
            "flickr_url": "http://farm7.staticflickr.com/6116/6255196340_da26cf2c9e_z.jpg",
            "id": 397133,
        },
        {"file_name": "000000037777.jpg", "height": 230, "width": 352, "id": 37777},
    ],
    "annotations": [
        {"image_id": 397133, "id": 370509, "caption": "A man is in a kitchen making pizzas.\n"},
        {"image_id": 397133, "id": 372273, "caption": "A baker is working in the kitchen."},
        {"image_id": 37777, "id": 590410, "caption": "The dining table near the kitchen."},
    ],
}


def coco(folder: Path, content: Any, name: str = "annotations/captions_val2017.json") -> Path:
    return put(folder / name, json.dumps(content))


def changed(**lists: Any) -> dict[str, Any]:
    return {**CAPTIONS, **lists}


# --- in ----------------------------------------------------------------------------------------------------


def test_each_caption_is_a_task_that_looks_for_its_picture(tmp_path: Path) -> None:
    found = benchmark_in("coco", coco(tmp_path, CAPTIONS))
    assert found.name == "captions_val2017"
    assert {name: task.text for name, task in found.tasks.items()} == {
        "370509": "A man is in a kitchen making pizzas.",
        "372273": "A baker is working in the kitchen.",
        "590410": "The dining table near the kitchen.",
    }
    assert found.truth["372273"] == Relevance({"397133": 1})
    assert found.tasks["370509"].labels == {"split": ("val",)}


def test_pictures_have_their_size_licence_and_source(tmp_path: Path) -> None:
    pictures = benchmark_in("coco", coco(tmp_path, CAPTIONS)).corpus.pictures
    first = pictures["397133"]
    assert (first.width, first.height) == (640, 427)
    assert first.rights == Rights("Attribution License", source=CAPTIONS["images"][0]["flickr_url"])
    assert first.extra["coco_url"] == CAPTIONS["images"][0]["coco_url"]
    assert first.extra["license_url"] == CAPTIONS["licenses"][0]["url"]
    assert pictures["37777"].rights == Rights() and pictures["37777"].extra == {}


@pytest.mark.parametrize("folder", ["annotations", "annotations/images", "images", ".", "val2017"])
def test_pictures_are_found_in_the_usual_places(tmp_path: Path, folder: str) -> None:
    file = put(tmp_path / folder / "000000397133.jpg", picture_bytes())
    found = benchmark_in("coco", coco(tmp_path, CAPTIONS))
    place = picture_path(found.corpus.pictures["397133"].uri, Path())
    assert place is not None and place.samefile(file)


def test_instances_become_tags(tmp_path: Path) -> None:
    annotations = [
        {"id": 1, "image_id": 37777, "category_id": 67, "bbox": [1, 2, 3, 4], "area": 9, "iscrowd": 0},
        {"id": 2, "image_id": 37777, "category_id": 62, "bbox": [1, 2, 3, 4]},
        {"id": 3, "image_id": 37777, "category_id": 67, "segmentation": []},
    ]
    categories = [{"id": 67, "name": "dining table", "supercategory": "furniture"}, {"id": 62, "name": "chair"}]
    content = changed(annotations=annotations, categories=categories)
    found = benchmark_in("coco", coco(tmp_path, content, "instances_train2017.json"))
    assert found.annotations == (Annotation("37777", tags=("dining table", "chair"), by="coco"),)
    assert found.tasks == {} and len(found.corpus.pictures) == 2


def test_split_files_with_sentences_are_read(tmp_path: Path) -> None:
    def image(number: int, split: str, *texts: str) -> dict[str, Any]:
        sentences = [{"raw": text, "sentid": 10 * number + place, "tokens": []} for place, text in enumerate(texts)]
        names = {"filepath": "val2014", "filename": f"{number}.jpg", "cocoid": number, "imgid": 0}
        return {**names, "split": split, "sentences": sentences, "sentids": []}

    content = {"dataset": "coco", "images": [image(7, "test", "a dog", "one dog"), image(8, "restval", "a cat")]}
    file = coco(tmp_path, content, "dataset_coco.json")
    found = benchmark_in("coco", file)
    assert {name: (task.text, task.labels["split"]) for name, task in found.tasks.items()} == {
        "70": ("a dog", ("test",)),
        "71": ("one dog", ("test",)),
        "80": ("a cat", ("restval",)),
    }
    assert found.corpus.pictures["8"].uri.endswith("/val2014/8.jpg")
    tests = benchmark_in("coco", file, FormatOptions(split="test"))
    assert set(tests.corpus.pictures) == {"7"} and set(tests.tasks) == {"70", "71"}
    with pytest.raises(UserError, match='no split "val"') as caught:
        importing("coco", file, FormatOptions(split="val"))
    assert caught.value.fix == "choose from: test, restval"


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"annotations": [{"id": 1, "image_id": 5, "caption": "x"}]}, 'annotations.0.image_id: "5" is not among'),
        ({"annotations": [{"id": 1, "image_id": 37777, "caption": 5}]}, "annotations.0.caption: expected text, got 5"),
        ({"annotations": [{"id": 1, "image_id": 37777}]}, "annotations.0.caption: expected a caption, or a category"),
        ({"annotations": [{"image_id": 37777, "caption": "x"}]}, "annotations.0.id: expected an id"),
        ({"annotations": CAPTIONS["annotations"][:1] * 2}, 'annotations.1.id: "370509" is there twice'),
        ({"images": [*CAPTIONS["images"], {"id": 37777}]}, 'images.2.id: "37777" is there twice'),
        ({"images": [*CAPTIONS["images"], {"file_name": "x.jpg"}]}, "images.2.id: expected an id"),
        ({"images": [*CAPTIONS["images"], {"id": 1, "file_name": "../x.jpg"}]}, "images.2.file_name: expected a path"),
    ],
)
def test_a_wrong_entry_is_refused_or_left_out(tmp_path: Path, lists: dict[str, Any], message: str) -> None:
    file = coco(tmp_path, changed(**lists))
    with pytest.raises(ProblemsError) as caught:
        importing("coco", file)
    assert f"captions_val2017.json, {message}" in str(caught.value)
    imported = importing("coco", file, FormatOptions(keep_going=True))
    assert len(imported.problems) == 1 and isinstance(imported.content, Benchmark)
    assert len(imported.content.corpus.pictures) == 2


@pytest.mark.parametrize(
    "content", [[], {}, {"images": []}, {"images": [1]}, {"images": [{"id": 1}], "annotations": 5}]
)
def test_another_document_is_refused(tmp_path: Path, content: Any) -> None:
    with pytest.raises(UserError):
        importing("coco", coco(tmp_path, content))


def test_the_same_caption_of_two_pictures_is_pointed_out(tmp_path: Path) -> None:
    same = [{"id": place, "image_id": image, "caption": "A man."} for place, image in enumerate((397133, 37777))]
    (warning,) = importing("coco", coco(tmp_path, changed(annotations=same))).warnings
    assert "1 caption is said of several pictures" in warning


# --- out and back ------------------------------------------------------------------------------------------


def test_what_came_from_coco_goes_back_as_it_was(tmp_path: Path) -> None:
    found = benchmark_in("coco", coco(tmp_path, CAPTIONS))
    written = json.loads(exporting("coco", found, tmp_path / "out.json").read_text())
    assert [annotation["id"] for annotation in written["annotations"]] == [370509, 372273, 590410]
    for ours, theirs in zip(written["images"], CAPTIONS["images"], strict=True):
        assert theirs.items() - {"license": 4}.items() <= ours.items()
    assert written["licenses"] == [{**CAPTIONS["licenses"][0], "id": 1}]
    assert without_places(benchmark_in("coco", coco(tmp_path, written))) == without_places(found)


def test_captions_of_any_benchmark_come_back(
    sampled: Benchmark, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    captions = {name for name, task in sampled.tasks.items() if task.kind == "rank" and not task.pictures and task.text}
    file = exporting("coco", sampled, tmp_path / "out.json")
    assert f"left out: {len(sampled.tasks) - len(captions)} tasks that are not captions" in caplog.text
    root = picture_path(sampled.corpus.pictures["ana/2023/02/LUM_1044.jpg"].uri, Path())
    assert root is not None
    elsewhere = exporting("coco", sampled, tmp_path / "again.json", FormatOptions(pictures=tmp_path))
    assert elsewhere.read_bytes() == file.read_bytes()
    found = benchmark_in("coco", file, FormatOptions(pictures=root.parents[3]))
    assert found.corpus.pictures == sampled.corpus.pictures
    for name, task in found.tasks.items():
        assert task == replace(sampled.tasks[name], labels={})
        truth = sampled.truth[name]
        assert isinstance(truth, Relevance)
        assert found.truth[name] == Relevance({picture: grade for picture, grade in truth.grades.items() if grade})
    assert set(found.tasks) == captions


def test_a_picture_elsewhere_keeps_its_address(tmp_path: Path) -> None:
    pictures = {"x y": Picture("x y", "https://example.org/a/b.jpg?size=1")}
    made = Benchmark("b", Corpus("b", pictures), {"1": Task("1", "rank", ("t",))}, {"1": Relevance({"x y": 2})})
    (image,) = json.loads(exporting("coco", made, tmp_path / "out.json").read_text())["images"]
    assert image == {"id": 1, "picture": "x y", "file_name": "b.jpg", "coco_url": pictures["x y"].uri}


def test_a_benchmark_without_captions_is_refused(sampled: Benchmark, tmp_path: Path) -> None:
    few = {name: task for name, task in sampled.tasks.items() if task.kind == "answer"}
    with pytest.raises(UserError, match="has no caption"):
        exporting("coco", replace(sampled, tasks=Tasks(few)), tmp_path / "out.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_real_loader_reads_ours(sampled: Benchmark, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    loader = pytest.importorskip("pycocotools.coco", reason="the interop extra has the real loader")
    caplog.set_level(logging.ERROR)
    index = loader.COCO(str(exporting("coco", sampled, tmp_path / "out.json")))
    assert len(index.imgs) == len(sampled.corpus.pictures)
    image = next(image for image in index.loadImgs(index.getImgIds()) if index.getAnnIds(imgIds=[image["id"]]))
    texts = {annotation["caption"] for annotation in index.loadAnns(index.getAnnIds(imgIds=[image["id"]]))}
    expected = set()
    for name, truth in sampled.truth.items():
        if isinstance(truth, Relevance) and not sampled.tasks[name].pictures and truth.grades.get(image["picture"]):
            expected.add(sampled.tasks[name].text)
    assert texts == expected
