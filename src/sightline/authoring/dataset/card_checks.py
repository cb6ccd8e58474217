"""What a card states about a data set, counted in the very files and tables that are published."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from sightline.authoring.dataset.selection import UNKNOWN, licence_id
from sightline.authoring.dataset.splits import BenchmarkSplits
from sightline.authoring.dataset.ties import TIED
from sightline.corpus.pixels import RefusedError
from sightline.metrics.scope import Scopes
from sightline.models.pictures import open_one
from sightline.runs.shortcuts.facts import CorpusFiles
from sightline.types import Benchmark, Group, GroupKind, Relevance

_ORIENTATION, _GPS = 0x0112, 0x8825
_NOTES = ("xmp", "XML:com.adobe.xmp", "comment", "photoshop")
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class TieCheck:
    """Groups of one kind among the published pictures, and how many of them are in more than one split."""

    kind: GroupKind
    groups: int
    apart: int


@dataclass(frozen=True, slots=True)
class SplitCheck:
    """How well splits keep pictures apart.

    `twice`: files that are in more than one split. `compared` files were compared by their looks, and `copies` pairs
    of copies are in different splits.
    """

    pictures: int
    twice: int
    compared: int
    copies: int
    ties: tuple[TieCheck, ...]


@dataclass(frozen=True, slots=True)
class FileCheck:
    """What the published files still tell: `told` have EXIF (but for how they are turned), XMP or comments."""

    files: int
    told: int
    placed: int
    turned: int


@dataclass(frozen=True, slots=True)
class LabelCheck:
    """Judged pairs of query and picture, of all pairs that could have been judged; who judged how many."""

    judged: int
    possible: int
    by: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CardChecks:
    """All of it; `by_content` pictures are called by their hash, and `licensed` ones have a known licence."""

    splits: SplitCheck
    files: FileCheck
    labels: LabelCheck
    by_content: int
    licensed: int


def check_card(
    benchmark: Benchmark, divided: BenchmarkSplits, folder: Path, ties: Sequence[Group], files: CorpusFiles
) -> CardChecks:
    """Count everything in what is published; `ties` are groups that are known but not published."""
    return CardChecks(
        check_splits(divided, (*benchmark.corpus.groups, *ties), files),
        check_files(benchmark, folder),
        count_labels(divided),
        ids_by_content(benchmark),
        sum(licence_id(one.rights.license) != UNKNOWN for one in benchmark.corpus.pictures.values()),
    )


def check_splits(divided: BenchmarkSplits, groups: Sequence[Group], files: CorpusFiles) -> SplitCheck:
    """Count what is in more than one split."""
    homes: dict[str, set[str]] = defaultdict(set)
    by_content: dict[str, set[str]] = defaultdict(set)
    for split, part in divided.splits.items():
        for id_, picture in part.corpus.pictures.items():
            homes[id_].add(split)
            by_content[picture.sha256 or id_].add(split)
    copies = sum(len(homes[pair.first] | homes[pair.second]) > 1 for pair in files.copies)
    return SplitCheck(
        len(homes),
        sum(len(splits) > 1 for splits in by_content.values()),
        sum(id_ in files.facts for id_ in homes),
        copies,
        tuple(_tie(kind, [group for group in groups if group.kind == kind], homes) for kind in TIED),
    )


def _tie(kind: GroupKind, groups: Sequence[Group], homes: Mapping[str, set[str]]) -> TieCheck:
    where = [set[str]().union(*(homes[id_] for id_ in group.pictures if id_ in homes)) for group in groups]
    return TieCheck(kind, sum(bool(splits) for splits in where), sum(len(splits) > 1 for splits in where))


def check_files(benchmark: Benchmark, folder: Path) -> FileCheck:
    """Open every file as it is published."""
    told = placed = turned = 0
    for picture in benchmark.corpus.pictures.values():
        try:
            image = open_one((folder / picture.uri).read_bytes())
        except (OSError, RefusedError):
            continue
        exif = image.getexif()
        told += bool(set(exif) - {_ORIENTATION}) or _has_notes(image)
        placed += bool(exif.get_ifd(_GPS))
        turned += exif.get(_ORIENTATION, 1) != 1
    return FileCheck(len(benchmark.corpus.pictures), told, placed, turned)


def _has_notes(image: Image.Image) -> bool:
    return any(image.info.get(name) for name in _NOTES) or bool(getattr(image, "text", None))


def count_labels(divided: BenchmarkSplits) -> LabelCheck:
    """Count judged pairs, and those of pictures that may be searched and were not judged."""
    judged = possible = 0
    by: dict[str, int] = defaultdict(int)
    for part in divided.splits.values():
        scopes, count = Scopes(part.corpus), len(part.corpus.pictures)
        for id_, truth in part.truth.items():
            if isinstance(truth, Relevance):
                allowed = scopes.pictures(part.tasks[id_].scope)
                judged += len(truth.grades)
                possible += max(count if allowed is None else len(allowed), len(truth.grades))
        for judgment in part.judgments:
            by[judgment.judge] += 1
    return LabelCheck(judged, possible, dict(sorted(by.items())))


def ids_by_content(benchmark: Benchmark) -> int:
    """How many pictures are called by the first digits of their hash."""
    pictures = benchmark.corpus.pictures.values()
    return sum(one.sha256 is not None and one.id.startswith(one.sha256[:_DIGITS]) for one in pictures)
