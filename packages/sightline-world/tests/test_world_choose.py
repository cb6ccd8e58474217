"""Tasks of choice: assembled rightly, the same for the same seed, and not to be guessed from their words."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import log, sqrt
from random import Random
from zlib import crc32

import pytest
from PIL import Image

from sightline.benchmark.formats.mir import SUBTASKS
from sightline.errors import UserError
from sightline.metrics.choices.parse import parse_choice
from sightline.types import PictureRef
from sightline_world.choose import ALL, CATEGORIES, ChooseTask, choose_task, choose_tasks
from sightline_world.choose.question import QuestionBrief, shown_in

COUNT = 1200
TINY = (96, 72)
# 3.9 standard deviations: some twenty guesses are checked, and all together should fail by chance once in 500 runs.
SIGMAS = 3.9
STEPS = ("summary", "caption", "text-to-region", "region-to-region", "conclusion")


@pytest.fixture(scope="module")
def many() -> list[ChooseTask]:
    """Small pictures, since only words and boxes are looked at."""
    return choose_tasks(COUNT, "blind", size=TINY)


def test_categories_and_subtasks_are_those_of_mir() -> None:
    assert {category: ALL[4 * place : 4 * place + 4] for place, category in enumerate(CATEGORIES)} == SUBTASKS


def test_each_task_is_whole(many: list[ChooseTask]) -> None:
    for one in many:
        task = one.task
        assert task.kind == "choose"
        assert [option.key for option in task.options] == list("ABCD")
        contents = [option.content for option in task.options]
        assert len(set(contents)) == 4, task.id
        assert one.truth.option in {"A", "B", "C", "D"}
        shown = [part.id for part in task.prompt if isinstance(part, PictureRef)]
        offered = [part.id for content in contents for part in content if isinstance(part, PictureRef)]
        assert [picture.id for picture in one.pictures] == shown + offered
        assert 2 <= len(one.pictures) <= 6
        assert not any(
            isinstance(a, str) and isinstance(b, str) for a, b in zip(task.prompt, task.prompt[1:], strict=False)
        )
        assert set(task.labels) == {"category", "subtask", "difficulty"}
        assert task.labels["subtask"][0] in SUBTASKS[task.labels["category"][0]]


def test_steps_speak_of_every_picture_and_conclude_with_the_truth(many: list[ChooseTask]) -> None:
    for one in many:
        steps = one.truth.steps
        assert list(dict.fromkeys(step.kind for step in steps)) == list(STEPS)
        captions = [step for step in steps if step.kind == "caption"]
        assert [step.pictures for step in captions] == [(PictureRef(picture.id),) for picture in one.pictures]
        assert all(step.text.strip().endswith(".") for step in steps), one.task.id
        regions = [ref for step in steps if step.kind.endswith("region") for ref in step.pictures]
        assert regions
        known = {picture.id for picture in one.pictures}
        for ref in regions:
            assert ref.id in known
            box = ref.region
            if box is not None:
                assert 0 <= box.left < box.right <= 1, (one.task.id, box)
                assert 0 <= box.top < box.bottom <= 1, (one.task.id, box)
        assert parse_choice(steps[-1].text, one.task.options).option == one.truth.option, steps[-1].text


def test_no_step_before_the_last_names_the_option(many: list[ChooseTask]) -> None:
    for one in many:
        for step in one.truth.steps[:-1]:
            assert not re.search(r"\b[Oo]ption [A-D]\b|answer is", step.text), step.text


def test_regions_are_boxes_of_the_scene(many: list[ChooseTask]) -> None:
    checked = 0
    for one in many:
        if one.task.labels["category"] != ("Spatial",):
            continue
        boxes = {
            picture.id: {item.box for item in shown_in(picture.graph)}
            for picture in one.pictures
            if picture.graph is not None
        }
        for step in one.truth.steps:
            for ref in step.pictures:
                if ref.region is not None:
                    assert ref.region in boxes[ref.id]
                    checked += 1
    assert checked > 1000


def _key(one: ChooseTask, score: Callable[[str], float], rng: Random) -> str:
    """The option with the highest score, by lot among equals."""
    options = one.task.options
    best = max(score(option.text) for option in options)
    return rng.choice([option.key for option in options if score(option.text) == best])


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9'-]+", text.lower())


def _overlap(a: str, b: str) -> float:
    first, second = set(_words(a)), set(_words(b))
    return len(first & second) / max(1, len(first | second))


def _agreement(one: ChooseTask) -> Callable[[str], float]:
    """How much an option has in common with the others, place by place and word by word."""

    def score(text: str) -> float:
        others = [option.text for option in one.task.options]
        same = sum(a == b for other in others for a, b in zip(_words(text), _words(other), strict=False))
        return same + sum(_overlap(text, other) for other in others)

    return score


def _value(text: str) -> float:
    return float(text) if text.isdigit() else 0.0


def _middling(one: ChooseTask) -> Callable[[str], float]:
    values = [_value(option.text) for option in one.task.options]
    middle = sum(values) / len(values)
    return lambda text: -abs(_value(text) - middle)


GUESSES: dict[str, Callable[[ChooseTask], Callable[[str], float]]] = {
    "longest": lambda one: len,
    "shortest": lambda one: lambda text: -len(text),
    "first in the alphabet": lambda one: lambda text: -sum(ord(c) / 256**p for p, c in enumerate(text[:6], 1)),
    "like the others": _agreement,
    "unlike the others": lambda one: lambda text: -_agreement(one)(text),
    "like the question": lambda one: lambda text: _overlap(text, one.task.text),
    "unlike the question": lambda one: lambda text: -_overlap(text, one.task.text),
    "largest number": lambda one: _value,
    "smallest number": lambda one: lambda text: -_value(text),
    "middling number": _middling,
    "named last in the question": lambda one: lambda text: float(one.task.text.rfind(text)),
}


def _near_chance(hits: int, tasks: int, sigmas: float = SIGMAS) -> bool:
    return abs(hits - tasks / 4) <= sigmas * sqrt(tasks * 3 / 16)


@pytest.mark.parametrize("guess", GUESSES)
def test_words_alone_are_no_better_than_chance(many: list[ChooseTask], guess: str) -> None:
    rng = Random(guess)
    hits = sum(_key(one, GUESSES[guess](one), rng) == one.truth.option for one in many)
    assert _near_chance(hits, len(many)), hits / len(many)


def test_letters_are_balanced_in_all_and_in_each_subtask(many: list[ChooseTask]) -> None:
    letters: dict[str, Counter[str | None]] = defaultdict(Counter)
    for one in many:
        letters["all"][one.truth.option] += 1
        letters[one.task.labels["subtask"][0]][one.truth.option] += 1
    for counts in letters.values():
        assert all(_near_chance(counts[letter], counts.total()) for letter in "ABCD"), letters


def _features(one: ChooseTask, text: str) -> Iterator[str]:
    """Words, pairs of words and whole texts of an option, with the subtask and the way the question ends."""
    words, subtask = _words(text), one.task.labels["subtask"][0]
    asked = " ".join(_words(one.task.text)[-6:])
    for word in (*words, *(f"{a} {b}" for a, b in pairwise(words)), text):
        yield word
        yield f"{subtask}/{word}"
        yield f"{asked}/{word}"


def _learnt(tasks: Sequence[ChooseTask]) -> Callable[[ChooseTask], Callable[[str], float]]:
    """Naive Bayes over the words of right and wrong options."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for one in tasks:
        for option in one.task.options:
            (right if option.key == one.truth.option else wrong).update(_features(one, option.text))

    def judge(one: ChooseTask) -> Callable[[str], float]:
        return lambda text: sum(log((right[f] + 0.5) / (wrong[f] / 3 + 0.5)) for f in _features(one, text))

    return judge


