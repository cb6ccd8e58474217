"""`make --queries --pool`: a benchmark of your own queries that people have still to judge; `extend` and `drift`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

import sightline
from sightline.authoring.judge import JudgeStage
from sightline.authoring.pool_from_systems import parse_pool
from sightline.authoring.queries_from_life import make_from_queries
from sightline.authoring.query_sample import sample_queries
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.cli.app import main
from sightline.errors import UserError
from sightline.runs.folder import read_run, write_run
from sightline.types import Benchmark, Corpus, Picture, Relevance, Review, Task
from sightline.types.task import WEIGHT

PICTURES = 12


class Done(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    def run(*arguments: str) -> Done:
        capsys.readouterr()
        try:
            main(arguments)
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "photos").mkdir()
    for number in range(PICTURES):
        Image.fromarray(rng.integers(0, 255, (16, 16, 3), np.uint8)).save(tmp_path / "photos" / f"p{number}.png")
    (tmp_path / "q.csv").write_text(
        "id,query,count,clicked,position\n" + "".join(f"q{n},word{n},{20 - n},p{n % 12}.png,2\n" for n in range(20))
    )
    (tmp_path / "r.trec").write_text("".join(_lines(range(20))))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _lines(queries: range, shift: int = 0) -> list[str]:
    return [f"q{n} Q0 p{(n + k + shift) % PICTURES}.png {k + 1} {9 - k} tag\n" for n in queries for k in range(4)]


def _make(place: Path, pool: dict[str, Any], out: str = "B", **options: Any) -> sightline.Benchmark:
    made = sightline.make("photos", queries="q.csv", pool=pool, out=out, workspace=place / "ws", **options)
    return made.benchmark()


def sometimes(query: str, k: int) -> list[str]:
    """A service that fails for a tenth of the queries."""
    if query in ("word3", "word7"):
        raise ConnectionError("no answer")
    return [f"p{number}.png" for number in range(4)]


def test_queries_and_systems_become_a_benchmark_to_judge(place: Path) -> None:
    made = _make(place, {"live": sometimes, "main": "r.trec"})
    assert [task.text for task in made.tasks.values()][:2] == ["word0", "word1"]
    assert made.tasks["q0"].weight == 20
    assert made.tasks["q0"].labels["frequency"] == ("head",)
    assert list(made.truth.values()) == [Relevance({})] * 20
    found = {(one.task, one.picture) for one in made.candidates}
    assert {("q0", "p0.png"), ("q0", "p3.png"), ("q3", "p3.png")} <= found
    assert ("q3", "p0.png") not in found, "nobody is asked about what failed"
    about: Any = made.card["pool"]
    assert (about["live"]["answered"], about["live"]["failures"]) == (18, {"crashed": 2})
    assert about["main"]["unknown_results"] == 0
    assert sightline.validate("B").valid
    for name in ("live", "main"):
        run = sightline.load(f"B/runs/{name}", sightline.Run)
        assert made.is_version(run.benchmark_checksum)
    weak = [json.loads(line) for line in (place / "B/clicks.jsonl").read_text().splitlines()]
    assert weak[0]["provenance"] == "clicks"
    assert weak[0]["task"] == "q0"
    assert not made.judgments


def test_a_service_that_fails_for_a_tenth_is_counted(place: Path, run_command: Callable[..., Done]) -> None:
    class Service(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(500 if asked["query"] in ("word3", "word7") else 200)
            self.end_headers()
            self.wfile.write(
                json.dumps({"hits": [{"id": "p0.png", "score": 2}, {"id": "p5.png", "score": 1}]}).encode()
            )

        def log_message(self, *_: Any) -> None:
            """Nothing is said of what is asked."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        spec = f"http:url=http://127.0.0.1:{server.server_port},retries=0"
        pool = ("--pool", f"live={spec}", "--pool", "main=r.trec")
        done = run_command("make", "photos", "--queries", "q.csv", *pool, "--out", "B", "--workspace", "ws", "--json")
        server.shutdown()
    assert done.code == 0, done.err
    stages = json.loads(done.out)["stages"]
    assert sum(stages[1]["failures"].values()) == 2
    assert all(name.startswith("live ") for name in stages[1]["failures"])
    assert sightline.load("B/runs/live", sightline.Run).system == "live"
    found = {one.picture for one in read_benchmark("B").candidates if one.task == "q3"}
    assert "p0.png" not in found


