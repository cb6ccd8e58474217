"""All stages by a chat model over HTTP that knows colours: files, journal, budget, failures, and the benchmark."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from make_tools import COLOURS, colour_of, picture_in, rows, words_in
from models_server import Received, Server, chat, respond_json, serving_in_thread
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.validation import validate_benchmark
from sightline.calls.budget import Budget
from sightline.calls.ledger import read_ledger
from sightline.calls.session import CallOptions, Session
from sightline.config import Config
from sightline.errors import StoppedError, UserError
from sightline.mining.checks import NO_LOOK, OTHER_LOOK
from sightline.mining.pipeline import STAGES, Mining, MiningResult
from sightline.mining.project import MiningSettings, OwnerRules
from sightline.models.protocols import Pixels, Vectors
from sightline.pictures import scan
from sightline.types import PictureSet, Review, Task
from sightline.types.task_table import Tasks

DAYS = {0: ["red", "green", "green"], 20: ["green", "blue"], 40: ["green", "yellow"]}
RULES = OwnerRules(pictures=5, coverage=0.0, events=2, days=10)


class ByColour:
    """An embedder whose space is colours."""

    name, revision, dim = "by-colour", "1", 3

    def pictures(self, batch: Sequence[Pixels]) -> Vectors:
        return np.array([pixels.mean((0, 1)) / np.linalg.norm(pixels.mean((0, 1))) for pixels in batch], np.float32)

    def texts(self, batch: Sequence[str]) -> Vectors:
        found = [next((rgb for name, rgb in COLOURS.items() if name in text), (1, 1, 1)) for text in batch]
        return np.array([np.array(rgb) / np.linalg.norm(rgb) for rgb in found], np.float32)


def history(folder: Path) -> Path:
    """Pictures of one colour each, on three days."""
    folder.mkdir()
    for day, colours in DAYS.items():
        for number, colour in enumerate(colours):
            taken = datetime(2021, 5, 1, 10) + timedelta(days=day, hours=number)
            exif = Image.Exif()
            exif.get_ifd(0x8769)[0x9003] = taken.strftime("%Y:%m:%d %H:%M:%S")
            shade = tuple(max(0, part - number - day) for part in COLOURS[colour])
            size = (80 + 7 * number, 60 + day)
            Image.new("RGB", size, shade).save(folder / f"{day:02}{number}{colour}.jpg", exif=exif)
    return folder


THINGS = {"red": "kite", "green": "ball", "blue": "dog", "yellow": "tent"}


def parsed(colour: str) -> dict[str, Any]:
    described = {"description": f"a {colour} {THINGS[colour]}", "landmark": False, "confidence": 0.9}
    thing = {"kind": THINGS[colour], "colour": colour, **described}
    return {"summary": f"{colour}", "place": "room", "objects": [thing], "visible_text": [], "people": []}


def colours_in(request: Received) -> list[str]:
    """Of all pictures that were sent."""
    parts = request.json["messages"][-1]["content"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [colour_of(base64.b64decode(url.partition(",")[2])) for url in urls]


def answer(request: Received) -> Any:
    return respond_json(chat(json.dumps(said_to(request))))


def said_to(request: Received) -> Any:
    """Reads a picture, compares by colour, and writes one request about the labels that it is shown."""
    fields = request.json["response_format"]["json_schema"]["schema"]["properties"]
    if "summary" in fields:
        data = picture_in(request)
        assert data is not None
        said: Any = parsed(colour_of(data))
    elif "queries" in fields:
        notes = words_in(request).splitlines()
        red = next((line.split(":")[0] for line in notes if ": a red kite (" in line), None)
        green = next((line.split(":")[0] for line in notes if ": a green ball (" in line), None)
        one = {"query": "the balls of the red one's day", "relation": "same-event", "link": "", "reasoning": "r"}
        known = red is not None and green is not None
        said = {"queries": [{**one, "anchor": [red], "target": [green], "photos": []}] if known else []}
    elif "Query: a green ball" in words_in(request) and "source" not in words_in(request):
        seen = zip(fields, colours_in(request), strict=True)
        said = {
            name: {"photo": name, "match": colour == "green", "reason": "r", "confidence": 0.9} for name, colour in seen
        }
    else:
        source, *others = colours_in(request)
        said = {}
        for name, colour in zip(fields, others, strict=True):
            same = colour == source
            rule = "matching-features" if same else "none"
            said[name] = {"photo": name, "match": same, "rule": rule, "reason": colour, "confidence": 0.9}
    return said


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    scan(history(tmp_path / "pictures"), workspace=tmp_path / "ws")
    return tmp_path / "ws"


def mining(workspace: Path, server: Server, config: Config | None = None, **asking: Any) -> Mining:
    bounds: dict[str, Any] = {"metadata_bound": 1.1, "retrieval_bound": 1.1}
    settings = MiningSettings("vllm/seer", writer="vllm/seer", rules=RULES, queries=2, **bounds)
    desk = Session(workspace, config or Config(), CallOptions(base_url=server.base_url, **asking))
    return Mining(desk, workspace / "mine", settings, ByColour())


def test_all_stages_by_a_model_make_a_benchmark_and_cost_nothing_again(workspace: Path, tmp_path: Path) -> None:
    with serving_in_thread(answer) as server:
        told: list[MiningResult] = []
        made = mining(workspace, server).run_all(tmp_path / "bench", told.append)
        asked = len(server.requests)
        again = mining(workspace, server).run_all(tmp_path / "bench")
        assert len(server.requests) == asked and again == made
    assert [done.stage for done in told] == list(STAGES)
    assert told[0].counts["read"] == 7 and told[1].counts["comparisons"] > 0
    assert not validate_benchmark(tmp_path / "bench")
    ((task, truth),) = [(made.tasks[id_], truth) for id_, truth in made.truth.items()]
    assert truth == PictureSet(("001green.jpg", "002green.jpg"))
    assert task.labels["event_type"] == ("intra-event",) and task.extra["review"] == "waiting"
    assert {group.kind for group in made.corpus.groups if group.hidden} == {"event"}
    assert {(each.picture, each.tier) for each in made.candidates} >= {("001green.jpg", "positive")}
    assert made.card["retention"]["check"]["kept"] == 1  # type: ignore[index,call-overload]


def test_a_second_look_that_sees_others_refuses_a_request(workspace: Path) -> None:
    def blinking(request: Received) -> Any:
        reply = answer(request)
        if "Say for each photo whether it shows what is asked for" not in words_in(request):
            return reply
        fields = request.json["response_format"]["json_schema"]["schema"]["properties"]
        no = {"match": False, "reason": "r", "confidence": 0.9}
        return respond_json(chat(json.dumps({name: {"photo": name, **no} for name in fields})))

    with serving_in_thread(blinking) as server:
        mined = mining(workspace, server)
        for stage in STAGES:
            done = mined.run(stage)
    assert done.counts["kept"] == 0 and done.counts["refused"] == {OTHER_LOOK: 1}


def test_without_the_second_look_nothing_is_kept(workspace: Path) -> None:
    def failing(request: Received) -> Any:
        if "Say for each photo whether it shows what is asked for" in words_in(request):
            return respond_json({"error": {"message": "no"}}, 400)
        return answer(request)

    with serving_in_thread(failing) as server:
        mined = mining(workspace, server)
        for stage in STAGES:
            done = mined.run(stage)
    assert done.counts["refused"] == {NO_LOOK: 1} and sum(done.failures.values()) == 1


def test_calls_that_fail_are_counted_and_listed(workspace: Path) -> None:
    def failing(request: Received) -> Any:
        data = picture_in(request)
        if data is not None and colour_of(data) == "yellow":
            return respond_json({"error": {"message": "no"}}, 400)
        return answer(request)

    with serving_in_thread(failing) as server:
        done = mining(workspace, server).run("parse")
    assert done.counts["read"] == 6 and sum(done.failures.values()) == 1
    (row,) = rows(workspace / "mine" / "parsed_failed.jsonl")
    assert row["picture"] == "401yellow.jpg"


def test_pictures_that_are_not_read_are_left_out_and_cost_the_others_nothing(workspace: Path, tmp_path: Path) -> None:
    def refusing(request: Received) -> Any:
        data = picture_in(request)
        fields = request.json["response_format"]["json_schema"]["schema"]["properties"]
        if data is not None and "summary" in fields and colour_of(data) in ("yellow", "blue"):
            return respond_json({"error": {"message": "no"}}, 400)
        return answer(request)

    with serving_in_thread(refusing) as server:
        told: list[MiningResult] = []
        made = mining(workspace, server).run_all(tmp_path / "bench", told.append)
    assert list(made.truth.values()) == [PictureSet(("001green.jpg", "002green.jpg"))]
    assert not {"201blue.jpg", "401yellow.jpg"} & made.corpus.pictures.keys() and made.card["left_out"] == 2
    assert "left out of the history, because it was not read: 2 pictures" in told[0].notes[0]
    json.dumps([done.to_json() for done in told])  # Failures by kind are plain names.
    assert sum(told[0].to_json()["failures"].values()) == 2


def test_where_every_call_fails_it_stops_and_says_why(workspace: Path, tmp_path: Path) -> None:
    with serving_in_thread(lambda _: respond_json({"error": {"message": "not today"}}, 400)) as server:
        told: list[MiningResult] = []
        with pytest.raises(UserError, match=r"no picture could be read, of 7; .*not today.*parsed_failed\.jsonl"):
            mining(workspace, server).run_all(tmp_path / "bench", told.append)
    assert [done.stage for done in told] == ["parse"]


def test_a_stage_says_what_was_paid_now_and_what_was_reused(workspace: Path) -> None:
    config = Config.model_validate({"prices": {"models": {"vllm/seer": {"input": 1.0, "output": 1.0}}}})

    def failing(request: Received) -> Any:
        data = picture_in(request)
        if data is not None and colour_of(data) == "yellow":  # Paid for, and no answer.
            return respond_json(chat("", finish_reason="content_filter"))
        return answer(request)

    with serving_in_thread(failing) as server:
        first = mining(workspace, server, config).run("parse")
        spent = read_ledger(workspace).total
        again = mining(workspace, server, config).run("parse")
    assert sum(first.failures.values()) == 1
    assert first.bill.spent.usd == pytest.approx(spent.usd) and spent.usd > 0 and spent.failed == 1
    assert again.bill.spent.usd == 0 and again.bill.spent.from_journal == 7
    assert str(again.bill).startswith("$0.00 · 7 replies reused ($")


def test_reviews_of_people_and_other_benchmarks_are_not_overwritten(workspace: Path, tmp_path: Path) -> None:
    with serving_in_thread(answer) as server:
        made = mining(workspace, server).run_all(tmp_path / "bench")
        (task,) = made.tasks
        review = Review(task, "ana", "accept", datetime(2026, 1, 1, tzinfo=UTC), "001green.jpg")
        write_benchmark(replace(made, reviews=(review,)), tmp_path / "bench")
        write_benchmark(replace(made, name="other", card={}), tmp_path / "other")
        asked = len(server.requests)
        with pytest.raises(UserError, match="people have reviewed"):
            mining(workspace, server).run_all(tmp_path / "bench")
        with pytest.raises(UserError, match="another kind"):
            mining(workspace, server).run_all(tmp_path / "other")
        with pytest.raises(UserError, match="can't be written"):
            mining(workspace, server).run_all(Path("/proc/nowhere/bench"))
        assert len(server.requests) == asked
    assert read_benchmark(tmp_path / "bench").reviews == (review,)


def test_what_was_mined_of_other_pictures_is_left_as_it_is(workspace: Path, tmp_path: Path) -> None:
    """Cameras give their pictures the same names."""
    with serving_in_thread(answer) as server:
        made = mining(workspace, server).run_all(tmp_path / "bench")
        pictures = {id_: replace(each, sha256="ab" * 32) for id_, each in made.corpus.pictures.items()}
        theirs = write_benchmark(replace(made, corpus=replace(made.corpus, pictures=pictures)), tmp_path / "bench")
        asked = len(server.requests)
        for mine in (Mining.run_all, Mining.assemble):
            with pytest.raises(UserError, match='holds another benchmark "bench": 1 task of it'):
                mine(mining(workspace, server), tmp_path / "bench")
        assert len(server.requests) == asked
        assert read_benchmark(tmp_path / "bench") == theirs
        pictures["001green.jpg"] = made.corpus.pictures["001green.jpg"]
        corpus, others = replace(made.corpus, pictures=pictures), {"u": Task("u", "select", ("a tree",))}
        write_benchmark(replace(made, corpus=corpus, tasks=Tasks(others), truth={}, candidates=()), tmp_path / "bench")
        assert mining(workspace, server).run_all(tmp_path / "bench").tasks == made.tasks


def test_what_is_wrong_with_the_means_is_found_before_anything_is_asked(workspace: Path, tmp_path: Path) -> None:
    with serving_in_thread(answer) as server:
        wrongs: list[dict[str, Any]] = [{"writer": "nonsense/x"}, {"embedder": "nonsense"}]
        for wrong in wrongs:
            mined = mining(workspace, server)
            told = replace(mined.settings, **wrong)
            with pytest.raises(UserError, match="nonsense"):
                Mining(mined.session, tmp_path / "mine", told).run_all(tmp_path / "bench")
        assert not server.requests


def test_a_reviewer_finds_anchor_events_and_when_and_where(workspace: Path, tmp_path: Path) -> None:
    with serving_in_thread(answer) as server:
        made = mining(workspace, server).run_all(tmp_path / "bench")
    (task,) = made.tasks.values()
    mined: Any = task.extra["mined"]
    assert mined["anchor"] == {"text": "a red kite", "pictures": ["000red.jpg"]} and mined["link"] is None
    assert mined["target"] == {"text": "a green ball", "pictures": ["001green.jpg", "002green.jpg"]}
    (event,) = mined["events"]
    assert event["from"].startswith("2021-05-01T10") and event["anchor"] and event["meant"]
    assert event["pictures"] == ["000red.jpg", "001green.jpg", "002green.jpg"]


def test_the_targets_of_a_free_request_are_looked_at_once_more(workspace: Path) -> None:
    def free(request: Received) -> Any:
        said = said_to(request)
        if "queries" in said:
            green = [line.split(":")[0] for line in words_in(request).splitlines() if line.endswith(": green")]
            said = {"queries": [{**each, "relation": "free", "photos": green[:2]} for each in said["queries"]]}
        return respond_json(chat(json.dumps(said)))

    with serving_in_thread(free) as server:
        mined = mining(workspace, server)
        for stage in STAGES:
            done = mined.run(stage)
        looks = [each for each in server.requests if "Say for each photo whether" in words_in(each)]
    assert done.counts["kept"] >= 1 and looks
    assert all(colours_in(each) == ["green", "green"] for each in looks)


def test_a_budget_stops_with_what_was_done_and_the_next_run_goes_on(workspace: Path) -> None:
    config = Config.model_validate({"prices": {"models": {"vllm/seer": {"input": 0.0, "output": 1_000_000.0}}}})
    with serving_in_thread(answer) as server:
        planned = mining(workspace, server, config).plan()
        assert [stage.stage for stage in planned.stages] == [
            "mine-parse",
            "mine-associate",
            "mine-queries",
            "mine-check",
        ]
        assert not server.requests
        with pytest.raises(StoppedError, match="of 7 pictures were read"):
            mining(workspace, server, config, budget=Budget(4_011.0)).run("parse")
        done = len(rows(workspace / "mine" / "parsed.jsonl"))
        assert 0 < done == len(server.requests) < 7
        assert mining(workspace, server, config).run("parse").counts["read"] == 7
        assert len(server.requests) == 7


def test_a_stage_without_its_file_names_the_stage_that_makes_it(workspace: Path) -> None:
    with serving_in_thread(answer) as server, pytest.raises(UserError, match=r"parsed\.jsonl") as caught:
        mining(workspace, server).run("associate")
    assert "sightline mine parse" in str(caught.value)


def test_drafts_of_another_graph_are_refused(workspace: Path, tmp_path: Path) -> None:
    with serving_in_thread(answer) as server:
        mining(workspace, server).run_all(tmp_path / "bench")
        drafts = workspace / "mine" / "queries.jsonl"
        drafts.write_text(drafts.read_text().replace('"owner":"all"', '"owner":"bo"'))
        with pytest.raises(UserError, match="bo, whom the graph does not know"):
            mining(workspace, server).run("check")
        drafts.write_text(drafts.read_text().replace('"owner":"bo"', '"owner":"all"').replace("001green", "gone"))
        with pytest.raises(UserError, match=r"gone\.jpg, which the graph does not know"):
            mining(workspace, server).run("check")


def test_other_things_are_not_overwritten_and_nothing_is_asked(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with serving_in_thread(answer) as server:
        with pytest.raises(UserError, match="holds other things"):
            mining(workspace, server).run_all(tmp_path / "other")
        assert not server.requests


def test_no_id_of_a_picture_goes_to_the_model(workspace: Path, tmp_path: Path) -> None:
    with serving_in_thread(answer) as server:
        mining(workspace, server).run_all(tmp_path / "bench")
        said = "\n".join(words_in(request) for request in server.requests)
    assert ".jpg" not in said and "event/" not in said