def test_a_model_of_the_words_learns_nothing(many: list[ChooseTask]) -> None:
    half, rng, hits = len(many) // 2, Random(0), 0
    for train, test in ((many[:half], many[half:]), (many[half:], many[:half])):
        judge = _learnt(train)
        hits += sum(_key(one, judge(one), rng) == one.truth.option for one in test)
    assert _near_chance(hits, len(many)), hits / len(many)


def test_that_model_would_find_a_bias(many: list[ChooseTask]) -> None:
    """The same model on tasks of which some are left out by a word in their right option: so it can fail."""
    rng, kept = Random(1), []
    for one in many:
        text = next(option.text for option in one.task.options if option.key == one.truth.option)
        if text and crc32(_words(text)[-1].encode()) % 2 == 0:
            kept.append(one)
    half = len(kept) // 2
    judge = _learnt(kept[:half])
    hits = sum(_key(one, judge(one), rng) == one.truth.option for one in kept[half:])
    assert not _near_chance(hits, len(kept) - half)


def _telling(tasks: Sequence[ChooseTask], least: int = 40) -> dict[str, float]:
    """Words that stand in right options more or less often than chance has it, with how often that is."""
    right: Counter[str] = Counter()
    everywhere: Counter[str] = Counter()
    for one in tasks:
        for option in one.task.options:
            for word in {*_words(option.text), option.text}:
                everywhere[word] += 1
                right[word] += option.key == one.truth.option
    # A word in two options of a task is counted twice but right only once, which is chance as well.
    return {
        word: right[word] / n for word, n in everywhere.items() if n >= least and not _near_chance(right[word], n, 4.4)
    }


def test_no_word_tells(many: list[ChooseTask]) -> None:
    assert _telling(many) == {}
    without = [one for one in many if "left" not in one.task.options["ABCD".index(one.truth.option or "")].text]
    assert "left" in _telling(without)


