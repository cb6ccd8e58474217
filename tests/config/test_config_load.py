"""File, environment, command line: who wins, where a value came from, and what a mistake is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sightline.config import Config, load
from sightline.errors import UserError


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    return tmp_path / "sightline.toml"


def refused(path: Path | None, **more: Any) -> UserError:
    with pytest.raises(UserError) as caught:
        load(path, **{"environment": {}, **more})
    assert caught.value.exit_code == 2
    return caught.value


def test_without_a_file_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    loaded = load(environment={})
    assert loaded.config == Config()
    assert set(loaded.sources.values()) == {"default"}
    assert loaded.warnings == () and loaded.unmapped == ()


def test_sightline_toml_of_the_current_folder_is_found(toml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml.write_text("[scan]\nhidden = true\n")
    monkeypatch.chdir(toml.parent)
    loaded = load(environment={})
    assert loaded.config.scan.hidden
    assert loaded.sources["scan.hidden"] == "file sightline.toml"


def test_the_variable_names_a_file_and_an_explicit_path_wins(toml: Path, tmp_path: Path) -> None:
    toml.write_text("[scan]\nworkers = 2\n")
    other = tmp_path / "other.toml"
    other.write_text("[scan]\nworkers = 3\n")
    environment = {"SIGHTLINE_CONFIG": str(other)}
    assert load(environment=environment).config.scan.workers == 3
    assert load(toml, environment=environment).config.scan.workers == 2


def test_priority_rises_from_file_to_environment_to_command_line(toml: Path) -> None:
    toml.write_text("[scan]\nmax_pixels = 1\nworkers = 1\nhidden = true\n")
    loaded = load(
        toml,
        environment={"SIGHTLINE_SCAN__MAX_PIXELS": "2", "SIGHTLINE_SCAN__WORKERS": "2"},
        overrides={"scan": {"max_pixels": 3}},
    )
    assert (loaded.config.scan.max_pixels, loaded.config.scan.workers, loaded.config.scan.hidden) == (3, 2, True)
    assert loaded.sources["scan.max_pixels"] == "command line"
    assert loaded.sources["scan.workers"] == "environment SIGHTLINE_SCAN__WORKERS"
    assert loaded.sources["scan.hidden"] == f"file {toml}"
    assert loaded.sources["events.gap_hours"] == "default"


@pytest.mark.parametrize(
    "overrides",
    [
        {"scan.max_pixels": 7, "scan.hidden": None},
        {"scan": {"max_pixels": 7, "hidden": None}},
        {"scan": {"hidden": None}, "scan.max_pixels": 7, "events": None},
    ],
)
def test_overrides_are_nested_or_dotted_and_none_is_not_given(toml: Path, overrides: Any) -> None:
    toml.write_text("[scan]\nhidden = true\n")
    loaded = load(toml, environment={}, overrides=overrides)
    assert loaded.config.scan.max_pixels == 7
    assert loaded.config.scan.hidden
    assert loaded.sources["scan.hidden"] == f"file {toml}"


def test_overrides_stay_as_they_were() -> None:
    overrides: dict[str, Any] = {"scan": {"hidden": True}, "scan.max_pixels": 7}
    load(environment={}, overrides=overrides)
    assert overrides == {"scan": {"hidden": True}, "scan.max_pixels": 7}


def test_false_zero_and_empty_are_values(toml: Path) -> None:
    toml.write_text(
        '[publish]\nprivate = false\n[plan]\nrandom_seed = 0\n[annotate]\nsystem_prompt = ""\ntaxonomy = {}\n'
    )
    loaded = load(toml, environment={}, overrides={"plan": {"easy": 0}, "annotate.taxonomy": {}})
    assert loaded.config.publish.private is False
    assert loaded.config.plan.random_seed == 0
    assert loaded.config.plan.easy == 0
    assert loaded.config.annotate.system_prompt == ""
    assert loaded.sources["annotate.taxonomy"] == "command line"


def test_prices_by_stage_and_by_model(toml: Path) -> None:
    toml.write_text('[prices.judge]\ninput = 1\n[prices.models."openai/gpt-4.1-mini"]\noutput = 0.5\n')
    config = load(toml, environment={"SIGHTLINE_PRICES__JUDGE__OUTPUT": "2.5"}).config
    assert (config.prices.judge.input, config.prices.judge.output) == (1.0, 2.5)
    assert config.prices.models["openai/gpt-4.1-mini"].output == 0.5


def test_a_home_folder_is_expanded_and_an_empty_path_is_none(toml: Path) -> None:
    toml.write_text('[paths]\npictures = "~/Pictures"\nrights = ""\n')
    config = load(toml, environment={}).config
    assert config.paths.pictures == Path.home() / "Pictures"
    assert config.paths.rights is None


def test_json_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b'\xef\xbb\xbf{"scan": {"max_pixels": 9}}')
    assert load(path, environment={}).config.scan.max_pixels == 9


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        ("[scan]\n\nmax_pixel = 5", 'line 3: unknown key "scan.max_pixel"', 'Did you mean "max_pixels"?'),
        ("[scan]\nmax-pixels = 5", 'unknown key "scan.max-pixels"', '"max_pixels"'),
        ("[scan]\ngap_hours = 5", 'line 2: unknown key "scan.gap_hours"', '"gap_hours" belongs in [events].'),
        ("[scan]\ngap_hour = 5", 'unknown key "scan.gap_hour"', 'Did you mean "gap_hours" in [events]?'),
        ("[sacn]\nhidden = true", 'line 1: unknown key "sacn"', 'Did you mean "scan"?'),
        ("max_pixels = 5", 'line 1: unknown key "max_pixels"', '"max_pixels" belongs in [scan].'),
        ("[scan]\nzzzzqqq = 5", 'unknown key "scan.zzzzqqq"', "Known in [scan]: max_pixels"),
        ("[prices.judge]\ninptu = 5", 'unknown key "prices.judge.inptu"', 'Did you mean "input"?'),
        ("[prices.models.x]\ninptu = 5", "unknown key", 'Did you mean "input"?'),
        ("scan = 5", 'line 1: "scan" must be a table', "write [scan]"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_right_one(toml: Path, text: str, message: str, fix: str) -> None:
    toml.write_text(text + "\n")
    error = refused(toml)
    assert str(toml) in error.message
    assert message in error.message
    assert fix in (error.fix or "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[scan]\nmax_pixels = 'many'", 'line 2: "scan.max_pixels" is "many"; expected a whole number'),
        ("[scan]\nmax_pixels = true", '"scan.max_pixels" is true; expected a whole number'),
        ("[scan]\nmax_pixels = 0", '"scan.max_pixels" is 0; expected greater than 0'),
        ("[scan]\nhidden = 1", '"scan.hidden" is 1; expected true or false'),
        ("[events]\ngap_hours = nan", '"events.gap_hours" is NaN; expected a finite number'),
        ("[scan]\nowner_pattern = 5", '"scan.owner_pattern" is 5; expected text'),
        ("[paths]\npictures = 5", '"paths.pictures" is 5; expected a path'),
        ("[annotate]\nflags = 'a'", '"annotate.flags" is "a"; expected a list'),
        ("[annotate]\nflags = ['a', 2]", '"annotate.flags[1]" is 2; expected text'),
        ("[annotate]\ntaxonomy = {light = 'day'}", '"annotate.taxonomy[light]" is "day"; expected a list'),
        ("[judge]\nreasoning_effort = 'huge'", "'minimal', 'low', 'medium'"),
        ("[annotate]\nmin_tags = 9\nmax_tags = 3", "min_tags (9) is more than max_tags (3)"),
    ],
)
def test_a_wrong_value_is_refused_with_what_was_given_and_what_is_expected(toml: Path, text: str, message: str) -> None:
    toml.write_text(text + "\n")
    error = refused(toml)
    assert str(toml) in error.message
    assert message in error.message


def test_all_mistakes_are_told_at_once(toml: Path) -> None:
    toml.write_text("[scan]\nmax_pixels = 'a'\n[events]\ngap_hours = 'b'\n")
    message = str(refused(toml))
    assert "scan.max_pixels" in message and "events.gap_hours" in message


def test_a_wrong_value_names_the_variable_or_the_command_line() -> None:
    error = refused(None, environment={"SIGHTLINE_SCAN__WORKERS": "some"})
    assert error.message == 'environment: "SIGHTLINE_SCAN__WORKERS" is "some"; expected a whole number.'
    error = refused(None, overrides={"scan": {"workers": 0}})
    assert error.message.startswith('command line: "scan.workers" is 0; expected')
    error = refused(None, overrides={"scan.wrokers": 2})
    assert 'Did you mean "workers"?' in (error.fix or "")


def test_broken_files_are_refused_with_their_line(tmp_path: Path) -> None:
    toml, json, binary = tmp_path / "a.toml", tmp_path / "a.json", tmp_path / "b.toml"
    toml.write_text("[scan]\nmax_pixels = = 3\n")
    json.write_text('{"scan": {\n"hidden": tru}}')
    binary.write_bytes(b"# \n[scan]\nowner_pattern = '\xff'\n")
    assert "a.toml" in str(refused(toml)) and "line 2" in str(refused(toml))
    assert "a.json, line 2" in str(refused(json))
    assert "b.toml, line 3" in str(refused(binary))


def test_a_list_is_not_a_configuration(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[1, 2]")
    assert "one JSON object" in str(refused(path))


def test_a_missing_file_is_refused_with_the_fix(tmp_path: Path) -> None:
    error = refused(tmp_path / "no.toml")
    assert "no such configuration file" in error.message and error.fix
    error = refused(None, environment={"SIGHTLINE_CONFIG": str(tmp_path / "no.toml")})
    assert "SIGHTLINE_CONFIG" in error.message and "unset" in (error.fix or "")
    error = refused(tmp_path)
    assert "is a folder" in error.message and "sightline.toml" in (error.fix or "")
