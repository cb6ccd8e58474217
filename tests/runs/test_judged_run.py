"""`score --judge`: rules first, then a chat model; reasons kept, checked by order and by people, corrected by them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import models_server as wire
import sightline
from sightline.benchmark.folder import write_benchmark
from sightline.calls.plan import DryRunError
from sightline.calls.session import CallOptions, Session
from sightline.cli.app import main
from sightline.errors import UserError
from sightline.runs.folder import write_run
from sightline.runs.judged_run import FILE, JudgedRun, judge_run
from sightline.types import Answer, Attempt, Benchmark, Corpus, Failure, LedgerEntry, Prediction, Run, Task, Text

REPLIES = ("Paris.", "the French capital", "London", "The city of the Eiffel Tower")
COUNT = 60


def line(match: str, correct: bool, confidence: float = 0.9) -> str:
    told = {"reason": f"because of {match}", "correct": correct, "confidence": confidence}
    return json.dumps({"match": match, "text": json.dumps(told)})


@pytest.fixture
def made(tmp_path: Path) -> tuple[Benchmark, Run, str]:
    """Of four replies one is right by rules and one is wrong; the judge wrongly refuses the last."""
    tasks = {f"q{n}": Task(f"q{n}", "answer", (f"Which city is picture {n}?",)) for n in range(COUNT)}
    benchmark = Benchmark("cities", Corpus("none"), tasks, {task: Answer("Paris") for task in tasks})
    attempts = tuple(Attempt(f"q{n}", Text(REPLIES[n % 4])) for n in range(COUNT))
    script = tmp_path / "judge.jsonl"
    rows = [line("<answer>the French", True), line("<answer>London", False), line("<answer>The city", False, 0.6)]
    script.write_text("\n".join(rows))
    return benchmark, Run("cities", "some", attempts), f"scripted/{script}"


def kept(folder: Path) -> list[dict[str, str]]:
    with (folder / FILE).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def decide(folder: Path, count: int) -> None:
    """People find all but London right."""
    rows = kept(folder)
    for row in rows[:count]:
        row["people"] = "0" if row["reply"] == "London" else "1"
    with (folder / FILE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def judged(made: tuple[Benchmark, Run, str], tmp_path: Path, folder: Path | None = None) -> JudgedRun:
    benchmark, run, model = made
    return judge_run(benchmark, run, model, Session(tmp_path / "ws"), folder)


def test_rules_decide_what_they_can_and_the_judge_the_rest(made: tuple[Benchmark, Run, str], tmp_path: Path) -> None:
    benchmark, run, model = made
    scores = sightline.score(benchmark, run, judge=model, session=Session(tmp_path / "ws"))
    assert scores["answer"].mean == pytest.approx(0.25)
    assert scores["answer_judged"].mean == pytest.approx(0.5)
    assert f"Of 60 answers, rules decided 15, {model} decided 45, and 0 could not be judged." in scores.notes
    assert any("changed 0 of 45 verdicts" in note for note in scores.notes)
    assert "answer_judged" not in scores.corrected


def test_reasons_are_kept_with_the_run_and_decisions_survive(made: tuple[Benchmark, Run, str], tmp_path: Path) -> None:
    judged(made, tmp_path, tmp_path)
    rows = kept(tmp_path)
    assert {row["by"] for row in rows if row["reply"] == "Paris."} == {"rules"}
    assert {row["reason"] for row in rows if row["reply"] == "London"} == {"because of <answer>London"}
    assert [row["task"] for row in rows] != sorted(row["task"] for row in rows)
    decide(tmp_path, 5)
    assert len(judged(made, tmp_path, tmp_path).people) == 5
    assert [row["people"] != "" for row in kept(tmp_path)] == [True] * 5 + [False] * 55


def test_peoples_decisions_correct_the_judge(made: tuple[Benchmark, Run, str], tmp_path: Path) -> None:
    """True is 0.75; the judge says 0.5, because it refuses a fourth of the answers that are right."""
    judged(made, tmp_path, tmp_path)
    decide(tmp_path, 40)
    found = judged(made, tmp_path, tmp_path)
    corrected = found.corrected()
    assert corrected is not None and corrected.decisions == 40
    assert corrected.low <= 0.75 <= corrected.high and abs(corrected.mean - 0.75) < 0.1
    notes = " ".join(found.notes())
    assert "agrees with people in" in notes and "kappa" in notes and "more of answers of another system" in notes


def test_all_decisions_give_what_people_say(made: tuple[Benchmark, Run, str], tmp_path: Path) -> None:
    judged(made, tmp_path, tmp_path)
    decide(tmp_path, COUNT)
    corrected = judged(made, tmp_path, tmp_path).corrected()
    assert corrected is not None and corrected.mean == pytest.approx(0.75)


def test_too_few_decisions_correct_nothing(made: tuple[Benchmark, Run, str], tmp_path: Path) -> None:
    judged(made, tmp_path, tmp_path)
    decide(tmp_path, 19)
    assert judged(made, tmp_path, tmp_path).corrected() is None


def test_a_verdict_that_depends_on_the_order_is_counted(made: tuple[Benchmark, Run, str], tmp_path: Path) -> None:
    benchmark, run, _ = made
    script = tmp_path / "swayed.jsonl"
    first = line("Accepted texts: Paris\nAnswer", True)
    script.write_text("\n".join([first, line("</answer>\nAccepted", False)]))
    found = judge_run(benchmark, run, f"scripted/{script}", Session(tmp_path / "ws"))
    assert (found.swapped, found.changed) == (45, 45)


def test_a_judge_of_its_own_answers_is_named(made: tuple[Benchmark, Run, str], tmp_path: Path) -> None:
    benchmark, run, model = made
    own = Run(run.benchmark, run.system, run.attempts, ledger=(LedgerEntry("run", model),))
    notes = " ".join(judge_run(benchmark, own, model, Session(tmp_path / "ws")).notes())
    assert "It also gave the answers, and may prefer them." in notes
    with wire.serving_in_thread(lambda _: wire.respond_json(wire.chat("yes"))) as server:
        own = Run(run.benchmark, run.system, run.attempts, ledger=(LedgerEntry("run", "vllm/m"),))
        there = judge_run(benchmark, own, f"vllm/m@{server.base_url}", Session(tmp_path / "other"))
    assert there.own and not judge_run(benchmark, own, model, Session(tmp_path / "ws")).own


def test_a_failure_of_the_judge_is_no_verdict(made: tuple[Benchmark, Run, str], tmp_path: Path) -> None:
    benchmark, run, _ = made
    script = tmp_path / "broken.jsonl"
    script.write_text("\n".join([line("<answer>the French", True), json.dumps({"text": "I think so."})]))
    scores = sightline.score(benchmark, run, judge=f"scripted/{script}", session=Session(tmp_path / "ws"))
    assert scores["answer_judged"].mean == 1.0 and scores.undefined["answer_judged"] == 30
    assert any("and 30 could not be judged" in note for note in scores.notes)


def test_a_failed_attempt_is_zero_and_not_asked_about(made: tuple[Benchmark, Run, str], tmp_path: Path) -> None:
    benchmark, run, model = made
    failed: Prediction = Failure("timeout", "too slow")
    attempts = (Attempt("q0", failed), *run.attempts[1:])
    scores = sightline.score(benchmark, Run("cities", "some", attempts), judge=model, session=Session(tmp_path / "ws"))
    assert scores["answer_judged"].mean == pytest.approx(29 / 60)


def test_the_price_comes_first(made: tuple[Benchmark, Run, str], tmp_path: Path) -> None:
    benchmark, run, model = made
    session = Session(tmp_path / "ws", calls=CallOptions(plan=True))
    with pytest.raises(DryRunError) as end:
        judge_run(benchmark, run, model, session, tmp_path)
    assert end.value.plan.stages[0].calls == 45 + 45 and not (tmp_path / FILE).exists()
    plan = sightline.dry_run(sightline.score, benchmark, run, judge=model, session=Session(tmp_path / "ws"))
    assert plan.stages[0].calls == 90


def test_wrong_decisions_are_refused(made: tuple[Benchmark, Run, str], tmp_path: Path) -> None:
    judged(made, tmp_path, tmp_path)
    text = (tmp_path / FILE).read_text().splitlines()
    (tmp_path / FILE).write_text("\n".join([text[0], "maybe" + text[1], *text[2:]]))
    with pytest.raises(UserError, match="column people"):
        judged(made, tmp_path, tmp_path)


def test_without_a_judge_the_metric_says_what_it_needs(made: tuple[Benchmark, Run, str]) -> None:
    with pytest.raises(UserError, match="needs a judge"):
        sightline.score(made[0], made[1], "answer_judged")


def test_a_run_without_answers_has_nothing_to_judge(tmp_path: Path) -> None:
    benchmark = Benchmark("none", Corpus("none"), {}, {})
    with pytest.raises(UserError, match="no answers"):
        judge_run(benchmark, Run("none", "some", ()), "scripted/x", Session(tmp_path / "ws"))


def test_the_command(made: tuple[Benchmark, Run, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark, run, model = made
    write_benchmark(benchmark, tmp_path / "bench")
    write_run(Run("cities", "some", run.attempts), tmp_path / "run")
    where = [str(tmp_path / "bench"), str(tmp_path / "run"), "--workspace", str(tmp_path / "ws"), "--other-version"]
    main(["score", *where, "--judge", model, "--plan"])
    assert "90" in capsys.readouterr().out and not (tmp_path / "run" / FILE).exists()
    main(["score", *where, "--judge", model])
    told = capsys.readouterr()
    assert "answer_judged" in told.out and "rules decided 15" in told.out + told.err
    assert (tmp_path / "run" / FILE).is_file()
