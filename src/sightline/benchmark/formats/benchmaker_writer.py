"""Benchmarks as benchmaker's files, in its exact fields."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.benchmark.formats.base import Content, FormatOptions
from sightline.benchmark.formats.benchmaker_columns import (
    ANNOTATIONS,
    IMAGES,
    NAMES,
    PLAN,
    QRELS,
    RIGHTS,
    SCORED,
    SEEDS,
    columns_of,
)
from sightline.benchmark.formats.retrieval import JudgedTask, check_options, judged
from sightline.config.settings import ColumnSettings
from sightline.english import counted
from sightline.io.files import whole_folder
from sightline.io.jsonl import write_json, write_jsonl
from sightline.types import Annotation, Benchmark, Candidate, Picture, Rights

log = logging.getLogger(__name__)

_UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class BenchmakerRows:
    """The rows of a benchmark in benchmaker's columns."""

    names: ColumnSettings
    benchmark: Benchmark
    tasks: list[JudgedTask]
    notes: Mapping[str, Annotation]
    pools: Mapping[str, list[Candidate]]
    base_url: str | None = None

    @classmethod
    def of(cls, benchmark: Benchmark, options: FormatOptions) -> BenchmakerRows:
        pools: dict[str, list[Candidate]] = defaultdict(list)
        for candidate in benchmark.candidates:
            pools[candidate.task].append(candidate)
        notes: dict[str, Annotation] = {}
        for note in benchmark.annotations:
            notes.setdefault(note.picture_id, note)
        more = len(benchmark.annotations) - len(notes)
        if more:
            log.warning("left out: %s (one is written for each picture)", counted(more, "further annotation"))
        names = columns_of(options, None).names
        return cls(names, benchmark, judged(benchmark, options), notes, pools, options.extra.get("base_url"))

    def images(self) -> Iterator[dict[str, Any]]:
        """`images.jsonl`: what is known of a picture beside these fields is in the merged columns."""
        names = self.names
        for picture in self.benchmark.corpus.pictures.values():
            extra = dict(picture.extra)
            yield {
                names.image_id: picture.id,
                names.image_url: extra.pop("image_url", None) or self._address(picture),
                names.mime_type: picture.mime,
                names.license: picture.rights.license or _UNKNOWN,
                names.doi: picture.rights.doi or _UNKNOWN,
                names.dataset: picture.rights.source or _UNKNOWN,
                **self._others(extra),
            }

    def annotations(self) -> Iterator[dict[str, Any]]:
        """`annotations.jsonl`."""
        names = self.names
        for note in self.notes.values():
            yield {
                names.image_id: note.picture_id,
                names.summary: note.summary,
                **self._others(note.facets),
                **self._others(note.flags),
                names.tags: list(note.tags),
                names.confidence: dict(note.confidence),
                **self._rights(note.picture_id),
                **self._others(note.extra),
            }

    def seeds(self) -> Iterator[dict[str, Any]]:
        """`seeds.jsonl`."""
        for task, _ in self.tasks:
            if task.id in self.pools:
                yield {self.names.query_id: task.id, self.names.seeds: self._seeds(task.id)}

    def plans(self) -> Iterator[dict[str, Any]]:
        """`query_plan.jsonl`, with the tiers in `candidates` beside the ids that benchmaker knows."""
        names = self.names
        for task, _ in self.tasks:
            if task.id in self.pools:
                pool = self._pool(task.id)
                yield {
                    names.query_id: task.id,
                    names.seeds: self._seeds(task.id),
                    names.candidates: [candidate.picture for candidate in pool],
                    "candidates": [
                        {names.image_id: candidate.picture, "tier": candidate.tier, "score": candidate.score}
                        for candidate in pool
                    ],
                }

    def judgments(self, *, similarity: bool) -> Iterator[dict[str, Any]]:
        """`qrels.jsonl`, the seed first; with the similarity column, `qrels_with_score.jsonl`."""
        names = self.names
        for task, grades in self.tasks:
            scores = self._similarities(task.id)
            for picture in self._seed_first(task.id, grades):
                row = {
                    names.query_id: task.id,
                    names.query: task.text,
                    names.image_id: picture,
                    names.relevance: grades[picture],
                    **self._said(picture),
                }
                if similarity:
                    row[self.similarity_column] = scores.get(picture)
                yield row

    @property
    def similarity_column(self) -> str:
        """The column that the similarities came in, if they came from benchmaker, unless it is mapped."""
        if self.names.similarity != ColumnSettings().similarity:
            return self.names.similarity
        for task, _ in self.tasks:
            column = _similarity(task.extra).get("column")
            if isinstance(column, str) and column:
                return column
        return self.names.similarity

    @property
    def has_similarities(self) -> bool:
        return any(self._similarities(task.id) for task, _ in self.tasks)

    def rights_map(self) -> dict[str, Any]:
        """`rights_map.json`: one prefix for a folder whose pictures share their rights, else file by file."""
        folders: dict[str, list[Picture]] = defaultdict(list)
        for picture in self.benchmark.corpus.pictures.values():
            folder, slash, _ = picture.id.partition("/")
            folders[f"{folder}/" if slash else ""].append(picture)
        prefixes: list[dict[str, str]] = []
        files: dict[str, dict[str, str]] = {}
        for prefix, pictures in folders.items():
            if prefix and len({picture.rights for picture in pictures}) == 1:
                prefixes.append({"prefix": prefix, **_rights_entry(pictures[0].rights)})
            else:
                files |= {picture.id: _rights_entry(picture.rights) for picture in pictures}
        return {"default": _rights_entry(Rights()), "files": files, "prefixes": prefixes}

    def _said(self, picture: str) -> dict[str, Any]:
        """What benchmaker copies from the annotation into each judgment, in its order."""
        note = self.notes.get(picture)
        if note is None:
            return self._rights(picture)
        return {
            self.names.confidence: dict(note.confidence),
            **self._rights(picture),
            self.names.summary: note.summary,
            self.names.tags: list(note.tags),
            **self._others(note.flags),
            **self._others(note.facets),
            **self._others(note.extra),
        }

    def _others(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Columns of the user's own; one with the name of a fixed column would take its place, and is left out."""
        fixed = set(self.names.model_dump().values())
        return {name: value for name, value in said.items() if name not in fixed}

    def _rights(self, name: str) -> dict[str, str]:
        picture = self.benchmark.corpus.pictures.get(name)
        rights = Rights() if picture is None else picture.rights
        return {self.names.doi: rights.doi or _UNKNOWN, self.names.license: rights.license or _UNKNOWN}

    def _address(self, picture: Picture) -> str:
        return picture.uri if self.base_url is None else f"{self.base_url.rstrip('/')}/{picture.id}"

    def _pool(self, task: str) -> list[Candidate]:
        return sorted(self.pools.get(task, []), key=lambda candidate: candidate.tier != "seed")

    def _seeds(self, task: str) -> list[str]:
        return [candidate.picture for candidate in self.pools.get(task, []) if candidate.tier == "seed"]

    def _seed_first(self, task: str, grades: Mapping[str, int]) -> list[str]:
        """Judged pictures in the order of the plan; those outside it last."""
        planned = [candidate.picture for candidate in self._pool(task)]
        return [picture for picture in dict.fromkeys((*planned, *grades)) if picture in grades]

    def _similarities(self, task: str) -> Mapping[str, Any]:
        scores = _similarity(self.benchmark.tasks[task].extra).get("scores")
        return scores if isinstance(scores, Mapping) else {}


def write_files(content: Content, path: Path, options: FormatOptions) -> None:
    """Write all files that the benchmark has something for."""
    check_options(options, "base_url")
    assert isinstance(content, Benchmark)
    rows = BenchmakerRows.of(content, options)
    with whole_folder(path, marker=IMAGES, owned=NAMES) as folder:
        write_jsonl(folder / IMAGES, rows.images())
        write_json(folder / RIGHTS, rows.rights_map())
        write_jsonl(folder / QRELS, rows.judgments(similarity=False))
        if rows.notes:
            write_jsonl(folder / ANNOTATIONS, rows.annotations())
        if rows.pools:
            write_jsonl(folder / SEEDS, rows.seeds())
            write_jsonl(folder / PLAN, rows.plans())
        if rows.has_similarities:
            write_jsonl(folder / SCORED, rows.judgments(similarity=True))


def _similarity(extra: Mapping[str, Any]) -> Mapping[str, Any]:
    found = extra.get("similarity")
    return found if isinstance(found, Mapping) else {}


def _rights_entry(rights: Rights) -> dict[str, str]:
    return {
        "license": rights.license or _UNKNOWN,
        "doi": rights.doi or _UNKNOWN,
        "dataset_name": rights.source or _UNKNOWN,
    }
