"""Folders that an old version made open, and nothing in their journals is paid for again.

`v0_1_0` was made by `build.py` with version 0.1.0. Each part is copied, its command is run again into another folder,
and the server at the address that the journal knows must not be asked. Only the command line and the functions of
`sightline` itself are used here, so that the tests outlive every change inside.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from old_version_commands import ASKING, BUILT, QUERY, THINKING, WORKSPACE, command, embedder, sightline
from old_version_server import OldVersionServer, serving

from sightline import Session, load, score, validate
from sightline.benchmark.problems import Problem

MADE = Path(__file__).parent / "v0_1_0"
MADE_AT = "/tmp/sightline-old-version"
"""Where the folders were when they were made; it stands in some of their files."""
DRAWN_AT = 1_700_000_000
VARYING = frozenset({"seconds", "at", "trajectory", "uri", "image_url", "usd", "place"})
NEW = ("also_at",)
"""What old results do not have."""
"""Fields that tell when, where, how fast and for how much something was done; a reply from the journal is free.

`place` is the nearest town, by the installed version of another package.
"""
RUNS = {
    "runs/chat": "questions",
    "runs/agent": "colors",
    "runs/retriever": "colors",
    "runs/blind": "colors",
    "ablated/whole": "questions",
    "ablated/one-picture": "questions",
}
"""Runs, and the benchmarks that they were made on."""
COMPARED: Mapping[str, tuple[str, ...]] = {
    "annotate": ("annotations.jsonl", "annotations_failed.jsonl"),
    "query": ("queries.jsonl", "queries_failed.jsonl"),
    "judge": ("qrels.jsonl", "verdicts.jsonl", "pool.jsonl", "set_aside.jsonl"),
    "mine": (
        *("project/parsed.jsonl", "project/queries.jsonl", "project/checked.jsonl"),
        *("benchmark/tasks.jsonl", "benchmark/truth.jsonl"),
    ),
    "think": ("data/train-00000.jsonl",),
    "steps": ("tasks.jsonl", "truth.jsonl", "steps-review.jsonl"),
    "difficulty": ("tasks.jsonl", "truth.jsonl"),
    "grade": ("tasks.jsonl", "truth.jsonl"),
    "ablate": tuple(
        f"{name}/predictions.jsonl"
        for name in ("whole", "without-text", "without-pictures", "one-picture", "shuffled-pictures")
    ),
    "chat": ("predictions.jsonl",),
    "agent": ("predictions.jsonl",),
}
"""By part: the files that must hold the same again."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of the folders, with the place of the scanned pictures changed to that of the copy."""
    folder = tmp_path / "old"
    shutil.copytree(MADE, folder)
    for path in folder.rglob("*.jpg"):
        os.utime(path, (DRAWN_AT, DRAWN_AT))  # A checkout does not keep times, and a scan looks at them.
    listed = folder / "project/images.jsonl"
    listed.write_bytes(listed.read_bytes().replace(MADE_AT.encode(), bytes(folder)))
    for workspace in ("workspace", "thinking"):
        with closing(sqlite3.connect(folder / workspace / "corpus.sqlite")) as database, database:
            for id_, path in database.execute("SELECT id, path FROM roots").fetchall():
                moved = path.replace(MADE_AT.encode(), bytes(folder))
                database.execute("UPDATE roots SET path = ? WHERE id = ?", (moved, id_))
    return folder


# --- what is read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["colors", "questions", "project/benchmark", "mined/benchmark", "steps", "graded", "graded-by-judge"]
)
def test_a_benchmark_opens(old: Path, name: str) -> None:
    problems: Sequence[Problem] = validate(old / name)
    if name in ("project/benchmark", "mined/benchmark"):  # They name their pictures by the place where they were.
        problems = tuple(problem for problem in problems if "there is no picture at" not in problem.message)
    assert not problems
    tasks = (old / name / "tasks.jsonl").read_text().splitlines()
    made: Any = load(old / name)
    assert list(made.tasks) == [json.loads(line)["id"] for line in tasks]


@pytest.mark.parametrize("name", RUNS)
def test_a_run_opens_and_scores_the_same(old: Path, name: str) -> None:
    run = old / name
    known = json.loads((run / "scores.json").read_text())
    assert not validate(run)
    made: Any = load(run)
    assert len(made.attempts) == len((run / "predictions.jsonl").read_text().splitlines())
    scores = score(old / RUNS[name], run)
    means = {metric: estimate.mean for metric, estimate in scores.overall.items()}
    assert means == {metric: estimate["mean"] for metric, estimate in known["overall"].items()}
    now = json.loads((run / "scores.json").read_text())
    assert set(now) - set(known) == {
        "grade",
        "warnings",
        "baselines",
        "corrected",
        "benchmark_folder",
        "checked",
        "condensed",
    }  # What old files do not have.
    assert steady({key: value for key, value in now.items() if key in known}) == steady(known)


