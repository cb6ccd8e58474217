"""The stage `audit`: shortcuts that are planted are found, honest benchmarks pass, and checked labels get a figure."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judging_tools import judging, judging_config, ready
from make_tools import with_calls, write_rows
from sightline.authoring import project as files
from sightline.authoring.audit import AuditStage, audit_benchmark, worded
from sightline.authoring.audit_pools import find_look_alikes, find_weak_queries
from sightline.authoring.judge import JudgeStage
from sightline.authoring.judge_quality import find_drift
from sightline.authoring.judge_verdicts import JudgeVerdict
from sightline.benchmark.label_quality import label_quality, stratified
from sightline.benchmark.review_decisions import decision_of
from sightline.calls.session import CallOptions
from sightline.runs.blind_baselines import blind_baselines
from sightline.types import (
    Annotation,
    Benchmark,
    Candidate,
    Corpus,
    Estimate,
    Group,
    Picture,
    Relevance,
    Review,
    Rights,
    Task,
    Tier,
)
from sightline.types.task_table import Tasks

WORDS = ("dog", "boat", "tree", "lamp", "house", "bird", "train", "cake", "chair", "cloud")


def benchmark(
    names: dict[str, str] | None = None,
    notes: dict[str, str] | None = None,
    groups: tuple[Group, ...] = (),
    reviews: tuple[Review, ...] = (),
    per_query: int = 3,
    pool: int = 9,
    **changes: Any,
) -> Benchmark:
    """Ten queries with pools of nine, of which three fit; picture `p12` belongs to query 1."""
    pictures, tasks, truth, candidates = {}, {}, {}, []
    tiers: tuple[Tier, ...] = ("seed", "positive", "positive", "hard", "hard", "near", "near", "easy", "easy")
    for number, word in enumerate(WORDS):
        ids = [f"p{number}{place}" for place in range(pool)]
        for id_ in ids:
            pictures[id_] = Picture(id_, f"file:///{id_}", rights=Rights(source=(names or {}).get(id_)))
        task = f"q{number}"
        tasks[task] = Task(task, "rank", (f"a {word}",), extra={"seeds": [ids[0]]})
        truth[task] = Relevance({id_: int(place < per_query) for place, id_ in enumerate(ids)})
        candidates += [Candidate(task, id_, tier) for id_, tier in zip(ids, tiers, strict=False)]
    said = tuple(Annotation(id_, text) for id_, text in (notes or {}).items())
    found = Benchmark("b", Corpus("b", pictures, groups), tasks, truth, annotations=said, candidates=tuple(candidates))
    from dataclasses import replace

    return replace(found, reviews=reviews, **changes)


def by_name(found: Benchmark) -> dict[str, int]:
    return {one.by: len(one.solved) for one in blind_baselines(found)}


def test_captions_that_give_the_answer_away_solve_every_query() -> None:
    notes = {f"p{number}{place}": f"the {word}" for number, word in enumerate(WORDS) for place in range(3)}
    solved = by_name(benchmark(notes=notes))
    assert solved["captions"] == 10
    assert solved["all"] == 10
    assert solved["random"] <= 1


def test_file_names_and_metadata_that_leak_are_problems() -> None:
    found = benchmark({f"p{number}{place}": word for number, word in enumerate(WORDS) for place in range(3)})
    audit = audit_benchmark(found)
    assert any("10 of 10 queries are solved by metadata alone" in problem for problem in audit.problems())
    assert "metadata *" in audit.to_text()


def test_an_honest_benchmark_is_not_solved_blind() -> None:
    found = by_name(benchmark())
    assert found["majority"] == 0
    assert "captions" not in found
    assert not any("solved by" in problem for problem in audit_benchmark(benchmark()).problems())


def test_pictures_that_fit_everything_are_found_by_popularity() -> None:
    found = benchmark()
    truth = {
        task: Relevance({**{f"common{number}": 1 for number in range(3)}, **dict.fromkeys(one.grades, 0)})
        for task, one in found.truth.items()
        if isinstance(one, Relevance)
    }
    pictures = {**found.corpus.pictures, **{f"common{n}": Picture(f"common{n}", "x") for n in range(3)}}
    from dataclasses import replace

    popular = replace(found, truth=truth, corpus=Corpus("b", pictures))
    assert by_name(popular)["majority"] == 10


# --- twins and queries -------------------------------------------------------------------------------------------


def test_look_alikes_judged_differently_and_like_the_seed_are_named() -> None:
    groups = (Group("g", "duplicate", ("p00", "p05")), Group("h", "duplicate", ("p11", "p21")))
    found = find_look_alikes(benchmark(groups=groups))
    assert found.disagree == (("q0", "p00", "p05"),)
    assert found.seed_twins == (("q0", "p05"),)
    assert found.shared == (("q1", "q2"),)
    assert (found.pictures, found.groups, found.across_splits) == (4, 2, ())


def test_look_alikes_across_splits_are_named() -> None:
    from dataclasses import replace

    found = benchmark(groups=(Group("h", "duplicate", ("p11", "p21")), Group("k", "duplicate", ("p31", "p32"))))
    tasks = {
        id_: replace(task, labels={"split": ("test" if id_ in ("q1", "q3") else "train",)})
        for id_, task in found.tasks.items()
    }
    assert find_look_alikes(replace(found, tasks=Tasks(tasks))).across_splits == ("h",)


@pytest.mark.parametrize(("relevant", "where"), [(0, "none"), (1, "only_seed"), (6, "many")])
def test_queries_with_no_or_too_many_positives_are_named(relevant: int, where: str) -> None:
    found = find_weak_queries(benchmark(per_query=relevant))
    counts = {name: len(getattr(found, name)) for name in ("none", "only_seed", "many")}
    assert counts == {name: 10 * (name == where) for name in counts}


def test_equal_queries_are_named_whatever_the_order_of_their_words() -> None:
    from dataclasses import replace

    found = benchmark()
    tasks = {**found.tasks, "q1": replace(found.tasks["q1"], prompt=("The red Dog",))}
    tasks["q2"] = replace(found.tasks["q2"], prompt=("dog, red",))
    assert find_weak_queries(replace(found, tasks=Tasks(tasks))).equal == (("q1", "q2"),)


# --- drift -------------------------------------------------------------------------------------------------------


def verdicts(queries: int, judge: str, says: object) -> list[JudgeVerdict]:
    found = []
    for number in range(queries):
        for place in range(1, 5):
            grade = says(number, place)  # type: ignore[operator]
            found.append(
                JudgeVerdict(
                    f"q{number}", f"p{place}", judge, int(grade), place=place, shown=4, at=number * 10.0 + place
                )
            )
    return found


def test_a_judge_that_prefers_the_first_picture_is_seen() -> None:
    rng = np.random.default_rng(0)
    (found,) = find_drift(verdicts(30, "j", lambda _, place: place <= 2 and rng.random() < 0.8))
    assert found.depends_on_position
    assert found.position is not None
    assert found.position.mean < -0.5


def test_an_even_judge_shows_no_effect_of_position_or_time() -> None:
    rng = np.random.default_rng(3)
    (found,) = find_drift(verdicts(40, "j", lambda _, place: rng.random() < 0.4))
    assert not found.depends_on_position
    assert not found.changes


def test_a_judge_that_tires_is_seen_by_its_agreement_with_the_panel() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random((40, 5)) < 0.5
    said = [
        *verdicts(40, "a", lambda number, place: truth[number, place]),
        *verdicts(40, "b", lambda number, place: truth[number, place]),
        *verdicts(40, "tired", lambda number, place: truth[number, place] if number < 25 else rng.random() < 0.5),
    ]
    found = {one.judge: one for one in find_drift(said)}
    assert found["tired"].changes
    assert not found["a"].changes


def test_verdicts_without_place_and_time_tell_nothing() -> None:
    (found,) = find_drift([JudgeVerdict("q", f"p{number}", "j", 1) for number in range(50)])
    assert (found.position, found.p) == (None, None)


# --- reviews -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        ("relevant", False, True),
        ("Not relevant", True, False),
        ("not_relevant", True, False),
        ("2", False, True),
        ("0", True, False),
        ("accept", True, True),
        ("accept", False, False),
        ("Reject", True, False),
        ("wrong", False, True),
        ("perhaps", True, None),
    ],
)
def test_decisions_are_read(text: str, label: bool, expected: bool | None) -> None:
    assert decision_of(text, label) == expected


def review(task: str, picture: str, decision: str, person: str = "ana", hour: int = 0) -> Review:
    return Review(task, person, decision, datetime(2026, 11, 1, tzinfo=UTC) + timedelta(hours=hour), picture)


def test_quality_is_weighted_back_to_all_labels() -> None:
    """All seeds checked and right, but of the many others only few were checked, and half of those are wrong."""
    seeds = [review(f"q{number}", f"p{number}0", "accept") for number in range(10)]
    others = [review(f"q{number}", f"p{number}4", "accept" if number % 2 else "reject") for number in range(10)]
    found = label_quality(benchmark(reviews=(*seeds, *others)))
    assert found is not None
    assert (found.checked, found.labels, found.people) == (20, 90, 1)
    # Ten seed labels are right, and half of the twenty hard ones; plainly counted it would be 75 %.
    assert found.right.mean == pytest.approx((10 * 1.0 + 20 * 0.5) / 30)
    assert found.right.low < found.right.mean < found.right.high
    assert found.by_tier["seed"].mean == 1.0
    assert found.relevant.mean == 1.0
    assert found.not_relevant.mean == 0.5
    assert len(found.wrong) == 5


def test_people_vote_and_the_last_word_of_each_counts() -> None:
    reviews = (
        review("q0", "p00", "no", "ana"), review("q0", "p00", "yes", "ana", hour=1), review("q0", "p00", "yes", "ben"),
        review("q0", "p00", "no", "cy"), review("q0", "p03", "maybe"), review("q0", "p04", "no", "ana"),
        review("q0", "p04", "no", "ben"),
    )  # fmt: skip
    found = label_quality(benchmark(reviews=reviews))
    assert found is not None
    assert (found.checked, found.right.mean, found.people) == (2, 1.0, 3)
    assert found.unread == {"maybe": 1}
    assert found.people_alpha is not None


def test_all_right_has_an_interval_below_one() -> None:
    found = label_quality(benchmark(reviews=tuple(review(f"q{n}", f"p{n}0", "accept") for n in range(10))))
    assert found is not None
    assert (found.right.mean, found.right.method) == (1.0, "wilson")
    assert 0.6 < found.right.low < 1


def test_nobody_checked_anything() -> None:
    assert label_quality(benchmark()) is None
    whole_task = Review("q0", "ana", "reject", datetime(2026, 11, 1, tzinfo=UTC))
    assert label_quality(benchmark(reviews=(whole_task,))) is None


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000))
def test_the_interval_holds_the_mean_and_stays_within_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = [(f"q{number}", f"p{place}") for number in range(int(rng.integers(1, 15))) for place in range(4)]
    tiers = {pair: str(rng.choice(["seed", "hard", "easy"])) for pair in pairs}
    checked = [pair for pair in pairs if rng.random() < 0.6] or pairs[:1]
    right = {pair: bool(rng.random() < 0.8) for pair in checked}
    found = stratified(right, tiers)
    assert 0 <= found.low <= found.mean + 1e-12
    assert found.mean - 1e-12 <= found.high <= 1


def test_the_interval_covers_the_truth_of_a_clustered_benchmark() -> None:
    rng, covered, rounds = np.random.default_rng(5), 0, 60
    for _ in range(rounds):
        pairs, truth, tiers = [], {}, {}
        for task in range(60):
            good = rng.beta(8, 2)
            for place in range(12):
                pair = f"q{task}", f"p{place}"
                pairs.append(pair)
                tiers[pair] = "seed" if place < 2 else "hard"
                truth[pair] = bool(rng.random() < (0.97 if place < 2 else good))
        checked = {pair for pair in pairs if rng.random() < (0.6 if tiers[pair] == "seed" else 0.2)}
        found = stratified({pair: truth[pair] for pair in pairs if pair in checked}, tiers)
        covered += found.low <= sum(truth.values()) / len(truth) <= found.high
    assert covered >= 0.88 * rounds


# --- the stage ---------------------------------------------------------------------------------------------------


def test_the_stage_writes_json_and_text(tmp_path: Path) -> None:
    project = ready(tmp_path, judging_config(random_seed=-1))
    with judging() as server:
        JudgeStage().run(with_calls(project, CallOptions(base_url=server.base_url)))
    now = datetime(2026, 11, 15, tzinfo=UTC).isoformat()
    line = {"task": "q0", "picture": "00_red.png", "person": "ana", "decision": "relevant", "when": now}
    write_rows(project.path(files.REVIEWS), [line])
    done = AuditStage().run(project)
    found = json.loads(project.path(files.AUDIT).read_text())
    assert found["summary"]["queries"] == 4
    assert found["summary"]["labels_checked"] == 1
    assert found["summary"]["label_quality"]["reason"] == "19 more decisions are needed"
    assert found["summary"]["coverage"]["value"] == pytest.approx(1.0, abs=0.7)
    # Names such as 00_red.png give the answer away, and the audit says so.
    assert any("solved by names alone" in problem for problem in found["problems"])
    text = project.path(files.AUDIT).with_suffix(".txt").read_text()
    assert "Labels that people find right: unknown; needs 19 more decisions, 1 of 28 checked by 1" in text
    assert "names *" in text
    assert done.counts["labels checked"] == 1


def test_one_review_is_no_interval() -> None:
    assert worded(Estimate(0.0, 0.0, 0.793, 1, 0, 0.0, method="wilson")) == "0.000 (too few tasks (1))"
    assert worded(Estimate(0.5, 0.4, 0.6, 100, 0, 0.5, method="wilson")) == "0.500 (0.400–0.600)"