def test_no_two_tasks_are_equal(many: list[ChooseTask]) -> None:
    assert len({one.digest for one in many}) == len(many)


@pytest.mark.slow
def test_ten_thousand_tasks_differ_and_their_words_tell_nothing() -> None:
    digests, tasks = set(), []
    for number in range(10_000):
        one = choose_task(number, "many", size=(64, 48))
        digests.add(one.digest)
        tasks.append(replace(one, pictures=()))
    assert len(digests) == len(tasks)
    assert _telling(tasks) == {}
    judge = _learnt(tasks[:7000])
    hits = sum(_key(one, judge(one), Random(0)) == one.truth.option for one in tasks[7000:])
    assert _near_chance(hits, 3000), hits / 3000


def test_a_digest_knows_equal_tasks_and_changed_ones() -> None:
    first = choose_task(0, 1, 0.5, size=TINY)
    assert first.digest == choose_task(0, 1, 0.5, size=TINY).digest
    assert first.digest != choose_task(12, 1, 0.5, size=TINY).digest


def test_a_task_depends_on_nothing_but_its_number_and_seed() -> None:
    tasks = choose_tasks(12, 5, 0.4)
    assert choose_tasks(24, 5, 0.4)[:12] == tasks
    assert choose_task(7, 5, 0.4) == tasks[7]
    assert all(a.pictures != b.pictures for a, b in zip(tasks, choose_tasks(12, 6, 0.4), strict=True))


def test_other_processes_make_the_same_bytes() -> None:
    script = (
        "import hashlib; from sightline_world.choose import choose_tasks\n"
        "files = b''.join(p.file for t in choose_tasks(12, 3, 0.7) for p in t.pictures)\n"
        "print(hashlib.sha256(files).hexdigest())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": salt}, capture_output=True, text=True, check=True
        ).stdout
        for salt in ("1", "2")
    }
    assert len(outputs) == 1


def test_only_numpy_and_pillow_are_needed() -> None:
    script = (
        "import sys\n"
        "for name in ('pydantic', 'orjson', 'rich', 'cyclopts'): sys.modules[name] = None\n"
        "from sightline_world.choose import choose_tasks\n"
        "print(len(choose_tasks(12, 0, 0.5)))"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "12\n"


def test_pictures_are_jpeg_files_of_the_size_asked_for() -> None:
    for one in choose_tasks(12, 2, 0.5, size=(240, 180)):
        for picture in one.pictures:
            with Image.open(io.BytesIO(picture.file)) as image:
                assert image.format == "JPEG"
                assert image.size == picture.size
            if one.task.labels["subtask"] != ("Image Puzzle",):
                assert picture.size == (240, 180)


def test_difficulty_adds_pictures_and_is_labelled() -> None:
    easy, hard = choose_tasks(60, 4, 0.0, size=TINY), choose_tasks(60, 4, 1.0, size=TINY)
    assert sum(len(one.pictures) for one in easy) < sum(len(one.pictures) for one in hard)
    assert {one.task.labels["difficulty"] for one in easy} == {("easy",)}
    assert {one.task.labels["difficulty"] for one in hard} == {("hard",)}
    mixed = choose_tasks(60, 4, size=TINY)
    assert {one.task.labels["difficulty"][0] for one in mixed} == {"easy", "medium", "hard"}


def test_subtasks_can_be_chosen() -> None:
    chosen = ("Chart Analysis", "Weight Comparison")
    found = [one.task.labels["subtask"][0] for one in choose_tasks(4, 0, 0.5, chosen, size=TINY)]
    assert found == [*chosen, *chosen]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"subtasks": ["Chess"]}, '"Chess" is not a subtask'),
        ({"subtasks": []}, "no subtask"),
        ({"difficulty": 2.0}, "out of range"),
        ({"size": (320, 32)}, "no room"),
        ({"size": (100, 300)}, "no room"),
    ],
)
def test_mistakes_are_explained(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        choose_task(0, 0, **wrong)  # type: ignore[arg-type]
    assert caught.value.fix


def test_a_failed_draft_keeps_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise answers that are hard to draw would be right less often."""
    from sightline_world.choose import tasks as asking
    from sightline_world.choose.question import ChoiceQuestion, NoLuckError

    real = asking.MAKERS["Speed Comparison"]
    seen: list[tuple[float, float]] = []

    def failing(wanted: QuestionBrief) -> ChoiceQuestion:
        seen.append((Random(str(wanted.rng.getstate())).random(), wanted.lot.random()))
        if len(seen) < 4:
            raise NoLuckError
        return real(wanted)

    monkeypatch.setattr(asking, "MAKERS", {**asking.MAKERS, "Speed Comparison": failing})
    choose_task(0, 0, 0.5, size=TINY)
    assert len({words for words, _ in seen}) == 1
    assert len({lot for _, lot in seen}) == len(seen) >= 4
