"""A benchmaker configuration is taken as it is: everything mapped or listed, nothing lost, typos refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sightline.config import Config, Loaded, load
from sightline.config.benchmaker import COUNTERPARTS, NO_COUNTERPART
from sightline.config.schema import leaves
from sightline.errors import UserError

FILES = Path(__file__).parent / "files"
EXAMPLES = sorted(FILES.iterdir())


def read(name: str) -> Loaded:
    return load(FILES / name, environment={})


def written(path: Path, **data: Any) -> Path:
    path.write_text(json.dumps(data))
    return path


def keys_of(path: Path) -> set[str]:
    """The benchmaker keys of a file, dotted."""
    import tomllib

    text = path.read_text()
    data = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    tables = {"vision_config", "judge_config", "similarity_config"}
    inner = {f"{table}.{key}" for table in tables & set(data) for key in data[table]}
    return (set(data) - tables) | inner


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_key_of_every_example_is_mapped_or_listed(path: Path) -> None:
    loaded = load(path, environment={})
    listed = {item.key for item in loaded.unmapped}
    assert keys_of(path) == set(loaded.mapped) | listed
    assert not set(loaded.mapped) & listed
    assert all(item.reason for item in loaded.unmapped)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_what_is_mapped_came_from_the_file(path: Path) -> None:
    loaded = load(path, environment={})
    for targets in loaded.mapped.values():
        assert {loaded.sources[target] for target in targets} == {f"file {path}"}


def test_the_table_names_only_settings_that_exist() -> None:
    known = {leaf.dotted for leaf in leaves().values()}
    assert {target for targets in COUNTERPARTS.values() for target in targets} <= known
    assert not COUNTERPARTS.keys() & NO_COUNTERPART.keys()


def test_the_shipped_example() -> None:
    config = read("shipped_example.toml").config
    assert config.benchmark.name == "Coast Watch"
    assert config.benchmark.github == "ada-shore"
    assert config.annotate.model == "openai/gpt-5-mini"
    assert config.query.model == config.judge.model == "openai/gpt-5-mini"
    assert config.similarity.model == "transformers/apple/DFN5B-CLIP-ViT-H-14-378"
    assert config.annotate.taxonomy["sea_state"] == ("calm", "waves", "storm", "unknown")
    assert config.annotate.flags == ("boat_visible",)
    assert config.annotate.vocabulary == ("wave", "boat", "gull", "pier", "sand")
    assert config.annotate.system_prompt == "Describe pictures of a coast.\nSay only what can be seen."
    assert config.paths.rights == Path("rights_map.json")
    assert config.paths.pictures_url == "https://pictures.example.org/coast"
    assert config.publish.repo == "shores/CoastWatch"
    assert config.publish.private is False
    assert (config.prices.annotate.input, config.prices.annotate.image_output) == (0.125, 1.0)
    assert config.prices.judge.cached_input == config.prices.query.cached_input == 0.0125
    assert config.prices.judge.image_input is None
    assert {item.key for item in read("shipped_example.toml").unmapped} == {
        "log_level",
        "query_plan_neg_total",
        "_hf_num_proc",
        "vision_config.max_concurrent_batches",
        "judge_config.max_concurrent_batches",
    }


def test_firebench_has_its_25_10_5_negatives_and_nothing_else() -> None:
    plan = read("firebench_shape.toml").config.plan
    assert (plan.seeds, plan.hard, plan.near, plan.easy) == (100, 25, 10, 5)
    assert (plan.positives, plan.neutrals, plan.random) == (0, 0, 0)


def test_the_second_generation_has_positives_and_neutrals_and_no_near_misses() -> None:
    config = read("second_generation.toml").config
    plan = config.plan
    assert (plan.positives, plan.neutrals, plan.hard, plan.near, plan.easy, plan.random) == (21, 6, 7, 0, 6, 0)
    assert plan.random_seed == 14
    assert plan.core_facets == ("vsn", "camera")
    assert config.annotate.metadata_columns == ("vsn", "camera")
    assert "{metadata.vsn}" in (config.annotate.user_prompt or "")


def test_the_quick_start_with_model_name() -> None:
    loaded = read("quick_start.toml")
    assert loaded.config.similarity.model == "transformers/openai/clip-vit-base-patch32"
    assert loaded.config.columns.similarity == "clip_score"
    assert loaded.config.plan == Config().plan  # Nothing is said of tiers, so none is made zero.
    assert loaded.warnings == ()


def test_every_field_arrives_with_falsy_values_intact() -> None:
    config = read("every_field.json").config
    assert config.plan.random_seed == 0
    assert config.plan.easy == 0
    assert config.plan.hard == 2
    assert config.annotate.min_tags == 0
    assert config.prices.annotate.image_output == 0
    assert config.similarity.safetensors is False
    assert config.columns.model_dump() == {
        "image": "i", "image_id": "ii", "image_url": "u", "mime_type": "m", "license": "l", "doi": "d",
        "dataset": "o", "query": "q", "query_id": "qi", "relevance": "r", "tags": "t", "summary": "s",
        "confidence": "c", "seeds": "si", "candidates": "ci", "similarity": "sc",
    }  # fmt: skip
    files = [path for name, path in config.paths.model_dump().items() if name != "pictures_url"]
    assert files == [Path(f"p/{number}") for number in range(1, 13)]
    assert (config.judge.batch_window, config.annotate.batch_window) == ("6h", "12h")
    assert (config.judge.batch_size, config.annotate.batch_size, config.judge.max_candidates) == (12, 11, 13)
    assert (config.similarity.device, config.similarity.dtype) == ("cuda", "float16")


def test_the_limits_that_benchmaker_ignores_are_honoured() -> None:
    config = read("every_field.json").config
    assert config.annotate.max_output_tokens == 6000
    assert config.annotate.reasoning_effort == "minimal"
    assert config.annotate.image_detail == "high"
    assert (config.judge.max_output_tokens, config.judge.reasoning_effort) == (7000, "high")


def test_null_means_not_given(tmp_path: Path) -> None:
    path = written(
        tmp_path / "c.json",
        benchmark_name="x",
        query_plan_random_seed=None,
        vision_config={"model": None},
        judge_config=None,
    )
    loaded = load(path, environment={})
    assert loaded.config.plan.random_seed == 42
    assert loaded.sources["plan.random_seed"] == "default"
    assert loaded.unmapped == ()


@pytest.mark.parametrize(
    ("data", "key", "hint"),
    [
        ({"benchmark_nam": "x"}, "benchmark_nam", '"benchmark_name"'),
        ({"benchmark_name": "x", "query_plan_neg_hrad": 3}, "query_plan_neg_hrad", '"query_plan_neg_hard"'),
        ({"vision_confg": {"model": "m"}}, "vision_confg", '"vision_config"'),
        ({"vision_config": {"modle": "m"}}, "vision_config.modle", '"model"'),
        ({"judge_config": {"max_tags": 3}}, "judge_config.max_tags", "[vision_config]"),
        ({"similarity_config": {"column_name": "x"}}, "similarity_config.column_name", '"col_name"'),
        ({"benchmark_name": "x", "max_tags": 3}, "max_tags", "[annotate]"),
    ],
)
def test_a_misspelt_key_is_refused_with_the_nearest(tmp_path: Path, data: Any, key: str, hint: str) -> None:
    path = written(tmp_path / "config.json", **data)
    with pytest.raises(UserError) as caught:
        load(path, environment={})
    assert f'unknown key "{key}"' in caught.value.message
    assert str(path) in caught.value.message
    assert hint in (caught.value.fix or "")


def test_a_wrong_value_is_named_as_benchmaker_spells_it(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('benchmark_name = "x"\nquery_plan_neg_hard = "many"\n')
    with pytest.raises(
        UserError, match=r'config.toml, line 2: "query_plan_neg_hard" is "many"; expected a whole number'
    ):
        load(path, environment={})


def test_a_value_for_two_stages_is_complained_about_once(tmp_path: Path) -> None:
    path = written(tmp_path / "config.json", judge_config={"max_output_tokens": "lots"})
    with pytest.raises(UserError) as caught:
        load(path, environment={})
    assert caught.value.message.count("lots") == 1


def test_a_total_that_is_not_the_sum_is_said(tmp_path: Path) -> None:
    path = written(tmp_path / "c.json", query_plan_neg_total=40, query_plan_neg_hard=25, query_plan_neg_easy=5)
    loaded = load(path, environment={})
    assert "add up to 30" in loaded.warnings[0]
    assert loaded.config.plan.hard == 25


def test_an_adapter_of_ones_own_is_taken_as_the_provider_with_a_warning(tmp_path: Path) -> None:
    path = written(tmp_path / "c.json", judge_config={"adapter": "gemini", "model": "gemini-pro"})
    loaded = load(path, environment={})
    assert loaded.config.judge.model == "gemini/gemini-pro"
    assert '"gemini"' in loaded.warnings[0]


def test_an_adapter_without_a_model_is_listed(tmp_path: Path) -> None:
    loaded = load(written(tmp_path / "c.json", vision_config={"adapter": "openai"}), environment={})
    assert [item.key for item in loaded.unmapped] == ["vision_config.adapter"]
    assert loaded.config.annotate.model is None


def test_keys_that_contradict_each_other_are_listed_not_lost(tmp_path: Path) -> None:
    path = written(
        tmp_path / "c.json",
        vision_config={"_openai_api_key": "sk-one"},
        judge_config={"_openai_api_key": "sk-two", "model": "a"},
        query={"model": "b"},
    )
    loaded = load(path, environment={})
    key = loaded.config.models.openai_api_key
    assert key is not None and key.get_secret_value() == "sk-one"
    assert (loaded.config.query.model, loaded.config.judge.model) == ("b", "a")
    assert [item.key for item in loaded.unmapped] == ["judge_config._openai_api_key", "judge_config.model"]
    assert loaded.mapped["judge_config.model"] == ("judge.model",)
    assert "sk-" not in str(loaded.unmapped)


def test_our_own_sections_may_stand_in_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('benchmark_name = "x"\n[scan]\nmax_pixels = 5\n')
    config = load(path, environment={}).config
    assert (config.benchmark.name, config.scan.max_pixels) == ("x", 5)


def test_tiers_of_our_own_file_imply_nothing(tmp_path: Path) -> None:
    path = tmp_path / "sightline.toml"
    path.write_text("[plan]\nhard = 1\n")
    loaded = load(path, environment={})
    assert loaded.config.plan.positives > 0
    assert loaded.sources["plan.positives"] == "default"


def test_environment_and_command_line_win_over_a_benchmaker_file() -> None:
    loaded = load(
        FILES / "every_field.json",
        environment={"SIGHTLINE_PLAN__EASY": "6", "OPENAI_API_KEY": "sk-from-environment"},
        overrides={"plan.hard": 0},
    )
    assert (loaded.config.plan.easy, loaded.config.plan.hard) == (6, 0)
    key = loaded.config.models.openai_api_key
    assert key is not None and key.get_secret_value() == "sk-from-environment"
