"""Glimpse: a small vision-language model (23 million parameters) that is trained where nothing can be downloaded.

Pictures of one size go through convolutions and a few transformer layers to 50 vectors each, which stand in the places
of `<image>` tokens; a Llama decoder reads on from there. Its classes are known to transformers' Auto classes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import (
    AutoConfig,
    AutoModelForImageTextToText,
    GenerationMixin,
    LlamaConfig,
    LlamaModel,
    PreTrainedModel,
)
from transformers.modeling_outputs import CausalLMOutputWithPast

WIDE, HIGH = 160, 120
"""Pixels of a picture; others are scaled to that."""
COLUMNS, ROWS = 10, 5
TOKENS = COLUMNS * ROWS
"""Vectors that a picture becomes: each sees 16 x 24 pixels, and through attention the rest."""
CHUNK = 128
"""Pictures that are looked at together in training on a GPU: one shape, so that kernels are made for it once."""


class GlimpseConfig(LlamaConfig):
    """The decoder's configuration, and the little that the eye needs beside it."""

    model_type = "glimpse"

    image_token_id: int = 3
    vision_layers: int = 3
    vision_channels: int = 96


def glimpse_config(vocabulary: int, *, tiny: bool = False, **more: Any) -> GlimpseConfig:
    """The usual size, or one that trains on a processor within seconds."""
    sizes: dict[str, Any] = (
        {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
        if tiny
        else {"hidden_size": 384, "intermediate_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 6}
    )
    eye = {"vision_layers": 1, "vision_channels": 16} if tiny else {"vision_layers": 3, "vision_channels": 96}
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


class Block(nn.Module):
    """Two convolutions beside a way past them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(8, width), nn.GroupNorm(8, width)
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv2(functional.gelu(self.norm2(self.conv1(functional.gelu(self.norm1(x))))))


class Layer(nn.Module):
    """A transformer layer in which each part of a picture sees all others."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        n, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.out(functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, length, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Eye(nn.Module):
    """Pictures (n, 3, 120, 160; bytes) → vectors (n, 50, width)."""

    fixed = True
    """In training it is given one shape alone."""

    def __init__(self, config: GlimpseConfig) -> None:
        super().__init__()
        first, width = config.vision_channels, config.hidden_size
        self.stem = nn.Sequential(
            nn.Conv2d(3, first // 2, 3, 2, 1),
            nn.GELU(),
            nn.Conv2d(first // 2, first, 3, 2, 1),
            Block(first),
            Block(first),
        )
        self.down = nn.Sequential(nn.Conv2d(first, 2 * first, 3, 2, 1), Block(2 * first), Block(2 * first))
        self.merge = nn.Conv2d(2 * first, width, (3, 2), (3, 2))
        self.place = nn.Embedding(TOKENS, width)
        self.layers = nn.ModuleList(Layer(width, config.num_attention_heads) for _ in range(config.vision_layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, pixels: Tensor) -> Tensor:
        x = pixels.to(self.norm.weight.dtype) / 127.5 - 1.0
        x = self.merge(self.down(self.stem(x))).flatten(2).transpose(1, 2)
        x = x + places(x.shape[-1], x.device) + self.place.weight
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


def places(width: int, device: torch.device) -> Tensor:
    """Where each part of a picture is, as waves across and down: known from the start, not to be found out."""
    rates = 2.0 ** torch.linspace(0, 3, width // 4, device=device)
    across = (torch.arange(COLUMNS, device=device) + 0.5)[:, None] * (torch.pi / COLUMNS) * rates
    down = (torch.arange(ROWS, device=device) + 0.5)[:, None] * (torch.pi / ROWS) * rates
    wide = torch.cat([across.sin(), across.cos()], 1).repeat(ROWS, 1)
    high = torch.cat([down.sin(), down.cos()], 1).repeat_interleave(COLUMNS, 0)
    return torch.cat([wide, high], 1)


class GlimpseForConditionalGeneration(PreTrainedModel, GenerationMixin):
    """Eye, projector and decoder; `generate`, `save_pretrained` and `from_pretrained` are transformers' own."""

    config_class = GlimpseConfig
    base_model_prefix = "model"
    input_modalities = ("image", "text")
    _supports_sdpa = True
    _supports_flash_attn = True
    _supports_flex_attn = True
    _supports_attention_backend = True
    _no_split_modules = ("LlamaDecoderLayer", "Eye")

    def __init__(self, config: GlimpseConfig) -> None:
        super().__init__(config)
        width = config.hidden_size
        self.eye = Eye(config)
        self.projector = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
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

    def see(self, pixels: Tensor) -> Tensor:
        """Pictures as the eye sees them: (n, 50, width)."""
        count = len(pixels)
        if not (self.training and pixels.is_cuda):
            return self.eye(pixels)
        blank = pixels.new_zeros((-count % CHUNK, *pixels.shape[1:]))
        return torch.cat([self.eye(some) for some in torch.cat([pixels, blank]).split(CHUNK)])[:count]

    def forward(
        self,
        input_ids: Tensor | None = None,
        pixel_values: Tensor | None = None,
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
        if pixel_values is not None and first:
            seen = self.projector(self.see(pixel_values)).to(inputs_embeds.dtype)
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
