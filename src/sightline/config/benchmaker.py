"""benchmaker's configuration files: its keys, of both of its generations, and the settings that they stand for here.

What has no counterpart is listed, and a misspelt key is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sightline.config.schema import KeyPath, leaves
from sightline.config.sources import GivenValue, Place, SettingsLayer, Unmapped, not_a_table, unknown_key
from sightline.errors import UserError

COUNTERPARTS: Mapping[str, tuple[str, ...]] = {
    "benchmark_name": ("benchmark.name",),
    "benchmark_description": ("benchmark.description",),
    "benchmark_author": ("benchmark.author",),
    "benchmark_author_email": ("benchmark.email",),
    "benchmark_author_affiliation": ("benchmark.affiliation",),
    "benchmark_author_orcid": ("benchmark.orcid",),
    "benchmark_author_github": ("benchmark.github",),
    "column_image": ("columns.image",),
    "column_image_id": ("columns.image_id",),
    "column_mime_type": ("columns.mime_type",),
    "column_license": ("columns.license",),
    "column_doi": ("columns.doi",),
    "column_original_dataset_name": ("columns.dataset",),
    "column_query": ("columns.query",),
    "column_query_id": ("columns.query_id",),
    "column_relevance": ("columns.relevance",),
    "column_tags": ("columns.tags",),
    "column_summary": ("columns.summary",),
    "column_confidence": ("columns.confidence",),
    "columns_taxonomy": ("annotate.taxonomy",),
    "columns_boolean": ("annotate.flags",),
    "controlled_tag_vocab": ("annotate.vocabulary",),
    "image_root_dir": ("paths.pictures",),
    "meta_json": ("paths.rights",),
    "metadata_jsonl": ("paths.metadata",),
    "images_jsonl": ("paths.images",),
    "seeds_jsonl": ("paths.seeds",),
    "annotations_jsonl": ("paths.annotations",),
    "query_plan_jsonl": ("paths.plan",),
    "qrels_jsonl": ("paths.judgments",),
    "qrels_with_score_jsonl": ("paths.similarity",),
    "summary_output_dir": ("paths.report",),
    "hf_dataset_dir": ("paths.dataset",),
    "hf_dataset_card_path": ("paths.card",),
    "_hf_token": ("publish.token",),
    "_hf_repo_id": ("publish.repo",),
    "_hf_private": ("publish.private",),
    "_hf_num_proc": ("publish.workers",),
    "query_plan_num_seeds": ("plan.seeds",),
    "query_plan_seed_image_ids_column": ("columns.seeds",),
    "query_plan_candidate_image_ids_column": ("columns.candidates",),
    "query_plan_core_facets": ("plan.core_facets",),
    "query_plan_off_facets": ("plan.off_facets",),
    "query_plan_diversity_facets": ("plan.diversity_facets",),
    "query_plan_pos_total": ("plan.positives",),
    "query_plan_neutral_total": ("plan.neutrals",),
    "query_plan_neg_hard": ("plan.hard",),
    "query_plan_neg_nearmiss": ("plan.near",),
    "query_plan_neg_easy": ("plan.easy",),
    "query_plan_random_seed": ("plan.random_seed",),
    "image_base_url": ("paths.pictures_url",),
    "image_url_temp_column": ("columns.image_url",),
    "vision_config.adapter": ("annotate.model",),
    "vision_config.model": ("annotate.model",),
    "vision_config.model_name": ("annotate.model",),
    "vision_config.system_prompt": ("annotate.system_prompt",),
    "vision_config.user_prompt": ("annotate.user_prompt",),
    "vision_config.max_output_tokens": ("annotate.max_output_tokens",),
    "vision_config.reasoning_effort": ("annotate.reasoning_effort",),
    "vision_config.image_detail": ("annotate.image_detail",),
    "vision_config.max_images_per_batch": ("annotate.batch_size",),
    "vision_config.max_concurrent_batches": ("annotate.max_batches",),
    "vision_config.completion_window": ("annotate.batch_window",),
    "vision_config.controlled_tag_vocab": ("annotate.vocabulary",),
    "vision_config.min_tags": ("annotate.min_tags",),
    "vision_config.max_tags": ("annotate.max_tags",),
    "vision_config.vision_metadata_columns": ("annotate.metadata_columns",),
    "vision_config._openai_api_key": ("models.openai_api_key",),
    "vision_config.price_per_million_input_tokens": ("prices.annotate.input",),
    "vision_config.price_per_million_cached_input_tokens": ("prices.annotate.cached_input",),
    "vision_config.price_per_million_output_tokens": ("prices.annotate.output",),
    "vision_config.price_per_million_image_input_tokens": ("prices.annotate.image_input",),
    "vision_config.price_per_million_image_output_tokens": ("prices.annotate.image_output",),
    # benchmaker words a query and judges its candidates in one call; here these are two stages, and both get it.
    "judge_config.adapter": ("query.model", "judge.model"),
    "judge_config.model": ("query.model", "judge.model"),
    "judge_config.model_name": ("query.model", "judge.model"),
    "judge_config.system_prompt": ("query.system_prompt", "judge.system_prompt"),
    "judge_config.user_prompt": ("query.user_prompt", "judge.user_prompt"),
    "judge_config.max_output_tokens": ("query.max_output_tokens", "judge.max_output_tokens"),
    "judge_config.reasoning_effort": ("query.reasoning_effort", "judge.reasoning_effort"),
    "judge_config.max_queries_per_batch": ("query.batch_size", "judge.batch_size"),
    "judge_config.max_concurrent_batches": ("query.max_batches", "judge.max_batches"),
    "judge_config.completion_window": ("query.batch_window", "judge.batch_window"),
    "judge_config.max_candidates": ("judge.max_candidates",),
    "judge_config._openai_api_key": ("models.openai_api_key",),
    "judge_config.price_per_million_input_tokens": ("prices.query.input", "prices.judge.input"),
    "judge_config.price_per_million_cached_input_tokens": (
        "prices.query.cached_input",
        "prices.judge.cached_input",
    ),
    "judge_config.price_per_million_output_tokens": ("prices.query.output", "prices.judge.output"),
    "similarity_config.adapter": ("similarity.model",),
    "similarity_config.model": ("similarity.model",),
    "similarity_config.model_name": ("similarity.model",),
    "similarity_config.col_name": ("columns.similarity",),
    "similarity_config.device": ("similarity.device",),
    "similarity_config.torch_dtype": ("similarity.dtype",),
    "similarity_config.use_safetensors": ("similarity.safetensors",),
}

NO_COUNTERPART: Mapping[str, str] = {
    "log_level": "how much is said is chosen on the command line, with -v",
    "query_plan_neg_total": "it is the sum of plan.hard, plan.near and plan.easy, which are set one by one",
    "upload_use_local_image_paths": "a picture is read from disk where it is there, by its address where it is not",
    "vision_config.stage": "stages have fixed names",
    "judge_config.stage": "stages have fixed names",
}

PROVIDERS: Mapping[str, str] = {"openai": "openai", "local_clip": "transformers"}
"""benchmaker's adapters, and the provider part of our model names."""


