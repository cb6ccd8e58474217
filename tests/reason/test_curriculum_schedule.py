"""Which records are taught in which order: exact shares, equal samples across plans, budgets in tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reason.curriculum_tools import question, written
from sightline.errors import UserError
from sightline.reason.curriculum.plan import CurriculumPlan, CurriculumStage, load_plan
from sightline.reason.curriculum.pool import QuestionPool, difficulty_of, draws_of, open_pool, redrawn
from sightline.reason.curriculum.schedule import Schedule, ScheduleEntries, lay_out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tasks = [
        question(f"q{number:02}", "easy" if number % 3 == 0 else "hard", extra={"difficulty": (number * 7 % 60) / 60})
        for number in range(60)
    ]
    return written(tmp_path_factory.mktemp("bench"), tasks)


@pytest.fixture(scope="module")
def pool(folder: Path) -> Iterator[QuestionPool]:
    with open_pool(folder, load_plan("mir")) as opened:
        yield opened


def one_stage(**changed: Any) -> CurriculumPlan:
    return CurriculumPlan("p", (CurriculumStage(**{"name": "s", "phase": "p", "target": ("conclusion",), **changed}),))


def laid(plan: CurriculumPlan, pool: QuestionPool, seed: int = 0, budget: int | None = None) -> ScheduleEntries:
    everything = np.ones((len(plan.stages), len(pool)), dtype=bool)
    found = lay_out(Schedule(plan, pool, seed), everything, everything.astype(np.int64), budget)
    return ScheduleEntries.joined([stage.entries for stage in found])


def records(plan: CurriculumPlan, entries: ScheduleEntries) -> Counter[tuple[str, int]]:
    pairs = zip(entries.forms.tolist(), entries.rows.tolist(), strict=True)
    return Counter((plan.stages[form].name, row) for form, row in pairs)


def test_pools_and_fractions_are_exact(pool: QuestionPool) -> None:
    easy, *hard = Schedule(load_plan("mir"), pool, 0).blocks
    assert len(easy.entries) == 20
    assert set(pool.hard[easy.entries.rows]) == {0}
    assert [len(block.entries) for block in hard] == [16] * 5
    assert all(set(pool.hard[block.entries.rows]) == {1} for block in hard)
    assert len({tuple(sorted(block.entries.rows)) for block in hard}) == 5, "each stage draws its own sample"


@pytest.mark.parametrize("budget", [None, 41, 260])
def test_controls_teach_exactly_the_same_records(pool: QuestionPool, budget: int | None) -> None:
    mir = load_plan("mir")
    wanted = records(mir, laid(mir, pool, 3, budget))
    for name in ("shuffled", "reverse", "anti"):
        plan = load_plan(name)
        assert records(plan, laid(plan, pool, 3, budget)) == wanted, name
    assert records(mir, laid(mir, pool, 4, budget)) != wanted


def test_the_shuffled_control_mixes_all_stages(pool: QuestionPool) -> None:
    forms = laid(load_plan("shuffled"), pool).forms
    assert np.abs(np.diff(forms)).astype(bool).sum() > len(forms) / 2


def test_a_sample_does_not_depend_on_the_order_of_the_benchmark(
    folder: Path, pool: QuestionPool, tmp_path: Path
) -> None:
    other = written(tmp_path / "b", [question(f"q{number:02}", "easy") for number in reversed(range(60))])
    plan = one_stage(fraction=0.3)
    with open_pool(other, plan) as turned:
        there = {turned.lesson(row).task for row in laid(plan, turned).rows.tolist()}
    assert there == {pool.lesson(row).task for row in laid(plan, pool).rows.tolist()}
    assert len(there) == 18


def test_orders(pool: QuestionPool) -> None:
    assert laid(one_stage(order="as-is", fraction=0.5), pool).rows.tolist() == sorted(
        laid(one_stage(fraction=0.5), pool).rows.tolist()
    )
    levels = pool.levels[laid(one_stage(order="easy-first"), pool).rows]
    assert (np.diff(levels) >= 0).all()
    assert (np.diff(pool.levels[laid(one_stage(order="hard-first"), pool).rows]) <= 0).all()
    shuffled = laid(one_stage(), pool).rows.tolist()
    assert sorted(shuffled) == list(range(60))
    assert shuffled != sorted(shuffled)


def test_a_band_is_a_part_by_difficulty(pool: QuestionPool) -> None:
    rows = laid(one_stage(band=(0.0, 0.25)), pool).rows
    assert len(rows) == 15
    assert pool.levels[rows].max() <= np.sort(pool.levels)[14]


def test_self_paced_grows_from_the_easiest(pool: QuestionPool) -> None:
    blocks = Schedule(load_plan("self-paced"), pool, 0).blocks
    assert [len(block.entries) for block in blocks] == [12] * 5
    hardest = [pool.levels[block.entries.rows].max() for block in blocks]
    assert hardest[0] < 0.25 < 0.75 < hardest[-1]


def test_epochs_are_each_in_an_order_of_their_own(pool: QuestionPool) -> None:
    rows = laid(one_stage(epochs=2), pool).rows.tolist()
    assert sorted(rows[:60]) == sorted(rows[60:]) == list(range(60))
    assert rows[:60] != rows[60:]


def test_mixing_repeats_earlier_stages_in_their_form(pool: QuestionPool) -> None:
    mir = load_plan("mir").stages
    plan = CurriculumPlan("p", (mir[0], CurriculumStage("later", "p", ("conclusion",), pool="hard", mix=0.2)))
    later = Schedule(plan, pool, 0).blocks[1].entries
    assert Counter(later.forms.tolist()) == {0: 10, 1: 40}
    assert set(pool.hard[later.rows[later.forms == 0]]) == {0}


def test_mixing_takes_earlier_records_again_where_there_are_too_few(pool: QuestionPool) -> None:
    own, later = CurriculumStage("own", "p", ("conclusion",)), CurriculumStage("later", "p", ("summary",), mix=0.75)
    first, second = Schedule(CurriculumPlan("p", (own, later)), pool, 0).blocks
    earlier = second.entries.rows[second.entries.forms == 0]
    assert len(earlier) == 3 * len(first.entries) == 3 * len(pool)
    assert set(Counter(earlier.tolist()).values()) == {3}


def test_an_empty_pool_is_said(tmp_path: Path) -> None:
    folder = written(tmp_path / "b", [question("q1", "easy"), question("q2", "easy")])
    with open_pool(folder, load_plan("mir")) as pool, pytest.raises(UserError, match='"stage-1" has no questions'):
        Schedule(load_plan("mir"), pool, 0)


@given(
    costs=st.lists(st.integers(10, 400), min_size=60, max_size=60),
    budget=st.integers(500, 60_000),
    name=st.sampled_from(["mir", "reverse", "shuffled", "self-paced", "plain", "faded"]),
)
@settings(max_examples=40, deadline=None)
def test_a_budget_is_met_within_half_a_record_of_each_stage(
    pool: QuestionPool, costs: list[int], budget: int, name: str
) -> None:
    plan = load_plan(name)
    table = np.tile(np.array(costs, dtype=np.int64), (len(plan.stages), 1))
    keep = np.ones(table.shape, dtype=bool)
    stages = lay_out(Schedule(plan, pool, 0), keep, table, budget)
    assert abs(sum(stage.tokens for stage in stages) - budget) <= len(plan.stages) * max(costs) / 2
    once = lay_out(Schedule(plan, pool, 0), keep, table, None)
    for stage, natural in zip(stages, once, strict=True) if not plan.shuffled else ():
        share = natural.tokens / sum(one.tokens for one in once)
        assert abs(stage.tokens - share * budget) <= max(costs) / 2


def test_a_budget_repeats_or_cuts_evenly(pool: QuestionPool) -> None:
    plan = one_stage()
    costs = np.ones((1, 60), dtype=np.int64)
    more = lay_out(Schedule(plan, pool, 0), costs.astype(bool), costs, 150)[0].entries.rows.tolist()
    assert set(Counter(more).values()) == {2, 3}
    less = lay_out(Schedule(plan, pool, 0), costs.astype(bool), costs, 40)[0].entries.rows.tolist()
    assert len(set(less)) == len(less) == 40


def test_a_cut_of_an_ordered_stage_is_by_lot(pool: QuestionPool) -> None:
    costs = np.ones((1, 60), dtype=np.int64)
    rows = lay_out(Schedule(one_stage(order="easy-first"), pool, 0), costs.astype(bool), costs, 30)[0].entries.rows
    assert (np.diff(pool.levels[rows]) >= 0).all()
    assert pool.levels[rows].max() > np.median(pool.levels), "the hard ones are not simply cut off"


def test_records_that_are_not_kept_are_left_out(pool: QuestionPool) -> None:
    keep = np.arange(60).reshape(1, 60) % 2 == 0
    costs = np.ones((1, 60), dtype=np.int64)
    rows = lay_out(Schedule(one_stage(), pool, 0), keep, costs, None)[0].entries.rows
    assert sorted(rows.tolist()) == list(range(0, 60, 2))
    with pytest.raises(UserError, match="no record left"):
        lay_out(Schedule(one_stage(), pool, 0), ~keep & keep, costs, None)


def test_difficulty_by_label_pass_rate_and_dial() -> None:
    assert difficulty_of(question("a", None)) == (-1, 0.5)
    assert difficulty_of(question("a", "easy")) == (0, 0.0)
    assert difficulty_of(question("a", "medium")) == (1, 0.5)
    assert difficulty_of(question("a", "hard", extra={"difficulty": 0.8})) == (1, 0.8)
    assert difficulty_of(question("a", "hard", extra={"difficulty": {"pass_rate": 0.25}})) == (1, 0.75)


def test_lots_are_the_same_everywhere() -> None:
    lots = draws_of(["a", "b"])
    assert lots.tolist() == [4681665781835383343, 9543904841865449333]
    assert redrawn(lots, "one").tolist() == [6363891903952652040, 1110915002770374278]
    assert redrawn(lots, "two").tolist() != redrawn(lots, "one").tolist()
