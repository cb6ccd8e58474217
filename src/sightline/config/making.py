"""Settings of the stages that make a benchmark: annotate, plan, query, judge, similarity, publish."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, Strict, model_validator

from sightline.config.section import Secret, Section, Strings, from_environment

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
Detail: TypeAlias = Literal["auto", "low", "high"]


def _once_each(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


Words: TypeAlias = Annotated[Strings, AfterValidator(_once_each)]
"""Words in their order; a repeated one counts once, because a model's answer schema must not repeat a value."""


class AskingSettings(Section):
    """What every stage that asks a chat model needs."""

    model: str | None = Field(None, description='Who is asked, as "provider/model"; the built-in model when not set.')
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
    max_batches: int | None = Field(
        None, ge=1, description="Provider batches under way at once; all of them when not set."
    )


class AnnotateSettings(AskingSettings):
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


class PlanSettings(Section):
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


class QuerySettings(AskingSettings):
    """`[query]`: who words the queries; asked apart from the judging."""

    model: str | None = Field(
        None, description='Who is asked, as "provider/model"; templates over the annotations when not set.'
    )
    styles: Annotated[tuple[QueryStyle, ...], Strict(False)] = Field(
        ("keyword", "sentence", "question", "vague"), min_length=1, description="How queries are worded, in turns."
    )
    difficulties: Annotated[tuple[Difficulty, ...], Strict(False)] = Field(
        ("easy", "medium", "hard"), min_length=1, description="How much queries ask for at once, in turns."
    )
    max_output_tokens: int = Field(8000, ge=1, description="Longest reply, thinking included.")


class JudgeSettings(AskingSettings):
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
    random_seed: int = Field(42, description="Makes the order of pictures and the draws repeatable.")


class SimilaritySettings(Section):
    """`[similarity]`: which embedder compares queries with pictures."""

    model: str | None = Field(None, description='The embedder, as "provider/model"; the built-in one when not set.')
    device: str = Field("auto", description='Where it runs: "auto", "cpu", "cuda", "cuda:1", "mps".')
    dtype: str | None = Field(None, description='Precision of its weights, such as "float16"; its own when not set.')
    safetensors: bool = Field(True, description="Only open weights that can't run code.")
    logit_scale: float = Field(
        100.0, gt=0, description="A cosine times this is the logit; 100 is what CLIP's models learnt."
    )


class PublishSettings(Section):
    """`[publish]`: where the benchmark goes on the Hugging Face Hub."""

    repo: str | None = Field(None, description='The data set there, as "owner/name".')
    private: bool = Field(True, description="Only the owner sees it.")
    workers: int | None = Field(None, ge=1, description="Processes that prepare the upload; one per core when not set.")
    token: Secret | None = from_environment("The owner's access token.", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
