"""Models and their inputs: what they are shown, what has a loss, and that of others go through the same trainer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from sightline.errors import UserError
from sightline.reason.train.examples import RecordExamples, joined, opened
from sightline.reason.train.models import open_model
from sightline.reason.train.records import read_records
from sightline.reason.train.trainer import run_training
from sightline_world.models.glimpse import learn_tokenizer
from train_tools import COLOURS, SETTINGS, course_in, losses_of, row_of


def test_pictures_are_upright_on_white_and_of_eight_bits(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    halves = Image.new("RGB", (64, 48), "red")
    halves.paste("blue", (0, 0, 32, 48))
    halves.save(tmp_path / "turned.jpg", quality=95, exif=exif)
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(tmp_path / "clear.png")
    Image.fromarray(np.full((8, 8), 0x8000, np.uint16)).save(tmp_path / "deep.png")
    turned, clear, deep = (opened(tmp_path / name) for name in ("turned.jpg", "clear.png", "deep.png"))
    assert turned.size == (48, 64) and np.allclose(np.asarray(turned)[5, 24], (0, 0, 255), atol=8)
    assert clear.getpixel((3, 3)) == (255, 255, 255)
    assert np.allclose(np.asarray(deep)[3, 3], 128, atol=1)


def test_a_model_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be opened"):
        open_model(str(tmp_path / "nothing"), ())


def test_only_what_the_assistant_says_last_has_a_loss(tmp_path: Path) -> None:
    records = read_records(course_in(tmp_path).folder / "easy.jsonl")
    _, processor = open_model("glimpse-tiny", [message["content"] for one in records for message in one.messages])
    examples = RecordExamples(records, processor)
    batch = examples.batch([0, 5])
    for row, record in zip(batch.labels, (records[0], records[5]), strict=True):
        assert processor.tokenizer.decode(row[row >= 0]) == f"{record.target}<end>"
    assert batch.tokens == examples.lengths[[0, 5]].sum()


def _llava(folder: Path) -> str:
    """A LLaVA with random weights, as small as can be."""
    tokenizer = learn_tokenizer([json.dumps(row_of(key, 0)) for key in COLOURS], 400)
    vision = transformers.CLIPVisionConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=28, patch_size=14
    )
    words = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, vocab_size=len(tokenizer)
    )
    config = transformers.LlavaConfig(vision_config=vision, text_config=words, image_token_index=3)
    torch.manual_seed(0)
    transformers.LlavaForConditionalGeneration(config).save_pretrained(folder)
    pictures = transformers.CLIPImageProcessor(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28})
    transformers.LlavaProcessor(
        pictures,
        tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        chat_template=tokenizer.chat_template,
        num_additional_image_tokens=1,
    ).save_pretrained(folder)
    return str(folder)


def test_llava_goes_through_the_same_trainer(tmp_path: Path) -> None:
    name = _llava(tmp_path / "llava")
    course = course_in(tmp_path, model=name)
    records = read_records(course.folder / "easy.jsonl")
    _, processor = open_model(name, ())
    batch = joined(records[:3], processor, masked=True)
    assert batch.inputs["attention_mask"].sum() == batch.tokens == RecordExamples(records, processor).lengths[:3].sum()
    questions = {"colours": records[:4]}
    done = run_training(course_in(tmp_path, model=name, evals=questions, most=4), SETTINGS)
    losses = losses_of(tmp_path / "out")
    assert losses[-1][1] < losses[0][1]
    assert done.evaluations[-1]["evaluation"]["colours"]["n"] == 4
