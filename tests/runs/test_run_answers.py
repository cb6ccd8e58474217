"""What a run keeps as an answer: whole re-rankings, orders as they were returned, nothing that is no prediction."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs.run_world import Scripted, coloured
from sightline.benchmark.folder import read_benchmark
from sightline.calls.session import CallOptions, Session
from sightline.errors import StoppedError, UserError
from sightline.metrics.ranked_batch import order_of
from sightline.runs.folder import read_run
from sightline.runs.runner import ordered, run
from sightline.runs.system_loader import visible
from sightline.runs.system_spec import Spec, make_spec
from sightline.runs.systems.base import Kind, Options, SystemSetting
from sightline.runs.systems.oracle import Oracle, OracleOptions
from sightline.types import Failure, Group, PictureSet, Prediction, Ranking, Scope, Task, Text
from sightline.types.task_table import Tasks
from tiny_clip import write_tiny_clip

pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    coloured(folder / "colours")
    write_tiny_clip(folder / "clip")
    return folder


def said(folder: Path) -> dict[str, Prediction]:
    return {attempt.task_id: attempt.prediction for attempt in read_run(folder).attempts}


def grading(path: Path, *refused: int) -> str:
    lines = []
    for count in range(1, 9):
        grades = [{"picture": number, "grade": number} for number in range(1, count + 1)]
        answer = {"failure": "refused"} if count in refused else {"text": json.dumps({"grades": grades})}
        lines.append(json.dumps({"match": f"each of the {count} ", **answer}))
    path.write_text("\n".join(lines))
    return f"scripted/{path}"


# --- re-ranking ----------------------------------------------------------------------------------------------


def test_a_failed_group_is_a_failure_that_another_try_may_mend(place: Path, tmp_path: Path) -> None:
    model = grading(tmp_path / "script.jsonl", 2)
    spec = f"hybrid:embedder=onnx:{place}/clip,depth=3,words=false,rerank={model}"
    done = run(place / "colours", spec, tmp_path / "run", workspace=tmp_path / "ws")
    failed = said(tmp_path / "run")["at the party"]  # Two pictures, whose one call failed.
    assert isinstance(failed, Failure) and failed.kind == "rerank" and failed.retryable
    assert done.failures["rerank"] == 1
    assert [entry.ok for entry in done.run.ledger if entry.task_id == "at the party"] == [False, False]
    grading(tmp_path / "script.jsonl")
    # The journal remembers a refusal, too: what failed is asked afresh.
    again = run(place / "colours", spec, tmp_path / "run", workspace=tmp_path / "ws", retry_failed=True)
    assert "rerank" not in again.failures and again.made == 1
    calls = [entry.ok for entry in again.run.ledger if entry.task_id == "at the party" and entry.stage == "rerank"]
    assert calls == [False, True]


def test_calls_of_a_task_that_a_budget_stopped_are_in_the_ledger(place: Path, tmp_path: Path) -> None:
    model = grading(tmp_path / "s.jsonl")
    spec = f"hybrid:embedder=onnx:{place}/clip,depth=12,words=false,rerank={model}"  # Two calls for a task.
    for purse in (OneCall(), None):
        try:
            run(
                place / "colours",
                spec,
                tmp_path / "run",
                limit=1,
                session=Session(tmp_path / "ws", calls=CallOptions(budget=purse)),
            )
        except StoppedError:
            assert not read_run(tmp_path / "run").attempts
            assert [entry.stage for entry in read_run(tmp_path / "run").ledger if entry.task_id] == ["rerank"]
    stages = [entry.stage for entry in read_run(tmp_path / "run").ledger if entry.task_id]
    assert stages == ["rerank", "rerank", "run"]  # The first call was paid once, and is told once.


def test_a_budget_stops_the_run_and_keeps_what_is_whole(place: Path, tmp_path: Path) -> None:
    spec = f"hybrid:embedder=onnx:{place}/clip,depth=3,words=false,rerank={grading(tmp_path / 's.jsonl')}"
    with pytest.raises(StoppedError) as stopped:
        run(
            place / "colours",
            spec,
            tmp_path / "run",
            session=Session(tmp_path / "ws", calls=CallOptions(budget=OneCall())),
        )
    assert stopped.value.exit_code == 3
    kept = said(tmp_path / "run")
    assert list(kept) == ["red"] and isinstance(kept["red"], Ranking)
    run(place / "colours", spec, tmp_path / "run", workspace=tmp_path / "ws")
    assert len(said(tmp_path / "run")) == 6


class OneCall:
    """A purse with money for one call."""

    def __init__(self) -> None:
        self.calls = 0

    async def reserve(self, usd: float, about: str = "") -> None:
        self.calls += 1
        if self.calls > 1:
            raise StoppedError("the budget is used up.")

    def settle(self, usd: float, spent: float | None, about: str = "") -> None:
        """What it cost does not matter here."""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("vectors=false,diversity=0.5", "diversity needs vectors"),
        ("vectors=false,words=false", "neither vectors nor words"),
        ("threshold=nan", "threshold"),
        ("rerank=nobody/knows", "nobody"),
        ("rerank=openai/gpt-5-mini", "OPENAI_API_KEY"),
    ],
)
def test_what_cant_work_is_refused_before_the_first_task(
    options: str, message: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UserError, match=message):
        spec = f"hybrid:embedder=onnx:{place}/clip,{options}"
        run(place / "colours", spec, tmp_path / "run", workspace=tmp_path / "ws")
    assert not (tmp_path / "run").exists() and not (tmp_path / "ws" / "indexes").exists()


# --- order ---------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=100)
@given(st.lists(st.sampled_from([0.0, 1e-45, 0.1, 0.1 + 1e-12, 0.5, 1.0, -1.0, 3e38, -3.4e38]), max_size=8))
def test_scoring_reads_the_order_that_was_returned(scores: list[float]) -> None:
    pictures = tuple(f"p{at}" for at in range(len(scores)))
    kept = ordered(Ranking(pictures, tuple(scores)))
    assert isinstance(kept, Ranking) and kept.pictures == pictures and tuple(order_of(kept)) == pictures
    if kept.scores is not None:
        assert np.allclose(kept.scores, scores, rtol=1e-5, atol=1e-40)
    elif np.isfinite(np.array(scores, np.float32)).all():
        assert (np.diff(np.array(scores, np.float32).astype(float)) > 0).any() or min(scores) < -3e38


def test_equal_scores_of_a_system_keep_its_order(place: Path, tmp_path: Path) -> None:
    returned = ("ana/red.png", "ben/red.png", "ana/blue.png")
    run(place / "colours", Scripted(lambda task: Ranking(returned, (1.0, 1.0, 0.5))), tmp_path / "run", limit=1)
    kept = said(tmp_path / "run")["red"]
    assert isinstance(kept, Ranking) and kept.scores is not None and tuple(order_of(kept)) == returned


# --- predictions that are none -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "a text",
        ["ana/red.png"],
        Ranking(("a", "b"), (float("nan"), 1.0)),
        Ranking(("a", "b"), (1.0,)),
        Ranking((1, 2)),  # type: ignore[arg-type]
        PictureSet("ana/red.png"),  # type: ignore[arg-type]
        Text(3),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_prediction_fails_its_task_and_the_run_goes_on(wrong: Any, place: Path, tmp_path: Path) -> None:
    system = Scripted(lambda task: wrong if task.id == "red" else Ranking(("ana/red.png",)))
    done = run(place / "colours", system, tmp_path / "run")
    kept = said(tmp_path / "run")
    assert isinstance(kept["red"], Failure) and kept["red"].kind == "bad-prediction"
    assert done.failures == {"bad-prediction": 1} and done.attempts == 10


# --- what is told --------------------------------------------------------------------------------------------


def test_only_our_own_few_get_the_truth(place: Path, tmp_path: Path) -> None:
    told: list[SystemSetting] = []

    def open_(options: OracleOptions, setting: SystemSetting) -> Oracle:
        told.append(setting)
        return Oracle(options, setting)

    for name in ("oracle", "elsewhere"):  # A plug-in does not get it by its name either.
        spec: Spec = make_spec(Kind(name, "", Options, open_), {})
        done = run(place / "colours", spec, tmp_path / name, workspace=tmp_path / "ws")
        assert not told[-1].truth and done.failures == {"no-truth": 10}
    assert run(place / "colours", "oracle", tmp_path / "real").failures == {}


def test_a_scope_of_which_nothing_is_left_is_nothing(place: Path, tmp_path: Path) -> None:
    made = read_benchmark(place / "colours")
    pictures = {id_: replace(one, uri=str(place / "colours" / one.uri)) for id_, one in made.corpus.pictures.items()}
    groups = (*made.corpus.groups, Group("empty", "event", (), hidden=True))
    corpus = replace(made.corpus, pictures=pictures, groups=groups)
    tasks = {
        "none": Task("none", "rank", ("blue",), scope=Scope(groups=("empty",))),
        "ben": Task("ben", "rank", ("blue",), scope=Scope("ben", ("secret party",))),
        "unknown": Task("unknown", "rank", ("blue",), scope=Scope(groups=("secret party", "who"))),
    }
    shown = visible(replace(made, corpus=corpus, tasks=Tasks(tasks))).tasks
    assert shown["none"].scope == shown["ben"].scope == Scope(nowhere=True)
    assert shown["unknown"].scope == Scope(groups=("who",))
    hidden = replace(made, corpus=corpus, tasks=Tasks(tasks))
    for at, spec in enumerate(("blind:by=captions", "blind:by=random", f"retriever:embedder=onnx:{place}/clip")):
        run(hidden, spec, tmp_path / str(at), workspace=tmp_path / "ws")
        assert said(tmp_path / str(at))["ben"] == Ranking((), said(tmp_path / str(at))["ben"].scores)  # type: ignore[union-attr]