def test_a_limit_is_a_smaller_sample(place: Path) -> None:
    assert len(_make(place, {}, limit=5).tasks) == 5


def test_scores_are_weighted_and_a_failure_is_zero(place: Path) -> None:
    made = _make(place, {"live": sometimes, "main": "r.trec"})
    judged = replace(made, truth={task: Relevance({"p0.png": 1, "p1.png": 0}) for task in made.tasks})
    scores = sightline.score(judged, sightline.load("B/runs/live", sightline.Run), ["success@1"])
    weights = np.arange(20, 0, -1)
    assert scores["success@1"].mean == pytest.approx(1 - (17 + 13) / weights.sum())
    assert scores["success@1"].failures == 2


def test_making_it_again_goes_on_and_keeps_runs(place: Path) -> None:
    first = _make(place, {"blind": "blind:by=random", "main": "r.trec"})
    before = (place / "B/runs/blind/predictions.jsonl").read_bytes()
    again = _make(place, {"blind": "blind:by=random", "main": "r.trec"})
    assert again.checksum == first.checksum
    assert (place / "B/runs/blind/predictions.jsonl").read_bytes() == before


def test_runs_come_from_files_of_every_kind(place: Path) -> None:
    (place / "runs").mkdir()
    rankings = {f"q{n}": {f"p{(n + k) % PICTURES}.png": 1 / (k + 1) for k in range(4)} for n in range(20)}
    (place / "runs/x.json").write_text(json.dumps(rankings))
    rows = [(query, picture, score) for query, found in rankings.items() for picture, score in found.items()]
    (place / "runs/y.csv").write_text("query_id,image_id,score\n" + "".join(f"{q},{p},{s}\n" for q, p, s in rows))
    by_words = {f"Word{n}": found for n, found in enumerate(rankings.values())}
    (place / "words.json").write_text(json.dumps(by_words))
    ranked = "".join(f"q{n},p{(n + k) % PICTURES}.png,{k + 1}\n" for n in range(20) for k in (3, 1, 0, 2))
    (place / "z.csv").write_text("query_id,picture,rank\n" + ranked)
    _make(place, {"all": "runs", "words": "words.json", "rank": "z.csv", "trec": "r.trec"})
    found = {path.name: sightline.load(path, sightline.Run) for path in (place / "B/runs").iterdir()}
    assert set(found) == {"all-x", "all-y", "words", "rank", "trec"}
    orders = {tuple(sorted((row["task"], row["answer"]) for row in run.records())) for run in found.values()}
    assert len(orders) == 1


def test_strangers_are_counted_and_named(place: Path, run_command: Callable[..., Done]) -> None:
    with (place / "r.trec").open("a") as file:
        file.write("q0 Q0 gone.png 5 0.1 tag\nq99 Q0 p1.png 1 1 tag\n")
    done = run_command(
        "make", "photos", "--queries", "q.csv", "--pool", "main=r.trec", "--out", "B", "--workspace", "ws"
    )
    assert done.code == 0
    assert "main: 1 result is not among the pictures and can't be judged (1 id): gone.png" in done.err
    assert "main: 1 query is not in the benchmark and left out: q99" in done.err
    assert "Next step: sightline view B (or, in the terminal: sightline assess B)" in done.err
    done = run_command("make", "photos", "--queries", "q.csv", "--out", "D", "--workspace", "ws")
    assert "Next step: the same with --pool NAME=SPEC for each system" in done.err
    (place / "r.trec").write_text("x1 Q0 p1.png 1 1 tag\n")
    done = run_command(
        "make", "photos", "--queries", "q.csv", "--pool", "main=r.trec", "--out", "C", "--workspace", "ws"
    )
    assert done.code == 2
    assert 'None of the queries of the run "tag", such as "x1", is in the benchmark.' in done.err


def test_queries_by_picture(place: Path) -> None:
    (place / "q.csv").write_text("query,picture\nlike this,p1.png\n,p2.png\n,gone.png\nwords,\n")
    made = _make(place, {})
    assert sorted((task.text, [one.id for one in task.pictures]) for task in made.tasks.values()) == [
        ("", ["p2.png"]),
        ("like this", ["p1.png"]),
        ("words", []),
    ]


