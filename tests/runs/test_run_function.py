"""A plain function as a system: what it is given, how its reply is read, and what becomes of its errors."""

from __future__ import annotations

import asyncio
import functools
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sightline
from runs.run_world import coloured
from search_tools import Colours
from sightline import Benchmark, Failure, FunctionSystem, PictureSet, Ranking, Task, Text, UserError
from sightline.errors import StoppedError
from sightline.runs.folder import read_run
from sightline.types import Choice, Trace
from sightline.types.task_table import Tasks

RANKED = ["ana/red.png", "ben/red.png"]


@pytest.fixture(scope="module")
def colours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return coloured(tmp_path_factory.mktemp("colours"))


@pytest.fixture
def bench() -> Benchmark:
    return Benchmark.from_tables(["a", "b", "c"], {"q1": "red", "q2": "blue"}, {"q1": ["a"], "q2": ["b"]})


def said_to(bench: Benchmark, system: Any, tmp_path: Path, **options: Any) -> dict[str, Any]:
    done = sightline.run(bench, system, workspace=tmp_path, **options)
    return {attempt.task_id: attempt.prediction for attempt in done.run.attempts}


def test_a_function_of_query_and_k(bench: Benchmark, tmp_path: Path) -> None:
    asked = []

    def my_search(query: str, k: int) -> list[str]:
        asked.append((query, k))
        return ["a", "b"]

    done = sightline.run(bench, my_search, workspace=tmp_path)
    assert asked == [("red", 100), ("blue", 100)]
    assert done.run.system == "my_search" and done.run.parameters["k"] == 100
    assert sightline.score(bench, done.run, ["rr@10"]).overall["rr@10"].mean == 0.75
    assert sightline.score(bench, done.folder, ["rr@10"]).overall["rr@10"].mean == 0.75


def test_without_out_every_run_has_a_folder_of_its_own_in_the_workspace(bench: Benchmark, tmp_path: Path) -> None:
    folders = [sightline.run(bench, lambda query: ["a"], workspace=tmp_path).folder for _ in range(2)]
    assert folders == [tmp_path / "runs" / "function-1", tmp_path / "runs" / "function-2"]
    assert read_run(folders[1]).system == "function"
    named = sightline.run(bench, FunctionSystem(lambda query: ["a"], name="ours: v2/β"), workspace=tmp_path)
    assert named.folder == tmp_path / "runs" / "ours-v2-1"


async def slow(query: str, k: int) -> list[str]:
    await asyncio.sleep(0)
    return ["b"]


class Engine:
    def __call__(self, text: str, count: int) -> list[str]:
        return ["b"]

    def find(self, query: str, *, k: int) -> list[str]:
        return ["b"][:k]


def with_default(query: str, k: int = 3, other: int = 0) -> list[str]:
    return ["b"] * (k == 100)


@pytest.mark.parametrize(
    "function",
    [
        slow,
        Engine(),
        Engine().find,
        with_default,
        functools.partial(with_default, other=2),
        lambda query: ["b"],
        lambda *arguments: ["b"],
        lambda query: slow(query, 1),
        lambda query, bench: [list(bench.corpus.pictures)[1]],
    ],
)
def test_how_a_function_may_look(function: Any, bench: Benchmark, tmp_path: Path) -> None:
    assert said_to(bench, function, tmp_path) == {"q1": Ranking(("b",)), "q2": Ranking(("b",))}


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ([("a", 0.9), ("b", 0.5)], Ranking(("a", "b"), (0.9, 0.5))),
        ({"a": 0.1, "b": 0.9}, Ranking(("b", "a"), (0.9, 0.1))),
        (np.array(["b", "a"]), Ranking(("b", "a"))),
        (iter(["b", "a", "b"]), Ranking(("b", "a"))),
        ([SimpleNamespace(picture=SimpleNamespace(id="b"), score=0.5)], Ranking(("b",), (0.5,))),
        (SimpleNamespace(hits=["b"]), Ranking(("b",))),
        ([], Ranking(())),
        (Ranking(("c",)), Ranking(("c",))),
        (Failure("timeout", "gone"), Failure("timeout", "gone")),
    ],
)
def test_forms_of_a_ranking(reply: Any, read: Any, bench: Benchmark, tmp_path: Path) -> None:
    assert said_to(bench, lambda query: reply, tmp_path, limit=1) == {"q1": read}


