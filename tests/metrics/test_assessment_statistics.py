"""Draws are unbiased, intervals hold at every moment, a judge helps and never harms."""

from __future__ import annotations

import math
from importlib import import_module
from itertools import islice, product

import numpy as np
import pytest
from numpy.typing import NDArray

from sightline.metrics.assessment.betting import Bets, anytime_p, interval, log_wealth
from sightline.metrics.assessment.draws import Draws, side_sizes
from sightline.metrics.assessment.estimates import Judge, assess_target, observations
from sightline.metrics.assessment.inquiry import Inquiry
from sightline.metrics.assessment.pool import NOTHING, RankedPool, discounts, encode
from sightline.metrics.assessment.votes import agreement_of, gain, is_for, people_needed

CONTRAST = np.array([[-1.0, 1.0]])
Floats = NDArray[np.float64]


def _pool(queries: int = 40, systems: int = 2, seed: int = 0, depth: int = 5) -> RankedPool:
    rng = np.random.default_rng(seed)
    rows = [[rng.choice(12, depth, replace=False) for _ in range(queries)] for _ in range(systems)]
    return RankedPool(np.array(rows, np.int32))


def _gains(pool: RankedPool, seed: int = 1) -> dict[tuple[int, int], float]:
    rng = np.random.default_rng(seed)
    easy = rng.random(pool.queries)
    items = pool.items(0, pool.queries)
    pairs = zip(items.query.tolist(), items.picture.tolist(), strict=True)
    return {pair: float(rng.random() < easy[pair[0]] * (1 - pair[1] / 20)) for pair in pairs}


def _truth(pool: RankedPool, gains: dict[tuple[int, int], float], contrast: Floats) -> float:
    """By the definition: the mean DCG, system by system, rank by rank."""
    weight = discounts(pool.depth)
    total = 0.0
    for system, query, rank in product(range(pool.systems), range(pool.queries), range(pool.depth)):
        picture = int(pool.places[system, query, rank])
        if picture != NOTHING:
            total += float(contrast[system]) * weight[rank] * gains[query, picture] / pool.queries
    return total


def _draws(pool: RankedPool, seed: int, *, duels: bool = True, contrasts: Floats = CONTRAST) -> Draws:
    return Draws(pool, contrasts, duels, side_sizes(pool, [contrasts], duels)[0][0], (seed,), {})


def _drawn_gains(draws: Draws, gains: dict[tuple[int, int], float]) -> Floats:
    return np.array([gains[pair] for pair in draws.pairs])


def test_ten_perfect_results_score_one() -> None:
    pool = RankedPool(np.arange(30, dtype=np.int32).reshape(1, 3, 10))
    assert pool.items(0, 3).weights.sum() == pytest.approx(1)


def test_queries_count_by_their_shares() -> None:
    plain = _pool(queries=3)
    shares = np.array([0.5, 0.5, 0.0])
    items = RankedPool(plain.places, shares).items(0, 3)
    gains = {(query, picture): float(query == 0) for query, picture in product(range(3), range(12))}
    first = items.weights[:, 0] @ [gains[key] for key in zip(items.query.tolist(), items.picture.tolist(), strict=True)]
    assert first == pytest.approx(0.5)
    drawn = Draws(RankedPool(plain.places, shares), CONTRAST, True, np.zeros(3), (0,), {})
    assert drawn.pairs_of(0) == []
    sizes = side_sizes(RankedPool(plain.places, shares), [CONTRAST], True)[0][0]
    assert sizes[2] == 0 < sizes[0]


def test_encoding_counts_unknown_ids_and_keeps_their_rank() -> None:
    places, unknown = encode({"q": ["x", "b", "b", "a"], "other": ["a"]}, {"q": 0, "r": 1}, {"a": 0, "b": 1}, 3)
    assert places.tolist() == [[NOTHING, 1, 0], [NOTHING] * 3]
    assert unknown == 1


@pytest.mark.parametrize("duels", [True, False])
def test_every_draw_is_unbiased(duels: bool) -> None:
    pool = _pool(queries=6)
    pool.places[0, 2] = NOTHING  # The first system failed there.
    gains = _gains(pool)
    contrasts = CONTRAST if duels else np.array([[1.0, 0.0], [-1.0, 1.0]])
    truth = np.array([_truth(pool, gains, contrast) for contrast in contrasts])
    found = []
    for seed in range(1500):
        draws = _draws(pool, seed, duels=duels, contrasts=contrasts)
        draws.pairs_of(7)
        drawn, known = draws.upto(8), _drawn_gains(draws, gains)
        values = [
            observations(drawn, known, target, signed=bool((contrast < 0).any())).values
            for target, contrast in enumerate(contrasts)
        ]
        found.append(np.array(values))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(1500)
    assert np.all(np.abs(mean - truth[:, None]) < 4.5 * error + 1e-12)