def test_a_workspace_opens(old: Path) -> None:
    corpus: Any = load(old / "workspace")
    assert sorted(corpus.pictures) == [f"ana/{number:02}.jpg" for number in range(54)]
    again = sightline(old, "scan", "pictures", "--owner-pattern", "{owner}/*", *WORKSPACE, "--json")
    assert again.returncode == 0, again.stderr
    assert set(json.loads(again.stdout)["changes"].values()) == {0}, again.stdout


@pytest.mark.parametrize(("name", "kept"), [("default", "found.json"), ("colors", "found-in-colors.json")])
def test_an_index_is_searched_as_it_is(old: Path, name: str, kept: str) -> None:
    """Its columns, vectors and words are those of the old version, and stay."""
    index = old / "workspace/indexes" / name
    before = {path: path.read_bytes() for path in index.rglob("*") if path.suffix in (".json", ".bin", ".f32")}
    asked = ("--index", name, *WORKSPACE, "--json")
    with serving("search") as server:
        found = sightline(old, "search", QUERY, "-k", "4", *asked)
        early = sightline(old, "search", QUERY, "--where", "month = 3 and hour < 10 and not tag:yellow", *asked)
    # A corpus of an older version gets checksums, so the index looks again: the fixture has moved all pictures.
    moved = (
        'note: the index "default" was brought up to date: 54 changed; 0 embedded now\n' if name == "default" else ""
    )
    assert found.returncode == 0 and [found.stderr, early.stderr] == [moved, ""]
    assert json.loads(found.stdout)["notes"] == [line.removeprefix("note: ") for line in moved.splitlines()]
    assert steady(json.loads(found.stdout) | {"notes": []}) == steady(json.loads((MADE / kept).read_text()))
    assert ids(early.stdout)[:3] == ["ana/00.jpg", "ana/01.jpg", "ana/09.jpg"]
    # The manifest names the new places, and what is brought up to date has the columns of today (album, film).
    kept_files = {path for path in before if not moved or (path.suffix != ".json" and "columns" not in path.name)}
    assert any(path.suffix == ".f32" for path in kept_files), "vectors"
    assert {path: path.read_bytes() for path in kept_files} == {path: before[path] for path in kept_files}
    assert len(before) == 3 and not server.paid


def test_the_words_of_an_index_are_searched(old: Path) -> None:
    with serving("search") as server:
        found = sightline(old, "search", "red", "--method", "words", "--index", "colors", *WORKSPACE, "--json")
    assert found.stderr == "" and ids(found.stdout) == ["ana/09.jpg", "ana/11.jpg"]
    assert not server.asked


def ids(found: str) -> list[str]:
    return sorted(hit["id"] for hit in json.loads(found)["hits"])


