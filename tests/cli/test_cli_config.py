"""`sightline config show`, and what every other verb says about its configuration."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sightline.cli import main
from sightline.cli.options import Common

FILES = Path(__file__).parents[1] / "config" / "files"
BENCHMAKER = FILES / "every_field.json"
SECRETS = ("hf_secret_of_the_file", "sk-secret-of-the-file")


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration but the test's own."""
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith("SIGHTLINE_") or name.endswith(("_API_KEY", "_TOKEN", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "200")


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    main(["config", "show", "--json", *arguments])
    return json.loads(capsys.readouterr().out)


def test_json_has_the_values_and_where_each_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("sightline.toml").write_text("[scan]\nmax_pixels = 5\n")
    monkeypatch.setenv("SIGHTLINE_EVENTS__GAP_HOURS", "2")
    monkeypatch.setenv("HF_TOKEN", "hush-hush")
    main(["config", "show", "--json"])
    output = capsys.readouterr()
    assert output.err == ""
    assert "hush-hush" not in output.out
    result = json.loads(output.out)
    assert result["config"]["scan"]["max_pixels"] == 5
    assert result["config"]["publish"]["token"] == "***"
    assert result["config"]["models"]["openai_api_key"] is None
    assert result["sources"]["scan.max_pixels"] == "file sightline.toml"
    assert result["sources"]["events.gap_hours"] == "environment SIGHTLINE_EVENTS__GAP_HOURS"
    assert result["sources"]["publish.token"] == "environment HF_TOKEN"
    assert result["sources"]["scan.hidden"] == "default"
    assert (result["unmapped"], result["warnings"], result["mapped"]) == ([], [], {})


def test_a_benchmaker_file_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["config", "show", "--config", str(BENCHMAKER), "--json"])
    output = capsys.readouterr()
    result = json.loads(output.out)
    assert result["config"]["annotate"]["model"] == "openai/gpt-5-mini"
    assert result["config"]["publish"]["token"] == result["config"]["models"]["openai_api_key"] == "***"
    assert result["sources"]["plan.hard"] == f"file {BENCHMAKER}"
    assert result["mapped"]["query_plan_neg_hard"] == ["plan.hard"]
    assert {"log_level", "vision_config.stage"} <= {item["key"] for item in result["unmapped"]}
    assert all(item["reason"] for item in result["unmapped"])
    assert any("_hf_token" in warning and "HF_TOKEN" in warning for warning in result["warnings"])
    assert output.err.count("warning: ") == len(result["warnings"]) == 2
    assert not any(secret in output.out + output.err for secret in SECRETS)


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_every_example_is_shown(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "--config", str(path))["config"]["benchmark"]["name"]


def test_for_people_there_is_a_table_with_the_benchmaker_keys(capsys: pytest.CaptureFixture[str]) -> None:
    main(["config", "show", "--config", str(BENCHMAKER)])
    output = capsys.readouterr()
    lines = {line.split()[0]: line for line in output.out.splitlines() if line.strip()}
    assert lines["file:"].endswith("every_field.json")
    assert lines["plan.hard"].split() == ["plan.hard", "2", "query_plan_neg_hard"]
    assert lines["scan.hidden"].split() == ["scan.hidden", "false", "default"]
    assert "***" in lines["publish.token"]
    assert "-v" in lines["log_level"]
    assert "warning: " in output.err and "warning" not in output.out
    assert not any(secret in output.out + output.err for secret in SECRETS)


def test_a_long_prompt_is_cut_with_its_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sightline.toml"
    path.write_text(f'[judge]\nsystem_prompt = "{"look [bold]closely[/bold] " * 20}"\n')
    main(["config", "show"])
    assert "look [bold]closely[/bold] look" in (out := capsys.readouterr().out)
    assert "(520 characters)" in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[scan]\nmax_pixel = 5\n", 'Did you mean "max_pixels"?'),
        ("[scan]\nmax_pixels = 'many'\n", "expected a whole number"),
        ("[scan\n", "not valid TOML"),
    ],
)
def test_a_mistake_ends_with_code_2_and_the_fix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(SystemExit) as caught:
        main(["config", "show", "--config", str(path)])
    assert caught.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: ") and str(path) in output.err and message in output.err


def test_a_missing_file_ends_with_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["config", "show", "--config", "no.toml"])
    assert caught.value.code == 2
    assert "no such configuration file" in capsys.readouterr().err


def test_other_verbs_get_their_settings_and_say_the_warnings_once(capsys: pytest.CaptureFixture[str]) -> None:
    settings = Common(config=BENCHMAKER).settings({"scan.workers": 2, "scan.hidden": None})
    assert settings.scan.workers == 2
    assert settings.plan.hard == 2
    err = capsys.readouterr().err
    assert err.count("_hf_token") == 1
    assert "benchmaker keys with no counterpart: log_level" in err
    assert not any(secret in err for secret in SECRETS)
