"""docs/compared.md: our code runs, theirs too where their libraries are installed, and the lines are as counted."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import sightline
from small_folders import make_folders

PAGE = (Path(__file__).parents[1] / "docs" / "compared.md").read_text("utf-8")
_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
SCORE, EMBED, AGENT = (part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:])


def code_of(section: str, library: str) -> str:
    found = _BLOCK.search(section.split(f"### {library}\n")[1])
    assert found is not None
    return found[1]


def data() -> str:
    found = _BLOCK.search(EMBED.split("###")[0])
    assert found is not None
    return found[1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the page speaks of."""
    make_folders(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SIGHTLINE_WORKSPACE", raising=False)
    sightline.export_files("trec-qrels", "bench", "qrels.txt")
    sightline.export_files("trec-run", "run", "run.txt")
    return tmp_path


def run_code(*parts: str, **given: Any) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "page", **given}
    for part in parts:
        exec(compile(part, "docs/compared.md", "exec"), names)
    return names


def table() -> dict[str, list[str]]:
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
    return {row[0]: row[1:] for row in rows}


@pytest.mark.parametrize(
    ("task", "section", "library"),
    [
        ("score a run", SCORE, "ranx"),
        ("evaluate an embedder on your own benchmark", EMBED, "mteb"),
        ("run an agent on tasks", AGENT, "inspect_ai"),
    ],
)
def test_lines_are_as_counted_and_ours_are_the_fewest(task: str, section: str, library: str) -> None:
    counts = {
        name: sum(bool(line.strip()) for line in code_of(section, name).splitlines()) for name in ("Sightline", library)
    }
    row = dict(zip(table()["lines of code"], table()[task], strict=True))
    assert {name: str(count) for name, count in counts.items()} == {name: row[name] for name in counts}
    assert counts["Sightline"] < counts[library]


def test_ours_scores_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_code(code_of(SCORE, "Sightline"))
    assert re.search(r"ndcg@10 +0\.\d{3}", capsys.readouterr().out)


def test_ours_evaluates_an_embedder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_code(data(), code_of(EMBED, "Sightline"))
    assert re.search(r"ndcg@10 +1\.000", capsys.readouterr().out)


@pytest.mark.world
def test_ours_runs_an_agent(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = code_of(AGENT, "Sightline").replace("openai/gpt-5-mini", "builtin/world,embedder=world")
    assert len(run_code(data(), code)["done"].run.attempts) == 3
    assert re.search(r"ndcg@10 +\d\.\d{3}", capsys.readouterr().out)


# --- theirs, in the environment of `make test-interop` -----------------------------------------------------------


def _is_the_version_named(library: str, package: str) -> None:
    pytest.importorskip(library)
    assert f"{library} {version(package)}" in PAGE, "say on the page which version was tried"


@pytest.mark.slow
def test_ranx_gives_our_score(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _is_the_version_named("ranx", "ranx")
    run_code(code_of(SCORE, "ranx"))
    theirs = re.search(r"'ndcg@10': (?:np.float64)?\(?([\d.]+)", capsys.readouterr().out)
    assert theirs is not None
    assert float(theirs[1]) == pytest.approx(sightline.score_trec("qrels.txt", "run.txt", "ndcg@10")["ndcg@10"].mean)


@pytest.mark.slow
def test_mteb_gives_our_score(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _is_the_version_named("mteb", "mteb")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert run_code(data(), code_of(EMBED, "mteb"))["results"].task_results[0].get_score() == 1.0


@pytest.mark.slow
def test_inspect_ai_runs_its_agent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _is_the_version_named("inspect_ai", "inspect-ai")
    from inspect_ai.model import ModelOutput, get_model

    answers = ("red-circle.png, red-square.png", "blue-circle.png", "red-circle.png, green-circle.png")
    said = [
        ModelOutput.for_tool_call("mockllm/model", *call)
        for answer in answers
        for call in (("search_pictures", {"words": "red"}), ("submit", {"answer": answer}))
    ]

    class Words:
        """Instead of a tokenizer that would be downloaded."""

        encode = staticmethod(lambda text, **_: text.split())

    monkeypatch.setattr(pytest.importorskip("tiktoken"), "get_encoding", lambda _: Words)
    model = get_model("mockllm/model", custom_outputs=said)
    one_by_one = "model=MODEL, max_samples=1, display='none'"
    code = code_of(AGENT, "inspect_ai").replace('model="openai/gpt-5-mini"', one_by_one)
    names = run_code(data(), code, MODEL=model)
    assert names["log"].status == "success"
    assert names["log"].results.scores[0].metrics["mean"].value == pytest.approx((1 + 1 + 0.6309) / 3, abs=1e-3)
