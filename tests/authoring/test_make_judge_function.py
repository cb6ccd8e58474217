"""Judging by a function: its grades, its errors, and what is judged again when it changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judging_tools import COLOUR_NAMES, judging, judging_config, ready
from make_tools import rows, with_calls
from sightline import Picture, UserError
from sightline.authoring import project as files
from sightline.authoring.judge import JudgeStage
from sightline.authoring.project import Project
from sightline.authoring.stage import BatchOptions
from sightline.calls.session import CallOptions


def sees(query: str, picture: Picture) -> bool:
    assert picture.path is not None and picture.path.is_file()
    return query.split()[-1] in picture.id


async def sees_later(query: str, picture: Picture) -> dict[str, Any]:
    return {"grade": int(sees(query, picture)), "confidence": 0.75, "reason": "by name"}


def verdicts(project: Project) -> list[dict[str, Any]]:
    return rows(project.path(files.VERDICTS))


@pytest.mark.parametrize("function", [sees, sees_later])
def test_a_function_judges_every_pooled_picture(function: Any, tmp_path: Path) -> None:
    project = ready(tmp_path)
    done = JudgeStage((function,)).run(project)
    assert done.failures == {} and done.counts["queries"] == len(COLOUR_NAMES) and done.usd == 0
    found = verdicts(project)
    assert {row["judge"] for row in found} == {f"function/{function.__name__}"}
    for row in found:
        colour = COLOUR_NAMES[int(row["task"][1:])]
        assert row["grade"] == int(colour in row["picture"])
    assert {row["confidence"] for row in found} == ({0.75} if function is sees_later else {None})
    again = JudgeStage((function,)).run(project)
    assert again.counts["verdicts"] == 0 and again.counts["kept"] == done.counts["verdicts"]


def test_a_function_that_changes_judges_anew(tmp_path: Path) -> None:
    project = ready(tmp_path)
    first = JudgeStage((lambda query, picture: sees(query, picture) or False,)).run(project)
    second = JudgeStage((lambda query, picture: int(sees(query, picture)),)).run(project)
    assert second.counts["verdicts"] == first.counts["verdicts"] > 0


def test_errors_and_wrong_grades_are_counted(tmp_path: Path) -> None:
    def moody(query: str, picture: Picture) -> Any:
        if query.endswith(COLOUR_NAMES[0]):
            raise RuntimeError("not today")
        return 7 if query.endswith(COLOUR_NAMES[1]) else sees(query, picture)

    project = ready(tmp_path)
    done = JudgeStage((moody,)).run(project)
    assert done.failures["crashed"] > 0 and done.failures["wrong-schema"] > 0
    assert done.counts["queries"] == len(COLOUR_NAMES) - 2 and done.counts["set aside"] == 2
    told = {row["kind"]: row["error"] for row in rows(done.wrote[-1])}
    assert told["crashed"].startswith("RuntimeError: not today") and "in moody" in told["crashed"]
    assert "a grade is one of 0, 1" in told["wrong-schema"]


def test_a_panel_of_a_function_and_a_model(tmp_path: Path) -> None:
    project = ready(tmp_path)
    with judging() as server:
        done = JudgeStage((sees, "vllm/judge")).run(with_calls(project, CallOptions(base_url=server.base_url)))
        assert server.requests
    assert {row["judge"] for row in verdicts(project)} == {"function/sees", "vllm/judge"} and done.failures == {}


def test_a_function_is_free_and_works_here_alone(tmp_path: Path) -> None:
    project = ready(tmp_path, judging_config())
    price = JudgeStage((sees,)).run(with_calls(project, CallOptions(plan=True))).price
    assert price is not None and [stage.calls for stage in price.stages] == [0]
    with pytest.raises(UserError, match="function/sees works on this machine, and has no batches"):
        JudgeStage((sees,), batch=BatchOptions()).run(project)
    with pytest.raises(UserError, match="Two judges have the same name"):
        JudgeStage((lambda query, picture: 1, lambda query, picture: 0)).run(project)
