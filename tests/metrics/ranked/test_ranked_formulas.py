"""Every ranked metric against the plainest possible reading of its formula, on generated input."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from sightline.metrics.context import Context
from sightline.metrics.ranked_batch import batch_of
from sightline.metrics.ranked_formula import formula
from sightline.metrics.registry import metric
from sightline.types import PictureSet, Ranking, Relevance

IDS = [f"p{i}" for i in range(14)]
grades_st = st.dictionaries(st.sampled_from(IDS), st.integers(-2, 4), max_size=10)
ranking_st = st.lists(st.sampled_from(IDS), unique=True, max_size=12)
cutoff_st = st.sampled_from([None, 1, 2, 3, 5, 10, 20])


def relevant(grades: dict[str, int], picture: str, rel: int = 1) -> bool:
    return grades.get(picture, -1) >= rel


def dcg(gains: list[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))


def ndcg(gain: Callable[[int], float]) -> Callable[..., float]:
    def plain(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
        best = dcg([gain(grade) for grade in sorted(grades.values(), reverse=True) if grade > 0][:k])
        got = dcg([gain(max(grades.get(picture, 0), 0)) for picture in ranking[:k]])
        return got / best if best else 0.0

    return plain


def precision_sum(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    total = 0.0
    for place, picture in enumerate(ranking[:k], 1):
        if relevant(grades, picture, rel):
            total += sum(relevant(grades, other, rel) for other in ranking[:place]) / place
    return total


def positives(grades: dict[str, int], rel: int) -> int:
    return sum(grade >= rel for grade in grades.values())


def ap(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    r = positives(grades, rel)
    return precision_sum(grades, ranking, k, rel) / r if r else 0.0


def ap_min(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    r = positives(grades, rel)
    return precision_sum(grades, ranking, k, rel) / min(r, k or r) if r else 0.0


def p(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    size = k or len(ranking)
    return sum(relevant(grades, picture, rel) for picture in ranking[:k]) / size if size else 0.0


def recall(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    r = positives(grades, rel)
    return sum(relevant(grades, picture, rel) for picture in ranking[:k]) / r if r else 0.0


def rr(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    return next((1 / i for i, picture in enumerate(ranking[:k], 1) if relevant(grades, picture, rel)), 0.0)


def success(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    return float(any(relevant(grades, picture, rel) for picture in ranking[:k]))


def rprec(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    return recall(grades, ranking, positives(grades, rel) or None, rel)


def bpref(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    r = positives(grades, rel)
    n = sum(0 <= grade < rel for grade in grades.values())
    total, wrong = 0.0, 0
    for picture in ranking:
        if relevant(grades, picture, rel):
            total += 1 - (min(wrong, r) / min(n, r) if wrong else 0)
        elif grades.get(picture, -1) >= 0:
            wrong += 1
    return total / r if r else 0.0


def rbp(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    return 0.2 * sum(0.8**i for i, picture in enumerate(ranking[:k]) if relevant(grades, picture, rel))


def judged(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    top = ranking[:k]
    return sum(grades.get(picture, -1) >= 0 for picture in top) / len(top) if top else math.nan


def err(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    total, still = 0.0, 1.0
    for place, picture in enumerate(ranking[:k], 1):
        stop = (2 ** max(grades.get(picture, 0), 0) - 1) / 2**4
        total += still * stop / place
        still *= 1 - stop
    return total


def utility(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    return float(sum(1 if relevant(grades, picture, rel) else -1 for picture in ranking[:k]))


def iprec(grades: dict[str, int], ranking: list[str], k: int | None, rel: int) -> float:
    needed = math.floor(positives(grades, rel) * 0.3 + 0.9)
    found = [p(grades, ranking, place, rel) for place in range(1, len(ranking) + 1)
             if sum(relevant(grades, picture, rel) for picture in ranking[:place]) >= needed]  # fmt: skip
    return max(found, default=0.0) if positives(grades, rel) else 0.0


# name, options, has a cut-off, has `rel`, the plain reading
METRICS = [
    ("ndcg", "", True, False, ndcg(float)),
    ("ndcg", "gain=exp", True, False, ndcg(lambda grade: 2.0**grade - 1)),
    ("ap", "", True, True, ap),
    ("map", "", True, True, ap),
    ("ap_min", "", True, True, ap_min),
    ("map_min", "", True, True, ap_min),
    ("p", "", True, True, p),
    ("recall", "", True, True, recall),
    ("rr", "", True, True, rr),
    ("mrr", "", True, True, rr),
    ("success", "", True, True, success),
    ("hit", "", True, True, success),
    ("rprec", "", False, True, rprec),
    ("bpref", "", False, True, bpref),
    ("rbp", "", True, True, rbp),
    ("err", "max=4", True, False, err),
    ("utility", "", True, True, utility),
    ("iprec", "recall=0.3", False, True, iprec),
    ("judged", "", True, False, judged),
]


def named(base: str, options: list[str], cutoff: int | None) -> str:
    inside = ",".join(filter(None, options))
    return base + (f"({inside})" if inside else "") + ("" if cutoff is None else f"@{cutoff}")


@pytest.mark.parametrize(("base", "option", "cut", "levelled", "plain"), METRICS)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_agrees_with_the_plain_reading(
    base: str, option: str, cut: bool, levelled: bool, plain: Callable[..., float], data: st.DataObject
) -> None:
    tasks = data.draw(st.lists(st.tuples(grades_st, ranking_st), min_size=1, max_size=4))
    cutoff = data.draw(cutoff_st) if cut else None
    rel = data.draw(st.integers(1, 3)) if levelled else 1
    name = named(base, [option, f"rel={rel}" if levelled else ""], cutoff)
    expected = [plain(grades, ranking, cutoff, rel) for grades, ranking in tasks]
    pairs = [(Relevance(grades), Ranking(tuple(ranking))) for grades, ranking in tasks]

    many = formula(name)(batch_of(pairs))
    one_by_one = [metric(name)(truth, ranking, Context()) for truth, ranking in pairs]

    assert many == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert [math.nan if value is None else value for value in one_by_one] == pytest.approx(many, nan_ok=True, abs=0)


@settings(deadline=None, max_examples=60)
@given(grades=grades_st, ranking=ranking_st, cutoff=cutoff_st)
def test_condensed_is_the_standard_metric_without_unjudged_results(
    grades: dict[str, int], ranking: list[str], cutoff: int | None
) -> None:
    without = [picture for picture in ranking if grades.get(picture, -1) >= 0]
    for base in ("ndcg", "ap", "p", "rr", "recall", "rbp", "success", "ap_min"):
        condensed = metric(named(base, ["unjudged=condensed"], cutoff))
        standard = metric(named(base, [], cutoff))
        truth = Relevance(grades)
        assert condensed(truth, Ranking(tuple(ranking)), Context()) == standard(
            truth, Ranking(tuple(without)), Context()
        )


@settings(deadline=None, max_examples=60)
@given(grades=st.lists(st.integers(0, 4), min_size=2, max_size=12), k=st.integers(1, 12), data=st.data())
def test_ndcg_is_scikit_learns_where_everything_is_ranked(grades: list[int], k: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(grades))))
    truth = Relevance({f"p{i}": grade for i, grade in enumerate(grades)})
    scores = np.empty(len(grades))
    scores[list(order)] = np.arange(len(grades), 0, -1)
    got = metric(f"ndcg@{k}")(truth, Ranking(tuple(f"p{i}" for i in order)), Context())
    assert got == pytest.approx(ndcg_score([grades], [scores], k=k), abs=1e-12)


@settings(deadline=None, max_examples=100)
@given(grades=grades_st, ranking=ranking_st, k=st.integers(1, 12))
def test_impossible_combinations_never_occur(grades: dict[str, int], ranking: list[str], k: int) -> None:
    def value(name: str) -> float:
        got = metric(name)(Relevance(grades), Ranking(tuple(ranking)), Context())
        assert got is not None
        return got

    assert value(f"rr@{k}") <= value(f"success@{k}")
    assert value(f"rr@{k}") <= value("rr")
    assert value(f"recall@{k}") <= value("recall")
    assert value(f"ap@{k}") <= value(f"ap_min@{k}") + 1e-12
    every = ("ndcg", "ndcg(gain=exp)", "ap", "ap_min", "p", "recall", "rr", "success", "rbp")
    for name in (*(f"{base}@{k}" for base in every), *every, "rprec", "bpref"):
        assert 0 <= value(name) <= 1 + 1e-12, name


@settings(deadline=None, max_examples=100)
@given(positive=st.sets(st.sampled_from(IDS)), ranking=ranking_st)
def test_binary_identity_at_one(positive: set[str], ranking: list[str]) -> None:
    """What DISBench's table shows: MAP@1 = NDCG@1 = P@1 when AP is divided by min(k, R)."""
    truth = PictureSet(tuple(positive))
    values = {name: metric(name)(truth, Ranking(tuple(ranking)), Context()) for name in ("map_min@1", "ndcg@1", "p@1")}
    assert len(set(values.values())) == 1, values


@settings(deadline=None, max_examples=100)
@given(grades=grades_st, ranking=ranking_st, k=st.integers(1, 12), data=st.data())
def test_adding_a_relevant_result_never_lowers_recall(
    grades: dict[str, int], ranking: list[str], k: int, data: st.DataObject
) -> None:
    new = [picture for picture in IDS if relevant(grades, picture) and picture not in ranking]
    if not new:
        return
    place = data.draw(st.integers(0, len(ranking)))
    longer = [*ranking[:place], data.draw(st.sampled_from(new)), *ranking[place:]]
    for name in (f"recall@{k}", "recall"):
        before = metric(name)(Relevance(grades), Ranking(tuple(ranking)), Context())
        after = metric(name)(Relevance(grades), Ranking(tuple(longer)), Context())
        assert before is not None and after is not None and after >= before
