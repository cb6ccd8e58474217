"""Every setting, with its default; unknown keys are errors."""

from __future__ import annotations

from pydantic import Field

from sightline.class_names import known_as
from sightline.config.making import (
    AnnotateSettings,
    JudgeSettings,
    PlanSettings,
    PublishSettings,
    QuerySettings,
    SimilaritySettings,
)
from sightline.config.section import FilePath, Section
from sightline.config.services import ModelSettings, PriceSettings


class BenchmarkSettings(Section):
    """`[benchmark]`: what is made, and who makes it; shown in the card."""

    name: str | None = Field(None, description="Name of the benchmark.")
    description: str | None = Field(None, description="What it is for, in a sentence.")
    author: str | None = Field(None, description="Name of the author.")
    email: str | None = Field(None, description="The author's address.")
    affiliation: str | None = Field(None, description="Where the author works.")
    orcid: str | None = Field(None, description="The author's ORCID.")
    github: str | None = Field(None, description="The author's GitHub name.")


class PathSettings(Section):
    """`[paths]`: files that are read or written; a relative path starts at the current folder."""

    pictures: FilePath | None = Field(None, description="Folder of the pictures.")
    pictures_url: str | None = Field(None, description="Where the same pictures can be had by HTTP: this, then the id.")
    rights: FilePath | None = Field(None, description="Rights map: licence, DOI and source by file or prefix.")
    metadata: FilePath | None = Field(
        None, description="More columns for the pictures, by image_id: JSONL, CSV or Parquet."
    )
    images: FilePath | None = Field(None, description="List of the pictures, as JSONL.")
    seeds: FilePath | None = Field(None, description="Seed pictures of the queries, as JSONL.")
    annotations: FilePath | None = Field(None, description="What was said of the pictures, as JSONL.")
    plan: FilePath | None = Field(None, description="Candidates of the queries, as JSONL.")
    judgments: FilePath | None = Field(None, description="Judged pictures of the queries, as JSONL.")
    similarity: FilePath | None = Field(None, description="The judgments with their similarity scores, as JSONL.")
    report: FilePath | None = Field(None, description="Folder of the report's tables and charts.")
    dataset: FilePath | None = Field(None, description="Folder of the data set as it is published.")
    card: FilePath | None = Field(None, description="Text of the card, in Markdown; written for you when not set.")


class ColumnSettings(Section):
    """`[columns]`: how columns are named in the flat tables that are read and published."""

    image: str = Field("image", description="The picture itself.")
    image_id: str = Field("image_id", description="Its id.")
    image_url: str = Field("image_url", description="Its address.")
    mime_type: str = Field("mime_type", description="Its media type.")
    license: str = Field("license", description="Its licence.")
    doi: str = Field("doi", description="DOI of its source.")
    dataset: str = Field("original_dataset_name", description="Name of the data set that it comes from.")
    query: str = Field("query_text", description="Words of the query.")
    query_id: str = Field("query_id", description="Id of the query.")
    relevance: str = Field("relevance_label", description="Grade of the judgment.")
    tags: str = Field("tags", description="Tags of the annotation.")
    summary: str = Field("summary", description="Summary of the annotation.")
    confidence: str = Field("confidence", description="Confidence of the annotation, by facet and flag.")
    seeds: str = Field("seed_image_ids", description="Seed pictures of a planned query.")
    candidates: str = Field("candidate_image_ids", description="Candidates of a planned query.")
    similarity: str = Field("similarity_score", description="Similarity of query and picture.")


class ScanSettings(Section):
    """`[scan]`: how a folder is read."""

    max_pixels: int = Field(180_000_000, gt=0, description="More pixels than this is a decompression bomb.")
    hidden: bool = Field(False, description="Take in hidden files and folders too.")
    owner_pattern: str | None = Field(None, description='Where the owner stands in a path: "{owner}/*".')
    workers: int | None = Field(None, ge=1, description="Worker processes; one per core when not set.")


@known_as("DuplicateSettings")
class DuplicateSettings(Section):
    """`[duplicates]`: what counts as the same picture, and as a burst."""

    bits: int = Field(
        6, ge=0, le=16, description="Hashes that differ in at most this many of 64 bits are the same picture."
    )
    burst_bits: int = Field(14, ge=0, le=32, description="The same, between neighbours of a burst.")
    burst_seconds: float = Field(10.0, ge=0, description="Longest pause inside a burst.")


@known_as("EventSettings")
class EventSettings(Section):
    """`[events]`: when one event ends and the next begins."""

    gap_hours: float = Field(12.0, gt=0, description="A longer pause begins a new event.")
    distance_km: float = Field(50.0, gt=0, description="A longer jump begins a new event.")


class Config(Section):
    """The whole of `sightline.toml`."""

    benchmark: BenchmarkSettings = BenchmarkSettings()
    paths: PathSettings = PathSettings()
    columns: ColumnSettings = ColumnSettings()
    scan: ScanSettings = ScanSettings()
    duplicates: DuplicateSettings = DuplicateSettings()
    events: EventSettings = EventSettings()
    annotate: AnnotateSettings = AnnotateSettings()
    plan: PlanSettings = PlanSettings()
    query: QuerySettings = QuerySettings()
    judge: JudgeSettings = JudgeSettings()
    similarity: SimilaritySettings = SimilaritySettings()
    publish: PublishSettings = PublishSettings()
    models: ModelSettings = ModelSettings()
    prices: PriceSettings = PriceSettings()
