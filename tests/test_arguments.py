"""Arguments of a wrong type are refused by every public function, before anything is done, with what is wanted."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sightline
from sightline.arguments import checked
from sightline.errors import UserError
from small_folders import make_folders

untyped: Any = sightline
"""Types are wrong on purpose below."""
MODEL = "openai/gpt-5-mini"
CALLS: dict[str, dict[str, Any]] = {
    "ablate": {"benchmark": "bench", "out": "made", "model": MODEL},
    "ask": {"question": "Where?", "folder": "pictures", "model": MODEL},
    "assess": {"benchmark": "bench", "runs": ["run", "other_run"]},
    "check_steps": {"benchmark": "bench"},
    "compare": {"runs": ["run", "other_run"], "benchmark": "bench"},
    "curriculum": {"benchmark": "bench", "plan": "mir", "out": "made"},
    "difficulty": {"benchmark": "bench", "out": "made", "model": MODEL},
    "drift": {"benchmark": "bench", "log": "log.csv"},
    "embed": {"source": ["a red circle"]},
    "estimate": {"values": [0.0, 1.0]},
    "export_files": {"format": "trec-qrels", "source": "bench", "out": "made"},
    "extend": {"benchmark": "bench", "runs": ["run"], "out": "made"},
    "import_files": {"format": "beir", "path": "bench", "out": "made"},
    "index": {"folder": "pictures"},
    "leaderboard": {"folder": "."},
    "load": {"path": "bench"},
    "make": {"pictures": "pictures", "stage": "annotate"},
    "match_answer": {"truth": sightline.Answer("two"), "text": "two"},
    "mine": {"out": "made", "model": MODEL},
    "mine_questions": {"out": "made", "web": "serper", "model": MODEL},
    "parse_choice": {"text": "A", "options": ["A", "B"]},
    "power": {"difference": 0.1, "sd": 0.3},
    "read_trajectory": {"folder": "run", "task": "q1"},
    "report": {"sources": ["bench", "run"]},
    "run": {"benchmark": "bench", "system": "oracle", "out": "made"},
    "scan": {"folder": "pictures"},
    "watch": {"folder": "pictures"},
    "score": {"benchmark": "bench", "run": "run"},
    "score_trec": {"qrels": "qrels.txt", "run": "run.txt"},
    "search": {"query": "red", "folder": "pictures"},
    "split": {"benchmark": "bench", "out": "made"},
    "steps": {"benchmark": "bench", "out": "made", "model": MODEL},
    "think": {"source": "pictures", "out": "made", "teachers": MODEL},
    "train": {"folder": "bench", "out": "made", "model": "glimpse"},
    "validate": {"path": "bench"},
    "view": {"paths": "bench"},
    "FunctionEmbedder": {"name": "mean", "pictures": list},
    "FunctionSystem": {"function": lambda query: [query]},
    "Session": {},
}
PARAMETERS = [(verb, name) for verb in CALLS for name in inspect.signature(getattr(sightline, verb)).parameters]


class Odd:
    """Fits no parameter of any function."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("folders")
    make_folders(root)
    return root


def test_no_function_is_left_out() -> None:
    functions = {name for name in sightline.__all__ if inspect.isfunction(getattr(sightline, name))}
    assert functions - {"dry_run"} <= CALLS.keys()


