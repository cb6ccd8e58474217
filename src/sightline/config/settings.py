"""Every setting of `sightline.toml`, table by table, with its default; unknown keys are errors."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, Strict, model_validator

from sightline.class_names import known_as
from sightline.config.section import FilePath, Secret, StrictModel, Strings, environment_field


class ModelSettings(StrictModel):
    """`[models]`: which models are used, where they are asked, and with which keys."""

    embedder: str | None = Field(None, description="The embedder of pictures and texts; `photos` when not set.")
    folder: FilePath | None = Field(
        None, description="Where downloaded models are kept; the user's cache when not set."
    )
    base_url: str | None = environment_field("An OpenAI-compatible server, such as your own.", "OPENAI_BASE_URL")
    openai_api_key: Secret | None = environment_field("Key of OpenAI or of the server above.", "OPENAI_API_KEY")
    anthropic_api_key: Secret | None = environment_field("Key of Anthropic.", "ANTHROPIC_API_KEY")
    gemini_api_key: Secret | None = environment_field("Key of Google Gemini.", "GEMINI_API_KEY", "GOOGLE_API_KEY")
    server_api_key: Secret | None = environment_field(
        "Key of a server that `--base-url` names, which is not a provider's own.", "SIGHTLINE_API_KEY"
    )
    hosts: dict[str, str] = Field(
        {}, description='Servers that a key may go to: `"gpu-box:8000" = "VLLM_API_KEY"`, host and variable.'
    )
    api: Literal["chat", "responses"] = Field("chat", description="Which of OpenAI's two APIs is used.")
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] | None = Field(
        None, description="What the chat API calls the longest reply; what suits the provider when not set."
    )
    structured: Literal["native", "prompt"] | None = Field(
        None, description="Schemas go to the server, or into the prompt; what suits the provider when not set."
    )
    connect_seconds: float = Field(15.0, gt=0, description="Longest wait for a connection.")
    quiet_seconds: float = Field(300.0, gt=0, description="Longest wait for the first byte, and between two.")
    total_seconds: float = Field(900.0, gt=0, description="Longest time for one attempt at a call.")
    max_reply_bytes: int = Field(32 << 20, ge=1, description="Largest reply that is read.")
    headers: dict[str, Secret] = Field({}, description="HTTP headers that are sent with every request.")
    extra: dict[str, Any] = Field({}, description="Fields that are sent with every request; those of the request win.")


class Price(StrictModel):
    """Prices in US dollars per million tokens; what is not set is taken from the built-in price list."""

    input: float | None = Field(None, ge=0, description="Text that is sent.")
    cached_input: float | None = Field(
        None, ge=0, description="Text that is sent again and found in the provider's cache."
    )
    output: float | None = Field(None, ge=0, description="Text that comes back.")
    reasoning: float | None = Field(None, ge=0, description="Thinking that comes back; as other output when not set.")
    image_input: float | None = Field(None, ge=0, description="Pictures that are sent.")
    image_output: float | None = Field(None, ge=0, description="Pictures that come back.")


class PriceSettings(StrictModel):
    """`[prices]`: what calls cost, in US dollars per million tokens; a stage's price wins over its model's."""

    annotate: Price = Price()
    query: Price = Price()
    judge: Price = Price()
    models: dict[str, Price] = Field({}, description='By model: `[prices.models."openai/gpt-5-mini"]`.')


Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
Detail: TypeAlias = Literal["auto", "low", "high"]


def _once_each(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


Words: TypeAlias = Annotated[Strings, AfterValidator(_once_each)]
"""Words in their order; a repeated one counts once, because a model's answer schema must not repeat a value."""


class ChatStageSettings(StrictModel):
    """What every stage that asks a chat model needs."""

    model: str | None = Field(None, description='The model, as "provider/model"; the built-in model when not set.')
    system_prompt: str | None = Field(None, description="Instructions to the model; our own when not set.")
    user_prompt: str | None = Field(None, description="The request itself; our own when not set.")
    max_output_tokens: int = Field(4000, ge=1, description="Longest reply, thinking included.")
    reasoning_effort: Effort | None = Field(
        None, description="How long the model may think; its own default when not set."
    )
    image_detail: Detail = Field("low", description="How finely the model looks at a picture.")
    batch_size: int | None = Field(
        None, ge=1, description="Most requests in one provider batch; the provider's limit when not set."
    )
    batch_window: str = Field("24h", description="How long a provider batch may take.")


