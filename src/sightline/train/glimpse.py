"""Glimpse: a small vision-language model (23 million parameters) that is trained where nothing can be downloaded.

Pictures of one size become 26 vectors each (see eye.py), which stand in the places of `<image>` tokens; a Llama decoder
reads on from there. Its classes are known to transformers' Auto classes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForImageTextToText,
    GenerationMixin,
    LlamaConfig,
    LlamaModel,
    PreTrainedModel,
)
from transformers.modeling_outputs import CausalLMOutputWithPast

from sightline.train.eye import PLACE, TAGS, Block, Eye, Layer, Trunk

# Of the trunk's maps: at a half of a picture's size, a quarter and so on, and of those that are made of them.
_WIDTHS = (24, 40, 64, 128, 224, 96, 64, 80)
_TINY_WIDTHS = (4, 8, 8, 8, 8, 8, 16, 16)
_TOGETHER = 256
"""Pictures that are looked at at a time, so that memory does not grow with the questions that are asked together."""


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
    _no_split_modules = ("LlamaDecoderLayer", Layer.__name__, Trunk.__name__)

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
        elif isinstance(module, Block):  # Blocks begin as ways past them: nothing else keeps numbers small.
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
