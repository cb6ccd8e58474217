"""The loop: it learns, in the order of the stages, and goes on from a checkpoint as if nothing had been."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "training/curriculum"))
from array_examples import ArrayExamples, TrainText
from muon import muon

from sightline.errors import UserError
from sightline.reason.train.checkpoint import Checkpoints
from sightline.reason.train.loop import TrainSettings, TrainStage, rate_at, train
from sightline.reason.train.trainer import generated_texts
from sightline_world.models.glimpse import GlimpseForConditionalGeneration, as_pixels, glimpse_config, learn_tokenizer

COLOURS = ("red", "green", "blue", "white")
TOKENIZER = learn_tokenizer([f"Which colour? It is {colour}." for colour in COLOURS], 400)
PIXELS = torch.stack([torch.from_numpy(as_pixels(Image.new("RGB", (160, 120), c)).copy()) for c in COLOURS])
SETTINGS = TrainSettings(rate=3e-3, tokens=512, half=False, log_every=1, warm_up=0.1)


def _examples(*numbers: int, times: int = 1) -> ArrayExamples:
    texts = [TrainText("<image> Which colour?", f"It is {COLOURS[number]}.", (number,)) for number in numbers]
    return ArrayExamples(texts * times, TOKENIZER, PIXELS)


def _model() -> GlimpseForConditionalGeneration:
    torch.manual_seed(0)
    return GlimpseForConditionalGeneration(glimpse_config(len(TOKENIZER), tiny=True))


class _StoppedError(Exception):
    """Stands for a kill."""


def _losses(entries: list[Mapping[str, Any]]) -> list[tuple[int, str, float]]:
    return [(entry["step"], entry["stage"], entry["loss"]) for entry in entries if "loss" in entry]


@pytest.mark.parametrize("optimise", [None, muon])
def test_it_learns_what_is_in_the_pictures(optimise: Any) -> None:
    model, examples = _model(), _examples(0, 1, 2, 3)
    entries: list[Mapping[str, Any]] = []
    settings = replace(SETTINGS, rate=1e-3)
    totals = train(model, [TrainStage("colours", examples, epochs=300)], settings, entries.append, optimise=optimise)
    model.eval()
    assert generated_texts(model, TOKENIZER, examples.prompts(range(4)), 8, half=False) == [
        f"It is {c}." for c in COLOURS
    ]
    assert totals.steps == len(_losses(entries)) == 300
    assert totals.tokens == 300 * int(examples.lengths.sum())
    assert _losses(entries)[-1][2] < 0.2 < _losses(entries)[0][2]


def test_stages_follow_each_other_and_are_evaluated_at_their_ends() -> None:
    asked: list[str] = []

    def evaluate(stage: str, model: Any) -> Mapping[str, Any]:
        assert not model.training
        asked.append(stage)
        return {"n": 1}

    entries: list[Mapping[str, Any]] = []
    first, second = _examples(0, 1), _examples(2, 3)
    budget = 3 * int(second.lengths.sum())
    stages = [TrainStage("first", first, epochs=2), TrainStage("second", second, tokens=budget)]
    totals = train(_model(), stages, SETTINGS, entries.append, evaluate=evaluate)
    assert asked == ["first", "second"]
    assert [stage for _, stage, _ in _losses(entries)] == ["first"] * 2 + ["second"] * 3
    assert totals.tokens == 2 * int(first.lengths.sum()) + budget


@pytest.mark.parametrize(("log_every", "optimise"), [(1, None), (3, None), (1, muon)])
def test_a_stop_changes_nothing(tmp_path: Path, log_every: int, optimise: Any) -> None:
    stages = [TrainStage("first", _examples(0, 1, times=6)), TrainStage("second", _examples(2, 3, times=6))]
    settings = TrainSettings(rate=1e-3, tokens=128, half=False, log_every=log_every, keep_every=2)
    whole: list[Mapping[str, Any]] = []
    train(
        _model(),
        stages,
        settings,
        whole.append,
        keeper=Checkpoints(tmp_path / "whole.pt", {"seed": 0}),
        optimise=optimise,
    )
    for stop in (1, 5, 6, 9):
        keeper = Checkpoints(tmp_path / f"{stop}.pt", {"seed": 0})
        before: list[Mapping[str, Any]] = []

        def log(entry: Mapping[str, Any], seen: list[Mapping[str, Any]] = before, stop: int = stop) -> None:
            seen.append(entry)
            if entry["step"] > stop:
                raise _StoppedError

        with pytest.raises(_StoppedError):
            train(_model(), stages, settings, log, keeper=keeper, optimise=optimise)
        done = keeper.steps()
        after: list[Mapping[str, Any]] = []
        train(_model(), stages, settings, after.append, keeper=keeper, optimise=optimise)
        kept = [entry for entry in before if entry["step"] <= done]
        assert _losses(kept) + _losses(after) == _losses(whole)
        assert done <= stop


@pytest.mark.parametrize("left", [True, False])
def test_a_stop_while_questions_are_asked_repeats_no_step(tmp_path: Path, left: bool) -> None:
    """Where none of the questions are left, no line is written for them."""
    stages = [TrainStage("first", _examples(0, 1)), TrainStage("second", _examples(2, 3))]
    keeper = Checkpoints(tmp_path / "c.pt", {"seed": 0})
    asked: list[str] = []

    def stops(stage: str, model: Any) -> Mapping[str, Any]:
        raise _StoppedError

    def asks(stage: str, model: Any) -> Mapping[str, Any]:
        asked.append(stage)
        return {"right": 1} if left or stage == "second" else {}

    with pytest.raises(_StoppedError):
        train(_model(), stages, SETTINGS, lambda entry: None, evaluate=stops, keeper=keeper)
    assert keeper.steps() == 1
    entries: list[Mapping[str, Any]] = []
    train(_model(), stages, SETTINGS, entries.append, evaluate=asks, keeper=keeper)
    assert asked == ["first", "second"]
    written = [entry["stage"] for entry in entries if "evaluation" in entry]
    assert written == (["first", "second"] if left else ["second"])
    assert [step for step, _, _ in _losses(entries)] == [2]


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    stages = [TrainStage("first", _examples(0, 1))]
    train(_model(), stages, SETTINGS, lambda entry: None, keeper=Checkpoints(tmp_path / "c.pt", {"rate": 1}))
    with pytest.raises(UserError, match="rate was 1 and is 2"):
        train(_model(), stages, SETTINGS, lambda entry: None, keeper=Checkpoints(tmp_path / "c.pt", {"rate": 2}))


def test_how_a_step_is_cut_into_batches_does_not_matter() -> None:
    found = []
    for tokens, together in ((4096, 1), (128, 64)):
        model = _model()
        settings = TrainSettings(rate=1e-3, tokens=tokens, together=together, half=False, log_every=1)
        entries: list[Mapping[str, Any]] = []
        train(model, [TrainStage("all", _examples(0, 1, 2, 3))], settings, entries.append)
        assert len(_losses(entries)) == 1
        found.append((entries[0]["loss"], model.lm_head.weight.detach().clone()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-5)
    assert torch.allclose(found[0][1], found[1][1], atol=1e-5)


def test_the_rate_rises_and_falls() -> None:
    settings = TrainSettings(warm_up=0.1)
    rates = [rate_at(share / 100, settings) for share in range(101)]
    assert rates[0] == 0.01 and max(rates) == rates[10] and rates[-1] == 0.01
    assert rates[10:] == sorted(rates[10:], reverse=True)
    level = TrainSettings(schedule="plateau")
    assert [rate_at(share, level) for share in (0.1, 0.5, 0.79)] == [1.0, 1.0, 1.0]
    assert rate_at(0.9, level) == pytest.approx(0.5)
    assert rate_at(1.0, level) == 0.01


def test_time_ends_it_too() -> None:
    entries: list[Mapping[str, Any]] = []
    settings = TrainSettings(rate=1e-3, tokens=512, half=False, log_every=1, seconds=0.5)
    totals = train(_model(), [TrainStage("all", _examples(0, 1), tokens=10**12)], settings, entries.append)
    assert totals.steps == len(_losses(entries)) > 0
