"""Parts that share nothing to the eye, balanced, and the same for the same seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from errno import ENOSPC
from io import BytesIO
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageEnhance, ImageOps

from reason.reason_tools import choose_bench
from sightline.benchmark.copy_detection import LookView, PictureLook, same_looks, views_of
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.validation import validate_benchmark
from sightline.errors import UserError
from sightline.io.jsonl import read_json
from sightline.reason.splits import FILE, assign, pictures_of, split
from sightline.types import Group, PictureRef, PictureSet, Relevance, Task
from sightline.types.task_table import Tasks


def task(name: str, **labels: str) -> Task:
    return Task(name, "choose", ("?",), labels={key: (value,) for key, value in labels.items()})


@given(
    st.lists(st.integers(1, 4), min_size=20, max_size=60),
    st.lists(st.sampled_from("abc"), min_size=240, max_size=240),
    st.integers(0, 3),
)
@settings(deadline=None, max_examples=40)
def test_groups_stay_together_and_shares_are_kept(sizes: list[int], kinds: list[str], seed: int) -> None:
    names = [f"t{number}" for number in range(sum(sizes))]
    tasks = {name: task(name, subtask=kind) for name, kind in zip(names, kinds, strict=False)}
    left, groups = iter(names), []
    for size in sizes:
        groups.append([next(left) for _ in range(size)])
    shares = {"train": 0.6, "dev": 0.2, "test": 0.2}
    parts = assign(groups, tasks, shares, ("subtask",), seed)
    assert all(len({parts[name] for name in group}) == 1 for group in groups)
    counts = Counter(parts.values())
    for part, share in shares.items():
        assert abs(counts[part] - share * len(names)) <= 4 + 0.05 * len(names)
    assert parts == assign(groups[::-1], tasks, shares, ("subtask",), seed)  # The order of the groups is no matter.


def test_labels_are_balanced() -> None:
    tasks = {
        f"t{number}": task(f"t{number}", subtask=f"s{number % 6}", difficulty=("easy", "hard")[number % 5 == 0])
        for number in range(300)
    }
    parts = assign([[name] for name in tasks], tasks, {"train": 0.8, "test": 0.2}, ("subtask", "difficulty"), 0)
    for label in ("subtask", "difficulty"):
        for value in {each.labels[label][0] for each in tasks.values()}:
            members = [name for name, each in tasks.items() if each.labels[label] == (value,)]
            share = sum(parts[name] == "test" for name in members) / len(members)
            assert share == pytest.approx(0.2, abs=0.03)
    assert parts != assign([[name] for name in tasks], tasks, {"train": 0.8, "test": 0.2}, ("subtask",), 1)


def test_near_duplicates_and_shared_pictures_are_never_parted(tmp_path: Path) -> None:
    made = choose_bench(tmp_path / "bench", 20)
    folder = tmp_path / "bench" / "pictures"
    # q1 shows q0's first picture smaller and recompressed, q3 a copy of q2's; q5 shares one with q4 by its id.
    Image.open(folder / "q0-0.png").convert("RGB").resize((56, 42)).save(folder / "q1-0.png", "JPEG", quality=60)
    (folder / "q3-1.png").write_bytes((folder / "q2-1.png").read_bytes())
    # A picture may be called as a task is.
    (folder / "q8-0.png").rename(folder / "q9")
    five, eight = made.tasks["q5"], made.tasks["q8"]
    named = tuple(PictureRef("q9") if part == PictureRef("q8-0.png") else part for part in eight.prompt)
    shared = tuple(PictureRef("q4-0.png") if part == PictureRef("q5-0.png") else part for part in five.prompt)
    burst = Group("burst/1", "burst", ("q6-0.png", "q7-0.png"))
    changed = replace(
        made,
        tasks=Tasks({**made.tasks, "q5": replace(five, prompt=shared), "q8": replace(eight, prompt=named)}),
        corpus=replace(
            made.corpus,
            groups=(burst,),
            pictures={
                **{name: picture for name, picture in made.corpus.pictures.items() if name != "q8-0.png"},
                "q9": replace(made.corpus.pictures["q8-0.png"], id="q9", uri="pictures/q9"),
            },
        ),
    )
    write_benchmark(changed, tmp_path / "bench", force=True)
    for seed in range(4):
        done = split(tmp_path / "bench", tmp_path / "out", parts={"train": 0.5, "test": 0.5}, seed=seed)
        parts = read_json(tmp_path / "out" / FILE)["tasks"]
        for one, other in (("q0", "q1"), ("q2", "q3"), ("q4", "q5"), ("q6", "q7")):
            assert parts[one] == parts[other]
        assert (done.parts, done.groups, done.largest, done.near, done.across) == (
            {"train": 10, "test": 10},
            16,
            2,
            2,
            0,
        )
    train, test = read_benchmark(tmp_path / "out" / "train"), read_benchmark(tmp_path / "out" / "test")
    assert train.name == "small-train" and not train.corpus.pictures.keys() & test.corpus.pictures.keys()
    assert {*train.tasks, *test.tasks} == {*made.tasks} and train.truth.keys() == train.tasks.keys()
    assert validate_benchmark(tmp_path / "out" / "train") == () and validate_benchmark(tmp_path / "out" / "test") == ()


def seen(sha: bytes, *views: tuple[int, bytes]) -> PictureLook:
    return PictureLook(sha, tuple(LookView(phash, tones) for phash, tones in views))


def test_every_pair_that_looks_the_same_is_found() -> None:
    """Also where the first picture of a hash has other colours than the next ones."""
    red, blue = bytes([200, 0, 0] * 64), bytes([0, 0, 200] * 64)
    looks = {
        "red": seen(b"1", (0b1011, red)),
        "blue": seen(b"2", (0b1011, blue)),
        "blue too": seen(b"3", (0b1010, blue)),
        "blue again": seen(b"2", (0b1011, blue)),
        "far": seen(b"4", ((1 << 60) - 1, red)),
        "flat": seen(b"5", (0, blue)),
        "flat too": seen(b"6", (0, blue)),
    }
    found = {(pair.first, pair.second): pair.same_bytes for pair in same_looks(looks, 6)}
    near = {tuple(sorted(names)) for names, same in found.items() if not same}
    assert near == {("blue", "blue too")} and found["blue", "blue again"] is True
    assert same_looks({}, 6) == []


def test_the_whole_of_one_meets_any_view_of_another() -> None:
    tones = bytes(range(192))
    far = (0xFFFF_0000, tones)
    looks = {
        "one": seen(b"1", (0b1, tones), far),
        "mirrored": seen(b"2", (0xFF << 32, tones), (0b11, tones)),
        "only their trims meet": seen(b"3", (0xFF << 48, tones), far),
    }
    assert [(pair.first, pair.second) for pair in same_looks(looks, 2)] == [("one", "mirrored")]


@given(st.lists(st.tuples(st.integers(0, 31), st.integers(0, 2), st.integers(0, 20)), min_size=2, max_size=25))
@settings(deadline=None, max_examples=40)
def test_pairs_are_those_of_comparing_all_with_all(made: list[tuple[int, int, int]]) -> None:
    looks = {
        str(place): seen(bytes([content]), (phash, bytes([shade * 60] * 192)))
        for place, (phash, shade, content) in enumerate(made)
    }
    joined = {frozenset((pair.first, pair.second)) for pair in same_looks(looks, 2)}
    stands = {name: next(first for first in looks if looks[first].sha256 == looks[name].sha256) for name in looks}
    for one, other in combinations(looks, 2):
        a, b = looks[one], looks[other]
        if a.sha256 == b.sha256:
            assert frozenset((stands[other], other)) in joined
        elif (one, other) == (stands[one], stands[other]):
            (first, tones), (second, others) = a.views[0], b.views[0]
            near = (first ^ second).bit_count() <= 2 and first and second and tones == others
            assert (frozenset((one, other)) in joined) == bool(near)


CHANGES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "brighter": lambda image: ImageEnhance.Brightness(image).enhance(1.12),
    "darker": lambda image: ImageEnhance.Brightness(image).enhance(0.8),
    "more contrast": lambda image: ImageEnhance.Contrast(image).enhance(1.2),
    "grey": lambda image: image.convert("L").convert("RGB"),
    "mirrored": ImageOps.mirror,
    "cut on all sides": lambda image: ImageOps.crop(image, image.width // 25),
    "cut on one side": lambda image: image.crop((image.width // 20, 0, *image.size)),
    "framed": lambda image: ImageOps.expand(image, image.width // 30, "black"),
    "small": lambda image: image.resize((image.width // 2, image.height // 2)),
}


@pytest.fixture(scope="module")
def scenes() -> dict[str, Image.Image]:
    pytest.importorskip("sightline_world", reason="needs sightline-world")
    from sightline_world.choose import choose_task

    made = (picture for number in range(24) for picture in choose_task(number, 7).pictures[:1])
    return {picture.id: Image.open(BytesIO(picture.file)).convert("RGB") for picture in made}


@pytest.mark.parametrize("change", CHANGES)
def test_small_changes_are_seen_through(scenes: dict[str, Image.Image], change: str) -> None:
    """And other scenes are not taken for the same."""
    looks = {name: PictureLook(name.encode(), views_of(image)) for name, image in scenes.items()}
    copies = {
        name: PictureLook(b"c" + name.encode(), views_of(CHANGES[change](image))) for name, image in scenes.items()
    }
    both = {**looks, **{f"copy of {name}": look for name, look in copies.items()}}
    found = {(pair.first, pair.second) for pair in same_looks(both, 6)}
    right = {(name, f"copy of {name}") for name in scenes}
    assert len(found & right) >= 0.9 * len(scenes)
    assert len(found - right) <= 2


def test_a_changed_picture_of_another_part_is_kept_together(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 8)
    folder = tmp_path / "bench" / "pictures"
    original = Image.open(folder / "q0-0.png").convert("RGB")
    ImageOps.mirror(original).save(folder / "q1-0.png")
    ImageEnhance.Brightness(original).enhance(1.12).save(folder / "q2-0.png")
    for seed in range(4):
        split(tmp_path / "bench", tmp_path / "out", parts={"train": 0.5, "test": 0.5}, seed=seed)
        parts = read_json(tmp_path / "out" / FILE)["tasks"]
        assert parts["q0"] == parts["q1"] == parts["q2"]


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 12)
    split(tmp_path / "bench", tmp_path / "a", seed=5)
    split(tmp_path / "bench", tmp_path / "b", seed=5)
    for name in (FILE, "dev/tasks.jsonl"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_picture_that_is_gone_is_told_apart_by_its_id(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 4)
    (tmp_path / "bench" / "pictures" / "q0-0.png").unlink()
    done = split(tmp_path / "bench", tmp_path / "out", parts={"train": 0.5, "test": 0.5})
    assert done.unread == 1 and done.across == 0


def test_what_a_task_is_about() -> None:
    one = Task("t", "rank", ("find ", PictureRef("a")))
    assert pictures_of(one, Relevance({"b": 2, "c": 0})) == {"a", "b"}
    assert pictures_of(one, PictureSet(("d",))) == {"a", "d"} and pictures_of(one, None) == {"a"}


@pytest.mark.parametrize("shares", [{"train": 1.0}, {"train": 0.5, "test": 0.0}, {"../x": 0.5, "test": 0.5}])
def test_parts_that_are_none_are_refused(tmp_path: Path, shares: dict[str, float]) -> None:
    choose_bench(tmp_path / "bench", 2)
    with pytest.raises(UserError):
        split(tmp_path / "bench", tmp_path / "out", parts=shares)
    assert not (tmp_path / "out").exists()


def test_a_part_without_tasks_is_refused(tmp_path: Path) -> None:
    """For it would test nothing."""
    choose_bench(tmp_path / "bench", 6)
    said = r'"test" would have no task: 6 tasks in 6 groups that share pictures, the largest of 1 task\.'
    with pytest.raises(UserError, match=said):
        split(tmp_path / "bench", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_shares_sum_to_one_or_are_weights(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 10)
    with pytest.raises(UserError, match=r"sum to 1\.1, not to 1"):
        split(tmp_path / "bench", tmp_path / "out", parts={"train": 0.8, "test": 0.3})
    done = split(tmp_path / "bench", tmp_path / "out", parts={"train": 4, "test": 1})
    assert done.parts == {"train": 8, "test": 2}


def test_a_label_that_no_task_has_is_refused(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 4)
    with pytest.raises(UserError, match='no task has a label "nosuch"') as refused:
        split(tmp_path / "bench", tmp_path / "out", by=("subtask", "nosuch"))
    assert "difficulty, subtask" in str(refused.value)


def test_parts_of_an_earlier_split_do_not_stay(tmp_path: Path) -> None:
    """Their tasks would be in the new parts too."""
    choose_bench(tmp_path / "bench", 10)
    split(tmp_path / "bench", tmp_path / "out")
    before = (tmp_path / "out/train/tasks.jsonl").read_bytes()
    with pytest.raises(UserError, match="whose dev would stay"):
        split(tmp_path / "bench", tmp_path / "out", parts={"train": 0.8, "test": 0.2})
    assert (tmp_path / "out/train/tasks.jsonl").read_bytes() == before
    split(tmp_path / "bench", tmp_path / "out", seed=3)
    choose_bench(tmp_path / "fewer", 4)
    with pytest.raises(UserError, match='holds another benchmark "small-'):
        split(tmp_path / "fewer", tmp_path / "out")
    assert "unfinished" not in read_json(tmp_path / "out" / FILE)


def test_a_full_disk_is_said_with_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choose_bench(tmp_path / "bench", 10)

    def full(*_: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr("sightline.reason.splits.write_benchmark_elsewhere", full)
    with pytest.raises(UserError, match="out can't be written: No space left on device"):
        split(tmp_path / "bench", tmp_path / "out")


def test_a_folder_with_other_things_is_left(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 4)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/notes.txt").write_text("mine")
    with pytest.raises(UserError, match="holds other things"):
        split(tmp_path / "bench", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["notes.txt"]
