"""The draw of labels for people to check: known probabilities, nested, stable, and what it says of precision holds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sightline.authoring.review import review_benchmark
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.grade import Grade, drawn_decisions, grade_of
from sightline.benchmark.label_quality import check_labels
from sightline.benchmark.provenance import CARD_FIELD, Provenance
from sightline.benchmark.review_decisions import Pair, labels_of, standing
from sightline.benchmark.review_sample import SAMPLE, STEP, allocation, sample_of
from sightline.types import Benchmark, Candidate, Corpus, Judgment, Picture, Relevance, Review, Task, Tier

AT = datetime(2026, 1, 1, tzinfo=UTC)
_COUNTS: dict[Tier, tuple[int, float]] = {
    "seed": (1, 1.0), "positive": (9, 0.3), "hard": (10, 0.06), "near": (5, 0.03), "random": (5, 0.01),
}  # fmt: skip
TIERS = tuple((tier, share) for tier, (count, share) in _COUNTS.items() for _ in range(count))


def judged(seed: int, precision: float, queries: int = 80) -> tuple[Benchmark, dict[Pair, bool]]:
    """Labels as a built-in judge gives them, few of them relevant, and what is true of each."""
    lot = random.Random(seed)
    ids = [f"p{at}" for at in range(len(TIERS))]
    grades = {
        f"{seed}-{at}": {id_: int(lot.random() < share) for id_, (_, share) in zip(ids, TIERS, strict=True)}
        for at in range(queries)
    }
    truth = {
        (task, id_): lot.random() < (precision if grade else 0.04)
        for task, held in grades.items()
        for id_, grade in held.items()
    }
    made = Benchmark(
        "judged",
        Corpus("judged", {id_: Picture(id_, f"{id_}.jpg") for id_ in ids}),
        {task: Task(task, "rank", (task,)) for task in grades},
        {task: Relevance(held) for task, held in grades.items()},
        card={CARD_FIELD: Provenance("made").to_json()},
        candidates=tuple(Candidate(t, id_, tier) for t in grades for id_, (tier, _) in zip(ids, TIERS, strict=True)),
        judgments=tuple(Judgment(task, id_, "a/judge", g) for task, held in grades.items() for id_, g in held.items()),
    )
    return made, truth


def decided(made: Benchmark, truth: dict[Pair, bool], pairs: Iterable[Pair], person: str = "me") -> Benchmark:
    said = (("relevant" if truth[pair] else "not relevant", pair) for pair in pairs)
    reviews = (
        Review(pair[0], person, word, AT + timedelta(seconds=at), pair[1]) for at, (word, pair) in enumerate(said)
    )
    return replace(made, reviews=(*made.reviews, *reviews))


@given(st.dictionaries(st.text("abcd", min_size=1), st.integers(0, 60), max_size=8), st.integers(0, 150), st.data())
def test_a_larger_draw_takes_no_fewer_of_any_stratum(sizes: dict[str, int], most: int, data: st.DataObject) -> None:
    relevant = data.draw(st.sets(st.sampled_from(sorted(sizes)))) if sizes else set()
    small, large = (allocation(sizes, relevant, size) for size in (most, most + 7))
    assert small.total() == min(most, sum(sizes.values())) and small <= large
    assert all(large[name] <= size for name, size in sizes.items())
    if most >= len(sizes):
        assert all(small[name] for name, size in sizes.items() if size)


def test_most_decisions_are_on_labels_that_say_relevant() -> None:
    made, _ = judged(1, 0.5)
    labels = labels_of(made)
    sample = sample_of(made, labels)
    assert len(set(sample)) == SAMPLE and 58 <= sum(labels.now[pair] for pair in sample) <= 64
    assert set(sample) < set(sample_of(made, labels, SAMPLE + STEP))
    drawn, sizes = Counter(labels.stratum[pair] for pair in sample), Counter(labels.stratum.values())
    assert set(drawn) == set(sizes)  # Each has a probability above zero.
    said = {name: sizes[name] for name in sizes if name.endswith(", relevant")}
    for name, size in said.items():
        assert abs(drawn[name] - 60 * size / sum(said.values())) <= 2


def test_what_people_change_or_leave_out_moves_no_other_label() -> None:
    made, _ = judged(2, 0.5)
    before = sample_of(made, labels_of(made), SAMPLE)
    changed = {
        task: replace(one, extra={"reviewed": {"labels": {"p0": 1}}}) if task == "2-0" else one
        for task, one in made.tasks.items()
    }
    other = {task: Relevance({**one.grades, "p0": 0}) if task == "2-0" else one for task, one in made.truth.items()}  # type: ignore[union-attr]
    mended = replace(made, tasks=changed, truth=other)
    assert sample_of(mended, labels_of(mended), SAMPLE) == before
    fewer = replace(
        made,
        tasks={task: one for task, one in made.tasks.items() if task != "2-3"},
        truth={task: one for task, one in made.truth.items() if task != "2-3"},
        candidates=tuple(one for one in made.candidates if one.task != "2-3"),
    )
    after = sample_of(fewer, labels_of(fewer), SAMPLE)
    assert len(set(after) & {pair for pair in before if pair[0] != "2-3"}) >= len(before) - 8


def graded(made: Benchmark, truth: dict[Pair, bool], size: int) -> Grade:
    return grade_of(decided(made, truth, sample_of(made, labels_of(made), size)))


def test_checked_takes_few_decisions_and_its_interval_holds() -> None:
    """`benchmarks/trust.py review` has more cells; the draw of as many of each tier took 375 to 975 decisions."""
    held, taken = [], []
    for seed in range(40):
        made, truth = judged(seed, (0.5, 0.7, 0.85, 0.95)[seed % 4])
        said = [truth[pair] for pair, grade in labels_of(made).now.items() if grade]
        size, found = SAMPLE, graded(made, truth, SAMPLE)
        while found.name != "checked":
            size += STEP
            found = graded(made, truth, size)
        assert found.precision is not None
        held.append(found.precision.low <= sum(said) / len(said) <= found.precision.high)
        taken.append(size)
    assert sum(held) >= 36 and max(taken) <= 200 and sorted(taken)[20] <= 100


def test_shares_are_weighted_by_strata_and_have_no_bias() -> None:
    misses = []
    for seed in range(40):
        made, truth = judged(seed, 0.6)
        labels = labels_of(made)
        found = check_labels(decided(made, truth, sample_of(made, labels, 200))).labels
        assert found is not None
        real = sum(truth[pair] == (grade > 0) for pair, grade in labels.now.items()) / len(labels.now)
        misses.append(found.right.mean - real)
    assert abs(sum(misses) / len(misses)) < 0.012  # Unweighted, labels that say relevant would make it 0.2 too low.


def test_disagreements_are_named_until_they_are_settled() -> None:
    made, truth = judged(3, 0.7)
    sample = sample_of(made, labels_of(made))
    one = decided(made, truth, sample)
    assert drawn_decisions(one) is not None
    against = {pair: not truth[pair] for pair in sample[:8]}
    two = decided(one, against, sample[:8], "ben")
    assert drawn_decisions(two) is None
    assert "decided on 92 drawn labels, and disagree on 8" in grade_of(two).why
    late = (
        Review(task, "me", f"{'relevant' if truth[task, id_] else 'not relevant'}: resolved", AT + timedelta(1), id_)
        for task, id_ in sample[:8]
    )
    settled = replace(two, reviews=(*two.reviews, *late))
    assert drawn_decisions(settled) == frozenset(sample)
    found, alone = check_labels(settled).labels, check_labels(one).labels
    assert found is not None and alone is not None and found.disputed == 0 and found.right == alone.right
    assert found.people_alpha is not None and found.people_alpha < 1  # They did disagree.


def test_a_benchmark_of_few_labels_says_that_it_needs_more() -> None:
    made, truth = judged(4, 0.7, queries=2)
    assert "the benchmark has 60: add queries" in grade_of(decided(made, truth, labels_of(made).now)).why


def test_what_was_found_in_queries_that_are_left_out_still_counts(tmp_path: Path) -> None:
    """A query leaves because its seed is wrong: without it, seeds that nobody looked at would seem to be right."""
    misses, held = [], []
    for seed in range(12):
        made, truth = judged(seed, 0.5)
        made = replace(made, tasks={id_: replace(one, extra={"seeds": ["p0"]}) for id_, one in made.tasks.items()})
        reviewed = decided(made, truth, sample_of(made, labels_of(made), 200))
        write_benchmark(reviewed, tmp_path / f"{seed}")
        out, applied = review_benchmark(tmp_path / f"{seed}", people=1)
        after = read_benchmark(out)
        found, labels = grade_of(after), labels_of(after).now
        assert applied.left_out and found.name == "checked" and found.precision is not None
        said = [truth[pair] for pair, grade in labels.items() if grade]
        misses.append(found.precision.mean - sum(said) / len(said))
        held.append(found.precision.low <= sum(said) / len(said) <= found.precision.high)
    assert abs(sum(misses) / len(misses)) < 0.04 and sum(held) >= 10


def test_what_one_person_checked_stays_checked_in_the_next_versions(tmp_path: Path) -> None:
    """Queries that are left out change the sizes of strata: the draw is still the one that was decided on."""
    checked = left_out = 0
    for seed in range(16):
        made, truth = judged(seed, (0.7, 0.8, 0.85, 0.95)[seed % 4], queries=40)
        made = replace(made, tasks={id_: replace(one, extra={"seeds": ["p0"]}) for id_, one in made.tasks.items()})
        reviewed = decided(made, truth, sample_of(made, labels_of(made)))
        before = grade_of(reviewed)
        if before.name != "checked":
            continue
        write_benchmark(reviewed, tmp_path / f"{seed}")
        out, applied = review_benchmark(tmp_path / f"{seed}", people=1)
        second = read_benchmark(out)
        found = grade_of(second)
        assert (found.name, found.decisions) == ("checked", before.decisions)
        gone = {next(iter(second.tasks)): "reject: dull"}
        later = tuple(Review(task, "me", word, AT + timedelta(days=1)) for task, word in gone.items())
        write_benchmark(replace(second, reviews=(*second.reviews, *later)), out, force=True)
        third = grade_of(read_benchmark(review_benchmark(out, people=1)[0]))
        assert (third.name, third.decisions) == ("checked", before.decisions)
        checked, left_out = checked + 1, left_out + len(applied.left_out)
    assert checked >= 10 and left_out >= 10


def test_the_basis_of_a_grade_counts_what_it_speaks_of() -> None:
    made, truth = judged(3, 0.7)
    sample = sample_of(made, labels_of(made))
    some = grade_of(decided(made, truth, sample[:50])).to_json()
    assert some["decisions"] == 50 and "decided on 50 drawn labels" in some["why"]
    two = decided(decided(made, truth, sample), {pair: not truth[pair] for pair in sample[:18]}, sample[:18], "ben")
    disputed = grade_of(two).to_json()
    assert disputed["decisions"] == 82 and "decided on 82 drawn labels, and disagree on 18" in disputed["why"]


def test_decisions_with_and_without_a_time_zone_stand_in_one_order() -> None:
    first = Review("q", "ana", "reject", datetime(1, 1, 1))
    second = Review("q", "ana", "accept", datetime(2026, 1, 1, 12, tzinfo=UTC))
    third = Review("q", "ana", "withdraw", datetime(2026, 1, 1, 13))
    assert standing((third, second, first)) == (first,)