@pytest.mark.parametrize("duels", [True, False])
def test_observations_stay_within_their_bounds(duels: bool) -> None:
    pool, rng = _pool(), np.random.default_rng(2)
    gains = _gains(pool)
    contrasts = CONTRAST if duels else np.array([[1.0, 0.0], [-1.0, 1.0]])
    for seed, target in product(range(30), range(len(contrasts))):
        draws = _draws(pool, seed, duels=duels, contrasts=contrasts)
        draws.pairs_of(60)
        drawn, known = draws.upto(60), _drawn_gains(draws, gains)
        judge = Judge(rng.normal(size=(len(known), 2)) * 2, rng.normal(size=(len(known), len(contrasts))) / 100)
        for each in (None, judge):
            bets = observations(drawn, known, target, signed=bool((contrasts[target] < 0).any()), judge=each)
            assert np.all((bets.values >= bets.low - 1e-9) & (bets.values <= bets.high + 1e-9))


def test_when_everything_is_judged_the_difference_is_exact() -> None:
    pool = _pool(queries=8)
    gains = _gains(pool)
    draws = _draws(pool, 3)
    number = 0
    while draws.pairs_of(number):
        number += 1
    found = assess_target(
        draws.upto(number), _drawn_gains(draws, gains), 0, draws.reach_at(number), signed=True, level=0.95
    )
    truth = _truth(pool, gains, CONTRAST[0])
    assert (found.low, found.high) == pytest.approx((truth, truth), abs=1e-9)
    shown = [pair for draw in range(number) for pair in draws.pairs_of(draw)]
    assert len(shown) == len(set(shown))  # Nothing is asked twice.


def test_intervals_hold_at_every_moment() -> None:
    pool, rng = _pool(queries=150), np.random.default_rng(4)
    gains = _gains(pool)
    truth = _truth(pool, gains, CONTRAST[0])
    items = pool.items(0, pool.queries)
    keys = list(zip(items.query.tolist(), items.picture.tolist(), strict=True))
    known, sizes = np.array([gains[key] for key in keys]), side_sizes(pool, [CONTRAST], True)[0][0]
    outside = {None: 0, 2.0: 0, 0.0: 0, -2.0: 0}  # No judge, a good one, one at chance, and one that is always wrong.
    for seed in range(200):
        draws = Draws(pool, CONTRAST, True, sizes, (seed,), {key: at for at, key in enumerate(keys)})
        draws.pairs_of(150)
        drawn = draws.upto(150)
        for skill in outside:
            belief = (skill or 0.0) * (2 * known - 1) + rng.normal(size=len(known))
            judge = None if skill is None else Judge(np.column_stack([belief, belief]), items.weights @ CONTRAST.T)
            bets = observations(drawn, known, 0, signed=True, judge=judge)
            most = max(float(log_wealth(bets, truth).max()), float(log_wealth(bets.mirrored, -truth).max()))
            outside[skill] += most >= math.log(2 / 0.05)
    assert all(count <= 0.05 * 200 for count in outside.values())


def test_a_good_judge_saves_decisions_and_one_at_chance_costs_next_to_nothing() -> None:
    pool, rng = _pool(queries=300), np.random.default_rng(5)
    gains = _gains(pool)
    items = pool.items(0, pool.queries)
    keys = list(zip(items.query.tolist(), items.picture.tolist(), strict=True))
    known = np.array([gains[key] for key in keys])
    spread: dict[str, list[float]] = {"none": [], "good": [], "chance": []}
    for seed in range(20):
        draws = _draws(pool, seed)
        draws.pairs.update({key: at for at, key in enumerate(keys)})
        draws.pairs_of(300)
        for kind, found in spread.items():
            belief = (2 * known - 1) * (1.5 if kind == "good" else 0.0) + rng.normal(size=len(known))
            judge = None if kind == "none" else Judge(np.column_stack([belief, belief]), items.weights @ CONTRAST.T)
            found.append(float(observations(draws.upto(300), known, 0, signed=True, judge=judge).values[100:].var()))
    assert np.mean(spread["good"]) < 0.6 * np.mean(spread["none"])
    assert np.mean(spread["chance"]) < 1.05 * np.mean(spread["none"])


def _bets(values: Floats) -> Bets:
    return Bets(values, np.zeros(len(values)), np.ones(len(values)))


def test_the_interval_is_where_the_wealth_stays_below_the_limit_and_p_agrees_with_it() -> None:
    values = np.random.default_rng(6).beta(3, 2, 400)
    low, high = interval(_bets(values), 0.95, (0.0, 1.0))
    for mean in np.linspace(0.01, 0.99, 99):
        excluded = anytime_p(_bets(values), float(mean), float(mean)) <= 0.05
        assert excluded == (not low <= mean <= high) or min(abs(mean - low), abs(mean - high)) < 1e-6
    assert low < 0.6 < high
    assert high - low < 0.12


