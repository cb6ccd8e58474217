"""The learned shortcut test: planted kinds are found and named, clean sets pass, and nothing is known again."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from PIL import Image, ImageEnhance, ImageOps

from pictures import random_picture
from sightline.errors import UserError
from sightline.runs.shortcuts.facts import CorpusFiles, read_files
from sightline.runs.shortcuts.report import ShortcutReport, learn_shortcut
from sightline.types import (
    Annotation,
    Benchmark,
    Corpus,
    Group,
    Picture,
    PictureRef,
    PictureSet,
    Relevance,
    Rights,
    Task,
)

WORDS = (
    "dog", "boat", "tree", "lamp", "house", "bird", "train", "cake", "chair", "cloud", "river", "bridge", "horse",
    "apple", "tower", "candle", "garden", "mirror", "window", "ladder",
)  # fmt: skip
POOL, FITS = 9, 3


def clean(lot: Random, sources: bool = True) -> Benchmark:
    """Twenty queries with pools of nine, of which three fit; order, names, sources, numbers and notes by lot."""
    ids = [f"{lot.randrange(10**8):08}.jpg" for _ in range(POOL * len(WORDS))]
    pictures = {
        id_: Picture(
            id_,
            f"file:///nowhere/{id_}",
            width=lot.choice([400, 500, 640]),
            height=lot.choice([300, 375, 480]),
            rights=Rights(source=lot.choice("ABC")) if sources else Rights(),
            extra={"rating": lot.random(), "note": " ".join(lot.sample(["alpha", "bravo", "delta", "echo"], 2))},
        )
        for id_ in ids
    }
    free = lot.sample(ids, len(ids))
    tasks, truth = {}, {}
    for number, word in enumerate(WORDS):
        pool = free[number * POOL : (number + 1) * POOL]
        tasks[f"q{number}"] = Task(f"q{number}", "rank", (f"a {word}",))
        truth[f"q{number}"] = Relevance({id_: int(place < FITS) for place, id_ in enumerate(pool)})
    return Benchmark("b", Corpus("b", pictures), tasks, truth)


def fitting(benchmark: Benchmark) -> dict[str, str]:
    """The word of the query that each relevant picture fits."""
    return {
        id_: benchmark.tasks[task].text.split()[-1]
        for task, truth in benchmark.truth.items()
        if isinstance(truth, Relevance)
        for id_, grade in truth.grades.items()
        if grade
    }


def changed(benchmark: Benchmark, change: Callable[[Picture, str], Picture], share: float = 0.8) -> Benchmark:
    lot, fits = Random(7), fitting(benchmark)
    pictures = {
        id_: change(picture, fits[id_]) if id_ in fits and lot.random() < share else picture
        for id_, picture in benchmark.corpus.pictures.items()
    }
    return replace(benchmark, corpus=replace(benchmark.corpus, pictures=pictures))


def renamed(benchmark: Benchmark, name: Callable[[str, str], str]) -> Benchmark:
    fits = fitting(benchmark)
    new = {id_: name(id_, fits[id_]) if id_ in fits else id_ for id_ in benchmark.corpus.pictures}
    pictures = {new[id_]: replace(one, id=new[id_]) for id_, one in benchmark.corpus.pictures.items()}
    truth = {
        task: Relevance({new[id_]: grade for id_, grade in one.grades.items()})
        for task, one in benchmark.truth.items()
        if isinstance(one, Relevance)
    }
    return replace(benchmark, corpus=Corpus("b", pictures), truth=truth)


def first_in_order(benchmark: Benchmark) -> Benchmark:
    fits, pictures = fitting(benchmark), benchmark.corpus.pictures
    order = sorted(pictures, key=lambda id_: id_ not in fits)
    return replace(benchmark, corpus=Corpus("b", {id_: pictures[id_] for id_ in order}))


PLANTED: dict[str, tuple[Callable[[Benchmark], Benchmark], str, str]] = {
    "words": (
        lambda b: changed(b, lambda one, word: replace(one, extra={**one.extra, "note": f"see {word}"})),
        'column "note"', "words of",
    ),
    "file names": (lambda b: renamed(b, lambda id_, word: f"{word}_{id_}"), "file names", "words of"),
    "names without the query": (lambda b: renamed(b, lambda id_, _: f"sel/{id_}"), "file names", "sel"),
    "addresses": (
        lambda b: changed(b, lambda one, word: replace(one, uri=f"file:///all/{word}.jpg"), share=1.0), "file names",
        "words of the query in words of the address",
    ),
    "size": (lambda b: changed(b, lambda one, _: replace(one, width=801)), "picture size", "width"),
    "order": (first_in_order, "order of the pictures", "position in the corpus"),
    "source": (lambda b: changed(b, lambda one, _: replace(one, rights=Rights(source="A"))), "source", "source"),
    "numbers": (
        lambda b: changed(b, lambda one, _: replace(one, extra={**one.extra, "rating": 2.0})), 'column "rating"',
        "rating",
    ),
    "annotations": (
        lambda b: replace(b, annotations=tuple(Annotation(id_, "", by="m") for id_ in fitting(b))),
        "presence of annotations", "annotated",
    ),
}  # fmt: skip


def found(benchmark: Benchmark, files: CorpusFiles | None = None) -> ShortcutReport:
    return learn_shortcut(benchmark, files).report


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_shortcut_is_found_and_named(kind: str) -> None:
    plant, facts, feature = PLANTED[kind]
    report = found(plant(clean(Random(3))))
    assert report.auc is not None and report.alarms
    first = report.given_away[0]
    assert first.facts == facts
    assert feature in first.by
    assert first.auc.value >= 0.7
    assert first.auc.low > 0.5


def test_clean_sets_raise_no_alarm_and_are_at_chance() -> None:
    reports = [found(clean(Random(number))) for number in range(25)]
    values = [report.auc.value for report in reports if report.auc is not None]
    assert sum(report.alarms for report in reports) == 0
    assert 0.47 < sum(values) / len(values) < 0.53


def test_a_picture_that_fits_everything_is_not_known_again_by_its_name() -> None:
    """The same pictures are relevant to all queries: names tell which, but only of pictures that were seen before."""
    lot = Random(5)
    ids = [f"{lot.randrange(16**12):012x}" for _ in range(30)]
    popular = set(ids[:6])
    pictures = {id_: Picture(id_, id_) for id_ in lot.sample(ids, len(ids))}
    tasks = {f"q{number}": Task(f"q{number}", "rank", ("x",)) for number in range(20)}
    truth = {task: Relevance({id_: int(id_ in popular) for id_ in ids}) for task in tasks}
    assert not found(Benchmark("b", Corpus("b", pictures), tasks, truth)).alarms


EDITS: dict[str, Callable[[Image.Image], Image.Image]] = {
    "brighter": lambda image: ImageEnhance.Brightness(image).enhance(1.12),
    "cropped": lambda image: image.crop((6, 5, 154, 115)),
    "mirrored": ImageOps.mirror,
}


@pytest.mark.parametrize("kind", EDITS)
def test_copies_of_relevant_pictures_are_found_in_files(kind: str, tmp_path: Path) -> None:
    benchmark, fits = clean(Random(4), sources=False), fitting(clean(Random(4), sources=False))
    for number, id_ in enumerate(benchmark.corpus.pictures):
        random_picture(number).save(tmp_path / id_, quality=90)
    pictures = {id_: Picture(id_, id_) for id_ in benchmark.corpus.pictures}
    truth = dict(benchmark.truth)
    lot = Random(1)
    for id_ in fits:
        if lot.random() < 0.8:
            copy = f"{lot.randrange(10**8):08}.jpg"
            EDITS[kind](Image.open(tmp_path / id_)).save(tmp_path / copy, quality=90)
            pictures[copy] = Picture(copy, copy)
            task = next(task for task, one in truth.items() if isinstance(one, Relevance) and one.grades.get(id_))
            one = truth[task]
            assert isinstance(one, Relevance)
            truth[task] = Relevance({**one.grades, copy: 1})
    order = lot.sample(sorted(pictures), len(pictures))
    planted = replace(benchmark, corpus=Corpus("b", {id_: pictures[id_] for id_ in order}), truth=truth)
    report = found(planted, read_files(planted.corpus.pictures, tmp_path))
    named = {one.facts: one for one in report.given_away}
    assert named["copies"].auc.value >= 0.7
    assert "copies in the corpus" in named["copies"].by


def test_a_copy_of_the_picture_in_the_query_gives_the_answer_away(tmp_path: Path) -> None:
    lot = Random(2)
    pictures: dict[str, Picture] = {}
    tasks: dict[str, Task] = {}
    truth: dict[str, Relevance] = {}
    for number in range(10):
        asked, answer = f"{lot.randrange(10**8)}.png", f"{lot.randrange(10**8)}.png"
        random_picture(number).save(tmp_path / asked)
        ImageOps.mirror(random_picture(number)).save(tmp_path / answer)
        others = {f"{lot.randrange(10**8)}.png": 0 for _ in range(4)}
        for place, id_ in enumerate(others):
            random_picture(100 + 10 * number + place).save(tmp_path / id_)
        pictures |= {id_: Picture(id_, id_) for id_ in (*others, asked, answer)}
        tasks[f"q{number}"] = Task(f"q{number}", "rank", (PictureRef(asked), "like this"))
        truth[f"q{number}"] = Relevance({**others, answer: 1})
    order = {id_: pictures[id_] for id_ in lot.sample(sorted(pictures), len(pictures))}
    benchmark = Benchmark("b", Corpus("b", order), tasks, truth)
    report = found(benchmark, read_files(order, tmp_path))
    assert "copies" in {one.facts for one in report.given_away}


def test_sets_and_labels_without_a_negative_are_measured_against_drawn_pictures() -> None:
    benchmark = first_in_order(clean(Random(6)))
    truth = {
        task: PictureSet(tuple(id_ for id_, grade in one.grades.items() if grade))
        for task, one in benchmark.truth.items()
        if isinstance(one, Relevance)
    }
    report = found(replace(benchmark, truth=truth))
    assert [one.facts for one in report.given_away] == ["order of the pictures"]


def test_too_few_queries_are_not_measured_and_it_is_said_why() -> None:
    benchmark = clean(Random(1))
    few = replace(benchmark, truth=dict(list(benchmark.truth.items())[:5]))
    report = found(few)
    assert report.auc is None and not report.alarms
    assert report.unmeasured == "at least 8 queries with relevant and other pictures are needed; there are 5"


def test_copies_that_the_tables_tell_count_without_files() -> None:
    benchmark = clean(Random(4))
    truth, groups, pictures = dict(benchmark.truth), [], dict(benchmark.corpus.pictures)
    lot = Random(1)
    for task, one in truth.items():
        assert isinstance(one, Relevance)
        first = next(iter(one.grades))
        copy = f"{lot.randrange(10**8):08}.jpg"
        pictures[copy] = replace(pictures[lot.choice(list(benchmark.corpus.pictures))], id=copy, uri=f"x/{copy}")
        groups.append(Group(task, "duplicate", (first, copy)))
        truth[task] = Relevance({**one.grades, copy: 1})
    order = {id_: pictures[id_] for id_ in lot.sample(sorted(pictures), len(pictures))}
    report = found(replace(benchmark, corpus=Corpus("b", order, tuple(groups)), truth=truth))
    assert [one.facts for one in report.given_away] == ["copies"]


def test_the_software_that_saved_a_file_gives_it_away(tmp_path: Path) -> None:
    benchmark = clean(Random(8), sources=False)
    fits = fitting(benchmark)
    for number, id_ in enumerate(benchmark.corpus.pictures):
        exif = Image.Exif()
        exif[0x0131] = "Curator 1.0" if id_ in fits else "Camera firmware"
        random_picture(number, (64, 48)).save(tmp_path / id_, exif=exif)
    pictures = {id_: Picture(id_, id_) for id_ in benchmark.corpus.pictures}
    report = found(replace(benchmark, corpus=Corpus("b", pictures)), read_files(pictures, tmp_path))
    assert report.given_away[0].facts == "EXIF"
    assert report.given_away[0].by == 'software is "Curator 1.0"'


def test_copies_are_always_in_one_fold() -> None:
    from sightline.runs.shortcuts.learned import labelled_pairs

    benchmark = clean(Random(1))
    ids = list(benchmark.corpus.pictures)
    groups = tuple(Group(str(at), "duplicate", (ids[at], ids[at + 90])) for at in range(0, 80))
    pairs = labelled_pairs(replace(benchmark, corpus=replace(benchmark.corpus, groups=groups)), (), 0)
    assert all(pairs.picture_folds[at] == pairs.picture_folds[at + 90] for at in range(80))
    assert pairs.weights.sum() == pytest.approx(len(pairs.tasks))


def two_pictures(folder: Path) -> dict[str, Picture]:
    for name in ("a.jpg", "b.jpg"):
        random_picture(ord(name[0])).save(folder / name)
    return {name: Picture(name, name) for name in ("a.jpg", "b.jpg")}


def test_a_file_that_is_no_picture_is_left_out_by_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pictures = two_pictures(tmp_path)
    (tmp_path / "b.jpg").write_bytes(b"not a picture")
    assert list(read_files(pictures, tmp_path).facts) == ["a.jpg"]
    assert "1 file left out (no picture that can be read): b.jpg" in caplog.text


def test_without_a_file_that_the_disk_does_not_give_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures, plain = two_pictures(tmp_path), Path.read_bytes

    def broken(path: Path) -> bytes:
        if path.name == "b.jpg":
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return plain(path)

    monkeypatch.setattr(Path, "read_bytes", broken)
    with pytest.raises(UserError, match=r"b\.jpg can't be read: Input/output error") as refused:
        read_files(pictures, tmp_path)
    assert refused.value.fix
