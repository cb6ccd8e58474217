"""`builtin/photos` as a judge: real photographs, no key, and from words to a benchmark that validates clean."""

from __future__ import annotations

import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from make_tools import project_in, rows, with_calls, write_rows
from sightline.authoring import project as files
from sightline.authoring.assemble import AssembleStage
from sightline.authoring.audit import AuditStage
from sightline.authoring.judge import JudgeStage
from sightline.authoring.pictures import PicturesStage
from sightline.authoring.project import Project
from sightline.authoring.similarity import SimilarityStage
from sightline.authoring.stage import BatchOptions
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.validation import validate_benchmark
from sightline.calls.session import CallOptions
from sightline.config import Config
from sightline.errors import UserError
from sightline.models.photos.weights import CLASSIFIER, ENCODER

QUERIES = {"chelsea.png": "a cat", "coffee.png": "an espresso", "motorcycle_left.png": "a motorcycle in a garage"}
OTHERS = ("rocket.jpg", "astronaut.png", "brick.png")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Six photographs, three queries, each with all of the photographs in its plan."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    data = Path(pytest.importorskip("skimage").__file__).parent / "data"
    for file in (CLASSIFIER, ENCODER):
        try:
            distribution(file.package.name)
        except PackageNotFoundError:
            pytest.skip(f"{file.package.name} is not installed")
    folder = tmp_path / "photographs"
    folder.mkdir()
    for name in (*QUERIES, *OTHERS):
        shutil.copy(data / name, folder / name)
    config = Config.model_validate({"judge": {"depth": 3, "outside": 1}, "benchmark": {"name": "photographs"}})
    made = project_in(tmp_path, config)
    PicturesStage(folder).run(made)
    ids = [row["image_id"] for row in rows(made.path(files.IMAGES))]
    plans, queries = [], []
    for number, (seed, words) in enumerate(QUERIES.items()):
        rest = [id_ for id_ in ids if id_ != seed]
        plans.append({"query_id": f"q{number}", "seed_image_ids": [seed], "candidate_image_ids": [seed, *rest[:3]]})
        queries.append({"query_id": f"q{number}", "query_text": words})
    write_rows(made.path(files.PLAN), plans)
    write_rows(made.path(files.QUERIES), queries)
    return made


def test_photographs_are_judged_with_no_key_and_the_judge_is_said_to_be_weak(project: Project) -> None:
    done = JudgeStage().run(with_calls(project, CallOptions(local_only=True)))
    found = {(row["query_id"], row["image_id"]): row for row in rows(project.path(files.JUDGMENTS))}
    for number, seed in enumerate(QUERIES):
        others = [row for (query, id_), row in found.items() if query == f"q{number}" and id_ != seed]
        assert found[f"q{number}", seed]["relevance_label"] == 1
        assert sum(row["relevance_label"] for row in others) <= len(others) / 3
    assert any("weak judge" in warning for warning in done.warnings)
    assert done.usd == 0.0
    assert all(row["judge"] == "builtin/photos" for row in rows(project.path(files.VERDICTS)))

    again = JudgeStage().run(with_calls(project, CallOptions(local_only=True)))
    assert again.counts["verdicts"] == 0


def test_the_whole_second_half_runs_on_this_machine(project: Project) -> None:
    asking = CallOptions(local_only=True)
    for stage in (JudgeStage(), SimilarityStage(), AuditStage(), AssembleStage()):
        stage.run(with_calls(project, asking))
    folder = project.folder / "benchmark"
    assert validate_benchmark(folder, check_pictures=True) == ()
    assert {one.judge for one in read_benchmark(folder).judgments} == {"builtin/photos"}
    scores = {
        (row["query_id"], row["image_id"]): row["similarity_score"] for row in rows(project.path(files.SIMILARITY))
    }
    assert scores["q0", "chelsea.png"] == max(score for (query, _), score in scores.items() if query == "q0")


def test_colours_and_light_are_measured_because_words_for_them_mean_little_to_it(project: Project) -> None:
    # rocket.jpg is mostly blue, and coffee.png mostly red.
    words = {"q0": "Which photos are mostly blue?", "q1": "A photo of an espresso, mostly red.", "q2": "a cat"}
    write_rows(project.path(files.QUERIES), [{"query_id": id_, "query_text": text} for id_, text in words.items()])
    plans = rows(project.path(files.PLAN))
    everything = [*QUERIES, *OTHERS]
    for plan, seed in zip(plans, ("rocket.jpg", "coffee.png", "chelsea.png"), strict=True):
        plan |= {"seed_image_ids": [seed], "candidate_image_ids": [seed, *(id_ for id_ in everything if id_ != seed)]}
    write_rows(project.path(files.PLAN), plans)
    JudgeStage().run(with_calls(project, CallOptions(local_only=True)))
    said = {(row["task"], row["picture"]): row for row in rows(project.path(files.VERDICTS))}
    blue = {picture for (task, picture), row in said.items() if task == "q0" and row["grade"]}
    assert blue == {"rocket.jpg"}
    assert "measured" in said["q0", "rocket.jpg"]["reason"]
    assert said["q1", "coffee.png"]["grade"] == 1
    assert said["q1", "rocket.jpg"]["grade"] == 0
    assert "by vectors alone" in said["q2", "chelsea.png"]["reason"]


def test_it_has_no_batches(project: Project) -> None:
    with pytest.raises(UserError, match="has no batches"):
        JudgeStage(batch=BatchOptions()).run(project)
