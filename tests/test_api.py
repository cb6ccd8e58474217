"""The public API: documented, stable, and typed for those who call it."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import sightline
from record_api import CHANGELOG, changed, current, recorded, unnamed
from sightline.errors import UserError
from sightline.types import Choice

FUNCTIONS = sorted(name for name in sightline.__all__ if inspect.isfunction(getattr(sightline, name)))
CLIENT = Path(__file__).parent / "typed_client.py"
_ADD = "Add a line to the unreleased section of CHANGELOG.md that names {}, then run `python tests/record_api.py`."


# --- documentation -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_does_takes_and_gives(name: str) -> None:
    function = getattr(sightline, name)
    text = inspect.getdoc(function) or ""
    assert re.match(r"[A-Z].*\.", text), "a summary line"
    for heading in ("Parameters", "Returns", "Examples"):
        assert re.search(rf"^{heading}\n-+$", text, re.MULTILINE), f"{name}: no {heading}"
    section = text.split("\nParameters\n")[1].split("\nReturns\n")[0]
    told = {word for line in re.findall(r"^([\w*, ]+):$", section, re.MULTILINE) for word in re.findall(r"\w+", line)}
    assert told == set(inspect.signature(function).parameters), f"{name}: parameters as documented and as they are"


def test_the_session_says_what_it_takes() -> None:
    text = inspect.getdoc(sightline.Session) or ""
    for parameter in inspect.signature(sightline.Session).parameters:
        assert re.search(rf"^{parameter}:$", text, re.MULTILINE), parameter


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_signature_has_real_parameters_with_types(name: str) -> None:
    signature = inspect.signature(getattr(sightline, name))
    parameters = signature.parameters.values()
    assert name == "dry_run" or not any(each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL) for each in parameters)
    assert signature.empty not in {signature.return_annotation, *(each.annotation for each in parameters)}


@pytest.mark.parametrize("name", sorted(sightline.VERBS))
def test_a_verb_that_calls_models_can_be_priced_and_takes_its_state_by_keyword(name: str) -> None:
    verb = getattr(sightline, name)
    parameters = inspect.signature(verb).parameters
    assert not {"config", "local_only", "asking", "engine"} & set(parameters)
    for state in {"workspace", "session"} & set(parameters):
        assert parameters[state].kind is inspect.Parameter.KEYWORD_ONLY and parameters[state].default is None
    assert not getattr(verb, "priced", False) or "session" in parameters


# --- stability ---------------------------------------------------------------------------------------------------


def test_the_public_signatures_are_as_recorded() -> None:
    _, now = recorded()
    different = changed(now, current())
    names = ", ".join(f"`sightline.{name}`" for name in different)
    assert not different, f"Public signatures changed: {names}. {_ADD.format(names)}"


def test_the_changelog_names_every_signature_that_changed_since_the_release() -> None:
    released, now = recorded()
    missing = unnamed(changed(released, now), CHANGELOG.read_text("utf-8"))
    names = ", ".join(f"`sightline.{name}`" for name in missing)
    assert not missing, f"CHANGELOG.md does not name {names}. {_ADD.format(names)}"


def test_recorded_signatures_hold_nothing_of_this_machine() -> None:
    assert " at 0x" not in str(current())


def test_a_change_that_no_changelog_names_is_found() -> None:
    before = {"think": ["source: str", "-> None"], "mine": ["-> None"], "gone": ["-> None"]}
    after = {"think": ["source: str", "*", "limit: int", "-> None"], "mine": ["-> None"], "added": ["-> None"]}
    assert changed(before, after) == ["added", "gone", "think"]
    text = "## Unreleased\n\n- `sightline.think(limit=…)`; sightline.added_later\n\n## 0.1.0\n\n- sightline.gone\n"
    assert unnamed(changed(before, after), text) == ["added", "gone"]
    assert unnamed(["gone"], "## 0.2.0 (unreleased)\n- `sightline.gone` is gone.\n") == []
    assert unnamed(["gone"], "no sections: sightline.gone") == ["gone"]


# --- types for callers -------------------------------------------------------------------------------------------


def test_the_typed_client_calls_everything() -> None:
    tree = ast.parse(CLIENT.read_text("utf-8"))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sightline"
    }
    assert used >= {*sightline.__all__} - {"__version__"}


def test_a_session_shows_type_checkers_every_verb() -> None:
    source = inspect.getsource(sightline.Session)
    shown = set(re.findall(r"^ +(\w+) = staticmethod\(sightline\.\1\)$", source, re.MULTILINE))
    assert shown == set(sightline.VERBS)


# --- bad input ---------------------------------------------------------------------------------------------------


untyped: Any = sightline
"""Types are wrong on purpose below."""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: untyped.think("pictures", "out"), "No model is named"),
        (lambda: untyped.think("pictures", "out", teachers="openai/gpt-5", samples=0), "samples must be a number of"),
        (lambda: untyped.think("pictures", "out", teachers="openai/gpt-5", format="csv"), "Choose from parquet"),
        (lambda: untyped.think("pictures", teachers="openai/gpt-5"), "No folder is given"),
        (lambda: untyped.steps(Choice("A"), "out", model="openai/gpt-5"), "Expected the path of a benchmark"),
        (lambda: untyped.steps("pictures", "out", model="openai/gpt-5"), "pictures"),
        (lambda: untyped.difficulty("bench", "out", by="luck"), "Choose from samples, judge, run, turns"),
        (lambda: untyped.difficulty("bench", "out", model="openai/gpt-5", samples="many"), "samples"),
        (lambda: untyped.split("bench", "out", parts="train"), "not of the form name=share"),
        (lambda: untyped.split("bench", "out", parts={"train": 0.5}), "two parts or more"),
        (lambda: untyped.ablate("bench", "out", model="openai/gpt-5", without="sound"), 'no ablation "sound"'),
        (lambda: untyped.curriculum("bench", "mir", "out", format="csv"), 'no format "csv"'),
        (lambda: untyped.curriculum("bench", "mirr", "out"), 'no plan "mirr"'),
        (lambda: untyped.mine("out", model="openai/gpt-5", stages="parsing"), "Choose from parse, associate"),
        (lambda: untyped.mine(model="openai/gpt-5"), "No folder is given for the benchmark"),
        (lambda: untyped.power("run", difference=0.1), "1 runs were given"),
        (lambda: untyped.power(difference=0.1), "spread of differences is not known"),
        (lambda: untyped.view(port=70_000), "port must be from 0 to 65535"),
    ],
)
def test_bad_input_is_an_error_with_what_to_do(
    call: object, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(call)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=re.escape(said)):
        call()
    assert not list(tmp_path.iterdir()), "nothing is written"