_STAGES = ("vision_config", "judge_config", "similarity_config")
_TIERS = ("plan.positives", "plan.neutrals", "plan.hard", "plan.near", "plan.easy", "plan.random")
_TOTAL = "query_plan_neg_total"
_NEGATIVES = ("query_plan_neg_hard", "query_plan_neg_nearmiss", "query_plan_neg_easy")


@cache
def shape() -> Mapping[str, tuple[str, ...]]:
    """benchmaker's keys by table; "" is the top of the file."""
    tables: dict[str, tuple[str, ...]] = {"": _STAGES}
    for name in (*COUNTERPARTS, *NO_COUNTERPART):
        table, _, key = name.rpartition(".")
        tables[table] = (*tables.get(table, ()), key)
    return tables


def translate(data: Mapping[str, Any], source: str, place: Place, ours: Mapping[KeyPath, GivenValue]) -> SettingsLayer:
    """The settings that benchmaker's keys stand for, added to `ours`, which win where both speak."""
    translation = _Translation(data, source, place, dict(ours))
    for key, value in translation.with_whole_model_names().items():
        translation.take(key, value)
    translation.check_negatives()
    translation.imply()
    return SettingsLayer(
        translation.values, translation.mapped, tuple(translation.unmapped), tuple(translation.warnings)
    )


