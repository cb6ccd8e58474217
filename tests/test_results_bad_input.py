"""Bad input to verbs: a message with what to do, and in a notebook no page of traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sightline
from result_samples import Sample, make_sample
from sightline.errors import MissingExtraError, SightlineError, UserError
from sightline.types import Benchmark

Call = Callable[[Sample], object]


def _no_results() -> sightline.Results:
    return sightline.Results("a dog", (), None, None, 0)


WRONG: dict[str, tuple[Call, str]] = {
    "the run first": (lambda made: sightline.score(made.runs[0], made.benchmark), "is a run, not a benchmark"),
    "a benchmark twice": (lambda made: sightline.score(made.benchmark, made.benchmark), "is a benchmark, not a run"),
    "objects the other way round": (
        lambda made: sightline.score(_any(sightline.load(made.runs[0])), _any(sightline.load(made.benchmark))),
        "A benchmark is expected here",
    ),
    "a benchmark as a run": (
        lambda made: sightline.score(made.benchmark, _any(sightline.load(made.benchmark))),
        "A run is expected here",
    ),
    "no benchmark": (
        lambda made: sightline.score(_any(None), made.runs[0]),
        "Expected the path of a benchmark, got None",
    ),
    "a number as a run": (lambda made: sightline.score(made.benchmark, _any(3)), "Expected the path of a run, got 3"),
    "an empty path": (lambda made: sightline.score("", made.runs[0]), "Expected the path of a benchmark"),
    "a run that is not there": (
        lambda made: sightline.compare([made.runs[0].with_name("nowhere"), made.runs[0]]),
        "There is no run",
    ),
    "an unknown metric": (lambda made: sightline.score(made.benchmark, made.runs[0], "ndgc@10"), "unknown metric"),
    "a metric that is a number": (
        lambda made: sightline.score(made.benchmark, made.runs[0], _any(5)),
        r"metrics must be of the type str \| Sequence\[str\] \| None, not 5",
    ),
    "metrics of another type": (
        lambda made: sightline.score(made.benchmark, made.runs[0], _any(["map", None])),
        r"metrics must be of the type .*, not \['map', None\]",
    ),
    "one run to compare": (lambda made: sightline.compare(_any(made.runs[0])), "A comparison needs two runs"),
    "nothing to compare": (lambda made: sightline.compare(_any(None)), "A comparison needs two runs"),
    "a benchmark to compare": (
        lambda made: sightline.compare([made.benchmark, made.runs[0]]),
        "is a benchmark, not a run",
    ),
    "numbers to compare": (lambda made: sightline.compare(_any([1, 2])), "Expected the path of a run, got 1"),
    "a run without its benchmark": (
        lambda made: sightline.compare([_any(sightline.load(made.runs[0])), made.runs[1]]),
        "has no scores yet",
    ),
    "a run that is loaded as a benchmark": (
        lambda made: sightline.load(made.runs[0], Benchmark),
        "is a run, not a benchmark",
    ),
    "a task that is not there": (
        lambda made: sightline.load(made.benchmark, Benchmark).tasks["q00"],
        r'There is no task "q00"\.\n  Did you mean "q0"\? Give the id',
    ),
    "a task beyond the last": (
        lambda made: sightline.load(made.benchmark, Benchmark).tasks[10_000],
        r"There is no row 10,000\.\n  Places are 0 to",
    ),
    "a task by a list": (
        lambda made: sightline.load(made.benchmark, Benchmark).tasks[_any(["q0"])],
        r"\['q0'\] is not the place of a row",
    ),
    "a hit by its id": (lambda made: _no_results()[_any("x")], "'x' is not the place of a row"),
    "a hit where there is none": (lambda made: _no_results()[0], r"There is no row 0\.\n  There are no rows"),
    "an attempt by its task": (
        lambda made: sightline.load(made.runs[0], sightline.Run).attempts[_any("q0")],
        "'q0' is not the place of a row",
    ),
    "two runs that are one": (
        lambda made: sightline.power([sightline.score(made.benchmark, made.runs[0])] * 2, difference=0.1),
        r"The two runs have the same value of .* on every task.*\n.*--sd 0\.3 \(sd=0\.3\)",
    ),
    "one run to learn from": (
        lambda made: sightline.power([made.runs[0]], difference=0.1),
        r"1 runs were given.\n  Give two scored runs, or none and --sd \(sd=\)",
    ),
    "no spread": (lambda made: sightline.power(difference=0.1), r"--sd \(sd=\) or --disagreement \(disagreement=\)"),
    "neither a difference nor tasks": (lambda made: sightline.power(sd=0.3), r"--tasks 200 \(tasks=200\)"),
    "a budget in words": (lambda made: sightline.Session(budget="five"), r'--budget 5usd \(budget="5usd"\)'),
    "no picture to find": (lambda made: sightline.search("a dog", k=0), r"-k 0 \(k=0\) must be at least 1"),
    "a folder that is not there": (
        lambda made: sightline.search("a dog", made.benchmark.with_name("gone")),
        r"there is no folder .*gone.\n.*--in FOLDER \(folder=\)",
    ),
    "nothing to load": (lambda made: sightline.load(_any(None)), "Expected the path"),
    "nothing to validate": (
        lambda made: sightline.validate(_any(7)),
        "Expected the path of a benchmark or a run, got 7",
    ),
    "nothing to report": (lambda made: sightline.report(_any(None)), "is not a list of folders"),
    "a number to report": (lambda made: sightline.report(_any([None])), "Expected the path"),
    "no folder of runs": (lambda made: sightline.leaderboard(_any(None)), "Expected the path of a folder with runs"),
    "a list to rank by": (
        lambda made: sightline.leaderboard(made.runs[0].parent, _any(["map"])),
        r"metric must be of the type str \| None, not \['map'\]",
    ),
    "an unknown format": (lambda made: sightline.export_files("trek", made.benchmark, "out"), "unknown format"),
    "no format": (
        lambda made: sightline.export_files(_any(None), made.benchmark, "out"),
        "format must be of the type str, not None",
    ),
    "nothing to import": (lambda made: sightline.import_files("beir", _any(None), "out"), "Expected the path"),
    "a run where a benchmark is exported": (
        lambda made: sightline.export_files("trec-qrels", made.runs[0], "out"),
        "is written from a benchmark",
    ),
    "no qrels": (lambda made: sightline.score_trec(_any(None), made.runs[0]), "Expected the path of a file of qrels"),
}


def _any(value: object) -> Any:
    return value


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return make_sample(tmp_path_factory.mktemp("made"))


@pytest.mark.parametrize("wrong", WRONG)
def test_bad_input_is_refused_with_what_to_do(
    made: Sample, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, message = WRONG[wrong]
    with pytest.raises(UserError, match=message) as refused:
        call(made)
    assert refused.value.fix or "is written from" in message
    assert list(tmp_path.iterdir()) == []


def test_one_metric_or_several_in_a_string_are_metrics(made: Sample) -> None:
    one = sightline.score(made.benchmark, made.runs[0], "ndcg@10")
    assert one.asked == ("ndcg@10",) and one["ndcg@10"].n == 12
    two = sightline.score(made.benchmark, made.runs[0], "rbp(p=0.8), map")
    assert two.asked == ("rbp(p=0.8)", "map")


def test_a_run_in_memory_is_compared_with_its_benchmark(made: Sample) -> None:
    runs = [sightline.load(folder) for folder in made.runs]
    found = sightline.compare(_any(runs), "map", benchmark=made.benchmark)
    assert [pair.metric for pair in found] == ["map"] and found.systems[1] == "poor"


def test_a_session_gives_its_seed(made: Sample) -> None:
    session = sightline.Session("ws", seed=5)
    by_session = session.score(made.benchmark, made.runs[1], "map")
    assert by_session.seed == 5 == sightline.score(made.benchmark, made.runs[1], "map", seed=5).seed
    assert session.score(made.benchmark, made.runs[1], "map", seed=7).seed == 7
    assert sightline.score(made.benchmark, made.runs[1], "map").seed == 0


@pytest.mark.parametrize(
    "error", [UserError("A <b>thing</b> is wrong.", "Do this."), MissingExtraError("It", "pandas")]
)
def test_a_notebook_shows_the_message_and_the_fix_only(
    error: SightlineError, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell: Any = _any(InteractiveShell)()
    shell.user_ns["error"] = error
    done = shell.run_cell("raise error")
    shown = capsys.readouterr().out
    assert done.error_in_exec is error
    assert error.message in shown and str(error.fix) in shown
    assert "Traceback" not in shown and "raise error" not in shown and len(shown.strip().splitlines()) == 2


def test_other_errors_keep_their_traceback(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    _any(InteractiveShell)(ipython_dir=str(tmp_path)).run_cell("raise ValueError('ours')")
    assert "Traceback" in capsys.readouterr().out
