"""The defects of benchmaker that concern annotating, planning and wording queries; each test's number is theirs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import orjson
import pytest

from batch_server import BatchWorld, Row, batch_world, completion
from make_tools import (
    COLOURS,
    colour_config,
    describing,
    draw,
    flat,
    jaccard,
    notes,
    picture_in,
    project_in,
    rows,
    seeing,
    settings,
    with_calls,
    words_in,
    write_rows,
)
from sightline.authoring.annotate import AnnotateStage
from sightline.authoring.pictures import PicturesStage
from sightline.authoring.plan import PlanStage
from sightline.authoring.plan_table import PictureTable
from sightline.authoring.plan_tiers import TierPlanner
from sightline.authoring.project import ANNOTATIONS, PLAN, QUERIES, SEEDS, Project
from sightline.authoring.project_files import SeededQuery, pool_problems, read_plan, read_seeds
from sightline.authoring.query import QueryStage
from sightline.authoring.stage import BatchOptions
from sightline.calls.session import CallOptions
from sightline.config import Config, load
from sightline.errors import StoppedError

CONFIGS = Path(__file__).parents[1] / "config" / "files"
CUSTOM = {
    "image_id": "photo", "query_id": "number", "query": "words", "seeds": "examples", "candidates": "pool",
    "tags": "labels", "summary": "caption", "confidence": "sure",
}  # fmt: skip


def begun(tmp_path: Path, config: Config) -> Project:
    project = project_in(tmp_path, config)
    PicturesStage(draw(tmp_path / "pictures", *COLOURS)).run(project)
    return project


def answering(row: Row) -> Row:
    """What a batch answers: the colours, by the name of the file that the line speaks of."""
    colour = next(colour for colour in COLOURS if colour in row["custom_id"])
    body = completion(orjson.dumps(describing(colour)).decode())
    return {"id": "r", "custom_id": row["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}


def lines_of(world: BatchWorld) -> list[Row]:
    """Every line of every file that was uploaded."""
    uploaded = [data for name, data in world.files.values() if data.startswith(b'{"custom_id"') and b'"body"' in data]
    return [orjson.loads(line) for data in uploaded for line in data.splitlines()]


def test_1_no_core_facets_still_makes_hard_near_and_easy_negatives() -> None:
    found = notes(400)
    by_id = {note.picture_id: note for note in found}
    planner = TierPlanner(
        PictureTable(found), settings(core_facets=(), positives=0, neutrals=0, hard=25, near=10, easy=5)
    )
    means: dict[str, list[float]] = {"hard": [], "near": [], "easy": []}
    for seed in found[:20]:
        pool = planner.plan(SeededQuery(seed.picture_id, (seed.picture_id,)))
        for tier, values in means.items():
            some = [jaccard(by_id[one.picture].tags, seed.tags) for one in pool.candidates if one.tier == tier]
            values.append(mean(some))
    assert all(nearer > 1.3 * farther for nearer, farther in pairwise(map(mean, means.values())))


def test_2_metadata_is_in_live_calls_and_in_batches(tmp_path: Path) -> None:
    metadata = write_rows(tmp_path / "meta.jsonl", [{"image_id": "00_red.png", "camera": "north"}])
    config = colour_config(user_prompt="Camera: {metadata.camera}")
    config = config.model_copy(update={"paths": config.paths.model_copy(update={"metadata": metadata})})
    with seeing() as server:
        AnnotateStage().run(with_calls(begun(tmp_path / "live", config), CallOptions(base_url=server.base_url)))
    assert sum("Camera: north" in words_in(request) for request in server.requests) == 1
    with batch_world(work=answering) as world:
        stage = AnnotateStage(batch=BatchOptions(every=0.01))
        stage.run(with_calls(begun(tmp_path / "batch", config), CallOptions(base_url=world.base_url)))
        assert sum("Camera: north" in str(line["body"]) for line in lines_of(world)) == 1


def test_3_the_configured_limits_are_those_that_are_sent(tmp_path: Path) -> None:
    config = colour_config(max_output_tokens=6001, reasoning_effort="high", image_detail="high")
    with seeing() as server:
        AnnotateStage().run(with_calls(begun(tmp_path, config), CallOptions(base_url=server.base_url)))
    sent = server.requests[0].json
    assert (sent["max_tokens"], sent["reasoning_effort"]) == (6001, "high")
    assert '"detail": "high"' in str(sent).replace("'", '"')


def test_4_a_server_needs_no_local_model_and_a_missing_one_names_its_extra(tmp_path: Path) -> None:
    code = r"""
import sys
for name in ("torch", "transformers", "onnxruntime", "openai"):
    sys.modules[name] = None
from pathlib import Path
from make_tools import begun_and_asked
for line in begun_and_asked(Path(sys.argv[1])):
    sys.stdout.write(line + "\n")
