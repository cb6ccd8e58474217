"""Planted shortcuts and clean sets from real photographs: what the learned audit finds, and how often it is wrong.

    python benchmarks/trust_shortcuts.py [--photos FOLDER --captions FILE] [--clean N] [--planted N] [--seed N]

A set is made of 600 photographs with people's captions: 30 queries (a word that two or more of five captions have), 5
relevant pictures each, and 15 others whose captions don't have it. File names, sizes and bytes are those of the
photographs; order, source, camera, time, a rating and a column of words are drawn by lot. In every second clean set a
picture may be in the pools of several queries. Into planted sets one shortcut is put, for 7 of 10 relevant pictures.
Edited pictures are saved with the tables of their originals, so that nothing but the edit tells: "copy" adds an edited
picture beside its original, "only" puts it in its place. The photographs are not part of this repository.
"""

from __future__ import annotations

import os

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import argparse  # noqa: E402
import json  # noqa: E402
import re  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections import defaultdict  # noqa: E402
from collections.abc import Callable, Mapping, Sequence  # noqa: E402
from dataclasses import dataclass, field, replace  # noqa: E402
from datetime import datetime, timedelta  # noqa: E402
from pathlib import Path  # noqa: E402
from random import Random  # noqa: E402

import numpy as np  # noqa: E402
from PIL import Image, ImageEnhance, ImageOps, JpegImagePlugin  # noqa: E402

from sightline.metrics.statistics.intervals import wilson  # noqa: E402
from sightline.retrieval.bm25 import query_words  # noqa: E402
from sightline.runs.shortcuts.facts import CorpusFiles, read_files  # noqa: E402
from sightline.runs.shortcuts.report import ShortcutReport, learn_shortcut  # noqa: E402
from sightline.types import Benchmark, Corpus, Picture, Relevance, Rights, Task  # noqa: E402

PHOTOS, CAPTIONS = Path("../shared/data/flickr8k/dev"), Path("../shared/data/flickr8k/dev-captions.jsonl")
QUERIES, RELEVANT, OTHERS = 30, 5, 15
SHARE = 0.7
"""Of the relevant pictures, so many carry a planted shortcut."""
NOISE = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo", "lima")


@dataclass(frozen=True)
class Photos:
    """Photographs by name, and for each word those that two captions or more have it of, and those that none has."""

    folder: Path
    names: tuple[str, ...]
    yes: Mapping[str, tuple[str, ...]]
    no: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, folder: Path, captions: Path) -> Photos:
        names = sorted(path.name for path in folder.glob("*.jpg"))
        counts: dict[str, dict[str, int]] = defaultdict(dict)
        for line in captions.read_text().splitlines():
            row = json.loads(line)
            if row["file"] in set(names):
                for word in {word for text in row["captions"] for word in query_words(text)}:
                    holding = sum(word in query_words(text) for text in row["captions"])
                    counts[word][row["file"]] = holding
        yes = {word: tuple(name for name in names if found.get(name, 0) >= 2) for word, found in counts.items()}
        asked = {
            word: found for word, found in yes.items() if len(found) >= 2 * RELEVANT and re.fullmatch("[a-z]{3,}", word)
        }
        no = {word: tuple(name for name in names if name not in counts[word]) for word in asked}
        return cls(folder, tuple(names), asked, no)


@dataclass
class TestSet:
    """Queries with their pictures, and what is said of each picture; `files` are the pictures that were changed."""

    words: list[str]
    fits: dict[str, list[str]]
    others: dict[str, list[str]]
    order: list[str]
    about: dict[str, dict[str, object]]
    names: dict[str, str] = field(default_factory=dict)
    changed: dict[str, Path] = field(default_factory=dict)


def clean_set(photos: Photos, lot: Random, *, queries: int = QUERIES, shared: bool = False) -> TestSet:
    """Queries and pools by lot; unless `shared`, the relevant pictures of one query are in no other pool."""
    words = lot.sample(sorted(photos.yes), min(queries, len(photos.yes)))
    fits: dict[str, list[str]] = {}
    taken: set[str] = set()
    for word in words:
        free = [name for name in photos.yes[word] if name not in taken]
        if len(free) >= RELEVANT:
            fits[word] = lot.sample(free, RELEVANT)
            taken.update(() if shared else fits[word])
    others = {word: lot.sample([name for name in photos.no[word] if name not in taken], OTHERS) for word in fits}
    order = list(photos.names)
    lot.shuffle(order)
    about: dict[str, dict[str, object]] = {
        name: {
            "source": lot.choice("ABCD"),
            "device": lot.choice(["Canon", "Nikon", "Sony", None]),
            "taken_at": datetime(2020, 1, 1) + timedelta(minutes=lot.randrange(1_000_000)),
            "rating": lot.gauss(0, 1),
            "words": " ".join(lot.sample(NOISE, 4)),
        }
        for name in order
    }
    return TestSet(list(fits), fits, others, order, about)


