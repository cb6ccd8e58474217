"""Reviews that count: what enough people settled is a new version of the benchmark, and nothing is lost on the way."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sightline.authoring.review import review_benchmark
from sightline.authoring.review_changes import apply_reviews, raised
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.label_quality import check_labels, label_quality
from sightline.benchmark.review_decisions import PEOPLE, labels_of, settled, standing, votes_of
from sightline.benchmark.validation import validate_benchmark
from sightline.cli import main
from sightline.errors import UserError
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
    Trace,
    Traces,
)
from sightline.types.task_table import Tasks

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
PICTURES = tuple(f"p{number}" for number in range(8))


def benchmark(*reviews: Review) -> Benchmark:
    tasks = (
        Task("rank", "rank", ("a red boat",), extra={"seeds": ["p0"], "similarity": {"p0": 1.0}}),
        Task("set", "select", ("the tents of that outing",), extra={"review": "waiting"}),
        Task("answer", "answer", ("how many boats?",)),
        Task("choose", "choose", ("which?",), options=(Option("A", ("one",)), Option("B", ("two",)))),
        Task("describe", "describe", ("describe it",)),
    )
    return Benchmark(
        "all",
        Corpus("all", {id_: Picture(id_, f"pictures/{id_}.jpg") for id_ in PICTURES}),
        {task.id: task for task in tasks},
        {
            "rank": Relevance({"p0": 2, "p1": 1, "p2": 0, "p3": 0}),
            "set": PictureSet(("p0", "p1")),
            "answer": Answer("three", aliases=("3",)),
            "choose": Choice("A"),
            "describe": Traces((Trace("", "a boat"),)),
        },
        candidates=(
            *(Candidate("set", picture, "positive") for picture in ("p0", "p1")),
            Candidate("set", "p2", "hard"),
        ),
        judgments=(Judgment("rank", "p2", "judge", 0, 0.9, "no"),),
        reviews=reviews,
    )


def said(task: str, picture: str | None, decision: str, *people: str, hour: int = 0) -> list[Review]:
    return [Review(task, person, decision, NOON + timedelta(hours=hour), picture) for person in people]


def grades(found: Benchmark) -> dict[str, int]:
    truth = found.truth["rank"]
    assert isinstance(truth, Relevance)
    return dict(truth.grades)


def test_two_who_agree_outrank_the_label_and_one_alone_does_not() -> None:
    reviews = (*said("rank", "p2", "relevant", "ana", "ben"), *said("rank", "p1", "reject", "ana"))
    applied = apply_reviews(benchmark(*reviews))
    assert grades(applied.benchmark) == {"p0": 2, "p1": 1, "p2": 1, "p3": 0}
    (change,) = applied.changes
    assert (change.picture, change.was, change.now, change.people) == ("p2", 0, 1, ("ana", "ben"))
    assert applied.undecided == 1 and applied.benchmark.version == "2"
    assert grades(apply_reviews(benchmark(*reviews), people=1).benchmark)["p1"] == 0


def test_a_third_decides() -> None:
    reviews = [*said("rank", "p1", "accept", "ana"), *said("rank", "p1", "reject", "ben")]
    assert apply_reviews(benchmark(*reviews)).changes == ()
    applied = apply_reviews(benchmark(*reviews, *said("rank", "p1", "not relevant", "eva")))
    assert grades(applied.benchmark)["p1"] == 0 and applied.changes[0].people == ("ben", "eva")


def test_grades_are_the_lower_median_within_the_scale() -> None:
    applied = apply_reviews(benchmark(*said("rank", "p3", "1", "ana"), *said("rank", "p3", "3", "ben")))
    assert grades(applied.benchmark)["p3"] == 1
    applied = apply_reviews(benchmark(*said("rank", "p3", "3", "ana", "ben")))
    assert grades(applied.benchmark)["p3"] == 2  # Nothing in this benchmark is graded higher.


def test_of_a_benchmark_without_labels_peoples_grades_become_the_labels() -> None:
    graded = [*said("rank", "p1", "0", "ana"), *said("rank", "p2", "3", "ana"), *said("rank", "p3", "2", "ana")]
    unlabelled = replace(benchmark(*graded), judgments=())
    unlabelled = replace(unlabelled, truth={**unlabelled.truth, "rank": Relevance({})})
    once = apply_reviews(unlabelled, people=1).benchmark
    assert grades(once) == {"p1": 0, "p2": 3, "p3": 2}
    later = (*said("rank", "p2", "1", "ana", hour=1), *said("rank", "p4", "3", "ben"))
    more = replace(once, reviews=(*once.reviews, *later))
    assert grades(apply_reviews(more, people=1).benchmark) == {"p1": 0, "p2": 1, "p3": 2, "p4": 3}
    nothing = replace(unlabelled, reviews=tuple(said("rank", "p1", "0", "ana")))
    assert grades(apply_reviews(nothing, people=1).benchmark) == {"p1": 0}  # What others found may still fit.


def test_missed_pictures_become_labels() -> None:
    reviews = (*said("rank", "p7", "relevant", "ana", "ben"), *said("set", "p7", "yes", "ana", "ben"))
    found = apply_reviews(benchmark(*reviews)).benchmark
    assert grades(found)["p7"] == 1 and found.truth["set"] == PictureSet(("p0", "p1", "p7"))
    assert Candidate("set", "p7", "pooled") in found.candidates
    assert {change.what for change in apply_reviews(benchmark(*reviews)).changes} == {"new label"}


def test_words_are_the_newest_ones_and_what_they_were_is_kept() -> None:
    reviews = [*said("rank", None, "reword: a red ship", "ana"), *said("rank", None, "reword: a ship", "ben", hour=1)]
    task = apply_reviews(benchmark(*reviews)).benchmark.tasks["rank"]
    assert task.text == "a ship" and task.extra["reviewed"] == {"words": "a red boat"}
    assert "similarity" not in task.extra  # It was that of other words.


def test_rejected_queries_leave_with_the_reason() -> None:
    applied = apply_reviews(
        benchmark(*said("set", None, "reject: nobody asks this", "ana"), *said("set", None, "reject", "ben"))
    )
    assert "set" not in applied.benchmark.tasks and "set" not in applied.benchmark.truth
    (gone,) = applied.left_out
    assert (gone.reason, gone.people) == ("nobody asks this", ("ana", "ben"))
    assert all(one.task != "set" for one in applied.benchmark.candidates) and applied.benchmark.reviews == ()


@pytest.mark.parametrize(
    ("picture", "reason"), [(("p0",), "seed not relevant"), (("p0", "p1"), "nothing relevant is left")]
)
def test_a_query_without_its_seed_leaves(picture: tuple[str, ...], reason: str) -> None:
    reviews = [line for one in picture for line in said("rank", one, "no", "ana", "ben")]
    assert [one.reason for one in apply_reviews(benchmark(*reviews)).left_out] == [reason]


def test_accepted_queries_wait_no_more_and_others_can_be_left_out() -> None:
    reviews = said("set", None, "accept", "ana", "ben")
    applied = apply_reviews(benchmark(*reviews))
    assert applied.benchmark.tasks["set"].extra["review"] == "accepted" and applied.accepted == ("set",)
    only = apply_reviews(benchmark(*reviews), accepted_only=True)
    assert list(only.benchmark.tasks) == ["set"]
    assert {one.reason for one in only.left_out} == {"no person has decided about it"}


def test_answers_are_corrected_where_two_give_the_same_and_leave_where_not() -> None:
    reviews = (
        *said("answer", None, "answer: Four", "ana"), *said("answer", None, "answer: four", "ben"),
        *said("choose", None, "option: B", "ana", "ben"), *said("choose", None, "option: A", "eva"),
        *said("describe", None, "reject", "ana", "ben"),
    )  # fmt: skip
    applied = apply_reviews(benchmark(*reviews))
    found = applied.benchmark
    assert isinstance(found.truth["answer"], Answer) and found.truth["answer"].text.lower() == "four"
    assert found.truth["choose"] == Choice("B")
    assert [(one.task, one.reason) for one in applied.left_out] == [("describe", "its answer is wrong")]
    assert found.tasks["answer"].extra["reviewed"] == {"answer": "three"}
    votes = votes_of(standing(found.reviews), found, labels_of(found).now)
    assert set(votes["answer", ""].values()) == {True} and votes["choose", ""]["eva"] is False
    other = apply_reviews(benchmark(*said("answer", None, "answer: 4", "ana"), *said("answer", None, "reject", "ben")))
    assert [one.task for one in other.left_out] == ["answer"]
    right = apply_reviews(benchmark(*said("answer", None, "answer: 3", "ana"), *said("answer", None, "accept", "ben")))
    assert right.left_out == () and right.accepted == ("answer",)


DECISIONS = ("accept", "reject", "relevant", "not relevant", "0", "1", "2", "withdraw")


@settings(deadline=None, max_examples=80)
@example([("rank", "p1", "a", "accept"), ("rank", "p1", "b", "2")])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(("rank", "set")),
            st.sampled_from(PICTURES[1:6]),
            st.sampled_from("abc"),
            st.sampled_from(DECISIONS),
        ),
        max_size=25,
    )
)
def test_applying_again_changes_nothing_and_votes_keep_their_meaning(lines: list[tuple[str, str, str, str]]) -> None:
    reviews = [
        Review(task, person, decision, NOON + timedelta(seconds=place), picture)
        for place, (task, picture, person, decision) in enumerate(lines)
    ]
    before = benchmark(*reviews)
    applied = apply_reviews(before)
    after = applied.benchmark
    labels = labels_of(after)
    was = votes_of(standing(reviews), before, labels_of(before).now)
    now = votes_of(standing(after.reviews), after, labels.now)
    assert {pair: votes for pair, votes in was.items() if pair[0] in after.tasks} == now
    assert apply_reviews(after).changes == () and apply_reviews(after).left_out == ()
    for pair, given_ in now.items():
        decided = settled(given_, PEOPLE)
        assert decided is None or (labels.now.get(pair, 0) > 0) == decided
    # What labels were made as is still known.
    first = labels_of(before).now
    assert all(labels.before.get(pair) == grade for pair, grade in first.items() if pair[0] in after.tasks)


def test_mended_labels_are_right_but_say_nothing_of_the_others() -> None:
    """Of forty labels of each kind ten were checked; of the hard ones half were wrong."""
    tasks = {f"q{number}": Task(f"q{number}", "rank", ("x",)) for number in range(20)}
    truth = {task: Relevance({"p0": 1, "p1": 1, "p2": 0, "p3": 0}) for task in tasks}
    tiers = {"p0": "positive", "p1": "positive", "p2": "hard", "p3": "hard"}
    reviews = [
        line
        for number in range(10)
        for line in (
            *said(f"q{number}", "p0", "relevant", "ana", "ben"),
            *said(f"q{number}", "p2", "relevant" if number % 2 else "not relevant", "ana", "ben"),
        )
    ]
    before = Benchmark(
        "b",
        Corpus("b", {id_: Picture(id_, id_) for id_ in tiers}),
        tasks,
        truth,
        candidates=tuple(Candidate(task, id_, tier) for task in tasks for id_, tier in tiers.items()),  # type: ignore[arg-type]
        reviews=tuple(reviews),
    )
    first = label_quality(before)
    assert first is not None and first.right.mean == pytest.approx(0.75)
    second = label_quality(apply_reviews(before).benchmark)
    # Twenty checked labels are right now; of the thirty hard ones that nobody saw half are wrong.
    assert second is not None and second.right.mean == pytest.approx((20 + 30 + 15) / 80)
    assert first.right.mean < second.right.mean < 1 and second.right.low < second.right.mean < second.right.high
    assert second.wrong == () and second.checked == 20
    assert second.by_tier["hard"].mean == pytest.approx((10 + 15) / 40) and second.by_tier["positive"].mean == 1.0
    # The five that became relevant are surely so; all other relevant labels are as good as those that were checked.
    assert second.relevant.mean == pytest.approx(1.0) and second.not_relevant.mean == pytest.approx((5 + 15) / 35)


def test_versions_are_raised() -> None:
    assert [raised(one) for one in ("1", "1.9", "v3", "2026-draft", "")] == ["2", "1.10", "v4", "2026-draft.1", ".1"]


# --- folders -----------------------------------------------------------------------------------------------------


def written(folder: Path, *reviews: Review) -> Path:
    (folder / "BENCH" / "pictures").mkdir(parents=True)
    for id_ in PICTURES:
        (folder / "BENCH" / "pictures" / f"{id_}.jpg").write_bytes(b"x")
    write_benchmark(benchmark(*reviews), folder / "BENCH", force=True)
    return folder / "BENCH"


REVIEWS = (
    *said("rank", "p2", "relevant", "ana", "ben"),
    *said("set", None, "reject: dull", "ana", "ben"),
    *said("rank", None, "reword: a ship", "ana"),
)


def test_any_benchmark_gets_a_next_version_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = written(tmp_path, *REVIEWS)
    before = {path.name: path.read_bytes() for path in source.iterdir() if path.is_file()}
    main(["make", "review", str(source), "--json", "--workspace", str(tmp_path / "ws"), "--dry-run"])
    assert json.loads(capsys.readouterr().out)["wrote"] == [] and not (tmp_path / "BENCH-v2").exists()
    main(["make", "review", str(source), "--json", "--workspace", str(tmp_path / "ws")])
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["labels changed"] == 1 and told["counts"]["queries left out"] == 1
    out = tmp_path / "BENCH-v2"
    assert validate_benchmark(out) == ()  # Its pictures are found from there, too.
    after = read_benchmark(out)
    assert (after.version, list(after.tasks)) == ("2", ["rank", "answer", "choose", "describe"])
    assert after.card["reviewed"]["reasons"] == {"dull": 1}  # type: ignore[index,call-overload]
    (log,) = json.loads((out / "review.json").read_text())["versions"]
    gone = log["left_out"][0]
    assert gone["truth"]["pictures"] == ["p0", "p1"] and len(gone["reviews"]) == 2 and gone["task"]["id"] == "set"
    assert {(one["what"], one["was"]) for one in log["changes"]} == {("label", 0), ("words", "a red boat")}
    assert before == {path.name: path.read_bytes() for path in source.iterdir() if path.is_file()}
    assert not (tmp_path / "ws").exists()


def test_versions_after_the_second_know_the_first(tmp_path: Path) -> None:
    source = written(tmp_path, *REVIEWS)
    out, _ = review_benchmark(source)
    more = replace(
        read_benchmark(out), reviews=(*read_benchmark(out).reviews, *said("rank", "p2", "no", "eva", "zoe", "cy"))
    )
    write_benchmark(more, out)
    last, applied = review_benchmark(out)
    assert last.name == "BENCH-v3" and applied.benchmark.version == "3"
    log = json.loads((last / "review.json").read_text())["versions"]
    assert [one["version"] for one in log] == ["2", "3"]
    assert applied.benchmark.tasks["rank"].extra["reviewed"] == {"labels": {"p2": 0}, "words": "a red boat"}


KILLED = """
import os, signal, sys
from pathlib import Path
from sightline.authoring.review import review_benchmark
from sightline.io import files, jsonl

