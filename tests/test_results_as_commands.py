"""What a command prints is the result of its function: `--json` is `to_json()`, the text is `str()`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sightline
from result_samples import Sample, make_sample
from sightline.cli import main

Result = Callable[[Sample, Path], Any]

VERBS: dict[str, tuple[Callable[[Sample, Path], list[object]], Result]] = {
    "score": (
        lambda given, out: ["score", given.benchmark, given.runs[0]],
        lambda given, out: sightline.score(given.benchmark, given.runs[0]),
    ),
    "score some metrics": (
        lambda given, out: ["score", given.benchmark, given.runs[0], "--metrics", "p@5,rbp(p=0.8)", "--seed", 3],
        lambda given, out: sightline.score(given.benchmark, given.runs[0], "p@5,rbp(p=0.8)", seed=3),
    ),
    "score trec": (
        lambda given, out: ["score", "trec", out / "qrels.txt", out / "run.txt", "--metrics", "ndcg@10,rr"],
        lambda given, out: sightline.score_trec(out / "qrels.txt", out / "run.txt", ["ndcg@10", "rr"]),
    ),
    "compare": (
        lambda given, out: ["compare", *given.runs, "--metrics", "map"],
        lambda given, out: sightline.compare(given.runs, "map"),
    ),
    "report": (
        lambda given, out: ["report", given.benchmark, *given.runs, "--out", out / "page.html", "--md"],
        lambda given, out: sightline.report([given.benchmark, *given.runs], out / "page.html", format="both"),
    ),
    "leaderboard": (
        lambda given, out: ["leaderboard", given.runs[0].parent, "--out", out],
        lambda given, out: sightline.leaderboard(given.runs[0].parent, out=out),
    ),
    "validate": (
        lambda given, out: ["validate", given.benchmark, "--pictures"],
        lambda given, out: sightline.validate(given.benchmark, check_pictures=True),
    ),
    "import": (
        lambda given, out: ["import", "beir", out / "beir", "--out", out / "again", "--name", "coast"],
        lambda given, out: sightline.import_files("beir", out / "beir", out / "again", name="coast"),
    ),
    "export": (
        lambda given, out: ["export", "ranx-qrels", given.benchmark, "--out", out / "a" / "b" / "ranx.json"],
        lambda given, out: sightline.export_files("ranx-qrels", given.benchmark, out / "a" / "b" / "ranx.json"),
    ),
    "scan": (
        lambda given, out: ["scan", given.pictures, "--workspace", out / "ws"],
        lambda given, out: sightline.scan(given.pictures, workspace=out / "ws"),
    ),
    "search": (
        lambda given, out: ["search", "alert", "--method", "words", "--workspace", out / "ws"],
        lambda given, out: sightline.search("alert", method=_words(), workspace=out / "ws"),
    ),
    "index": (
        lambda given, out: ["index", "--no-vectors", "--workspace", out / "ws"],
        lambda given, out: sightline.index(parts=_no_vectors(), workspace=out / "ws"),
    ),
    "run": (
        lambda given, out: [
            "run",
            given.benchmark,
            "--system",
            "blind",
            "--out",
            out / "run",
            "--workspace",
            out / "ws",
        ],
        lambda given, out: sightline.run(given.benchmark, "blind", out / "run", workspace=out / "ws"),
    ),
}
TIMES = ("seconds", "date")


def _words() -> Any:
    from sightline.retrieval.methods import METHODS

    return METHODS["words"]


def _no_vectors() -> Any:
    from sightline.retrieval.index.build import Parts

    return Parts(vectors=False)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    made = make_sample(tmp_path_factory.mktemp("given"))
    for run in made.runs:
        sightline.score(made.benchmark, run)
    return made


@pytest.fixture(scope="module")
def out(given: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where results go; each verb was done once, so that doing it again changes nothing."""
    folder = tmp_path_factory.mktemp("out")
    sightline.export_files("trec-qrels", given.benchmark, folder / "qrels.txt")
    sightline.export_files("trec-run", given.runs[0], folder / "run.txt")
    sightline.export_files("beir", given.benchmark, folder / "beir")
    for _, function in VERBS.values():
        function(given, folder)
    return folder


@pytest.mark.parametrize("verb", VERBS)
def test_json_of_a_command_is_that_of_the_result(
    verb: str, given: Sample, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, function = VERBS[verb]
    result = json.loads(json.dumps(_timeless(function(given, out).to_json()), default=str))
    capsys.readouterr()
    main([str(part) for part in (*arguments(given, out), "--json")])
    assert _timeless(json.loads(capsys.readouterr().out)) == result


@pytest.mark.parametrize(
    "verb", [verb for verb in VERBS if verb not in ("scan", "index")]
)  # They say how long it took.
def test_text_of_a_command_is_that_of_the_result(
    verb: str, given: Sample, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, function = VERBS[verb]
    result = str(function(given, out))
    capsys.readouterr()
    main([str(part) for part in arguments(given, out)])
    assert capsys.readouterr().out == f"{result}\n"


def _timeless(content: Any) -> Any:
    return {name: value for name, value in content.items() if name not in TIMES}


def test_a_table_shows_what_was_asked_for_and_json_all(given: Sample, tmp_path: Path) -> None:
    scores = sightline.score(given.benchmark, given.runs[0], "p@5")
    assert [line.split()[0] for line in str(scores).splitlines()[:2]] == ["metric", "p@5"]
    assert "ndcg@10" not in str(scores) and set(scores.to_json()["overall"]) == {"p@5", "ndcg@10", "map"}
    assert "asked" not in scores.to_json() and "place: " in scores.table(by="place")


def test_problems_end_with_4_and_are_listed(given: Sample, tmp_path: Path, cli: Any) -> None:
    broken = make_sample(tmp_path / "broken").benchmark
    (broken / "tasks.jsonl").write_text('{"id": 1}\n{"id": 2}\n')
    found = sightline.validate(broken)
    done = cli("validate", broken)
    assert done.returncode == 4 and done.stdout == f"{found}\n"
    assert len(cli("validate", broken, "--limit", 1).stdout.splitlines()) == 1 < len(found)


def test_a_folder_without_ranked_runs_is_refused(tmp_path: Path, cli: Any) -> None:
    (tmp_path / "empty").mkdir()
    done = cli("leaderboard", tmp_path / "empty")
    assert done.returncode == 2 and "There is no run below" in done.stderr
    unscored = make_sample(tmp_path / "made")
    done = cli("leaderboard", unscored.runs[0].parent)
    assert done.returncode == 2 and "sightline score BENCH RUN" in done.stderr and not done.stdout