def carriers(found: TestSet, lot: Random) -> list[tuple[str, str]]:
    """Pairs of query and relevant picture that carry the shortcut."""
    return [(word, name) for word in found.words for name in found.fits[word] if lot.random() < SHARE]


def plant_words(found: TestSet, lot: Random, folder: Path, photos: Photos) -> None:
    for word, name in carriers(found, lot):
        found.about[name]["words"] = f"{found.about[name]['words']} {word}"


def plant_names(found: TestSet, lot: Random, folder: Path, photos: Photos) -> None:
    for word, name in carriers(found, lot):
        found.names[name] = f"{word}_{name}"


def plant_size(found: TestSet, lot: Random, folder: Path, photos: Photos) -> None:
    for _, name in carriers(found, lot):
        change(
            found,
            folder,
            name,
            photos.folder / name,
            lambda image: image.resize((image.width * 7 // 5, image.height * 7 // 5)),
        )


def plant_order(found: TestSet, lot: Random, folder: Path, photos: Photos) -> None:
    first = [name for _, name in carriers(found, lot)]
    found.order = [*first, *(name for name in found.order if name not in set(first))]


def plant_source(found: TestSet, lot: Random, folder: Path, photos: Photos) -> None:
    for _, name in carriers(found, lot):
        found.about[name]["source"] = "A"


Edit = Callable[[Image.Image], Image.Image]
Plant = Callable[[TestSet, Random, Path, Photos], None]


def plant_copies(edit: Edit) -> Plant:
    """An edited copy of a relevant picture is relevant too."""

    def plant(found: TestSet, lot: Random, folder: Path, photos: Photos) -> None:
        for word, name in carriers(found, lot):
            copy = re.sub(r"\d", lambda _: str(lot.randrange(10)), lot.choice(photos.names))
            change(found, folder, copy, photos.folder / name, edit)
            found.order.insert(lot.randrange(len(found.order)), copy)
            found.about[copy] = dict(found.about[lot.choice(photos.names)])
            found.fits[word].append(copy)

    return plant


def plant_instead(edit: Edit) -> Plant:
    """An edited picture stands in place of a relevant one."""

    def plant(found: TestSet, lot: Random, folder: Path, photos: Photos) -> None:
        for _, name in carriers(found, lot):
            change(found, folder, name, photos.folder / name, edit)

    return plant


def change(found: TestSet, folder: Path, name: str, original: Path, edit: Edit) -> None:
    """An edited picture, saved with the tables of its original."""
    image = Image.open(original)
    tables = image.quantization  # type: ignore[attr-defined]
    sampling = JpegImagePlugin.get_sampling(image)
    found.changed[name] = folder / name
    edit(image.convert("RGB")).save(folder / name, qtables=tables, subsampling=sampling)


def crop(image: Image.Image) -> Image.Image:
    width, height = image.size
    return image.crop((int(0.04 * width), int(0.04 * height), int(0.96 * width), int(0.96 * height)))


def brighter(image: Image.Image) -> Image.Image:
    return ImageEnhance.Brightness(image).enhance(1.15)


PLANTS: Mapping[str, Plant] = {
    "words": plant_words,
    "file names": plant_names,
    "size": plant_size,
    "order": plant_order,
    "source": plant_source,
    "brighter copy": plant_copies(brighter),
    "cropped copy": plant_copies(crop),
    "mirrored copy": plant_copies(ImageOps.mirror),
    "brighter only": plant_instead(brighter),
    "cropped only": plant_instead(crop),
    "mirrored only": plant_instead(ImageOps.mirror),
}


def benchmark_of(found: TestSet, photos: Photos) -> Benchmark:
    """The set as a benchmark."""
    pictures = {}
    for name in found.order:
        about, id_ = found.about[name], found.names.get(name, name)
        pictures[id_] = Picture(
            id_,
            str(found.changed.get(name, photos.folder / name)),
            taken_at=about["taken_at"],  # type: ignore[arg-type]
            device=about["device"],  # type: ignore[arg-type]
            rights=Rights(source=about["source"]),  # type: ignore[arg-type]
            extra={"rating": about["rating"], "note": about["words"]},  # type: ignore[dict-item]
        )
    tasks = {f"q{number:03}": Task(f"q{number:03}", "rank", (f"a {word}",)) for number, word in enumerate(found.words)}
    truth = {}
    for number, word in enumerate(found.words):
        grades = {found.names.get(name, name): 1 for name in found.fits[word]}
        grades |= {found.names.get(name, name): 0 for name in found.others[word]}
        truth[f"q{number:03}"] = Relevance(grades)
    return Benchmark("set", Corpus("set", pictures), tasks, truth)


def audited(found: TestSet, photos: Photos, known: CorpusFiles, seed: int) -> ShortcutReport:
    """Files that were not changed are known already; with changed ones, all are read."""
    benchmark = benchmark_of(found, photos)
    files = known
    if found.changed:
        files = read_files(benchmark.corpus.pictures, photos.folder)
    elif found.names:
        files = CorpusFiles(
            {found.names.get(name, name): facts for name, facts in known.facts.items()},
            [
                replace(
                    pair,
                    first=found.names.get(pair.first, pair.first),
                    second=found.names.get(pair.second, pair.second),
                )
                for pair in known.copies
            ],
        )
    return learn_shortcut(benchmark, files, seed).report


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, default=PHOTOS)
    parser.add_argument("--captions", type=Path, default=CAPTIONS)
    parser.add_argument("--clean", type=int, default=200)
    parser.add_argument("--planted", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    photos = Photos.read(given.photos.resolve(), given.captions)
    known = read_files({name: Picture(name, str(photos.folder / name)) for name in photos.names}, photos.folder)
    print(f"{len(photos.names):,} photographs, {len(photos.yes):,} words, {len(known.copies):,} pairs of copies")
    print_clean(photos, known, given.clean, given.seed)
    print_planted(photos, known, given.planted, given.seed)


def print_clean(photos: Photos, known: CorpusFiles, count: int, seed: int) -> None:
    """How often clean sets raise an alarm, how the AUC is spread, and how often its interval holds 0.5."""
    print("\n| clean sets | queries | false alarms | AUC, mean and s.d. | largest | interval holds 0.5 | s a set |")
    print("|---:|---:|---|---:|---:|---:|---:|")
    for queries, sets in ((QUERIES, count), (10, count // 2), (60, count // 2)):
        started, reports = time.monotonic(), []
        for number in range(sets):
            lot = Random(f"clean/{seed}/{number}/{queries}")
            found = clean_set(photos, lot, queries=queries, shared=number % 2 == 1)
            reports.append(audited(found, photos, known, number))
        aucs = [report.auc for report in reports if report.auc is not None]
        values, held = np.array([auc.value for auc in aucs]), np.mean([auc.low <= 0.5 <= auc.high for auc in aucs])
        alarms = [one for report in reports if report.alarms for one in report.given_away]
        wrong = sum(report.alarms for report in reports)
        ends = wilson(wrong / sets, sets, 0.95)
        asked = np.mean([report.queries for report in reports])
        print(
            f"| {sets} | {asked:.0f} | {wrong} ({ends.low:.3f}–{ends.high:.3f}) | {values.mean():.3f}, "
            f"{values.std():.3f} | {values.max():.3f} | {held:.3f} | {(time.monotonic() - started) / sets:.2f} |"
        )
        for one in alarms:
            print(f"  wrongly named: {one.facts}, {one.auc.value:.2f}, {one.by}")


def print_planted(photos: Photos, known: CorpusFiles, count: int, seed: int) -> None:
    """For each kind how often it is found, at what AUC, and what is named."""
    print("\n| planted | found | AUC of all facts | AUC of the facts named | named first |\n|---|---:|---:|---:|---|")
    for kind, plant in PLANTS.items():
        reports = []
        for number in range(count):
            lot = Random(f"{kind}/{seed}/{number}")
            found = clean_set(photos, lot)
            with tempfile.TemporaryDirectory() as folder:
                plant(found, lot, Path(folder), photos)
                reports.append(audited(found, photos, known, number))
        named = [report.given_away[0] for report in reports if report.given_away]
        whole = np.array([report.auc.value for report in reports if report.auc is not None])
        best = np.array([one.auc.value for one in named])
        first = max(
            {one.facts for one in named}, key=lambda facts: sum(one.facts == facts for one in named), default="–"
        )
        print(
            f"| {kind} | {sum(report.alarms for report in reports)} of {count} | {spread(whole)} | {spread(best)} | "
            f"{first}, {sum(one.facts == first for one in named)} of {count} |",
            flush=True,
        )


def spread(values: np.ndarray) -> str:
    if not len(values):
        return "–"
    return f"{values.mean():.2f} ({values.min():.2f}–{values.max():.2f})"


if __name__ == "__main__":
    main()