source, moment = sys.argv[1:]

def killed(act, name_of):
    def acting(place, *more):
        if name_of(place) == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        act(place, *more)
    return acting

jsonl.write_whole = killed(jsonl.write_whole, lambda path: Path(path).name)
files._swap = killed(files._swap, lambda _: "swap")
review_benchmark(Path(source))
"""


@pytest.mark.parametrize("moment", ["review.json", "benchmark.json", "swap"])
def test_a_version_has_its_log_or_is_not_there(moment: str, tmp_path: Path) -> None:
    source, out = written(tmp_path, *REVIEWS), tmp_path / "BENCH-v2"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(source), moment], check=False)
    assert killed.returncode == -signal.SIGKILL and not out.exists()
    assert review_benchmark(source)[0] == out
    assert (out / "review.json").is_file() and validate_benchmark(out) == ()


def test_decisions_that_only_confirm_labels_are_recorded_without_a_new_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = written(tmp_path, *said("rank", "p1", "relevant", "ana", "ben"))
    header = json.loads((source / "benchmark.json").read_text())
    before, wrong = read_benchmark(source), {**header, "grade": "draft", "grade_basis": {}}
    (source / "benchmark.json").write_text(json.dumps(wrong))
    out, applied = review_benchmark(source)
    assert out == source and applied.confirmed == 1 and not (tmp_path / "BENCH-v2").exists()
    after = json.loads((source / "benchmark.json").read_text())
    assert after["grade"] == "given" and "who made" in after["grade_basis"]["why"]
    assert after["card"]["audit"]["labels_checked"] == 1
    assert read_benchmark(source).checksum == before.checksum and validate_benchmark(source) == ()
    main(["make", "review", str(source), "--workspace", str(tmp_path / "ws")])
    told = capsys.readouterr()
    assert "No label changed" in told.out + told.err and "Grade of the labels: given" in told.out + told.err


def test_the_folder_of_a_project_is_not_taken_for_that_of_the_new_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = written(tmp_path, *REVIEWS)
    with pytest.raises(SystemExit) as stopped:
        main(["make", "review", str(source), "--out", str(tmp_path / "next")])
    assert stopped.value.code == 2 and f"--bench {tmp_path / 'next'}" in capsys.readouterr().err
    assert not (tmp_path / "next").exists() and not (tmp_path / "BENCH-v2").exists()


def test_what_would_be_lost_or_change_nothing_is_refused(tmp_path: Path) -> None:
    source = written(tmp_path, *said("rank", "p2", "relevant", "ana"))
    with pytest.raises(UserError, match="change nothing"):
        review_benchmark(source)
    with pytest.raises(UserError, match="the version before"):
        review_benchmark(source, source, people=1)
    out, _ = review_benchmark(source, people=1)
    told = read_benchmark(out)
    write_benchmark(replace(told, reviews=(*told.reviews, *said("rank", "p3", "yes", "eva"))), out)
    with pytest.raises(UserError, match=r"people have reviewed .*: 1 decision would be lost"):
        review_benchmark(source, out, people=1)
    with pytest.raises(UserError, match="is version 1, which runs may belong to, and this is version 3"):
        review_benchmark(out, source, people=1)
    write_benchmark(benchmark(), tmp_path / "none")
    with pytest.raises(UserError, match="nobody has reviewed"):
        review_benchmark(tmp_path / "none")


def test_the_same_reviews_write_the_same_version_again_and_later_ones_a_better_one(tmp_path: Path) -> None:
    source = written(tmp_path, *REVIEWS)
    out, first = review_benchmark(source)
    assert review_benchmark(source)[1].benchmark.checksum == first.benchmark.checksum
    more = (*said("rank", None, "reword: a big ship", "ben", hour=1), *said("answer", None, "reject", "ana", "ben"))
    write_benchmark(benchmark(*REVIEWS, *more), source)
    assert review_benchmark(source)[0] == out
    after = read_benchmark(out)
    assert (after.version, after.tasks["rank"].text) == ("2", "a big ship") and "answer" not in after.tasks
    assert validate_benchmark(out) == () and len(json.loads((out / "review.json").read_text())["versions"]) == 1


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(("id_", "words"), [("other", "a red boat"), ("rank", "a tree")])
def test_another_benchmark_of_the_name_is_left_as_it_is(tmp_path: Path, id_: str, words: str, dry_run: bool) -> None:
    source = written(tmp_path, *REVIEWS)
    theirs = replace(benchmark(), version="2", tasks=Tasks({id_: Task(id_, "rank", (words,))}), truth={})
    there = write_benchmark(theirs, tmp_path / "theirs").checksum
    with pytest.raises(UserError, match='holds another benchmark "all": 1 task of it'):
        review_benchmark(source, tmp_path / "theirs", dry_run=dry_run)
    assert read_benchmark(tmp_path / "theirs").checksum == there


def test_each_kind_is_counted_as_what_it_is() -> None:
    reviews = (
        *said("rank", "p0", "relevant", "ana"), *said("rank", "p3", "2", "ana"),
        *said("set", "p0", "yes", "ana"), *said("set", "p1", "no", "ana"), *said("set", "p2", "no", "ana"),
        *said("set", None, "accept", "ana"),
        *said("answer", None, "accept", "ana"), *said("choose", None, "option: B", "ana"),
        *said("describe", None, "accept", "ana"), *said("describe", None, "reject", "ben"),
    )  # fmt: skip
    found = check_labels(benchmark(*reviews))
    assert found.labels is not None and (found.labels.checked, found.labels.labels) == (2, 4)
    assert found.sets is not None and (found.sets.checked, found.sets.labels) == (3, 3)
    assert found.sets.right.mean == pytest.approx(2 / 3) and found.sets.in_sight == 0
    assert found.exact is not None and (found.exact.mean, found.exact.n) == (0.0, 1)
    assert found.answers is not None and (found.answers.checked, found.answers.right.mean) == (2, 0.5)
    assert found.answers.disputed == 1 and set(found.answers.by_tier) == {"answer", "choose"}
    assert found.queries is not None
    assert (found.queries.queries, found.queries.accepted, found.queries.waiting) == (1, 1, 0)
    for estimate in (found.sets.right, found.exact, found.answers.right, found.queries.kept):
        assert 0 <= estimate.low <= estimate.mean <= estimate.high <= 1 and estimate.high - estimate.low > 0.1
    assert check_labels(benchmark()) == replace(
        check_labels(benchmark()), labels=None, sets=None, answers=None, queries=None
    )