@pytest.mark.parametrize("reply", [None, "a", 3, {"a"}, [None], {"a": "high"}, [("a", float("nan"))]])
def test_what_is_no_ranking_is_a_counted_failure(reply: Any, bench: Benchmark, tmp_path: Path) -> None:
    done = sightline.run(bench, lambda query: reply, workspace=tmp_path)
    assert done.failures == {"bad-prediction": 2} and done.answered == 0


def test_an_error_is_a_failure_with_its_traceback(bench: Benchmark, tmp_path: Path) -> None:
    def inner(query: str) -> list[str]:
        raise ValueError(f"no index for {query}")

    def search(query: str) -> list[str]:
        return inner(query) if query == "blue" else ["a"]

    done = sightline.run(bench, search, tmp_path / "run", workspace=tmp_path)
    assert done.failures == {"crashed": 1} and done.answered == 1
    (failed,) = (one.prediction for one in read_run(tmp_path / "run").attempts if isinstance(one.prediction, Failure))
    first, _, rest = failed.message.partition("\n")
    assert first == "ValueError: no index for blue" and not failed.retryable
    assert "in search" in rest and "in inner" in rest and "user_functions" not in rest and "asyncio" not in rest
    scores = sightline.score(bench, tmp_path / "run", ["rr@10"])
    assert scores.overall["rr@10"].failures == 1 and scores.overall["rr@10"].mean == 0.5


def test_a_traceback_is_bounded_and_a_lost_connection_can_be_tried_again(bench: Benchmark, tmp_path: Path) -> None:
    def endless(query: str) -> list[str]:
        return endless(query + "x" * 1000)

    def lost(query: str) -> list[str]:
        raise ConnectionError("y" * 10_000)

    deep = said_to(bench, endless, tmp_path)["q1"]
    assert deep.kind == "crashed" and deep.message.startswith("RecursionError") and len(deep.message) < 4100
    gone = said_to(bench, lost, tmp_path)["q1"]
    assert gone.retryable and len(gone.message) < 4100


def test_an_error_of_ours_inside_is_no_crash_and_a_budget_stops(bench: Benchmark, tmp_path: Path) -> None:
    def refused(query: str) -> list[str]:
        raise UserError("there is no index.")

    def spent(query: str) -> list[str]:
        raise StoppedError("the budget is spent")

    assert said_to(bench, refused, tmp_path)["q1"].message.startswith("UserError: there is no index.")
    with pytest.raises(StoppedError):
        sightline.run(bench, spent, workspace=tmp_path)


def test_a_function_may_use_an_event_loop_of_its_own(bench: Benchmark, tmp_path: Path) -> None:
    assert said_to(bench, lambda query: asyncio.run(slow(query, 1)), tmp_path)["q1"] == Ranking(("b",))


def test_ids_that_nobody_knows_are_told_and_k_cuts(bench: Benchmark, tmp_path: Path) -> None:
    done = sightline.run(bench, FunctionSystem(lambda query, k: ["zz", "a", "b"], k=2), workspace=tmp_path)
    assert done.run.attempts[0].prediction == Ranking(("zz", "a")) and "count as wrong: 2" in done.notes[0]


def test_pairs_keep_their_order_and_those_that_rise_are_told(bench: Benchmark, tmp_path: Path) -> None:
    def rising(query: str) -> list[tuple[str, float]]:
        return [("a", 0.1), ("b", 0.9)]

    for said, notes in ((rising, 1), (lambda query: rising(query)[::-1], 0)):
        done = sightline.run(bench, said, workspace=tmp_path)
        assert len(done.notes) == notes and all("2 rankings have scores that do not fall" in one for one in done.notes)
    assert sightline.run(bench, rising, workspace=tmp_path).run.attempts[0].prediction == Ranking(("a", "b"))


