"""Glimpse: its words, its pictures, and that it is a model as transformers knows them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "training/curriculum"))
from array_examples import ArrayExamples, TrainText

from sightline.reason.train.examples import IGNORED
from sightline.reason.train.loop import compile_blocks
from sightline.reason.train.trainer import chosen_option, generated_texts
from sightline_world.models import glimpse_vision
from sightline_world.models.glimpse import (
    GlimpseForConditionalGeneration,
    GlimpseProcessor,
    as_pixels,
    glimpse_config,
    learn_tokenizer,
)
from sightline_world.models.glimpse_vision import HIGH, KINDS, PARTS, ROWS, THINGS, TOKENS, WIDE, spots_of, waves

TEXTS = ["Which is the lightest of the yellow camera, the red mug and 45 others?", "The answer is C. [12 34 56 78]"]
TOKENIZER = learn_tokenizer(TEXTS * 3, 400)


def _model() -> GlimpseForConditionalGeneration:
    torch.manual_seed(0)
    model = GlimpseForConditionalGeneration(glimpse_config(len(TOKENIZER), tiny=True))
    model.eval()
    return model


def _picture(colour: str, size: tuple[int, int] = (320, 240)) -> Image.Image:
    return Image.new("RGB", size, colour)


@settings(deadline=None, max_examples=60)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60).filter(lambda text: "<" not in text))
def test_any_text_is_read_back(text: str) -> None:
    ids = TOKENIZER(text, add_special_tokens=False)["input_ids"]
    assert TOKENIZER.decode(ids) == text


def test_the_usual_size_is_between_20_and_80_million_parameters() -> None:
    with torch.device("meta"):
        model = GlimpseForConditionalGeneration(glimpse_config(2048))
    assert 20e6 < sum(weight.numel() for weight in model.parameters()) < 80e6


def test_pictures_of_any_shape_become_bytes_of_one_size() -> None:
    for size in ((320, 240), (160, 120), (50, 200), (1, 1)):
        pixels = as_pixels(_picture("red", size))
        assert pixels.shape == (HIGH, WIDE, 3)
        assert tuple(pixels[HIGH // 2, WIDE // 2]) == (255, 0, 0)


def test_it_is_saved_and_found_again_by_the_auto_classes(tmp_path: Path) -> None:
    model, processor = _model(), GlimpseProcessor(TOKENIZER)
    model.save_pretrained(tmp_path)
    processor.save_pretrained(tmp_path)
    again = transformers.AutoModelForImageTextToText.from_pretrained(tmp_path).eval()
    reader = transformers.AutoProcessor.from_pretrained(tmp_path)
    assert isinstance(again, GlimpseForConditionalGeneration)
    inputs = [one(text=["Look: <image>"], images=[_picture("red")], return_tensors="pt") for one in (processor, reader)]
    assert torch.equal(inputs[0]["input_ids"], inputs[1]["input_ids"])
    assert torch.equal(model(**inputs[0]).logits, again(**inputs[1]).logits)


def test_generating_with_a_cache_says_what_reading_without_one_would() -> None:
    model = _model()
    pixels = torch.from_numpy(np.stack([as_pixels(_picture("red")), as_pixels(_picture("blue"))]))
    texts = [
        TrainText("Look: <image> and tell.", "x", (0,)),
        TrainText("<image> What is the lightest of the others?", "x", (1,)),
    ]
    examples = ArrayExamples(texts, TOKENIZER, pixels)
    prompts = examples.prompts([0, 1])
    found = model.generate(**prompts, max_new_tokens=6, do_sample=False, eos_token_id=-1)
    for row, text in enumerate(texts):
        alone = examples.prompts([row])
        for _ in range(6):
            likely = model(input_ids=alone["input_ids"], pixel_values=alone["pixel_values"]).logits[:, -1:].argmax(-1)
            alone["input_ids"] = torch.cat([alone["input_ids"], likely], 1)
        assert found[row, -6:].tolist() == alone["input_ids"][0, -6:].tolist(), text
    assert len(generated_texts(model, TOKENIZER, prompts, 4)) == 2


def test_another_picture_changes_what_is_said() -> None:
    model = _model()
    inputs = GlimpseProcessor(TOKENIZER)(text=["Look: <image> A"], images=[_picture("red")], return_tensors="pt")
    before = model(**inputs).logits[0, -1]
    inputs["pixel_values"] = 255 - inputs["pixel_values"]
    assert not torch.allclose(before, model(**inputs).logits[0, -1])


def test_arrays_and_the_processor_agree() -> None:
    processor = GlimpseProcessor(TOKENIZER)
    messages = [{"role": "user", "content": [{"type": "text", "text": "A: "}, {"type": "image"}]}]
    prompt = processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    inputs = processor(text=[prompt], images=[_picture("red")], return_tensors="pt")
    pixels = torch.from_numpy(as_pixels(_picture("red")).copy())[None]
    examples = ArrayExamples([TrainText("A: <image>", "The answer is C.", (0,))], TOKENIZER, pixels)
    assert torch.equal(examples.prompts([0])["input_ids"], inputs["input_ids"])
    batch = examples.batch([0])
    assert torch.equal(batch.inputs["pixel_values"], inputs["pixel_values"])
    labels = batch.labels[0]
    spoken = labels[labels >= 0]
    assert TOKENIZER.decode(spoken) == "The answer is C.<end>"
    assert batch.said == len(spoken)
    assert batch.tokens == inputs["input_ids"].shape[1] + len(spoken)
    assert (batch.inputs["input_ids"] == 3).sum() == TOKENS


def test_only_what_is_said_has_a_loss_in_each_turn_of_a_talk() -> None:
    pixels = torch.zeros(1, HIGH, WIDE, 3, dtype=torch.uint8)
    talk = TrainText("<image> Which is the lightest?", "The red mug.", (0,), (("the camera?", "The answer is C."),))
    examples = ArrayExamples([talk, TrainText("45 others?", "45")], TOKENIZER, pixels)
    batch = examples.batch([0, 1])
    ids, labels = batch.inputs["input_ids"], batch.labels
    assert torch.equal(labels[labels != IGNORED], ids[labels != IGNORED])
    assert TOKENIZER.decode(labels[0][labels[0] != IGNORED]) == "The red mug.<end>The answer is C.<end>"
    assert TOKENIZER.decode(labels[1][labels[1] != IGNORED]) == "45<end>"
    assert batch.said == int((labels != IGNORED).sum())
    assert batch.tokens == int(examples.lengths.sum())
    words = TOKENIZER.decode(ids[0][: examples.lengths[0]]).replace("<image>" * TOKENS, "<image>")
    assert words == (
        "<user><image> Which is the lightest?<assistant>The red mug.<end>"
        "<user>the camera?<assistant>The answer is C.<end>"
    )


def test_a_part_of_a_picture_tells_of_its_surest_spot() -> None:
    high, wide = HIGH // 4, WIDE // 4
    fine, heat, sides = (
        torch.rand(1, 8, high, wide),
        torch.full((1, KINDS, high, wide), -9.0),
        torch.ones(1, 4, high, wide),
    )
    row, column = 30, 41
    heat[0, 7, row, column] = 20.0
    seen, sure, boxes = spots_of(fine, heat, sides)
    part = column // 8 * ROWS + row // 12
    torch.testing.assert_close(seen[0, part], fine[0, :, row, column], rtol=1e-3, atol=1e-3)
    assert (sure[0, :, 0] == 20).nonzero().tolist() == [[part]]
    middle = torch.tensor([(column + 0.5) * 4, (row + 0.5) * 4])
    box = torch.cat([middle - 32, middle + 32]) / torch.tensor([WIDE, HIGH] * 2)
    torch.testing.assert_close(boxes[0, part], box, rtol=1e-3, atol=1e-3)


def test_the_surest_things_are_told_from_left_to_right() -> None:
    model = _model()
    looks = torch.zeros(1, PARTS, sum(model.eye.cuts))
    rest, features, sure, *_ = looks.split(model.eye.cuts, -1)
    chosen = [47, 3, 30, *range(5, 5 + THINGS - 3)]
    for certainty, part in enumerate(chosen):
        sure[0, part] = 1 + certainty
        features[0, part, 0] = 1.0
        features[0, part, 1] = part / PARTS
    seen = model.eye(looks).features[0]
    assert (seen[:, 1] / seen[:, 0] * PARTS).round().tolist() == sorted(chosen)
    assert not rest.any()


def test_pictures_are_looked_at_in_even_numbers_and_found_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    model = _model()
    pixels = torch.randint(256, (5, 3, HIGH, WIDE), dtype=torch.uint8)
    alone = model.look(pixels)
    numbers = []
    model.eye.trunk.register_forward_pre_hook(lambda _, inputs: numbers.append(len(inputs[0])))
    monkeypatch.setattr(glimpse_vision, "_EVEN", {"cpu": 4})
    torch.testing.assert_close(model.look(pixels), alone)
    assert model.look(pixels[:4]).shape == alone[:4].shape
    assert numbers == [8, 4]


def test_what_a_model_repeats_is_compiled() -> None:
    model = _model()
    compile_blocks(model)
    compiled = {type(part).__name__ for part in model.modules() if part._compiled_call_impl is not None}
    assert compiled == {"LlamaDecoderLayer", "VisionLayer", "Trunk"}


def test_waves_tell_near_numbers_apart() -> None:
    numbers = torch.arange(101) / 100
    far = torch.cdist(waves(numbers[:, None]), waves(numbers[:, None]))
    assert (far + torch.eye(101)).min() > 0.5


@pytest.mark.parametrize("frozen", [True, False])
def test_a_frozen_trunk_is_not_trained_and_all_else_is(frozen: bool) -> None:
    torch.manual_seed(0)
    model = GlimpseForConditionalGeneration(glimpse_config(len(TOKENIZER), tiny=True, vision_frozen=frozen)).train()
    pixels = torch.randint(256, (1, HIGH, WIDE, 3), dtype=torch.uint8)
    batch = ArrayExamples([TrainText("A: <image>", "The answer is C.", (0,))], TOKENIZER, pixels).batch([0])
    model(**batch.inputs, labels=batch.labels).loss.backward()
    for name, weight in model.named_parameters():
        assert (weight.grad is None) == (frozen and name.startswith("eye.trunk.")), name


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Summary: B is near.\nConclusion: So it is. The answer is C.", "C"),
        ("Conclusion: The answer is A.", "A"),
        ("no idea", "-"),
        ("", "-"),
    ],
)
def test_the_letter_is_read_from_the_conclusion(text: str, option: str) -> None:
    assert chosen_option(text) == option