@pytest.mark.parametrize(("verb", "name"), PARAMETERS)
def test_each_parameter_refuses_what_can_not_fit(
    verb: str, name: str, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders)
    before = sorted(folders.rglob("*"))
    for wrong in (Odd(), [Odd()]):
        with pytest.raises(UserError) as refused:
            getattr(sightline, verb)(**{**CALLS[verb], name: wrong})
        assert refused.value.fix
    assert sorted(folders.rglob("*")) == before, "nothing is written"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: untyped.score("bench", "run", level="x"), "score: level must be of the type float, not 'x'"),
        (lambda: untyped.score("bench", "run", seed="a"), "seed must be of the type int | None, not 'a'"),
        (lambda: untyped.score("bench", "run", seed=-1), "seed must be a number of at least 0, not -1"),
        (lambda: untyped.score("bench", "run", limit=-1), "limit must be a number of at least 1, not -1"),
        (lambda: untyped.search("a dog", k="3"), "k must be of the type int | None, not '3'"),
        (lambda: untyped.search("a dog", k=True), "k must be of the type int | None, not True"),
        (lambda: untyped.search(3), "search: query must be of the type str | SearchQuery | None, not 3"),
        (
            lambda: untyped.search("a dog", workspace=3),
            "must be of the type str | PathLike[str] | None, not 3",
        ),
        (lambda: untyped.search("a dog", session="ws"), "session must be of the type Session | None, not 'ws'"),
        (
            lambda: untyped.search("a dog", embedder=lambda: 3),
            "must be of the type str | Embedder | None, not function object",
        ),
        (lambda: untyped.Session("ws").search("a dog", where=3), "where must be of the type str | None, not 3"),
        (lambda: untyped.scan("pictures", limit="x"), "limit must be of the type int | None, not 'x'"),
        (lambda: untyped.ask(3, model="openai/gpt-5"), "question must be of the type str, not 3"),
        (lambda: untyped.embed([1]), "1 is not a text"),
        (
            lambda: untyped.estimate(["a"]),
            "values must be of the type Sequence[float | None]",
        ),
        (lambda: untyped.estimate([1.0, 0.5], clusters=["a"]), "2 values but 1 clusters"),
        (lambda: untyped.parse_choice(None, ["A"]), "text must be of the type str, not None"),
        (lambda: untyped.power(difference="x", sd=0.3), "difference must be of the type float | None, not 'x'"),
        (lambda: untyped.power(difference=float("nan"), sd=0.3), "shows a difference of nan"),
        (lambda: untyped.power([1, 2]), "Expected the path of a scored run, got 1"),
        (lambda: untyped.power(3), "1 runs were given"),
        (lambda: untyped.view(3), "got 3"),
        (lambda: untyped.load("bench", "Run"), "kind must be of the type type[LoadedT] | None, not 'Run'"),
        (
            lambda: untyped.make("pictures", judges=[3]),
            "must be of the type str | Sequence[str | Callable[..., Any]], not [3]",
        ),
        (lambda: untyped.report(["run"], rows="a"), "rows must be of the type int, not 'a'"),
        (lambda: untyped.report(["run"], date="today"), "date must be of the type datetime | None, not 'today'"),
        (lambda: untyped.report(["run"], format="pdf"), "Choose from html, md, both"),
        (
            lambda: untyped.run("bench", "retriever", retry_failed="yes"),
            "must be of the type bool, not 'yes'",
        ),
        (lambda: untyped.dry_run("make"), "dry_run(sightline.make, …)"),
        (lambda: untyped.dry_run(3), "dry_run takes a function"),
        (lambda: untyped.Session(3), "Expected the path of a workspace"),
        (lambda: untyped.Session("ws", engine="gpu"), 'there is no engine "gpu"'),
        (lambda: untyped.Session("ws", max_connections="4"), "Session: max_connections must be of the type int | None"),
        (
            lambda: untyped.FunctionSystem("x"),
            "FunctionSystem: function must be of the type Callable[..., Any], not 'x'",
        ),
        (
            lambda: untyped.Run.from_rankings({"q": ["a"]}, system=3),
            "system must be of the type str, not 3",
        ),
        (
            lambda: untyped.Benchmark.from_tables(["a"], {"q": "a dog"}, {"q": ["a"]}, metrics=["foo@3"]),
            'unknown metric "foo@3"',
        ),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_wanted(
    call: Any, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as refused:
        call()
    assert said in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_what_fits_passes_and_the_signature_stays() -> None:
    def verb(
        path: str, k: int | None = None, level: float = 0.5, names: str | Sequence[str] = (), *, on: bool = False
    ) -> tuple[object, ...]:
        """Says what it was given."""
        return path, k, level, names, on

    guarded = checked(verb)
    given: Any = np.int64(3)
    assert guarded("a", given, 1, ["b"], on=True) == ("a", 3, 1, ["b"], True)
    given = np.float32(0.5)
    assert guarded("a", None, given, "b")[1] is None
    given = (name for name in "ab")
    assert guarded("a", names=given)[3] is given, "what can be read only once is left alone"
    given = np.array(["a", "b"])
    assert guarded("a", names=given)[3] is given
    assert inspect.signature(guarded) == inspect.signature(verb) and guarded.__doc__ == verb.__doc__
    with pytest.raises(UserError, match=r"k must be of the type int \| None, not 0\.5"):
        guarded("a", 0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword"):
        guarded("a", wrong=1)  # type: ignore[call-arg]


def test_verbs_are_the_same_function_each_time_also_in_another_process() -> None:
    assert sightline.score is sightline.score is pickle.loads(pickle.dumps(sightline.score))
    assert sightline.score.__wrapped__.__module__ == "sightline.scoring"