"""
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.stdout == "annotated 4\npip install 'sightline[photos]'\n", ran.stderr[-800:]


@pytest.mark.parametrize("name", ["shipped_example.toml", "firebench_shape.toml", "quick_start.toml"])
def test_5_shipped_configurations_load_and_plan(tmp_path: Path, name: str) -> None:
    config = load(CONFIGS / name, environment={}).config
    config = config.model_copy(update={"paths": Config().paths})
    project = project_in(tmp_path, config)
    write_rows(project.path(ANNOTATIONS), [flat(note) for note in notes(200)])
    done = PlanStage().run(project)
    assert done.counts["queries"] == min(config.plan.seeds, 200)
    assert done.counts["hard"] > 0


def test_6_and_9_custom_column_names_reach_every_file(tmp_path: Path) -> None:
    config = Config.model_validate({"columns": CUSTOM, "plan": {"seeds": 5, "core_facets": ("subject",)}})
    project = project_in(tmp_path, config)
    renamed = {"image_id": "photo", "tags": "labels", "summary": "caption", "confidence": "sure"}
    found = [{renamed.get(key, key): value for key, value in flat(note).items()} for note in notes(100)]
    write_rows(project.path(ANNOTATIONS), found)
    PlanStage().run(project)
    QueryStage().run(project)
    seeds, plan, queries = (rows(project.path(name))[0] for name in (SEEDS, PLAN, QUERIES))
    assert seeds.keys() == {"number", "examples"}
    assert {"number", "examples", "pool"} <= plan.keys()
    assert plan["candidates"][0].keys() == {"photo", "tier", "score"}
    assert {"number", "words", "examples"} <= queries.keys()
    assert read_seeds(project.path(SEEDS), config)[0][0] == SeededQuery("query_001", tuple(seeds["examples"]))
    assert read_plan(project.path(PLAN), config)["query_001"].pictures == tuple(plan["pool"])


def test_10_running_again_never_doubles_a_row(tmp_path: Path) -> None:
    project = begun(tmp_path, colour_config())
    with batch_world(work=answering) as world:
        stage, asking = AnnotateStage(batch=BatchOptions(every=0.01)), CallOptions(base_url=world.base_url)
        stage.run(with_calls(project, asking))
        first = project.path(ANNOTATIONS).read_bytes()
        again = stage.run(with_calls(project, asking))
        project.path(ANNOTATIONS).unlink()
        stage.run(with_calls(project, asking))
        assert len(world.batches) == 1
        assert not world.live
    assert again.counts == {"annotated": 0, "kept": 4}
    assert project.path(ANNOTATIONS).read_bytes() == first
    assert (
        len({row["image_id"] for row in rows(project.path(ANNOTATIONS))}) == len(rows(project.path(ANNOTATIONS))) == 4
    )


def test_11_without_waiting_nothing_is_written_and_the_same_batch_goes_on(tmp_path: Path) -> None:
    project = begun(tmp_path, colour_config())
    with batch_world(work=answering) as world:
        asking = CallOptions(base_url=world.base_url)
        with pytest.raises(StoppedError, match="nothing was written") as stopped:
            AnnotateStage(batch=BatchOptions(wait=False)).run(with_calls(project, asking))
        assert stopped.value.exit_code == 3
        assert not project.path(ANNOTATIONS).exists()
        done = AnnotateStage(batch=BatchOptions(every=0.01)).run(with_calls(project, asking))
        assert done.counts == {"annotated": 4, "kept": 0}
        assert len(world.batches) == 1


def test_12_seeds_come_first_and_judgments_are_held_against_the_pool() -> None:
    found = notes(200)
    pool = TierPlanner(PictureTable(found), settings()).plan(SeededQuery("q", ("0003.jpg", "0009.jpg")))
    assert pool.pictures[:2] == ("0003.jpg", "0009.jpg")
    judged = dict.fromkeys(pool.pictures, 0) | {"0003.jpg": 1, "0009.jpg": 1}

    def problems(change: Callable[[dict[str, int]], object]) -> list[str]:
        some = dict(judged)
        change(some)
        return pool_problems(pool, some, [picture for picture, grade in some.items() if grade])

    assert problems(lambda some: None) == []
    assert problems(lambda some: some.update(stranger=1)) == ['"stranger" was judged, but is not in the pool']
    assert "not judged" in problems(lambda some: some.pop(pool.pictures[-1]))[0]
    assert problems(lambda some: some.update({"0003.jpg": 0})) == ['the seed "0003.jpg" was not judged relevant']


def test_15_nought_is_a_seed_and_a_quota() -> None:
    table = PictureTable(notes(300))
    query = SeededQuery("q", ("0003.jpg",))
    nought, other = (TierPlanner(table, settings(random_seed=seed)).plan(query) for seed in (0, 42))
    assert nought.of_tier("random") != other.of_tier("random")
    assert not TierPlanner(table, settings(easy=0)).plan(query).of_tier("easy")


def test_15_a_query_looks_at_few_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    table = PictureTable(notes(3000))
    planner = TierPlanner(table, settings(core_facets=("place", "weather", "subject", "has_people")))
    overlap = table.tags.overlap

    def counting(tags: Any, among: Any = None) -> Any:
        looked.append(len(table) if among is None else len(among))
        return overlap(tags, among)

    monkeypatch.setattr(table.tags, "overlap", counting)
    planner.plan(SeededQuery("q", ("0003.jpg",)))
    assert sum(looked) < len(table) / 3


def test_16_pictures_go_out_as_bytes_and_need_no_address(tmp_path: Path) -> None:
    with seeing() as server:
        AnnotateStage().run(with_calls(begun(tmp_path, colour_config()), CallOptions(base_url=server.base_url)))
    names = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    sent = {picture_in(request) for request in server.requests}
    assert sent == {(tmp_path / "pictures" / name).read_bytes() for name in names}
