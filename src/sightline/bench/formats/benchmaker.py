"""benchmaker (imsearch_benchmaker): its files, and the flat rows that it publishes.

| benchmaker | here |
|---|---|
| images: `image_id`, `mime_type`, other columns | `Picture.id`, `mime`, `extra` |
| images: `image_url` | `Picture.uri`, unless the pictures' folder is known |
| images: `license`, `doi`, `original_dataset_name`; the rights map | `Picture.rights`; `UNKNOWN` is None |
| annotations: `summary`, `tags`, `confidence`, other columns | `Annotation`, its `extra` |
| annotations: taxonomy and boolean columns | `Annotation.facets`, `flags` |
| seeds and plan: `seed_image_ids`, `candidate_image_ids` | `Candidate` of tier `seed` and `pooled` |
| plan: `candidates` with `tier` and `score`, which is ours | `Candidate` of that tier |
| qrels: `query_id`, `query_text`, `image_id`, `relevance_label` | a `rank` task, `Relevance`, `Judgment` |
| the similarity column of the scored qrels | `Task.extra["similarity"]` |
| the data set of the seed | the label `original_dataset_name` |

`benchmaker-rows` has one row for each pair of query and picture, the seed first, with the picture inside.
"""

from __future__ import annotations

from pathlib import Path

from sightline.bench.formats.base import Complaints, Format, Imported, Options
from sightline.bench.formats.benchmaker_columns import Columns, columns_of, config_of
from sightline.bench.formats.benchmaker_files import BenchmakerFiles, find_files
from sightline.bench.formats.benchmaker_join import Found
from sightline.bench.formats.benchmaker_read import (
    Pictures,
    Plan,
    Similarities,
    WordedJudgments,
    read_annotations,
    read_plans,
)
from sightline.bench.formats.benchmaker_rows import read_flat, write_flat
from sightline.bench.formats.benchmaker_write import write_files
from sightline.bench.formats.retrieval import check_options
from sightline.bench.formats.rows import checked, read_rows
from sightline.config import Config
from sightline.corpus.rights import RightsMap
from sightline.types import Annotation, Benchmark, Json


def read(path: Path, options: Options) -> Imported:
    """A benchmark from those of benchmaker's files that are there; judgments must be.

    `path` is their folder, a file of judgments alone, or a configuration in TOML that says where they are.
    """
    check_options(options, "config", "facets", "flags")
    config_path = path if path.suffix == ".toml" else options.extra.get("config")
    config, warnings = config_of(config_path)
    folder = path.parent if path.suffix == ".toml" else path
    files = find_files(folder, config, None if config_path is None else Path(config_path).expanduser().parent)
    reading = _Reading(files, columns_of(options, config), _root(options, config), options)
    found = reading.all(_name(folder, config), _card(config))
    benchmark = found.to_benchmark(options)
    said = (*warnings, *reading.warnings, *found.warnings())
    return Imported(benchmark, tuple(reading.complaints.problems), said)


class _Reading:
    """One pass over the files, each with what is known from those before it."""

    def __init__(self, files: BenchmakerFiles, columns: Columns, root: Path | None, options: Options) -> None:
        self.files = files
        self.columns = columns
        self.complaints = Complaints(options)
        self.warnings: list[str] = []
        rights = None if files.rights is None else RightsMap.read(files.rights)
        self.pictures = Pictures(root, files.qrels.parent, rights, columns)

    def all(self, name: str, card: dict[str, Json]) -> Found:
        """The content of all files."""
        if self.files.images is not None:
            self.warnings += self.pictures.read_list(self.files.images, self.complaints)
        notes = self._annotations()
        plans = self._plans()
        judgments = WordedJudgments(self.files.qrels, self.columns)
        for row in read_rows(self.files.qrels, self.complaints):
            with checked(row, self.complaints):
                judgments.add(row, self.pictures)
        # Last, because a plan tells nothing of a picture but its id.
        for picture in (name for plan in plans.values() for name in plan.pictures()):
            self.pictures.mention(picture)
        self.warnings += (*judgments.warnings(), *self.pictures.warnings())
        return Found(
            name=name,
            pictures=self.pictures.found,
            asked=judgments.asked(),
            plans=plans,
            annotations=(notes or judgments.annotations.values).values(),
            similarities=self._similarities(),
            card=card,
        )

    def _annotations(self) -> dict[str, Annotation]:
        if self.files.annotations is None:
            return {}
        found = read_annotations(self.files.annotations, self.columns, self.pictures, self.complaints)
        self.warnings += found.warnings()
        return found.values

    def _plans(self) -> dict[str, Plan]:
        """The plan; seeds of queries that it does not have are taken from `seeds.jsonl`."""
        plans: dict[str, Plan] = {}
        for path in (self.files.seeds, self.files.plan):
            if path is not None:
                found = read_plans(path, self.columns, self.complaints)
                self.warnings += found.warnings()
                plans |= found.values
        return plans

    def _similarities(self) -> Similarities:
        found = Similarities(self.columns)
        if self.files.scored is not None:
            for row in read_rows(self.files.scored, self.complaints):
                with checked(row, self.complaints):
                    found.add(row)
        return found


def _root(options: Options, config: Config | None) -> Path | None:
    """The pictures' folder, if it is given, or the configuration names one that is there."""
    if options.pictures is not None:
        return options.pictures
    named = None if config is None else config.paths.pictures
    return named if named is not None and named.is_dir() else None


def _name(path: Path, config: Config | None) -> str:
    named = None if config is None else config.benchmark.name
    return named or (path.absolute().name if path.is_dir() else path.stem)


def _card(config: Config | None) -> dict[str, Json]:
    if config is None:
        return {}
    return config.benchmark.model_dump(mode="json", exclude={"name"}, exclude_none=True)


FORMATS = {
    "benchmaker": Format(
        "benchmaker", "imsearch_benchmaker's files: images, annotations, plan, qrels", read, write_files, (Benchmark,)
    ),
    "benchmaker-rows": Format(
        "benchmaker-rows", "imsearch_benchmaker's published rows, the seed first", read_flat, write_flat, (Benchmark,)
    ),
}
