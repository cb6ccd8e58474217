"""What is said of a published data set, and two of the files that say it.

`CITATION.cff` (and the same as BibTeX for the card), and `croissant.json`: MLCommons' Croissant 1.0.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.authoring.dataset.card_checks import CardChecks, LabelCheck
from sightline.authoring.dataset.manifest import PublishOptions, PublishTerms
from sightline.authoring.dataset.selection import PublishSelection, licence_id, on_the_hub
from sightline.authoring.dataset.splits import BenchmarkSplits
from sightline.authoring.dataset.tables import DatasetConfig
from sightline.benchmark.formats.parquet import IMAGE
from sightline.config.settings import BenchmarkSettings
from sightline.types import Benchmark, Relevance

_TYPES = {
    "string": "sc:Text",
    "int32": "sc:Integer",
    "int64": "sc:Integer",
    "float64": "sc:Float",
    "bool": "sc:Boolean",
}
_REPO = "repo"


@dataclass(frozen=True, slots=True)
class RightsRow:
    """Pictures that share licence, source, DOI and whom to name."""

    licence: str
    source: str
    doi: str
    attribution: str
    pictures: int


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """All of it."""

    benchmark: Benchmark
    author: BenchmarkSettings
    configs: Sequence[DatasetConfig]
    divided: BenchmarkSplits
    chosen: PublishSelection
    terms: PublishTerms
    options: PublishOptions
    checks: CardChecks
    audit: Mapping[str, Any]

    @property
    def lost_tasks(self) -> dict[str, str]:
        """Tasks that are left out, and why."""
        return {**self.chosen.lost_tasks, **self.divided.lost_tasks}

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
        truths = (truth for part in self.divided.splits.values() for truth in part.truth.values())
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


def citation_file(facts: DatasetFacts) -> bytes:
    """Citation File Format 1.2.0; values are JSON strings, which YAML reads."""
    lines = [
        "cff-version: 1.2.0",
        'message: "If you use this data set, please cite it as below."',
        "type: dataset",
        f"title: {quoted(facts.title)}",
        f"abstract: {quoted(facts.description)}",
        f"version: {quoted(facts.version)}",
        f"date-released: {facts.options.released.isoformat()}",
        "authors:",
        *_author(facts),
    ]
    known = [licence for licence in facts.licences if licence != "other"]
    if len(known) == 1 and len(facts.licences) == 1:
        lines.append(f"license: {_spdx(known[0])}")
    if facts.options.repo:
        lines.append(f"url: {quoted(f'https://huggingface.co/datasets/{facts.options.repo}')}")
    dois = sorted({row.doi for row in facts.rights if row.doi})
    if dois:
        lines += ["references:", *(line for doi in dois for line in _reference(doi))]
    return ("\n".join(lines) + "\n").encode()


def bibtex(facts: DatasetFacts) -> str:
    """An entry for a paper."""
    key = re.sub(r"[^a-z0-9]+", "", facts.title.casefold()) or "benchmark"
    repo, year = facts.options.repo, facts.options.released.year
    address = f"\n  howpublished = {{\\url{{https://huggingface.co/datasets/{repo}}}}}," if repo else ""
    return (
        f"@misc{{{key}{year},\n  title = {{{_tex(facts.title)}}},\n"
        f"  author = {{{_tex(facts.author.author or 'unknown')}}},\n  year = {{{year}}},{address}\n"
        f"  note = {{Version {_tex(facts.version)}}}\n}}"
    )


def _author(facts: DatasetFacts) -> list[str]:
    author = facts.author
    if author.author is None:
        return [f"- name: {quoted('The authors of ' + facts.title)}"]
    *given, family = author.author.split()
    lines = [f"- family-names: {quoted(family)}", f"  given-names: {quoted(' '.join(given))}"] if given else []
    lines = lines or [f"- name: {quoted(family)}"]
    if author.affiliation:
        lines.append(f"  affiliation: {quoted(author.affiliation)}")
    if author.orcid:
        lines.append(f"  orcid: {quoted('https://orcid.org/' + author.orcid.removeprefix('https://orcid.org/'))}")
    return lines


def _reference(doi: str) -> list[str]:
    return ["- type: data", f"  title: {quoted('Source of pictures')}", "  authors:", '  - name: "see the DOI"',
            f"  doi: {quoted(doi.removeprefix('https://doi.org/'))}"]  # fmt: skip


def _spdx(licence: str) -> str:
    """The hub writes licences in small letters; SPDX, which this format asks for, mostly in capitals."""
    special = {"mit": "MIT", "apache-2.0": "Apache-2.0", "pddl": "PDDL-1.0", "odbl": "ODbL-1.0", "odc-by": "ODC-By-1.0"}
    return special.get(licence) or licence.upper()


def quoted(value: str) -> str:
    """As YAML, which reads JSON's strings."""
    return json.dumps(value, ensure_ascii=False)


