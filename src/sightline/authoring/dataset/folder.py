"""A published folder: tables, card, citation, rights and manifest, written whole or not at all."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from sightline.authoring.audit import audit_benchmark
from sightline.authoring.dataset.card import card_file
from sightline.authoring.dataset.card_checks import CardChecks, check_card
from sightline.authoring.dataset.ids import PublishedNames, neutral_names, read_names, rename_benchmark, write_names
from sightline.authoring.dataset.manifest import (
    MANIFEST,
    DatasetManifest,
    PublishOptions,
    PublishTerms,
    checksums,
    read_manifest,
)
from sightline.authoring.dataset.metadata import DatasetFacts, citation_file, croissant, title_of
from sightline.authoring.dataset.pictures import PreparedDataset, prepare_pictures
from sightline.authoring.dataset.selection import PublishSelection, choose_pictures
from sightline.authoring.dataset.splits import BenchmarkSplits, parse_splits, split_benchmark
from sightline.authoring.dataset.tables import TASK_FILE, Layout, task_file, write_tables
from sightline.authoring.project_benchmark import ProjectBenchmark
from sightline.config import Config
from sightline.errors import UserError
from sightline.io.files import csv_bytes, whole_folder, write_whole
from sightline.io.jsonl import dump, write_json
from sightline.runs.shortcuts.facts import CorpusFiles, read_files
from sightline.types import Benchmark, Group, GroupKind, Picture

CARD, CITATION, CROISSANT, RIGHTS = "README.md", "CITATION.cff", "croissant.json", "rights.csv"
TABLES = (
    "corpus", "queries", "qrels", "top_ranked", "annotations", "data", "pictures", "tasks", "truth", "groups",
    "candidates", "judgments", "reviews",
)  # fmt: skip
OWNED = (CARD, CITATION, CROISSANT, RIGHTS, MANIFEST, TASK_FILE, "benchmark.json", "dataset_metadata.json", *TABLES)
"""What a published folder may hold of ours; anything else in it is somebody else's, and stays."""


def build_folder(
    source: ProjectBenchmark, out: Path, terms: PublishTerms, config: Config, options: PublishOptions
) -> DatasetManifest:
    """Write the folder; what stays here, and why, is in the manifest that comes back."""
    parse_splits(terms.splits)  # Refused before the work.
    chosen = choose_pictures(source.benchmark, source.folder, licences=terms.licences, taken_down=options.taken_down)
    ask_first(chosen, terms, agreed=options.agreed)
    earlier = _earlier(out, options)
    with prepare_pictures(
        chosen, source.folder, out, keep_metadata=terms.keep_metadata, taken_down=options.taken_down
    ) as found:
        _refuse_another(out, found.benchmark)
        names = _names(found.benchmark, terms, earlier)
        ready = found
        if not terms.keep_ids:
            renamed = rename_benchmark(found.benchmark, names, source.benchmark.corpus.pictures)
            ready = replace(found, benchmark=renamed)
        files = read_files(ready.benchmark.corpus.pictures, ready.pictures, config)
        ties = tuple(_renamed(options.ties, names))
        divided = _divided(ready, ties, files, terms, config, _homes(out, names, earlier))
        checks = check_card(ready.benchmark, divided, ready.pictures, ties, files)
        found_facts = _Found(checks, _audit(ready.benchmark, files, options))
        with whole_folder(out, marker=MANIFEST, owned=OWNED) as folder:
            manifest = _write(folder, ready, divided, terms, config, options, found_facts)
            if options.names is not None and not terms.keep_ids:
                # First: a published picture that nobody here can name could not be taken down by its id.
                write_names(options.names, replace(names, pictures={**earlier.pictures, **names.pictures}))
    return manifest


def _divided(
    ready: PreparedDataset,
    ties: Sequence[Group],
    files: CorpusFiles,
    terms: PublishTerms,
    config: Config,
    before: Mapping[str, str],
) -> BenchmarkSplits:
    shares = parse_splits(terms.splits)
    return split_benchmark(
        _tied(ready.benchmark, ties) if len(shares) > 1 else ready.benchmark,
        shares,
        ready.pictures,
        together=cast("Collection[GroupKind]", terms.together),
        same_bits=config.duplicates.bits,
        seed=terms.seed,
        before=before,
        copies=files.copies,
    )


class _Found(NamedTuple):
    """What was counted and measured in the data that is published."""

    checks: CardChecks
    audit: Mapping[str, Any]


def _renamed(groups: Sequence[Group], names: PublishedNames) -> Iterator[Group]:
    """Groups of published pictures, under the pictures' published names."""
    for group in groups:
        members = tuple(names.pictures[id_] for id_ in group.pictures if id_ in names.pictures)
        if members:
            yield replace(group, pictures=members)


def _tied(benchmark: Benchmark, ties: Sequence[Group]) -> Benchmark:
    """With groups that are known but not in it; that everything is of one owner ties nothing."""
    owners = sum(group.kind == "owner" for group in ties)
    kept = (group for group in ties if group.kind != "owner" or owners > 1)
    return replace(benchmark, corpus=replace(benchmark.corpus, groups=(*benchmark.corpus.groups, *kept)))


def _audit(benchmark: Benchmark, files: CorpusFiles, options: PublishOptions) -> dict[str, Any]:
    """Measured again: of the pictures and queries that are published, under the names that they are published by."""
    judging = benchmark.card.get("judging")
    known = judging if isinstance(judging, dict) else None
    return audit_benchmark(benchmark, judging=known, set_aside=options.set_aside, files=files).summary()


