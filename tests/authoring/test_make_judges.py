"""Judges against people: agreement, precision and recall by tier, weighted back to all that a judge judged."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import orjson
import pytest

from sightline.authoring.audit import audit_benchmark, people_lines, people_summary
from sightline.authoring.judge_quality import judge_quality
from sightline.benchmark.folder import write_benchmark
from sightline.benchmark.label_quality import check_labels
from sightline.benchmark.validation import validate_benchmark
from sightline.cli import main
from sightline.types import Benchmark, Candidate, Corpus, Judgment, Picture, PictureSet, Relevance, Review, Task

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
Pair = tuple[str, str]


def judged(truth: dict[Pair, bool], says: dict[Pair, int], tiers: dict[Pair, str], checked: set[Pair]) -> Benchmark:
    tasks = dict.fromkeys(task for task, _ in truth)
    pictures = dict.fromkeys(picture for _, picture in truth)
    return Benchmark(
        "b",
        Corpus("b", {id_: Picture(id_, id_) for id_ in pictures}),
        {task: Task(task, "rank", (task,)) for task in tasks},
        {task: Relevance({pair[1]: says[pair] for pair in truth if pair[0] == task}) for task in tasks},
        candidates=tuple(Candidate(*pair, tier) for pair, tier in tiers.items()),  # type: ignore[arg-type]
        judgments=tuple(Judgment(*pair, "judge", grade) for pair, grade in says.items()),
        reviews=tuple(
            Review(pair[0], "ana", "relevant" if truth[pair] else "not relevant", NOON, pair[1])
            for pair in sorted(checked)
        ),
    )


def test_figures_are_those_of_all_judgments_when_all_are_checked() -> None:
    truth = {("q1", "a"): True, ("q1", "b"): True, ("q1", "c"): False, ("q2", "a"): True, ("q2", "b"): False}
    says = {("q1", "a"): 2, ("q1", "b"): 0, ("q1", "c"): 1, ("q2", "a"): 1, ("q2", "b"): 0}
    tiers = {pair: "seed" if pair[1] == "a" else "hard" for pair in truth}
    (found,) = judge_quality(judged(truth, says, tiers, set(truth)))
    assert (found.judge, found.judged, found.checked) == ("judge", 5, 5)
    assert found.rates.agreement.mean == pytest.approx(3 / 5)
    assert found.rates.precision.mean == pytest.approx(2 / 3) and found.rates.precision.n == 3
    assert found.rates.recall.mean == pytest.approx(2 / 3) and found.rates.recall.n == 3
    assert found.by_tier["seed"].precision.mean == 1.0 and found.by_tier["hard"].recall.mean == 0.0
    assert {grade: one.mean for grade, one in found.by_grade.items()} == {"0": 0.5, "1": 0.5, "2": 1.0}


def test_a_sample_by_tier_is_weighted_back_and_its_intervals_hold_the_truth() -> None:
    rng, held, rounds = np.random.default_rng(3), {"precision": 0, "recall": 0, "agreement": 0}, 40
    for _ in range(rounds):
        truth: dict[Pair, bool] = {}
        says: dict[Pair, int] = {}
        tiers: dict[Pair, str] = {}
        for task in range(50):
            for place in range(12):
                pair = f"q{task}", f"p{place}"
                tiers[pair] = "positive" if place < 3 else "easy"
                truth[pair] = bool(rng.random() < (0.8 if place < 3 else 0.1))
                says[pair] = int(rng.random() < (0.85 if truth[pair] else 0.1))
        drawn = {tier: [pair for pair, one in tiers.items() if one == tier] for tier in ("positive", "easy")}
        checked = {pairs[at] for pairs in drawn.values() for at in rng.choice(len(pairs), 60, replace=False)}
        (found,) = judge_quality(judged(truth, says, tiers, checked))
        both = sum(truth[pair] and says[pair] > 0 for pair in truth)
        exact = {
            "precision": both / sum(grade > 0 for grade in says.values()),
            "recall": both / sum(truth.values()),
            "agreement": sum(truth[pair] == (says[pair] > 0) for pair in truth) / len(truth),
        }
        for name, value in exact.items():
            one = getattr(found.rates, name)
            held[name] += one.low <= value <= one.high
    assert all(count >= 0.85 * rounds for count in held.values()), held


def test_without_reviews_or_judgments_there_is_nothing_to_say() -> None:
    pairs = {("q", "a"): True, ("q", "b"): False}
    found = judged(pairs, dict.fromkeys(pairs, 1), dict.fromkeys(pairs, "hard"), set())
    assert judge_quality(found) == () and people_summary(check_labels(found), ())["judges"] == {}
    reviewed = replace(found, judgments=(), reviews=(Review("q", "ana", "relevant", NOON, "a"),))
    assert judge_quality(reviewed) == () and not list(people_lines(check_labels(found), ()))


def test_the_card_and_the_audit_tell_how_far_each_judge_can_be_trusted() -> None:
    truth = {(f"q{task}", f"p{place}"): place < 2 for task in range(6) for place in range(4)}
    says = {pair: int(pair[1] in ("p0", "p2")) for pair in truth}
    audit = audit_benchmark(judged(truth, says, dict.fromkeys(truth, "hard"), set(truth)))
    summary = audit.summary()
    assert summary["judges"]["judge"]["precision"]["mean"] == pytest.approx(0.5)
    assert summary["judges"]["judge"]["relevant_by_grade"]["1"]["mean"] == pytest.approx(0.5)
    assert summary["relevant_by_people"]["mean"] == pytest.approx(0.5)
    assert orjson.loads(orjson.dumps(audit.to_json()))["judges"][0]["checked"] == 24
    text = audit.to_text()
    assert (
        "judge against people, 24 of 24 judgments checked" in text and "of grade 1, people find relevant: 0.500" in text
    )
    assert asdict(audit.checked)["labels"]["right"]["mean"] == pytest.approx(0.5)


def test_a_benchmark_that_was_not_made_here_is_audited_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pictures = ("a", "b", "c")
    mined = Benchmark(
        "mined",
        Corpus("mined", {id_: Picture(id_, f"https://example.org/{id_}.jpg") for id_ in pictures}),
        {"q": Task("q", "select", ("that outing",))},
        {"q": PictureSet(("a", "b"))},
        candidates=(Candidate("q", "c", "hard"),),
        reviews=tuple(Review("q", "ana", "relevant", NOON, id_) for id_ in pictures),
    )
    write_benchmark(mined, tmp_path / "BENCH")
    main(["make", "audit", str(tmp_path / "BENCH"), "--workspace", str(tmp_path / "ws")])
    told = capsys.readouterr().out
    assert "Pictures of sets that people find right: 0.667" in told and "Without looking" not in told
    assert "Sets that are right as a whole: 0.000" in told
    assert json.loads((tmp_path / "BENCH" / "audit.json").read_text())["summary"]["labels_checked"] == 3
    assert validate_benchmark(tmp_path / "BENCH") == () and not (tmp_path / "ws").exists()
