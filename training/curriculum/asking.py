"""What Glimpse says to hundreds of questions at once: on a GPU, a token of each is one graph of kernels.

`generate` launches each of some 300 kernels by itself, and copies all that was read for each token; for so small a
model that takes ten times as long as the work. The words are the same.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from sightline.reason.train.trainer import untracked
from sightline_world.models.glimpse import GlimpseForConditionalGeneration

_LOOK_UP = 32
"""Rounds between looks at whether all have ended."""
_ROUND = 64


def said_together(
    model: GlimpseForConditionalGeneration, tokenizer: Any, inputs: dict[str, Tensor], most: int, *, half: bool
) -> list[str]:
    """What the model says after each prompt (padded on the left), the likeliest token each time."""
    with untracked():
        talk = _Talk(model, inputs, most, half)
        talk.go()
    texts: list[str] = tokenizer.batch_decode(talk.told, skip_special_tokens=True)
    return texts


class _Talk:
    """All that changes while answers grow, in tensors that stay where they are, as a graph of kernels needs."""

    def __init__(
        self, model: GlimpseForConditionalGeneration, inputs: dict[str, Tensor], most: int, half: bool
    ) -> None:
        self.model, self.most = model, most
        device = model.device
        inputs = {name: value.to(device) for name, value in inputs.items()}
        read = inputs["attention_mask"].bool()
        count, length = read.shape
        width = -(-(length + most) // _ROUND) * _ROUND
        places = (read.cumsum(1) - 1).clamp(min=0)
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            first = model(**inputs, position_ids=places, use_cache=True, logits_to_keep=1)
        self.dtype = torch.bfloat16 if half else model.dtype
        self.weights: dict[nn.Module, Tensor] = {}
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []
        for layer in first.past_key_values.layers:
            for kept, found in ((self.keys, layer.keys), (self.values, layer.values)):
                room = torch.zeros((*found.shape[:2], width, found.shape[3]), dtype=self.dtype, device=device)
                room[:, :, :length] = found
                kept.append(room)
        self.seen = functional.pad(read, (0, width - length))
        self.place = places[:, -1] + 1
        self.column = torch.tensor([length], device=device)
        self.number = torch.zeros(1, dtype=torch.long, device=device)
        self.token = first.logits[:, -1].argmax(-1)
        self.ended = torch.zeros(count, dtype=torch.bool, device=device)
        self.told = torch.full((count, most), model.config.pad_token_id, device=device)
        turned = model.model.rotary_emb(first.logits.float(), torch.arange(width, device=device)[None])
        self.cos, self.sin = (table[0].to(self.dtype) for table in turned)

    def go(self) -> None:
        """All rounds; the first ones by themselves, so that all is loaded when the others are recorded."""
        first = min(2, self.most)
        for _ in range(first):
            self._next()
        again = self._next if self.model.device.type != "cuda" else self._recorded()
        for number in range(first, self.most):
            if number % _LOOK_UP == 0 and bool(self.ended.all()):
                break
            again()

    def _recorded(self) -> Any:
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        # Another thread may be moving the next batches of a training meanwhile.
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self._next()
        return graph.replay

    def _next(self) -> None:
        """Write down a token of each, and find the next."""
        config = self.model.config
        said = torch.where(self.ended, config.pad_token_id, self.token)
        self.told.index_copy_(1, self.number, said[:, None])
        self.ended |= said == config.eos_token_id
        self.seen.index_fill_(1, self.column, True)
        hidden = functional.embedding(self.token, self.model.model.embed_tokens.weight)
        for number, layer in enumerate(self.model.model.layers):
            hidden = hidden + self._attended(number, layer, hidden)
            read = _normed(hidden, layer.post_attention_layernorm)
            gate = functional.silu(self._through(layer.mlp.gate_proj, read)) * self._through(layer.mlp.up_proj, read)
            hidden = hidden + self._through(layer.mlp.down_proj, gate)
        logits = self._through(self.model.lm_head, _normed(hidden, self.model.model.norm))
        self.token.copy_(logits.argmax(-1))
        self.column += 1
        self.number += 1
        self.place += 1

    def _attended(self, number: int, layer: Any, hidden: Tensor) -> Tensor:
        attention = layer.self_attn
        read = _normed(hidden, layer.input_layernorm)
        parts = (attention.q_proj, attention.k_proj, attention.v_proj)
        query, key, value = (self._through(part, read).unflatten(-1, (-1, attention.head_dim)) for part in parts)
        cos, sin = self.cos[self.place][:, None], self.sin[self.place][:, None]
        query, key = (one * cos + _turned(one) * sin for one in (query, key))
        self.keys[number].index_copy_(2, self.column, key[:, :, None])
        self.values[number].index_copy_(2, self.column, value[:, :, None])
        found = functional.scaled_dot_product_attention(
            query[:, :, None], self.keys[number], self.values[number], self.seen[:, None, None]
        )
        return self._through(attention.o_proj, found[:, :, 0].flatten(1))

    def _through(self, layer: nn.Module, given: Tensor) -> Tensor:
        """A layer's product in the precision of the talk; its weights are brought to it once."""
        if layer not in self.weights:
            self.weights[layer] = layer.weight.to(self.dtype)
        return functional.linear(given.to(self.dtype), self.weights[layer])


def _normed(hidden: Tensor, norm: Any) -> Tensor:
    return functional.rms_norm(hidden.float(), hidden.shape[-1:], norm.weight.float(), norm.variance_epsilon)


def _turned(heads: Tensor) -> Tensor:
    """The second half of each head before its first, negated: what rotary places are made with."""
    first, second = heads.chunk(2, -1)
    return torch.cat([-second, first], -1)