def _tex(value: str) -> str:
    return re.sub(r"([&%$#_{}])", r"\\\1", value)


def croissant(facts: DatasetFacts) -> dict[str, Any]:
    """The JSON-LD document."""
    address = f"https://huggingface.co/datasets/{facts.options.repo}" if facts.options.repo else "./"
    repo = {
        "@type": "cr:FileObject", "@id": _REPO, "name": _REPO, "description": "The folder of the data set.",
        "contentUrl": f"{address}/tree/main" if facts.options.repo else "./",
        "encodingFormat": "git+https", "sha256": "https://github.com/mlcommons/croissant/issues/80",
    }  # fmt: skip
    creator = {"@type": "Person", "name": facts.author.author or "unknown"}
    context = Path(__file__).with_name("croissant_context.json")
    return {
        "@context": json.loads(context.read_text("utf-8")),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": facts.title,
        "description": facts.description,
        "url": address,
        "version": facts.version,
        "datePublished": facts.options.released.isoformat(),
        "license": list(dict.fromkeys(row.licence for row in facts.rights)),
        "creator": creator | ({"email": facts.author.email} if facts.author.email else {}),
        "isLiveDataset": False,
        "rai:personalSensitiveInformation": _people(facts),
        "rai:dataAnnotationProtocol": f"{judged_by(facts.checks.labels)} See README.md.",
        "distribution": [repo, *(_file_set(config) for config in facts.configs)],
        "recordSet": [_record_set(config) for config in facts.configs if config.columns],
    }


def _people(facts: DatasetFacts) -> str:
    chosen, files = facts.chosen, facts.checks.files
    return (
        f"{chosen.people} pictures are annotated as showing people; of {chosen.people_unknown} it is not known. "
        f"EXIF, XMP or comments are in {files.told} of {files.files} files, a place in {files.placed}."
    )


def judged_by(labels: LabelCheck) -> str:
    """Who gave the labels, as far as the judgments tell."""
    pairs = f"{labels.judged:,} pairs of query and picture have a label"
    if not labels.by:
        return f"{pairs}; who gave them is not recorded."
    return f"{pairs}; judgments by {', '.join(f'{judge} ({count:,})' for judge, count in labels.by.items())}."


def _file_set(config: DatasetConfig) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet", "@id": f"files-{config.name}", "name": f"files-{config.name}",
        "containedIn": {"@id": _REPO}, "encodingFormat": "application/x-parquet",
        "includes": f"{config.name}/*.parquet",
    }  # fmt: skip


def _record_set(config: DatasetConfig) -> dict[str, Any]:
    found: dict[str, Any] = {"@type": "cr:RecordSet", "@id": config.name, "name": config.name}
    if "id" in config.columns:
        found["key"] = {"@id": f"{config.name}/id"}
    fields = [_field(config, name, kind) for name, kind in config.columns.items()]
    split = {
        "@type": "cr:Field", "@id": f"{config.name}/split", "name": "split", "dataType": "sc:Text",
        "description": "The split, from the name of the file.",
        "source": {
            "fileSet": {"@id": f"files-{config.name}"}, "extract": {"fileProperty": "fullpath"},
            "transform": {"regex": f"{config.name}/([^/]+)-\\d+\\.parquet$"},
        },
    }  # fmt: skip
    return found | {"field": [split, *fields]}


def _field(config: DatasetConfig, name: str, kind: Any) -> dict[str, Any]:
    repeated = isinstance(kind, list)
    inner = kind[0] if repeated else kind
    extract: dict[str, Any] = {"extract": {"column": name}}
    if inner == IMAGE:
        extract["transform"] = {"jsonPath": "bytes"}
    found: dict[str, Any] = {
        "@type": "cr:Field", "@id": f"{config.name}/{name}", "name": name,
        "dataType": "sc:ImageObject" if inner == IMAGE else _TYPES.get(inner, "sc:Text"),
        "source": {"fileSet": {"@id": f"files-{config.name}"}, **extract},
    }  # fmt: skip
    target = {"query-id": "queries/id", "corpus-id": "corpus/id", "picture": "corpus/id"}.get(name)
    if target and not repeated:
        found["references"] = {"field": {"@id": target}}
    return found | ({"repeated": True} if repeated else {})
