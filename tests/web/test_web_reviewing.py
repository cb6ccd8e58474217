"""Reviews: what is asked next, how decisions are kept and taken back, agreement, and what the card says of it."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_tools import Colours
from sightline.authoring.review import review_benchmark
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.grade import grade_of
from sightline.benchmark.label_quality import label_quality
from sightline.benchmark.review_decisions import WHOLE, labels_of, standing, votes_of
from sightline.benchmark.review_sample import sample_of
from sightline.benchmark.validation import validate_benchmark
from sightline.cli import main
from sightline.io.jsonl import read_json
from sightline.metrics.scope import Scopes
from sightline.types import (
    Answer,
    Benchmark,
    Candidate,
    Choice,
    Corpus,
    Judgment,
    Option,
    Picture,
    PictureSet,
    Relevance,
    Review,
    Task,
)
from sightline.web.library import Library, LoadedBenchmark
from sightline.web.reviews import ReviewLog, agreements, figures_of, last_of, mark_of, queue_for, standing_of
from sightline.web.server import open_app
from web_samples import client, forgery_token

PICTURES = tuple(f"p{number}" for number in range(8))


def benchmark(tasks: int = 3) -> Benchmark:
    names = [f"t{number}" for number in range(tasks)]
    grades = {picture: int(place < 3) for place, picture in enumerate(PICTURES)}
    tiers = ("seed", "positive", "positive", "hard", "hard", "easy", "easy", "easy")
    return Benchmark(
        "small",
        Corpus("small", {id_: Picture(id_, f"https://example.org/{id_}.jpg") for id_ in PICTURES}),
        {name: Task(name, "rank", (f"query {name}",)) for name in names},
        {name: Relevance(grades) for name in names},
        candidates=tuple(
            Candidate(name, picture, tier)  # type: ignore[arg-type]
            for name in names
            for picture, tier in zip(PICTURES, tiers, strict=True)
        ),
    )


@pytest.fixture
def shelf(tmp_path: Path) -> LoadedBenchmark:
    write_benchmark(benchmark(), tmp_path / "bench")
    found = Library((tmp_path,), None).benchmark("bench")
    assert found is not None
    return found


def test_the_queue_goes_from_conflicts_to_what_one_saw_to_what_nobody_saw() -> None:
    sample = [("t", "a"), ("t", "b"), ("t", "c"), ("t", "d")]
    votes = {
        ("t", "b"): {"ana": True},
        ("t", "c"): {"ana": True, "ben": False},
        ("t", "d"): {"ana": True, "ben": True},
    }
    assert queue_for("eva", sample, votes) == [("t", "c"), ("t", "b"), ("t", "a")]
    assert queue_for("ana", sample, votes) == [("t", "a")]
    state = standing_of("ana", sample, votes)
    assert (state.labels, state.settled, state.conflicts, state.mine) == (4, 1, (("t", "c"),), 3)
    votes[("t", "c")] = {"ana": True, "ben": False, "eva": True}
    assert queue_for("zoe", sample, votes) == [("t", "b"), ("t", "a")]  # The third has decided.


def test_what_two_people_contradict_each_other_on_comes_to_them_again_at_the_end() -> None:
    sample = [("t", "a"), ("t", "b")]
    votes = {("t", "a"): {"ana": True, "ben": False}, ("t", "b"): {"ana": True}}
    assert queue_for("ana", sample, votes) == [("t", "a")] and queue_for("ben", sample, votes) == [("t", "b")]
    votes[("t", "b")]["ben"] = True
    assert queue_for("ben", sample, votes) == [("t", "a")] and queue_for("eva", sample, votes) == [("t", "a")]
    whole = {("t", WHOLE): {"ana": True, "ben": False}}
    assert queue_for("ana", [("t", WHOLE)], whole) == []  # What is wrong with it takes a third person.


def test_a_sample_takes_of_each_stratum(shelf: LoadedBenchmark) -> None:
    labels = labels_of(shelf.benchmark)
    sample = sample_of(shelf.benchmark, labels, 8)
    drawn = [labels.stratum[pair] for pair in sample]
    assert len(set(sample)) == 8 and set(drawn) == set(labels.stratum.values())
    assert sum(labels.now[pair] > 0 for pair in sample) >= 5
    assert sample == sample_of(shelf.benchmark, labels, 8)
    assert sample_of(shelf.benchmark, labels, 1000) == sorted(labels.now)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(PICTURES[:4]), st.booleans()), max_size=25))
def test_iou_is_that_of_the_two_sets(decisions: list[tuple[str, str, bool]]) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    reviews = [
        Review("t0", person, "relevant" if yes else "not relevant", at + timedelta(seconds=place), picture)
        for place, (person, picture, yes) in enumerate(decisions)
    ]
    last = {(person, picture): yes for person, picture, yes in decisions}
    both = [picture for picture in PICTURES if ("a", picture) in last and ("b", picture) in last]
    mine = {picture for picture in both if last["a", picture]}
    theirs = {picture for picture in both if last["b", picture]}
    found = agreements(votes_of(reviews, benchmark(), {}))
    if not both:
        assert found == []
        return
    (one,) = found
    assert one.iou is not None
    assert one.iou.mean == (len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0)
    assert {picture for _, picture in one.conflicts} == mine ^ theirs and one.labels == len(both)


def undo(book: ReviewLog, shelf: LoadedBenchmark, person: str) -> Review | None:
    """As a page does it that was loaded just now."""
    last = last_of(book.read(shelf.folder), person)
    assert last is not None
    return book.undo(shelf, person, mark_of(last))


def test_decisions_are_lines_that_are_never_deleted(shelf: LoadedBenchmark) -> None:
    book, path = ReviewLog(), shelf.folder / "reviews.jsonl"
    book.decide(shelf, "ana", "t0", "p0", "accept")
    book.decide(shelf, "ana", "t0", "p5", "2")
    before = path.read_bytes()
    taken = undo(book, shelf, "ana")
    assert taken is not None and taken.picture == "p5"
    assert path.read_bytes().startswith(before)
    lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert [line["decision"] for line in lines] == ["accept", "2", "withdraw"]
    assert all(line["person"] == "ana" and datetime.fromisoformat(line["when"]).tzinfo for line in lines)
    assert [review.picture for review in standing(book.read(shelf.folder))] == ["p0"]
    assert undo(book, shelf, "ana") is not None
    assert len(path.read_bytes().splitlines()) == 4
    assert last_of(book.read(shelf.folder), "ana") is None


def test_a_half_line_that_a_kill_left_costs_only_itself(shelf: LoadedBenchmark) -> None:
    book, path = ReviewLog(), shelf.folder / "reviews.jsonl"
    book.decide(shelf, "ana", "t0", "p0", "accept")
    with path.open("ab") as file:
        file.write(b'{"task": "t0", "pict')
    assert len(book.read(shelf.folder)) == 1
    book.decide(shelf, "ana", "t0", "p1", "reject")
    assert [review.picture for review in book.read(shelf.folder)] == ["p0", "p1"]


def test_the_card_says_what_the_audit_would(shelf: LoadedBenchmark) -> None:
    book = ReviewLog()
    for task in ("t0", "t1", "t2"):
        for picture, decision in (("p0", "accept"), ("p1", "3"), ("p4", "1"), ("p6", "0")):
            book.decide(shelf, "ana", task, picture, decision)
    again = read_benchmark(shelf.folder)
    found = label_quality(again)
    assert found is not None and found.checked == 12 and 0 < found.right.mean < 1
    card = read_json(shelf.folder / "benchmark.json")["card"]["audit"]
    assert card["labels_checked"] == 12 and card["label_quality"]["mean"] == pytest.approx(found.right.mean)
    assert validate_benchmark(shelf.folder) == ()  # The checksum of what has grown is right, too.
    undo(book, shelf, "ana")
    assert read_json(shelf.folder / "benchmark.json")["card"]["audit"]["labels_checked"] == 11


def test_a_withdrawn_decision_counts_for_nothing() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    said = [Review("t0", "ana", "reject", at, "p0"), Review("t0", "ana", "accept", at + timedelta(1), "p0")]
    back = Review("t0", "ana", "withdraw", at + timedelta(2), "p0")
    other = Review("t0", "ben", "withdraw", at + timedelta(3), "p0")
    small = benchmark()
    wrong = label_quality(replace(small, reviews=(*said, back, other)))
    assert wrong is not None and wrong.right.mean == 0.0 and wrong.unread == {}  # The first one counts again.
    assert label_quality(replace(small, reviews=(*said, back, replace(back, when=at + timedelta(4))))) is None


def test_nobody_has_looked_yet(shelf: LoadedBenchmark) -> None:
    assert figures_of(shelf, ()).checked.main is None
    assert len(labels_of(shelf.benchmark).now) == 24


def mined(waiting: int = 2, others: int = 0) -> Benchmark:
    """Requests with a set of two, and two pictures beside it; and one question."""
    names = [f"s{number}" for number in range(waiting + others)]
    tasks = {
        name: Task(name, "select", (name,), extra={"review": "waiting"} if place < waiting else {})
        for place, name in enumerate(names)
    }
    tasks["asked"] = Task("asked", "answer", ("how many?",), options=(Option("A", ("one",)),))
    return Benchmark(
        "mined",
        Corpus("mined", {id_: Picture(id_, f"https://example.org/{id_}.jpg") for id_ in PICTURES}),
        tasks,
        {**{name: PictureSet(("p0", "p1")) for name in names}, "asked": Answer("two")},
        candidates=tuple(
            Candidate(name, picture, "positive" if place < 2 else "hard")
            for name in names
            for place, picture in enumerate(PICTURES[:4])
        ),
    )


def test_requests_are_asked_whole_and_those_that_wait_all() -> None:
    held = mined(30, 30)
    sample = sample_of(held, labels_of(held), 40)
    tasks = list(dict.fromkeys(task for task, _ in sample))
    assert tasks[:30] == [f"s{number}" for number in range(30)] and tasks[-1] == "asked"
    for task in tasks[:-1]:
        asked = [picture for name, picture in sample if name == task]
        assert sorted(asked[:-1]) == ["p0", "p1", "p2", "p3"] and asked[-1] == WHOLE
    orders = {tuple(picture for name, picture in sample if name == task) for task in tasks[:-1]}
    assert len(orders) > 4  # The order does not tell what is in the set.
    assert len(tasks) < 45


def test_of_a_rejected_request_nothing_else_is_asked() -> None:
    sample = [("s0", "p0"), ("s0", "p1"), ("s0", WHOLE), ("s1", "p0")]
    votes = {("s0", WHOLE): {"ana": False}}
    assert queue_for("ana", sample, votes) == [("s1", "p0")]
    assert queue_for("ben", sample, votes)[0] == ("s0", WHOLE)
    votes[("s0", WHOLE)]["ben"] = False
    assert queue_for("eva", sample, votes) == [("s1", "p0")]


def test_a_picture_that_one_person_found_waits_for_a_second() -> None:
    votes = {("s0", "p7"): {"ana": True}}
    assert queue_for("ben", [("s0", "p0")], votes) == [("s0", "p7"), ("s0", "p0")]
    assert queue_for("ana", [("s0", "p0")], votes) == [("s0", "p0")]


def test_the_iou_of_complete_sets_counts_what_only_one_found() -> None:
    votes = {("s0", "p0"): {"ana": True, "ben": True}, ("s0", "p7"): {"ana": True}}
    (apart,) = agreements(votes)
    assert apart.iou is not None and apart.iou.mean == 1.0
    (whole,) = agreements({**votes, ("s0", WHOLE): {"ana": True, "ben": True}})
    assert whole.iou is not None and whole.iou.mean == 0.5
    (answers,) = agreements({("asked", WHOLE): {"ana": True, "ben": False}})
    assert answers.iou is None and answers.same.mean == 0.0 and answers.conflicts == (("asked", WHOLE),)


def test_a_review_makes_no_other_version_and_hides_no_damage(shelf: LoadedBenchmark) -> None:
    before = read_benchmark(shelf.folder).checksum
    ReviewLog().decide(shelf, "ana", "t0", "p0", "relevant")
    assert read_benchmark(shelf.folder).checksum == before
    truth = shelf.folder / "truth.jsonl"
    truth.write_bytes(truth.read_bytes().replace(b'"p0":1', b'"p0":0', 1))
    ReviewLog().decide(shelf, "ana", "t0", "p1", "relevant")
    assert [problem.file for problem in validate_benchmark(shelf.folder)] == ["truth.jsonl"]


def test_clicks_calibrate_the_judges_in_the_card(tmp_path: Path) -> None:
    held = benchmark()
    judged = replace(held, judgments=tuple(Judgment(one.task, one.picture, "model", 1) for one in held.candidates))
    write_benchmark(judged, tmp_path / "bench")
    shelf = Library((tmp_path,), None).benchmark("bench")
    assert shelf is not None
    for picture in PICTURES:
        ReviewLog().decide(shelf, "ana", "t0", picture, "relevant" if picture in PICTURES[:4] else "not relevant")
    card = read_json(shelf.folder / "benchmark.json")["card"]["audit"]
    judge = card["judges"]["model"]
    assert judge["precision"]["mean"] == pytest.approx(0.5) and judge["recall"]["mean"] == 1.0
    assert judge["precision"]["low"] < 0.5 < judge["precision"]["high"]
    assert card["relevant_by_people"]["mean"] == pytest.approx(0.5)


def test_answers_are_decided_on_in_the_app(copied: Path) -> None:
    looking = client(open_app(None, (copied,), port=8377))
    looking.cookies.set("sightline-person", "ana")
    held = read_benchmark(copied / "benchmark")
    of = {task.kind: task.id for task in held.tasks.values()}
    chosen = held.truth[of["choose"]]
    assert isinstance(chosen, Choice)
    page = looking.get("/review/benchmark", params={"task": of["choose"], "whole": "1"}).text
    assert 'value="option: A"' in page and "Is the answer right?" not in page and 'class="option right"' not in page
    answered = held.truth[of["answer"]]
    assert isinstance(answered, Answer)
    page = looking.get("/review/benchmark", params={"task": of["answer"], "whole": "1"}).text
    assert answered.text in page and "Give another answer" in page
    csrf = forgery_token(page)

    def post(task: str, decision: str, **more: str) -> int:
        fields = {"csrf": csrf, "task": task, "decision": decision, **more}
        return looking.post("/review/benchmark", data=fields, follow_redirects=False).status_code

    assert post(of["choose"], f"option: {chosen.option}") == post(of["answer"], "answer", words=" 4  boats ") == 303
    assert post(of["describe"], "reject", words="it has no boat") == post(of["select"], "accept") == 303
    for task, decision in ((of["choose"], "option: Z"), (of["answer"], "answer"), (of["select"], "relevant")):
        assert post(task, decision) == 400
    assert post(of["rank"], "perhaps", picture=next(iter(held.corpus.pictures))) == 400
    lines = [orjson.loads(line) for line in (copied / "benchmark" / "reviews.jsonl").read_bytes().splitlines()]
    assert [line["decision"] for line in lines] == [
        f"option: {chosen.option}",
        "answer: 4 boats",
        "reject: it has no boat",
        "accept",
    ]
    card = read_json(copied / "benchmark" / "benchmark.json")["card"]["audit"]
    assert card["checked"]["answers"]["checked"] == 3 and card["queries_reviewed"]["accepted"] == 1
    assert "1 accepted, 0 rejected" in looking.get("/bench/benchmark").text
    assert validate_benchmark(copied / "benchmark") == ()


def test_more_is_drawn_when_the_first_draw_is_done(tmp_path: Path) -> None:
    write_benchmark(benchmark(20), tmp_path / "bench")
    looking = client(open_app(None, (tmp_path,), port=8377))
    looking.cookies.set("sightline-person", "ana")
    page = looking.get("/review/bench").text
    csrf = forgery_token(page)
    assert "0 of 100 by you" in page and "labels right" not in page

    def decide(pair: tuple[str, str]) -> str:
        fields = {"csrf": csrf, "task": pair[0], "picture": pair[1], "decision": "relevant"}
        return looking.post("/review/bench", data=fields, follow_redirects=False).headers["location"]

    sample = sample_of(benchmark(20), labels_of(benchmark(20)), 160)
    first = set(sample_of(benchmark(20), labels_of(benchmark(20))))
    at = datetime(2026, 1, 1, tzinfo=UTC)
    said = tuple(Review(task, "ana", "relevant", at, picture) for task, picture in sample if (task, picture) in first)
    write_benchmark(replace(benchmark(20), reviews=said[:1]), tmp_path / "bench", force=True)
    assert "19 more decisions until a share of right labels is shown" in looking.get("/review/bench").text
    write_benchmark(replace(benchmark(20), reviews=said), tmp_path / "bench", force=True)
    done = looking.get("/review/bench").text
    assert "Nothing is waiting for you" in done and "labels right" in done and "Grade: <b>" in done
    assert re.search(r'href="/review/bench\?sample=150"[^>]*>Draw 50 more<', done)
    assert "100 of 150 by you" in looking.get("/review/bench?sample=150").text
    rest = [pair for pair in sample if pair not in first]
    for pair in [pair for pair in sample_of(benchmark(20), labels_of(benchmark(20)), 150) if pair in rest][:5]:
        decide(pair)
    assert "105 of 150 by you" in looking.get("/review/bench").text  # The part that was begun belongs to the queue.


def test_the_advice_of_the_app_works_as_printed_and_keeps_the_grade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made = benchmark(40)
    at, labels = datetime(2026, 1, 1, tzinfo=UTC), labels_of(made)
    said = [("relevant" if labels.now[pair] else "not relevant", pair) for pair in sample_of(made, labels)]
    wrong = next(place for place, (word, _) in enumerate(said) if word == "relevant")
    said[wrong] = ("not relevant", said[wrong][1])
    reviews = tuple(Review(task, "ana", word, at, picture) for word, (task, picture) in said)
    write_benchmark(replace(made, reviews=reviews), tmp_path / "some folder" / "bench")
    looking = client(open_app(None, (tmp_path / "some folder",), port=8377))
    looking.cookies.set("sightline-person", "ana")
    page = looking.get("/review/bench").text
    assert "Grade: <b>checked</b>" in page
    (command,) = re.findall(r"<code>(sightline make review [^<]*)</code>", page)
    assert command in looking.get("/review/bench/people").text
    main(shlex.split(unescape(command))[1:])
    assert "Grade of the labels: checked" in capsys.readouterr().err
    assert grade_of(read_benchmark(tmp_path / "some folder" / "bench-v2")).name == "checked"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    elsewhere = looking.get("/review/bench").text
    assert "sightline make review BENCH --people 1</code>, with the folder of this benchmark" in elsewhere
    assert str(tmp_path) not in elsewhere


def test_two_who_disagree_settle_it_in_the_app(tmp_path: Path) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    every = [(task, id_) for task, id_ in labels_of(benchmark(1)).now]
    said = [Review(task, who, "relevant", at, id_) for who in ("ana", "ben") for task, id_ in every]
    said[0] = replace(said[0], decision="not relevant")
    write_benchmark(replace(benchmark(1), reviews=tuple(said)), tmp_path / "bench")
    looking = client(open_app(None, (tmp_path,), port=8377))
    looking.cookies.set("sightline-person", "ana")
    page = looking.get("/review/bench").text
    assert "You and ben disagree." in page and "what you decide now settles it" in page
    fields = {"csrf": forgery_token(page), "task": "t0", "picture": "p0", "decision": "not relevant"}
    assert looking.post("/review/bench", data=fields, follow_redirects=False).status_code == 303
    held = read_benchmark(tmp_path / "bench")
    assert held.reviews[-1].decision == "not relevant: resolved"
    votes = votes_of(standing(held.reviews), held, labels_of(held).now)
    assert votes["t0", "p0"] == {"ana": False, "ben": False}
    assert "Nothing is waiting for you" in looking.get("/review/bench").text
    told = looking.get("/review/bench/people").text
    assert "None: no two people disagree" in told and '<td class="number">1</td></tr>' in told
    out, applied = review_benchmark(tmp_path / "bench")
    changed = next(one for one in applied.changes if one.picture == "p0")
    assert (changed.was, changed.now) == (1, 0) and out.name == "bench-v2"


def test_the_app_tells_of_a_version_that_people_mended(copied: Path) -> None:
    held = read_benchmark(copied / "benchmark")
    task = next(task for task in held.tasks.values() if task.kind == "rank")
    truth = held.truth[task.id]
    assert isinstance(truth, Relevance)
    missed = next(id_ for id_ in held.corpus.pictures if id_ not in truth.grades)
    at = datetime(2026, 11, 15, tzinfo=UTC)
    said = tuple(Review(task.id, name, "relevant", at, missed) for name in ("ana", "ben"))
    write_benchmark(replace(held, reviews=said), copied / "benchmark")
    review_benchmark(copied / "benchmark")
    looking = client(open_app(None, (copied,), port=8377))
    assert (
        "Version 1 as corrected by people: 0 labels changed, 1 labels added" in looking.get("/bench/benchmark-v2").text
    )
    told = looking.get("/bench/benchmark-v2/task", params={"id": task.id}).text
    assert missed in told and "ben: relevant" in told


def test_what_was_missed_is_looked_for_only_where_a_task_may_be_answered(copied: Path) -> None:
    looking = client(open_app(None, (copied,), port=8377, embedder=Colours()))
    looking.cookies.set("sightline-person", "ana")
    held = read_benchmark(copied / "benchmark")
    task = next(task for task in held.tasks.values() if task.kind == "select" and task.scope.owner)
    allowed = Scopes(held.corpus).pictures(task.scope)
    page = looking.get("/review/benchmark", params={"task": task.id, "whole": "1", "find": "boat"}).text
    found = set(re.findall(r'name="picture" value="([^"]+)"', page))
    assert allowed is not None and found and found <= allowed
