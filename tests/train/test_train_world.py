"""What the experiment trains on: the shipped plans as arms, with as many tokens each; and the small model's files."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "training/world"))
sys.path.insert(0, str(Path(__file__).parents[2] / "training/curriculum"))

import pretrain
from arms import ARMS, Setting, stages_of, text_of, texts_of
from drawing import STEPS, Drawing, _question, _scene
from experiment import Journal
from eyesight import give_eye, name_things
from keeping import keep, load
from network import Reader

from sightline.train.examples import Text
from sightline.train.eye import HUES, KINDS, TAGS
from sightline.train.glimpse import GlimpseForConditionalGeneration, glimpse_config
from sightline.train.glimpse_processor import learn_tokenizer
from sightline.types import SCENE_COLOURS, SCENE_KINDS

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


def test_the_eye_sees_what_the_reader_sees(tmp_path: Path) -> None:
    reader = Reader().eval()
    for name, value in reader.state_dict().items():
        if name.endswith(("running_mean", "running_var")) or (value.ndim == 1 and name.endswith("1.weight")):
            value.uniform_(0.5, 1.5)
    torch.save(reader.state_dict(), tmp_path / "reader.pt")
    model = GlimpseForConditionalGeneration(glimpse_config(300, num_hidden_layers=1, vision_frozen=True))
    give_eye(model, tmp_path / "reader.pt")
    pixels = torch.rand(1, 3, 64, 96)
    with torch.no_grad():
        heat, boxes, attributes, _ = reader(pixels)
        _, fine, ours, sides = model.eye.trunk((pixels - 0.5) * 4)
        tags = model.eye.trunk.tags(fine[0, :, 3, 5], torch.tensor([9.0]))
    torch.testing.assert_close(ours, heat, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(sides, boxes, rtol=1e-4, atol=1e-4)
    told = torch.cat([heat[0, :, 3, 5].softmax(-1), attributes[0, :HUES, 3, 5].softmax(-1)])
    torch.testing.assert_close(tags, told, rtol=1e-3, atol=1e-3)


def test_a_thing_is_named_by_the_words_for_it() -> None:
    tokenizer = learn_tokenizer(["a red camera, a blue lamp"] * 9, 300)
    model = GlimpseForConditionalGeneration(glimpse_config(len(tokenizer), tiny=True))
    name_things(model, tokenizer)
    tags = torch.zeros(TAGS)
    tags[SCENE_KINDS.index("camera")] = tags[KINDS + SCENE_COLOURS.index("red")] = 1.0
    pieces = tokenizer(" red camera", add_special_tokens=False)["input_ids"]
    torch.testing.assert_close(model.names(tags), model.get_input_embeddings().weight[pieces].sum(0))


def test_the_questions_about_a_picture_are_one_talk_and_apart_where_they_are_tried() -> None:
    item, shots = _scene(1, "test", 0)
    drawing = Drawing([item], torch.from_numpy(shots[0].copy())[None])
    together, apart = (pretrain.texts_of(drawing, apart=apart) for apart in (False, True))
    caption, (_, talk) = together[0], together[1]
    assert caption[1].target == item.captions[0]
    said = [(talk.prompt.removeprefix("<image>\n"), talk.target), *talk.more]
    assert said == [(ask.question, ask.answer) for ask in item.asks]
    assert len(said) > 1
    assert len(apart) == 1 + len(said)
    assert [text.target for _, text in apart[1:]] == [answer for _, answer in said]


def test_only_whole_runs_are_taken_over(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "runs.jsonl")
    whole = {
        "arm": "mir",
        "seed": 0,
        "setting": asdict(SETTING),
        "stage": "end",
        "mode": "chain",
        "letters": "A",
        "last": True,
    }
    journal.add(whole)
    journal.add({**whole, "seed": 1, "last": False})
    (tmp_path / "next").mkdir()
    taken = Journal(tmp_path / "next" / "runs.jsonl")
    taken.take(tmp_path)
    assert taken.has("mir", 0, SETTING)
    assert not taken.has("mir", 1, SETTING)
    assert len(taken.rows) == 1