class AnnotateSettings(ChatStageSettings):
    """`[annotate]`: what is asked about each picture."""

    user_prompt: str | None = Field(
        None, description="The request; `{metadata.COLUMN}` stands for a metadata column; our own when not set."
    )
    taxonomy: dict[str, Words] = Field({}, description="The facets, and the values that each may take.")
    flags: Words = Field((), description="Yes-or-no questions, by name.")
    vocabulary: Words = Field((), description="The tags to choose from; free tags when empty.")
    min_tags: int = Field(14, ge=0, description="Fewest tags of a picture.")
    max_tags: int = Field(25, ge=0, description="Most tags of a picture.")
    metadata_columns: Words = Field((), description="Metadata columns that the model is told and the annotation keeps.")

    @model_validator(mode="after")
    def _tags_in_order(self) -> Self:
        if self.min_tags > self.max_tags:
            raise ValueError(f"min_tags ({self.min_tags}) is more than max_tags ({self.max_tags})")
        return self


class PlanSettings(StrictModel):
    """`[plan]`: which pictures stand for a query, and how many of each tier are judged."""

    seeds: int = Field(100, ge=1, description="Seed pictures, one query each.")
    seeding: Literal["diverse", "even", "random"] = Field(
        "diverse", description="How seeds are chosen: to cover what there is, evenly spaced by id, or by chance."
    )
    strategy: str = Field("tiers", description="The planner: tiers, or one that a package adds (`sightline.planners`).")
    alike: float | None = Field(
        None, description="Similarity of a positive; more than nine of ten pairs drawn by chance have when not set."
    )
    embedder: str | None = Field(
        None,
        description="Embedder whose similarity joins that of tags; for annotations of builtin/photos its own, "
        "for others none, when not set.",
    )
    core_facets: Words = Field(
        (), description="Facets and flags that a match must share; tags and similarity decide when empty."
    )
    off_facets: Words = Field(
        (), description="Facets that may be off in a neutral or a near miss; any core facet when empty."
    )
    diversity_facets: Words = Field((), description="Facets over which candidates are spread.")
    positives: int = Field(10, ge=0, description="Candidates that match in all core facets and are alike.")
    neutrals: int = Field(5, ge=0, description="Candidates with one facet off.")
    hard: int = Field(10, ge=0, description="Negatives that match in all core facets but are not alike.")
    near: int = Field(5, ge=0, description="Negatives with one facet off.")
    easy: int = Field(5, ge=0, description="Negatives that differ in most facets.")
    random: int = Field(5, ge=0, description="Candidates drawn by chance, to find what the tiers miss.")
    random_seed: int = Field(42, description="Makes the random choices repeatable.")


QueryStyle: TypeAlias = Literal["keyword", "sentence", "question", "vague"]
Difficulty: TypeAlias = Literal["easy", "medium", "hard"]


class QuerySettings(ChatStageSettings):
    """`[query]`: who words the queries; asked apart from the judging."""

    model: str | None = Field(
        None, description='The model, as "provider/model"; templates over the annotations when not set.'
    )
    styles: Annotated[tuple[QueryStyle, ...], Strict(False)] = Field(
        ("keyword", "sentence", "question", "vague"), min_length=1, description="How queries are worded, in turns."
    )
    difficulties: Annotated[tuple[Difficulty, ...], Strict(False)] = Field(
        ("easy", "medium", "hard"), min_length=1, description="How much queries ask for at once, in turns."
    )
    max_output_tokens: int = Field(8000, ge=1, description="Longest reply, thinking included.")


class JudgeSettings(ChatStageSettings):
    """`[judge]`: who judges the candidates; the judge sees the pictures."""

    max_output_tokens: int = Field(8000, ge=1, description="Longest reply, thinking included.")
    max_candidates: int | None = Field(None, ge=1, description="Most candidates judged for a query; all when not set.")
    panel: Words = Field((), description="Judges by name, each of whom judges everything; `model` alone when empty.")
    scale: Literal["binary", "graded"] = Field(
        "binary", description="Grades: relevant or not, or 0 (not) to 3 (in every respect)."
    )
    together: int = Field(4, ge=1, description="Pictures that are judged in one call.")
    retrievers: Words = Field(
        ("vectors", "words", "hybrid"),
        description="Ways of searching whose first results join the pool; none when empty.",
    )
    depth: int = Field(10, ge=0, description="How many results of each of them join; 0 leaves the pool as planned.")
    outside: int = Field(
        3, ge=0, description="Pictures drawn by chance from outside each pool, to estimate what it misses."
    )
    coverage: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Share of the relevant pictures that the pools should hold, such as 0.9: they grow by draws from "
        "outside until it is reached, at most by 64 times `outside`.",
    )
    random_seed: int = Field(42, description="Makes the order of pictures and the draws repeatable.")


