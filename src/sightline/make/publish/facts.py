"""What the card, the citation and the Croissant file say of a published benchmark."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sightline.config.settings import BenchmarkSettings
from sightline.make.publish.layout import Config, Layout
from sightline.make.publish.licences import licence_id, on_the_hub
from sightline.types import Benchmark, Relevance


@dataclass(frozen=True, slots=True)
class RightsRow:
    """Pictures that share licence, source, DOI and whom to name."""

    licence: str
    source: str
    doi: str
    attribution: str
    pictures: int


@dataclass(frozen=True, slots=True)
class Facts:
    """All of it."""

    benchmark: Benchmark
    author: BenchmarkSettings
    layout: Layout
    configs: Sequence[Config]
    splits: Mapping[str, Benchmark]
    left_out: Mapping[str, int]
    lost_tasks: int
    lost_pairs: int
    people: int
    people_unknown: int
    metadata_kept: bool
    released: date
    repo: str | None = None
    audit: Mapping[str, Any] = field(default_factory=dict)
    together: Sequence[str] = ()
    "Which ties between pictures keep them in one split."
    ids_kept: bool = False

    @property
    def title(self) -> str:
        return title_of(self.benchmark)

    @property
    def description(self) -> str:
        said = self.author.description or self.benchmark.card.get("description")
        return " ".join(str(said or f"Pictures to be found for the queries of {self.title}.").split())

    @property
    def pictures(self) -> int:
        return len(self.benchmark.corpus.pictures)

    @property
    def judged_pairs(self) -> int:
        truths = (truth for part in self.splits.values() for truth in part.truth.values())
        return sum(len(truth.grades) for truth in truths if isinstance(truth, Relevance))

    @property
    def rights(self) -> tuple[RightsRow, ...]:
        """The rights table, most frequent first."""
        counts = Counter(
            (licence_id(rights.license), rights.source or "", rights.doi or "", rights.attribution or "")
            for rights in (picture.rights for picture in self.benchmark.corpus.pictures.values())
        )
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return tuple(RightsRow(*key, pictures=count) for key, count in ordered)

    @property
    def licences(self) -> list[str]:
        """Licences of the pictures, as the hub calls them."""
        return sorted({on_the_hub(row.licence) for row in self.rights})

    @property
    def version(self) -> str:
        return self.benchmark.version

    @property
    def fingerprint(self) -> str:
        """Names exactly the published pictures and judgments, whatever is said about them."""
        found = hashlib.sha256()
        for id_, picture in sorted(self.benchmark.corpus.pictures.items()):
            found.update(f"{id_}\0{picture.sha256}\n".encode())
        for task, truth in sorted(self.benchmark.truth.items()):
            found.update(f"{task}\0{truth!r}\n".encode())
        return found.hexdigest()


def title_of(benchmark: Benchmark) -> str:
    """The name of a data set: the benchmark's, on one line."""
    return " ".join(benchmark.name.split())


def size_category(rows: int) -> str:
    """The hub's word for how large a data set is."""
    for limit, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")):
        if rows < limit:
            return name
    return "n>1M"
