"""The defects of benchmaker that concern judging and what follows from it; each test's number is theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from batch_server import Row, batch_world, completion
from judging_tools import grades_for, judging_config, judgments, ready
from make_tools import rows, with_calls, write_rows
from models_server import Received, chat, respond_json, serving_in_thread
from search_tools import Colours
from sightline.authoring import project as files
from sightline.authoring.assemble import AssembleStage
from sightline.authoring.judge import JudgeStage
from sightline.authoring.project import Project
from sightline.authoring.similarity import SimilarityStage
from sightline.authoring.stage import BatchOptions
from sightline.benchmark.folder import read_benchmark
from sightline.calls.ledger import read_ledger
from sightline.calls.session import CallOptions
from sightline.errors import StoppedError, UserError


def seen_in(row: Row) -> Row:
    """What a batch answers: the same judge, who sees the pictures that the line holds."""
    said = judgments(grades_for(Received("POST", "/", {}, orjson.dumps(row["body"]))))
    body = completion(orjson.dumps(said).decode())
    return {"id": "r", "custom_id": row["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}


def labels(project: Project) -> list[tuple[str, str, int]]:
    return [(row["query_id"], row["image_id"], row["relevance_label"]) for row in rows(project.path(files.JUDGMENTS))]


def test_7_cached_tokens_are_counted_and_have_their_own_price(tmp_path: Path) -> None:
    config = judging_config()
    prices = {"judge": {"input": 10.0, "cached_input": 1.0, "output": 0.0}}
    config = type(config).model_validate({**config.model_dump(), "prices": prices})
    project = ready(tmp_path, config)

    def answer(request: Received) -> Any:
        usage = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 800}}
        return respond_json({**chat(json.dumps(judgments(grades_for(request)))), "usage": usage})

    with serving_in_thread(answer) as server:
        done = JudgeStage().run(with_calls(project, CallOptions(base_url=server.base_url)))
        calls = len(server.requests)
    (row,) = [row for row in read_ledger(project.workspace).rows if row.stage == "judge"]
    assert row.cached == 800 * calls
    assert done.usd == pytest.approx(calls * (200 * 10 + 800 * 1) / 1e6)


def test_what_failed_calls_cost_is_counted_too(tmp_path: Path) -> None:
    config = judging_config()
    prices = {"judge": {"input": 10.0, "output": 100.0}}
    project = ready(tmp_path, type(config).model_validate({**config.model_dump(), "prices": prices}))
    cut: list[Received] = []

    def answer(request: Received) -> Any:
        body = chat(json.dumps(judgments(grades_for(request))))
        if not cut:  # Cut off: a failure, and billed.
            cut.append(request)
            body["choices"][0]["finish_reason"] = "length"
        return respond_json({**body, "usage": {"prompt_tokens": 1000, "completion_tokens": 10}})

    with serving_in_thread(answer) as server:
        done = JudgeStage().run(with_calls(project, CallOptions(base_url=server.base_url)))
    (row,) = [row for row in read_ledger(project.workspace).rows if row.stage == "judge"]
    assert cut and done.usd == pytest.approx(row.usd)


@pytest.mark.parametrize("end", ["cancelled", "canceled", "failed", "expired"])
def test_8_a_batch_that_ends_badly_is_no_endless_wait_and_its_calls_are_made_live(tmp_path: Path, end: str) -> None:
    project = ready(tmp_path, judging_config(depth=0, outside=0))
    with batch_world(end=end, work=lambda row: seen_in(row) if end != "failed" else None) as world:
        stage, asking = JudgeStage(batch=BatchOptions(every=0.01)), CallOptions(base_url=world.base_url)
        if end != "failed":
            assert stage.run(with_calls(project, asking)).counts["queries"] == 4
            return
        with pytest.raises(UserError, match="4 not judged, 16 wrong-schema"):  # This server talks nonsense live.
            stage.run(with_calls(project, asking))
        assert world.live


def test_11_every_judge_of_a_panel_has_its_batch_before_any_is_waited_for(tmp_path: Path) -> None:
    project = ready(tmp_path, judging_config(panel=("vllm/a", "vllm/b")))
    with batch_world(work=seen_in) as world:
        with pytest.raises(StoppedError):
            JudgeStage(batch=BatchOptions(wait=False)).run(with_calls(project, CallOptions(base_url=world.base_url)))
        assert len(world.batches) == 2


def test_10_a_batch_is_one_batch_however_often_it_is_asked_for(tmp_path: Path) -> None:
    project = ready(tmp_path)
    with batch_world(work=seen_in) as world:
        asking = CallOptions(base_url=world.base_url)
        JudgeStage(batch=BatchOptions(every=0.01)).run(with_calls(project, asking))
        first = labels(project)
        JudgeStage(batch=BatchOptions(every=0.01)).run(with_calls(project, asking))
        assert len(world.batches) == 1
        assert not world.live
    assert labels(project) == first
    assert len({(query, picture) for query, picture, _ in first}) == len(first)


def test_11_without_waiting_nothing_is_parsed_and_the_same_batch_goes_on(tmp_path: Path) -> None:
    project = ready(tmp_path)
    with batch_world(work=seen_in) as world:
        asking = CallOptions(base_url=world.base_url)
        with pytest.raises(StoppedError):
            JudgeStage(batch=BatchOptions(wait=False)).run(with_calls(project, asking))
        assert labels(project) == []
        done = JudgeStage(batch=BatchOptions(every=0.01)).run(with_calls(project, asking))
        assert len(world.batches) == 1
    assert done.counts["queries"] == 4


def test_12_judged_is_what_was_pooled_and_the_first_row_is_the_relevant_seed(tmp_path: Path) -> None:
    project = ready(tmp_path)
    with batch_world(work=seen_in) as world:
        JudgeStage(batch=BatchOptions(every=0.01)).run(with_calls(project, CallOptions(base_url=world.base_url)))
    pools = {row["query_id"]: row for row in rows(project.path(files.POOL))}
    found: dict[str, list[tuple[str, int]]] = {}
    for query, picture, grade in labels(project):
        found.setdefault(query, []).append((picture, grade))
    for query, judged in found.items():
        assert [picture for picture, _ in judged] == pools[query]["candidate_image_ids"]
        assert judged[0] == (pools[query]["seed_image_ids"][0], 1)


def test_13_source_and_type_of_a_picture_reach_qrels_and_the_benchmark(tmp_path: Path) -> None:
    project = ready(tmp_path)
    listed = rows(project.path(files.IMAGES))
    for row in listed:
        row["original_dataset_name"] = "Paint"
    write_rows(project.path(files.IMAGES), listed)
    with batch_world(work=seen_in) as world:
        JudgeStage(batch=BatchOptions(every=0.01)).run(with_calls(project, CallOptions(base_url=world.base_url)))
    assert {(row["original_dataset_name"], row["mime_type"]) for row in rows(project.path(files.JUDGMENTS))} == {
        ("Paint", "image/png")
    }
    AssembleStage().run(project)
    found = read_benchmark(project.folder / "benchmark")
    assert found.tasks["q0"].labels["original_dataset_name"] == ("Paint",)
    assert found.corpus.pictures["00_red.png"].rights.source == "Paint"


def test_14_grades_are_counted_by_their_value_and_pictures_and_queries_once(tmp_path: Path) -> None:
    """Relevant ones are in the majority here, which benchmaker's overview takes for the class 0."""
    project = ready(tmp_path, judging_config(depth=4, outside=0, max_candidates=5))
    with batch_world(work=seen_in) as world:
        JudgeStage(batch=BatchOptions(every=0.01)).run(with_calls(project, CallOptions(base_url=world.base_url)))
    figures = json.loads(project.path(files.JUDGING).read_text())
    found = labels(project)
    assert figures["grades"] == {
        "0": sum(grade == 0 for *_, grade in found),
        "1": sum(grade == 1 for *_, grade in found),
    }
    embedder = Colours()
    done = SimilarityStage(embedder).run(project)
    assert done.counts["queries"] == embedder.texts_seen == 4
    assert embedder.pictures_seen == len({picture for _, picture, _ in found}) < len(found)