def test_wealth_is_a_fair_game_when_the_mean_is_right() -> None:
    """All outcomes of six coins, weighted by their chance: the expected capital is exactly 1."""
    chance = 0.3
    outcomes = np.array(list(product([0.0, 1.0], repeat=6)))
    likely = np.prod(np.where(outcomes > 0, chance, 1 - chance), axis=1)
    wealth = np.array([np.exp(log_wealth(_bets(values), chance)) for values in outcomes])
    assert likely @ wealth == pytest.approx(np.ones(6))


def test_width_is_near_that_of_confseq() -> None:
    try:
        betting = import_module("confseq.betting")
    except (ImportError, AttributeError) as error:  # It needs a compiler, and its 0.0.11 a numpy below 2.
        pytest.skip(f"confseq can't be used here: {error}")
    values = np.random.default_rng(7).beta(3, 2, 500)
    theirs_low, theirs_high = betting.betting_cs(values, alpha=0.05, breaks=500, running_intersection=True)
    low, high = interval(_bets(values), 0.95, (0.0, 1.0))
    assert high - low < 1.2 * (theirs_high[-1] - theirs_low[-1])
    assert max(low, theirs_low[-1]) < min(high, theirs_high[-1])


def test_three_systems_need_more_evidence_than_two_and_the_best_is_found() -> None:
    rng = np.random.default_rng(8)
    relevant = rng.random((200, 40)) < 0.3
    noise = (0.2, 0.8, 3.0)
    ranked = [np.argsort(-(relevant + sd * rng.normal(size=relevant.shape)), axis=1)[:, :10] for sd in noise]
    inquiry = Inquiry(RankedPool(np.array(ranked, np.int32)), "compare", seed=1)
    told = 0
    while not inquiry.settled(0.02):
        item = next(inquiry.undecided(0.02))
        inquiry.tell(item, float(relevant[item]))
        told += 1
    assert int(np.argmax(inquiry.ahead())) == 0
    assert told < 300
    assert inquiry.difference((0, 2)).high < 0


def test_scores_are_known_to_the_width_that_was_asked_for() -> None:
    rng = np.random.default_rng(9)
    relevant = rng.random((100, 40)) < 0.4
    ranked = np.argsort(-(relevant + rng.normal(size=(2, *relevant.shape))), axis=2)[:, :, :10].astype(np.int32)
    inquiry = Inquiry(RankedPool(ranked), "score")
    while not inquiry.settled(0.1):
        for item in list(islice(inquiry.undecided(0.1), 20)):
            inquiry.tell(item, float(relevant[item]))
    for system in range(2):
        truth = float(np.take_along_axis(relevant, ranked[system], axis=1).mean(axis=0) @ discounts(10))
        found = inquiry.score(system)
        assert found is not None
        assert found.low <= truth <= found.high
        assert found.half_width <= 0.1


def test_the_outlook_narrows_with_the_root_of_the_decisions() -> None:
    inquiry = Inquiry(_pool(), "compare")
    assert inquiry.reachable(400) == pytest.approx(inquiry.reachable(100) / 2)


def test_votes_come_to_a_gain() -> None:
    assert gain({}) is None
    assert gain({"ann": None}) == 0.5
    assert gain({"ann": 3, "bob": None}) == 1
    assert gain({"ann": 3, "bob": 0, "cy": 1}) == pytest.approx(1 / 3)


def test_one_pair_in_five_goes_to_two_people_and_disagreements_to_a_third() -> None:
    wanted = [people_needed({}, str(number), 3, 0) for number in range(2000)]
    assert wanted.count(2) == pytest.approx(400, abs=60)
    assert people_needed({"ann": 3, "bob": 1}, "x", 3, 0) == 3
    assert people_needed({"ann": 3, "bob": 1}, "x", 2, 0) == 2
    assert people_needed({"ann": None}, "x", 1, 0) == 1
    owners = [[is_for(name, str(number), ["ann", "bob"]) for name in ("ann", "bob")] for number in range(300)]
    assert all(sum(one) == 1 for one in owners)
    assert 100 < sum(one[0] for one in owners) < 200


def test_agreement_is_that_of_the_first_two() -> None:
    found = agreement_of([{"ann": 3, "bob": 3}, {"ann": 0, "bob": 0}, {"ann": 1, "bob": 3, "cy": 3}, {"ann": 2}])
    assert found is not None
    assert found.n == 3
    assert found.agreement.value == pytest.approx(2 / 3)
    assert agreement_of([{"ann": 2}]) is None