def test_without_a_folder_the_runs_say_which_pictures_there_are(place: Path) -> None:
    made = sightline.make(queries="q.csv", pool={"main": "r.trec"}, out="B", workspace="ws").benchmark()
    assert len(made.corpus.pictures) == PICTURES
    with pytest.raises(UserError, match='The system "live" needs pictures to search'):
        sightline.make(queries="q.csv", pool={"live": "retriever"}, out="C", workspace="ws")


def test_runs_that_are_not_there_or_empty_are_refused(place: Path) -> None:
    (place / "empty.trec").write_text("")
    for given, message in (
        ("none.trec", "There is no run none.trec"),
        ("empty.trec", "has no results"),
        ("ws", "holds no run"),
    ):
        (place / "ws").mkdir(exist_ok=True)
        with pytest.raises(UserError, match=message):
            sightline.make("photos", queries="q.csv", pool={"a": given}, out=f"out-{given}", workspace="other")


@pytest.mark.parametrize("given", ["r.trec", "=r.trec", "a=", "a/b=r.trec", "http:url=http://x/"])
def test_a_pool_needs_names(given: str) -> None:
    with pytest.raises(UserError, match="has no name"):
        parse_pool([given])
    with pytest.raises(UserError, match="two systems"):
        parse_pool(["a=x", "a=y"])
    assert parse_pool(["a=http:url=http://x/?q=1"]) == {"a": "http:url=http://x/?q=1"}


def test_labels_are_not_written_over(place: Path, run_command: Callable[..., Done]) -> None:
    made = _make(place, {"main": "r.trec"})
    write_benchmark(replace(made, truth={**made.truth, "q0": Relevance({"p0.png": 1})}), "B")
    with pytest.raises(UserError, match="holds labels, which would be lost") as raised:
        _make(place, {"main": "r.trec"})
    assert "sightline extend B" in str(raised.value.fix)
    with pytest.raises(UserError, match="No folder is given for the benchmark"):
        sightline.make("photos", queries="q.csv", workspace="ws")
    done = run_command("make", "photos", "--pool", "a=r.trec", "--workspace", "ws")
    assert done.code == 2
    assert "--queries FILE" in done.err


def test_decisions_of_people_are_not_written_over(place: Path, run_command: Callable[..., Done]) -> None:
    _make(place, {"a": "r.trec", "b": sometimes})
    found = sightline.assess("B", ["B/runs/a", "B/runs/b"])
    found.tell(found.next()[0], 3)
    done = run_command("make", "photos", "--queries", "q.csv", "--pool", "a=r.trec", "--out", "B")
    assert (
        done.code == 2 and "decisions of people, which would be lost" in done.err and "sightline extend B" in done.err
    )


def test_a_system_that_returns_nothing_is_told_of(place: Path, run_command: Callable[..., Done]) -> None:
    made = _make(place, {"silent": lambda query, k: []})
    assert made.card["pool"]["silent"]["empty"] == 20  # type: ignore[index, call-overload]
    write_run(read_run(place / "B" / "runs" / "silent"), place / "silent")
    done = run_command("make", "photos", "--queries", "q.csv", "--pool", "silent=silent", "--out", "C")
    assert "silent: no picture was returned for 20 queries" in done.err


def test_what_nobody_judged_is_warned_of_and_nothing_passes_unmeasured(
    place: Path, run_command: Callable[..., Done]
) -> None:
    _make(place, {"a": "r.trec", "b": sometimes})
    one, other = "B/runs/a", "B/runs/b"
    scores = sightline.score("B", one)
    assert [warning.code for warning in scores.warnings if warning.code == "coverage-low"] == ["coverage-low"]
    assert "Nobody judged 100% of the first 10 results" in str(scores.warnings)
    assert (scores["ndcg@10"].n, scores.baselines) == (0, ())
    sightline.score("B", other)
    done = run_command("compare", one, other, "--fail-if-worse", "ndcg@10", "--failures-may-differ")
    assert done.code == 2 and "ndcg@10 was not measured" in done.err


