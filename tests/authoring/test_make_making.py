"""`sightline.make(…)`: all stages or one by one call, the same as the command."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import sightline
from judging_tools import grades_for, judgments
from make_tools import COLOURS, colour_config, colour_of, describing, draw, flat, notes, picture_in, rows, write_rows
from make_tools import seeing as serving
from models_server import Received
from search_tools import Colours
from sightline.authoring.cost_estimate import pool_size
from sightline.authoring.plan import PlanStage
from sightline.authoring.publish import PublishStage
from sightline.authoring.stage import BatchOptions, StageResult
from sightline.authoring.summary import SummaryStage
from sightline.benchmark.folder import write_benchmark
from sightline.calls.session import CallOptions, Session
from sightline.cli.app import main
from sightline.config import Config
from sightline.errors import UserError
from sightline.types import Benchmark, Corpus

ALL = ("pictures", "annotate", "plan", "query", "judge", "similarity", "audit", "assemble")


def everything(request: Received) -> Any:
    """One model for all: it annotates, words queries and judges by the colours that it sees."""
    match request.json["response_format"]["json_schema"]["name"]:
        case "sightline_annotation":
            data = picture_in(request)
            assert data is not None
            return describing(colour_of(data))
        case "sightline_query":
            data = picture_in(request)
            assert data is not None
            return {"query_text": f"{colour_of(data)} plain field"}
        case _:
            return judgments(grades_for(request))


def config(**table: Any) -> Config:
    base = colour_config().model_dump(exclude_unset=True)
    tables = {"plan": {"seeds": 3}, "judge": {"retrievers": ("words",), "depth": 2, "outside": 1}, **table}
    return Config.model_validate({**base, **tables})


def test_a_folder_becomes_a_benchmark_by_one_call(tmp_path: Path) -> None:
    folder = draw(tmp_path / "pictures", *COLOURS, *COLOURS)
    told: list[StageResult] = []
    with serving(everything) as server:
        made = sightline.make(
            folder,
            model="vllm/seer",
            embedder=Colours(),
            watch=told.append,
            session=Session(
                tmp_path / "ws", config(query={"styles": ["keyword"]}), CallOptions(base_url=server.base_url)
            ),
        )
        asked = len(server.requests)
        again = sightline.make(
            folder,
            model="vllm/seer",
            embedder=Colours(),
            session=Session(
                tmp_path / "ws", config(query={"styles": ["keyword"]}), CallOptions(base_url=server.base_url)
            ),
        )
        assert len(server.requests) == asked, "nothing is paid for twice"
    assert tuple(told) == made.stages
    assert [stage.stage for stage in made.stages] == [*ALL, "summary"]
    assert made.bench == made.folder / "benchmark"
    benchmark = made.benchmark()
    assert len(benchmark.tasks) == 3
    assert {judgment.judge for judgment in benchmark.judgments} == {"vllm/seer"}
    assert again.benchmark().truth == benchmark.truth
    assert made.to_json()["stages"][2]["stage"] == "plan"
    assert any("no person has checked any label" in warning for warning in made.warnings)


def test_a_stage_by_its_name_on_files_alone(tmp_path: Path) -> None:
    write_rows(tmp_path / "A.jsonl", [flat(note) for note in notes(60)])
    found = sightline.make(
        stage="plan",
        given={"annotations": tmp_path / "A.jsonl"},
        out=tmp_path / "P.jsonl",
        seed=5,
        session=Session(tmp_path / "ws", config()),
    )
    (stage,) = found.stages
    assert (stage.stage, stage.counts["queries"]) == ("plan", 3)
    assert len(rows(tmp_path / "P.jsonl")) == 3
    assert (found.usd, found.bench) == (0.0, None)
    with pytest.raises(UserError, match="has no benchmark yet"):
        found.benchmark()
    again = sightline.make(
        stage=PlanStage(),
        given={"annotations": tmp_path / "A.jsonl", "plan": tmp_path / "Q.jsonl", "seeds": tmp_path / "seeds.jsonl"},
        seed=5,
        session=Session(tmp_path / "ws", config()),
    )
    assert again.stages[0].counts == stage.counts
    assert rows(tmp_path / "Q.jsonl") == rows(tmp_path / "P.jsonl")


@pytest.mark.parametrize(
    ("options", "said", "fix"),
    [
        ({"stage": "anotate"}, 'no stage "anotate"', "annotate"),
        ({"stage": "plan"}, "plan takes no folder", 'stage="pictures"'),
        ({"given": {"annotation": "A.jsonl"}}, 'no file called "annotation"', "annotations"),
        ({"out": "P.jsonl"}, "is a file; this takes a folder", "name a folder"),
    ],
)
def test_what_is_misspelt_is_named(tmp_path: Path, options: dict[str, Any], said: str, fix: str) -> None:
    with pytest.raises(UserError, match=said) as error:
        sightline.make(tmp_path, **options, session=Session(tmp_path / "ws", config()))
    assert fix in str(error.value.fix)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"positives": 0, "neutrals": 0, "hard": 0, "near": 0, "easy": 0}, "are all 0"),
        ({"core_facets": ["color"]}, 'plan.core_facets names "color"'),
    ],
)
def test_settings_that_no_plan_can_come_of_are_refused_before_anything_is_paid_for(
    tmp_path: Path, plan: dict[str, Any], said: str
) -> None:
    folder = draw(tmp_path / "pictures", *COLOURS)
    with serving(everything) as server, pytest.raises(UserError, match=said):
        sightline.make(
            folder, session=Session(tmp_path / "ws", config(plan=plan), CallOptions(base_url=server.base_url))
        )
    assert server.requests == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"embedder": "onnx:nowhere/model"}, "nowhere"),
        ({"judges": ["openai/gpt-5-mini"]}, "OPENAI_API_KEY"),
    ],
)
def test_what_a_later_stage_needs_is_checked_before_anything_is_paid_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], said: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    folder = draw(tmp_path / "pictures", *COLOURS)

    async def in_a_notebook() -> None:  # Where an event loop runs already.
        sightline.make(folder, session=Session(tmp_path / "ws", settings), **options)

    with serving(everything) as server, pytest.raises(UserError) as error:
        settings = config(annotate={**config().annotate.model_dump(), "model": f"vllm/seer@{server.base_url}"})
        asyncio.run(in_a_notebook())
    assert said in f"{error.value.message} {error.value.fix}"
    assert server.requests == []


def test_what_there_is_to_say_about_the_configuration_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    draw(tmp_path / "pictures", *COLOURS)
    quotas = "query_plan_neg_total = 9\nquery_plan_neg_hard = 1\nquery_plan_neg_nearmiss = 1\nquery_plan_neg_easy = 1\n"
    (tmp_path / "config.toml").write_text(f"{quotas}[columns_taxonomy]\ncolour = {json.dumps(list(COLOURS))}\n")
    main(["make", "./pictures", "--plan", "--config", "config.toml", "--model", "vllm/seer"])
    said = capsys.readouterr().err
    assert said.count("query_plan_neg_total is 9") == 1


def test_a_folder_that_is_called_like_a_stage_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    draw(tmp_path / "pictures", *COLOURS)
    with pytest.raises(SystemExit) as stopped:
        main(["make", "pictures"])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert '"sightline make pictures" is the stage that lists pictures, and not the folder "pictures"' in said
    assert "sightline make ./pictures" in said and "sightline make pictures ./pictures" in said


def test_other_pictures_are_not_listed_into_a_project_that_was_made_of_some(tmp_path: Path) -> None:
    """Else its seeds and queries would be judged with pictures that nobody planned them for."""
    first, second = draw(tmp_path / "first", "red", "green"), draw(tmp_path / "second", "blue", "red")
    workspace = tmp_path / "ws"
    for folder in (second, first, first):  # Nothing was made of the first list yet: a folder may be named by mistake.
        made = sightline.make(folder, "pictures", session=Session(workspace, config()))
    images, notes_of = made.folder / "images.jsonl", made.folder / "annotations.jsonl"
    notes_of.write_text("{}\n")
    before = images.read_bytes()
    for asking in (CallOptions(), CallOptions(plan=True)):
        with pytest.raises(
            UserError, match=r"was made of other pictures, such as file://.*/first/.*; .*second has none"
        ):
            sightline.make(second, session=Session(workspace, config(), asking))
    assert images.read_bytes() == before and notes_of.read_text() == "{}\n"
    draw(first, "red", "green", "blue")  # More, and others under the same names, are the same collection.
    assert sightline.make(first, "pictures", session=Session(workspace, config())).stages[0].counts["pictures"] == 3


def test_a_benchmark_of_another_name_is_found_before_anything_is_made(tmp_path: Path) -> None:
    """As where two names are the same as a folder's: "a b" and "a-b"."""
    folder = draw(tmp_path / "pictures", "red", "green")
    write_benchmark(Benchmark("a b", Corpus("a b", {}), {}, {}), tmp_path / "ws" / "make" / "a-b" / "benchmark")
    with pytest.raises(UserError, match='holds the benchmark "a b", not "a-b"'):
        sightline.make(folder, session=Session(tmp_path / "ws", config(benchmark={"name": "a-b"})))
    assert not (tmp_path / "ws" / "make" / "a-b" / "images.jsonl").exists()


