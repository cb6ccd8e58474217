"""The stage `judge`: judges that see pictures, over HTTP, with a journal; panels, failures, stops and resumption."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judging_tools import COLOUR_NAMES, grades_for, judging, judging_config, judgments, pictures_in, ready
from make_tools import rows, with_calls, words_in, write_rows
from models_server import Received, Server
from search_tools import Colours
from sightline.authoring import project as files
from sightline.authoring.judge import JudgeStage
from sightline.authoring.judge_requests import GRADES, JudgeQuestions
from sightline.authoring.project import Project
from sightline.authoring.stage import StageResult
from sightline.calls.budget import Budget
from sightline.calls.session import CallOptions
from sightline.errors import StoppedError, UserError
from sightline.models.json_schema import is_strict


def judge(project: Project, server: Server, *judges: str, embedder: Any = None, **asking: Any) -> StageResult:
    return JudgeStage(judges, embedder=embedder).run(
        with_calls(project, CallOptions(base_url=server.base_url, **asking))
    )


def labels(project: Project) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for row in rows(project.path(files.JUDGMENTS)):
        found.setdefault(row["query_id"], {})[row["image_id"]] = row["relevance_label"]
    return found


def test_judges_see_the_pictures_and_every_pooled_one_is_judged_seed_first(tmp_path: Path) -> None:
    project = ready(tmp_path)
    with judging() as server:
        done = judge(project, server)
    pools = {row["query_id"]: row for row in rows(project.path(files.POOL))}
    found = labels(project)
    assert list(found) == ["q0", "q1", "q2", "q3"]
    for number, colour in enumerate(COLOUR_NAMES):
        pool, grades = pools[f"q{number}"], found[f"q{number}"]
        assert list(grades) == pool["candidate_image_ids"]
        assert next(iter(grades)) == pool["seed_image_ids"][0]
        assert grades == {id_: int(colour in id_) for id_ in grades}
    assert all(1 <= len(pictures_in(request)) <= 3 for request in server.requests)
    assert (done.failures, done.counts["queries"], done.counts["set aside"]) == ({}, 4, 0)


def test_no_id_or_file_name_is_told_to_a_judge(tmp_path: Path) -> None:
    project = ready(tmp_path)
    with judging() as server:
        judge(project, server)
    for request in server.requests:
        assert ".png" not in words_in(request)
        assert "00_" not in words_in(request)


def test_the_pool_is_deepened_by_searches_and_a_draw_from_outside(tmp_path: Path) -> None:
    project = ready(tmp_path, judging_config(retrievers=("words", "vectors"), depth=4))
    with judging() as server:
        judge(project, server, embedder=Colours())
    row = rows(project.path(files.POOL))[0]
    found_by = {item["image_id"]: item["found_by"] for item in row["candidates"]}
    assert found_by["00_red.png"] == ["plan", "words", "vectors"]
    assert {id_ for id_, by in found_by.items() if "words" in by} == {f"0{number}_red.png" for number in range(4)}
    assert sum(by == ["chance"] for by in found_by.values()) == 2
    assert row["outside"] == 16 - len(found_by) + 2
    tiers = {item["image_id"]: item["tier"] for item in row["candidates"]}
    assert tiers["03_red.png"] == "pooled"
    figures = json.loads(project.path(files.JUDGING).read_text())
    assert figures["missed"]["found"] == 16


def test_nothing_is_asked_twice(tmp_path: Path) -> None:
    project = ready(tmp_path)
    with judging() as server:
        first = judge(project, server)
        before = labels(project)
        again = judge(project, server)
        calls = len(server.requests)
        project.path(files.VERDICTS).unlink()  # The journal still knows the answers.
        judge(project, server)
        assert len(server.requests) == calls
    assert (again.counts["verdicts"], again.counts["kept"]) == (0, first.counts["verdicts"])
    assert labels(project) == before


def test_a_query_in_other_words_is_judged_anew_and_the_old_verdicts_stay(tmp_path: Path) -> None:
    project = ready(tmp_path)
    with judging() as server:
        judge(project, server)
        lines = rows(project.path(files.QUERIES))
        lines[0]["query_text"] = "a red thing"
        write_rows(project.path(files.QUERIES), lines)
        done = judge(project, server)
    assert 0 < done.counts["verdicts"] < done.counts["kept"]
    assert {row["query_text"] for row in rows(project.path(files.JUDGMENTS)) if row["query_id"] == "q0"} == {
        "a red thing"
    }


def test_verdicts_of_another_judge_stay_in_the_file_but_do_not_count(tmp_path: Path) -> None:
    project = ready(tmp_path)
    with judging() as server:
        judge(project, server, "vllm/one")
        judge(project, server, "vllm/two")
    counted = {row["judge"] for row in rows(project.path(files.VERDICTS)) if row["counts"]}
    assert counted == {"vllm/two"}
    assert {row["judge"] for row in rows(project.path(files.VERDICTS))} == {"vllm/one", "vllm/two"}


def test_a_run_that_was_killed_goes_on_from_its_last_whole_line(tmp_path: Path) -> None:
    project = ready(tmp_path)
    with judging() as server:
        judge(project, server)
        path = project.path(files.VERDICTS)
        lines = path.read_bytes().splitlines(keepends=True)
        project.partial(files.VERDICTS).write_bytes(b"".join(lines[:5]) + lines[5][:20])
        path.unlink()
        done = judge(project, server)
    assert done.counts["kept"] == 5
    assert any("cut off" in warning for warning in done.warnings)
    assert not project.partial(files.VERDICTS).exists()


def test_a_seed_that_does_not_fit_sets_its_query_aside(tmp_path: Path) -> None:
    project = ready(tmp_path)

    def harsh(request: Received) -> dict[str, Any]:
        is_first = "something red" in words_in(request)
        return judgments([0 if is_first else grade for grade in grades_for(request)])

    with judging(harsh) as server:
        done = judge(project, server)
    assert list(labels(project)) == ["q1", "q2", "q3"]
    (aside,) = rows(project.path(files.SET_ASIDE))
    assert (aside["query_id"], aside["reason"]) == ("q0", "seed not relevant")
    assert "00_red.png" in aside["detail"]
    assert done.counts["set aside"] == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda said: {"judgments": said["judgments"][:-1]},
        lambda said: {"judgments": [*said["judgments"][:-1], said["judgments"][0]]},
        lambda said: {"judgments": [{**item, "picture": 9} for item in said["judgments"]]},
        lambda said: {"judgments": [{**item, "grade": 7} for item in said["judgments"]]},
        lambda said: {"judgments": [{**item, "confidence": 3} for item in said["judgments"]]},
    ],
)
def test_a_reply_that_judges_other_pictures_is_asked_for_again(tmp_path: Path, wrong: Any) -> None:
    project = ready(tmp_path)
    spoilt: list[int] = []

    def careless(request: Received) -> Any:
        said = judgments(grades_for(request))
        if len(request.json["messages"]) == 2 and len(said["judgments"]) == 3 and not spoilt:
            spoilt.append(1)
            return wrong(said)
        return said

    with judging(careless) as server:
        done = judge(project, server)
    assert spoilt
    assert done.failures == {}
    assert done.counts["queries"] == 4


def test_a_group_that_never_fits_is_judged_one_by_one_and_what_fails_is_counted(tmp_path: Path) -> None:
    project = ready(tmp_path)

    def single_minded(request: Received) -> Any:
        said = grades_for(request)
        if len(said) > 1:
            return "I can only look at one picture."
        words = words_in(request)
        return "no" if "something blue" in words and said == [0] else judgments(said)

    with judging(single_minded) as server:
        done = judge(project, server)
    assert list(labels(project)) == ["q0", "q1", "q3"]
    (aside,) = rows(project.path(files.SET_ASIDE))
    assert (aside["query_id"], aside["reason"]) == ("q2", "not judged")
    failed = rows(project.failed(files.VERDICTS))
    assert sum(done.failures.values()) == len(failed) > 0
    assert {row["task"] for row in failed} == {"q2"}


def test_a_picture_that_is_gone_costs_only_itself(tmp_path: Path) -> None:
    project = ready(tmp_path, judging_config(depth=0, outside=0))
    (tmp_path / "pictures" / "01_red.png").write_bytes(b"no picture")
    with judging() as server:
        done = judge(project, server)
    assert done.failures == {"bad-picture": 2}
    assert [row["query_id"] for row in rows(project.path(files.SET_ASIDE))] == ["q0", "q3"]
    assert list(labels(project)) == ["q1", "q2"]
    others = [row for row in rows(project.path(files.VERDICTS)) if row["task"] == "q0"]
    assert {row["picture"] for row in others} == {"00_red.png", "04_green.png", "05_green.png"}


def test_a_panel_takes_the_median_and_measures_its_agreement(tmp_path: Path) -> None:
    project = ready(tmp_path, judging_config(scale="graded", panel=("vllm/a", "vllm/b", "vllm/c")))
    offset = {"a": 0, "b": 0, "c": -1}

    def by_name(request: Received) -> dict[str, Any]:
        grades = grades_for(request, highest=3)
        return judgments([max(0, grade + offset[request.json["model"]]) for grade in grades])

    with judging(by_name) as server:
        judge(project, server)
    assert set(labels(project)["q0"].values()) == {0, 3}
    figures = json.loads(project.path(files.JUDGING).read_text())
    agreement = figures["agreement"]
    assert figures["judges"] == ["vllm/a", "vllm/b", "vllm/c"]
    assert 0.8 < agreement["alpha"]["value"] < 1
    assert agreement["alpha"]["low"] <= agreement["alpha"]["value"] <= agreement["alpha"]["high"]
    pairs = {tuple(pair["judges"]): pair["agreement"] for pair in agreement["pairs"]}
    assert pairs["vllm/a", "vllm/b"] == 1.0 > pairs["vllm/a", "vllm/c"]


def test_each_judge_sees_pictures_in_an_order_of_its_own_that_repeats(tmp_path: Path) -> None:
    def order(project: Project, name: str) -> list[str]:
        return [row["picture"] for row in rows(project.path(files.VERDICTS)) if row["judge"] == name]

    first, second = ready(tmp_path / "1"), ready(tmp_path / "2")
    with judging() as server:
        for project in (first, second):
            judge(project, server, "vllm/a", "vllm/b")
    assert order(first, "vllm/a") == order(second, "vllm/a")
    assert order(first, "vllm/a") != order(first, "vllm/b")


def test_a_budget_stops_the_judging_and_what_was_done_is_kept(tmp_path: Path) -> None:
    config = judging_config(max_output_tokens=100)
    prices = {"models": {"vllm/judge": {"input": 0.0, "output": 1000.0}}}
    config = type(config).model_validate({**config.model_dump(), "prices": prices})
    project = ready(tmp_path, config)
    with judging() as server:
        with pytest.raises(StoppedError) as stopped:
            judge(project, server, budget=Budget(0.12))
        done = len(rows(project.path(files.VERDICTS)))
        assert 0 < done < 16
        assert "every verdict is kept" in str(stopped.value)
        judge(project, server)
    assert len(labels(project)) == 4


def test_a_price_is_told_before_and_nobody_is_asked(tmp_path: Path) -> None:
    project = ready(tmp_path)
    with judging() as server:
        done = judge(project, server, plan=True)
        assert server.requests == []
    assert done.price is not None
    assert done.price.stages[0].calls >= 4 * 2
    assert not project.path(files.JUDGMENTS).exists()


def test_qrels_carry_what_is_known_of_the_picture(tmp_path: Path) -> None:
    project = ready(tmp_path)
    listed = rows(project.path(files.IMAGES))
    for row in listed:
        row.update({"original_dataset_name": "Paint", "license": "CC0"})
    write_rows(project.path(files.IMAGES), listed)
    with judging() as server:
        judge(project, server)
    row = rows(project.path(files.JUDGMENTS))[0]
    assert (row["original_dataset_name"], row["mime_type"], row["license"]) == ("Paint", "image/png", "CC0")
    assert (row["tags"], row["summary"], row["tier"]) == (["red", "plain"], "a red field", "seed")


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    config = judging_config()
    columns = {"image_id": "photo", "query": "words", "query_id": "q", "relevance": "fits", "seeds": "from"}
    config = type(config).model_validate({**config.model_dump(), "columns": columns})
    project = ready(tmp_path, config)
    with judging() as server:
        judge(project, server)
    row = rows(project.path(files.JUDGMENTS))[0]
    assert (row["q"], row["words"], row["photo"], row["fits"]) == ("q0", "something red", "00_red.png", 1)


def test_most_candidates_keeps_the_seed_and_the_most_telling_tiers(tmp_path: Path) -> None:
    project = ready(tmp_path, judging_config(max_candidates=2, outside=0))
    with judging() as server:
        judge(project, server)
    assert [row["tier"] for row in rows(project.path(files.JUDGMENTS))][:2] == ["seed", "positive"]
    assert len(rows(project.path(files.JUDGMENTS))) == 8


def test_a_prompt_that_speaks_of_summaries_is_followed_by_what_a_judge_sees(tmp_path: Path) -> None:
    own, ours = (ready(tmp_path / name, judging_config(user_prompt=prompt)) for name, prompt in (
        ("own", "Compare the summary of each candidate."), ("ours", "Grade what you see.")
    ))  # fmt: skip
    with judging() as server:
        done = judge(own, server)
        asked = words_in(server.requests[-1])
        plain = judge(ours, server)
    assert asked.index("Compare the summary") < asked.index("no summaries, tags or other annotations")
    assert any("judge.user_prompt speaks of summaries" in warning for warning in done.warnings)
    assert not any("summaries" in warning for warning in plain.warnings)
    assert "annotations" not in words_in(server.requests[-1])


def test_the_schema_is_strict_and_names_no_other_picture() -> None:
    schema = JudgeQuestions("m", judging_config(scale="graded")).schema(3)
    assert is_strict(schema)
    item = schema["properties"]["judgments"]["items"]["properties"]
    assert item["picture"]["enum"] == [1, 2, 3]
    assert item["grade"]["enum"] == list(GRADES["graded"]) == [0, 1, 2, 3]


# --- what can't be judged ---------------------------------------------------------------------------------------


def test_all_queries_set_aside_is_an_error_that_keeps_the_verdicts(tmp_path: Path) -> None:
    project = ready(tmp_path)
    refusing = judging(lambda request: judgments([0] * len(pictures_in(request))))
    with refusing as server, pytest.raises(UserError, match="no query is left: all 4 were set aside"):
        judge(project, server)
    assert len(rows(project.path(files.VERDICTS))) > 0


def test_a_query_without_words_is_set_aside(tmp_path: Path) -> None:
    project = ready(tmp_path)
    write_rows(project.path(files.QUERIES), rows(project.path(files.QUERIES))[1:])
    with judging() as server:
        judge(project, server)
    (aside,) = rows(project.path(files.SET_ASIDE))
    assert (aside["query_id"], aside["reason"]) == ("q0", "no words")


def test_an_unknown_id_in_the_plan_is_a_failure_of_that_query_alone(tmp_path: Path) -> None:
    project = ready(tmp_path)
    plans = rows(project.path(files.PLAN))
    plans[0]["candidate_image_ids"].append("nowhere.png")
    write_rows(project.path(files.PLAN), plans)
    with judging() as server:
        done = judge(project, server)
    assert done.failures == {"unknown picture": 1}
    assert list(labels(project)) == ["q1", "q2", "q3"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"retrievers": ("vektors",)}, 'Did you mean "vectors"'),
        ({"panel": ("nobody",)}, "is not a model name"),
    ],
)
def test_wrong_settings_are_told_with_their_fix(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    project = ready(tmp_path, judging_config(**change))
    with judging() as server, pytest.raises(UserError, match=message):
        judge(project, server)
    assert server.requests == []


@pytest.mark.parametrize("name", [files.PLAN, files.QUERIES, files.IMAGES])
def test_a_missing_file_says_which_stage_makes_it(tmp_path: Path, name: str) -> None:
    project = ready(tmp_path)
    project.path(name).unlink()
    with judging() as server, pytest.raises(UserError, match="make it first: sightline make"):
        judge(project, server)


def test_a_half_written_file_of_queries_is_refused_with_its_line(tmp_path: Path) -> None:
    project = ready(tmp_path)
    path = project.path(files.QUERIES)
    path.write_bytes(path.read_bytes()[:-20])
    with judging() as server, pytest.raises(UserError, match="line 4"):
        judge(project, server)
    assert server.requests == []


# --- pools that grow ---------------------------------------------------------------------------------------------


def missing(tmp_path: Path, **judge: Any) -> Project:
    """12 pictures of every colour, of which words tell only the first 5: the rest is outside of the pools."""
    project = ready(tmp_path, judging_config(depth=2, outside=1, **judge), each=12)
    notes = rows(project.path(files.ANNOTATIONS))
    for row in notes:
        if int(row["image_id"][:2]) % 12 >= 5:
            row.update({"summary": "a field", "tags": ["plain"]})
    write_rows(project.path(files.ANNOTATIONS), notes)
    return project


def test_pools_grow_until_they_hold_enough(tmp_path: Path) -> None:
    """By draws from near and far outside; what was drawn before stays, and nothing is asked twice."""
    counts = {}
    for target in (None, 0.5, 0.9):
        project = missing(tmp_path / str(target), coverage=target)
        with judging() as server:
            done = judge(project, server)
            asked = len(server.requests)
            again = judge(project, server)
            assert len(server.requests) == asked
        assert again.counts["verdicts"] == 0 and again.counts["kept"] == done.counts["verdicts"]
        figures = json.loads(project.path(files.JUDGING).read_text())
        counts[target] = figures["missed"]["found"], figures["missed"]["coverage"]
        pools = rows(project.path(files.POOL))
        by = [tuple(item["found_by"]) for row in pools for item in row["candidates"]]
        assert (("chance near",) in by) == (target is not None)
        assert len(rows(project.path(files.JUDGMENTS))) == len(by)
    assert counts[None][0] < counts[0.5][0] <= counts[0.9][0]
    assert counts[0.9][1]["value"] >= 0.9 and counts[0.9][1]["low"] >= 0.8
    assert counts[0.9][0] >= 0.8 * 48


def test_a_budget_ends_the_growth_and_the_labels_stand(tmp_path: Path) -> None:
    config = judging_config(depth=2, outside=1, coverage=0.95, max_output_tokens=100)
    prices = {"models": {"vllm/judge": {"input": 0.0, "output": 1000.0}}}
    config = type(config).model_validate({**config.model_dump(), "prices": prices})
    project = ready(tmp_path, config, each=12)
    with judging() as server:
        done = judge(project, server, budget=Budget(0.3))
    assert any(warning.startswith("Pools stopped growing") for warning in done.warnings)
    assert done.counts["queries"] == 4
    assert len(rows(project.path(files.JUDGMENTS))) == sum(
        len(row["candidates"]) for row in rows(project.path(files.POOL))
    )


def test_a_target_that_is_not_reached_is_a_warning(tmp_path: Path) -> None:
    """A judge that says no to all but what is planned and every fourth picture finds new ones in every draw."""
    project = missing(tmp_path, coverage=0.95)

    def lenient(request: Received) -> dict[str, Any]:
        honest = grades_for(request)
        return judgments(
            [max(grade, int(sum(data) % 3 == 0)) for grade, data in zip(honest, pictures_in(request), strict=True)]
        )

    with judging(lenient) as server:
        plan = judge(project, server, plan=True)
        done = judge(project, server)
    figures = json.loads(project.path(files.JUDGING).read_text())["missed"]
    assert figures["outside"] == 0 or any("coverage-low" in one and "asks for 95%" in one for one in done.warnings)
    assert plan.price is not None and plan.price.stages[0].calls > 4 * 10