def test_models_judge_the_pool_before_people_and_no_label_changes(
    place: Path, run_command: Callable[..., Done]
) -> None:
    before = _make(place, {"a": "r.trec", "b": sometimes})
    asked = []

    def knows(query: str, picture: Picture) -> int:
        asked.append((query, picture.id))
        return int(f"p{query.removeprefix('word')}." in picture.id)

    done = sightline.make(stage=JudgeStage((knows,), bench=Path("B")), workspace=place / "ws")
    pool = {(one.task, one.picture) for one in before.candidates}
    assert done.stages[0].counts == {"queries": 20, "verdicts": len(pool), "kept": 0} and len(asked) == len(pool)
    after = read_benchmark("B")
    assert {(one.task, one.picture) for one in after.judgments} == pool
    assert (after.truth, after.candidates) == (before.truth, before.candidates)
    assert run_command("validate", "B").code == 0
    found = sightline.assess("B", ["B/runs/a", "B/runs/b"], half_width=0.01)
    for pair in found.next(40):
        found.tell(pair, 3 if f"p{pair.text.removeprefix('word')}." in pair.picture else 0)
    assert "the model's grades saved about" in str(found.comparison())
    again = sightline.make(stage=JudgeStage((knows,), bench=Path("B")), workspace=place / "ws")
    assert again.stages[0].counts["kept"] == len(pool) and len(asked) == len(pool)
    assert found.spent == len(read_benchmark("B").reviews) > 0


def test_searches_by_picture_and_empty_pools_are_not_judged_by_models(
    place: Path, run_command: Callable[..., Done]
) -> None:
    (place / "q.csv").write_text("id,query,picture\nq0,,p3.png\nq1,word1,\n")
    _make(place, {"a": "r.trec"})
    done = sightline.make(stage=JudgeStage((lambda query, picture: 1,), bench=Path("B")), workspace=place / "ws")
    assert {one.task for one in read_benchmark("B").judgments} == {"q1"}
    assert done.warnings == ("1 search by picture: models are not asked about them",)
    _make(place, {}, out="C")
    refused = run_command("make", "judge", "C", "--model", "builtin/photos")
    assert refused.code == 2 and "C lists no pictures to judge" in refused.err and "--pool NAME=SPEC" in refused.err


def _judged(place: Path) -> Benchmark:
    """Three systems, judged as far as the first two go."""
    (place / "near.trec").write_text("".join(_lines(range(20), 1)))
    made = _make(place, {"main": "r.trec", "near": "near.trec"})
    grades = {one.task: dict[str, int]() for one in made.candidates}
    for one in made.candidates:
        grades[one.task][one.picture] = int(
            one.picture in (f"p{int(one.task[1:]) % PICTURES}.png", f"p{(int(one.task[1:]) + 4) % PICTURES}.png")
        )
    return write_benchmark(replace(made, truth={task: Relevance(grades.get(task, {})) for task in made.tasks}), "B")


def test_extending_adds_what_is_not_judged_and_keeps_old_scores(place: Path, run_command: Callable[..., Done]) -> None:
    before = _judged(place)
    old = sightline.score("B", "B/runs/main", "ndcg@10")
    (place / "far.trec").write_text("".join(_lines(range(20), 3)))
    grown = sightline.extend("B", ["far.trec"], "B2")
    after = read_benchmark("B2")
    assert (after.version, after.truth, tuple(after.tasks)) == ("2", before.truth, tuple(before.tasks))
    new = {(one.task, one.picture) for one in after.candidates} - {(one.task, one.picture) for one in before.candidates}
    assert new == {(f"q{n}", f"p{(n + k) % PICTURES}.png") for n in range(20) for k in (5, 6)}
    assert grown.to_judge == 40
    rows = {one.name: one for one in grown.systems}
    assert (rows["far"].is_new, rows["far"].to_judge, rows["far"].judged) == (True, 40, 0.5)
    assert rows["main"].judged == 1
    assert sightline.score("B2", "B2/runs/main", "ndcg@10")["ndcg@10"] == old["ndcg@10"]
    assert rows["main"].score == pytest.approx(old["ndcg@10"].mean)
    condensed = sightline.score("B2", "B2/runs/far", "ndcg@10").condensed["ndcg@10"]
    assert rows["far"].condensed == pytest.approx(condensed.mean)
    assert sightline.validate("B2").valid
    assert json.loads(run_command("extend", "B", "far.trec", "--out", "B3", "--json").out)["to_judge"] == 40