def flatten(data: Mapping[str, Any], place: Place) -> tuple[dict[str, Any], list[UserError]]:
    """benchmaker's values by dotted key, and what is wrong with the keys; null means that nothing is said."""
    flat: dict[str, Any] = {}
    problems: list[UserError] = []
    for key, value in data.items():
        if key not in _STAGES:
            flat[key] = value
        elif isinstance(value, Mapping):
            unknown = [inner for inner in value if inner not in shape()[key]]
            problems.extend(unknown_key(inner, key, shape(), place((key, inner))) for inner in unknown)
            flat |= {f"{key}.{inner}": inner_value for inner, inner_value in value.items()}
        elif value is not None:
            problems.append(not_a_table(key, place((key,))))
    return {key: value for key, value in flat.items() if value is not None}, problems


@dataclass(slots=True)
class _Translation:
    """Our settings as they come together, key by key."""

    flat: Mapping[str, Any]
    source: str
    place: Place
    values: dict[KeyPath, GivenValue]
    mapped: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unmapped: list[Unmapped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def with_whole_model_names(self) -> dict[str, Any]:
        """Adapter and model become one name, such as `openai/gpt-5-mini`."""
        flat = dict(self.flat)
        for stage in _STAGES:
            adapter_key = f"{stage}.adapter"
            adapter = flat.pop(adapter_key, None)
            key = next((key for key in (f"{stage}.model", f"{stage}.model_name") if key in flat), None)
            if key is not None and isinstance(adapter, str) and isinstance(flat[key], str):
                flat[key] = f"{self._provider(adapter, adapter_key)}/{flat[key]}"
                self.mapped[adapter_key] = COUNTERPARTS[adapter_key]
            elif adapter is not None:
                self.unmapped.append(Unmapped(adapter_key, "no model is named that it could be asked for"))
        return flat

    def take(self, key: str, value: Any) -> None:
        """One key, by the table; where two keys set the same thing, the first one wins."""
        if key in NO_COUNTERPART:
            self.unmapped.append(Unmapped(key, NO_COUNTERPART[key]))
            return
        used = []
        for ours in COUNTERPARTS[key]:
            held = self._hold(key, ours, value)
            if held is None or held.value == value:
                used.append(ours)
            else:
                self.unmapped.append(Unmapped(key, f"{held.name} sets {ours} to something else, and wins"))
        if used:
            self.mapped[key] = tuple(used)

    def check_negatives(self) -> None:
        """benchmaker refuses a total that is not the sum; here it changes nothing, so it is only said."""
        total, parts = self.flat.get(_TOTAL), [self.flat.get(key, 0) for key in _NEGATIVES]
        if isinstance(total, int) and all(isinstance(part, int) for part in parts) and total != sum(parts):
            self.warnings.append(
                f"{self._place(_TOTAL)}: {_TOTAL} is {total}, but hard, near-miss and easy negatives add up to "
                f"{sum(parts)}, which is what is used"
            )

    def imply(self) -> None:
        """What benchmaker does where its file says nothing, if we would do otherwise."""
        targets = {ours for mapped in self.mapped.values() for ours in mapped}
        if targets.intersection(_TIERS):
            for tier in _TIERS:
                self._set_default(tier, 0)
        if self.flat.get("similarity_config.adapter") == "local_clip":
            self._set_default("columns.similarity", "clip_score")

    def _provider(self, adapter: str, key: str) -> str:
        if adapter not in PROVIDERS:
            self.warnings.append(
                f'{self._place(key)}: adapter "{adapter}" is not one of benchmaker\'s ({", ".join(PROVIDERS)}); '
                "it is taken as the provider's name"
            )
        return PROVIDERS.get(adapter, adapter)

    def _hold(self, key: str, ours: str, value: Any) -> GivenValue | None:
        path = tuple(ours.split("."))
        if not leaves()[path].given(value):
            return None
        return self.values.setdefault(path, GivenValue(value, self.source, key, self._place(key)))

    def _set_default(self, ours: str, value: Any) -> None:
        self.values.setdefault(tuple(ours.split(".")), GivenValue(value, self.source, ours, self.source))

    def _place(self, key: str) -> str:
        return self.place(tuple(key.split(".")))