def _earlier(out: Path, options: PublishOptions) -> PublishedNames:
    if options.names is not None and out.resolve() in options.names.resolve().parents:
        raise UserError(
            f"{options.names.parent} is inside {out}, so private files of the project would be published.",
            "choose another folder for the data set (paths.dataset)",
        )
    return read_names(options.names)


def _refuse_another(out: Path, benchmark: Benchmark) -> None:
    """A data set of the same name, or with some of the same pictures, is one that this takes the place of."""
    there = {row["sha256"] for row in published_pictures(out)}
    name = title_of(benchmark)
    if not there or any(picture.sha256 in there for picture in benchmark.corpus.pictures.values()):
        return
    held = read_manifest(out).name
    if held != name:
        raise UserError(
            f'{out} holds the data set "{held}", not "{name}"; it is left as it is.',
            "choose another project (--out FOLDER) or another place for the data set (paths.dataset)",
        )


def _names(benchmark: Benchmark, terms: PublishTerms, earlier: PublishedNames) -> PublishedNames:
    if terms.keep_ids:
        return PublishedNames({id_: id_ for id_ in benchmark.corpus.pictures})
    return neutral_names(benchmark, earlier)


def _homes(out: Path, names: PublishedNames, earlier: PublishedNames) -> dict[str, str]:
    """The splits of the last time, by the names of this time, also if ids were kept in one of the two."""
    rows = {row["picture"]: row["split"] for row in published_pictures(out) if row.get("split")}
    originals = earlier.originals
    known = {originals.get(id_, id_): split for id_, split in rows.items()}
    homes = {name: known.get(id_) or rows.get(name) for id_, name in names.pictures.items()}
    return {name: split for name, split in homes.items() if split is not None}


def ask_first(chosen: PublishSelection, terms: PublishTerms, *, agreed: bool) -> None:
    """Pictures of people, and ids as they are here, are published only by somebody who was told of them."""
    if agreed:
        return
    said, ways = [], []
    if chosen.people:
        said.append(f"{chosen.people:,} pictures show people, as their annotations say")
    if chosen.people_unknown:
        said.append(f"of {chosen.people_unknown:,} pictures it is not known: no facet or flag asks about people")
    if said:
        ways.append(
            "look at them; if whom they show has agreed, or need not, say --yes (a flag people in [annotate] tells)"
        )
    if terms.keep_ids:
        example = next(iter(chosen.benchmark.corpus.pictures))
        said.append(f'ids stay as they are, such as "{example}", and may tell who took a picture, and when')
        ways.append("leave --keep-ids out, or say --yes")
    if said:
        raise AgreementError(f"{'; '.join(said)}.", "; ".join(ways))


class AgreementError(UserError):
    """Somebody must agree first to what is published."""


def _write(
    folder: Path,
    ready: PreparedDataset,
    divided: BenchmarkSplits,
    terms: PublishTerms,
    config: Config,
    options: PublishOptions,
    found: _Found,
) -> DatasetManifest:
    layout = cast("Layout", terms.layout)
    configs = write_tables(folder, divided.splits, ready.pictures, layout, config.columns)
    facts = DatasetFacts(ready.benchmark, config.benchmark, configs, divided, ready.chosen, terms, options, *found)
    written = {
        CARD: card_file(facts, _own_words(config)),
        CITATION: citation_file(facts),
        CROISSANT: dump(croissant(facts), indent=True),
        RIGHTS: csv_bytes(
            [
                _rights_row(picture, split)
                for split, part in divided.splits.items()
                for picture in part.corpus.pictures.values()
            ]
        ),
    }
    if layout == "retrieval":
        written[TASK_FILE] = task_file(ready.benchmark, configs, tuple(divided.splits))
    for name, data in written.items():
        write_whole(folder / name, data)
    manifest = DatasetManifest(
        facts.title,
        facts.version,
        facts.fingerprint,
        terms,
        options.released.isoformat(),
        options.repo,
        _counts(divided, facts),
        ready.chosen.reasons,
        facts.lost_tasks,
        checksums(folder),
    )
    write_json(folder / MANIFEST, manifest.to_json())
    return manifest


def _counts(divided: BenchmarkSplits, facts: DatasetFacts) -> dict[str, int]:
    parts: tuple[Benchmark, ...] = tuple(divided.splits.values())
    return {
        "pictures": sum(len(part.corpus.pictures) for part in parts),
        "queries": sum(len(part.tasks) for part in parts),
        "judged pairs": facts.judged_pairs,
        "pictures left out": len(facts.chosen.left_out),
        "queries left out": len(facts.lost_tasks),
        "pairs left out": divided.lost_pairs,
        "people": facts.chosen.people,
    }


def published_pictures(folder: Path) -> list[dict[str, str]]:
    """The rights table of a published folder: each picture with its hash, split and rights; empty if there is none."""
    path = folder / RIGHTS
    if not path.is_file() or not (folder / MANIFEST).is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _rights_row(picture: Picture, split: str) -> dict[str, Any]:
    rights = picture.rights
    return {
        "picture": picture.id,
        "split": split,
        "sha256": picture.sha256,
        "license": rights.license or "",
        "doi": rights.doi or "",
        "source": rights.source or "",
        "attribution": rights.attribution or "",
    }


def _own_words(config: Config) -> str | None:
    path = config.paths.card
    if path is None:
        return None
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the card {path} can't be read: {error}.", "correct paths.card, or leave it out") from error
