"""ImageMining's data.jsonl: both languages, labels, steps, names of pictures in any case, and the way back."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.formats.format_tools import exporting, importing
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.formats import FormatOptions
from sightline.benchmark.formats.imagemining import join_steps, split_steps
from sightline.benchmark.formats.parquet import IMAGE, write_parts
from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.exchange import import_files
from sightline.io.files import picture_path
from sightline.types import Answer, Benchmark, PictureRef, Step, Task
from sightline.types.task_table import Tasks

FORMAT = "imagemining"

# The published distributions of the 217 rows.
CATEGORY_L1 = {
    "Rich Text": 41,
    "Science": 40,
    "Place": 36,
    "Social & Humanities": 31,
    "Product": 31,
    "Entertainment & Sports": 25,
    "Nature": 13,
}
SIXES = (
    *("Politics", "Sports", "Academic Paper", "History", "Culture", "Financial Report"),
    *("Apparel & Accessories", "Map", "TV shows & movies", "Games", "Vehicle"),
)
CATEGORY_L2 = {
    "Others": 36,
    "Place": 36,
    "Complex posters and drawings": 13,
    "Electronics & Digital": 10,
    "Biology": 9,
    "Astronomy": 8,
    "Chemistry": 8,
    "Physics": 7,
    "Arts": 7,
    "Document": 7,
    **dict.fromkeys(SIXES, 6),
    "Plant": 5,
    "Animal": 5,
}
TAGS = {
    "Image Retrieval Reasoning": 102,
    "Text Reasoning": 99,
    "Object Recognition": 99,
    "Event Reasoning": 66,
    "Spatiotemporal Reasoning": 66,
}
ROWS_WITH_TAGS = {1: 71, 2: 97, 3: 33, 4: 12, 5: 4}
FLAGS = {("yes", "yes"): 154, ("yes", "no"): 55, ("no", "yes"): 6, ("no", "no"): 2}
ENDINGS = {"png": 157, "jpg": 27, "JPEG": 21, "PNG": 9, "webp": 1, "JPG": 1, "jpeg": 1}


def row(number: int = 7, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "category_l1": "Science",
        "category_l2": "Biology",
        "difficulty_tags": ["Text Reasoning", "Object Recognition"],
        "image": f"{number}.JPEG",
        "question": "Which bird is this?",
        "question_zh": "这是什么鸟？",
        "answer": "a kingfisher",
        "answer_zh": "翠鸟",
        "reasoning": "1. Look at the beak.\n2. Search for it; it is 2.5 cm long.",
        "reasoning_zh": "1. 看喙。\n2. 搜索。",
        "need_image_before_search": "yes",
        "need_image_during_search": "no",
    } | changes


def save(folder: Path, rows: list[Any]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "data.jsonl").write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in rows))
    return folder


def read(path: Path, **options: Any) -> Benchmark:
    content = importing(FORMAT, path, FormatOptions(**options)).content
    assert isinstance(content, Benchmark)
    return content


def test_what_a_row_becomes(tmp_path: Path) -> None:
    found = read(save(tmp_path, [row(extra_key="kept")]))
    shown = PictureRef("7.JPEG")
    assert found.tasks == {
        "7": Task(
            "7",
            "answer",
            (shown, "Which bird is this?"),
            labels={
                "category_l1": ("Science",),
                "category_l2": ("Biology",),
                "difficulty": ("Text Reasoning", "Object Recognition"),
                "need_image_before_search": ("true",),
                "need_image_during_search": ("false",),
            },
            translations={"zh": (shown, "这是什么鸟？")},
            extra={
                "extra_key": "kept",
                "need_image_before_search": True,
                "need_image_during_search": False,
                "reference": {"reasoning": row()["reasoning"], "reasoning_zh": row()["reasoning_zh"]},
            },
        )
    }
    assert found.truth["7"] == Answer(
        "a kingfisher",
        translations={"zh": "翠鸟"},
        steps=(Step("think", "Look at the beak."), Step("think", "Search for it; it is 2.5 cm long.")),
    )
    picture = found.corpus.pictures["7.JPEG"]
    assert picture_path(picture.uri, tmp_path) == tmp_path / "images" / "7.JPEG"


def published() -> list[dict[str, Any]]:
    """217 rows with the published distributions and ids with gaps."""
    ids = [number for number in range(1, 233) if number % 15 or number == 225][:217]
    columns = [list(Counter(counts).elements()) for counts in (CATEGORY_L1, CATEGORY_L2, FLAGS, ENDINGS)]
    left = Counter(TAGS)
    tags = []
    for count in sorted(Counter(ROWS_WITH_TAGS).elements(), reverse=True):
        some = [tag for tag, _ in left.most_common(count)]
        left -= Counter(some)
        tags.append(some)
    assert not left and len(ids) == len(tags) == 217
    return [
        row(
            number,
            category_l1=l1,
            category_l2=l2,
            difficulty_tags=some,
            image=f"{number}.{ending}",
            need_image_before_search=flags[0],
            need_image_during_search=flags[1],
        )
        for number, l1, l2, flags, ending, some in zip(ids, *columns, tags, strict=True)
    ]


def test_the_published_counts_come_out(tmp_path: Path) -> None:
    rows = published()
    folder = save(tmp_path / "data", rows)
    (folder / "images").mkdir()
    for one in rows:
        (folder / "images" / one["image"]).write_bytes(b"x")
    summary = import_files("imagemining", folder, tmp_path / "bench")
    assert (summary.tasks, summary.pictures, summary.missing_pictures) == (217, 217, 0)
    assert summary.labels == {
        "category_l1": CATEGORY_L1,
        "category_l2": CATEGORY_L2,
        "difficulty": TAGS,
        "need_image_before_search": {"true": 209, "false": 8},
        "need_image_during_search": {"true": 160, "false": 57},
    }
    assert summary.warnings == ()
    tasks = read_benchmark(tmp_path / "bench").tasks.values()
    assert Counter(len(task.labels["difficulty"]) for task in tasks) == ROWS_WITH_TAGS


def test_it_comes_back_exactly(tmp_path: Path) -> None:
    rows = published()
    import_files("imagemining", save(tmp_path / "data", rows), tmp_path / "bench")
    exporting(FORMAT, read_benchmark(tmp_path / "bench"), tmp_path / "again.jsonl", FormatOptions())
    again = [orjson.loads(line) for line in (tmp_path / "again.jsonl").read_bytes().splitlines()]
    assert again == rows
    assert list(again[0]) == list(rows[0])


def test_pictures_are_found_by_their_exact_name_first(tmp_path: Path) -> None:
    folder = save(
        tmp_path, [row(1, image="1.JPG"), row(2, image="2.PNG"), row(3, image="3.png"), row(4, image="4.jpg")]
    )
    (folder / "images").mkdir()
    for name in ("1.JPG", "1.jpg", "2.png", "3.PNG", "3.Png"):
        (folder / "images" / name).write_bytes(b"x")
    imported = importing(FORMAT, folder, FormatOptions())
    assert isinstance(imported.content, Benchmark)
    names = {name: Path(picture.uri).name for name, picture in imported.content.corpus.pictures.items()}
    assert names == {"1.JPG": "1.JPG", "2.PNG": "2.png", "3.png": "3.png", "4.jpg": "4.jpg"}
    assert len(imported.warnings) == 1 and '"2.PNG → 2.png"' in imported.warnings[0]


def test_what_is_not_there_is_unlabelled(tmp_path: Path) -> None:
    bare = {"id": 1, "image": "1.png", "question": "What?", "answer": "5"}
    found = read(save(tmp_path, [bare]))
    assert set(found.tasks["1"].labels.values()) == {("unlabelled",)}
    assert found.tasks["1"].translations == {} and found.truth["1"] == Answer("5")
    exporting(FORMAT, found, tmp_path / "again.jsonl", FormatOptions())
    assert orjson.loads((tmp_path / "again.jsonl").read_bytes()) == {**bare, "difficulty_tags": []}


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"id": None}, "id", "expected an id, but it is not there"),
        ({"id": 7}, "id", '"7" is there twice'),
        ({"image": ""}, "image", "expected the name of a file"),
        ({"question": None}, "question", "expected text, but it is not there"),
        ({"question_zh": 5}, "question_zh", "expected text, got 5"),
        ({"answer": 5}, "answer", "expected text, got 5"),
        ({"difficulty_tags": "hard"}, "difficulty_tags", "expected a list"),
        ({"need_image_before_search": "maybe"}, "need_image_before_search", 'expected "yes" or "no", got \'maybe\''),
        ({"need_image_during_search": 1}, "need_image_during_search", 'expected "yes" or "no", got 1'),
    ],
)
def test_a_wrong_line_is_refused_with_its_place(
    tmp_path: Path, changes: dict[str, Any], field: str, message: str
) -> None:
    folder = save(tmp_path, [row(), row(8, **changes), row(9, answer=None)])
    with pytest.raises(ProblemsError) as refused:
        read(folder)
    (problem,) = refused.value.problems
    assert (problem.file, problem.line, problem.field) == (str(folder / "data.jsonl"), 2, field)
    assert message in problem.message
    imported = importing(FORMAT, folder, FormatOptions(keep_going=True))
    assert isinstance(imported.content, Benchmark)
    assert list(imported.content.tasks) == ["7"] and [problem.line for problem in imported.problems] == [2, 3]


def test_columns_limits_and_folders(tmp_path: Path) -> None:
    folder = save(tmp_path, [row(1, frage="Was?"), row(2, frage="Wo?")])
    found = read(folder, columns={"question": "frage"}, limit=1, pictures=tmp_path / "elsewhere", name="mine")
    assert [task.text for task in found.tasks.values()] == ["Was?"]
    assert found.name == "mine" and "elsewhere/1.JPEG" in found.corpus.pictures["1.JPEG"].uri
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"has no data\.jsonl and no Parquet file"):
        read(tmp_path / "empty")


def test_the_hub_s_parquet_is_read_with_its_pictures(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="reading Parquet needs pyarrow")
    columns: dict[str, Any] = dict.fromkeys(row(), "string") | {
        "id": "int64",
        "difficulty_tags": ["string"],
        "image": IMAGE,
    }
    rows = [row(n, image={"bytes": b"\xff\xd8\xffpixels", "path": f"{n}.JPEG"}) for n in (3, 5)]
    write_parts(tmp_path / "data", "train", columns, rows)
    imported = importing(FORMAT, tmp_path, FormatOptions())
    assert isinstance(imported.content, Benchmark)
    assert list(imported.content.tasks) == ["3", "5"] and "inside the table" in imported.warnings[0]
    assert read(save(tmp_path / "lines", [row(3), row(5)])).tasks == imported.content.tasks
    extracted = read(tmp_path / "data", extra={"extract": str(tmp_path / "out")})
    place = picture_path(extracted.corpus.pictures["3.JPEG"].uri, tmp_path)
    assert place is not None and place.read_bytes() == b"\xff\xd8\xffpixels"


# --- out ---------------------------------------------------------------------------------------------------


def test_the_samples_can_be_written_and_read(sampled: Benchmark, tmp_path: Path) -> None:
    exporting(FORMAT, sampled, tmp_path / "out", FormatOptions())
    found = read(tmp_path / "out")
    for task in (task for task in sampled.tasks.values() if task.kind == "answer"):
        truth = sampled.truth[task.id]
        assert isinstance(truth, Answer)
        again = found.truth[task.id]
        assert isinstance(again, Answer)
        assert found.tasks[task.id].prompt == task.prompt
        assert (again.text, again.translations) == (truth.text, truth.translations)
        assert [step.text for step in again.steps] == [step.text for step in truth.steps]
    assert import_files("imagemining", tmp_path / "out", tmp_path / "bench").missing_pictures == 0
    exporting(FORMAT, sampled, tmp_path / "bare", FormatOptions(extra={"pictures": "none"}))
    assert [entry.name for entry in (tmp_path / "bare").iterdir()] == ["data.jsonl"]


def test_changed_steps_are_numbered_anew(tmp_path: Path) -> None:
    found = read(save(tmp_path, [row()]))
    truth = found.truth["7"]
    assert isinstance(truth, Answer)
    changed = replace(found, truth={"7": replace(truth, steps=(Step("think", "Guess."), Step("think", "Stop.")))})
    exporting(FORMAT, changed, tmp_path / "again.jsonl", FormatOptions())
    assert orjson.loads((tmp_path / "again.jsonl").read_bytes())["reasoning"] == "1. Guess.\n2. Stop."


def test_a_task_about_two_pictures_is_refused(tmp_path: Path) -> None:
    found = read(save(tmp_path, [row()]))
    two = replace(found.tasks["7"], prompt=(PictureRef("7.JPEG"), PictureRef("7.JPEG"), "Which?"))
    with pytest.raises(UserError, match='task "7" shows 2 pictures'):
        exporting(FORMAT, replace(found, tasks=Tasks({"7": two})), tmp_path / "again.jsonl", FormatOptions())


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
rows = st.fixed_dictionaries(
    {
        "id": st.integers(0, 10**6) | st.text("abc-", min_size=1, max_size=5),
        "category_l1": words,
        "category_l2": words,
        "difficulty_tags": st.lists(words, unique=True, max_size=3),
        "image": st.text("abcABC.123", min_size=1, max_size=8),
        "question": words,
        "question_zh": words,
        "answer": words,
        "answer_zh": words,
        "reasoning": words,
        "reasoning_zh": words,
        "need_image_before_search": st.sampled_from(["yes", "no"]),
        "need_image_during_search": st.sampled_from(["yes", "no"]),
    },
    optional={"unknown": words},
)


@settings(deadline=None, max_examples=60)
@given(st.lists(rows, min_size=1, max_size=3, unique_by=lambda one: str(one["id"])))
def test_any_rows_come_back_equal(given_: list[dict[str, Any]]) -> None:
    given_ = [one for one in given_ if "unlabelled" not in (one["category_l1"], one["category_l2"])]
    with TemporaryDirectory() as temporary:
        folder = save(Path(temporary), given_ or [row()])
        exporting(FORMAT, read(folder), folder / "again.jsonl", FormatOptions())
        again = [orjson.loads(line) for line in (folder / "again.jsonl").read_bytes().splitlines()]
    assert again == (given_ or [row()])


# --- numbered steps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("1. Look.\n2. Search.", ["Look.", "Search."]),
        ("1. Look. 2. Search. 3. Answer.", ["Look.", "Search.", "Answer."]),
        ("1. It is 2.5 m and 3.1 kg.\n2. Done.", ["It is 2.5 m and 3.1 kg.", "Done."]),
        ("1. See figure 2. Then\n2. go on.\n", ["See figure 2. Then", "go on."]),
        ("1、看图。\n2、搜索。", ["看图。", "搜索。"]),
        ("1) Look\n2) Search", ["Look", "Search"]),
        ("First: 1. Look. 2. Search.", ["First: Look.", "Search."]),
        ("No numbers here.", ["No numbers here."]),
        ("2. Starts late.", ["2. Starts late."]),
        ("1.Look\n2.Search", ["Look", "Search"]),
        ("  ", []),
        ("\n".join(f"{n}. step {n}" for n in range(1, 19)), [f"step {n}" for n in range(1, 19)]),
    ],
)
def test_numbered_texts_are_taken_apart(text: str, steps: list[str]) -> None:
    assert split_steps(text) == steps


plain_steps = st.lists(st.text("abc d,", min_size=1).map(str.strip).filter(bool), min_size=1, max_size=12)


@settings(deadline=None, max_examples=60)
@given(plain_steps)
def test_joined_steps_come_apart_again(steps: list[str]) -> None:
    assert split_steps(join_steps(steps)) == steps