def test_what_is_not_there_or_can_not_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draw(tmp_path / "pictures", "red", "green")
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="no folder annotat, and no stage") as refused:
        sightline.make("annotat")
    assert refused.value.fix == 'did you mean "annotate"?'
    with pytest.raises(UserError, match=r"file/images.jsonl can't be written: File exists"):
        sightline.make("pictures", "pictures", out="file", session=Session(config=config()))
    for stage in (SummaryStage(Path("gone")), PublishStage(Path("gone"), dry_run=True)):
        with pytest.raises(UserError, match="there is no folder gone"):
            sightline.make(stage=stage, session=Session(config=config()))


def test_builtin_photos_has_no_batches_and_is_not_spread(tmp_path: Path) -> None:
    folder = draw(tmp_path / "pictures", *COLOURS)
    for batch, engine, said in (
        (BatchOptions(), "local", "has no batches"),
        (None, "ray", "nothing for --engine ray"),
    ):
        with pytest.raises(UserError, match=said):
            sightline.make(folder, batch=batch, session=Session(tmp_path / "ws", Config(), engine=engine))


@pytest.mark.slow
def test_annotating_on_ray_says_the_same_as_here(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    folder = draw(tmp_path / "pictures", *COLOURS, *COLOURS)
    said = []
    with serving(everything) as server:
        for engine in ("local", "ray"):
            workspace, asking = tmp_path / engine, CallOptions(base_url=server.base_url)
            found = sightline.make(folder, "annotate", session=Session(workspace, config(), asking, engine=engine))
            assert found.stages[1].counts == {"annotated": 8, "kept": 0}
            said.append(rows(found.folder / "annotations.jsonl"))
        assert len(server.requests) == 16
    assert said[0] == said[1]


def priced(**table: Any) -> Config:
    prices = {"models": {"vllm/seer": {"input": 1.0, "output": 10.0}}}
    return config(prices=prices, **table)


def test_a_plan_prices_every_stage_that_asks(tmp_path: Path) -> None:
    """Also those that nothing is known of yet: they would be most of the money."""
    folder = draw(tmp_path / "pictures", *COLOURS, *COLOURS)
    seeds = {"seeds": 3, "positives": 2, "neutrals": 1, "hard": 1, "near": 0, "easy": 0, "random": 0}
    judge = {"retrievers": ("words",), "depth": 1, "outside": 0, "together": 2}
    settings = priced(plan=seeds, judge=judge)
    with serving(everything) as server:
        session = Session(tmp_path / "ws", settings, base_url=server.base_url)
        plan = sightline.dry_run(sightline.make, folder, model="vllm/seer", session=session)
        assert server.requests == []
        stages = {stage.stage: stage for stage in plan.stages}
        assert {name: stage.calls for name, stage in stages.items()} == {
            "annotate": len(COLOURS) * 2,
            "query": 3,
            "judge": 3 * 3,  # A seed, four of the tiers and one found: six pictures, two in a call.
        }
        assert "an estimate: 3 seeds × 6 pictures at most, 2 in a call" in stages["judge"].basis
        assert "estimate" in stages["query"].basis
        assert "estimate" not in stages["annotate"].basis
        assert plan.usd is not None
        assert plan.usd.likely > stages["annotate"].usd.likely  # type: ignore[union-attr]
        sightline.make(folder, embedder=Colours(), model="vllm/seer", session=session)
        done = sightline.dry_run(sightline.make, folder, model="vllm/seer", session=session)
    assert [stage.calls for stage in done.stages] == [0, 0, 0]
    assert not any("estimate" in stage.basis for stage in done.stages)


def test_a_pool_is_no_larger_than_what_there_is_and_what_is_judged() -> None:
    assert pool_size(Config(), 1_000) == 1 + 40 + 3 * 10 + 3
    assert pool_size(Config(), 30) == 30
    assert pool_size(Config.model_validate({"judge": {"max_candidates": 5}}), 1_000) == 5 + 3


def test_a_plan_is_one_object_and_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    draw(tmp_path / "pictures", *COLOURS)
    command = ["make", "./pictures", "--plan", "--model", "openai/gpt-5-mini"]
    main([*command, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [stage["stage"] for stage in found["stages"]] == ["taxonomy", "annotate", "query", "judge"]
    main(command)
    said = capsys.readouterr().out
    assert said.count("nothing has been spent") == 1
    assert "together $" in said
