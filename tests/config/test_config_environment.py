"""`SIGHTLINE_<SECTION>__<KEY>`: how texts become values, and what an unknown name is told."""

from __future__ import annotations

from typing import Any

import pytest

from sightline.config import load


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("SCAN__MAX_PIXELS", "5_000", 5000),
        ("SCAN__HIDDEN", "true", True),
        ("SCAN__HIDDEN", "True", True),
        ("SCAN__OWNER_PATTERN", "{owner}/*", "{owner}/*"),
        ("EVENTS__GAP_HOURS", "3", 3.0),
        ("BENCHMARK__NAME", "2024", "2024"),
        ("BENCHMARK__NAME", "2024-05-06", "2024-05-06"),
        ("BENCHMARK__NAME", "true", "true"),
        ("BENCHMARK__NAME", '"in quotes"', "in quotes"),
        ("BENCHMARK__NAME", "a\nb = 1", "a\nb = 1"),
        ("BENCHMARK__NAME", "1\nb = 1", "1\nb = 1"),
        ("JUDGE__MODEL", "openai/gpt-5-mini", "openai/gpt-5-mini"),
        ("JUDGE__REASONING_EFFORT", "high", "high"),
        ("PLAN__CORE_FACETS", '["a", "b"]', ("a", "b")),
        ("ANNOTATE__TAXONOMY", '{light = ["day"]}', {"light": ("day",)}),
        ("ANNOTATE__SYSTEM_PROMPT", '""', ""),
    ],
)
def test_a_text_becomes_the_value_that_the_setting_wants(name: str, text: str, value: Any) -> None:
    loaded = load(environment={f"SIGHTLINE_{name}": text})
    section, _, key = name.lower().partition("__")
    assert getattr(getattr(loaded.config, section), key) == value
    assert loaded.sources[f"{section}.{key}"] == f"environment SIGHTLINE_{name}"


def test_an_empty_variable_is_not_set() -> None:
    loaded = load(environment={"SIGHTLINE_SCAN__WORKERS": "", "OPENAI_API_KEY": "", "SIGHTLINE_CONFIG": ""})
    assert loaded.config.scan.workers is None
    assert loaded.config.models.openai_api_key is None
    assert loaded.sources["models.openai_api_key"] == "default"


def test_well_known_names_set_what_other_tools_also_read() -> None:
    loaded = load(environment={"OPENAI_BASE_URL": "http://localhost:8000/v1", "GOOGLE_API_KEY": "g"})
    assert loaded.config.models.base_url == "http://localhost:8000/v1"
    assert loaded.sources["models.gemini_api_key"] == "environment GOOGLE_API_KEY"


def test_our_own_name_wins_over_the_well_known_one() -> None:
    loaded = load(environment={"SIGHTLINE_MODELS__BASE_URL": "http://a", "OPENAI_BASE_URL": "http://b"})
    assert loaded.config.models.base_url == "http://a"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("SIGHTLINE_SCAN__MAXPIXELS", "did you mean SIGHTLINE_SCAN__MAX_PIXELS?"),
        ("SIGHTLINE_GAP_HOURS", "did you mean SIGHTLINE_EVENTS__GAP_HOURS?"),
        ("SIGHTLINE_SCAN__GAP_HOURS", "did you mean SIGHTLINE_EVENTS__GAP_HOURS?"),
        ("SIGHTLINE_WORKSPCE", "did you mean SIGHTLINE_WORKSPACE?"),
        ("SIGHTLINE_QQ", "SIGHTLINE_<SECTION>__<KEY>"),
    ],
)
def test_an_unknown_name_is_a_warning_with_the_nearest(name: str, hint: str) -> None:
    loaded = load(environment={name: "hush-hush"})
    assert len(loaded.warnings) == 1
    assert name in loaded.warnings[0] and hint in loaded.warnings[0]
    assert "hush-hush" not in loaded.warnings[0]


def test_the_other_variables_of_sightline_are_known() -> None:
    assert load(environment={"SIGHTLINE_WORKSPACE": "/somewhere"}).warnings == ()
