"""What Glimpse reads: pieces of words learnt from the world's own language, and pictures as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoProcessor, BatchFeature, PreTrainedTokenizerFast, ProcessorMixin

from sightline.train.eye import HIGH, TOKENS, WIDE
from sightline.train.glimpse import GlimpseConfig

PAD, END, USER, IMAGE, ASSISTANT = "<pad>", "<end>", "<user>", "<image>", "<assistant>"
SPECIAL = (PAD, END, USER, IMAGE, ASSISTANT)
"""Their places in this tuple are their numbers."""
# Numbers are cut into two digits at most, so that a coordinate in per cent is one piece.
_PIECES = r" ?\p{L}+| ?\p{N}{1,2}|\s|[^\s\p{L}\p{N}]"
_TEMPLATE = (
    "{% for message in messages %}<{{ message['role'] }}>"
    "{% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}"
    "{% if message['role'] == 'assistant' %}<end>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def learn_tokenizer(texts: Iterable[str], size: int = 2048) -> PreTrainedTokenizerFast:
    """Byte-pair encoding learnt from some texts; any other text can be written with it too, only longer."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return as_fast(tokenizer)


def as_fast(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    """A tokenizer of these pieces as transformers has it."""
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        additional_special_tokens=[USER, IMAGE, ASSISTANT],
        padding_side="right",
        chat_template=_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def as_pixels(picture: Image.Image) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A picture as bytes, 240 x 320 x 3; one of another shape is fitted into it on grey."""
    picture = picture.convert("RGB")
    if picture.size == (WIDE, HIGH):
        return np.asarray(picture)
    scale = min(WIDE / picture.width, HIGH / picture.height)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    canvas = Image.new("RGB", (WIDE, HIGH), (128, 128, 128))
    small = picture.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
    canvas.paste(small, ((WIDE - size[0]) // 2, (HIGH - size[1]) // 2))
    return np.asarray(canvas)


class GlimpseProcessor(ProcessorMixin):
    """Texts with `<image>` in them, and their pictures in order, in a list for each text or not → what models take."""

    attributes = ("tokenizer",)
    tokenizer_class = "PreTrainedTokenizerFast"

    def __init__(self, tokenizer: Any = None, chat_template: str | None = None, **_: Any) -> None:
        super().__init__(tokenizer, chat_template=chat_template or _TEMPLATE)

    def __call__(
        self,
        images: Sequence[Image.Image | Sequence[Image.Image]] | None = None,
        text: str | Sequence[str] = "",
        **more: Any,
    ) -> BatchFeature:
        texts = [text] if isinstance(text, str) else list(text)
        long = [one.replace(IMAGE, IMAGE * TOKENS) for one in texts]
        more.setdefault("return_token_type_ids", False)
        found = dict(self.tokenizer(long, add_special_tokens=False, **more))
        shown = [image for one in images or () for image in ([one] if isinstance(one, Image.Image) else one)]
        if shown:
            pixels = np.stack([as_pixels(image) for image in shown])
            found["pixel_values"] = torch.from_numpy(pixels).permute(0, 3, 1, 2)
        return BatchFeature(found)

    @property
    def model_input_names(self) -> list[str]:
        return ["input_ids", "attention_mask", "pixel_values"]


AutoProcessor.register(GlimpseConfig, GlimpseProcessor)
