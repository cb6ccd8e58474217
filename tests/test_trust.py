"""No circular win and no win over nothing: warnings, baselines and grades in every verb that prints a score."""

from __future__ import annotations

import csv
import json
import random
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import sightline
from command_line import Cli
from search_tools import Colours
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.grade import grade_of
from sightline.benchmark.provenance import SEARCHED_BY, Provenance
from sightline.benchmark.review_decisions import labels_of
from sightline.benchmark.review_sample import sample_of
from sightline.errors import UserError
from sightline.metrics.scores import read_scores
from sightline.reports.leaderboard import build_leaderboard
from sightline.reports.parts.results import findings
from sightline.runs import kept_baselines
from sightline.runs.folder import read_run
from sightline.runs.kept_baselines import BASELINES_FILE, baselines_of, compute_baselines
from sightline.runs.system_loader import visible
from sightline.types import Benchmark, Json, Review
from sightline.web.server import open_app
from trust_samples import benchmark_in, run_in, shown
from web_samples import client


def codes(found: Any) -> list[str]:
    return [one["code"] if isinstance(one, dict) else one.code for one in found]


def first(at: int) -> int:
    return 0


def later(at: int) -> int:
    return 3 + at % 4


def test_reading_the_words_of_the_judge_is_no_win(tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench", captions=True)
    reads = run_in(tmp_path / "reads", made, "hybrid", first, **shown())
    looks = run_in(tmp_path / "looks", made, "retriever", later)
    scores = sightline.score(tmp_path / "bench", reads)
    assert codes(scores.warnings) == ["labels-unchecked", "same-source", "blind-not-beaten"]
    assert "openai/gpt-5-mini" in scores.warnings[1].message and "--show-annotations" in scores.warnings[1].fix
    sightline.score(tmp_path / "bench", looks)
    found = sightline.compare([looks, reads])
    (pair, *_) = found.of("ndcg@10")
    assert pair.significant(0.95) and pair.difference.mean > 0.3
    assert not pair.is_win(0.95) and pair.no_win == "same-source"
    assert "no win: same-source" in str(found)
    assert {one.letters for one in found.standings["ndcg@10"]} == {"a"}
    board = build_leaderboard(tmp_path).boards[0]
    assert [place.rank for place in board.places] == ["1–2", "1–2"]
    assert "blind:by=captions" in [one.system for one in board.baselines]


def test_a_tie_with_what_sees_no_pixel_is_no_win(tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench", captions=True)
    best = run_in(tmp_path / "best", made, "best", first)
    other = run_in(tmp_path / "other", made, "other", later)
    scores = sightline.score(tmp_path / "bench", best)
    assert "blind:by=captions" in next(one for one in scores.warnings if one.code == "blind-not-beaten").message
    assert "not beaten" in str(scores)
    found = sightline.compare([other, best], benchmark=tmp_path / "bench")
    assert [pair.no_win for pair in found] == ["blind-not-beaten"] * 2
    page = sightline.report([tmp_path / "bench", best, other], tmp_path / "page.html").path.read_text()
    assert "is not called better: blind-not-beaten" in page and " leads in " not in page


def test_a_win_over_every_baseline_is_one(tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench")
    best = run_in(tmp_path / "best", made, "best", first)
    other = run_in(tmp_path / "other", made, "other", later)
    scores = sightline.score(tmp_path / "bench", best)
    assert codes(scores.warnings) == ["labels-unchecked"] and all(row.beaten for row in scores.baselines)
    found = sightline.compare([other, best], benchmark=tmp_path / "bench")
    assert all(pair.is_win(0.95) for pair in found)
    assert [one.letters for one in found.standings["ndcg@10"]] == ["a", "b"]
    page = sightline.report([tmp_path / "bench", best, other], tmp_path / "page.html").path.read_text()
    assert "best leads in ndcg@10" in page and "Baselines that see no pixel" in page and "labels-unchecked" in page


def test_failures_that_differ_are_a_warning(tmp_path: Path) -> None:
    from sightline.runs.folder import read_run, write_run
    from sightline.types import Failure

    made = benchmark_in(tmp_path / "bench")
    best = run_in(tmp_path / "best", made, "best", first)
    other = run_in(tmp_path / "other", made, "other", later)
    run = read_run(other)
    failed = replace(run.attempts[0], prediction=Failure("timeout", "too slow"))
    write_run(replace(run, attempts=(failed, *run.attempts[1:])), other)
    found = sightline.compare([best, other], benchmark=tmp_path / "bench", allow_failures_differ=True)
    assert codes(found.warnings)[-1] == "failures-differ" and "--retry-failed" in found.warnings[-1].fix


def test_power_says_how_many_decisions_would_help(cli: Cli, tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench")
    runs = [run_in(tmp_path / name, made, name, place) for name, place in (("one", first), ("two", later))]
    for run in runs:
        sightline.score(tmp_path / "bench", run)
    plan = json.loads(cli("power", *map(str, runs), "--tasks", "100", "--json").stdout)
    assert codes(plan["warnings"]) == ["labels-unchecked"] and "100 are needed" in plan["warnings"][0]["message"]
    assert "100 are needed" in cli("power", *map(str, runs), "--tasks", "100").stdout


def test_power_goes_by_what_people_have_decided_until_now(tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench", "builtin/photos")
    runs = [run_in(tmp_path / name, made, name, place) for name, place in (("one", first), ("two", later))]
    for run in runs:
        sightline.score(tmp_path / "bench", run)
    read = read_benchmark(tmp_path / "bench")
    write_benchmark(decided(read, 0.0, 120), tmp_path / "bench")
    assert sightline.power(runs, tasks=100).warnings == ()
    for run in runs:
        sightline.score(tmp_path / "bench", run)
    fewer = decided(read, 0.0, 120).reviews[:60]
    write_benchmark(replace(read, reviews=fewer), tmp_path / "bench", force=True)
    assert codes(sightline.power(runs, tasks=100).warnings) == ["labels-unchecked"]


def test_a_warning_names_the_benchmark_as_a_command_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = benchmark_in(tmp_path / "some folder" / "bench")
    run = run_in(tmp_path / "run", made, "one", first)
    (warning,) = sightline.score(tmp_path / "some folder" / "bench", run).warnings
    assert "sightline view BENCH," in warning.fix  # It lies elsewhere: no path of this machine goes into a page.
    monkeypatch.chdir(tmp_path)
    (warning,) = sightline.score("some folder/bench", "run").warnings
    assert "sightline view 'some folder/bench', or sightline.view(\"some folder/bench\")" in warning.fix
    benchmark_in(tmp_path / "weak" / "bench", "builtin/photos")
    weak = sightline.score("weak/bench", run_in(tmp_path / "weak" / "run", read_benchmark("weak/bench"), "one", first))
    with pytest.raises(UserError) as refused:
        sightline.compare([weak, weak])
    assert "sightline view weak/bench," in str(refused.value.fix)


def test_too_few_clusters_are_a_warning(tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench")
    tasks = {id_: replace(task, labels={"trip": (f"t{at % 3}",)}) for at, (id_, task) in enumerate(made.tasks.items())}
    made = write_benchmark(replace(made, tasks=tasks), tmp_path / "bench")
    best = run_in(tmp_path / "best", made, "best", later)
    scores = sightline.score(tmp_path / "bench", best, cluster_by="trip")
    assert "few-clusters" in codes(scores.warnings)


def test_every_verb_carries_the_warnings_in_its_json(cli: Cli, tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench", captions=True)
    runs = [run_in(tmp_path / "runs" / name, made, name, first, **shown()) for name in ("one", "two")]
    for run in runs:
        scored = json.loads(cli("score", str(tmp_path / "bench"), str(run), "--json").stdout)
        assert codes(scored["warnings"]) == ["labels-unchecked", "same-source", "blind-not-beaten"]
        assert all(set(one) == {"code", "message", "fix"} for one in scored["warnings"])
        assert scored["grade"] == "draft" and scored["baselines"][0]["beaten"] is False
    told = cli("score", str(tmp_path / "bench"), str(runs[0]))
    assert "warning: same-source: " in told.stderr and "blind:by=captions" in told.stdout
    both = list(map(str, runs))
    for words in (
        ("compare", *both),
        ("leaderboard", str(tmp_path / "runs")),
        ("report", *both, "--out", str(tmp_path / "page.html")),
    ):
        found = json.loads(cli(*words, "--json").stdout)
        assert {"labels-unchecked", "same-source", "blind-not-beaten"} == set(codes(found["warnings"])), words
        assert "same-source" in cli(*words).stderr


def test_a_rehearsal_draws_no_comparison_unless_asked(cli: Cli, tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench", "builtin/photos")
    runs = [
        str(run_in(tmp_path / "runs" / name, made, name, place)) for name, place in (("one", first), ("two", later))
    ]
    assert json.loads((tmp_path / "bench" / "benchmark.json").read_text())["grade"] == "rehearsal"
    for words in (("compare", *runs, "--benchmark", str(tmp_path / "bench")), ("leaderboard", str(tmp_path / "runs"))):
        refused = cli(*words)
        assert refused.returncode == 2 and "--rehearsal" in refused.stderr and "sightline view" in refused.stderr
        assert cli(*words, "--rehearsal").returncode == 0
    page = sightline.report([tmp_path / "bench", *runs], tmp_path / "page.html")
    assert page.sections[0].comparison is None and "No comparison is drawn" in page.path.read_text()
    assert page.sections[0].runs[0].scores.grade == "rehearsal"
    asked = sightline.report([tmp_path / "bench", *runs], tmp_path / "page.html", rehearsal=True)
    assert asked.sections[0].comparison is not None


def test_a_function_that_returns_results_of_the_judge_is_not_independent(tmp_path: Path) -> None:
    """Whether it is spelled as a system or called inside a function, the embedder is the one that judged."""
    made = benchmark_in(tmp_path / "bench", judge=Colours().name)
    other = replace(made, card={}, judgments=())

    def finds(query: str, k: int) -> sightline.Results:
        return sightline.search(query, tmp_path / "pictures", k=k, embedder=Colours(), workspace=tmp_path / "ws")

    system = sightline.FunctionSystem(finds)
    for _ in range(2):  # What one run noted must not keep the next from noting it.
        done = sightline.run(made, system, workspace=tmp_path / "ws", limit=3)
        assert [entry.model for entry in done.run.ledger if entry.stage == SEARCHED_BY] == [Colours().name]
    for found in (done, sightline.run(tmp_path / "bench", Colours(), workspace=tmp_path / "ws", limit=3)):
        assert "same-source" in codes(sightline.score(made, found).warnings)
    assert "same-source" not in codes(sightline.score(other, done.run).warnings)


def test_scores_on_a_stranger_leave_those_of_the_run_alone(tmp_path: Path) -> None:
    """Two benchmarks of the same name, of which the one in memory has no checksum."""
    made = benchmark_in(tmp_path / "bench")
    run = run_in(tmp_path / "run", made, "retriever", later)
    sightline.score(tmp_path / "bench", run)
    before = (run / "scores.json").read_bytes()
    other = Benchmark.from_tables(["a"], {"red": "red"}, {"red": ["a"]}, name=made.name)
    with pytest.raises(UserError, match="has no task of the benchmark"):
        sightline.score(other, run)
    assert (run / "scores.json").read_bytes() == before
    with pytest.raises(UserError, match="has no task of the benchmark"):
        sightline.score(made, sightline.Run.from_rankings({"red": ["a"]}, benchmark=other))


def test_systems_do_not_see_what_a_model_wrote(tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench", captions=True)
    assert visible(made).annotations == () and len(visible(made, show_annotations=True).annotations) == 24
    with pytest.raises(UserError, match="written by a model") as refused:
        sightline.run(tmp_path / "bench", "blind:by=captions", tmp_path / "run", workspace=tmp_path / "ws")
    assert "--show-annotations" in str(refused.value.fix)
    done = sightline.run(
        tmp_path / "bench", "blind:by=captions", tmp_path / "run", show_annotations=True, workspace=tmp_path / "ws"
    )
    assert done.run.limits["show_annotations"] is True
    scores = sightline.score(tmp_path / "bench", tmp_path / "run")
    assert scores["ndcg@10"].mean == 1 and "same-source" in codes(scores.warnings)


def test_a_system_that_sees_no_pixel_is_warned_of_the_others_and_not_of_itself(tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench", captions=True)
    for by, place in (("random", later), ("captions", first)):
        scores = sightline.score(made, run_in(tmp_path / by, made, f"blind:by={by}", place, **shown()))
        left = {row.name for row in scores.baselines if not row.beaten and row.metric == "ndcg@10"} - {f"blind:by={by}"}
        (said,) = [one.message for one in scores.warnings if one.code == "blind-not-beaten"]
        assert any(f"is not above {name}, which" in said for name in left)


def test_a_run_goes_on_as_it_was_begun(tmp_path: Path) -> None:
    benchmark_in(tmp_path / "bench", captions=True)
    run = partial(sightline.run, tmp_path / "bench", "blind:by=all", workspace=tmp_path / "ws")
    for show, how in ((True, "with"), (False, "without")):
        run(tmp_path / how, show_annotations=show, limit=2)
        with pytest.raises(UserError, match=f"started {how} --show-annotations"):
            run(tmp_path / how, show_annotations=not show)


def test_baselines_are_kept_beside_the_benchmark_and_computed_again_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = benchmark_in(tmp_path / "bench")
    assert not (tmp_path / "bench" / BASELINES_FILE).exists()
    found = baselines_of(made)
    kept = (tmp_path / "bench" / BASELINES_FILE).read_text()
    assert {"learned", "majority", "random"} <= set(found) and set(found["random"]) == {"ndcg@10", "rr@10"}
    assert baselines_of(read_benchmark(tmp_path / "bench")) == found
    assert read_benchmark(tmp_path / "bench").checksum == made.checksum
    (tmp_path / "bench" / BASELINES_FILE).write_text("{broken")
    assert baselines_of(made) == found and (tmp_path / "bench" / BASELINES_FILE).read_text() == kept
    monkeypatch.setattr(kept_baselines, "_MOST_TASKS", 10)
    monkeypatch.setattr(kept_baselines, "_FEWEST_TASKS", 5)
    assert len(compute_baselines(made)["random"]["ndcg@10"][1]) == 10
    monkeypatch.undo()
    other = write_benchmark(replace(made, tasks=dict(list(made.tasks.items())[:20])), tmp_path / "bench", force=True)
    assert len(baselines_of(other)["random"]["ndcg@10"][1]) == 20


def decided(benchmark: Benchmark, wrong: float, size: int) -> Benchmark:
    """A person decided on a draw, and found that a share of what the judge calls relevant is not."""
    lot, at = random.Random(3), datetime(2026, 1, 1, tzinfo=UTC)
    labels = labels_of(benchmark)
    right = {pair: grade > 0 and lot.random() >= wrong for pair, grade in labels.now.items()}
    drawn = sample_of(benchmark, labels, size)
    reviews = [Review(task, "me", str(int(right[task, one])), at + timedelta(seconds=n), one)
               for n, (task, one) in enumerate(drawn)]  # fmt: skip
    return replace(benchmark, reviews=tuple(reviews))


def test_scores_are_corrected_by_what_people_decided(tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench")
    run = run_in(tmp_path / "best", made, "best", later)
    plain = sightline.score(made, run)
    assert plain.corrected == {}
    every = sightline.score(decided(made, 0.0, 120), run)
    found = every.corrected["ndcg@10"]
    assert found.mean == pytest.approx(plain["ndcg@10"].mean, abs=1e-9) and found.decisions == 120
    half = sightline.score(decided(made, 0.5, 120), run).corrected["ndcg@10"]
    labels = decided(made, 0.5, 120)
    kept = {one.task for one in labels.reviews if one.decision == "1"}
    ndcg = [row.values["ndcg@10"] or 0.0 for row in plain.tasks if row.task_id in kept]
    assert half.mean == pytest.approx(sum(ndcg) / len(plain.tasks), abs=1e-9)  # All were decided: nothing is estimated.
    shown_text = str(every)
    assert "corrected by people's decisions" in shown_text
    assert "labels-unchecked" not in codes(every.warnings) and "judge-error" not in codes(every.warnings)


def test_grades_are_those_of_the_benchmark_now(cli: Cli, tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench", "builtin/photos")
    runs = [run_in(tmp_path / "runs" / name, made, name, place) for name, place in (("one", first), ("two", later))]
    for run in runs:
        sightline.score(tmp_path / "bench", run)
    assert json.loads((runs[0] / "scores.json").read_text())["benchmark_folder"] == "../../bench"
    with pytest.raises(UserError, match="No comparison is drawn"):
        sightline.compare(runs)
    write_benchmark(decided(read_benchmark(tmp_path / "bench"), 0.0, 120), tmp_path / "bench")
    assert read_scores(runs[0]).grade == "rehearsal"  # As it was written.
    found = sightline.compare(runs)
    assert found.grade == "checked" and "labels-unchecked" not in codes(found.warnings)
    assert build_leaderboard(tmp_path / "runs").boards[0].grade == "checked"
    page = sightline.report(runs, tmp_path / "page.html")
    assert page.sections[0].comparison is not None and page.sections[0].facts.grade == "checked"
    (tmp_path / "bench").rename(tmp_path / "moved")
    assert read_scores(runs[0]).grade == "rehearsal"
    with pytest.raises(UserError, match="No comparison is drawn"):
        sightline.compare(runs)
    assert sightline.compare(runs, benchmark=tmp_path / "moved").grade == "checked"


def test_a_report_on_a_rehearsal_has_no_score_as_its_headline(tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench", "builtin/photos", captions=True)
    reads = run_in(tmp_path / "reads", made, "hybrid", first, **shown())
    looks = run_in(tmp_path / "looks", made, "retriever", later)
    page = sightline.report([tmp_path / "bench", reads, looks], tmp_path / "page.html")
    assert [run.name for run in page.sections[0].runs] == ["retriever", "hybrid"]  # The circular one last.
    (said,) = findings(page.sections[0])
    assert "no score in ndcg@10 is a result" in said and "hybrid" not in said
    other = benchmark_in(tmp_path / "draft", captions=True)
    alone = run_in(tmp_path / "alone", other, "hybrid", first, **shown())
    (said,) = findings(sightline.report([tmp_path / "draft", alone], tmp_path / "page.html").sections[0])
    assert "not independent of (same-source)" in said


def test_one_baseline_has_one_value_in_a_report(tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench")
    audit: Json = {"blind": {"random": {"ndcg@10": 0.98765}}, "queries": 24}
    made = write_benchmark(replace(made, card={**made.card, "audit": audit}), tmp_path / "bench", force=True)
    run = run_in(tmp_path / "best", made, "best", first)
    page = sightline.report([tmp_path / "bench", run], tmp_path / "page.html").path.read_text()
    assert "blind:by=random" in page and "0.98" not in page
    assert "0.9877" in sightline.report([tmp_path / "bench"], tmp_path / "page.html").path.read_text()


def test_the_advice_on_the_same_source_follows_what_people_checked(tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench")
    run = run_in(tmp_path / "run", made, "chat", first)
    used = replace(read_run(run), parameters={"model": "openai/gpt-5-mini"})

    def advice(benchmark: Benchmark) -> list[str]:
        return [one.fix for one in sightline.score(benchmark, used).warnings if one.code == "same-source"]

    assert "checked by people" in advice(made)[0]
    assert advice(decided(made, 0.0, 110)) == ["Go by the corrected scores, or judge with another model."]
    assert advice(decided(made, 0.0, 120)) == []  # All labels are people's.
    worded = replace(made, card={**made.card, "provenance": Provenance("made", (), ("openai/gpt-5-mini",)).to_json()})
    assert "worded by people" in advice(decided(worded, 0.0, 120))[0]


def test_scores_and_benchmarks_of_before_open(tmp_path: Path) -> None:
    made = benchmark_in(tmp_path / "bench")
    run = run_in(tmp_path / "run", made, "best", first)
    sightline.score(tmp_path / "bench", run)
    for path, names in (
        (run / "scores.json", ("grade", "warnings", "baselines", "corrected")),
        (tmp_path / "bench" / "benchmark.json", ("grade", "grade_basis")),
    ):
        content = json.loads(path.read_text())
        path.write_text(json.dumps({name: value for name, value in content.items() if name not in names}))
    old = read_scores(run)
    assert old.grade is None and old.warnings == () and old.baselines == ()
    assert grade_of(read_benchmark(tmp_path / "bench")).name == "draft"
    other = run_in(tmp_path / "other", made, "other", later)
    found = sightline.compare([run, other], benchmark=tmp_path / "bench")
    assert found.grade == "draft" and codes(found.warnings)[0] == "labels-unchecked"


def rehearsed(folder: Path) -> tuple[Path, list[Path]]:
    made = benchmark_in(folder / "bench", "builtin/photos", captions=True)
    runs = [
        run_in(folder / "runs" / "looks", made, "looks", later),
        run_in(folder / "more" / "reads", made, "reads", first, **shown()),
    ]
    for run in runs:
        sightline.score(folder / "bench", run)
    return folder / "bench", runs


def test_no_win_stands_in_the_row_wherever_a_difference_does(tmp_path: Path) -> None:
    bench, runs = rehearsed(tmp_path)
    found = sightline.compare(runs, "ndcg@10", rehearsal=True)
    assert found._repr_html_().count("no win: same-source") == 1
    page = sightline.report([bench, *runs], tmp_path / "page.html", rehearsal=True)
    assert "no win: same-source" in page.path.read_text()
    (table,) = [path for path in page.files if path.name.endswith("-differences.csv")]
    rows = list(csv.DictReader(table.open()))
    assert {row["no_win"] for row in rows} == {"same-source"} and {row["grade"] for row in rows} == {"rehearsal"}


def test_the_legend_of_letters_is_true_where_a_win_is_withheld(tmp_path: Path) -> None:
    _, runs = rehearsed(tmp_path)
    three = [*runs, run_in(tmp_path / "third", read_benchmark(tmp_path / "bench"), "third", later)]
    found = sightline.compare(three, "ndcg@10", benchmark=tmp_path / "bench", rehearsal=True)
    assert "can't be told apart, or may not be called better (no win), share one" in str(found)
    assert "t be told apart, or may not be called better (no win)." in found._repr_html_()
    board = sightline.leaderboard(tmp_path, out=tmp_path / "boards", rehearsal=True)
    assert "or may not be called better" in board._repr_html_()


def test_every_table_has_the_grade(tmp_path: Path) -> None:
    _, runs = rehearsed(tmp_path)
    scores, found = read_scores(runs[0]), sightline.compare(runs, rehearsal=True)
    board = sightline.leaderboard(tmp_path, out=tmp_path / "boards", rehearsal=True)
    for one in (scores, found, board):
        assert one.grade == "rehearsal" and "labels: rehearsal" in str(one) and "labels: rehearsal" in one._repr_html_()
        assert {row["grade"] for row in one.records()} == {"rehearsal"}
    assert "labels: rehearsal" in (tmp_path / "boards" / "leaderboard.md").read_text()
    rows = list(csv.DictReader((tmp_path / "boards" / "leaderboard.csv").open()))
    assert {row["grade"] for row in rows} == {"rehearsal"}
    assert rows[0]["warnings"] == "labels-unchecked, same-source, blind-not-beaten"
    assert {row["grade"] for row in csv.DictReader((runs[0] / "per_task.csv").open())} == {"rehearsal"}


def test_the_app_has_the_grade_one_board_and_no_ranks_on_a_rehearsal(tmp_path: Path) -> None:
    bench, runs = rehearsed(tmp_path)
    app = client(open_app(None, (bench, *(run.parent for run in runs)), port=8377))
    home, board, one = (app.get(path).text for path in ("/", "/runs", "/runs/looks"))
    assert home.count("labels: rehearsal") == 3 and board.count("labels: rehearsal") == 1 == one.count(
        "labels: rehearsal"
    )
    assert board.count("<h2>") == 1 and "reads</a>" in board and "looks</a>" in board
    assert re.findall(r"<tr><td>([^<]*)</td>", board)[:2] == ["–", "–"]
    write_benchmark(decided(read_benchmark(bench), 0.0, 120), bench)
    home, board = (app.get(path).text for path in ("/", "/runs"))
    assert home.count("labels: checked") == 3 and board.count("labels: checked") == 1
    assert re.findall(r"<tr><td>([^<]*)</td>", board)[:2] == ["1–2", "1–2"]  # One of them reads the judge's words.


def test_a_board_says_where_ranks_go_by_what_people_decided(tmp_path: Path) -> None:
    bench, _ = rehearsed(tmp_path)
    assert not any("corrected" in note for note in build_leaderboard(tmp_path, rehearsal=True).boards[0].notes)
    write_benchmark(decided(read_benchmark(bench), 0.3, 110), bench)
    found = build_leaderboard(tmp_path)
    assert "corrected by people's decisions; means and baselines go by the labels" in str(found)