class SimilaritySettings(StrictModel):
    """`[similarity]`: which embedder compares queries with pictures."""

    model: str | None = Field(None, description='The embedder, as "provider/model"; the built-in one when not set.')
    device: str = Field("auto", description='Where it runs: "auto", "cpu", "cuda", "cuda:1", "mps".')
    dtype: str | None = Field(None, description='Precision of its weights, such as "float16"; its own when not set.')
    safetensors: bool = Field(True, description="Only open weights that can't run code.")
    logit_scale: float = Field(
        100.0, gt=0, description="A cosine times this is the logit; 100 is what CLIP's models learnt."
    )


class PublishSettings(StrictModel):
    """`[publish]`: where the benchmark goes on the Hugging Face Hub."""

    repo: str | None = Field(None, description='The data set there, as "owner/name".')
    private: bool = Field(True, description="Only the owner sees it.")
    token: Secret | None = environment_field("The owner's access token.", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")


class BenchmarkSettings(StrictModel):
    """`[benchmark]`: what is made, and who makes it; shown in the card."""

    name: str | None = Field(None, description="Name of the benchmark.")
    description: str | None = Field(None, description="What it is for, in a sentence.")
    author: str | None = Field(None, description="Name of the author.")
    email: str | None = Field(None, description="The author's address.")
    affiliation: str | None = Field(None, description="Where the author works.")
    orcid: str | None = Field(None, description="The author's ORCID.")
    github: str | None = Field(None, description="The author's GitHub name.")


class PathSettings(StrictModel):
    """`[paths]`: files that are read or written; a relative path starts at the current folder."""

    pictures: FilePath | None = Field(None, description="Folder of the pictures.")
    pictures_url: str | None = Field(None, description="Where the same pictures are on the web: this, then the id.")
    rights: FilePath | None = Field(None, description="Rights map: licence, DOI and source by file or prefix.")
    metadata: FilePath | None = Field(
        None, description="More columns for the pictures, by image_id: JSONL, CSV or Parquet."
    )
    images: FilePath | None = Field(None, description="List of the pictures, as JSONL.")
    seeds: FilePath | None = Field(None, description="Seed pictures of the queries, as JSONL.")
    annotations: FilePath | None = Field(None, description="Annotations of the pictures, as JSONL.")
    plan: FilePath | None = Field(None, description="Candidates of the queries, as JSONL.")
    judgments: FilePath | None = Field(None, description="Judged pictures of the queries, as JSONL.")
    similarity: FilePath | None = Field(None, description="The judgments with their similarity scores, as JSONL.")
    report: FilePath | None = Field(None, description="Folder of the report's tables and charts.")
    dataset: FilePath | None = Field(None, description="Folder of the data set as it is published.")
    card: FilePath | None = Field(None, description="Text of the card, in Markdown; written for you when not set.")


class ColumnSettings(StrictModel):
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


class ScanSettings(StrictModel):
    """`[scan]`: how a folder is read."""

    max_pixels: int = Field(180_000_000, gt=0, description="More pixels than this is a decompression bomb.")
    hidden: bool = Field(False, description="Take in hidden files and folders too.")
    follow_links: bool = Field(False, description="Follow links that lead out of a folder.")
    owner_pattern: str | None = Field(None, description='Where the owner stands in a path: "{owner}/*".')
    workers: int | None = Field(None, ge=1, description="Worker processes; one per core when not set.")
    film_pictures: int = Field(40, ge=0, description="The most pictures that are made of a film; 0 leaves films out.")
    film_minutes: float = Field(120.0, gt=0, description="The most minutes of a film that are read.")


@known_as("DuplicateSettings")
class DuplicateSettings(StrictModel):
    """`[duplicates]`: what counts as the same picture, and as a burst."""

    bits: int = Field(
        6, ge=0, le=16, description="Hashes that differ in at most this many of 64 bits are the same picture."
    )
    burst_bits: int = Field(14, ge=0, le=32, description="The same, between neighbours of a burst.")
    burst_seconds: float = Field(10.0, ge=0, description="Longest pause inside a burst.")


@known_as("EventSettings")
class EventSettings(StrictModel):
    """`[events]`: when one event ends and the next begins."""

    gap_hours: float = Field(12.0, gt=0, description="A longer pause begins a new event.")
    distance_km: float = Field(50.0, gt=0, description="A longer jump begins a new event.")


class Config(StrictModel):
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
