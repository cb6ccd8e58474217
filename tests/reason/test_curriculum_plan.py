"""Plans: the shipped ones say what they should, and a wrong file says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.reason.curriculum.plan import SHIPPED, STEPS, load_plan

STAGE = '[[phases]]\nname = "p"\n[[phases.stages]]\nname = "s"\ntarget = ["conclusion"]\n'


def test_mirs_plan_moves_one_step_after_the_other_to_the_target() -> None:
    easy, *hard = load_plan("mir").stages
    assert (easy.pool, easy.fraction, easy.given, easy.target) == ("easy", 1.0, (), STEPS)
    assert [(stage.pool, stage.fraction) for stage in hard] == [("hard", 0.4)] * 5
    assert [len(stage.given) for stage in hard] == [4, 3, 2, 1, 0]
    assert all((*stage.given, *stage.target) == STEPS for stage in hard)


def test_controls_change_only_the_arrangement() -> None:
    mir = load_plan("mir")
    assert set(load_plan("reverse").stages) == set(mir.stages)
    assert [stage.name for stage in load_plan("reverse").stages] == [
        "easy",
        *(f"stage-{n}" for n in (5, 4, 3, 2, 1)),
    ]
    assert [stage.name for stage in load_plan("anti").stages] == [*(f"stage-{n}" for n in range(1, 6)), "easy"]
    assert load_plan("shuffled").stages == mir.stages
    assert load_plan("shuffled").shuffled


def test_which_plans_need_difficulty() -> None:
    needing = {name for name in SHIPPED if load_plan(name).needs_difficulty}
    assert needing == set(SHIPPED) - {"plain", "full-chain", "faded"}


def test_faded_leaves_out_one_step_more_in_each_stage_and_gives_none() -> None:
    stages = load_plan("faded").stages
    assert [stage.target for stage in stages] == [STEPS[first:] for first in range(5)]
    assert not any(stage.given for stage in stages)


def test_a_file_may_build_on_a_shipped_plan_or_on_a_neighbour(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('name = "mine"\nbase = "mir"\narrange = "stages-reversed"\nregions = false\n')
    (tmp_path / "next.toml").write_text('name = "next"\nbase = "mine.toml"\n')
    mine, after = load_plan(str(tmp_path / "mine.toml")), load_plan(str(tmp_path / "next.toml"))
    assert mine.stages == after.stages == load_plan("reverse").stages
    assert (mine.regions, after.regions, load_plan("mir").regions) == (False, False, True)


def test_steps_come_in_their_order_however_they_are_listed(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(f'name = "n"\n{STAGE}given = ["caption", "summary"]\n')
    assert load_plan(str(file)).stages[0].given == ("summary", "caption")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "not a TOML file"),
        ('name = "n"\n', "phases of its own"),
        (f'name = "n"\nbase = "mir"\n{STAGE}', "phases of its own"),
        ('name = "n"\nbase = "nothing"\n', 'no plan "nothing"'),
        ('name = "n"\nbase = "plan.toml"\n', "built on itself"),
        (f'name = "n"\n{STAGE}fractoin = 0.4\n', "fractoin"),
        (f'name = "n"\n{STAGE}fraction = 1.4\n', "fraction"),
        (f'name = "n"\n{STAGE}given = ["conclusion"]\n', "both given and a target"),
        (f'name = "n"\n{STAGE.replace("conclusion", "caption")}given = ["conclusion"]\n', "it holds the answer"),
        (f'name = "n"\n{STAGE}band = [0.5, 0.5]\n', "two rising numbers"),
        (f'name = "n"\n{STAGE}mix = 0.2\norder = "as-is"\n', "is shuffled"),
        (f'name = "n"\n{STAGE}mix = 0.2\n', 'stage "s" comes first, and has no earlier ones to mix in'),
        (f'name = "n"\n{STAGE}'.replace('"s"', f'"{"s" * 300}"'), "at most 100"),
        (f'name = "n"\n{STAGE}'.replace('["conclusion"]', "[]"), "needs a target"),
        ('name = "n"\n[[phases]]\nname = "p"\nstages = []\n', "a phase needs stages"),
        (f'name = "n"\n{STAGE}[[phases.stages]]\nname = "s"\ntarget = ["summary"]\n', 'two stages are called "s"'),
    ],
)
def test_a_wrong_plan_is_refused_with_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(text)
    with pytest.raises(UserError, match=said):
        load_plan(str(file))


def test_an_unknown_plan_names_those_that_there_are() -> None:
    with pytest.raises(UserError, match="full-chain"):
        load_plan("mirr")


def test_one_mistake_is_one_problem(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(f'name = "n"\n{STAGE}fraction = 2.0\n')
    with pytest.raises(ProblemsError) as refused:
        load_plan(str(file))
    assert [problem.field for problem in refused.value.problems] == ["phases.0.stages.0.fraction"]


def test_a_plan_may_begin_with_a_mark_of_byte_order(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(f'name = "n"\n{STAGE}', "utf-8-sig")
    assert load_plan(str(file)).name == "n"
