"""Blind baselines, and rankings cut into sets."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs.run_world import Scripted, coloured
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.provenance import CARD_FIELD, Provenance
from sightline.errors import UserError
from sightline.metrics.scope import Scopes
from sightline.metrics.sets import overlap
from sightline.runs.blind_baselines import blind_rankers
from sightline.runs.folder import read_run
from sightline.runs.runner import run
from sightline.runs.systems.cut import CutRanking, fit, folds_of
from sightline.types import (
    Annotation,
    Benchmark,
    Choice,
    Corpus,
    Failure,
    Group,
    Picture,
    PictureSet,
    Ranking,
    Relevance,
    Scope,
    Task,
    Text,
)


@pytest.fixture(scope="module")
def colours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return coloured(tmp_path_factory.mktemp("colours"))


def history() -> Benchmark:
    """Two pictures that differ in everything that can be told without looking."""
    pictures = {
        "IMG_1.jpg": Picture("IMG_1.jpg", "IMG_1.jpg", taken_at=datetime(2019, 6, 1, 20), address="Kyoto, Japan"),
        "BeachParty.jpg": Picture("BeachParty.jpg", "BeachParty.jpg", device="Heron 100"),
    }
    said = (Annotation("IMG_1.jpg", summary="a wooden temple", tags=("lantern",)),)
    queries = ("temple", "lantern", "beach", "June 2019", "evening in Kyoto", "heron", "zebra", "?")
    tasks = {query: Task(query, "rank", (query,)) for query in queries}
    return Benchmark("history", Corpus("history", pictures), tasks, {}, annotations=said)


@pytest.mark.parametrize(
    ("by", "solved"),
    [
        ("captions", {"temple"}),
        ("tags", {"lantern"}),
        ("names", {"beach"}),
        ("exif", {"June 2019", "evening in Kyoto", "heron"}),
        ("all", {"temple", "lantern", "beach", "June 2019", "evening in Kyoto", "heron"}),
    ],
)
def test_each_blind_baseline_sees_only_its_own_words(by: str, solved: set[str], tmp_path: Path) -> None:
    run(history(), f"blind:by={by}", tmp_path / "run")
    found = {one.task_id: one.prediction for one in read_run(tmp_path / "run").attempts}
    assert {task for task, said in found.items() if isinstance(said, Ranking) and said.pictures} == solved
    assert isinstance(found["?"], Failure) and found["?"].kind == "empty-query"
    assert found["zebra"] == Ranking(())


def test_a_blind_run_without_words_says_so(tmp_path: Path) -> None:
    assert run(history(), "blind", tmp_path / "words").notes == ()
    silent = replace(history(), annotations=())
    plain = {id_: replace(one, taken_at=None, address=None, device=None) for id_, one in silent.corpus.pictures.items()}
    silent = replace(silent, corpus=Corpus("history", plain))
    (said,) = run(silent, "blind:by=exif", tmp_path / "exif").notes
    assert "no picture has words to search in (by=exif)" in said
    (said,) = run(silent, "blind", tmp_path / "names").notes
    assert said == "no picture has words that describe it: only file names, dates and devices are searched"
    hidden = replace(
        silent,
        annotations=(Annotation("IMG_1.jpg", summary="a temple", by="openai/gpt-5-mini"),),
        card={CARD_FIELD: Provenance("made", ("openai/gpt-5-mini",), (), ()).to_json()},
    )
    (said,) = run(hidden, "blind", tmp_path / "hidden").notes
    assert "hidden without --show-annotations" in said


def test_words_stay_within_the_scope(colours: Path, tmp_path: Path) -> None:
    run(colours, "blind:select=1", tmp_path / "run")
    found = {one.task_id: one.prediction for one in read_run(tmp_path / "run").attempts}
    assert isinstance(found["blue of ben"], Ranking) and found["blue of ben"].pictures == ("ben/blue.png",)
    assert found["at the party"] == PictureSet(("ana/blue.png",))


def test_chance_is_repeatable_and_differs_between_attempts(colours: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(colours, "blind:by=random,k=5", tmp_path / name, seed=seed, repeat=2)
    a, b, c = (read_run(tmp_path / name).attempts for name in "abc")
    assert a == b and a != c
    reds = [one.prediction for one in a if one.task_id == "red"]
    assert reds[0] != reds[1] and all(isinstance(one, Ranking) and len(set(one.pictures)) == 5 for one in reds)
    party = next(one.prediction for one in a if one.task_id == "at the party")
    assert isinstance(party, Ranking) and set(party.pictures) == {"ana/red.png", "ana/blue.png"}
    options = {one.prediction.option for one in a if isinstance(one.prediction, Choice)}
    assert options <= {"A", "B"} and options


def test_chance_has_the_figure_of_the_baseline_beside_the_scores(colours: Path, tmp_path: Path) -> None:
    run(colours, "blind:by=random", tmp_path / "run")
    drawn = {one.task_id: one.prediction for one in read_run(tmp_path / "run").attempts}
    benchmark = read_benchmark(colours)
    ranks = {id_: truth for id_, truth in benchmark.truth.items() if isinstance(truth, Relevance)}
    chance = next(one for one in blind_rankers(benchmark) if one.by == "random")
    for id_ in ranks:
        task, told = benchmark.tasks[id_], drawn[id_]
        allowed = Scopes(benchmark.corpus).pictures(task.scope)
        assert isinstance(told, Ranking) and list(told.pictures) == list(chance.rank(task, allowed, 100)), id_


def test_the_commonest_answer_is_that_of_the_other_tasks(colours: Path, tmp_path: Path) -> None:
    run(colours, "blind:by=majority", tmp_path / "run")
    found = {one.task_id: one.prediction for one in read_run(tmp_path / "run").attempts}
    # B is right twice and A once: for a task with B, one of each is left, and A comes first.
    assert (found["which"], found["which now"]) == (Choice("A"), Choice("B"))
    assert found["say"] == Failure("no-truth", "no other task has an answer to go by")
    assert not any(isinstance(one, Text) for one in found.values())


# --- cut -----------------------------------------------------------------------------------------------------


@st.composite
def rankings(draw: st.DrawFn) -> list[CutRanking]:
    found = []
    for number in range(draw(st.integers(2, 6))):
        ids = draw(st.permutations("abcdef"))[: draw(st.integers(0, 6))]
        scores = sorted(draw(st.lists(st.integers(0, 9), min_size=len(ids), max_size=len(ids))), reverse=True)
        true = frozenset(draw(st.sets(st.sampled_from("abcdef"), max_size=4)))
        found.append(CutRanking(f"t{number}", tuple(ids), tuple(map(float, scores)), true))
    return found


@settings(deadline=None, max_examples=60)
@given(rankings(), st.sampled_from(["k", "score"]))
def test_the_cut_is_the_best_one_of_the_other_folds(ranked: list[CutRanking], by: str) -> None:
    folds = {one.task: f"fold {number % 2}" for number, one in enumerate(ranked)}
    chosen = fit(ranked, folds, by)
    cuts = [float(k) for k in range(7)] if by == "k" else [np.inf, *(float(score) for score in range(9, -1, -1))]

    def mean_f1(cut: float, fold: str) -> float:
        values = []
        for one in ranked:
            if folds[one.task] == fold:
                continue
            kept = one.pictures[: int(cut)] if by == "k" else _above(one, cut)
            both = overlap(PictureSet(tuple(one.true)), PictureSet(kept), None, None)
            whole = both.predicted + both.true
            values.append(2 * both.right / whole if whole else 1.0)
        return float(np.mean(values))

    for task, fold in folds.items():
        assert mean_f1(chosen[task], fold) == pytest.approx(max(mean_f1(cut, fold) for cut in cuts))


def _above(one: CutRanking, cut: float) -> tuple[str, ...]:
    assert one.scores is not None
    return tuple(picture for picture, score in zip(one.pictures, one.scores, strict=True) if score >= cut)


@settings(deadline=None, max_examples=40)
@given(rankings(), st.sets(st.sampled_from("abcdef")))
def test_no_task_helps_to_choose_its_own_cut(ranked: list[CutRanking], other: set[str]) -> None:
    folds = {one.task: one.task for one in ranked}
    first = ranked[0]
    changed = [CutRanking(first.task, first.pictures, first.scores, frozenset(other)), *ranked[1:]]
    assert fit(ranked, folds, "k")[first.task] == fit(changed, folds, "k")[first.task]


def test_folds_are_owners_where_there_are_several() -> None:
    def tasks(*owners: str | None) -> dict[str, Task]:
        return {f"t{n}": Task(f"t{n}", "select", ("x",), scope=Scope(owner)) for n, owner in enumerate(owners)}

    assert folds_of(tasks("ana", "ben", "ana"), 10) == {"t0": "owner ana", "t1": "owner ben", "t2": "owner ana"}
    assert folds_of(tasks("ana", "ana", "ana"), 2) == {"t0": "fold 0", "t1": "fold 1", "t2": "fold 0"}


def owned() -> Benchmark:
    """Four owners, each with a set of two among four pictures."""
    pictures: dict[str, Picture] = {}
    groups, tasks, truth = [], {}, {}
    for owner in ("ana", "ben", "cleo", "dan"):
        ids = tuple(f"{owner}{number}" for number in range(4))
        pictures |= {id_: Picture(id_, id_) for id_ in ids}
        groups.append(Group(owner, "owner", ids))
        tasks[owner] = Task(owner, "select", ("x",), scope=Scope(owner))
        truth[owner] = PictureSet(ids[:2])
    return Benchmark("owned", Corpus("owned", pictures, tuple(groups)), tasks, truth)


def test_rankings_of_a_run_become_sets(tmp_path: Path) -> None:
    def said(task: Task) -> Ranking | Failure:
        ids = tuple(f"{task.id}{number}" for number in range(4))
        return Failure("timeout", "late") if task.id == "dan" else Ranking(ids, (0.9, 0.8, 0.2, 0.1))

    run(owned(), Scripted(said), tmp_path / "source")
    for by in ("k", "score"):
        done = run(owned(), f"cut:run={tmp_path}/source,by={by}", tmp_path / by)
        found = {one.task_id: one.prediction for one in read_run(tmp_path / by).attempts}
        assert found["ana"] == PictureSet(("ana0", "ana1")) and found["dan"] == Failure("timeout", "late")
        assert done.run.system == f"scripted cut by {by}" and len(str(done.run.parameters["predictions_sha256"])) == 64


def test_a_run_on_something_else_or_without_scores_is_refused(colours: Path, tmp_path: Path) -> None:
    run(owned(), Scripted(lambda task: Ranking((f"{task.id}0",))), tmp_path / "source")
    with pytest.raises(UserError, match="another benchmark"):
        run(colours, f"cut:run={tmp_path}/source", tmp_path / "cut")
    with pytest.raises(UserError, match="no scores"):
        run(owned(), f"cut:run={tmp_path}/source,by=score", tmp_path / "cut")


def test_scores_that_do_not_fall_are_refused_by_a_cut(tmp_path: Path) -> None:
    run(owned(), Scripted(lambda task: Ranking((f"{task.id}0", f"{task.id}1"), (0.1, 0.2))), tmp_path / "source")
    with pytest.raises(UserError, match="do not fall"):
        run(owned(), f"cut:run={tmp_path}/source,by=score", tmp_path / "cut")
    path = tmp_path / "source" / "predictions.jsonl"  # As another program writes distances.
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line["ranking"] = [[id_, at] for at, id_ in enumerate(line["ranking"])]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(UserError, match="distances are not scores"):
        run(owned(), f"cut:run={tmp_path}/source,by=score", tmp_path / "cut")
