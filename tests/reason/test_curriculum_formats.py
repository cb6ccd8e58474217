"""What is written for each tool: its fields, the order, the pictures, and a README that keeps the order."""

from __future__ import annotations

import json
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from reason.curriculum_tools import STEPS, drawn, lines, question, written
from sightline.io.jsonl import read_json
from sightline.metrics.steps.split import split_steps
from sightline.reason.curriculum.compiler import curriculum
from sightline.reason.curriculum.formats import FORMATS
from sightline.reason.curriculum.lessons import lesson_of
from sightline.reason.train.records import read_records, read_stages
from sightline.types import Box, Choice, PictureRef, Step


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One curriculum in each format."""
    root = tmp_path_factory.mktemp("curricula")
    drawn(root / "bench", 36)
    for name in FORMATS:
        curriculum(root / "bench", "mir", root / name, format=name, seed=2)
    return root


@pytest.fixture(scope="module")
def records(folders: Path) -> list[dict[str, Any]]:
    """All records in the order of the training, in our own format."""
    stages = read_json(folders / "sightline/stages.json")
    return [row for stage in stages for row in lines(folders / "sightline" / stage["file"])]


def texts(records: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["messages"][0]["content"], row["messages"][1]["content"]) for row in records]


def test_our_own_is_as_agreed_with_the_trainer(folders: Path, records: list[dict[str, Any]]) -> None:
    stages = read_json(folders / "sightline/stages.json")
    assert [stage["name"] for stage in stages] == ["easy", *(f"stage-{n}" for n in range(1, 6))]
    assert set(stages[0]) == {"name", "phase", "file", "records", "tokens"}
    for stage in stages:
        rows = lines(folders / "sightline" / stage["file"])
        assert len(rows) == stage["records"]
        assert sum(sum(row["tokens"].values()) for row in rows) == stage["tokens"]
        assert {row["stage"] for row in rows} == {stage["name"]}
    assert [row["order"] for row in records] == list(range(1, len(records) + 1))
    assert len({row["id"] for row in records}) == len(records)
    for row in records:
        user, assistant = row["messages"]
        assert (user["role"], assistant["role"]) == ("user", "assistant")
        assert user["content"].count("<image>") == len(row["images"])
        assert row["target_chars"] == len(assistant["content"])
        assert row["answer"] in row["options"]
        assert all(f"\n{key}. {text}" in user["content"] for key, text in row["options"].items())
        assert all((folders / "sightline" / image).is_file() for image in row["images"])


def test_the_trainer_reads_every_record(folders: Path, records: list[dict[str, Any]]) -> None:
    stages = read_stages(folders / "sightline")
    assert [stage.name for stage in stages] == list(dict.fromkeys(row["stage"] for row in records))
    read = [record for stage in stages for record in read_records(stage.file)]
    assert [(record.id, record.target) for record in read] == [
        (row["id"], row["messages"][1]["content"]) for row in records
    ]


def test_targets_read_back_as_their_steps(records: list[dict[str, Any]]) -> None:
    for row in records:
        kinds = [step.kind for step in split_steps(row["messages"][1]["content"])]
        assert list(dict.fromkeys(kinds)) == row["target"]
        assert kinds.count("caption") in (0, len(set(row["images"])))


@pytest.mark.parametrize("name", ["ms-swift", "llama-factory"])
def test_messages_in_order(folders: Path, records: list[dict[str, Any]], name: str) -> None:
    rows = lines(folders / name / "train.jsonl")
    assert texts(rows) == texts(records)
    assert [row["images"] for row in rows] == [row["images"] for row in records]
    assert all((folders / name / image).is_file() for row in rows for image in row["images"])


def test_stages_say_where_they_begin(folders: Path) -> None:
    stages = read_json(folders / "ms-swift/stages.json")
    for before, after in pairwise(stages):
        assert after["first_line"] == before["first_line"] + before["records"]


def test_sharegpt(folders: Path, records: list[dict[str, Any]]) -> None:
    rows = lines(folders / "sharegpt/train.jsonl")
    said = [[turn["from"] for turn in row["conversations"]] for row in rows]
    assert said == [["human", "gpt"]] * len(rows)
    assert [tuple(turn["value"] for turn in row["conversations"]) for row in rows] == texts(records)


def test_llava_has_a_list_for_each_stage(folders: Path, records: list[dict[str, Any]]) -> None:
    rows = [
        row
        for stage in read_json(folders / "llava/stages.json")
        for row in read_json(folders / "llava" / stage["file"])
    ]
    assert [tuple(turn["value"] for turn in row["conversations"]) for row in rows] == texts(records)
    assert [row["image"] for row in rows] == [row["images"] for row in records]
    assert "for stage in 01-easy 02-stage-1" in (folders / "llava/README.md").read_text()


def test_trl_puts_pictures_between_the_words(folders: Path, records: list[dict[str, Any]]) -> None:
    def text(content: list[dict[str, str]]) -> str:
        return "".join(part["text"] if part["type"] == "text" else "<image>" for part in content)

    rows = lines(folders / "trl/train.jsonl")
    found = [(text(row["prompt"][0]["content"]), text(row["completion"][0]["content"])) for row in rows]
    assert found == texts(records)
    whole = lines(folders / "trl/messages.jsonl")
    assert [row["messages"] for row in whole] == [[*row["prompt"], *row["completion"]] for row in rows]


def test_trls_stepwise_is_wrong_only_where_it_says_so(folders: Path, records: list[dict[str, Any]]) -> None:
    rows = lines(folders / "trl/stepwise.jsonl")
    answers = {row["images"][0]: row["answer"] for row in records}
    assert len(rows) == 2 * len({row["task"] for row in records})
    for right, wrong in zip(rows[::2], rows[1::2], strict=True):
        assert right["prompt"] == wrong["prompt"]
        assert right["completions"][:-1] == wrong["completions"][:-1]
        assert all(right["labels"]) and wrong["labels"] == [*right["labels"][:-1], False]
        assert right["completions"][-1] == f"Conclusion: The answer is {answers[right['images'][0]]}."
        assert wrong["completions"][-1] != right["completions"][-1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ms-swift", "--dataset_shuffle false --train_dataloader_shuffle false"),
        ("sharegpt", "--dataset_shuffle false --train_dataloader_shuffle false"),
        ("llama-factory", "llamafactory-cli train train.yaml"),
        ("trl", 'train_sampling_strategy="sequential"'),
        ("sightline", "sightline train ."),
    ],
)
def test_readmes_have_a_command_that_keeps_the_order(folders: Path, name: str, said: str) -> None:
    assert said in (folders / name / "README.md").read_text()


def test_llama_factory_finds_its_data(folders: Path) -> None:
    folder = folders / "llama-factory"
    config = dict(line.split(": ", 1) for line in (folder / "train.yaml").read_text().splitlines())
    entry = read_json(folder / "dataset_info.json")[config["dataset"]]
    assert config["disable_shuffling"] == "true"
    assert (folder / entry["file_name"]).is_file()
    assert set(entry["columns"].values()) == {"messages", "images"}


def test_every_folder_has_its_plan_and_its_proof(folders: Path) -> None:
    for name in FORMATS:
        plan, proof = read_json(folders / name / "plan.json"), read_json(folders / name / "proof.json")
        assert plan["plan"]["name"] == "mir"
        assert plan["seed"] == 2
        assert proof["proved"] == proof["records"] == plan["records"]


def test_no_plan_and_no_format_is_forgotten_in_the_package() -> None:
    import sightline.reason.curriculum.plan as module

    found = {path.stem for path in (Path(module.__file__).parent / "plans").glob("*.toml")}
    assert found == set(module.SHIPPED)
    for name in found:
        assert tomllib.loads((Path(module.__file__).parent / "plans" / f"{name}.toml").read_text())["name"] == name


def test_pictures_are_copied_linked_or_left(tmp_path: Path) -> None:
    bench = written(tmp_path / "b", [question("q1"), question("../q2")])
    for how in ("copy", "link", "leave"):
        curriculum(bench, "plain", tmp_path / how, pictures=how)
        rows = lines(tmp_path / how / "01-plain.jsonl")
        assert all((tmp_path / how / image).is_file() for row in rows for image in row["images"])
        assert (tmp_path / how / "pictures").is_dir() == (how != "leave")
    first = lines(tmp_path / "link/01-plain.jsonl")
    linked = next(tmp_path / "link" / row["images"][0] for row in first if row["task"] == "q1")
    assert linked.stat().st_nlink == 2
    assert all(".." not in image for row in lines(tmp_path / "copy/01-plain.jsonl") for image in row["images"])


@pytest.mark.parametrize("names", [("q1.png", "q1.png/2.png"), ("q1", "q1/2"), (f"{'n' * 300}.png", "ü" * 200)])
def test_pictures_whose_names_no_folder_can_hold_get_others(tmp_path: Path, names: tuple[str, str]) -> None:
    folder = written(tmp_path / "b", [question("q1")])
    for file in ("pictures.jsonl", "tasks.jsonl"):
        text = (folder / file).read_text()
        for old, new in zip(("q1/1.png", "q1/2.png"), names, strict=True):
            text = text.replace(f'"id":"{old}"', f'"id":"{new}"').replace(f'"picture":"{old}"', f'"picture":"{new}"')
        (folder / file).write_text(text)
    curriculum(folder, "plain", tmp_path / "out")
    (row,) = lines(tmp_path / "out/01-plain.jsonl")
    copies = [(tmp_path / "out" / image).read_bytes() for image in row["images"]]
    assert copies == [(folder / f"pictures/q1/{number}.png").read_bytes() for number in (1, 2)]


@pytest.mark.parametrize("how", ["copy", "link"])
def test_pictures_come_as_models_were_shown_them(tmp_path: Path, how: Any) -> None:
    bench = written(tmp_path / "b", [question("q1"), question("q2")])
    names = ("q1/1.png", "q1/2.png", "q2/1.png", "q2/2.png")
    turned, clear, deep, plain = (bench / "pictures" / name for name in names)
    halves = Image.new("RGB", (64, 48), "red")
    halves.paste("blue", (0, 0, 32, 48))
    exif = Image.Exif()
    exif[0x0112] = 6
    halves.save(turned, "JPEG", quality=95, exif=exif)
    Image.new("RGBA", (64, 48), (0, 0, 0, 0)).save(clear)
    Image.fromarray(np.full((48, 64), 0x8000, np.uint16)).save(deep)
    curriculum(bench, "plain", tmp_path / "out", pictures=how)
    seen = {}
    for file, called in ((turned, "q1/1.png.jpg"), (clear, "q1/2.png"), (deep, "q2/1.png")):
        with Image.open(tmp_path / "out/pictures" / called) as image:
            assert image.mode == "RGB" and image.getexif().get(0x0112, 1) == 1
            seen[file] = image.copy()
    assert seen[turned].size == (48, 64)
    assert np.allclose(np.asarray(seen[turned])[5, 24], (0, 0, 255), atol=8)
    assert seen[clear].getpixel((9, 9)) == (255, 255, 255)
    assert np.allclose(np.asarray(seen[deep])[9, 9], 128, atol=1)
    assert (tmp_path / "out/pictures/q2/2.png").read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("how", ["copy", "link"])
def test_a_copy_has_the_ending_of_what_it_is(tmp_path: Path, how: Any) -> None:
    names = {  # What each is called, what it is, and what its copy is called.
        "a.jpg": ("PNG", "a.jpg.png"),
        "a.png": ("PNG", "a.png"),
        "b.JPEG": ("JPEG", "b.JPEG"),
        "b.tiff": ("TIFF", "b.tiff"),
        "c.v2": ("WEBP", "c.v2.webp"),
        "d/none": ("GIF", "d/none.gif"),
        "e.tif": ("TIFF", "e.tif.png"),  # Transparent, and so drawn anew, which is not done as TIFF.
        "f.png": ("BMP", "f.png.bmp"),
    }
    tasks = [question("q", prompt=(*map(PictureRef, names), "What has gone?"))]
    bench = written(tmp_path / "b", tasks, STEPS[:1] + STEPS[-1:])
    for name, (format_, _) in names.items():
        mode = "RGBA" if name == "e.tif" else "RGB"
        Image.new(mode, (64, 48)).save(bench / "pictures" / name, format_)
    curriculum(bench, "plain", tmp_path / "out", pictures=how)
    (row,) = lines(tmp_path / "out/01-plain.jsonl")
    assert row["images"] == [f"pictures/{called}" for _, called in names.values()]
    for (name, (format_, called)), image in zip(names.items(), row["images"], strict=True):
        with Image.open(tmp_path / "out" / image) as copy:
            assert copy.format == ("PNG" if called == "e.tif.png" else format_), name


def test_an_ending_takes_no_other_pictures_name(tmp_path: Path) -> None:
    tasks = [question("q", prompt=(PictureRef("a.jpg"), PictureRef("a.jpg.png"), "What has gone?"))]
    bench = written(tmp_path / "b", tasks)
    colours = {"a.jpg": (255, 0, 0), "a.jpg.png": (0, 0, 255)}
    for name, colour in colours.items():
        Image.new("RGB", (64, 48), colour).save(bench / "pictures" / name, "PNG")
    curriculum(bench, "plain", tmp_path / "out")
    (row,) = lines(tmp_path / "out/01-plain.jsonl")
    assert all(image.endswith(".png") for image in row["images"])
    assert [Image.open(tmp_path / "out" / image).getpixel((0, 0)) for image in row["images"]] == [*colours.values()]


def test_regions_are_written_in_percent_of_the_picture_they_are_in() -> None:
    steps = (Step("text-to-region", "It is here.", (PictureRef("q/2.png", Box(0.1, 0.25, 0.333, 1.0)),)),)
    with_boxes = lesson_of(question("q"), Choice("A", steps=steps), regions=True)
    assert with_boxes.steps["text-to-region"][0].text == "It is here. [picture 2: 10 25 33 100]"
    without = lesson_of(question("q"), Choice("A", steps=steps), regions=False)
    assert without.steps["text-to-region"][0].text == "It is here."


@pytest.mark.world
def test_a_conclusion_always_names_the_answer() -> None:
    from sightline_world.choose import choose_task

    task = choose_task(0, 1, size=(64, 48)).task
    key = task.options[1].key
    for said, wanted in (
        ("", f"The answer is {key}."),
        (f"The answer is {key}.", f"The answer is {key}."),
        ("One sees it at once.", f"One sees it at once. The answer is {key}."),
    ):
        steps = (Step("conclusion", said),) if said else ()
        lesson = lesson_of(task, Choice(key, steps=steps), regions=False)
        assert lesson.steps["conclusion"][0].words == wanted


def test_lists_are_valid_json(folders: Path) -> None:
    for path in (folders / "llava").glob("0*.json"):
        assert isinstance(json.loads(path.read_text()), list)
