"""Draws with known probabilities: exact rates, fixed size, and Horvitz-Thompson sums that are right on average."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from trust_draws import (
    Draw,
    Stage,
    draw_pairs,
    extend_draw,
    informative_rates,
    proportional_rates,
    stratified_rates,
)

GROUPS = np.array([0, 0, 0, 1, 1, 2])


def _repeated(rates: np.ndarray, seeds: int) -> list[Draw]:
    return [draw_pairs(rates, GROUPS, seed) for seed in range(seeds)]


def test_each_pair_is_drawn_with_its_rate() -> None:
    rates = np.array([0.1, 0.5, 0.9, 0.3, 0.7, 0.5])
    found = np.mean([draw.drawn for draw in _repeated(rates, 6000)], axis=0)
    assert np.abs(found - rates).max() < 5 * 0.5 / np.sqrt(6000)


def test_a_draw_has_the_size_that_its_rates_add_up_to() -> None:
    rates = np.array([0.1, 0.5, 0.9, 0.3, 0.7, 0.5])
    assert {int(draw.drawn.sum()) for draw in _repeated(rates, 200)} == {3}


def test_no_query_gets_more_than_its_rates_allow() -> None:
    """The walk spreads decisions: a query whose rates add up to less than 1 never gets two."""
    rates = np.full(6, 0.3)
    assert all(np.bincount(GROUPS[draw.drawn], minlength=3)[1] <= 1 for draw in _repeated(rates, 300))


def test_horvitz_thompson_is_exact_over_every_possible_systematic_walk() -> None:
    """For a given order the draw depends on the start alone: average over all starts, exactly."""
    rates, values = np.array([0.25, 0.5, 0.75, 0.5]), np.array([3.0, -1.0, 7.0, 2.0])
    ends = np.cumsum(rates)
    edges = np.unique(np.concatenate([[0.0, 1.0], 1 - ends % 1]))
    total = 0.0
    for low, high in pairwise(edges.tolist()):
        drawn = np.diff(np.floor(ends + (low + high) / 2), prepend=0.0) > 0
        draw = Draw((Stage(rates, drawn),))
        total += (high - low) * float(draw.weights @ values)
    assert total == pytest.approx(values.sum(), abs=1e-12)


def test_two_stages_are_unbiased_even_when_the_second_follows_from_decisions() -> None:
    """All Poisson draws of a tiny population, enumerated: rates of stage two depend on the values seen in stage one."""
    values = np.array([5.0, 1.0, -2.0])
    first = np.array([0.4, 0.5, 0.6])
    total = 0.0
    for one in _subsets(3):
        chance = np.prod(np.where(one, first, 1 - first))
        second = np.where(one, 0.0, np.clip(0.3 + 0.1 * (values * one).sum() / 5, 0.1, 0.9))
        for other in _subsets(3):
            if np.any(other & one):
                continue
            likely = np.prod(np.where(one, 1.0, np.where(other, second, 1 - second)))
            draw = Draw((Stage(first, one), Stage(second, other)))
            total += chance * likely * _stage_sum(draw, values, (0.6, 0.4))
    assert total == pytest.approx(values.sum(), abs=1e-12)


def _stage_sum(draw: Draw, values: np.ndarray, shares: tuple[float, float]) -> float:
    """What the weights do, with shares that don't depend on the draw."""
    first, second = draw.stages
    return float(
        shares[0] * (values / first.rates)[first.drawn].sum()
        + shares[1] * (values[first.drawn].sum() + (values[second.drawn] / second.rates[second.drawn]).sum())
    )


def _subsets(n: int) -> list[np.ndarray]:
    return [np.array([bool(code >> at & 1) for at in range(n)]) for code in range(1 << n)]


