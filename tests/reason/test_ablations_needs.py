"""What of a question a model needs: found where the model needs it, and not where it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import models_server as wire
from reason.reason_tools import KEYS, answering, choose_bench, mixed_bench, pictures, words
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.calls.session import Session
from sightline.errors import UserError
from sightline.metrics.statistics.significance import holm
from sightline.reason.ablations import ARMS, Ablations
from sightline.runs.task_prompt import Ablation, ShownPicture, TaskPrompts
from sightline.types import Benchmark, Failure, Option, PictureRef, Task
from sightline.types.task_table import Tasks

MODEL = "vllm/stub"


def put(made: Benchmark, task: Task, **left_out: bool) -> list[str]:
    """A question as it is put: words, and pictures by name in angle brackets."""
    strangers = tuple(ref for other in made.tasks.values() for ref in other.pictures)
    content = TaskPrompts(made.corpus.pictures, ablation=Ablation(**left_out), strangers=strangers).content(task)
    assert not isinstance(content, Failure)
    return [f"<{part.ref.id}>" if isinstance(part, ShownPicture) else part for part in content]


def test_what_each_ablation_leaves(tmp_path: Path) -> None:
    made = choose_bench(tmp_path / "bench", 2, pictures=3)
    task = made.tasks["q0"]
    options = "".join(f"\n{key}. way {key.lower()}" for key in KEYS)
    shown = ["<q0-0.png>", "<q0-1.png>", "<q0-2.png>"]
    whole = put(made, task)
    assert [part for part in whole if part in shown] == shown and "".join(whole).endswith(options)
    bare = put(made, task, no_text=True)
    assert bare[:3] == shown and "".join(bare[3:]) == options
    assert not any(part in shown for part in put(made, task, no_image=True))
    assert "".join(put(made, task, no_image=True)).startswith("Question 0: Then  is seen.")
    one = put(made, task, one_image=True)
    assert len([part for part in one if part in shown]) == 1 and one == put(made, task, one_image=True)
    assert "Which way does it go?" in one
    mixed = put(made, task, shuffle_images=True)
    assert sorted(part for part in mixed if part in shown) == shown
    assert all(old != new for old, new in zip(whole, mixed, strict=True) if old in shown)
    assert not "".join(put(made, task, no_options=True)).endswith(options)


def test_pictures_in_options_count_as_pictures(tmp_path: Path) -> None:
    made = choose_bench(tmp_path / "bench", 2)
    options = tuple(Option(key, (PictureRef(f"q1-{place}.png"),)) for place, key in enumerate("AB"))
    task = replace(made.tasks["q0"], options=options)
    assert not any(part.startswith("<q") for part in put(made, task, no_image=True))
    assert [part for part in put(made, task, one_image=True) if part.startswith("<q1")] == []
    only = replace(task, prompt=("Which is it?",))
    assert len([part for part in put(made, only, one_image=True) if part.startswith("<q1")]) == 1


def test_the_needs_of_a_model_are_found(tmp_path: Path) -> None:
    """It knows the answer where it sees both pictures, in whatever order and with whatever words; else it says A."""
    choose_bench(tmp_path / "bench", 40)
    made = read_benchmark(tmp_path / "bench")
    keys = {str(place): truth.option for place, truth in enumerate(made.truth.values())}  # type: ignore[union-attr]
    seen: dict[str, str] = {}

    def say(received: wire.Received) -> str:
        shown = pictures(received)
        if "Question " in words(received):
            number = words(received).split("Question ")[1].split(":")[0]
            seen.update(dict.fromkeys(shown if len(shown) == 2 else (), number))
        known = {seen[each] for each in shown if each in seen}
        return f"The final answer is: {keys[known.pop()] if len(shown) == 2 and len(known) == 1 else 'A'}."

    with answering(say) as server:
        ablations = Ablations(
            tmp_path / "bench", MODEL, options={"base_url": server.base_url}, session=Session(tmp_path / "ws")
        )
        done = ablations.run(tmp_path / "arms")
        asked = len(server.requests)
        again = ablations.run(tmp_path / "arms")
        assert len(server.requests) == asked == 5 * 40
    assert {arm: done.is_needed(arm) for arm in ARMS} == {
        "without text": False,
        "without pictures": True,
        "one picture": True,
        "shuffled pictures": False,
    }
    assert done.above_chance and done.chance == 0.25 and done.several == 40
    pairs = done.against_whole()
    assert [pair.second for pair in pairs] == list(ARMS)
    assert [pair.p_adjusted for pair in pairs] == holm([pair.difference.p or 1.0 for pair in pairs]), "over these four"
    told = done.to_json()
    assert told["arms"]["whole"]["mean"] == 1.0 and told["arms"]["one picture"]["mean"] == 0.25
    assert told["against_whole"]["one picture"]["difference"]["high"] < 0 and again.to_json() == told
    assert (tmp_path / "arms" / "without-text" / "scores.json").is_file()


def test_a_model_that_guesses_shows_nothing(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 12)
    with answering(lambda _: "The final answer is: A.") as server:
        done = Ablations(
            tmp_path / "bench",
            MODEL,
            options={"base_url": server.base_url},
            arms=("without pictures",),
            limit=8,
            session=Session(tmp_path / "ws"),
        ).run(tmp_path / "arms")
    assert not done.above_chance and not done.is_needed("without pictures")
    assert done.to_json()["arms"]["whole"]["n"] == 8


def test_only_tasks_that_the_metric_scores_are_asked_and_counted(tmp_path: Path) -> None:
    mixed_bench(tmp_path / "bench", 8)
    with answering(lambda _: "The final answer is: A.") as server:
        ablations = Ablations(
            tmp_path / "bench",
            MODEL,
            options={"base_url": server.base_url},
            arms=("without pictures",),
            session=Session(tmp_path / "ws"),
        )
        assert [stage.calls for stage in ablations.price().stages] == [8, 8]
        done = ablations.run(tmp_path / "arms")
        assert len(server.requests) == 16 and not any("how far" in words(each) for each in server.requests)
        limited = replace(ablations, limit=4).run(tmp_path / "few")
        assert len(server.requests) == 16, "the first four of those"
    assert (done.metric, done.chance, done.several, done.unscored) == ("accuracy", 0.25, 8, 1)
    assert not done.above_chance
    told = done.to_json()
    assert told["not_scored"] == 1 and told["arms"]["whole"]["n"] == 8 and told["arms"]["whole"]["mean"] == 0.25
    assert told["notes"] == ["not scored by accuracy, and so not asked: 1 task"]
    assert limited.to_json()["arms"]["whole"]["n"] == 4 and limited.several == 4


def test_the_metric_is_the_one_that_scores_the_most_tasks(tmp_path: Path) -> None:
    made = mixed_bench(tmp_path / "bench", 3)
    write_benchmark(replace(made, metrics=("answer", "accuracy")), tmp_path / "bench", force=True)
    asked = Ablations(tmp_path / "bench", MODEL).asked()
    assert (asked.metric, asked.metrics, [*asked.benchmark.tasks]) == ("accuracy", ("accuracy",), ["q0", "q1", "q2"])
    for nothing in (
        replace(made, truth={"free": made.truth["free"]}),
        replace(made, tasks=Tasks({}), truth={}, metrics=()),
    ):
        write_benchmark(nothing, tmp_path / "bench", force=True)
        with pytest.raises(UserError, match='no task of "small" can be asked and scored'):
            Ablations(tmp_path / "bench", MODEL).asked()


def test_an_ablation_that_is_none_is_refused(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 1)
    with pytest.raises(UserError, match='no ablation "without sound"'):
        Ablations(tmp_path / "bench", MODEL, arms=("without sound",)).run(tmp_path / "arms")


def test_runs_are_not_put_into_a_folder_of_another_kind(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 1)
    before = sorted((tmp_path / "bench").iterdir())
    with pytest.raises(UserError, match="holds other things"):
        Ablations(tmp_path / "bench", MODEL).run(tmp_path / "bench")
    assert sorted((tmp_path / "bench").iterdir()) == before
