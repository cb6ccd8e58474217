"""A published folder: tables, card, citation, rights and manifest, written whole or not at all."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, cast

from sightline.config import Config
from sightline.errors import UserError
from sightline.io import whole_folder, write_json, write_whole
from sightline.make.publish.card import card_file
from sightline.make.publish.choose import Chosen, choose
from sightline.make.publish.citation import citation_file
from sightline.make.publish.croissant import croissant_file
from sightline.make.publish.facts import Facts
from sightline.make.publish.layout import TASK_FILE, Layout, task_file, write_tables
from sightline.make.publish.manifest import MANIFEST, Manifest, Terms, checksums
from sightline.make.publish.prepare import Prepared, prepared
from sightline.make.publish.splits import Divided, divide, parse_splits
from sightline.make.summary.source import Source
from sightline.report.output import csv_bytes
from sightline.types import Benchmark, GroupKind, Picture

CARD, CITATION, CROISSANT, RIGHTS = "README.md", "CITATION.cff", "croissant.json", "rights.csv"
TABLES = (
    "corpus", "queries", "qrels", "top_ranked", "annotations", "data", "pictures", "tasks", "truth", "groups",
    "candidates", "judgments", "reviews",
)  # fmt: skip
OWNED = (CARD, CITATION, CROISSANT, RIGHTS, MANIFEST, TASK_FILE, "benchmark.json", "dataset_metadata.json", *TABLES)
"""What a published folder may hold of ours; anything else in it is somebody else's, and stays."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a folder is built with, beside the terms that it keeps."""

    released: date
    repo: str | None = None
    people_agreed: bool = False
    taken_down: Collection[str] = ()
    audit: Mapping[str, Any] = field(default_factory=dict)


def build(source: Source, out: Path, terms: Terms, config: Config, wish: Wish) -> Manifest:
    """Write the folder; what stays here, and why, is in the manifest that comes back."""
    shares = parse_splits(terms.splits)
    chosen = choose(source.benchmark, source.folder, licences=terms.licences, taken_down=wish.taken_down)
    ask_about_people(chosen, agreed=wish.people_agreed)
    near = out.absolute().parent
    with prepared(chosen, source.folder, near, keep_metadata=terms.keep_metadata, taken_down=wish.taken_down) as ready:
        divided = divide(
            ready.benchmark,
            shares,
            ready.pictures,
            together=cast("Collection[GroupKind]", terms.together),
            same_bits=config.duplicates.bits,
            seed=terms.seed,
            before={row["picture"]: row["split"] for row in published(out) if row.get("split")},
        )
        with whole_folder(out, marker=MANIFEST, owned=OWNED) as folder:
            manifest = _write(folder, ready, divided, terms, config, wish)
    return manifest


def ask_about_people(chosen: Chosen, *, agreed: bool) -> None:
    """Pictures of people are published only by somebody who was told how many there are."""
    if agreed or not (chosen.people or chosen.people_unknown):
        return
    said = []
    if chosen.people:
        said.append(f"{chosen.people:,} pictures show people, as their annotations say")
    if chosen.people_unknown:
        said.append(f"of {chosen.people_unknown:,} pictures it is not known: no facet or flag asks about people")
    raise PeopleError(
        f"{'; '.join(said)}.",
        "look at them; if whom they show has agreed, or need not, say --yes (a flag people in [annotate] tells)",
    )


class PeopleError(UserError):
    """Somebody must agree first that pictures of people are published."""


def _write(folder: Path, ready: Prepared, divided: Divided, terms: Terms, config: Config, wish: Wish) -> Manifest:
    layout = cast("Layout", terms.layout)
    configs = write_tables(folder, divided.splits, ready.pictures, layout, config.columns)
    chosen = ready.chosen
    lost = {**chosen.lost_tasks, **divided.lost_tasks}
    facts = Facts(
        ready.benchmark,
        config.benchmark,
        layout,
        configs,
        divided.splits,
        chosen.reasons,
        len(lost),
        divided.lost_pairs,
        chosen.people,
        chosen.people_unknown,
        terms.keep_metadata,
        wish.released,
        wish.repo,
        wish.audit,
        terms.together,
    )
    written = {
        CARD: card_file(facts, _own_words(config)),
        CITATION: citation_file(facts),
        CROISSANT: croissant_file(facts),
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
    manifest = Manifest(
        facts.title,
        facts.version,
        facts.fingerprint,
        terms,
        wish.released.isoformat(),
        wish.repo,
        _counts(divided, facts),
        chosen.reasons,
        lost,
        checksums(folder),
    )
    write_json(folder / MANIFEST, manifest.to_json())
    return manifest


def _counts(divided: Divided, facts: Facts) -> dict[str, int]:
    parts: tuple[Benchmark, ...] = tuple(divided.splits.values())
    return {
        "pictures": sum(len(part.corpus.pictures) for part in parts),
        "queries": sum(len(part.tasks) for part in parts),
        "judged pairs": facts.judged_pairs,
        "pictures left out": sum(facts.left_out.values()),
        "queries left out": facts.lost_tasks,
        "pairs left out": divided.lost_pairs,
        "people": facts.people,
    }


def published(folder: Path) -> list[dict[str, str]]:
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
        raise UserError(f"the card {path} can't be read: {error}.", "mend paths.card, or leave it out") from error
