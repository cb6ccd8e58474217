"""What the experiment trains on: the shipped plans as arms, with as many tokens each; and the small model's files."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "training/curriculum"))

from arms import ARMS, Setting, stages_of, text_of, texts_of
from drawing import STEPS, Drawing, _question, _scene
from experiment import Journal
from keeping import keep, load
from seeing import loss_of, targets_of

from sightline.train.examples import Text
from sightline.train.glimpse import TOKENS, GlimpseForConditionalGeneration, glimpse_config
from sightline.train.glimpse_processor import learn_tokenizer

SETTING = Setting(questions=24)


@pytest.fixture(scope="module")
def drawing() -> Drawing:
    items, pixels = [], []
    for number in range(24):
        item, shots = _question(number, "test", len(pixels))
        items.append(item)
        pixels += [torch.from_numpy(shot.copy()) for shot in shots]
    return Drawing(items, torch.stack(pixels))


def _records(stages: list[tuple[str, list[Text]]]) -> Counter[Text]:
    return Counter(text for _, texts in stages for text in texts)


def test_derived_arms_have_the_records_of_the_curriculum_in_another_order(drawing: Drawing) -> None:
    mir = texts_of("mir", drawing.items, SETTING, 0)
    assert [name for name, _ in mir] == ["easy", *(f"stage-{n}" for n in range(1, 6))]
    for arm in ("shuffled", "reverse", "anti"):
        other = texts_of(arm, drawing.items, SETTING, 0)
        assert _records(other) == _records(mir)
        assert [texts for _, texts in other] != [texts for _, texts in mir]
    assert _records(texts_of("mir", drawing.items, SETTING, 1)) != _records(mir)


def test_no_stage_gives_what_it_asks_for(drawing: Drawing) -> None:
    item = drawing.items[10]
    for given in range(5):
        text = text_of(item, STEPS[:given], STEPS[given:])
        for step in STEPS[given:]:
            assert all(words not in text.prompt for words in item.steps[step])
        assert text.prompt.count("<image>") == len(text.pictures) == len(item.pictures)
        assert f"The answer is {item.answer}." in text.target


def test_all_arms_get_as_many_tokens(drawing: Drawing) -> None:
    tokenizer = learn_tokenizer([text_of(item, (), STEPS).target for item in drawing.items], 500)
    budget = sum(stage.budget for stage in stages_of("mir", drawing, SETTING, 0, tokenizer, None))
    for arm in ARMS:
        assert sum(stage.budget for stage in stages_of(arm, drawing, SETTING, 0, tokenizer, budget)) == budget


def test_weights_come_back_almost_as_they_were(tmp_path: Path) -> None:
    tokenizer = learn_tokenizer(["The answer is C."], 300)
    model = GlimpseForConditionalGeneration(glimpse_config(len(tokenizer), tiny=True))
    keep(model, tokenizer, tmp_path)
    again, processor = load(tmp_path, "cpu")
    assert processor.tokenizer("The answer")["input_ids"] == tokenizer("The answer")["input_ids"]
    for name, weight in model.state_dict().items():
        rows = weight.flatten(1) if weight.ndim > 1 else weight[None]
        moved = (again.state_dict()[name].view_as(rows) - rows).abs()
        assert (moved <= rows.abs().amax(1, keepdim=True) / 250).all(), name


def test_the_eye_is_taught_where_things_are() -> None:
    item, shots = _scene(0, "test", 0)
    rows, cells = targets_of(Drawing([item], torch.from_numpy(shots[0].copy())[None]))
    assert rows.tolist() == [0]
    assert cells.shape == (1, TOKENS, 7)
    things = item.things[0]
    assert things
    full = cells[0][cells[0, :, 0] > 0]
    assert 0 < len(full) <= len(things)
    assert all([round(value, 4) for value in row[1:].tolist()] in _rounded(things) for row in full)


def _rounded(things: list[list[float]]) -> list[list[float]]:
    return [[round(value, 4) for value in torch.tensor(thing).tolist()] for thing in things]


def test_the_loss_of_the_eye_falls_to_nothing_where_all_is_right() -> None:
    cells = torch.zeros(1, TOKENS, 7)
    cells[0, 7] = torch.tensor([1.0, 3, 5, 0.1, 0.2, 0.3, 0.4])

    def told(seen: torch.Tensor) -> tuple[torch.Tensor, ...]:
        kind, colour = torch.zeros(1, TOKENS, 44), torch.zeros(1, TOKENS, 11)
        kind[..., 3], colour[..., 5] = 50, 50
        return (cells[..., 0] - 0.5) * 100, kind, colour, cells[..., 3:]

    assert loss_of(told, cells, cells) < 1e-6  # type: ignore[arg-type]


def test_only_whole_runs_are_taken_over(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "runs.jsonl")
    setting = {"questions": 24, "easy_below": 1 / 3, "fraction": 0.4, "rate": 4e-4}
    whole = {"arm": "mir", "seed": 0, "setting": setting, "stage": "end", "mode": "chain", "letters": "A", "last": True}
    journal.add(whole)
    journal.add({**whole, "seed": 1, "last": False})
    (tmp_path / "next").mkdir()
    taken = Journal(tmp_path / "next" / "runs.jsonl")
    taken.take(tmp_path)
    assert taken.has("mir", 0, SETTING)
    assert not taken.has("mir", 1, SETTING)
    assert len(taken.rows) == 1