def test_weights_of_two_stages_are_those_of_the_formula() -> None:
    draw = draw_pairs(np.full(6, 0.5), GROUPS, 1)
    more = extend_draw(draw, np.full(6, 0.5), GROUPS, 1)
    sizes = [stage.rates.sum() for stage in more.stages]
    shares = (float(sizes[0] / sum(sizes)), float(sizes[1] / sum(sizes)))
    values = np.array([2.0, 3.0, 5.0, 7.0, 11.0, 13.0])
    assert float(more.weights @ values) == pytest.approx(_stage_sum(more, values, shares))


def test_an_extended_draw_keeps_what_was_drawn_and_adds_others() -> None:
    draw = draw_pairs(np.full(6, 0.5), GROUPS, 3)
    more = extend_draw(draw, proportional_rates(np.where(draw.drawn, 0.0, 1.0), 2), GROUPS, 3)
    assert more.drawn.sum() == 5
    assert np.all(more.drawn[draw.drawn])
    with pytest.raises(UserError, match="nothing left"):
        extend_draw(more, np.where(more.drawn, 1.0, 0.0), GROUPS)


def test_extended_draws_are_unbiased_on_average() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(3, 1, size=40)
    groups = np.repeat(np.arange(10), 4)
    sums = []
    for seed in range(1500):
        draw = draw_pairs(np.full(40, 0.2), groups, seed)
        rates = proportional_rates(np.where(draw.drawn, 0.0, 1 + groups % 3), 8)
        sums.append(float(extend_draw(draw, rates, groups, seed).weights @ values))
    assert abs(np.mean(sums) - values.sum()) < 4 * np.std(sums) / np.sqrt(len(sums))


def test_strata_give_exactly_their_numbers() -> None:
    strata = np.array([0] * 30 + [1] * 7 + [2] * 2)
    rates = stratified_rates(strata, [5, 3, 4])
    for seed in range(50):
        drawn = draw_pairs(rates, strata, seed).drawn
        assert np.bincount(strata[drawn], minlength=3).tolist() == [5, 3, 2]


def test_a_seed_gives_the_same_draw_again() -> None:
    rates = np.full(6, 0.5)
    assert np.array_equal(draw_pairs(rates, GROUPS, 7).drawn, draw_pairs(rates, GROUPS, 7).drawn)
    assert len({draw_pairs(rates, GROUPS, seed).drawn.tobytes() for seed in range(20)}) > 3


def test_informative_rates_follow_rank_weight_and_doubt_down_to_a_floor() -> None:
    weight = np.array([1.0, 0.5, 1.0, 0.0])
    rates = informative_rates(weight, [0.5, 0.5, 0.999, 0.5], 1)
    assert rates[0] == pytest.approx(2 * rates[1])
    assert 0 < rates[2] < rates[0]
    assert rates[3] == 0
    assert rates.sum() == pytest.approx(1)
    sure = informative_rates(np.ones(100), np.r_[0.5, np.full(99, 1.0)], 10, floor=0.9)
    assert sure[1:].min() > 0.08


@settings(deadline=None)
@given(st.lists(st.floats(0, 100), min_size=1, max_size=30), st.integers(1, 40))
def test_proportional_rates_add_up_and_stay_below_one(sizes: list[float], size: int) -> None:
    rates = proportional_rates(sizes, size)
    assert np.all((rates >= 0) & (rates <= 1))
    assert rates.sum() == pytest.approx(min(size, sum(value > 0 for value in sizes)), rel=1e-6)


def test_bad_rates_are_refused() -> None:
    with pytest.raises(UserError, match="from 0 to 1"):
        draw_pairs([0.5, 1.5], [0, 0])
    with pytest.raises(UserError, match="at least 1"):
        proportional_rates([1.0], 0)
    with pytest.raises(UserError, match="strata"):
        stratified_rates([0, 1, 2], [1, 1])


def test_the_order_to_show_holds_every_pair_of_the_last_stage_once() -> None:
    draw = draw_pairs(np.full(6, 0.5), GROUPS, 2)
    assert sorted(draw.order().tolist()) == np.flatnonzero(draw.drawn).tolist()
    assert draw.order(1).tolist() == draw.order(1).tolist()
