"""A secret is used, never shown: not in repr, str, JSON, tables, warnings or errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from sightline.config import Config, Loaded, load
from sightline.config.schema import leaves
from sightline.errors import UserError

HUSH = "hush-4711"
SECRETS = [leaf for leaf in leaves().values() if leaf.secret]


def everything_printable(loaded: Loaded) -> str:
    config = loaded.config
    return "\n".join(
        [
            repr(loaded),
            str(loaded),
            repr(config),
            str(config),
            str(config.model_dump()),
            config.model_dump_json(),
            json.dumps(loaded.to_json()),
            *loaded.warnings,
        ]
    )


def test_there_are_secrets_to_test() -> None:
    names = {leaf.dotted for leaf in SECRETS}
    assert {"publish.token", "models.openai_api_key"} <= names
    # A setting that sounds like a secret has to be one.
    assert {leaf.dotted for leaf in leaves().values() if leaf.path[-1].endswith(("_key", "token"))} == names


@pytest.mark.parametrize("leaf", SECRETS, ids=lambda leaf: leaf.dotted)
def test_from_the_environment_it_is_used_and_hidden(leaf: Any) -> None:
    for variable in (leaf.variable, *leaf.well_known_variables):
        loaded = load(environment={variable: HUSH})
        held = getattr(getattr(loaded.config, leaf.path[0]), leaf.path[1])
        assert held.get_secret_value() == HUSH
        assert loaded.sources[leaf.dotted] == f"environment {variable}"
        assert loaded.warnings == ()
        assert HUSH not in everything_printable(loaded)
        assert loaded.to_json()["config"][leaf.path[0]][leaf.path[1]] == "***"
        assert str(held) == "***"


@pytest.mark.parametrize(
    ("data", "key", "variable"),
    [
        ({"publish": {"token": HUSH}}, "publish.token", "HF_TOKEN"),
        ({"models": {"anthropic_api_key": HUSH}}, "models.anthropic_api_key", "ANTHROPIC_API_KEY"),
        ({"_hf_token": HUSH}, "_hf_token", "HF_TOKEN"),
        ({"vision_config": {"_openai_api_key": HUSH}}, "vision_config._openai_api_key", "OPENAI_API_KEY"),
        ({"judge_config": {"_openai_api_key": HUSH}}, "judge_config._openai_api_key", "OPENAI_API_KEY"),
    ],
)
def test_from_a_file_it_is_used_with_a_warning_to_move_it(tmp_path: Path, data: Any, key: str, variable: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(data))
    loaded = load(path, environment={})
    held = [
        secret.get_secret_value()
        for secret in (
            loaded.config.publish.token,
            loaded.config.models.openai_api_key,
            loaded.config.models.anthropic_api_key,
        )
        if secret
    ]
    assert held == [HUSH]
    assert len(loaded.warnings) == 1
    assert key in loaded.warnings[0] and variable in loaded.warnings[0] and str(path) in loaded.warnings[0]
    assert HUSH not in everything_printable(loaded)


def test_an_empty_secret_in_a_file_is_none(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"_hf_token": ""}')
    loaded = load(path, environment={"HF_TOKEN": HUSH})
    assert loaded.config.publish.token is not None
    assert loaded.warnings == ()


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"_hf_token": "from-file"}')
    loaded = load(path, environment={"HF_TOKEN": HUSH})
    assert loaded.config.publish.token is not None
    assert loaded.config.publish.token.get_secret_value() == HUSH
    assert loaded.sources["publish.token"] == "environment HF_TOKEN"
    assert "_hf_token" in loaded.warnings[0]


@pytest.mark.parametrize(
    "text",
    [
        f'{{"_hf_token": ["{HUSH}"]}}',
        f'{{"publish": {{"token": {{"value": "{HUSH}"}}}}}}',
        f'{{"publish": "{HUSH}"}}',
        f'{{"vision_config": "{HUSH}"}}',
        f'{{"_hf_tokn": "{HUSH}"}}',
        f'{{"vision_config": {{"_openai_api_kee": "{HUSH}"}}}}',
        f'{{"_hf_token": "{HUSH}", "scan": {{"max_pixels": "x"}}}}',
        f'{{"_hf_token": "{HUSH}"',
        f'_hf_token = "{HUSH}" "',
        f"_hf_token = {HUSH}",
    ],
)
def test_an_error_never_shows_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.txt"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        load(path, environment={})
    error: BaseException | None = caught.value
    while error is not None:  # A traceback would print the errors behind it too.
        assert HUSH not in f"{error} {error!r}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def test_pydantic_used_directly_does_not_show_it_either() -> None:
    with pytest.raises(ValidationError) as caught:
        Config.model_validate({"publish": {"token": [HUSH]}})
    assert HUSH not in str(caught.value)
