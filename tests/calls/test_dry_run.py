"""A dry run: the verb is called as it would be, ends with its plan, and asks nobody."""

from __future__ import annotations

from functools import partial, update_wrapper
from pathlib import Path

import pytest

import sightline
from sightline.calls.plan import CostPlan, DryRunError, priced
from sightline.calls.session import Session
from sightline.errors import UserError

seen: list[tuple[str, Session]] = []


@priced
def annotate(source: str, *, session: Session | None = None, workspace: Path | None = None) -> str:
    given = Session.of(session, workspace)
    seen.append((source, given))
    if given.calls.plan and source != "free":
        raise DryRunError(CostPlan((), notes=("two pictures are left out",)))
    return "done"


def test_the_plan_is_what_the_verb_ended_with() -> None:
    plan = sightline.dry_run(annotate, "pictures")
    assert plan.notes == ("two pictures are left out",)
    assert annotate("pictures") == "done"  # As it was: only the dry run plans.


def test_the_session_is_the_one_given(tmp_path: Path) -> None:
    own = Session(tmp_path, budget="5usd", local_only=True)
    sightline.dry_run(annotate, "pictures", session=own)
    source, session = seen[-1]
    assert (source, session.workspace, session.calls.local_only) == ("pictures", tmp_path, True)
    assert session.calls.plan and not own.calls.plan
    assert session.calls.budget is own.calls.budget


def test_the_session_is_the_one_whose_method_it_is(tmp_path: Path) -> None:
    method = update_wrapper(partial(annotate, session=Session(tmp_path)), annotate)
    sightline.dry_run(method, "pictures")
    assert seen[-1][1].workspace == tmp_path


def test_a_workspace_that_is_given_holds(tmp_path: Path) -> None:
    sightline.dry_run(annotate, "pictures", workspace=tmp_path)
    assert seen[-1][1].workspace == tmp_path


def test_what_asks_nobody_is_refused_and_not_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"sightline\.scan calls no model"):
        sightline.dry_run(sightline.scan, tmp_path, workspace=tmp_path / "ws")
    assert not (tmp_path / "ws").exists()


def test_a_call_that_turns_out_to_ask_nobody_says_so() -> None:
    with pytest.raises(UserError, match="nothing to price"):
        sightline.dry_run(annotate, "free")


def test_the_error_can_be_raised_again() -> None:
    plan = CostPlan(())
    again = DryRunError(plan).again()
    assert isinstance(again, DryRunError) and again.plan is plan and again.exit_code == 0