def test_a_rank_that_hangs_on_its_own_labels_is_named(place: Path) -> None:
    _judged(place)
    # Only `near` finds the second relevant picture; the third system finds nothing that it alone has.
    (place / "copy.trec").write_text("".join(_lines(range(20))))
    grown = sightline.extend("B", "copy.trec", "B2")
    rows = {one.name: one for one in grown.systems}
    assert rows["copy"].score == rows["copy"].without_own
    assert rows["near"].without_own == 0
    assert grown.reusable is (rows["near"].rank == rows["near"].rank_without_own)
    assert ("Reusability: no system" in str(grown)) is bool(grown.reusable)


def test_grades_of_people_count_as_judged(place: Path) -> None:
    made = _make(place, {"main": "r.trec"})
    when = datetime.now(UTC)
    write_benchmark(
        replace(made, reviews=(Review("q0", "ann", "2", when, "p0.png"), Review("q0", "bob", "skip", when, "p1.png"))),
        "B",
    )
    (place / "copy.trec").write_text("".join(_lines(range(20))))
    grown = sightline.extend("B", "copy.trec", "B2")
    assert grown.to_judge == 79
    assert grown.benchmark.reviews
    assert grown.reusable is None


def test_extending_refuses_what_it_can_not_use(place: Path, run_command: Callable[..., Done]) -> None:
    _judged(place)
    with pytest.raises(UserError, match="is the version before"):
        sightline.extend("B", ["r.trec"], "B")
    with pytest.raises(UserError, match="There is no run"):
        sightline.extend("B", ["nowhere"], "B2")
    with pytest.raises(UserError, match="No run was given"):
        sightline.extend("B", [], "B2")
    assert run_command("extend", "B", "--out", "B2").code == 2


def _log(path: Path, rng: np.random.Generator, lines: int, moved: float = 0.0) -> Path:
    share = 1 / np.arange(1, 501)
    words = rng.choice(500, (lines, 2), p=share / share.sum())
    other = rng.random(lines) < moved
    said = (f"beach sand{b % 5}" if new else f"w{a} w{b}" for (a, b), new in zip(words, other, strict=True))
    path.write_text("\n".join(said) + "\n")
    return path


def _drawn(log: Path, seed: int) -> Benchmark:
    queries = sample_queries(sightline.QueryLog(log, sample=200), seed).queries
    tasks = {one.id: Task(one.id, "rank", (one.text,), extra={WEIGHT: one.weight}) for one in queries}
    return Benchmark("old", Corpus("c", {}), tasks, {})


def test_another_week_of_the_same_is_no_drift_and_a_new_season_is(tmp_path: Path) -> None:
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        made = _drawn(_log(tmp_path / "a.txt", rng, 2000), seed)
        found.append(sightline.drift(made, _log(tmp_path / "b.txt", rng, 2000), seed=seed, draws=49).p)
    assert np.mean(np.array(found) < 0.05) <= 0.15
    changed = sightline.drift(made, _log(tmp_path / "b.txt", rng, 2000, 0.3), draws=99)
    assert changed.drifted
    assert changed.drift.low > 0
    assert next(word.word for word in changed.words if word.change == "new") == "beach"
    assert changed.covered < changed.covered_today.mean
    assert changed.to_json()["drift"]["mean"] == changed.drift.mean
    assert "the queries have changed" in str(changed)


def test_drift_by_the_command_line(place: Path, run_command: Callable[..., Done]) -> None:
    _make(place, {"main": "r.trec"})
    done = run_command("drift", "B", "q.csv", "--json")
    assert json.loads(done.out)["covered"] == pytest.approx(1.0)
    (place / "one.txt").write_text("something else\n")
    assert "too few searches to say" in run_command("drift", "B", "one.txt").out
    assert run_command("drift", "B", "nowhere.csv").code == 2
    with pytest.raises(UserError, match="has no tasks"):
        sightline.drift(Benchmark("empty", Corpus("c", {}), {}, {}), "q.csv")


def test_every_search_of_a_log_is_told_of(place: Path) -> None:
    (place / "q.csv").write_text("query,count\nred bike,2\nmail anna@x.org,1\n")
    told: list[str] = []
    stages = make_from_queries(
        sightline.QueryLog("q.csv"), {}, place / "photos", place / "B", session=sightline.Session(place / "ws"),
        watch=lambda result: told.append(result.stage),
    )  # fmt: skip
    queries, pool = stages
    assert told == ["queries", "pool"]
    assert queries.counts["searches"] == 3
    assert queries.warnings == ("personal data (e-mail) in 1 query, masked; see queries.json",)
    assert pool.counts == {"systems": 0, "pictures to judge": 0}