def test_a_function_of_the_task_answers_all_kinds(colours: Path, tmp_path: Path) -> None:
    seen = {}

    def answer(task: Task) -> Any:
        seen[task.id] = task
        match task.kind:
            case "rank":
                return RANKED
            case "select":
                return set(RANKED)
            case "choose":
                return task.options[0].key
            case _:
                return 7 if task.kind == "answer" else ("because", "red")

    done = sightline.run(colours, answer, workspace=tmp_path)
    assert not done.left_out and not done.failures and done.attempts == done.tasks
    assert not any(task.labels or task.extra for task in seen.values())
    for attempt in done.run.attempts:
        kind, said = seen[attempt.task_id].kind, attempt.prediction
        wanted = {"rank": Ranking, "select": PictureSet, "choose": Choice, "answer": Text, "describe": Trace}[kind]
        assert isinstance(said, wanted)
    chosen = next(one.prediction for one in done.run.attempts if seen[one.task_id].kind == "choose")
    assert chosen == Choice(next(task for task in seen.values() if task.kind == "choose").options[0].key)


def test_the_annotation_tells_too_and_words_choose(colours: Path, tmp_path: Path) -> None:
    def answer(one: sightline.Task) -> str:
        return f"The answer is ({one.options[1].key})." if one.options else "x"

    done = sightline.run(colours, answer, workspace=tmp_path)
    chosen = next(one.prediction for one in done.run.attempts if isinstance(one.prediction, Choice))
    assert chosen.status == "parsed"


def test_a_search_function_leaves_other_kinds_out(colours: Path, tmp_path: Path) -> None:
    done = sightline.run(colours, lambda query, k: RANKED, workspace=tmp_path)
    assert done.left_out and set(done.left_out) <= {"answer", "choose", "describe"}
    assert {"empty-query"} >= set(done.failures)  # A task of a picture alone has no words to hand over.


def test_a_picture_of_the_prompt_is_no_answer(tmp_path: Path) -> None:
    made = Benchmark.from_tables(["a", "b"], [{"id": "q", "text": "like it", "picture": "a"}], {"q": ["b"]})
    assert said_to(made, lambda query: ["a", "b"], tmp_path) == {"q": Ranking(("b",))}


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (lambda: ["a"], "takes no query"),
        (lambda query, k, index: ["a"], 'also needs "index"'),
        (Engine, "Engine is a class"),
        (17, "int is not a system"),
        (lambda query, *, index: ["a"], 'also needs "index"'),
    ],
)
def test_what_is_no_system_is_refused(system: Any, message: str, bench: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        sightline.run(bench, system, workspace=tmp_path)
    assert not (tmp_path / "runs").exists()


def test_a_search_function_on_questions_alone_is_refused(tmp_path: Path, colours: Path) -> None:
    whole = sightline.load(colours)
    assert isinstance(whole, Benchmark)
    from dataclasses import replace

    questions = replace(whole, tasks=Tasks({id_: task for id_, task in whole.tasks.items() if task.kind == "choose"}))
    with pytest.raises(UserError, match=r"takes a query, and .* has only choose tasks") as error:
        sightline.run(questions, lambda query, k: [], workspace=tmp_path)
    assert "task" in (error.value.fix or "")


def test_a_changed_function_does_not_go_on_with_the_answers_of_the_old_one(bench: Benchmark, tmp_path: Path) -> None:
    def search(query: str) -> list[str]:
        return ["a"]

    first = search
    sightline.run(bench, search, tmp_path / "run", limit=1, workspace=tmp_path)

    def search(query: str) -> list[str]:  # type: ignore[no-redef]
        return ["b"]

    with pytest.raises(UserError, match="was started with parameters"):
        sightline.run(bench, search, tmp_path / "run", workspace=tmp_path)
    assert sightline.run(bench, first, tmp_path / "run", workspace=tmp_path).attempts == 2


def test_an_object_of_another_thread_fails_alone_and_says_so(bench: Benchmark, tmp_path: Path) -> None:
    """A plain function is called in a thread; what belongs to the caller's is told in the traceback."""
    with sqlite3.connect(":memory:") as database:
        said = said_to(bench, lambda query: [str(row) for row in database.execute("SELECT 1")], tmp_path)
    assert "same thread" in said["q1"].message


def test_an_embedder_is_a_system(colours: Path, tmp_path: Path) -> None:
    done = sightline.run(colours, Colours(), workspace=tmp_path)
    assert done.run.system == f"retriever:embedder={Colours().name}"
    spelled = done.run.parameters
    assert spelled["embedder"] == Colours().name and spelled["embedder_revision"] == Colours().revision
    assert not done.failures or set(done.failures) <= {"refused"}