@pytest.mark.parametrize("how", ["", "--rebuild"])
def test_an_index_is_brought_up_to_date_and_nothing_is_embedded_again(old: Path, how: str) -> None:
    with serving("search") as server:
        done = sightline(old, "index", *how.split(), "--embedder", embedder("search"), *WORKSPACE, "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 0 and told["pictures"] == 54 and told["embedded"] == 0, done.stdout + done.stderr
    assert not server.paid


def test_a_retriever_runs_again_and_nothing_is_embedded_again(old: Path) -> None:
    system = f"retriever:embedder={embedder('retriever')}"
    with serving("retriever") as server:
        done = sightline(old, "run", "colors", "--system", system, *WORKSPACE, "--out", "again")
    assert done.returncode == 0 and not server.paid, done.stderr
    same_rows(old / "again/predictions.jsonl", old / "runs/retriever/predictions.jsonl")


def test_runs_are_compared_and_reported(old: Path) -> None:
    runs = ["runs/blind", "runs/agent", "runs/retriever"]
    compared = sightline(old, "compare", *runs, "--json")
    assert compared.returncode == 0 and len(json.loads(compared.stdout)["standings"]["map"]) == 3, compared.stderr
    report = sightline(old, "report", "colors", "questions", *runs, "runs/chat", "--out", "page.html", "--json")
    assert report.returncode == 0 and len(json.loads(report.stdout)["benchmarks"]) == 2, report.stderr
    assert "retriever" in (old / "page.html").read_text()
    board = sightline(old, "leaderboard", "runs", "--out", "board", "--json")
    assert board.returncode == 0 and len(json.loads(board.stdout)["boards"]) == 2, board.stderr


def test_a_ledger_says_the_same(old: Path) -> None:
    told = json.loads(sightline(old, "ledger", *WORKSPACE, "--json").stdout)
    assert told == json.loads((MADE / "ledger.json").read_text())


def test_traces_become_a_benchmark(old: Path) -> None:
    done = sightline(
        old, "import", "imagenet-think", "traces", "--pictures", "thought-about", "--out", "of-traces", "--json"
    )
    assert done.returncode == 0 and json.loads(done.stdout)["tasks"] == 3, done.stderr
    assert not validate(old / "of-traces")


# --- what was paid for -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", BUILT)
def test_nothing_is_paid_again(old: Path, part: str) -> None:
    (old / "again").mkdir()
    if part == "taxonomy":
        (old / "again" / "out.toml").touch()
    with nothing_is_paid(old, part):
        done = sightline(old, *command(part, "again/out"), "--json")
    assert done.returncode == 0, done.stderr
    if part == "taxonomy":
        assert (old / "again/out.toml").read_text() == (MADE / "taxonomy.toml").read_text()
    for name in COMPARED.get(part, ()):
        same_rows(old / "again/out" / name, old / BUILT[part] / name)


@pytest.mark.parametrize("part", ["annotate", "judge", "think", "chat", "agent"])
def test_what_is_done_is_not_done_again(old: Path, part: str) -> None:
    kept = {name: (old / BUILT[part] / name).read_bytes() for name in COMPARED[part]}
    with nothing_is_paid(old, part, answered=False):
        done = sightline(old, *command(part, BUILT[part]), "--json")
    assert done.returncode == 0, done.stderr
    assert {name: (old / BUILT[part] / name).read_bytes() for name in kept} == kept


@pytest.mark.parametrize(("part", "kept"), [("rerank", "reranked.json"), ("ask", "answered.json")])
def test_a_question_is_not_paid_again(old: Path, part: str, kept: str) -> None:
    with nothing_is_paid(old, part, "search"):
        rebuilt = sightline(
            old, "index", "--rebuild", *WORKSPACE
        )  # It knows where the pictures were, not where they are.
        done = sightline(old, *command(part, ""), "--json")
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert done.returncode == 0, done.stderr
    assert steady(json.loads(done.stdout)) == steady(json.loads((MADE / kept).read_text()))


def test_a_verdict_on_an_answer_is_not_asked_for_again(old: Path) -> None:
    from sightline.metrics.answer_judge import AnswerToJudge, VerdictCache
    from sightline.runs.judged_answers import AnswerJudgeJob, judge_answers
    from sightline.types import Answer, ChatRequest

    def ask(item: AnswerToJudge) -> ChatRequest:
        raise AssertionError(f"{item} was judged before, and is asked about again")

    def read(reply: object) -> Any:
        raise AssertionError(f"nobody was asked, and {reply} came")

    truth = Answer("12 km", aliases=("twelve",), unit="km", tolerance=0.1)
    answers = {"far": AnswerToJudge("How far is it?", truth, "about twelve")}
    job = AnswerJudgeJob("openai/no-such-model", ask, read, name="old judge")
    session, earlier = Session(old / "workspace"), VerdictCache(old / "verdicts.sqlite")
    verdict: Any = judge_answers(answers, job, session, rules_first=False, earlier=earlier)["far"]
    assert (verdict.correct, verdict.confidence, verdict.reason) == (True, 0.8, "It is near enough.")


def test_every_part_is_tried() -> None:
    assert ASKING.keys() == BUILT.keys() | {"rerank", "ask"}


def test_a_call_that_is_not_in_the_journal_is_noticed(old: Path) -> None:
    """So that the tests above can fail: one reply less is one call that is paid."""
    with closing(sqlite3.connect(old / "workspace/journal.sqlite")) as database, database:
        database.execute("DELETE FROM calls WHERE id = (SELECT min(id) FROM calls WHERE stage = 'annotate')")
    (old / "again").mkdir()
    with serving("annotate") as server:
        assert sightline(old, *command("annotate", "again/out")).returncode == 0
    assert len(server.paid) == 1


# --- how it is seen --------------------------------------------------------------------------------------------


@contextmanager
def nothing_is_paid(folder: Path, part: str, *others: str, answered: bool = True) -> Iterator[None]:
    """No request reaches a server, no call is added to the journal; with `answered`, the journal did answer."""
    journal = folder / (THINKING if part == "think" else WORKSPACE)[1] / "journal.sqlite"
    before, hits = calls_in(journal)
    with ExitStack() as stack:
        servers: list[OldVersionServer] = [stack.enter_context(serving(name)) for name in (*others, part)]
        yield
    assert [line for server in servers for line in server.paid] == []
    after, hits_after = calls_in(journal)
    assert after == before
    assert (hits_after > hits) is answered


def calls_in(journal: Path) -> tuple[int, int]:
    """How many calls were paid for, those for vectors apart, and how many the journal answered."""
    with closing(sqlite3.connect(journal)) as database:
        calls = database.execute("SELECT count(*) FROM calls WHERE stage != 'embed'").fetchone()[0]
        hits = database.execute("SELECT coalesce(sum(count), 0) FROM hits").fetchone()[0]
    return calls, hits


def same_rows(path: Path, before: Path) -> None:
    """Both files hold the same, in any order."""
    assert rows(path) == rows(before), path


def rows(path: Path) -> list[str]:
    lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    return sorted(json.dumps(steady(json.loads(line)), sort_keys=True) for line in lines)


def steady(value: Any) -> Any:
    """A value without what varies from one time to the next."""
    if isinstance(value, dict):
        return {key: steady(each) for key, each in value.items() if key not in VARYING and key not in NEW}
    return [steady(each) for each in value] if isinstance(value, list) else value
