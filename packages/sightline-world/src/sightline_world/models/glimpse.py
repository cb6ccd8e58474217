"""Glimpse: a small vision-language model (23 million parameters) that is trained where nothing can be downloaded.

The model, its tokenizer learnt from the texts that it is trained on, and its processor; importing this module makes
them known to transformers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForImageTextToText,
    AutoProcessor,
    BatchFeature,
    GenerationMixin,
    LlamaConfig,
    LlamaModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    ProcessorMixin,
)
from transformers.modeling_outputs import CausalLMOutputWithPast

from sightline_world.models.glimpse_vision import HIGH, PLACE, TAGS, TOKENS, WIDE, Eye, Trunk, VisionBlock, VisionLayer

# Of the trunk's maps: at a half of a picture's size, a quarter and so on, and of those that are made of them.
_WIDTHS = (24, 40, 64, 128, 224, 96, 64, 80)
_TINY_WIDTHS = (4, 8, 8, 8, 8, 8, 16, 16)
_TOGETHER = 256
"""Pictures that are looked at at a time, so that memory does not grow with the questions that are asked together."""
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


class GlimpseConfig(LlamaConfig):
    """The decoder's configuration, and the little that the eye needs beside it."""

    model_type = "glimpse"

    image_token_id: int = 3
    vision_layers: int = 2
    vision_widths: tuple[int, ...] = _WIDTHS
    vision_frozen: bool = False
    """The trunk's weights are given, and not trained."""


def glimpse_config(vocabulary: int, *, tiny: bool = False, **more: Any) -> GlimpseConfig:
    """The usual size, or one that trains on a processor within seconds."""
    sizes: dict[str, Any] = (
        {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
        if tiny
        else {"hidden_size": 384, "intermediate_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 6}
    )
    eye = {"vision_layers": 1, "vision_widths": _TINY_WIDTHS} if tiny else {}
    fixed = {
        "vocab_size": vocabulary,
        "num_key_value_heads": sizes["num_attention_heads"],
        "max_position_embeddings": 2048,
        "tie_word_embeddings": False,
        "pad_token_id": 0,
        "bos_token_id": None,
        "eos_token_id": 1,
    }
    return GlimpseConfig(**{**sizes, **eye, **fixed, **more})


class GlimpseForConditionalGeneration(PreTrainedModel, GenerationMixin):
    """Eye, projector and decoder; `generate`, `save_pretrained` and `from_pretrained` are transformers' own."""

    config_class = GlimpseConfig
    base_model_prefix = "model"
    input_modalities = ("image", "text")
    _supports_sdpa = True
    _supports_flash_attn = True
    _supports_flex_attn = True
    _supports_attention_backend = True
    _no_split_modules = ("LlamaDecoderLayer", VisionLayer.__name__, Trunk.__name__)

    def __init__(self, config: GlimpseConfig) -> None:
        super().__init__(config)
        width = config.hidden_size
        self.eye = Eye(
            config.vision_widths,
            width,
            config.vision_layers,
            config.num_attention_heads,
            frozen=config.vision_frozen,
        )
        self.projector = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
        self.features = nn.Linear(config.vision_widths[-1], width)
        self.names = nn.Linear(TAGS, width, bias=False)
        self.places = nn.Linear(PLACE, width, bias=False)
        self.model = LlamaModel(config)
        self.lm_head = nn.Linear(width, config.vocab_size, bias=False)
        self.post_init()

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embed_tokens

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.model.embed_tokens = value

    def get_output_embeddings(self) -> nn.Module:
        return self.lm_head

    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if isinstance(module, nn.Conv2d):  # What suits matrices of a decoder lets pictures fade away.
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        elif isinstance(module, VisionBlock):  # Blocks begin as ways past them: nothing else keeps numbers small.
            nn.init.zeros_(module.layers[1][0].weight)

    def look(self, pixel_values: Tensor) -> Tensor:
        """What a frozen trunk finds in pictures, to be kept and given as `looks` instead of them."""
        found: Tensor = self.eye.look(pixel_values)
        return found

    def _seen(self, looks: Tensor) -> Tensor:
        """Pictures as the decoder reads them: their columns, then the things in them."""
        seen = self.eye(looks)
        things = self.features(seen.features) + self.names(seen.tags) + self.places(seen.places)
        return torch.cat([self.projector(seen.columns), things], 1)

    def forward(
        self,
        input_ids: Tensor | None = None,
        pixel_values: Tensor | None = None,
        looks: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        past_key_values: Any = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        logits_to_keep: int = 0,
        **more: Any,
    ) -> CausalLMOutputWithPast:
        if inputs_embeds is None:
            inputs_embeds = self.get_input_embeddings()(input_ids)
        # While generating, only the first step has pictures; the rest are in the cache.
        first = past_key_values is None or past_key_values.get_seq_length() == 0
        if first and looks is None and pixel_values is not None:
            looks = torch.cat([self.look(some) for some in pixel_values.split(_TOGETHER)])
        if first and looks is not None:
            seen = self._seen(looks).to(inputs_embeds.dtype)
            where = (input_ids == self.config.image_token_id).unsqueeze(-1)
            inputs_embeds = inputs_embeds.masked_scatter(where, seen.reshape(-1, seen.shape[-1]))
        loss_arguments = {key: more.pop(key) for key in ("num_items_in_batch",) if key in more}
        read = self.model(
            inputs_embeds=inputs_embeds,
            attention_mask=attention_mask,
            position_ids=position_ids,
            past_key_values=past_key_values,
            **more,
        )
        logits = self.lm_head(read.last_hidden_state[:, -logits_to_keep:] if logits_to_keep else read.last_hidden_state)
        loss = None
        if labels is not None:
            loss = self.loss_function(logits, labels, self.config.vocab_size, **loss_arguments)
        return CausalLMOutputWithPast(loss=loss, logits=logits, past_key_values=read.past_key_values)


AutoConfig.register("glimpse", GlimpseConfig)
AutoModelForImageTextToText.register(GlimpseConfig, GlimpseForConditionalGeneration)


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
    needs_mask = False
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


def new_glimpse(
    texts: Iterable[str], *, tiny: bool = False
) -> tuple[GlimpseForConditionalGeneration, GlimpseProcessor]:
    """A new model, and its processor with a tokenizer learnt from these texts."""
    tokenizer = learn_tokenizer(texts)
    return GlimpseForConditionalGeneration(glimpse_config(len(tokenizer), tiny=tiny)), GlimpseProcessor(tokenizer)
